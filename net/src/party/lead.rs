//! The role of the peer that closes ticks: lets joiners in, feeds replicas, watches over them, and plays along.
//!
//! Its loop is [`Lead::advance`]: close what is due, play what is due, send what is due. It never waits for a peer.

mod admission;

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use lockstone_sim::{Checksum, PlayerId, Simulation, Tick, codec};

use super::config::PartyConfig;
use crate::limits::*;
use crate::link::PeerId;
use crate::sequencer::{Feed, Sequencer};
use crate::session::{
    Beginning, CommandError, Comparison, DropReason, EndReason, Event, Evidence, Exchange, Out, Phase, Rate, Stage,
    Witnesses,
};
use crate::wire::*;
use admission::{Loading, Shared};

/// Between two packets to a replica before tick 0.
const KEEP_ALIVE: Duration = Duration::from_secs(1);
/// Time that the session lost because the sequencer stood still for longer than this is not made up for.
const CATCH_UP_MAX: Duration = Duration::from_secs(3);
/// Joiners within so many seconds get the same snapshot.
const SNAPSHOT_SHARED_S: u32 = 1;

pub(super) struct Lead<S: Simulation> {
    config: PartyConfig,
    terms: Terms,
    epoch: Epoch,
    me: PeerId,
    stage: Stage<S>,
    sequencer: Sequencer,
    /// When tick 0 is, once it is known.
    start: Option<Duration>,
    guests: BTreeMap<PeerId, Guest<S>>,
    /// Connected peers whose time here is over: they were refused, put out, or left.
    past: BTreeSet<PeerId>,
    next_player: u16,
    snapshot: Option<Shared>,
    pub evidence: Evidence,
}

/// A peer of the session.
struct Guest<S: Simulation> {
    player: PlayerId,
    name: Name,
    feed: Feed,
    comparison: Comparison,
    heard: Duration,
    /// How much it said lately.
    chat: Rate,
    /// Until the hero enters.
    loading: Option<Loading<S>>,
}

impl<S: Simulation> Lead<S> {
    /// Founds a session: the world at tick 0, and this peer's own hero on its way into the first turn.
    pub fn found(
        config: PartyConfig,
        terms: Terms,
        me: PeerId,
        name: Name,
        hero: S::Hero,
        mut simulation: S,
        out: &mut Out<S>,
    ) -> Self {
        let player = PlayerId(0);
        let snapshot = simulation.snapshot();
        let (tick, bytes) = (simulation.tick(), simulation.encode(&snapshot));
        simulation.retire(snapshot);
        let join = codec::compact(&simulation.admit(player, hero)).try_into();
        let beginning = Beginning { simulation, player, seed: config.settings().seed, snapshot: bytes };
        let stage = Stage::begin(beginning, config.telling(), out);
        let mut sequencer = Sequencer::starting_at(tick);
        if let Ok(join) = join {
            sequencer.join(player, name, join);
        } else {
            out.end(EndReason::Refused(Refusal::Hero));
        }
        Lead {
            stage,
            config,
            terms,
            epoch: Epoch::default(),
            me,
            sequencer,
            start: None,
            guests: BTreeMap::new(),
            past: BTreeSet::new(),
            next_player: 1,
            snapshot: None,
            evidence: Evidence::default(),
        }
    }

    pub fn stage(&self) -> &Stage<S> {
        &self.stage
    }

    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    pub fn open(&self) -> Tick {
        self.sequencer.open()
    }

    pub fn phase(&self) -> Phase {
        match self.start {
            Some(_) => Phase::Playing,
            None => Phase::Waiting { players: self.ready(), needed: self.config.settings().players_at_start },
        }
    }

    /// Players whose hero is in the world or on its way into a turn.
    fn ready(&self) -> usize {
        1 + self.guests.values().filter(|guest| guest.loading.is_none()).count()
    }

