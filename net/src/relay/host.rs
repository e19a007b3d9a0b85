//! The relay's side: closes ticks, simulates all, and makes each replica's frames.
//!
//! Its loop is [`Host::advance`]: play what is due, send what is due. It never waits for a replica. [`Host::play`] is one tick.

mod admission;
mod budget;
mod cell_map;
mod chat;
mod checks;
mod choice;
mod frames;
mod guest;
mod loads;
mod lookout;
mod regions;
mod watch;

use core::time::Duration;
use std::collections::BTreeSet;

use lockstone_sim::{PlayerId, Rules, Simulation, World, codec};

use super::areas::Measures;
use super::config::RelayConfig;
use super::horizon::Horizon;
use crate::limits::*;
use crate::link::PeerId;
use crate::sequencer::{Capacity, Waiting};
use crate::session::{
    Beginning, CommandError, DropReason, EndReason, Evidence, Exchange, Newcomer, Out, RelayStats, Stage,
};
use crate::wire::*;
use admission::Outline;
use checks::CoreSums;
use choice::Costs;
use guest::{Guest, Guests, Slot};
use lookout::Lookout;
use regions::Regions;
use watch::Watch;

/// Time that the session lost because the relay stood still for longer than this is not made up for.
const CATCH_UP_MAX: Duration = Duration::from_secs(3);

pub(super) struct Host<R: Rules> {
    config: RelayConfig,
    terms: Terms,
    epoch: Epoch,
    me: PeerId,
    measures: Measures,
    pub stage: Stage<World<R>>,
    waiting: Waiting,
    /// When tick 0 is.
    start: Duration,
    has_hero: bool,
    guests: Guests<R>,
    watch: Watch<R>,
    regions: Regions,
    costs: Costs,
    /// What players see from afar, if the game says so.
    lookout: Option<Lookout<R>>,
    /// Connected peers whose time here is over: they were refused, put out, or left.
    past: BTreeSet<PeerId>,
    /// Who is to be looked at before the next tick.
    answering: Vec<Slot>,
    next_player: u16,
    outline: Option<Outline>,
    pub evidence: Evidence,
    stats: RelayStats,
}

impl<R: Rules> Host<R> {
    /// Founds a session: the world before tick 0, and the relay's own hero, if there is one, on its way into the first turn.
    pub fn found(
        config: RelayConfig,
        terms: Terms,
        me: PeerId,
        hero: Option<&Newcomer<World<R>>>,
        mut simulation: World<R>,
        now: Duration,
        out: &mut Out<World<R>>,
    ) -> Self {
        let player = PlayerId(0);
        let snapshot = simulation.snapshot();
        let bytes = simulation.encode(&snapshot);
        simulation.retire(snapshot);
        let mut waiting = Waiting::default();
        if let Some(newcomer) = hero {
            match codec::compact(&simulation.admit(player, newcomer.hero.clone())).try_into() {
                Ok(join) => waiting.join(player, newcomer.name.clone(), join),
                Err(_) => out.end(EndReason::Refused(Refusal::Hero)),
            }
        }
        let measures = Measures::new(simulation.grid(), &config);
        let beginning = Beginning { simulation, player, seed: config.settings().seed, snapshot: bytes };
        Host {
            watch: Watch::new(beginning.simulation.grid()),
            stage: Stage::begin(beginning, config.telling(), out),
            config,
            terms,
            epoch: Epoch::default(),
            me,
            measures,
            waiting,
            start: now,
            has_hero: hero.is_some(),
            guests: Guests::new(),
            regions: Regions::default(),
            costs: Costs::default(),
            lookout: None,
            past: BTreeSet::new(),
            answering: Vec::new(),
            next_player: 1,
            outline: None,
            evidence: Evidence::default(),
            stats: RelayStats::default(),
        }
    }

    /// Tells of what lies beyond areas from now on.
    pub fn look_out(&mut self, horizon: Box<dyn Horizon<R>>) {
        self.lookout = Some(Lookout::new(horizon, self.config.settings().ticks_per_s));
    }

    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    fn own_players(&self) -> usize {
        usize::from(self.has_hero)
    }

