//! The role of a party's peer that closes ticks: lets joiners in, feeds replicas, watches over
//! them, and plays along.
//!
//! Its loop is [`Sequencing::advance`](Role::advance): close what is due, play what is due, send
//! what is due. It never waits for a peer, but closes nothing while it hears no quorum: another may
//! lead by then.

mod admission;
mod election;
mod input_delay;
mod meeting;
mod repair;

use core::time::Duration;
use std::sync::Arc;

use lockstone_sim::{Checksum, PlayerId, Simulation, Tick, Turn};

use super::config::{PartyConfig, PartySettings};
use crate::limits::*;
use crate::link::{Channel, PeerId};
use crate::sequencer::{Feed, Waiting};
use crate::session::{
    Applicants, CommandError, Comparison, DropReason, Entrant, Event, Io, Leader, Membership, Offer, OnDesync, Outbox,
    Phase, Rate, Role, Roll, Schedule, Stats, Stepper, Witnesses, turn,
};
use crate::transfer::SnapshotSender;
use crate::wire::*;
use election::Reign;
use input_delay::InputDelay;
use meeting::Meeting;
use repair::{Checks, Justice};

/// Between two packets to a replica before the first tick.
const KEEP_ALIVE: Duration = Duration::from_secs(1);
/// Between two times that a replica is told who leads.
const LEAD_PAUSE: Duration = Duration::from_millis(100);
/// A guest that was not heard for so long may be cut off: what is sent reliably then holds up all
/// else once it is heard again.
const ATTESTED_WITHIN: Duration = Duration::from_millis(300);
/// Joiners within so many seconds get the same snapshot.
const SNAPSHOT_SHARED_S: u32 = 1;

pub struct Sequencing<S: Simulation> {
    config: PartyConfig,
    entrant: Arc<Entrant<S>>,
    /// This peer.
    leader: Leader,
    membership: Membership,
    reign: Reign,
    meeting: Meeting,
    stepper: Stepper<S>,
    waiting: Waiting,
    /// Those who are asked for the proof of their key.
    applicants: Applicants<S>,
    /// Once the first tick is known.
    schedule: Option<Schedule>,
    input_delay: InputDelay,
    /// When this peer last looked after the session.
    advanced_at: Duration,
    guests: Roll<Guest<S>>,
    /// The snapshot that several joiners get.
    offer: Option<Offer>,
    justice: Justice<S>,
}

/// A peer of the session.
struct Guest<S: Simulation> {
    player: PlayerId,
    key: Option<PublicKey>,
    feed: Feed,
    comparison: Comparison,
    checks: Checks,
    heard_at: Duration,
    /// Whether it is to be told what this peer signed last.
    unattested: bool,
    /// How much it said lately.
    chat: Rate,
    entry: Entry<S>,
}

/// How far a guest has come.
enum Entry<S: Simulation> {
    /// It loads the world, as it asked for when it said hello, and then enters so, if it is not in
    /// the session already.
    Loading {
        arrival: Option<(Name, Option<S::Hero>)>,
        attempt: u32,
        sender: SnapshotSender,
        progressed: Duration,
        ready: bool,
    },
    /// Its hero is in the world, or on its way into a turn.
    Playing,
    /// The same, but it does not know yet who leads: when it was told.
    Untold(Option<Duration>),
}

impl<S: Simulation> Guest<S> {
    /// One that knows all turns before tick `known`.
    fn new(player: PlayerId, key: Option<PublicKey>, known: Tick, entry: Entry<S>, now: Duration) -> Self {
        let (feed, comparison, checks) = (Feed::new(known), Comparison::default(), Checks::default());
        let (heard_at, chat) = (now, Rate::default());
        Guest { player, key, feed, comparison, checks, heard_at, unattested: false, chat, entry }
    }

    /// Whether it said that it knows the turn of a tick.
    fn knows(&self, tick: Tick) -> bool {
        matches!(self.entry, Entry::Playing) && self.feed.known() > tick
    }