    /// Closes, plays and sends what is due.
    pub fn advance(&mut self, now: Duration, out: &mut Out<S>) {
        self.watch(now, out);
        if self.start.is_none() && self.ready() >= self.config.settings().players_at_start {
            self.start = Some(now);
        }
        self.run(now, out);
        self.flush(now, out);
        self.evidence.advance(now, out);
        self.forget();
    }

    /// When [`advance`](Lead::advance) has something to do.
    pub fn wake_at(&self, now: Duration) -> Duration {
        let plays_at = match self.start {
            Some(start) => start + self.config.period() * self.stage.tick().0,
            None => now + KEEP_ALIVE / 4,
        };
        plays_at.min(self.evidence.wake_at())
    }

    /// Plays the ticks whose time has come, and closes those an input delay ahead of them.
    fn run(&mut self, now: Duration, out: &mut Out<S>) {
        let Some(mut start) = self.start else { return };
        let period = self.config.period();
        let behind = now.saturating_sub(start + period * self.stage.tick().0);
        if behind > CATCH_UP_MAX {
            start += behind;
            self.start = Some(start);
        }
        for _ in 0..TICKS_PER_ADVANCE_MAX {
            let tick = self.stage.tick();
            if now < start + period * tick.0 {
                return;
            }
            while self.sequencer.open() <= tick.plus(self.config.settings().input_delay_ticks) {
                self.sequencer.close();
            }
            self.play(tick, now, out);
        }
    }

    fn play(&mut self, tick: Tick, now: Duration, out: &mut Out<S>) {
        let checksum = self.stage.play(self.sequencer.turn(tick), out);
        for request in self.stage.simulation.requests() {
            let taken = Bytes::try_from(codec::compact(request)).is_ok_and(|request| self.sequencer.request(request));
            if !taken {
                out.dropped(DropReason::RequestFlood);
            }
        }
        let Some((tick, checksum)) = checksum else { return };
        let mut differing = Vec::new();
        for (peer, guest) in &mut self.guests {
            guest.feed.checksum(tick, checksum);
            differing.extend(guest.comparison.ours(tick, checksum, out).map(|notice| (*peer, notice)));
        }
        for (peer, notice) in differing {
            self.differs(peer, notice, true, now, out);
        }
    }

    /// Sends each replica what is due to it.
    fn flush(&mut self, now: Duration, out: &mut Out<S>) {
        let interval = self.config.settings().packet_interval_ticks;
        let tick = self.stage.tick();
        for (peer, guest) in &mut self.guests {
            if let Some(loading) = &mut guest.loading {
                while let Some(chunk) = loading.sender.next_chunk() {
                    out.reliably(self.epoch, *peer, &Message::Chunk(chunk));
                }
            }
            let overdue = guest.feed.sent_at().is_none_or(|sent| now >= sent + KEEP_ALIVE);
            if overdue || guest.feed.due(tick, interval) {
                let taken = self.sequencer.commands_taken(guest.player);
                for (channel, turns) in guest.feed.packets(self.sequencer.history(), tick, now, taken) {
                    out.send(self.epoch, *peer, channel, &Message::Turns(turns));
                }
            }
        }
    }

    /// Puts out who fell silent, fell behind, or does not get on with loading.
    fn watch(&mut self, now: Duration, out: &mut Out<S>) {
        let (settings, sequencer) = (self.config.settings(), &self.sequencer);
        let crowded = sequencer.history().bytes() > HISTORY_BYTES_MAX;
        let stuck = |guest: &Guest<S>| {
            let loading = guest.loading.as_ref();
            loading.is_some_and(|loading| now >= loading.progressed + settings.load_timeout)
        };
        let reason = |guest: &Guest<S>| {
            if now >= guest.heard + settings.silence_timeout {
                return Some(LeaveReason::Silent);
            }
            let behind = sequencer.open().since(guest.feed.known());
            let hinders = crowded && guest.feed.known() == sequencer.history().oldest();
            (behind > TICKS_BEHIND_MAX || hinders || stuck(guest)).then_some(LeaveReason::TooSlow)
        };
        let gone: Vec<_> = self.guests.iter().filter_map(|(peer, guest)| Some((*peer, reason(guest)?))).collect();
        for (peer, reason) in gone {
            out.reliably(self.epoch, peer, &Message::Removed(reason));
            self.remove(peer, reason);
        }
    }

