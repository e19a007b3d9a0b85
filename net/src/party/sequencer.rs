//! The role of a party's peer that closes ticks: lets joiners in, feeds replicas, watches over
//! them, and plays along.
//!
//! Its loop is [`Sequencing::advance`](Role::advance): close what is due, play what is due, send
//! what is due. It never waits for a peer, but closes nothing while it hears no quorum: another may
//! lead by then.

mod admission;

use core::time::Duration;
use std::collections::BTreeSet;

use lockstone_sim::{Checksum, PlayerId, Simulation, Tick};

use super::config::PartySettings;
use super::whole::Whole;
use crate::limits::*;
use crate::link::{Channel, PeerId};
use crate::members::Members;
use crate::replica::Estate;
use crate::sequencer::{Feed, History, Sequencer, Waiting};
use crate::session::{
    CommandError, Comparison, DropReason, Entrant, Event, Io, Leader, Ledger, Offer, Outbox, Phase, Rate, Role, Roll,
    Schedule, Stats, Stepper,
};
use crate::transfer::SnapshotSender;
use crate::wire::*;

/// Between two packets to a replica before tick 0.
const KEEP_ALIVE: Duration = Duration::from_secs(1);
/// Between two times that a replica is told who leads.
const LEAD_PAUSE: Duration = Duration::from_millis(100);
/// So long does a member keep its vote that is not heard.
const VOTE_KEPT: Duration = Duration::from_secs(3);
/// Joiners within so many seconds get the same snapshot.
const SNAPSHOT_SHARED_S: u32 = 1;

pub struct Sequencing<S: Simulation> {
    whole: Whole<S>,
    /// This peer.
    leader: Leader,
    members: Members,
    ledger: Ledger,
    /// The tick whose turn changed the electorate last, until that is settled.
    changed: Option<Tick>,
    /// What was closed before this peer led.
    from: Known,
    /// Players who said goodbye: they promised never to vote again.
    resigned: BTreeSet<PlayerId>,
    /// When a quorum was heard last.
    backed_at: Duration,
    stepper: Stepper<S>,
    sequencer: Sequencer,
    /// Once tick 0 is known.
    schedule: Option<Schedule>,
    guests: Roll<Guest<S>>,
    /// The snapshot that several joiners get.
    offer: Option<Offer>,
    /// Its next role, once another leads.
    next: Option<Box<dyn Role<S>>>,
}

/// A peer of the session.
struct Guest<S: Simulation> {
    player: PlayerId,
    name: Name,
    feed: Feed,
    comparison: Comparison,
    heard_at: Duration,
    /// How much it said lately.
    chat: Rate,
    entry: Entry<S>,
}

/// How far a guest has come.
enum Entry<S: Simulation> {
    /// It is on its way in.
    /// Its hero may be in the world already.
    Loading { hero: Option<S::Hero>, sender: SnapshotSender, progressed: Duration },
    /// Its hero is in the world, or on its way into a turn.
    Playing,
    /// Its hero is in the world, and it does not know who leads: when it was told.
    Elsewhere(Option<Duration>),
}

impl<S: Simulation> Guest<S> {
    fn plays(&self) -> bool {
        matches!(self.entry, Entry::Playing | Entry::Elsewhere(_) | Entry::Loading { hero: None, .. })
    }
}

impl<S: Simulation> Sequencing<S> {
    /// Founds a session: the world at tick 0, and this peer's own hero on its way into the first
    /// turn.
    pub(super) fn found(whole: Whole<S>, entrant: &Entrant<S>, leader: Leader, io: &mut Io<S>) -> Self {
        let (mut waiting, settings) = (Waiting::default(), whole.config.settings());
        let following = whole.config.following();
        let stepper = Stepper::found(entrant, settings.seed, following, leader.peer, &mut waiting, &mut io.out);
        let (player, first) = (stepper.player, stepper.tick());
        Sequencing {
            guests: Roll::new(entrant.terms, settings.players_max, 1),
            members: Members::following(player, Vote { epoch: leader.epoch, leader: player }, io.now),
            ledger: Ledger::of_founder(player, first),
            changed: None,
            from: Known { epoch: leader.epoch, end: first },
            resigned: BTreeSet::new(),
            backed_at: io.now,
            sequencer: Sequencer { waiting, history: History::starting_at(first) },
            whole,
            leader,
            stepper,
            schedule: None,
            offer: None,
            next: None,
        }
    }

