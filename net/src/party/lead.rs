//! The role of the peer that closes ticks: lets joiners in, feeds replicas, watches over them, and plays along.
//!
//! Its loop is [`Lead::advance`]: close what is due, play what is due, send what is due. It never waits for a peer.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lockstone_sim::{PlayerId, Simulation, Tick, codec};

use super::comparison::Comparison;
use super::config::PartyConfig;
use super::event::{CommandError, EndReason, Event, Phase};
use super::out::Out;
use super::stage::Stage;
use super::stats::{DropReason, Exchange};
use crate::limits::*;
use crate::link::PeerId;
use crate::sequencer::{Feed, Sequencer};
use crate::transfer::{self, BadAck, SnapshotSender};
use crate::wire::*;

/// Between two packets to a replica before tick 0.
const KEEP_ALIVE: Duration = Duration::from_secs(1);
/// Time that the session lost because the sequencer stood still for longer than this is not made up for.
const CATCH_UP_MAX: Duration = Duration::from_secs(3);
/// Joiners within so many seconds get the same snapshot.
const SNAPSHOT_SHARED_S: u32 = 1;

pub(super) struct Lead<S: Simulation> {
    config: PartyConfig,
    digests: Digests,
    epoch: Epoch,
    stage: Stage<S>,
    sequencer: Sequencer,
    /// When tick 0 is, once it is known.
    start: Option<Duration>,
    guests: BTreeMap<PeerId, Guest<S>>,
    /// Connected peers whose time here is over: they were refused, put out, or left.
    past: BTreeSet<PeerId>,
    next_player: u16,
    snapshot: Option<Shared>,
}

/// A snapshot as several joiners may get it.
struct Shared {
    tick: Tick,
    bytes: Arc<[u8]>,
    digest: u128,
    roster: List<(PlayerId, Name), PLAYERS_MAX>,
}

/// A peer of the session.
struct Guest<S: Simulation> {
    player: PlayerId,
    name: Name,
    feed: Feed,
    comparison: Comparison,
    heard: Duration,
    /// Until the hero enters.
    loading: Option<Loading<S>>,
}

struct Loading<S: Simulation> {
    hero: S::Hero,
    sender: SnapshotSender,
    progressed: Duration,
}

impl<S: Simulation> Loading<S> {
    fn acknowledge(&mut self, received: u32, now: Duration) -> Result<(), BadAck> {
        self.sender.acknowledge(received)?;
        self.progressed = now;
        Ok(())
    }
}

impl<S: Simulation> Lead<S> {
    /// Founds a session: the world at tick 0, and this peer's own hero on its way into the first turn.
    pub fn found(
        config: PartyConfig,
        digests: Digests,
        name: Name,
        hero: S::Hero,
        mut simulation: S,
        out: &mut Out<S>,
    ) -> Self {
        let player = PlayerId(0);
        let snapshot = simulation.snapshot();
        let (tick, bytes) = (simulation.tick(), simulation.encode(&snapshot));
        simulation.retire(snapshot);
        out.events.push_back(Event::Started { tick, seed: config.settings().seed, player, snapshot: bytes });
        let join = codec::compact(&simulation.admit(player, hero)).try_into();
        let mut sequencer = Sequencer::starting_at(tick);
        if let Ok(join) = join {
            sequencer.join(player, name, join);
        } else {
            out.end(EndReason::Refused(Refusal::Hero));
        }
        Lead {
            stage: Stage::new(simulation, player, config.settings().checksum_interval_ticks),
            config,
            digests,
            epoch: Epoch::default(),
            sequencer,
            start: None,
            guests: BTreeMap::new(),
            past: BTreeSet::new(),
            next_player: 1,
            snapshot: None,
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
        self.forget();
    }

    /// When [`advance`](Lead::advance) has something to do.
    pub fn wake_at(&self, now: Duration) -> Duration {
        match self.start {
            Some(start) => start + self.config.period() * self.stage.tick().0,
            None => now + KEEP_ALIVE / 4,
        }
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
            self.play(tick, out);
        }
    }