    fn plays(&self) -> bool {
        matches!(self.entry, Entry::Playing | Entry::Untold(_) | Entry::Loading { arrival: None, .. })
    }
}

impl<S: Simulation> Sequencing<S> {
    /// Founds a session: a new world, or the one that this peer goes on with, and its own hero on
    /// its way into the next turn.
    pub(super) fn found(config: PartyConfig, entrant: &Arc<Entrant<S>>, leader: Leader, io: &mut Io<S>) -> Self {
        let (mut waiting, settings) = (Waiting::default(), config.settings());
        let founded = entrant.found((settings.seed, settings.players_max), leader.peer, &mut waiting, &mut io.out);
        let (player, ledger) = (founded.player, founded.ledger.clone());
        let mut guests = Roll::new(entrant.terms, settings.players_max);
        guests.follow(&ledger, player);
        let stepper = Stepper::found(founded, config.following(), &mut io.out);
        let vote = Vote { epoch: leader.epoch, leader: player };
        let membership = Membership::new((player, leader.peer), vote, ledger, stepper.tick(), io.now)
            .signing(entrant.key.clone(), leader.epoch);
        Sequencing {
            guests,
            reign: Reign::beginning(io.now),
            meeting: Meeting::default(),
            entrant: entrant.clone(),
            justice: Justice::new(&stepper),
            input_delay: InputDelay::new(settings, config.period(), 0, io.now),
            config,
            leader,
            membership,
            stepper,
            waiting,
            applicants: Applicants::new(),
            schedule: None,
            advanced_at: io.now,
            offer: None,
        }
    }

    fn settings(&self) -> &PartySettings {
        self.config.settings()
    }

    /// Players whose hero is in the world or on its way into a turn.
    fn ready(&self) -> usize {
        1 + self.guests.iter().filter(|(_, guest)| guest.plays()).count()
    }

    /// Plays the ticks whose time has come, and closes those an input delay ahead of them.
    fn run(&mut self, io: &mut Io<S>) {
        let unclosed = self.unclosed();
        if let Some(schedule) = &mut self.schedule {
            schedule.forgive(unclosed, io.now);
        }
        for _ in 0..TICKS_PER_ADVANCE_MAX {
            let tick = self.stepper.tick();
            let Some(at) = self.schedule.as_ref().map(|schedule| schedule.time_of(tick)) else { return };
            self.close_until(at.min(io.now), io.now);
            if io.now < at {
                return;
            }
            if self.membership.history.open() <= tick {
                // Time in which nothing may be closed is not made up for.
                self.schedule = Some(Schedule::going_on(tick, io.now, self.config.period()));
                return;
            }
            self.play(tick, io);
        }
    }

    /// The first tick that waits for a turn to be closed. Those before wait for this peer alone.
    fn unclosed(&self) -> Tick {
        let ahead = self.input_delay.ticks() + 1;
        self.stepper.tick().max(Tick(self.membership.history.open().0.saturating_sub(ahead)))
    }

    /// When the open tick is to be closed.
    fn close_at(&self) -> Option<Duration> {
        let at = self.schedule.as_ref()?.time_of(self.membership.history.open());
        Some(at.saturating_sub(self.input_delay.time()))
    }

    /// Closes the ticks that are due at a time.
    fn close_until(&mut self, at: Duration, now: Duration) {
        while self.close_at().is_some_and(|due| due <= at) && self.close(now) {
            let playing = self.guests.iter().filter(|(_, guest)| matches!(guest.entry, Entry::Playing));
            self.input_delay.closed(playing.filter_map(|(_, guest)| guest.feed.stamps().round_trip()), now);
        }
    }