    /// Leads on, with all that this peer knows.
    pub(super) fn take_over(whole: Whole<S>, estate: Estate<S>, io: &mut Io<S>) -> Self {
        let Estate { me, stepper, members, ledger, history, from, gone, commands, next_at } = estate;
        let period = whole.config.period();
        let mut waiting = Waiting::default();
        let mut guests = Roll::new(whole.hello.terms, whole.config.settings().players_max, 1);
        guests.begin_at(ledger.next_player());
        for (player, member) in &ledger.members {
            waiting.resume(*player, member.commands);
            if *player == stepper.player {
                continue;
            }
            let guest = Guest {
                player: *player,
                name: stepper.roster.get(player).cloned().unwrap_or_else(|| whole.hello.name.clone()),
                feed: Feed::new(history.open()),
                comparison: Comparison::default(),
                heard_at: io.now,
                chat: Rate::default(),
                entry: Entry::Elsewhere(None),
            };
            guests.insert(member.peer, *player, guest);
        }
        for request in &ledger.requests {
            let _ = waiting.request(request.clone());
        }
        for command in commands {
            let _ = waiting.own_command(stepper.player, command);
        }
        let schedule = Schedule::going_on(stepper.tick(), next_at, period);
        let mut sequencing = Sequencing {
            leader: Leader { peer: me, epoch: members.promised() },
            members,
            // One that was begun may be known to nobody else.
            changed: Some(history.open()).filter(|_| ledger.electorates.settled().is_none()),
            ledger,
            from,
            resigned: gone.iter().map(|(player, _)| *player).collect(),
            backed_at: io.now,
            sequencer: Sequencer { waiting, history },
            whole,
            stepper,
            schedule: Some(schedule),
            guests,
            offer: None,
            next: None,
        };
        if let Some((player, reason)) = gone
            && let Some(member) = sequencing.ledger.members.get(&player)
        {
            sequencing.remove(member.peer, reason);
        }
        let lost: Vec<_> = sequencing.guests.peers().map(|(peer, _)| peer).collect();
        for peer in lost.into_iter().filter(|peer| !io.ingress.is_connected(*peer)) {
            sequencing.remove(peer, LeaveReason::Lost);
        }
        sequencing.flush(io.now, &mut io.out);
        sequencing
    }

    fn settings(&self) -> &PartySettings {
        self.whole.config.settings()
    }

    /// Closes the open tick, if this peer may.
    fn close(&mut self, now: Duration) -> bool {
        let own = Vote { epoch: self.leader.epoch, leader: self.stepper.player };
        let leads = self.members.leader() == Some(own);
        if !leads {
            return false;
        }
        let backs = |player| {
            player == self.stepper.player || self.resigned.contains(&player) || self.members.hears(player, now)
        };
        let is_backed = self.ledger.electorates.is_quorum(backs);
        if !is_backed && now < self.backed_at + self.settings().silence_timeout {
            return false;
        }
        self.backed_at = now;
        let change = if is_backed { self.electorate(now) } else { self.branch(now) };
        let tick = self.sequencer.history.open();
        match change.last() {
            Some(RawInput::Electorate(_)) => self.changed = Some(tick),
            Some(_) => self.changed = None,
            None => {}
        }
        self.sequencer.close(change);
        let turn = self.sequencer.turn(tick);
        self.ledger.closed(tick, turn);
        turn.iter().filter_map(RawInput::leaver).for_each(|player| self.members.forget(player));
        true
    }