    /// Forgets turns that everyone has.
    fn forget(&mut self) {
        let tick = self.stage.tick();
        let shared_ticks = SNAPSHOT_SHARED_S * self.config.settings().ticks_per_s;
        self.snapshot.take_if(|shared| tick.since(shared.tick) > shared_ticks);
        let needed = self.guests.values().map(|guest| guest.feed.known());
        let oldest = needed.chain(self.snapshot.iter().map(|shared| shared.tick)).fold(tick, Tick::min);
        self.sequencer.forget(oldest);
    }

    /// Takes a message of a peer.
    pub fn handle(&mut self, from: PeerId, message: Message, now: Duration, out: &mut Out<S>) {
        if let Message::Hello(hello) = message {
            return self.hello(from, hello, now, out);
        }
        // Of those who are out of step too.
        if let Message::Parcel(parcel) = message {
            return self.evidence.handle(from, parcel, now, out);
        }
        let Some(guest) = self.guests.get_mut(&from) else { return out.dropped(DropReason::UnknownPeer) };
        guest.heard = now;
        match message {
            Message::ChunkAck(received) => {
                let loading = guest.loading.as_mut();
                match loading.map(|loading| loading.acknowledge(received, now)) {
                    Some(Ok(())) => {}
                    Some(Err(_)) => out.dropped(DropReason::ForgedAck),
                    None => out.dropped(DropReason::Unexpected),
                }
            }
            Message::Ready => self.admit(from, out),
            Message::Report(report) => self.report(from, report, now, out),
            Message::Desync(DesyncNotice { tick, agreed, ours, theirs }) => {
                let notice = DesyncNotice { tick, agreed, ours: theirs, theirs: ours };
                self.differs(from, notice, false, now, out);
            }
            Message::Bye(reason) => self.remove(from, reason),
            Message::Say(_) if guest.loading.is_some() => out.dropped(DropReason::Unexpected),
            Message::Say(_) if !guest.chat.admits(1, CHAT_LINES_PER_S_MAX, now) => out.dropped(DropReason::ChatFlood),
            Message::Say(line) => self.said(Some(from), line, out),
            _ => out.dropped(DropReason::Unexpected),
        }
        self.flush(now, out);
    }

    fn report(&mut self, from: PeerId, report: Report, now: Duration, out: &mut Out<S>) {
        let Some(guest) = self.guests.get_mut(&from) else { return };
        if guest.feed.stamps().take(report.stamp, now).is_err() {
            return out.dropped(DropReason::Replayed);
        }
        if guest.feed.acknowledge(&report, self.sequencer.open(), now).is_err() {
            return out.dropped(DropReason::ForgedAck);
        }
        let sound = |command: &CommandBytes| codec::read::<S::Command>(command, COMMAND_BYTES_MAX).is_ok();
        let taken = self.sequencer.commands(guest.player, report.first_command, &report.commands, sound);
        out.drops.add(DropReason::BadCommand, taken.malformed);
        out.drops.add(DropReason::CommandFlood, taken.refused);
        let (ours, theirs) = (&self.stage.checksums, report.checksums.iter());
        let compare = |(tick, theirs): &(Tick, Checksum)| guest.comparison.theirs(*tick, *theirs, ours, out);
        let differing: Vec<_> = theirs.filter_map(compare).collect();
        for notice in differing {
            self.differs(from, notice, true, now, out);
        }
    }

