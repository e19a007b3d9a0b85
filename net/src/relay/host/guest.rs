//! One replica, as the relay sees it.

use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};

use lockstone_sim::world::Join;
use lockstone_sim::{CellId, Grid, PlayerId, Rules, Tick, World};

use super::budget::Budget;
use super::checks::Checks;
use super::loads::Load;
use super::lookout::Told;
use super::watch::Watch;
use crate::limits::*;
use crate::link::{Channel, PeerId};
use crate::relay::areas::Bounds;
use crate::sequencer::{Feed, History};
use crate::session::{Comparison, LevelStats, Out, Rate, RelayStats};
use crate::transfer::SnapshotSender;
use crate::wire::{Epoch, Frame, Message, Name, RawGiven, RawInput, Report, Said};

/// A guest's place among all. Used again when the guest is gone.
pub(super) type Slot = u32;

pub(super) struct Guest<R: Rules> {
    pub peer: PeerId,
    pub player: PlayerId,
    pub name: Name,
    pub heard: Duration,
    /// Until the hero enters.
    pub joining: Option<Joining<R>>,
    pub feed: Feed,
    pub frames: History<Frame>,
    /// This tick's frame.
    pub draft: Draft,
    /// What it simulates and knows, from the next tick on.
    pub bounds: Bounds,
    /// Whether its core is more than what is near its hero.
    pub grown: bool,
    pub load: Option<Load>,
    pub loads: u32,
    pub comparison: Comparison,
    pub checks: Checks,
    pub budget: Budget,
    /// Whether a piece waits for the budget.
    waits: bool,
    /// What it was told of the distant view.
    pub told: Told,
    /// What it is still to be told of what players said.
    pub chat: VecDeque<Said>,
    /// How much it said lately.
    pub chat_rate: Rate,
    /// How many commands it gave lately.
    pub commands: Rate,
}

/// A guest on its way in.
pub(super) struct Joining<R: Rules> {
    pub join: Join<R::Hero>,
    /// The outline of the world.
    pub outline: SnapshotSender,
    pub progressed: Duration,
}

/// A frame under construction.
#[derive(Default)]
pub(super) struct Draft {
    pub inputs: Vec<RawInput>,
    pub given: Vec<RawGiven>,
}

impl Draft {
    pub fn is_empty(&self) -> bool {
        self.inputs.is_empty() && self.given.is_empty()
    }

    /// Whole cells of a core that were given are not given twice.
    pub fn gives_whole(&self, cell: CellId) -> bool {
        self.given.iter().any(|given| matches!(given, RawGiven::Cell(of, _) if *of == cell))
    }
}

impl<R: Rules> Guest<R> {
    pub fn new(
        (peer, player, name): (PeerId, PlayerId, Name),
        joining: Joining<R>,
        tick: Tick,
        budget: Budget,
    ) -> Self {
        Guest {
            peer,
            player,
            name,
            heard: joining.progressed,
            joining: Some(joining),
            feed: Feed::of_frames(tick),
            frames: History::starting_at(tick),
            draft: Draft::default(),
            bounds: Bounds::NOTHING,
            grown: false,
            load: None,
            loads: 0,
            comparison: Comparison::default(),
            checks: Checks::default(),
            budget,
            waits: false,
            told: Told::default(),
            chat: VecDeque::new(),
            chat_rate: Rate::default(),
            commands: Rate::default(),
        }
    }

    /// The cell of its hero, or where that will enter. `None` if the hero is not in the world any more.
    pub fn place(&self, watch: &Watch<R>, grid: &Grid) -> Option<CellId> {
        match &self.joining {
            Some(joining) => Some(grid.cell_of(joining.join.at)),
            None => watch.hero(self.player),
        }
    }
}

impl<R: Rules> Guest<R> {
    /// Sends the pieces that are due, as far as the budget goes.
    pub fn send_chunks(&mut self, epoch: Epoch, stats: &mut LevelStats, out: &mut Out<World<R>>) {
        while self.has_piece() {
            if self.waits(stats) {
                return;
            }
            let Some(message) = self.next_piece() else { return };
            let bytes = out.send(epoch, self.peer, Channel::Reliable, &message);
            self.budget.pay(bytes);
            stats.add(bytes, 1);
        }
    }

    /// Whether a piece has to wait for the budget: counted once for each.
    pub fn waits(&mut self, stats: &mut LevelStats) -> bool {
        let waited = core::mem::replace(&mut self.waits, !self.budget.allows());
        stats.cut_bytes += if self.waits && !waited { CHUNK_BYTES as u64 } else { 0 };
        self.waits
    }

