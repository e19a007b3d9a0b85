//! What a crowd cost, as data.

use lockstone_net::memory::Carried;
use lockstone_net::session::{LevelStats, RelayStats};
use lockstone_sim::{CellId, Tick};
use serde::Serialize;

use crate::shell::Effort;

/// What a packet costs around its payload: UDP, DTLS and SCTP, as measured.
pub const PACKET_OVERHEAD_BYTES: f64 = 93.0;

/// What travelled one way, in a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Rate {
    /// Bytes of payload.
    pub payload: f64,
    /// Packets.
    pub packets: f64,
    /// Bytes on the line: the payload, and 93 B a packet.
    pub bytes: f64,
}

impl Rate {
    /// Of so many bytes and packets in so many seconds.
    pub fn new(payload: f64, packets: f64, seconds: f64) -> Rate {
        let (payload, packets) = (payload / seconds, packets / seconds);
        Rate { payload, packets, bytes: payload + packets * PACKET_OVERHEAD_BYTES }
    }
}

/// What a tick took, in microseconds on this machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spent {
    /// On the average.
    pub mean_us: f64,
    /// All but one of a hundred took no longer.
    pub p99_us: f64,
    /// The longest.
    pub max_us: f64,
}

impl Spent {
    /// Of times in nanoseconds, in any order.
    pub fn of(mut ns: Vec<u32>) -> Spent {
        ns.sort();
        let us = |ns: Option<&u32>| ns.map_or(0.0, |ns| f64::from(*ns) / 1_000.0);
        let sum: u64 = ns.iter().map(|ns| u64::from(*ns)).sum();
        let mean_us = sum as f64 / 1_000.0 / ns.len().max(1) as f64;
        Spent { mean_us, p99_us: us(ns.get(ns.len() * 99 / 100)), max_us: us(ns.last()) }
    }
}

/// A mean and a largest value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Size {
    /// Over time, and replicas.
    pub mean: f64,
    /// At any time.
    pub max: usize,
}

/// How cores compared with the whole world.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Verified {
    /// Cells of cores that were compared, each at each tick.
    pub cell_ticks: u64,
    /// Of them, how many differed.
    pub differing: u64,
    /// Of them, how many lay in a core whose halo was narrower than it needs: if they
    /// are equal, by luck.
    pub unprotected: u64,
    /// Cells that a replica knew beyond core and halo, each at each tick.
    pub beyond: u64,
    /// The first that did.
    pub first: Option<Differing>,
}

/// A cell of a replica's core that is not what it is in the whole world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Differing {
    /// Before the turn of this tick.
    pub tick: Tick,
    /// Where.
    pub cell: CellId,
    /// Whose: replicas count from 0.
    pub replica: usize,
}

impl Verified {
    /// Whether all is equal, and had to be.
    pub fn is_exact(&self) -> bool {
        self.differing == 0 && self.unprotected == 0 && self.beyond == 0
    }

    pub(super) fn count(&mut self, equal: bool, protected: bool, (tick, cell): (Tick, CellId), replica: usize) {
        self.cell_ticks += 1;
        self.unprotected += u64::from(!protected);
        if !equal {
            self.differing += 1;
            self.first.get_or_insert(Differing { tick, cell, replica });
        }
    }
}

/// What one kind of message cost each player.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Class {
    /// Which.
    pub name: &'static str,
    /// Bytes of payload in a second.
    pub payload: f64,
    /// Bytes in a second that the budget cut.
    pub cut: f64,
}

/// What a crowd cost. Rates are those of a player, on the average of all.
#[derive(Clone, Debug, Serialize)]
pub struct CrowdReport {
    /// Players.
    pub players: u16,
    /// How they were spread.
    pub spread: &'static str,
    /// The world's side in tiles.
    pub side_tiles: u32,
    /// Time that was played, in seconds.
    pub seconds: f64,
    /// The seed.
    pub seed: u64,
    /// Commands of a player in a second.
    pub commands: f64,
    /// From the relay to a replica.
    pub down: Rate,
    /// To the replica that got the most.
    pub down_max: Rate,
    /// From a replica to the relay.
    pub up: Rate,
    /// What `down` was made of.
    pub classes: Vec<Class>,
    /// What a replica would get if every turn went to everyone, in as many packets.
    pub flooding: Rate,
    /// What a replica would get if it simulated nothing: the changes of all that its player sees,
    /// in as many packets.
    pub replication: Rate,
    /// Payload of loads, if the seed were a secret of the relay: cells in full.
    pub full_loads: f64,
    /// The same, of what the draws in them are made from.
    pub cell_keys: f64,
    /// A tick of the relay, with all replicas in the same process.
    pub relay: Spent,
    /// A tick of the relay in the same play once more, by itself, as where it has a
    /// machine of its own.
    pub relay_alone: Spent,
    /// The same as a process of its own, with its carrier, if that was asked for.
    pub process: Option<Effort>,
    /// A tick of a replica.
    pub replica: Spent,
    /// Cells of the relay's world with light.
    pub lit_cells: Size,
    /// What thinks in them.
    pub relay_actors: Size,
    /// Cells of a replica's core.
    pub core_cells: Size,
    /// What thinks in its core and fringe.
    pub replica_actors: Size,
    /// Heroes that came into a replica's area, in a second.
    pub enters: f64,
    /// Heroes that went out of a replica's area, in a second.
    pub leaves: f64,
    /// How cores compared with the whole world, if that was asked for.
    pub verified: Option<Verified>,
}

/// What has been counted up to some time.
pub(super) struct Reading {
    pub relay: RelayStats,
    /// Of each replica: to it, and from it.
    pub ways: Vec<(Carried, Carried)>,
    pub relay_ticks: usize,
    /// Of each replica.
    pub replica_ticks: Vec<usize>,
    pub commands: u64,
    pub flooded_bytes: u64,
    pub full_bytes: u64,
    pub cells_loaded: u64,
    pub packets: u64,
}

impl Reading {
    /// What each replica got and sent since an earlier reading.
    pub fn rates_since(&self, before: &Reading, seconds: f64) -> (Vec<Rate>, Vec<Rate>) {
        let rate = |now: Carried, then: Carried| {
            Rate::new((now.bytes - then.bytes) as f64, (now.packets - then.packets) as f64, seconds)
        };
        let both = self.ways.iter().zip(&before.ways).map(|(now, then)| (rate(now.0, then.0), rate(now.1, then.1)));
        both.unzip()
    }

    /// What the relay sent since an earlier reading, by level, in bytes.
    pub fn levels_since(&self, before: &Reading) -> [(&'static str, LevelStats); 5] {
        let levels = |stats: &RelayStats| [stats.turns, stats.halo, stats.loads, stats.distant, stats.chat];
        let (now, then) = (levels(&self.relay), levels(&before.relay));
        let since = |n: usize| LevelStats {
            bytes: now[n].bytes - then[n].bytes,
            packets: now[n].packets - then[n].packets,
            cut_bytes: now[n].cut_bytes - then[n].cut_bytes,
        };
        [("turns", since(0)), ("halo", since(1)), ("loads", since(2)), ("distant view", since(3)), ("chat", since(4))]
    }
}
