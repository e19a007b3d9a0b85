//! How a replica of a whole world takes part when the leader is lost: it votes, follows the one
//! that is elected, or leads itself.

use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::Arc;

use lockstone_sim::{PlayerId, Simulation, Tick};

use super::contradicted::Contradicted;
use super::loading::hero_waits;
use super::{Entry, Joined, Life, Place, Replica, Share};
use crate::intake::{Given, Intake, Progress};
use crate::link::{Channel, PeerId};
use crate::playout::Playout;
use crate::session::{
    Comparison, DropReason, Entrant, Event, Following, Greeting, Io, Leader, Membership, Offence, Repairs, Role,
    Stepper,
};
use crate::wire::*;

/// So many ticks of closed turns are kept. Who is farther behind loads the world.
const TICKS_KEPT: u32 = 400;
/// So many checksums is a new leader told.
const CHECKSUMS_TOLD_ANEW: usize = 4;
/// Who is elected says where its turns go on from. If it has not told that for so long, it may take
/// this peer for one that loads the world.
const TELLS_WITHIN: Duration = Duration::from_secs(2);
/// Between two times that turns are asked for: of one after the other, as not all have them.
const FETCH_PAUSE: Duration = Duration::from_millis(100);

pub struct Succession {
    pub membership: Membership,
    /// Who was asked for turns, and when last. Of another epoch an answer does not count.
    asked: BTreeMap<PeerId, Duration>,
    /// The peer that led, and is gone, and why.
    gone: Option<(PeerId, LeaveReason)>,
    /// The vote of a leader that the carrier lost, as it would be if the leader were gone.
    assumed: Option<Vote>,
    /// Its player goes on without those who are not reached.
    branches: bool,
    pub(super) contradicted: Contradicted,
}

/// By what a member leads on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mandate {
    /// A quorum voted for it.
    Quorum,
    /// Of two it is left, as far as it knows: the carrier lost the other, who may live.
    Loss,
    /// Its player goes on without those who are not reached.
    Offer,
}

/// All that a member goes on with when it begins or ceases to lead.
pub struct Estate<S: Simulation> {
    pub entrant: Arc<Entrant<S>>,
    pub me: PeerId,
    pub stepper: Stepper<S>,
    pub membership: Membership,
    /// A peer that is gone, and why.
    pub gone: Option<(PeerId, LeaveReason)>,
    /// By what it leads on, if it does.
    pub mandate: Mandate,
    /// Own commands that are in no closed turn.
    pub commands: Vec<CommandBytes>,
    /// When the next tick is to be played.
    pub next_at: Duration,
    /// When a turn was last closed, or played.
    pub progressed: Duration,
    /// Of its checksums with those of the player who led before.
    pub compared: Option<(PlayerId, Comparison)>,
}

impl Succession {
    pub fn of(membership: Membership, gone: Option<(PeerId, LeaveReason)>) -> Succession {
        let (asked, contradicted) = (BTreeMap::new(), Contradicted::default());
        Succession { membership, asked, gone, assumed: None, branches: false, contradicted }
    }

    /// Its player wants to go on without those who are not reached. Returns whether it may.
    pub fn take_offer(&mut self) -> bool {
        self.branches = self.membership.may_branch();
        self.branches
    }

    fn mandate(&self) -> Mandate {
        match self.branches {
            true => Mandate::Offer,
            false if self.assumed == Some(self.membership.members.vote()) => Mandate::Loss,
            false => Mandate::Quorum,
        }
    }

    /// Asks a member that knows turns which are not known here, unless that was just done.
    fn fetch_from<S: Simulation>(&mut self, players: &[PlayerId], io: &mut Io<S>) {
        let Membership { members, ledger, .. } = &self.membership;
        let peers = players.iter().filter_map(|player| Some(ledger.members.get(player)?.peer));
        let next = peers.min_by_key(|peer| self.asked.get(peer));
        if self.asked.values().all(|at| io.now >= *at + FETCH_PAUSE)
            && let Some(peer) = next
        {
            let (first, promised) = (self.membership.known().end, members.promised());
            self.asked.insert(peer, io.now);
            self.membership.unfollow();
            io.out.send(promised, peer, Channel::Unreliable, &Message::Fetch(first));
        }
    }