    fn has_piece(&self) -> bool {
        let outline = self.joining.as_ref().is_some_and(|joining| joining.outline.ready());
        outline || self.load.as_ref().is_some_and(|load| load.announcement.is_some() || load.sender.ready())
    }

    fn next_piece(&mut self) -> Option<Message> {
        let outline = self.joining.as_mut().and_then(|joining| joining.outline.next_chunk());
        if let Some(chunk) = outline {
            return Some(Message::Chunk(chunk));
        }
        let load = self.load.as_mut()?;
        load.announcement.take().or_else(|| load.sender.next_chunk().map(Message::Chunk))
    }

    /// How many of a report's commands are looked at: those that were taken before, and new ones at the rate that is allowed. The others
    /// will be offered again.
    pub fn admit_commands(&mut self, report: &Report, taken: u32, per_s: u32, now: Duration) -> usize {
        let repeated = (taken.saturating_sub(report.first_command) as usize).min(report.commands.len());
        let new = report.commands.len() - repeated;
        repeated + (0..new).take_while(|_| self.commands.admits(1, per_s, now)).count()
    }

    /// Sends the frames that are due.
    pub fn send_frames(
        &mut self,
        epoch: Epoch,
        (tick, now): (Tick, Duration),
        taken: u32,
        stats: &mut RelayStats,
        out: &mut Out<World<R>>,
    ) {
        for (channel, frames) in self.feed.packets(&self.frames, tick, now, taken) {
            let given = frames.turns.iter().flat_map(|(_, frame)| frame.given.iter());
            let halo: usize = given.map(RawGiven::bytes).sum();
            let bytes = out.send(epoch, self.peer, channel, &Message::Frames(frames));
            self.budget.owe(bytes);
            stats.turns.add(bytes.saturating_sub(halo), 1);
            stats.halo.add(halo.min(bytes), 0);
        }
    }

    /// When something that it was sent to load was last acknowledged, if something is under way.
    pub fn progressed(&self) -> Option<Duration> {
        let joining = self.joining.as_ref().map(|joining| joining.progressed);
        self.load.as_ref().map(|load| load.progressed).or(joining)
    }
}

/// All guests, by slot and by peer.
pub(super) struct Guests<R: Rules> {
    slots: Vec<Option<Guest<R>>>,
    free: Vec<Slot>,
    by_peer: BTreeMap<PeerId, Slot>,
    by_player: BTreeMap<PlayerId, Slot>,
}

impl<R: Rules> Guests<R> {
    pub fn new() -> Self {
        Guests { slots: Vec::new(), free: Vec::new(), by_peer: BTreeMap::new(), by_player: BTreeMap::new() }
    }

    pub fn len(&self) -> usize {
        self.by_peer.len()
    }

    pub fn insert(&mut self, guest: Guest<R>) -> Slot {
        let slot = self.free.pop().unwrap_or(self.slots.len() as Slot);
        self.by_peer.insert(guest.peer, slot);
        self.by_player.insert(guest.player, slot);
        if slot as usize == self.slots.len() {
            self.slots.push(None);
        }
        self.slots[slot as usize] = Some(guest);
        slot
    }

    pub fn remove(&mut self, peer: PeerId) -> Option<(Slot, Guest<R>)> {
        let slot = self.by_peer.remove(&peer)?;
        self.free.push(slot);
        let guest = self.slots[slot as usize].take()?;
        self.by_player.remove(&guest.player);
        Some((slot, guest))
    }

    /// The slots that there are, those of nobody included.
    pub fn slots(&self) -> core::ops::Range<Slot> {
        0..self.slots.len() as Slot
    }

    pub fn slot(&self, peer: PeerId) -> Option<Slot> {
        self.by_peer.get(&peer).copied()
    }

    pub fn slot_of(&self, player: PlayerId) -> Option<Slot> {
        self.by_player.get(&player).copied()
    }

    pub fn get(&self, slot: Slot) -> Option<&Guest<R>> {
        self.slots.get(slot as usize)?.as_ref()
    }

    pub fn get_mut(&mut self, slot: Slot) -> Option<&mut Guest<R>> {
        self.slots.get_mut(slot as usize)?.as_mut()
    }

    pub fn of(&mut self, peer: PeerId) -> Option<&mut Guest<R>> {
        let slot = self.slot(peer)?;
        self.get_mut(slot)
    }

    pub fn iter(&self) -> impl Iterator<Item = (Slot, &Guest<R>)> {
        (0..).zip(&self.slots).filter_map(|(slot, guest)| Some((slot, guest.as_ref()?)))
    }
}
