//! What the same play would have cost otherwise: turns to everyone, state in place of turns, or
//! cells in full, as if no replica knew the seed.
//!
//! All are counted on what really was played, in as many packets as the relay sends, with its own
//! encodings. They are lower bounds: nothing is counted for joining, for what comes into view, or
//! for packets that are lost.

use std::collections::{BTreeMap, VecDeque};

use lockstone_net::limits::TURN_SENDS;
use lockstone_net::relay::RelayConfig;
use lockstone_sim::world::CellState;
use lockstone_sim::{CellId, CellRect, Input, Rules, Simulation, Tick, Turn, World, codec};

/// State is looked at in one of so many packets: to look at every cell costs more than to play.
const SAMPLED: u32 = 20;
/// What a packet of turns has besides them: epoch, kind, stamp, first tick, number of ticks,
/// acknowledgement.
const PACKET_HEAD_BYTES: u64 = 12;
/// What names a turn in a packet: its tick and its number of inputs.
const TURN_HEAD_BYTES: u64 = 2;
/// What names a cell in a packet.
const CELL_HEAD_BYTES: u64 = 4;
/// What the draws of a cell would be made from, if they were not from the seed.
pub(super) const CELL_KEY_BYTES: u64 = 16;

/// Counts what other ways would have sent.
pub(super) struct Alternatives<R: Rules> {
    interval: u32,
    rings: u16,
    /// Sizes of the turns that the next packet holds.
    recent: VecDeque<(Tick, u64)>,
    /// The state at the packet before, in a packet that is looked at.
    before: BTreeMap<CellId, CellState<R>>,
    sampled: u64,
    sampled_bytes: u64,
    /// The halo of each replica, when it was looked at last.
    halos: BTreeMap<usize, CellRect>,
    /// Payload of the loads of all replicas, if they were told cells in full.
    pub full_bytes: u64,
    /// Cells that were loaded.
    pub cells_loaded: u64,
    /// Payload that one replica would have been sent in turns, in bytes.
    pub flooded_bytes: u64,
    /// Packets.
    pub packets: u64,
    /// Commands that were played.
    pub commands: u64,
}

impl<R: Rules> Alternatives<R> {
    pub fn new(relay: &RelayConfig) -> Self {
        Alternatives {
            interval: relay.settings().packet_interval_ticks,
            rings: relay.settings().enter_rings,
            recent: VecDeque::new(),
            before: BTreeMap::new(),
            sampled: 0,
            sampled_bytes: 0,
            halos: BTreeMap::new(),
            full_bytes: 0,
            cells_loaded: 0,
            flooded_bytes: 0,
            packets: 0,
            commands: 0,
        }
    }

    /// A turn was played.
    pub fn turn(&mut self, tick: Tick, turn: &Turn<World<R>>) {
        let size = |input: &Input<World<R>>| match input {
            // A player, a tag and a length beside the command, as on the wire.
            Input::Command(player, command) => codec::compact(&(0_u8, player, codec::compact(command))).len(),
            Input::Join(player, join) => codec::compact(&(1_u8, player, codec::compact(join))).len(),
            Input::Leave(player) | Input::Away(player) | Input::Back(player) => {
                codec::compact(&(2_u8, player, 0_u8)).len()
            }
            Input::Request(request) => codec::compact(&(3_u8, codec::compact(request))).len(),
            Input::Given(_) => 0,
        };
        let bytes: usize = turn.inputs.iter().map(size).sum();
        self.commands += turn.inputs.iter().filter(|input| matches!(input, Input::Command(..))).count() as u64;
        self.recent.push_back((tick, bytes as u64 + TURN_HEAD_BYTES));
    }

    /// A tick is over.
    pub fn tick(&mut self, world: &World<R>) {
        let tick = world.tick();
        if !tick.0.is_multiple_of(self.interval) {
            return;
        }
        let kept = self.interval * TURN_SENDS as u32;
        self.recent.retain(|(of, _)| tick.since(*of) <= kept);
        self.packets += 1;
        self.flooded_bytes += PACKET_HEAD_BYTES + self.recent.iter().map(|(_, bytes)| bytes).sum::<u64>();
        match (tick.0 / self.interval) % SAMPLED {
            0 => self.before = states(world),
            1 if !self.before.is_empty() => self.sample(world),
            _ => {}
        }
    }

    /// A replica's world, as the whole world is that far.
    pub fn part(&mut self, replica: usize, part: &World<R>, whole: &World<R>) {
        let Some(halo) = part.area().extent().map(|extent| extent.halo) else { return };
        let before = self.halos.insert(replica, halo);
        let news = halo.iter().filter(|cell| before.is_none_or(|before| !before.contains(*cell)));
        for state in news.filter_map(|cell| whole.cell_state(cell).or_else(|| whole.pristine(cell))) {
            self.full_bytes += CELL_HEAD_BYTES + state.encode().len() as u64;
            self.cells_loaded += 1;
        }
    }

    /// Payload that all replicas together would have been sent in state, in bytes a
    /// packet interval.
    pub fn replicated_bytes_a_packet(&self) -> f64 {
        self.sampled_bytes as f64 / self.sampled.max(1) as f64
    }

    fn sample(&mut self, world: &World<R>) {
        let before = std::mem::take(&mut self.before);
        let mut viewers: BTreeMap<CellId, u64> = BTreeMap::new();
        for hero in world.players().filter_map(|player| world.hero(player)) {
            *viewers.entry(world.grid().cell_of(hero.pos)).or_default() += 1;
        }
        for (cell, now) in states(world) {
            let near = world.grid().block(cell, self.rings).iter();
            let viewers: u64 = near.filter_map(|cell| viewers.get(&cell)).sum();
            let change = before.get(&cell).filter(|_| viewers > 0).and_then(|before| now.change_since(before));
            self.sampled_bytes += change.map_or(0, |change| viewers * (CELL_HEAD_BYTES + change.len() as u64));
        }
        self.sampled += 1;
    }
}

/// The cells that are awake.
fn states<R: Rules>(world: &World<R>) -> BTreeMap<CellId, CellState<R>> {
    let lit = world.lit_cells();
    lit.filter_map(|cell| Some((cell, world.cell_state(cell)?))).collect()
}
