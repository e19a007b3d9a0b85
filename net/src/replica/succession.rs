//! How a replica of a whole world takes part when the leader is lost: it votes, follows the one
//! that is elected, or leads itself.

use core::time::Duration;
use std::sync::Arc;

use lockstone_sim::{PlayerId, Simulation, Tick};

use super::{Joined, Life, Place, Replica, Share, hero_waits};
use crate::intake::Progress;
use crate::link::{Channel, PeerId};
use crate::session::{DropReason, Entrant, Greeting, Io, Leader, Ledger, Membership, Stepper};
use crate::wire::*;

/// So many ticks of closed turns are kept. Who is farther behind loads the world.
const TICKS_KEPT: u32 = 400;
/// Between two times that the same turns are asked for.
const FETCH_PAUSE: Duration = Duration::from_millis(100);

pub struct Succession {
    pub membership: Membership,
    /// Who was asked for turns last, once elected, and when.
    asked: Option<(PeerId, Duration)>,
    /// Whose peer was the leader and is gone, and why.
    gone: Option<(PlayerId, LeaveReason)>,
}

/// All that a member leads on with.
pub struct Estate<S: Simulation> {
    pub entrant: Arc<Entrant<S>>,
    pub me: PeerId,
    pub stepper: Stepper<S>,
    pub membership: Membership,
    /// A player who is gone, and why.
    pub gone: Option<(PlayerId, LeaveReason)>,
    /// Own commands that are in no closed turn.
    pub commands: Vec<CommandBytes>,
    /// When the next tick is to be played.
    pub next_at: Duration,
}

impl Succession {
    pub fn new(me: PlayerId, leader: Vote, ledger: Ledger, first: Tick, now: Duration) -> Succession {
        Succession { membership: Membership::new(me, leader, ledger, first, now), asked: None, gone: None }
    }

    /// The leader said goodbye, or the carrier lost it. In a party of two the other goes on alone.
    pub fn leader_left(&mut self, reason: LeaveReason) {
        let Membership { me, members, ledger, .. } = &mut self.membership;
        let Some(vote) = members.leader() else { return };
        self.gone = Some((vote.leader, reason));
        if ledger.present().count() == 2 {
            members.resigned(vote.leader, *me);
        }
        members.suspect();
    }
}