    fn play(&mut self, tick: Tick, io: &mut Io<S>) {
        let checksum = self.stepper.play(self.membership.history.inputs(tick), Vec::new(), &mut io.out);
        // The stepper counts those that are dropped.
        self.membership.ledger.requests.asked(&self.stepper.simulation);
        self.keep_copy(io);
        let Some((tick, checksum)) = checksum else { return };
        self.justice.own(self.stepper.player, tick, checksum);
        let mut differing = Vec::new();
        for (peer, guest) in self.guests.peers_mut() {
            guest.feed.checksum(tick, checksum);
            differing.extend(guest.comparison.ours(tick, checksum, &mut io.out).map(|notice| (peer, notice)));
        }
        for (peer, notice) in differing {
            self.differs(peer, notice, true, io);
        }
    }

    /// Sends each replica what is due to it.
    fn flush(&mut self, now: Duration, out: &mut Outbox<S>) {
        let interval = self.settings().packet_interval_ticks.min(self.input_delay.ticks());
        let (epoch, open) = (self.leader.epoch, self.membership.history.open());
        for (peer, guest) in self.guests.peers_mut() {
            if let Entry::Loading { sender, .. } = &mut guest.entry {
                while let Some(chunk) = sender.next_chunk() {
                    out.reliably(epoch, peer, &Message::Chunk(chunk));
                }
            }
            while let Some(chunk) = guest.checks.next_chunk() {
                out.reliably(epoch, peer, &Message::Chunk(chunk));
            }
            if let Entry::Untold(told_at) = &mut guest.entry {
                if told_at.is_none_or(|told| now >= told + LEAD_PAUSE) {
                    *told_at = Some(now);
                    out.send(epoch, peer, Channel::Unreliable, &Message::Lead(self.membership.lead()));
                }
                continue;
            }
            let overdue = guest.feed.sent_at().is_none_or(|sent| now >= sent + KEEP_ALIVE);
            if overdue || guest.feed.due(open, interval) {
                let taken = self.waiting.commands_taken(guest.player);
                for (channel, turns) in guest.feed.packets(&self.membership.history, open, now, taken) {
                    out.send_turns(epoch, peer, channel, TurnsKind::Turns, &turns);
                }
            }
        }
        let signs = self.entrant.key.as_ref().is_some_and(|key| self.membership.attest(key));
        let Some(attestation) = self.membership.attestation() else { return };
        for (peer, guest) in self.guests.peers_mut() {
            guest.unattested |= signs && guest.plays();
            if guest.unattested && now < guest.heard_at + ATTESTED_WITHIN {
                guest.unattested = false;
                out.reliably(epoch, peer, &Message::Attested(attestation.clone()));
            }
        }
    }

    /// If this peer stood still, it could hear nobody: that time counts for no silence.
    fn excuse_standstill(&mut self, now: Duration) {
        let stood_still = now.saturating_sub(self.advanced_at);
        self.advanced_at = now;
        if stood_still < STANDSTILL {
            return;
        }
        // What came while it stood still is taken just before, and counts from now on.
        let excuse = |at: &mut Duration| *at = (*at + stood_still).min(now);
        excuse(&mut self.reign.backed_at);
        for (_, guest) in self.guests.peers_mut() {
            excuse(&mut guest.heard_at);
            guest.checks.excuse(excuse);
            if let Entry::Loading { progressed, .. } = &mut guest.entry {
                excuse(progressed);
            }
        }
    }

    /// Removes each guest that fell silent, fell behind, or does not get on with loading.
    fn watch_over(&mut self, now: Duration, out: &mut Outbox<S>) {
        let (settings, history) = (self.settings(), &self.membership.history);
        let crowded = history.bytes() > HISTORY_BYTES_MAX;
        let stuck = |guest: &Guest<S>| match guest.entry {
            Entry::Loading { progressed, .. } => now >= progressed + settings.load_timeout,
            Entry::Playing | Entry::Untold(_) => false,
        };
        let reason = |guest: &Guest<S>| {
            if !self.reign.waits() && now >= guest.heard_at + settings.silence_timeout {
                return Some(LeaveReason::Silent);
            }
            let behind = history.open().since(guest.feed.known());
            let hinders = crowded && guest.feed.known() == history.oldest();
            (behind > TICKS_BEHIND_MAX || hinders || stuck(guest)).then_some(LeaveReason::TooSlow)
        };
        let gone: Vec<_> = self.guests.peers().filter_map(|(peer, guest)| Some((peer, reason(guest)?))).collect();
        for (peer, reason) in gone {
            self.put_out(peer, reason, out);
        }
    }

