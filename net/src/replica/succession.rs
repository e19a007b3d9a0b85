//! What a replica of a whole world keeps so that it can lead, and how it takes part when the leader
//! is lost: it votes, follows the one that is elected, or leads itself.

use core::time::Duration;

use lockstone_sim::{PlayerId, Simulation, Tick};

use super::{Joined, Life, Place, Replica, Share};
use crate::limits::BULK_PACKET_BYTES_MAX;
use crate::link::{Channel, PeerId};
use crate::members::Members;
use crate::sequencer::History;
use crate::session::{DropReason, Io, Leader, Ledger, Outbox, Stepper};
use crate::wire::*;

/// So many ticks of closed turns are kept. Who is farther behind loads the world.
const TICKS_KEPT: u32 = 400;
/// Between two times that the same turns are asked for.
const FETCH_PAUSE: Duration = Duration::from_millis(100);

pub struct Succession {
    pub me: PlayerId,
    pub members: Members,
    pub ledger: Ledger,
    pub history: History<RawTurn>,
    /// The epoch of the leader that closed the newest of these turns.
    epoch: Epoch,
    fetched_at: Option<Duration>,
    /// Whose peer was the leader and is gone, and why.
    gone: Option<(PlayerId, LeaveReason)>,
}

/// All that a member leads on with.
pub struct Estate<S> {
    pub me: PeerId,
    pub stepper: Stepper<S>,
    pub members: Members,
    pub ledger: Ledger,
    pub history: History<RawTurn>,
    /// Where its turns go on from.
    pub from: Known,
    /// A player who is gone, and why.
    pub gone: Option<(PlayerId, LeaveReason)>,
    /// Own commands that are in no closed turn.
    pub commands: Vec<CommandBytes>,
    /// When the next tick is to be played.
    pub next_at: Duration,
}

impl Succession {
    pub fn new(me: PlayerId, leader: Vote, ledger: Ledger, first: Tick, now: Duration) -> Succession {
        Succession {
            me,
            members: Members::following(me, leader, now),
            ledger,
            history: History::starting_at(first),
            epoch: leader.epoch,
            fetched_at: None,
            gone: None,
        }
    }

    /// The leader said goodbye, or the carrier lost it. In a party of two the other goes on alone.
    pub fn leader_left(&mut self, reason: LeaveReason) {
        let Some(vote) = self.members.leader() else { return };
        self.gone = Some((vote.leader, reason));
        if self.ledger.members.len() == 2 {
            self.members.resigned(vote.leader, self.me);
        }
        self.members.suspect();
    }

    /// The next turn is known.
    pub fn closed(&mut self, turn: Option<&RawTurn>) {
        let tick = self.history.open();
        match turn.filter(|turn| !turn.is_empty()) {
            Some(turn) => {
                self.ledger.closed(tick, turn);
                turn.iter().filter_map(RawInput::leaver).for_each(|player| self.members.forget(player));
                self.history.close(turn.clone(), Encoded::turn(turn));
            }
            None => {
                self.ledger.closed(tick, &[]);
                self.history.close_empty();
            }
        }
        self.history.forget(Tick(tick.0.saturating_sub(TICKS_KEPT)));
    }

    pub fn known(&self) -> Known {
        Known { epoch: self.epoch, end: self.history.open() }
    }

    /// The player of a peer whose word counts.
    pub fn member(&self, peer: PeerId) -> Option<PlayerId> {
        self.ledger.player(peer).filter(|player| *player != self.me)
    }

    /// Tells a stand to all other members.
    pub fn tell<S: Simulation>(&self, stand: Stand, out: &mut Outbox<S>) {
        for (_, member) in self.ledger.members.iter().filter(|(player, _)| **player != self.me) {
            out.send(Epoch::default(), member.peer, Channel::Unreliable, &Message::Stand(stand));
        }
    }

    /// Tells our stand to one who does not know what is decided.
    pub fn answer<S: Simulation>(&self, to: PeerId, out: &mut Outbox<S>) {
        let stand = self.members.stand(self.known());
        out.send(Epoch::default(), to, Channel::Unreliable, &Message::Stand(stand));
    }
}

impl<F: Share> Replica<F> {
    /// Takes what a member says of who leads. Returns the message if it is another.
    pub(super) fn of_members(&mut self, from: PeerId, message: Message, io: &mut Io<F::Sim>) -> Option<Message> {
        let Place::Joined(session) = &mut self.place else { return Some(message) };
        let Some(succession) = &mut session.succession else { return Some(message) };
        let Some(player) = succession.member(from) else { return Some(message) };
        match message {
            Message::Stand(stand) => {
                if succession.members.take(player, stand, io.now) {
                    succession.answer(from, &mut io.out);
                }
                self.elect(io);
            }
            Message::Fetch(first) if first >= succession.history.oldest() && first <= succession.history.open() => {
                let (turns, epoch) =
                    (succession.history.cut(first, BULK_PACKET_BYTES_MAX), succession.members.promised());
                io.out.send_turns(epoch, from, Channel::Reliable, TurnsKind::Fetched, &turns);
            }
            Message::Fetched(turns) if succession.members.leader().is_none() => {
                let turns = Turns { commands_taken: 0, ..turns };
                session.append(turns, io);
                if let Place::Joined(session) = &mut self.place
                    && let Some(succession) = &mut session.succession
                {
                    succession.fetched_at = None;
                }
                self.elect(io);
            }
            Message::Lead(lead) if session.leader.peer == from => self.led(lead, io),
            Message::Fetch(_) | Message::Fetched(_) | Message::Lead(_) => io.out.dropped(DropReason::Unexpected),
            other => return Some(other),
        }
        None
    }

