//! Dead reckoning: from a track and a tick to the place of a hero, the same on both ends.
//!
//! The relay goes by it too: as long as what was told leads to where a hero really is,
//! it tells nothing.

use lockstone_sim::{Fx, Rules, Tick, Vec2};

use super::horizon::{Horizon, Walk};
use crate::limits::*;
use crate::wire::{List, Samples, Track};

/// No place is foretold farther than so many ticks after the last sample: from then on it stays.
const EXTRAPOLATED_TICKS_MAX: i64 = 24;
/// A moving hero is sampled again after so many ticks, even if its place was computed correctly. So
/// the next packet may be lost, and the one after it.
const RENEWED_TICKS: u32 = 8;
/// From a 64th of a tile to the world's own fractions.
const SAMPLE_SHIFT: u32 = Fx::FRACTION_BITS - 6;

/// A track that is followed tick by tick.
pub(super) struct DeadReckoning<R: Rules> {
    track: Track,
    /// On a route: the walk, the tick that it has come to, and where.
    walk: Option<(Walk<R>, Tick, Vec2)>,
}

impl<R: Rules> DeadReckoning<R> {
    pub fn new(track: Track, horizon: &dyn Horizon<R>) -> Self {
        let walk = match &track {
            Track::Route { since, from, route } => Some((horizon.set_out(*from, route), *since, *from)),
            Track::Samples(_) => None,
        };
        DeadReckoning { track, walk }
    }

    pub fn track(&self) -> &Track {
        &self.track
    }

    /// Whether it becomes too old to go by: who hears of a route would have to walk far, and of
    /// someone who moves another sample is due.
    pub fn is_stale(&self, tick: Tick) -> bool {
        match &self.track {
            Track::Route { since, .. } => tick.since(*since) > ROUTE_TICKS_MAX / 2,
            Track::Samples(samples) => {
                tick.since(samples.tick) >= RENEWED_TICKS && samples.at(tick) != samples.at(samples.tick)
            }
        }
    }

    /// The first tick that it tells of.
    pub fn since(&self) -> Tick {
        match &self.track {
            Track::Route { since, .. } => *since,
            Track::Samples(samples) => {
                Tick(samples.tick.0.saturating_sub(samples.before.last().map_or(0, |(ago, _)| (*ago).into())))
            }
        }
    }

    /// Whether a long walk has been walked up to a tick: before, it leads to where it was.
    pub fn reaches(&self, tick: Tick) -> bool {
        self.walk.as_ref().is_none_or(|(_, reached, _)| *reached >= tick)
    }

    /// Where it is at a tick, which is none before that of the last call. A long walk is walked in
    /// parts, by several calls.
    pub fn at(&mut self, tick: Tick, rules: &R, scratch: &mut R::Scratch) -> Vec2 {
        let Some((walk, reached, place)) = &mut self.walk else { return self.now(tick) };
        for _ in 0..tick.since(*reached).min(TICKS_PER_ADVANCE_MAX) {
            *place = walk(rules, scratch);
            *reached = reached.next();
        }
        *place
    }

    /// Where it is at the tick of the last call of [`at`](DeadReckoning::at).
    pub fn now(&self, tick: Tick) -> Vec2 {
        match (&self.track, &self.walk) {
            (_, Some((_, _, place))) => *place,
            (Track::Samples(samples), None) => samples.at(tick),
            (Track::Route { from, .. }, None) => *from,
        }
    }
}

impl Samples {
    /// Someone is seen at a place for the first time.
    pub(super) fn first(tick: Tick, at: Vec2) -> Samples {
        let along = |n: Fx| n.to_bits() >> SAMPLE_SHIFT;
        Samples { tick, at: (along(at.x), along(at.y)), before: List::default() }
    }

    /// Someone is seen again.
    pub(super) fn with(&self, tick: Tick, at: Vec2) -> Samples {
        let now = Samples::first(tick, at);
        let places = core::iter::once((0, (0, 0))).chain(self.before.iter().copied());
        let from_now = places.filter_map(|(ago, (x, y))| {
            let ticks = u16::try_from(tick.since(self.tick) + u32::from(ago)).ok()?;
            let by = (self.at.0 + x - now.at.0, self.at.1 + y - now.at.1);
            (0 < ticks && ticks <= SAMPLE_TICKS_MAX).then_some((ticks, by))
        });
        let before: Vec<_> = from_now.take(2).collect();
        Samples { before: before.try_into().unwrap_or_default(), ..now }
    }

    /// Where it is at a tick: on the parabola through the samples, for a while after the last one.
    /// A hero that stood stays.
    pub(super) fn at(&self, tick: Tick) -> Vec2 {
        let span = self.before.last().map_or(0, |(ago, _)| i64::from(*ago));
        let after = (i64::from(tick.0) - i64::from(self.tick.0)).clamp(-span, EXTRAPOLATED_TICKS_MAX);
        let stood = after > 0 && matches!(self.before.first(), Some((_, (0, 0))));
        let axis = |at: i32, of: fn(&(i32, i32)) -> i32| {
            let before = self.before.iter().map(|(ago, by)| (i64::from(*ago), i64::from(of(by)) << SAMPLE_SHIFT));
            let moved = if stood { 0 } else { extrapolate(before, after) };
            let bits = (i64::from(at) << SAMPLE_SHIFT) + moved;
            Fx::from_bits(bits.clamp(i32::MIN.into(), i32::MAX.into()) as i32)
        };
        Vec2::new(axis(self.at.0, |by| by.0), axis(self.at.1, |by| by.1))
    }
}

/// How far a hero has gone so many ticks after now, if it was at (ticks ago, so far from now's
/// place) before. Lagrange's form of the polynomial through these places and now's, which is at 0.
fn extrapolate(before: impl Iterator<Item = (i64, i64)> + Clone, after: i64) -> i64 {
    let one = |n: usize, (ago, by): (i64, i64)| {
        let others = before.clone().enumerate().filter(|(other, _)| *other != n).map(|(_, (ago, _))| ago);
        let (over, under) =
            others.fold((after, -ago), |(over, under), other| (over * (after + other), under * (other - ago)));
        by * over / under
    };
    before.clone().enumerate().map(|(n, place)| one(n, place)).sum()
}
