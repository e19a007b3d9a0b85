//! The distant view: what a replica's player sees beyond the cells that the replica knows. It never
//! enters the simulation.

use lockstone_sim::{Fx, PlayerId, Tick, Vec2};
use serde::{Deserialize, Serialize};

use super::{Bytes, List, WireError, ascending};
use crate::limits::*;

/// What changed in a replica's distant view since the newest packet of it that the replica
/// has acknowledged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distant {
    /// The relay's tick. Each packet has its own; the replica acknowledges by it.
    pub tick: Tick,
    /// Whose heroes are seen another way than before. `None`: not from afar any more.
    pub sights: List<(PlayerId, Option<Track>), SIGHTS_MAX>,
    /// The landmarks that changed, as [`Landmarks`]. Encoded once, for all replicas that lack the
    /// same ones. Empty: none changed.
    pub landmarks: Bytes<LANDMARK_BYTES_MAX>,
}

/// Landmarks by number. `None`: it is gone.
pub type Landmarks = List<(u16, Option<(Vec2, u8)>), LANDMARKS_MAX>;

/// How a hero gets about: enough to know where it is at any tick from then on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Track {
    /// It walks a route: where from, since when, where to. A peer that knows the ground finds the
    /// way.
    Route {
        /// The state before the turn of this tick had it at `from`.
        since: Tick,
        /// Where it was then.
        from: Vec2,
        /// The route.
        route: Route,
    },
    /// It was seen at places, and may be anywhere next.
    Samples(Samples),
}

/// A route, as its end and what else it takes to walk it as its hero does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    /// Where it leads.
    pub end: Vec2,
    /// How far the hero goes along it in a tick, in tiles.
    pub step: Fx,
    /// What else it takes, one tick before; the game's own. Routes that differ in it alone
    /// count as the same.
    pub state: u32,
}

/// Up to three places where someone was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Samples {
    /// When it was seen last.
    pub tick: Tick,
    /// Where, in 64ths of a tile.
    pub at: (i32, i32),
    /// Where before, the newest first: so many ticks before the last one, and so far from it, in
    /// 64ths of a tile.
    pub before: List<(u16, (i32, i32)), 2>,
}

impl Distant {
    pub(super) fn check(&self) -> Result<(), WireError> {
        WireError::unless(ascending(&self.sights), "players out of order")?;
        self.sights.iter().filter_map(|(_, track)| track.as_ref()).try_for_each(|track| track.check(self.tick))
    }
}

impl Track {
    fn check(&self, now: Tick) -> Result<(), WireError> {
        let timely = match self {
            Track::Route { since, .. } => *since <= now && now.since(*since) <= ROUTE_TICKS_MAX,
            Track::Samples(samples) => {
                samples.check()?;
                samples.tick <= now
            }
        };
        WireError::unless(timely, "a track of another time")
    }
}

impl Samples {
    fn check(&self) -> Result<(), WireError> {
        let near = |(x, y): (i32, i32)| x.unsigned_abs() <= SAMPLE_MAX && y.unsigned_abs() <= SAMPLE_MAX;
        let earlier = |(ticks, at): &(u16, (i32, i32))| (1..=SAMPLE_TICKS_MAX).contains(ticks) && near(*at);
        let sound = near(self.at) && ascending(&self.before) && self.before.iter().all(earlier);
        WireError::unless(sound, "samples out of bounds")
    }
}
