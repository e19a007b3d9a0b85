//! Walking: along a found way for heroes, down a flow field for hunters.
//!
//! Nobody may ever stand in a wall: every step goes through [`Map::slide`].

#![deny(clippy::float_arithmetic)]

use lockstone::sim::{Fx, Vec2};
use serde::{Deserialize, Serialize};

use crate::map::{Map, Spot, center_of, tile_of};
use crate::rules::Scratch;
use crate::way::{Wayfinder, lies_beyond};

/// How many of a way's next corners a walker remembers.
const CORNERS: usize = 6;
/// A search looks at no more tiles than this.
const EXPANSIONS_MAX: u32 = 12_000;
/// How long a walker waits before it may search again.
const SEARCH_REST_TICKS: u8 = 8;
/// In a straight line nobody looks farther than this, in tiles.
const STRAIGHT: Fx = Fx::int(16);
/// So near to a corner it counts as passed.
const PASSED: Fx = Fx::ratio(1, 8);

/// The next corners of a way. When they run out, or the way is blocked, it is searched again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    goal: Spot,
    corners: [Spot; CORNERS],
    len: u8,
    /// How long until it may be searched again.
    rest_ticks: u8,
    /// The last search could not come nearer to the goal than the last corner.
    ends: bool,
}

/// What a step along a route led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// On the way.
    At(Vec2),
    /// There, or as near as there is a way.
    Arrived(Vec2),
}

impl Progress {
    /// Where the walker is now.
    pub fn pos(self) -> Vec2 {
        match self {
            Progress::At(pos) | Progress::Arrived(pos) => pos,
        }
    }
}

impl Route {
    /// A route that was not begun, of a walker who may not search for so many ticks.
    pub(crate) fn resting(rest_ticks: u8) -> Route {
        Route { rest_ticks, ..Route::default() }
    }

    /// For how long the walker might not search before the last step, which leads on to a new goal.
    pub(crate) fn rest_before(&self) -> u8 {
        match self.rest_ticks {
            SEARCH_REST_TICKS | 0 => 0,
            rest_ticks => rest_ticks + 1,
        }
    }

    /// One step of length `step` from `pos` on the way to `to`.
    pub(crate) fn advance(&mut self, map: &Map, finder: &mut Wayfinder, pos: Vec2, to: Vec2, step: Fx) -> Progress {
        self.rest_ticks = self.rest_ticks.saturating_sub(1);
        if pos.within(to, Fx::EPSILON) {
            return Progress::Arrived(pos);
        }
        let goal = Spot::from(tile_of(to));
        if self.goal != goal {
            *self = Route { goal, rest_ticks: self.rest_ticks, ..Route::default() };
        }
        self.drop_passed(pos);
        let straight = self.len == 0 && pos.within(to, STRAIGHT) && map.sees(pos, to);
        if self.len == 0 && !straight {
            if self.ends {
                return Progress::Arrived(pos);
            }
            self.search(map, finder, pos);
        }
        let aim = match self.corners.first() {
            _ if straight => to,
            Some(corner) if self.len > 0 && *corner == goal => to,
            Some(corner) if self.len > 0 => center_of((*corner).into()),
            _ => center_of(tile_of(pos)),
        };
        let next = map.slide(pos, pos.toward(aim, step));
        if next == pos {
            // From the middle of its tile every way that was found can be walked.
            self.len = 0;
            return Progress::At(map.slide(pos, pos.toward(center_of(tile_of(pos)), step)));
        }
        Progress::At(next)
    }

    /// Where the way turns next.
    pub fn next_corner(&self) -> Option<Vec2> {
        (self.len > 0).then(|| center_of(self.corners[0].into()))
    }

    fn drop_passed(&mut self, pos: Vec2) {
        if self.len > 0 && center_of(self.corners[0].into()).within(pos, PASSED) {
            self.corners.copy_within(1.., 0);
            self.len -= 1;
        }
    }

    fn search(&mut self, map: &Map, finder: &mut Wayfinder, pos: Vec2) {
        if self.rest_ticks > 0 {
            return;
        }
        self.rest_ticks = SEARCH_REST_TICKS;
        let (here, goal) = (tile_of(pos), self.goal.into());
        let Some(mut path) = finder.find(map, here, goal, EXPANSIONS_MAX) else { return };
        path.pull_taut(map.tiles());
        let goes_on = lies_beyond(here, goal) && !path.waypoints.is_empty();
        self.ends = !path.reached && path.waypoints.len() <= CORNERS && !goes_on;
        self.len = path.waypoints.len().min(CORNERS) as u8;
        for (corner, tile) in self.corners.iter_mut().zip(&path.waypoints) {
            *corner = (*tile).into();
        }
    }
}

/// One step of a hunter: straight to what it sees, else as the flow field leads.
pub(crate) fn chase(map: &Map, scratch: &mut Scratch, pos: Vec2, to: Vec2, step: Fx) -> Vec2 {
    if map.sees(pos, to) {
        let next = map.slide(pos, pos.toward(to, step));
        if next != pos {
            return next;
        }
    }
    let here = tile_of(pos);
    match scratch.flow(map, tile_of(to)).direction(here) {
        Some(way) => {
            let next = map.slide(pos, pos.toward(center_of(here.step(way)), step));
            if next == pos { map.slide(pos, pos.toward(center_of(here), step)) } else { next }
        }
        None => pos,
    }
}