    /// The leader said goodbye, or the carrier lost it. Of two members the other decides alone. If
    /// the others are too few to decide, as two have a vote, or will have, the lowest of them does.
    pub fn leader_left(&mut self, peer: PeerId, reason: LeaveReason) {
        let Membership { me, members, ledger, .. } = &mut self.membership;
        let Some(Vote { leader, .. }) = members.leader() else { return };
        // Who said goodbye does not live on because its connection ends then.
        let said_goodbye = self.gone == Some((peer, LeaveReason::Left));
        let reason = if said_goodbye { LeaveReason::Left } else { reason };
        self.gone = Some((peer, reason));
        let electorates = &ledger.electorates;
        let heir = match ledger.present().count() {
            2 => Some(*me),
            _ if electorates.is_quorum(|player| player != leader) => None,
            _ => electorates.newest().members.iter().copied().find(|player| *player != leader),
        };
        if let Some(heir) = heir {
            let vote = members.resigned(leader, heir);
            self.assumed = (reason == LeaveReason::Lost).then_some(vote);
        }
        members.suspect();
    }
}

impl<F: Share> Replica<F> {
    /// Takes what a member says of who leads. Returns the message if it is another.
    pub(super) fn of_members(
        &mut self,
        from: PeerId,
        epoch: Epoch,
        message: Message,
        io: &mut Io<F::Sim>,
    ) -> Option<Message> {
        let Place::Joined(session) = &mut self.place else { return Some(message) };
        let Some(succession) = &mut session.succession else { return Some(message) };
        if let Message::Stand(stand) = &message
            && succession.membership.take(from, stand.clone(), io.now, &mut io.out)
        {
            self.elect(io);
            return None;
        }
        let Some(by) = succession.membership.player(from) else { return Some(message) };
        if let Message::Fitness(fitness) = message {
            succession.membership.fitness_of(by, fitness);
            return None;
        }
        // While it looks for its session, messages of any epoch come this far.
        let is_of_now = epoch == succession.membership.members.promised();
        if let (Message::Lead(lead), true) = (&message, is_of_now) {
            succession.membership.hear_lead(by, epoch, lead, io.now, &mut io.out);
        }
        match message {
            Message::TwoVotes(two) => succession.membership.hear_two_votes(by, &two, io.now, &mut io.out),
            Message::Fetch(first) if succession.membership.fetched(from, epoch, first, &mut io.out) => {}
            Message::Fetch(_) if !is_of_now => self.stale(from, epoch, io),
            Message::Lead(_) if !is_of_now => io.out.dropped(DropReason::StaleEpoch),
            // It may have voted again since it asked, and followed nobody.
            fetched @ Message::Fetched(_) if succession.asked.contains_key(&from) => {
                session.append(fetched, io);
                self.elect(io);
            }
            Message::Lead(lead) if session.leader.peer == from => self.led(lead, io),
            Message::Lead(lead) if succession.membership.led(from, epoch, io.now) => {
                self.elect(io);
                self.led(lead, io);
            }
            Message::VoteOut(_) | Message::Desync(_) if !is_of_now => io.out.dropped(DropReason::StaleEpoch),
            Message::Desync(notice) if session.leader.peer != from => {
                succession.contradicted.told(by, notice.tick, notice.ours);
            }
            Message::Attested(attestation) => session.told(by, attestation, io),
            Message::VoteOut(player) => {
                succession.membership.voted_out(by, player, io.now, &mut io.out);
                session.depose(player, io.now);
            }
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
        membership.advance((session.progressed, self.settings.silence_timeout), io);
        if let Some(vote) = membership.members.leader().filter(|vote| vote.epoch > session.leader.epoch)
            && let Some(member) = membership.ledger.members.get(&vote.leader)
        {
            session.leader = Leader { peer: member.peer, epoch: vote.epoch };
            session.replaced_at = io.now + TELLS_WITHIN;
            succession.asked.clear();
            succession.contradicted = Contradicted::default();
            session.sequencer = vote.leader;
        }
        if membership.members.promised() > session.leader.epoch {
            // Whatever that leader tells, it comes too late.
            session.replaced_at = Duration::MAX;
        }
        let known = membership.known();
        let Some(voters) = membership.elected(io.now) else {
            // Only who knows the newest turns knows who has a vote. A leader that is followed, and
            // of whose turns this member has none yet, is not asked, but sends them.
            if membership.followed() == known.epoch {
                let knowing = membership.members.knowing_more(known, io.now);
                succession.fetch_from(&knowing, io);
            }
            return;
        };
        let knows_enough = membership.knows_enough(&voters, io.now);
        let knowing: Vec<_> = voters.iter().filter(|(_, theirs)| theirs.exceeds(&known) && !knows_enough).collect();
        if knowing.iter().any(|(_, theirs)| theirs.epoch > known.epoch) {
            membership.members.decline();
        } else if !knowing.is_empty() && !membership.is_contested() {
            let knowing: Vec<_> = knowing.into_iter().map(|(player, _)| *player).collect();
            succession.fetch_from(&knowing, io);
        } else if membership.is_member() {
            self.leads = true;
        } else {
            // Its hero never entered, so its number may become another's.
            membership.members.decline();
        }
    }

    /// The new leader tells where its turns go on from.
    fn led(&mut self, lead: Lead, io: &mut Io<F::Sim>) {
        let Place::Joined(session) = &mut self.place else { return };
        let Some(Succession { membership, asked, .. }) = &mut session.succession else { return };
        if membership.followed() == session.leader.epoch {
            return;
        }
        let vote = Vote { epoch: session.leader.epoch, leader: session.sequencer };
        if !membership.follow(lead, vote) {
            let sought = session.seeks.as_ref().and_then(|greeting| greeting.followed());
            if sought != Some(session.leader.peer) {
                self.seek(io);
            }
            return;
        }
        (session.seeks, session.replaced_at, session.held_from) = (None, Duration::MAX, None);
        // The world, which an earlier hello may have asked for, is not needed any more.
        self.attempts = self.attempts.wrapping_add(1);
        asked.clear();
        membership.members.heard(session.sequencer, io.now);
        session.comparison.follow_anew();
        session.mending = None;
        session.intake.follow_anew();
        session.playout.begin_anew();
        session.follows_anew = true;
        session.report_anew();
        session.heard_at = io.now;
    }

    /// Leads on, or looks for the session again if it cannot.
    pub(super) fn take_over(self, io: &mut Io<F::Sim>) -> Box<dyn Role<F::Sim>> {
        let Replica { share, settings, entrant, me, place, .. } = self;
        if let Place::Joined(session) = place
            && let Joined {
                life: Life::Here { stepper, .. },
                succession: Some(succession),
                intake,
                playout,
                progressed,
                sequencer,
                mut comparison,
                ..
            } = *session
        {
            comparison.follow_anew();
            let mandate = succession.mandate();
            let Succession { membership, gone, .. } = succession;
            let closed = membership.ledger.commands(membership.me);
            // A leader has no reason to play later than its ticks are.
            let next_at = playout.time_of(stepper.tick()).unwrap_or(io.now).min(io.now + settings.period);
            let estate = Estate {
                entrant: entrant.clone(),
                me,
                next_at,
                commands: intake.given().since(closed),
                gone,
                mandate,
                stepper,
                membership,
                progressed,
                compared: Some((sequencer, comparison)),
            };
            if let Some(role) = share.take_over(estate, io) {
                return role;
            }
        }
        Box::new(Replica::new(share, settings, entrant, me, io.now))
    }

    /// The role of a member that led, and follows another from now on. It answers for the turns
    /// that it closed.
    pub fn step_down(share: F, settings: Following, estate: Estate<F::Sim>, io: &mut Io<F::Sim>) -> Self {
        let Estate { entrant, me, stepper, membership, gone, commands, next_at, progressed, .. } = estate;
        let mut replica = Replica::new(share, settings, entrant, me, io.now);
        let (tick, player) = (stepper.tick(), stepper.player);
        replica.hero_waits = hero_waits(&stepper.simulation, settings);
        let mut intake = Intake::new(tick, settings.packet_interval);
        let first = membership.ledger.commands(player);
        intake.resume_commands(Given { first, commands }, first);
        intake.resume(membership.history.open(), |tick| F::of_whole(membership.history.inputs(tick)));
        let mut playout = Playout::new(settings.period);
        playout.arrived(tick, tick, next_at);
        replica.place = Place::Joined(Box::new(Joined {
            leader: Leader { peer: me, epoch: membership.followed() },
            sequencer: player,
            player,
            heard_at: io.now,
            replaced_at: Duration::MAX,
            progressed,
            intake,
            playout,
            held_from: None,
            follows_anew: false,
            comparison: Comparison::default(),
            mending: None,
            surveys: Repairs::default(),
            life: Life::Here { stepper, entry: Entry::Playing },
            succession: Some(Succession::of(membership, gone)),
            seeks: None,
        }));
        replica.elect(io);
        replica
    }

    /// Looks for the session again that it led a branch of, as that member, and in whose world its
    /// hero is. It is led by that peer, as far as is known.
    pub fn return_to(
        &mut self,
        simulation: &F::Sim,
        membership: &Membership,
        leader: Option<PeerId>,
        io: &mut Io<F::Sim>,
    ) {
        self.hero_waits = hero_waits(simulation, self.settings);
        (self.promised, self.voted) = (membership.members.promised(), membership.voted());
        self.greet_anew(io);
        if let Some((greeting, leader)) = self.greeting().zip(leader) {
            greeting.follow(leader);
        }
    }

    /// A peer leads others. If too few are reached to lead the session, and it is a member, this
    /// peer comes along. Returns whether it does.
    pub(super) fn met(&mut self, from: PeerId, io: &mut Io<F::Sim>) -> bool {
        let is_member = |membership: &Membership| membership.may_branch() && membership.is_of_member(from);
        let comes_along = self.membership().is_some_and(is_member);
        if comes_along {
            if self.greeting().is_none() {
                self.seek(io);
            }
            self.greeting().into_iter().for_each(|greeting| greeting.follow(from));
            self.release(io);
        }
        comes_along
    }

    /// Looks for the session again, as a joiner does, and lets go of all that it knew.
    pub fn greet_anew(&mut self, io: &mut Io<F::Sim>) {
        let greeting = self.greet(io);
        self.keep_commands();
        self.place = Place::Greeting(greeting);
    }

    /// Looks for the session again, in which it still has a vote, as far as it knows.
    pub fn seek(&mut self, io: &mut Io<F::Sim>) {
        let greeting = self.greet(io);
        match &mut self.place {
            Place::Joined(session) if session.succession.is_some() => session.seeks = Some(greeting),
            _ => {
                self.keep_commands();
                self.place = Place::Greeting(greeting);
            }
        }
    }

    /// Keeps what its player commanded, until its hero plays again.
    pub(super) fn keep_commands(&mut self) {
        if let Place::Joined(session) = &self.place
            && session.life.plays()
        {
            let pending = session.intake.given();
            let succession = session.succession.as_ref();
            self.given = succession.map_or(pending.clone(), |succession| succession.membership.given(pending));
        }
    }

    /// Says hello to everyone.
    fn greet(&mut self, io: &mut Io<F::Sim>) -> Box<Greeting> {
        self.remember_votes();
        self.promised = self.promised();
        self.attempts = self.attempts.wrapping_add(1);
        let hello = Hello { promised: self.promised, attempt: self.attempts, ..self.entrant.hello() };
        let hero_waits = self.hero_waits.unwrap_or_default();
        let followed = self.session().map(|session| session.leader.peer);
        let timeout = hero_waits.max(self.settings.handshake_timeout);
        let mut greeting = Greeting::returning(hello, followed, timeout, io.now);
        let peers: Vec<_> = io.ingress.peers().collect();
        peers.into_iter().for_each(|peer| greeting.connected(peer, io.now, &mut io.out));
        Box::new(greeting)
    }
}

impl<F: Share> Replica<F> {
    /// Finds out whether the leader tells all the same turns.
    pub(super) fn audit(&mut self, io: &mut Io<F::Sim>) {
        let Place::Joined(session) = &mut self.place else { return };
        let follows = session.follows();
        let Some(succession) = session.succession.as_mut().filter(|_| follows) else { return };
        match succession.membership.audit() {
            // Its own turns may be wrong as well.
            Some(Offence::Differs) => {
                io.out.stats.desyncs += 1;
                self.seek(io);
            }
            Some(offence) => {
                let is_proven = matches!(offence, Offence::Equivocates(_));
                let signed = succession.membership.signed(offence);
                io.out.events.extend(signed.into_iter().map(Event::Signed));
                io.out.events.push_back(Event::Distrusted { player: session.sequencer, is_proven });
                self.elect(io);
            }
            None => {}
        }
    }
}

impl<F: Share> Joined<F> {
    /// Its player wants another out. Returns whether that is another member.
    pub(super) fn vote_out(&mut self, player: PlayerId, io: &mut Io<F::Sim>) -> bool {
        let Some(Succession { membership, .. }) = &mut self.succession else { return false };
        let counts = membership.vote_out(player, io.now, &mut io.out);
        self.depose(player, io.now);
        counts
    }