    /// Forgets turns that everyone has, and peers whose word does not count any more.
    fn forget(&mut self) {
        let tick = self.stepper.tick();
        let shared_ticks = SNAPSHOT_SHARED_S * self.settings().ticks_per_s;
        self.offer.take_if(|offer| tick.since(offer.tick()) > shared_ticks);
        // What those need who ask who leads, is not known.
        let needs = |guest: &Guest<S>| if let Entry::Untold(_) = guest.entry { Tick(0) } else { guest.feed.known() };
        let needed = self.guests.iter().map(|(_, guest)| needs(guest));
        let oldest = needed.chain(self.offer.iter().map(Offer::tick)).fold(tick, Tick::min);
        self.membership.history.forget(oldest);
        let voters = &self.membership.ledger.electorates;
        self.reign.removed.retain(|_, removed| voters.iter().any(|player| player == *removed));
    }

    fn report(&mut self, from: PeerId, report: Report, io: &mut Io<S>) {
        let Some(guest) = self.guests.of_mut(from) else { return };
        let out = &mut io.out;
        // It may have followed before it was sent the world.
        if let Entry::Untold(_) | Entry::Loading { arrival: None, .. } = guest.entry {
            let history = &self.membership.history;
            if report.known < history.oldest() {
                return self.put_out(from, LeaveReason::TooSlow, out);
            }
            // It follows from now on.
            guest.entry = Entry::Playing;
            guest.feed = Feed::new(report.known.min(history.open()));
        }
        if let Err(reason) = guest.feed.take(&report, self.membership.history.open(), io.now) {
            return out.dropped(reason);
        }
        self.waiting.report(guest.player, &report, report.commands.len(), out);
        let checks = &guest.checks;
        let theirs: Vec<_> = report.checksums.iter().copied().filter(|(tick, _)| checks.counts(*tick)).collect();
        let (player, ours) = (guest.player, &self.stepper.checksums);
        let compare = |(tick, theirs): &(Tick, Checksum)| guest.comparison.theirs(*tick, *theirs, ours, out);
        let differing: Vec<_> = theirs.iter().filter_map(compare).collect();
        theirs.iter().for_each(|(tick, theirs)| self.told(player, *tick, *theirs));
        for notice in differing {
            self.differs(from, notice, true, io);
        }
        self.judge(io);
    }

    /// A replica's world has become another: told once, to both sides. `found_here`: by a
    /// comparison of our own.
    fn differs(&mut self, peer: PeerId, notice: DesyncNotice, found_here: bool, io: &mut Io<S>) {
        self.dispute(peer, notice, io.now);
        let Some(guest) = self.guests.of_mut(peer) else { return };
        let out = &mut io.out;
        if !guest.comparison.differs(found_here, out) {
            return;
        }
        let player = guest.player;
        let DesyncNotice { tick, agreed, ours, theirs } = notice;
        self.stepper.emit_keyframe(out);
        out.events.push_back(Event::Desync { player, tick, agreed, ours, theirs });
        if found_here {
            out.reliably(self.leader.epoch, peer, &Message::Desync(notice));
        }
        if !self.repairs() {
            self.inquire(peer, io);
        }
        if self.settings().on_desync == OnDesync::Stop {
            self.put_out(peer, LeaveReason::Desync, &mut io.out);
        }
    }