impl<F: Share> Replica<F> {
    /// Takes what a member says of who leads. Returns the message if it is another.
    pub(super) fn of_members(&mut self, from: PeerId, message: Message, io: &mut Io<F::Sim>) -> Option<Message> {
        let Place::Joined(session) = &mut self.place else { return Some(message) };
        let Some(succession) = &mut session.succession else { return Some(message) };
        if succession.membership.player(from).is_none() {
            return Some(message);
        }
        match message {
            Message::Stand(stand) => {
                succession.membership.take(from, stand, io.now, &mut io.out);
                self.elect(io);
            }
            Message::Fetch(first) if succession.membership.fetched(from, first, &mut io.out) => {}
            fetched @ Message::Fetched(_) if succession.asked.take_if(|(peer, _)| *peer == from).is_some() => {
                session.append(fetched, io);
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
        let membership = &mut succession.membership;
        membership.advance(io.now, &mut io.out);
        if let Some(vote) = membership.members.leader().filter(|vote| vote.epoch > session.leader.epoch)
            && let Some(member) = membership.ledger.members.get(&vote.leader)
        {
            session.leader = Leader { peer: member.peer, epoch: vote.epoch };
            session.sequencer = vote.leader;
        }
        let (known, voters) = (membership.known(), membership.elected(io.now));
        let newest = voters.as_ref().map(|voters| voters.iter().max_by_key(|(_, theirs)| *theirs));
        match newest {
            None => {}
            Some(Some((_, theirs))) if theirs.epoch > known.epoch => membership.members.decline(),
            Some(Some((player, theirs))) if *theirs > known => {
                if succession.asked.is_none_or(|(_, at)| io.now >= at + FETCH_PAUSE)
                    && let Some(member) = membership.ledger.members.get(player)
                {
                    succession.asked = Some((member.peer, io.now));
                    let epoch = membership.members.promised();
                    io.out.send(epoch, member.peer, Channel::Unreliable, &Message::Fetch(known.end));
                }
            }
            Some(_) if membership.ledger.members.contains_key(&membership.me) => self.take_over(io),
            // Its hero never entered, so its number may become another's.
            Some(_) => membership.members.decline(),
        }
    }

    /// The new leader tells where its turns go on from.
    fn led(&mut self, lead: Lead, io: &mut Io<F::Sim>) {
        let Place::Joined(session) = &mut self.place else { return };
        let Some(Succession { membership, .. }) = &mut session.succession else { return };
        let known = membership.known();
        if known.epoch == session.leader.epoch {
            return;
        }
        if known.epoch != lead.from.epoch || known.end > lead.from.end {
            return self.greet_anew(io);
        }
        membership.go_on_in(session.leader.epoch);
        membership.members.heard(session.sequencer, io.now);
        session.comparison = Default::default();
        session.intake.follow_anew();
        session.heard_at = io.now;
    }

    fn take_over(&mut self, io: &mut Io<F::Sim>) {
        let greeting = Greeting::new(self.entrant.hello(), self.settings.handshake_timeout, io.now);
        let Place::Joined(session) = core::mem::replace(&mut self.place, Place::Greeting(Box::new(greeting))) else {
            return;
        };
        let Joined { life: Life::Here { stepper, .. }, succession: Some(succession), intake, playout, .. } = *session
        else {
            return;
        };
        let Succession { membership, gone, .. } = succession;
        let closed = membership.ledger.members.get(&membership.me).map_or(0, |member| member.commands);
        let estate = Estate {
            entrant: self.entrant.clone(),
            me: self.me,
            next_at: playout.time_of(stepper.tick()).unwrap_or(io.now),
            commands: intake.into_commands(closed),
            gone,
            stepper,
            membership,
        };
        self.next = self.share.take_over(estate, io);
    }

    /// Looks for the session again that it led, and in whose world its hero is.
    pub fn return_to(&mut self, simulation: &F::Sim, promised: Epoch, io: &mut Io<F::Sim>) {
        self.hero_waits = hero_waits(simulation, self.settings);
        self.promised = promised;
        self.greet_anew(io);
    }

    /// Looks for the session again, as a joiner does.
    pub(super) fn greet_anew(&mut self, io: &mut Io<F::Sim>) {
        if let Some(Succession { membership, .. }) = self.session().and_then(|session| session.succession.as_ref()) {
            self.promised = membership.members.promised();
        }
        let hello = Hello { promised: self.promised, ..self.entrant.hello() };
        let mut greeting = match self.hero_waits {
            Some(time) => Greeting::returning(hello, time.max(self.settings.handshake_timeout), io.now),
            None => Greeting::new(hello, self.settings.handshake_timeout, io.now),
        };
        let peers: Vec<_> = io.ingress.peers().collect();
        peers.into_iter().for_each(|peer| greeting.connected(peer, io.now, &mut io.out));
        self.place = Place::Greeting(Box::new(greeting));
    }
}

impl<F: Share> Joined<F> {
    /// Turns that another member knew.
    fn append(&mut self, fetched: Message, io: &mut Io<F::Sim>) {
        let Some(turns) = F::turns(fetched).break_value() else { return };
        if let Progress::New(first) = self.intake.append(turns) {
            self.note_closed(first);
            self.playout.arrived(first, self.intake.known(), io.now);
        }
    }

    /// The turns from a tick on are known now.
    pub(super) fn note_closed(&mut self, first: Tick) {
        let Some(Succession { membership, .. }) = &mut self.succession else { return };
        for tick in (first.0..self.intake.known().0).map(Tick) {
            membership.close(self.intake.turn(tick).map_or(&[], F::whole));
        }
        membership.history.forget(Tick(self.intake.known().0.saturating_sub(TICKS_KEPT)));
    }
}