    /// What the next turn says of the electorate: everyone whose hero is in the world, and who is
    /// heard. Who falls silent keeps its vote for a while.
    fn electorate(&self, now: Duration) -> Vec<RawInput> {
        let (own, electorates) = (self.stepper.player, &self.ledger.electorates);
        if let Some(changed) = self.changed {
            let knows = |player| {
                let guest = self.guests.slot_of(player).and_then(|slot| self.guests.get(slot));
                let knows = guest.is_some_and(|guest| guest.feed.known() > changed);
                player == own || knows || self.resigned.contains(&player)
            };
            return if electorates.is_quorum(knows) { vec![RawInput::Settled] } else { Vec::new() };
        }
        let Some(settled) = electorates.settled() else { return Vec::new() };
        let counts = |player: &PlayerId| {
            *player == own
                || self.guests.slot_of(*player).is_some()
                    && (self.members.hears(*player, now)
                        || settled.members.contains(player) && now < self.members.silent_since(*player) + VOTE_KEPT)
        };
        let members: Vec<_> = self.ledger.members.keys().copied().filter(counts).collect();
        let next = Electorate { members: members.try_into().expect("no more are let in"), senior: own };
        if next == *settled || !next.members.contains(&own) { Vec::new() } else { vec![RawInput::Electorate(next)] }
    }

    /// No quorum was heard for so long that those who are left go on by themselves.
    fn branch(&self, now: Duration) -> Vec<RawInput> {
        let heard = |player: &PlayerId| *player == self.stepper.player || self.members.hears(*player, now);
        let left: Vec<_> = self.ledger.members.keys().copied().filter(heard).collect();
        let members = left.try_into().expect("no more are let in");
        vec![RawInput::Electorate(Electorate { members, senior: self.stepper.player }), RawInput::Settled]
    }

    /// Takes part in deciding who leads, and goes over to another that does.
    fn elect(&mut self, io: &mut Io<S>) {
        let known = Known { epoch: self.leader.epoch, end: self.sequencer.history.open() };
        if let Some(stand) = self.members.advance(known, &self.ledger.electorates, io.now) {
            for (peer, _) in self.guests.peers() {
                io.out.send(Epoch::default(), peer, Channel::Unreliable, &Message::Stand(stand));
            }
        }
        if let Some(voters) = self.members.elected(&self.ledger.electorates, io.now) {
            if voters.values().any(|theirs| *theirs > known) {
                self.members.decline();
            } else {
                // It led until now, and all vote for it again.
                self.members.lead();
                self.from = known;
                self.leader.epoch = self.members.promised();
                self.guests.peers_mut().filter(|(_, guest)| guest.plays()).for_each(|(_, guest)| {
                    guest.entry = Entry::Elsewhere(None);
                });
            }
        }
        if self.members.leader().is_some_and(|vote| vote.leader != self.stepper.player) && self.next.is_none() {
            let mut replica = self.whole.clone().follow(self.leader.peer, io.now);
            replica.greet_anew(io);
            self.next = Some(Box::new(replica));
        }
    }

    /// Players whose hero is in the world or on its way into a turn.
    fn ready(&self) -> usize {
        1 + self.guests.iter().filter(|(_, guest)| guest.plays()).count()
    }

    /// Plays the ticks whose time has come, and closes those an input delay ahead of them.
    fn run(&mut self, io: &mut Io<S>) {
        if let Some(schedule) = &mut self.schedule {
            schedule.forgive(self.stepper.tick(), io.now);
        }
        for _ in 0..TICKS_PER_ADVANCE_MAX {
            let tick = self.stepper.tick();
            if self.schedule.as_ref().is_none_or(|schedule| io.now < schedule.time_of(tick)) {
                return;
            }
            let end = tick.plus(self.settings().input_delay_ticks);
            while self.sequencer.history.open() <= end && self.close(io.now) {}
            if self.sequencer.history.open() <= tick {
                return;
            }
            self.play(tick, io);
        }
    }