    /// Calls for the evidence of whose world is another, and of everyone whose hero is in the
    /// world.
    pub(super) fn inquire(&mut self, odd: PeerId, io: &mut Io<S>) {
        let guests = self.guests.peers().filter(|(peer, guest)| *peer == odd || guest.plays());
        let others: Vec<_> = guests.map(|(peer, guest)| (guest.player, peer)).collect();
        let mut all: Vec<_> = others.iter().copied().chain([(self.stepper.player, self.leader.peer)]).collect();
        all.sort();
        let witnesses = Witnesses::of(others, all.len());
        let inquiry = Inquiry { witnesses: List::try_from(all).expect("no more are let in") };
        io.inquire(INQUIRY_INTERVAL, witnesses, inquiry);
    }

    /// Tells all what a player says.
    fn said(&mut self, player: PlayerId, line: ChatLine, out: &mut Outbox<S>) {
        let Some(name) = self.stepper.roster.get(&player).cloned() else { return };
        let said = Said { player, name, line };
        for (peer, _) in self.guests.peers().filter(|(_, guest)| guest.plays()) {
            out.reliably(self.leader.epoch, peer, &Message::Said(said.clone()));
        }
        out.said(&said);
    }

    /// A guest is told that it is out, and is gone.
    fn put_out(&mut self, peer: PeerId, reason: LeaveReason, out: &mut Outbox<S>) {
        out.reliably(self.leader.epoch, peer, &Message::Removed(reason));
        self.remove(peer, reason);
    }

    /// Puts a player out if a quorum wants it.
    fn expel(&mut self, player: PlayerId, io: &mut Io<S>) {
        let guest = self.guests.peers().find(|(_, guest)| guest.player == player).map(|(peer, _)| peer);
        if let Some(peer) = guest.filter(|_| self.leads() && self.membership.is_unwanted(player, io.now)) {
            self.put_out(peer, LeaveReason::VotedOut, &mut io.out);
        }
    }

    /// A guest is gone. If it may come back, its hero stays.
    fn remove(&mut self, peer: PeerId, reason: LeaveReason) {
        let Some((player, key)) = self.guests.of(peer).map(|guest| (guest.player, guest.key)) else { return };
        if matches!(reason, LeaveReason::Silent | LeaveReason::TooSlow) {
            self.meeting.parted.insert(peer);
        }
        self.reign.removed.insert(peer, player);
        let away_ticks = self.stepper.simulation.away_ticks();
        let departure = self.membership.ledger.departure(player, key, reason, away_ticks);
        let stays = matches!(departure, RawInput::Away(..));
        self.waiting.leave(player, departure);
        if stays {
            self.guests.vacate(peer);
        } else {
            self.guests.remove(peer);
            if self.meeting.parted.contains(&peer) {
                self.guests.forget(peer);
            }
        }
    }
}

impl<S: Simulation> Role<S> for Sequencing<S> {
    fn is_over(&self) -> bool {
        self.yields() || self.is_deposed()
    }

    fn next(self: Box<Self>, io: &mut Io<S>) -> Box<dyn Role<S>> {
        if self.yields() { Box::new(self.give_up(io)) } else { Box::new(self.step_down(io)) }
    }

    fn disconnected(&mut self, peer: PeerId, _: &mut Io<S>) {
        self.remove(peer, LeaveReason::Lost);
        self.guests.forget(peer);
        self.applicants.forget(peer);
        self.meeting.lost(peer);
    }

    fn foreign(&mut self, from: PeerId, refusal: Refusal, io: &mut Io<S>) {
        self.meeting.greeted.insert(from);
        self.guests.refuse(from, "", refusal, &mut io.out);
    }

    fn epoch(&self) -> Option<Epoch> {
        Some(self.leader.epoch)
    }

    fn stale(&mut self, from: PeerId, epoch: Epoch, io: &mut Io<S>) {
        if self.membership.player(from).is_some() && self.membership.members.has_left(epoch) {
            self.membership.answer(from, &mut io.out);
        }
    }