    /// A replica's world has become another: told once, to both sides. `found_here`: by a comparison of our own.
    fn differs(&mut self, peer: PeerId, notice: DesyncNotice, found_here: bool, now: Duration, out: &mut Out<S>) {
        let Some(guest) = self.guests.get_mut(&peer) else { return };
        if !guest.comparison.differs(found_here, out) {
            return;
        }
        let player = guest.player;
        let DesyncNotice { tick, agreed, ours, theirs } = notice;
        self.stage.tell_keyframe(out);
        out.events.push_back(Event::Desync { player, tick, agreed, ours, theirs });
        if found_here {
            out.reliably(self.epoch, peer, &Message::Desync(notice));
        }
        self.inquire(peer, now, out);
        if self.config.settings().stop_on_desync {
            out.reliably(self.epoch, peer, &Message::Removed(LeaveReason::Desync));
            self.remove(peer, LeaveReason::Desync);
        }
    }

    /// Calls for the evidence of whose world is another, and of everyone whose hero is in the world.
    fn inquire(&mut self, odd: PeerId, now: Duration, out: &mut Out<S>) {
        let guests = self.guests.iter().filter(|(peer, guest)| **peer == odd || guest.loading.is_none());
        let others: Vec<_> = guests.map(|(peer, guest)| (guest.player, *peer)).collect();
        let mut all: Vec<_> = others.iter().copied().chain([(self.stage.player, self.me)]).collect();
        all.sort();
        let witnesses = Witnesses { others: others.iter().copied(), missing: Vec::new(), players: all.len() };
        if self.evidence.begin(INQUIRY_INTERVAL, witnesses, now, out) {
            let inquiry = Inquiry { witnesses: List::try_from(all).expect("no more are let in") };
            for (_, peer) in others {
                out.reliably(Epoch::default(), peer, &Message::Inquiry(inquiry.clone()));
            }
        }
    }

    /// Tells all what a peer's player says, or the own one.
    pub fn said(&mut self, by: Option<PeerId>, line: ChatLine, out: &mut Out<S>) {
        let own = (self.stage.player, self.stage.roster.get(&self.stage.player));
        let by = by.and_then(|peer| self.guests.get(&peer)).map(|guest| (guest.player, Some(&guest.name)));
        let (player, Some(name)) = by.unwrap_or(own) else { return };
        let said = Said { player, name: name.clone(), line };
        for (peer, _) in self.guests.iter().filter(|(_, guest)| guest.loading.is_none()) {
            out.reliably(self.epoch, *peer, &Message::Said(said.clone()));
        }
        out.said(&said);
    }

    fn remove(&mut self, peer: PeerId, reason: LeaveReason) {
        if let Some(guest) = self.guests.remove(&peer) {
            self.past.insert(peer);
            self.sequencer.leave(guest.player, reason);
        }
    }

    /// The carrier lost a peer.
    pub fn disconnected(&mut self, peer: PeerId, out: &mut Out<S>) {
        self.evidence.lost(peer, out);
        self.remove(peer, LeaveReason::Lost);
        self.past.remove(&peer);
    }

    /// Takes a command of this peer's own player.
    pub fn command(&mut self, command: CommandBytes) -> Result<(), CommandError> {
        if !self.stage.plays() {
            return Err(CommandError::NotPlaying);
        }
        let player = self.stage.player;
        let number = self.sequencer.commands_taken(player);
        let taken = self.sequencer.commands(player, number, &[command], |_| true);
        if taken.new == 1 { Ok(()) } else { Err(CommandError::Full) }
    }

    /// Ends the session for everyone.
    pub fn leave(&mut self, out: &mut Out<S>) {
        for peer in self.guests.keys() {
            out.reliably(self.epoch, *peer, &Message::Ending);
        }
        out.end(EndReason::Left);
    }

    /// The peer that plays a player, and the figures of the exchange with it.
    pub fn exchange(&self, player: PlayerId, out: &Out<S>) -> Option<Exchange> {
        let (peer, guest) = self.guests.iter().find(|(_, guest)| guest.player == player)?;
        Some(Exchange {
            peer: *peer,
            rtt: guest.feed.rtt(),
            traffic: out.traffic(*peer),
            checksums_compared: guest.comparison.compared,
            desyncs: guest.comparison.desyncs,
            last_check: guest.comparison.last,
        })
    }
}