    fn play(&mut self, tick: Tick, io: &mut Io<S>) {
        let checksum = self.stepper.play(self.sequencer.turn(tick), Vec::new(), &mut io.out);
        self.sequencer.waiting.requests(&self.stepper.simulation, &mut io.out);
        self.ledger.asked(&self.stepper.simulation);
        let Some((tick, checksum)) = checksum else { return };
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
        let (epoch, interval) = (self.leader.epoch, self.settings().packet_interval_ticks);
        let tick = self.stepper.tick();
        for (peer, guest) in self.guests.peers_mut() {
            if let Entry::Loading { sender, .. } = &mut guest.entry {
                while let Some(chunk) = sender.next_chunk() {
                    out.reliably(epoch, peer, &Message::Chunk(chunk));
                }
            }
            if let Entry::Elsewhere(told_at) = &mut guest.entry {
                if told_at.is_none_or(|told| now >= told + LEAD_PAUSE) {
                    *told_at = Some(now);
                    out.send(epoch, peer, Channel::Unreliable, &Message::Lead(Lead { from: self.from }));
                }
                continue;
            }
            let overdue = guest.feed.sent_at().is_none_or(|sent| now >= sent + KEEP_ALIVE);
            if overdue || guest.feed.due(tick, interval) {
                let taken = self.sequencer.waiting.commands_taken(guest.player);
                for (channel, turns) in guest.feed.packets(&self.sequencer.history, tick, now, taken) {
                    out.send_turns(epoch, peer, channel, TurnsKind::Turns, &turns);
                }
            }
        }
    }

    /// Removes each guest that fell silent, fell behind, or does not get on with loading.
    fn watch_over(&mut self, now: Duration, out: &mut Outbox<S>) {
        let (settings, history) = (self.settings(), &self.sequencer.history);
        let crowded = history.bytes() > HISTORY_BYTES_MAX;
        let stuck = |guest: &Guest<S>| match guest.entry {
            Entry::Loading { progressed, .. } => now >= progressed + settings.load_timeout,
            Entry::Playing | Entry::Elsewhere(_) => false,
        };
        let reason = |guest: &Guest<S>| {
            if now >= guest.heard_at + settings.silence_timeout {
                return Some(LeaveReason::Silent);
            }
            let behind = history.open().since(guest.feed.known());
            let hinders = crowded && guest.feed.known() == history.oldest();
            (behind > TICKS_BEHIND_MAX || hinders || stuck(guest)).then_some(LeaveReason::TooSlow)
        };
        let gone: Vec<_> = self.guests.peers().filter_map(|(peer, guest)| Some((peer, reason(guest)?))).collect();
        for (peer, reason) in gone {
            out.reliably(self.leader.epoch, peer, &Message::Removed(reason));
            self.remove(peer, reason);
        }
    }

    /// Forgets turns that everyone has.
    fn forget(&mut self) {
        let tick = self.stepper.tick();
        let shared_ticks = SNAPSHOT_SHARED_S * self.settings().ticks_per_s;
        self.offer.take_if(|offer| tick.since(offer.tick()) > shared_ticks);
        // What those need who ask who leads, is not known.
        let needs = |guest: &Guest<S>| if let Entry::Elsewhere(_) = guest.entry { Tick(0) } else { guest.feed.known() };
        let needed = self.guests.iter().map(|(_, guest)| needs(guest));
        let oldest = needed.chain(self.offer.iter().map(Offer::tick)).fold(tick, Tick::min);
        self.sequencer.history.forget(oldest);
    }