    /// Plays and sends what is due.
    pub fn advance(&mut self, now: Duration, out: &mut Out<World<R>>) {
        let tick = self.stage.tick();
        self.run(now, out);
        if self.stage.tick() != tick {
            self.answering = self.guests.slots().collect();
        }
        // Between two ticks only those who said something can have become due.
        for slot in core::mem::take(&mut self.answering) {
            self.watch_over(slot, now, out);
            self.flush(slot, now, out);
        }
        self.evidence.advance(now, out);
    }

    /// When [`advance`](Host::advance) has something to do.
    pub fn wake_at(&self) -> Duration {
        (self.start + self.config.period() * self.stage.tick().0).min(self.evidence.wake_at())
    }

    /// Plays the ticks whose time has come.
    fn run(&mut self, now: Duration, out: &mut Out<World<R>>) {
        let period = self.config.period();
        let behind = now.saturating_sub(self.start + period * self.stage.tick().0);
        if behind > CATCH_UP_MAX {
            self.start += behind;
        }
        for _ in 0..TICKS_PER_ADVANCE_MAX {
            if now < self.start + period * self.stage.tick().0 {
                return;
            }
            self.play(now, out);
        }
    }

    /// One tick: close, step, tell each replica what it needs.
    fn play(&mut self, now: Duration, out: &mut Out<World<R>>) {
        let inputs = self.waiting.take(Capacity::RELAY);
        let scopes = self.scopes(&inputs);
        self.costs.commands(&inputs, self.stage.roster.len());
        self.stage.play(&inputs, out);
        self.watch.follow(&self.stage.simulation, &mut self.stats);
        for request in self.stage.simulation.requests() {
            let taken = Bytes::try_from(codec::compact(request)).is_ok_and(|request| self.waiting.request(request));
            if !taken {
                out.dropped(DropReason::RequestFlood);
            }
        }
        self.draft_inputs(&inputs, &scopes);
        self.draft_changes();
        let mut sums = CoreSums::default();
        for slot in self.guests.slots() {
            self.draft_repairs(slot);
            self.settle_area(slot, now);
            self.close_frame(slot, &inputs, &scopes);
            self.note_checksum(slot, &mut sums);
        }
        self.lookout.iter_mut().for_each(|lookout| lookout.watch(&self.stage.simulation));
    }

    /// Sends a replica what is due to it.
    fn flush(&mut self, slot: Slot, now: Duration, out: &mut Out<World<R>>) {
        let (interval, tick) = (self.config.settings().packet_interval_ticks, self.stage.tick());
        let Some(guest) = self.guests.get_mut(slot) else { return };
        guest.budget.advance(guest.feed.rtt(), now);
        if guest.feed.due(tick, interval) {
            let taken = self.waiting.commands_taken(guest.player);
            guest.send_frames(self.epoch, (tick, now), taken, &mut self.stats, out);
        }
        guest.send_chunks(self.epoch, &mut self.stats.loads, out);
        if let Some(lookout) = &mut self.lookout {
            lookout.tell(guest, &self.stage.simulation, self.epoch, &mut self.stats.distant, out);
        }
        guest.send_chat(self.epoch, &mut self.stats.chat, out);
    }

    /// Puts a replica out that fell silent, fell behind, does not get on with loading, or does not say where its core differs.
    fn watch_over(&mut self, slot: Slot, now: Duration, out: &mut Out<World<R>>) {
        let settings = self.config.settings();
        let Some(guest) = self.guests.get(slot) else { return };
        let behind = guest.frames.open().since(guest.feed.known()) > TICKS_BEHIND_MAX;
        let crowded = guest.frames.bytes() > FRAME_HISTORY_BYTES_MAX;
        let stuck = guest.progressed().is_some_and(|progressed| now >= progressed + settings.load_timeout);
        let reason = match () {
            () if now >= guest.heard + settings.silence_timeout => LeaveReason::Silent,
            () if guest.checks.is_unanswered(now) => LeaveReason::Desync,
            () if behind || crowded || stuck => LeaveReason::TooSlow,
            () => return,
        };
        let peer = guest.peer;
        out.reliably(self.epoch, peer, &Message::Removed(reason));
        self.remove(peer, reason);
    }