    /// Takes part in deciding who leads, if that is open.
    pub(super) fn elect(&mut self, io: &mut Io<F::Sim>) {
        let Place::Joined(session) = &mut self.place else { return };
        let (Some(succession), Life::Here { .. }) = (&mut session.succession, &session.life) else { return };
        let known = succession.known();
        if let Some(stand) = succession.members.advance(known, &succession.ledger.electorates, io.now) {
            succession.tell(stand, &mut io.out);
        }
        if let Some(vote) = succession.members.leader().filter(|vote| vote.epoch > session.leader.epoch)
            && let Some(member) = succession.ledger.members.get(&vote.leader)
        {
            session.leader = Leader { peer: member.peer, epoch: vote.epoch };
            session.welcome.sequencer = vote.leader;
        }
        let Some(voters) = succession.members.elected(&succession.ledger.electorates, io.now) else { return };
        match voters.into_iter().max_by_key(|(_, theirs)| *theirs).filter(|(_, theirs)| *theirs > known) {
            Some((_, theirs)) if theirs.epoch > known.epoch => succession.members.decline(),
            Some((player, _)) => {
                if succession.fetched_at.is_none_or(|at| io.now >= at + FETCH_PAUSE) {
                    succession.fetched_at = Some(io.now);
                    let (epoch, peer) = (succession.members.promised(), succession.ledger.members[&player].peer);
                    io.out.send(epoch, peer, Channel::Unreliable, &Message::Fetch(known.end));
                }
            }
            None => self.take_over(io),
        }
    }

    /// The new leader tells where its turns go on from.
    fn led(&mut self, lead: Lead, io: &mut Io<F::Sim>) {
        let Place::Joined(session) = &mut self.place else { return };
        let Some(succession) = &mut session.succession else { return };
        let known = succession.known();
        if known.epoch == session.leader.epoch {
            return;
        }
        if known.epoch != lead.from.epoch || known.end > lead.from.end {
            return self.greet_anew(io);
        }
        succession.epoch = session.leader.epoch;
        succession.members.heard(session.welcome.sequencer, io.now);
        session.comparison = Default::default();
        session.intake.follow_anew();
        session.heard_at = io.now;
    }

    fn take_over(&mut self, io: &mut Io<F::Sim>) {
        let greeting = self.greeting(io.now);
        let Place::Joined(session) = core::mem::replace(&mut self.place, greeting) else { return };
        let Joined { life: Life::Here { stepper, .. }, succession: Some(succession), intake, playout, .. } = *session
        else {
            return;
        };
        let Succession { me, mut members, ledger, history, epoch, gone, .. } = succession;
        members.lead();
        let closed = ledger.members.get(&me).map_or(0, |member| member.commands);
        let estate = Estate {
            me: self.me,
            next_at: playout.time_of(stepper.tick()).unwrap_or(io.now),
            from: Known { epoch, end: history.open() },
            commands: intake.into_commands(closed),
            gone,
            stepper,
            members,
            ledger,
            history,
        };
        self.next = self.share.take_over(estate, io);
    }

    /// Looks for the session again, as a joiner does.
    pub fn greet_anew(&mut self, io: &mut Io<F::Sim>) {
        self.place = self.greeting(io.now);
        let Place::Greeting(greeting) = &mut self.place else { return };
        let peers: Vec<_> = io.ingress.peers().collect();
        peers.into_iter().for_each(|peer| greeting.connected(peer, io.now, &mut io.out));
    }
}

impl<F: Share> Joined<F> {
    /// Turns that another member knew.
    fn append(&mut self, turns: Turns, io: &mut Io<F::Sim>) {
        let first = self.intake.known();
        if let Some(turns) = F::turns(Message::Turns(turns)).break_value() {
            let _ = self.intake.append(turns);
        }
        self.note_closed(first);
        self.playout.arrived(first, self.intake.known(), io.now);
    }

    /// The turns from a tick on are known now.
    pub(super) fn note_closed(&mut self, first: Tick) {
        let Some(succession) = &mut self.succession else { return };
        for tick in (first.0..self.intake.known().0).map(Tick) {
            succession.closed(self.intake.turn(tick).and_then(|turn| F::whole(turn)));
        }
    }
}