    fn report(&mut self, from: PeerId, report: Report, io: &mut Io<S>) {
        let Some(guest) = self.guests.of_mut(from) else { return };
        let out = &mut io.out;
        if let Entry::Elsewhere(_) = guest.entry {
            let history = &self.sequencer.history;
            if report.known < history.oldest() {
                out.reliably(self.leader.epoch, from, &Message::Removed(LeaveReason::TooSlow));
                return self.remove(from, LeaveReason::TooSlow);
            }
            // It follows from now on.
            guest.entry = Entry::Playing;
            guest.feed = Feed::new(report.known.min(history.open()));
        }
        if let Err(reason) = guest.feed.take(&report, self.sequencer.history.open(), io.now) {
            return out.dropped(reason);
        }
        self.sequencer.waiting.report(guest.player, &report, report.commands.len(), out);
        let (ours, theirs) = (&self.stepper.checksums, report.checksums.iter());
        let compare = |(tick, theirs): &(Tick, Checksum)| guest.comparison.theirs(*tick, *theirs, ours, out);
        let differing: Vec<_> = theirs.filter_map(compare).collect();
        for notice in differing {
            self.differs(from, notice, true, io);
        }
    }

    /// A replica's world has become another: told once, to both sides. `found_here`: by a
    /// comparison of our own.
    fn differs(&mut self, peer: PeerId, notice: DesyncNotice, found_here: bool, io: &mut Io<S>) {
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
        self.inquire(peer, io);
        if self.settings().stop_on_desync {
            io.out.reliably(self.leader.epoch, peer, &Message::Removed(LeaveReason::Desync));
            self.remove(peer, LeaveReason::Desync);
        }
    }

    /// Calls for the evidence of whose world is another, and of everyone whose hero is in the
    /// world.
    fn inquire(&mut self, odd: PeerId, io: &mut Io<S>) {
        let guests = self.guests.peers().filter(|(peer, guest)| *peer == odd || guest.plays());
        let others: Vec<_> = guests.map(|(peer, guest)| (guest.player, peer)).collect();
        let mut all: Vec<_> = others.iter().copied().chain([(self.stepper.player, self.leader.peer)]).collect();
        all.sort();
        let players = all.len();
        let inquiry = Inquiry { witnesses: List::try_from(all).expect("no more are let in") };
        io.inquire(INQUIRY_INTERVAL, others, players, inquiry);
    }

    /// Tells all what a player says.
    fn said(&mut self, player: PlayerId, name: Name, line: ChatLine, out: &mut Outbox<S>) {
        let said = Said { player, name, line };
        for (peer, _) in self.guests.peers().filter(|(_, guest)| guest.plays()) {
            out.reliably(self.leader.epoch, peer, &Message::Said(said.clone()));
        }
        out.said(&said);
    }

    fn remove(&mut self, peer: PeerId, reason: LeaveReason) {
        if let Some(guest) = self.guests.remove(peer) {
            self.sequencer.waiting.leave(guest.player, reason);
        }
    }
}

impl<S: Simulation> Role<S> for Sequencing<S> {
    fn next(&mut self) -> Option<Box<dyn Role<S>>> {
        self.next.take()
    }

    fn disconnected(&mut self, peer: PeerId, _: &mut Io<S>) {
        self.remove(peer, LeaveReason::Lost);
        self.guests.forget(peer);
    }

    fn foreign(&mut self, from: PeerId, refusal: Refusal, io: &mut Io<S>) {
        self.guests.refuse(from, "", refusal, &mut io.out);
    }

    fn epoch(&self) -> Option<Epoch> {
        Some(self.leader.epoch)
    }