    /// Takes a message of a peer.
    pub fn handle(&mut self, from: PeerId, message: Message, now: Duration, out: &mut Out<World<R>>) {
        if let Message::Hello(hello) = message {
            return self.hello(from, hello, now, out);
        }
        if let Message::Parcel(parcel) = message {
            return self.evidence.handle(from, parcel, now, out);
        }
        let Some(slot) = self.guests.slot(from) else { return out.dropped(DropReason::UnknownPeer) };
        self.answering.push(slot);
        self.guests.get_mut(slot).into_iter().for_each(|guest| guest.heard = now);
        match message {
            Message::ChunkAck(received) => self.chunk_ack(from, received, now, out),
            Message::Ready => self.admit(from, out),
            Message::Report(report) => self.report(from, report, now, out),
            Message::CoreTree(tree) => self.core_tree(from, tree, now, out),
            Message::Bye(reason) => self.remove(from, reason),
            Message::Say(line) => self.say(from, line, now, out),
            _ => out.dropped(DropReason::Unexpected),
        }
    }

    fn report(&mut self, from: PeerId, report: Report, now: Duration, out: &mut Out<World<R>>) {
        let per_s = self.config.settings().commands_per_s_max;
        let Some(guest) = self.guests.of(from) else { return };
        if guest.feed.stamps().take(report.stamp, now).is_err() {
            return out.dropped(DropReason::Replayed);
        }
        if guest.feed.acknowledge(&report, guest.frames.open(), now).is_err() {
            return out.dropped(DropReason::ForgedAck);
        }
        guest.frames.forget(guest.feed.known());
        if report.distant.is_some_and(|tick| !guest.told.acknowledge(tick)) {
            out.dropped(DropReason::ForgedAck);
        }
        let allowed = guest.admit_commands(&report, self.waiting.commands_taken(guest.player), per_s, now);
        let refused = report.commands.len() - allowed;
        let sound = |command: &CommandBytes| codec::read::<R::Command>(command, COMMAND_BYTES_MAX).is_ok();
        let taken = self.waiting.commands(guest.player, report.first_command, &report.commands[..allowed], sound);
        out.drops.add(DropReason::BadCommand, taken.malformed);
        out.drops.add(DropReason::CommandFlood, taken.refused + refused as u64);
        self.compare(from, &report.checksums, now, out);
    }

    fn remove(&mut self, peer: PeerId, reason: LeaveReason) {
        let Some(slot) = self.guests.slot(peer) else { return };
        self.forget_area(slot);
        if let Some((_, guest)) = self.guests.remove(peer) {
            self.past.insert(peer);
            self.waiting.leave(guest.player, reason);
        }
    }

    /// The carrier lost a peer.
    pub fn disconnected(&mut self, peer: PeerId, out: &mut Out<World<R>>) {
        self.evidence.lost(peer, out);
        self.remove(peer, LeaveReason::Lost);
        self.past.remove(&peer);
    }

    /// Takes a command of the relay's own player.
    pub fn command(&mut self, command: CommandBytes) -> Result<(), CommandError> {
        if !self.stage.plays() {
            return Err(CommandError::NotPlaying);
        }
        let player = self.stage.player;
        let number = self.waiting.commands_taken(player);
        let taken = self.waiting.commands(player, number, &[command], |_| true);
        if taken.new == 1 { Ok(()) } else { Err(CommandError::Full) }
    }

    /// Ends the session for everyone.
    pub fn leave(&mut self, out: &mut Out<World<R>>) {
        for (_, guest) in self.guests.iter() {
            out.reliably(self.epoch, guest.peer, &Message::Ending);
        }
        out.end(EndReason::Left);
    }

    /// What it is to serve the replicas.
    pub fn stats(&self) -> RelayStats {
        let mut stats = self.stats;
        for (_, guest) in self.guests.iter() {
            let (core, halo) = (guest.bounds.core.len() as u64, guest.bounds.halo.len() as u64);
            stats.replicas += 1;
            stats.replicas_grown += u64::from(guest.grown);
            stats.core_cells += core;
            stats.halo_cells += halo - core;
        }
        stats
    }

    /// The peers that play players, and the figures of the exchange with each.
    pub fn exchanges(&self, out: &Out<World<R>>) -> std::collections::BTreeMap<PlayerId, Exchange> {
        let exchange = |guest: &Guest<R>| Exchange {
            peer: guest.peer,
            rtt: guest.feed.rtt(),
            traffic: out.traffic(guest.peer),
            checksums_compared: guest.comparison.compared,
            desyncs: guest.comparison.desyncs,
            last_check: guest.comparison.last,
        };
        self.guests.iter().map(|(_, guest)| (guest.player, exchange(guest))).collect()
    }
}
