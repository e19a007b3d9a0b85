//! Looks ahead: the world as this peer's player sees it, a few ticks ahead of the confirmed one.
//!
//! ```text
//! confirmed world ─► turns that are known ─► turns that are assumed ─► predicted world
//!                                            (own commands on their way, nothing else)
//! ```
//!
//! Its loop is [`Ahead::look`], once for each tick of the confirmed world. As long as what was
//! assumed comes true, the predicted world is stepped on; else it is simulated again. It reads the
//! confirmed world and never changes it. Nothing of it is sent, told or recorded.

use core::ops::RangeInclusive;
use std::collections::VecDeque;

use lockstone_sim::{Checksum, Input, PlayerId, Simulation, Tick, Turn};

use crate::limits::LOOK_AHEAD_TICKS_MAX;
use crate::session::AheadStats;

/// So many ticks it stays as far ahead as it is: each change shows as a tick that is left out, or
/// that comes twice.
const STEADY_TICKS: u32 = 20;

pub struct Ahead<S: Simulation> {
    predicted: S,
    /// The confirmed tick from which it looked last, and how many ticks ahead.
    looked: Option<(Tick, u32)>,
    /// When it last came to be so many ticks.
    steady_since: Tick,
    /// The turns between the confirmed world and the predicted one, as they were assumed.
    assumed: VecDeque<Turn<S>>,
    /// Whether one of them did not come true.
    is_wrong: bool,
    /// Whether that was another input, and not only what a part is given.
    is_surprised: bool,
    /// The own hero as it was shown, at ticks that are not confirmed yet.
    shown: VecDeque<(Tick, Option<Checksum>)>,
}

impl<S: Simulation> Ahead<S> {
    /// `predicted` is made as the confirmed world was; its state does not matter.
    pub fn new(predicted: S) -> Self {
        let (assumed, shown) = (VecDeque::new(), VecDeque::new());
        let (is_wrong, is_surprised) = (true, false);
        Ahead { predicted, looked: None, steady_since: Tick(0), assumed, is_wrong, is_surprised, shown }
    }

    /// The predicted world, if it goes out from a tick of the confirmed one.
    pub fn predicted(&self, confirmed: Tick) -> Option<&S> {
        self.looked.filter(|(from, _)| *from == confirmed).map(|_| &self.predicted)
    }

    /// The confirmed world plays a turn.
    pub fn played(&mut self, turn: &Turn<S>) {
        match self.assumed.pop_front() {
            Some(assumed) => self.note(&assumed, turn),
            None => self.is_wrong = true,
        }
    }

    /// Looks from the confirmed world as far ahead as is wanted, and may be, by the turns that are
    /// known or can be assumed of ticks. Returns how many ticks it simulated.
    pub fn look(
        &mut self,
        confirmed: &mut S,
        player: PlayerId,
        (wanted, ticks_max): (RangeInclusive<u32>, u32),
        turn: impl Fn(Tick) -> Turn<S>,
        stats: &mut AheadStats,
    ) -> u32 {
        let from = confirmed.tick();
        if self.predicted(from).is_some() {
            return 0;
        }
        self.compare(confirmed, player, stats);
        stats.ticks = self.follow(from, &wanted, ticks_max.min(LOOK_AHEAD_TICKS_MAX));
        let assumed = core::mem::take(&mut self.assumed);
        (0..).zip(&assumed).for_each(|(n, assumed)| self.note(assumed, &turn(from.plus(n))));
        stats.rollbacks += u64::from(core::mem::take(&mut self.is_surprised));
        if core::mem::take(&mut self.is_wrong) {
            let snapshot = confirmed.snapshot();
            self.predicted.restore(&snapshot);
            confirmed.retire(snapshot);
        } else {
            self.assumed = assumed;
        }
        let (end, mut simulated) = (from.plus(stats.ticks), 0);
        while self.predicted.tick() < end {
            let next = turn(self.predicted.tick());
            self.predicted.step(&next);
            self.assumed.push_back(next);
            simulated += 1;
        }
        // What was begun, and panicked, is never shown.
        self.looked = Some((from, stats.ticks));
        let tick = self.predicted.tick();
        if self.shown.back().is_none_or(|(last, _)| *last < tick) {
            self.shown.push_back((tick, self.predicted.hero_checksum(player)));
        }
        simulated
    }

    /// Something else may come of a tick than was assumed.
    fn note(&mut self, assumed: &Turn<S>, turn: &Turn<S>) {
        fn own<S: Simulation>(turn: &Turn<S>) -> impl Iterator<Item = &Input<S>> {
            turn.inputs.iter().filter(|input| !matches!(input, Input::Given(_)))
        }
        self.is_wrong |= assumed != turn;
        self.is_surprised |= !own(assumed).eq(own(turn));
    }

    /// Compares the own hero with how it was shown at this tick.
    fn compare(&mut self, confirmed: &S, player: PlayerId, stats: &mut AheadStats) {
        let tick = confirmed.tick();
        while let Some((shown_at, shown)) = self.shown.pop_front_if(|(shown_at, _)| *shown_at <= tick) {
            let hero = confirmed.hero_checksum(player);
            if shown_at == tick && (hero.is_some() || shown.is_some()) {
                stats.compared += 1;
                stats.corrections += u64::from(hero != shown);
            }
        }
    }

    /// How many ticks ahead it looks now: as many as before, or one more or less.
    fn follow(&mut self, from: Tick, wanted: &RangeInclusive<u32>, ticks_max: u32) -> u32 {
        let Some((_, ticks)) = self.looked else { return ticks_max.min(*wanted.end()) };
        let is_steady = from.since(self.steady_since) >= STEADY_TICKS;
        let next = match () {
            () if ticks > ticks_max => ticks - 1,
            () if is_steady && ticks > *wanted.end() => ticks - 1,
            () if is_steady && ticks < ticks_max.min(*wanted.start()) => ticks + 1,
            () => return ticks,
        };
        self.steady_since = from;
        next
    }
}