    fn handle(&mut self, from: PeerId, _: Epoch, message: Message, io: &mut Io<S>) {
        if let Message::Hello(hello) = message {
            return self.hello(from, hello, io);
        }
        if let (Message::Stand(stand), Some(player)) = (&message, self.ledger.player(from)) {
            if self.members.take(player, *stand, io.now) {
                let known = Known { epoch: self.leader.epoch, end: self.sequencer.history.open() };
                let answer = Message::Stand(self.members.stand(known));
                io.out.send(Epoch::default(), from, Channel::Unreliable, &answer);
            }
            return self.elect(io);
        }
        if let (Message::Bye(_), Some(player)) = (&message, self.ledger.player(from)) {
            self.resigned.insert(player);
        }
        let Some(guest) = self.guests.of_mut(from) else { return io.out.dropped(DropReason::UnknownPeer) };
        guest.heard_at = io.now;
        self.members.heard(guest.player, io.now);
        match (message, &mut guest.entry) {
            (Message::ChunkAck(received), Entry::Loading { sender, progressed, .. }) => {
                match sender.acknowledge(received) {
                    Ok(()) => *progressed = io.now,
                    Err(_) => io.out.dropped(DropReason::ForgedAck),
                }
            }
            (Message::Ready, Entry::Loading { .. }) => self.admit(from, &mut io.out),
            (Message::Report(report), _) => self.report(from, report, io),
            (Message::Desync(notice), _) => self.differs(from, notice.turned(), false, io),
            (Message::Bye(reason), _) => self.remove(from, reason),
            (Message::Say(line), Entry::Playing) if guest.chat.admits(1, CHAT_LINES_PER_S_MAX, io.now) => {
                let (player, name) = (guest.player, guest.name.clone());
                self.said(player, name, line, &mut io.out);
            }
            (Message::Say(_), Entry::Playing) => io.out.dropped(DropReason::ChatFlood),
            _ => io.out.dropped(DropReason::Unexpected),
        }
        self.flush(io.now, &mut io.out);
    }

    fn advance(&mut self, io: &mut Io<S>) {
        self.watch_over(io.now, &mut io.out);
        if self.schedule.is_none() && self.ready() >= self.settings().players_at_start {
            self.schedule = Some(Schedule::starting_at(io.now, self.whole.config.period()));
        }
        self.elect(io);
        self.run(io);
        self.flush(io.now, &mut io.out);
        self.forget();
    }

    fn wake_at(&self, now: Duration) -> Duration {
        let next = match &self.schedule {
            None => now + KEEP_ALIVE / 4,
            // It may close nothing now.
            Some(_) if self.sequencer.history.open() <= self.stepper.tick() => now + LEAD_PAUSE,
            Some(schedule) => schedule.time_of(self.stepper.tick()),
        };
        next.min(self.members.wake_at())
    }

    fn command(&mut self, command: CommandBytes) -> Result<(), CommandError> {
        if !self.stepper.plays() {
            return Err(CommandError::NotPlaying);
        }
        self.sequencer.waiting.own_command(self.stepper.player, command)
    }

    fn say(&mut self, line: ChatLine, io: &mut Io<S>) {
        let player = self.stepper.player;
        if let Some(name) = self.stepper.roster.get(&player).cloned() {
            self.said(player, name, line, &mut io.out);
        }
    }

    /// Leaves it to another to go on: its vote for that one is its last word.
    fn leave(&mut self, io: &mut Io<S>) {
        let heir = self.guests.peers().filter(|(_, guest)| guest.plays()).map(|(_, guest)| guest.player).min();
        let epoch = Epoch(self.members.promised().0 + 1);
        for (peer, guest) in self.guests.peers() {
            io.out.reliably(self.leader.epoch, peer, &Message::Ending);
            if let Some(leader) = heir.filter(|_| guest.plays()) {
                let stand = Stand { vote: Vote { epoch, leader }, doubts: None, known: Known::default() };
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

    fn simulation(&self) -> Option<&S> {
        Some(&self.stepper.simulation)
    }

    fn figures(&self, stats: &mut Stats, out: &Outbox<S>) {
        let exchange = |player| {
            let (peer, guest) = self.guests.peers().find(|(_, guest)| guest.player == player)?;
            Some(guest.comparison.exchange(peer, guest.feed.rtt(), out))
        };
        stats.player = Some(self.stepper.player);
        stats.known = self.sequencer.history.open();
        stats.players = self.stepper.players(self.stepper.player, exchange);
    }
}