    fn handle(&mut self, from: PeerId, epoch: Epoch, message: Message, io: &mut Io<S>) {
        match message {
            Message::Hello(hello) => return self.hello(from, hello, io),
            Message::Proof(proof) => return self.proof(from, &proof, io),
            Message::Meet(meet) => return self.met(from, meet, io),
            Message::Elsewhere(leader) => return self.sent_on(from, leader, io),
            _ => {}
        }
        let player = self.membership.player(from);
        match (&message, player) {
            (Message::Stand(stand), _) if self.membership.take(from, stand.clone(), io.now, &mut io.out) => {
                return self.elect(io);
            }
            (Message::VoteOut(unwanted), Some(by)) => {
                self.membership.voted_out(by, *unwanted, io.now, &mut io.out);
                return self.expel(*unwanted, io);
            }
            (Message::Lead(lead), Some(by)) => return self.rivalled(from, (by, epoch), lead, io),
            (Message::TwoVotes(two), Some(by)) => {
                return self.membership.hear_two_votes(by, two, io.now, &mut io.out);
            }
            (Message::Fitness(fitness), Some(by)) => return self.membership.fitness_of(by, *fitness),
            (Message::Fetch(first), Some(_)) if self.membership.fetched(from, epoch, *first, &mut io.out) => return,
            (Message::Bye(_), player) => self.reign.resigned.extend(player.or(self.reign.removed.remove(&from))),
            _ => {}
        }
        let Some(guest) = self.guests.of_mut(from) else { return io.out.dropped(DropReason::UnknownPeer) };
        guest.heard_at = io.now;
        // Who comes back says nothing for the peer that it was, and what was said reliably may have
        // been said long ago.
        let is_itself = player == Some(guest.player) || !self.membership.ledger.members.contains_key(&guest.player);
        if is_itself && matches!(message, Message::Report(_)) {
            self.membership.members.heard(guest.player, io.now);
        }
        match (message, &mut guest.entry) {
            (Message::ChunkAck(received), Entry::Loading { arrival, sender, progressed, .. }) => {
                match sender.acknowledge(received) {
                    Ok(()) if sender.done() && arrival.is_none() => guest.entry = Entry::Playing,
                    Ok(()) => *progressed = io.now,
                    // It may be of a load that was begun before, and given up.
                    Err(_) => io.out.dropped(DropReason::Unexpected),
                }
            }
            (Message::ChunkAck(received), _) => self.mended(from, received, io.now, &mut io.out),
            (Message::Parts(parts), _) => self.parts(from, parts, io),
            (Message::Ready, Entry::Loading { sender, ready, .. }) if sender.done() => {
                *ready = true;
                self.admit(from, &mut io.out);
            }
            (Message::Report(report), _) => self.report(from, report, io),
            (Message::Desync(notice), _) => self.differs(from, notice.turned(), false, io),
            (Message::Bye(reason), _) => self.remove(from, reason),
            (Message::Say(line), Entry::Playing) if guest.chat.admits(1, CHAT_LINES_PER_S_MAX, io.now) => {
                let player = guest.player;
                self.said(player, line, &mut io.out);
            }
            (Message::Say(_), Entry::Playing) => io.out.dropped(DropReason::ChatFlood),
            _ => io.out.dropped(DropReason::Unexpected),
        }
        self.flush(io.now, &mut io.out);
    }

    fn advance(&mut self, io: &mut Io<S>) {
        self.excuse_standstill(io.now);
        self.watch_over(io.now, &mut io.out);
        if self.schedule.is_none() && self.ready() >= self.settings().players_at_start {
            self.schedule = Some(Schedule::going_on(self.stepper.tick(), io.now, self.config.period()));
        }
        self.elect(io);
        self.run(io);
        self.judge(io);
        self.watch_repairs(io.now);
        self.admit_ready(&mut io.out);
        self.meet(io);
        self.flush(io.now, &mut io.out);
        self.forget();
    }

    fn wake_at(&self, now: Duration) -> Duration {
        let next = match &self.schedule {
            None => now + KEEP_ALIVE / 4,
            // It may close nothing now.
            Some(_) if self.membership.history.open() <= self.stepper.tick() => now + LEAD_PAUSE,
            Some(schedule) => {
                let play_at = schedule.time_of(self.stepper.tick());
                self.close_at().filter(|at| *at > now).map_or(play_at, |at| at.min(play_at))
            }
        };
        next.min(self.membership.members.wake_at())
    }