    fn play(&mut self, tick: Tick, out: &mut Out<S>) {
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
            let compared = guest.comparison.compared;
            differing.extend(guest.comparison.ours(tick, checksum).map(|notice| (*peer, notice)));
            out.checksums_compared += guest.comparison.compared - compared;
        }
        for (peer, notice) in differing {
            self.differs(peer, notice, true, out);
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
                for (channel, turns) in guest.feed.packets(&self.sequencer, tick, now, taken) {
                    out.send(self.epoch, *peer, channel, &Message::Turns(turns));
                }
            }
        }
    }

    /// Puts out who fell silent, fell behind, or does not get on with loading.
    fn watch(&mut self, now: Duration, out: &mut Out<S>) {
        let (settings, sequencer) = (self.config.settings(), &self.sequencer);
        let crowded = sequencer.history_bytes() > HISTORY_BYTES_MAX;
        let stuck = |guest: &Guest<S>| {
            let loading = guest.loading.as_ref();
            loading.is_some_and(|loading| now >= loading.progressed + settings.load_timeout)
        };
        let reason = |guest: &Guest<S>| {
            if now >= guest.heard + settings.silence_timeout {
                return Some(LeaveReason::Silent);
            }
            let behind = sequencer.open().since(guest.feed.known());
            let hinders = crowded && guest.feed.known() == sequencer.oldest();
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
                self.differs(from, DesyncNotice { tick, agreed, ours: theirs, theirs: ours }, false, out);
            }
            Message::Bye(reason) => self.remove(from, reason),
            _ => out.dropped(DropReason::Unexpected),
        }
        self.flush(now, out);
    }

    /// Lets a joiner in, or says why not.
    fn hello(&mut self, peer: PeerId, hello: Hello, now: Duration, out: &mut Out<S>) {
        if self.guests.contains_key(&peer) || self.past.contains(&peer) {
            return out.dropped(DropReason::Unexpected);
        }
        let differences = self.digests.differences(hello.protocol, &hello.digests);
        let players_max = self.config.settings().players_max;
        let refusal = match codec::read::<S::Hero>(&hello.hero, HERO_BYTES_MAX) {
            _ if !differences.is_empty() => Refusal::Different(differences.try_into().expect("one of each kind")),
            _ if self.guests.len() + 1 >= players_max || self.next_player == u16::MAX => {
                Refusal::Full { players_max: players_max as u16 }
            }
            Err(_) => Refusal::Hero,
            Ok(hero) => return self.welcome(peer, hello.name, hero, now, out),
        };
        self.refuse(peer, hello.name.as_str(), refusal, out);
    }

    /// Tells both sides that a joiner cannot join.
    pub fn refuse(&mut self, peer: PeerId, name: &str, refusal: Refusal, out: &mut Out<S>) {
        if !self.past.insert(peer) {
            return out.dropped(DropReason::Unexpected);
        }
        out.reliably(Epoch::default(), peer, &Message::Refusal(refusal.clone()));
        out.events.push_back(Event::Refused { peer, name: name.to_owned(), refusal });
    }

    fn welcome(&mut self, peer: PeerId, name: Name, hero: S::Hero, now: Duration, out: &mut Out<S>) {
        let player = PlayerId(self.next_player);
        let (sequencer, seed) = (self.stage.player, self.config.settings().seed);
        let shared = self.shared();
        if shared.bytes.len() > SNAPSHOT_BYTES_MAX {
            return self.refuse(peer, name.as_str(), Refusal::World, out);
        }
        let welcome = Welcome {
            player,
            sequencer,
            seed,
            tick: shared.tick,
            snapshot_bytes: shared.bytes.len() as u32,
            snapshot_digest: shared.digest,
            roster: shared.roster.clone(),
        };
        let (feed, sender) = (Feed::new(shared.tick), SnapshotSender::new(shared.bytes.clone()));
        self.next_player += 1;
        out.reliably(self.epoch, peer, &Message::Welcome(welcome));
        let loading = Some(Loading { hero, sender, progressed: now });
        let guest = Guest { player, name, feed, comparison: Comparison::default(), heard: now, loading };
        self.guests.insert(peer, guest);
        self.flush(now, out);
    }

    /// The snapshot for a joiner: a recent one if there is one.
    fn shared(&mut self) -> &Shared {
        let stage = &mut self.stage;
        self.snapshot.get_or_insert_with(|| {
            let snapshot = stage.simulation.snapshot();
            let bytes: Arc<[u8]> = stage.simulation.encode(&snapshot).into();
            stage.simulation.retire(snapshot);
            let roster: Vec<_> = stage.roster.iter().map(|(player, name)| (*player, name.clone())).collect();
            let roster = roster.try_into().expect("no more players are let in");
            Shared { tick: stage.tick(), digest: transfer::digest(&bytes), bytes, roster }
        })
    }

    /// A joiner has caught up: its hero enters with the next turn.
    fn admit(&mut self, peer: PeerId, out: &mut Out<S>) {
        let Some(guest) = self.guests.get_mut(&peer) else { return };
        let Some(loading) = guest.loading.take_if(|loading| loading.sender.done()) else {
            return out.dropped(DropReason::Unexpected);
        };
        let join = self.stage.simulation.admit(guest.player, loading.hero);
        match Bytes::try_from(codec::compact(&join)) {
            Ok(join) => self.sequencer.join(guest.player, guest.name.clone(), join),
            Err(_) => {
                let name = guest.name.clone();
                self.guests.remove(&peer);
                self.refuse(peer, name.as_str(), Refusal::Hero, out);
            }
        }
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
        let compared = guest.comparison.compared;
        let ours = &self.stage.checksums;
        let checksums = report.checksums.iter();
        let differing: Vec<_> =
            checksums.filter_map(|(tick, theirs)| guest.comparison.theirs(*tick, *theirs, ours)).collect();
        out.checksums_compared += guest.comparison.compared - compared;
        for notice in differing {
            self.differs(from, notice, true, out);
        }
    }

    /// A replica's world has become another: told once, to both sides. `found_here`: by a comparison of our own.
    fn differs(&mut self, peer: PeerId, notice: DesyncNotice, found_here: bool, out: &mut Out<S>) {
        let Some(guest) = self.guests.get_mut(&peer) else { return };
        if found_here {
            out.desyncs += 1;
        }
        if core::mem::replace(&mut guest.comparison.reported, true) {
            return;
        }
        let player = guest.player;
        let DesyncNotice { tick, agreed, ours, theirs } = notice;
        out.events.push_back(Event::Desync { player, tick, agreed, ours, theirs });
        out.reliably(self.epoch, peer, &Message::Desync(notice));
        if self.config.settings().stop_on_desync {
            out.reliably(self.epoch, peer, &Message::Removed(LeaveReason::Desync));
            self.remove(peer, LeaveReason::Desync);
        }
    }

    fn remove(&mut self, peer: PeerId, reason: LeaveReason) {
        if let Some(guest) = self.guests.remove(&peer) {
            self.past.insert(peer);
            self.sequencer.leave(guest.player, reason);
        }
    }

    /// The carrier lost a peer.
    pub fn disconnected(&mut self, peer: PeerId) {
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
