//! One replica, as the relay sees it.

use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};

use lockstone_sim::{CellId, PlayerId, Rules, Simulation, Tick};

use super::area::Area;
use super::budget::Budget;
use super::cell_interest::CellInterest;
use super::checks::Checks;
use super::distant_interest::DistantState;
use crate::limits::*;
use crate::link::{Channel, PeerId};
use crate::sequencer::{Feed, History};
use crate::session::{Comparison, LevelStats, Outbox, Rate, RelayStats};
use crate::transfer::SnapshotSender;
use crate::wire::{Bytes, Epoch, Message, Name, PublicKey, RawGiven, RawInput, Report, Said, TurnsKind};

pub struct Guest {
    pub peer: PeerId,
    pub player: PlayerId,
    /// By which it is known again.
    pub key: Option<PublicKey>,
    /// Of its hello.
    pub attempt: u32,
    pub heard_at: Duration,
    pub entry: Entry,
    pub feed: Feed,
    pub frames: History<()>,
    /// This tick's frame.
    pub draft: Draft,
    /// What it simulates and knows, from the next tick on, and what is on its way.
    pub area: Area,
    /// Whether its core is more than what is near its hero.
    pub grown: bool,
    pub loads: u32,
    pub comparison: Comparison,
    pub checks: Checks,
    pub budget: Budget,
    /// Whether a piece waits for the budget.
    waits: bool,
    /// What it was told of the distant view.
    pub distant: DistantState,
    /// What it is still to be told of who came near, and who went.
    pub nearby: BTreeMap<PlayerId, bool>,
    /// What it is still to be told of what players said.
    pub chat: VecDeque<Said>,
    /// How much it said lately.
    pub chat_rate: Rate,
    /// How many commands it gave lately.
    pub commands: Rate,
}

/// How far a guest's hero has come.
pub enum Entry {
    /// It enters so, or is back, once the cell where it does is known to its replica.
    Joining { name: Name, at: CellId, join: Option<Bytes<JOIN_BYTES_MAX>>, progressed: Duration },
    /// It is in the world, or on its way into a turn.
    Playing,
}

/// A frame under construction.
#[derive(Default)]
pub(super) struct Draft {
    pub inputs: Vec<RawInput>,
    pub given: Vec<RawGiven>,
}

impl Guest {
    /// A joiner, to whom the world's outline as of a tick is on its way.
    pub fn new(
        (peer, player, key, attempt): (PeerId, PlayerId, Option<PublicKey>, u32),
        entry: Entry,
        outline: SnapshotSender,
        (tick, now): (Tick, Duration),
        budget: Budget,
    ) -> Self {
        Guest {
            peer,
            player,
            key,
            attempt,
            heard_at: now,
            entry,
            feed: Feed::of_frames(tick),
            frames: History::starting_at(tick),
            draft: Draft::default(),
            area: Area::Waiting(outline),
            grown: false,
            loads: 0,
            comparison: Comparison::default(),
            checks: Checks::default(),
            budget,
            waits: false,
            distant: DistantState::default(),
            nearby: BTreeMap::new(),
            chat: VecDeque::new(),
            chat_rate: Rate::default(),
            commands: Rate::default(),
        }
    }

    /// The cell of its hero, or where that will enter. `None` if the hero is not in the world any
    /// more.
    pub fn place<R: Rules>(&self, cell_interest: &CellInterest<R>) -> Option<CellId> {
        match &self.entry {
            Entry::Joining { at, join: Some(_), .. } => Some(*at),
            Entry::Joining { join: None, .. } | Entry::Playing => cell_interest.hero(self.player),
        }
    }

    pub fn plays(&self) -> bool {
        matches!(self.entry, Entry::Playing)
    }

    /// Sends something that could have waited, pays for it and counts it.
    pub fn send<S: Simulation>(
        &mut self,
        epoch: Epoch,
        channel: Channel,
        message: &Message,
        stats: &mut LevelStats,
        out: &mut Outbox<S>,
    ) {
        let bytes = out.send(epoch, self.peer, channel, message);
        self.budget.pay(bytes);
        stats.add(bytes, 1);
    }

    /// Sends the pieces that are due, as far as the budget goes.
    pub fn send_pieces<S: Simulation>(&mut self, epoch: Epoch, stats: &mut LevelStats, out: &mut Outbox<S>) {
        while self.area.has_piece()
            && !self.waits(stats)
            && let Some(piece) = self.area.next_piece()
        {
            self.send(epoch, Channel::Reliable, &piece, stats, out);
        }
    }

    /// Whether a piece has to wait for the budget: counted once for each.
    pub fn waits(&mut self, stats: &mut LevelStats) -> bool {
        let waited = core::mem::replace(&mut self.waits, !self.budget.allows());
        stats.cut_bytes += if self.waits && !waited { CHUNK_BYTES as u64 } else { 0 };
        self.waits
    }

    /// How many of a report's commands are looked at: those that were taken before, and new ones at
    /// the rate that is allowed. The others will be offered again.
    pub fn admit_commands(&mut self, report: &Report, taken: u32, per_s: u32, now: Duration) -> usize {
        let repeated = (taken.saturating_sub(report.first_command) as usize).min(report.commands.len());
        let new = report.commands.len() - repeated;
        repeated + (0..new).take_while(|_| self.commands.admits(1, per_s, now)).count()
    }

    /// Sends the frames that are due.
    pub fn send_frames<S: Simulation>(
        &mut self,
        epoch: Epoch,
        (tick, now): (Tick, Duration),
        taken: u32,
        stats: &mut RelayStats,
        out: &mut Outbox<S>,
    ) {
        for (channel, frames) in self.feed.packets(&self.frames, tick, now, taken) {
            let halo: usize = frames.turns.iter().map(|(_, frame)| frame.given).sum();
            let bytes = out.send_turns(epoch, self.peer, channel, TurnsKind::Frames, &frames);
            self.budget.owe(bytes);
            stats.turns.add(bytes.saturating_sub(halo), 1);
            stats.halo.add(halo.min(bytes), 0);
        }
    }

    /// Something that it was sent to load has arrived.
    pub fn progressed(&mut self, now: Duration) {
        if let Entry::Joining { progressed, .. } = &mut self.entry {
            *progressed = now;
        }
        self.area.load_mut().into_iter().for_each(|load| load.progressed = now);
    }

    /// When something that it was sent to load was last acknowledged, if something is under way.
    pub fn loading_since(&self) -> Option<Duration> {
        match (self.area.load(), &self.entry) {
            (Some(load), _) => Some(load.progressed),
            (None, Entry::Joining { progressed, .. }) => Some(*progressed),
            (None, Entry::Playing) => None,
        }
    }
}