    /// Follows a leader no more that a quorum wants out.
    fn depose(&mut self, player: PlayerId, now: Duration) {
        let Some(Succession { membership, .. }) = &mut self.succession else { return };
        if player == self.sequencer && membership.is_unwanted(player, now) {
            membership.members.distrust(player, LeaveReason::VotedOut);
        }
    }

    /// A member tells what the leader signed. What the leader itself tells, others are told.
    fn told(&mut self, by: PlayerId, attestation: Attestation, io: &mut Io<F::Sim>) {
        let Some(Succession { membership, .. }) = &mut self.succession else { return };
        if membership.told(by, attestation.clone()) {
            let (me, epoch) = (membership.me, membership.followed());
            let others = membership.ledger.present().filter(|(other, _)| ![me, by].contains(other));
            let message = Message::Attested(attestation);
            // Whether it arrives does not matter much: what is signed next is passed on, too.
            for (_, other) in others {
                io.out.send(epoch, other.peer, Channel::Unreliable, &message);
            }
        }
    }

    /// Turns that another member knew.
    fn append(&mut self, fetched: Message, io: &mut Io<F::Sim>) {
        let Some(turns) = F::turns(fetched).break_value() else { return };
        let has_promised =
            |Succession { membership, .. }: &Succession| membership.members.promised() > membership.known().epoch;
        let holds = self.succession.as_ref().is_some_and(has_promised);
        if let Progress::New(first) = self.intake.append(turns) {
            if holds {
                self.held_from.get_or_insert(first);
            }
            self.note_closed(first);
            self.playout.caught_up(first, self.intake.known(), io.now);
        }
    }

    /// Another leads, who is told the newest checksums of this world again: worlds may differ.
    fn report_anew(&mut self) {
        let checksums = self.life.stepper().into_iter().flat_map(|stepper| stepper.checksums.iter().rev());
        let newest: Vec<_> = checksums.take(CHECKSUMS_TOLD_ANEW).map(|(tick, checksum)| (*tick, *checksum)).collect();
        newest.into_iter().rev().for_each(|(tick, checksum)| self.intake.checksum(tick, checksum));
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