    fn command(&mut self, command: CommandBytes) -> Result<(), CommandError> {
        if !self.stepper.plays() {
            return Err(CommandError::NotPlaying);
        }
        self.waiting.own_command(self.stepper.player, command)
    }

    fn say(&mut self, line: ChatLine, io: &mut Io<S>) {
        self.said(self.stepper.player, line, &mut io.out);
    }

    fn vote_out(&mut self, player: PlayerId, io: &mut Io<S>) -> bool {
        let counts = self.membership.vote_out(player, io.now, &mut io.out);
        self.expel(player, io);
        counts
    }

    fn reference(&mut self, tick: Tick, checksum: Option<Checksum>, _: &mut Io<S>) {
        self.justice.reference(tick, checksum);
    }

    /// Leaves it to another to go on: its vote for that one is its last word.
    fn leave(&mut self, io: &mut Io<S>) {
        let heard = self.guests.iter().filter(|(_, guest)| guest.plays() && self.hears(guest.player, io.now));
        let heir = heard.map(|(_, guest)| guest.player).min();
        let stand = heir.map(|heir| self.membership.last_word(heir, io.now));
        for (peer, guest) in self.guests.peers() {
            io.out.reliably(self.leader.epoch, peer, &Message::Ending);
            if let Some(stand) = stand.clone().filter(|_| guest.plays()) {
                io.out.reliably(Epoch::default(), peer, &Message::Stand(stand));
            }
        }
    }

    fn phase(&self) -> Phase {
        match self.schedule {
            Some(_) => Phase::Playing,
            None => Phase::Waiting { players: self.ready(), needed: self.settings().players_at_start },
        }
    }

    fn led_by(&self) -> Option<Vote> {
        self.leads().then_some(Vote { epoch: self.leader.epoch, leader: self.stepper.player })
    }

    /// As long as it may close nothing.
    fn stalled_since(&self, now: Duration) -> Option<Duration> {
        let stalls = self.schedule.is_some() && self.membership.history.open() <= self.stepper.tick();
        stalls.then_some(now)
    }

    fn look_ahead(&mut self, ticks_max: u32, io: &mut Io<S>) -> u32 {
        if !self.stepper.plays() {
            return 0;
        }
        let (ticks, player) = (self.input_delay.ticks(), self.stepper.player);
        let (waiting, history) = (&self.waiting, &self.membership.history);
        let open = history.open();
        let at = |tick: Tick| match tick == open {
            false => history.turn(tick).map_or(Turn::EMPTY, |raw| turn(raw, Vec::new(), || {})),
            true => {
                let own = waiting.of(player).cloned();
                let own: Vec<_> = own.map(|command| RawInput::Command(player, command)).collect();
                turn(&own, Vec::new(), || {})
            }
        };
        self.stepper.look_ahead(&self.entrant.build, (ticks..=ticks, ticks_max), at, &mut io.out)
    }

    fn simulation(&self) -> Option<&S> {
        Some(self.stepper.shown())
    }

    fn confirmed(&self) -> Option<&S> {
        Some(&self.stepper.simulation)
    }

    fn player(&self) -> Option<PlayerId> {
        Some(self.stepper.player)
    }

    fn figures(&self, stats: &mut Stats, out: &Outbox<S>) {
        let exchange = |player| {
            let (peer, guest) = self.guests.peers().find(|(_, guest)| guest.player == player)?;
            Some(guest.comparison.exchange(peer, guest.feed.stamps(), out))
        };
        stats.input_delay_ticks = Some(self.input_delay.ticks());
        stats.known = self.membership.history.open();
        stats.players = self.stepper.players(self.stepper.player, exchange);
        stats.away = self.stepper.away(&self.membership.ledger);
        stats.branch = self.membership.ledger.branch;
    }
}
