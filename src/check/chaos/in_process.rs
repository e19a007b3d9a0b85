//! The breakers that play in this process.

use lockstone_sim::journal::Journal;
use lockstone_sim::{Simulation, Tick, Turn, mix64};

use super::breaker::Breaker;
use super::reference::{End, Observer, Odd, Played, Reference};
use crate::check::locate::differing_cells;
use crate::inspect::{Inspect, View, Way, step};

/// At every so many ticks one is undone.
const RESTORE_TICKS: u32 = 3;
/// At every so many ticks the state is read from bytes.
const SERIALISE_TICKS: u32 = 7;
/// At every so many ticks some are predicted wrongly, and at most so many.
const ROLLBACK_TICKS: u32 = 4;
const ROLLBACK_DEPTH_MAX: u32 = 12;
/// At every so many ticks a snapshot is taken that is kept to the end; more seldom if that would be
/// more than so many.
const STALE_TICKS: u32 = 25;
const STALE_MAX: u32 = 64;
/// A part stays with one hero so long, and then goes over to the next.
const PART_TICKS: u32 = 50;
const THREADS: [usize; 4] = [2, 3, 4, 7];

/// Plays the reference's turns as the breaker does, until `plays` breaks it off. What happens in
/// one tick's turn is noted, if asked.
pub(in crate::check) fn play<S: Inspect>(
    breaker: Breaker,
    reference: &Reference<'_, S>,
    look: Option<&dyn Fn(&S)>,
    plays: Observer<'_>,
    noted: Option<(Tick, &mut Journal)>,
) -> Played<S> {
    let (mut play, mut heap) = (Play { reference, plays, noted }, Heap::default());
    match breaker {
        Breaker::Again => play.disturbed(|_, _| ()),
        Breaker::CellOrder => {
            play.in_ways(|tick| if tick.0.is_multiple_of(2) { Way::Backwards } else { Way::Shuffled(7) })
        }
        Breaker::Threads => play.in_ways(|tick| Way::Threads(THREADS[tick.0 as usize % THREADS.len()])),
        Breaker::Restore => play.disturbed(|simulation, turn| {
            if simulation.tick().0.is_multiple_of(RESTORE_TICKS) {
                ahead_and_back(simulation, &[turn]);
            }
        }),
        Breaker::Serialise => play.each_tick(|simulation, _| {
            if simulation.tick().0.is_multiple_of(SERIALISE_TICKS) {
                *simulation = read_back(reference, simulation)?;
            }
            Ok(None)
        }),
        Breaker::Rollback => play.disturbed(|simulation, _| {
            let tick = simulation.tick().0;
            if tick.is_multiple_of(ROLLBACK_TICKS) {
                let depth = 1 + tick / ROLLBACK_TICKS % ROLLBACK_DEPTH_MAX;
                ahead_and_back(simulation, &vec![&Turn::EMPTY; depth as usize]);
            }
        }),
        Breaker::StaleSnapshot => play.stale_snapshots(),
        Breaker::Allocation => play.disturbed(|simulation, _| {
            heap.churn(simulation.tick());
            simulation.reorder(mix64(simulation.tick().0.into()));
        }),
        Breaker::Partial => play.part(),
        Breaker::Presentation => match look {
            Some(look) => play.disturbed(|simulation, _| look(simulation)),
            None => skipped("nothing is known that shows this simulation"),
        },
        Breaker::SecondProcess | Breaker::Environment | Breaker::DebugRelease | Breaker::Wasm => {
            unreachable!("these play in other processes")
        }
    }
}

fn skipped<S, T>(reason: &str) -> Result<T, End<S>> {
    Err(End::Skipped(reason.to_owned()))
}

struct Play<'p, 'r, S: Inspect> {
    reference: &'p Reference<'r, S>,
    plays: Observer<'p>,
    noted: Option<(Tick, &'p mut Journal)>,
}

impl<S: Inspect> Play<'_, '_, S> {
    /// Where to note the turn of a tick, if it is to be.
    fn journal(&mut self, tick: Tick) -> Option<&mut Journal> {
        let (noted, journal) = self.noted.as_mut()?;
        (*noted == tick).then_some(journal)
    }

    /// Plays on, and compares before each tick and at the end: so many checksums at most. Before a
    /// tick is played, `before` may do what leaves no trace, and say in which way to play it if not
    /// in the usual one. Returns how many checksums were met.
    fn follow(
        &mut self,
        mut simulation: S,
        compared_max: u32,
        mut before: impl FnMut(&mut S, &Turn<S>) -> Result<Option<Way>, End<S>>,
    ) -> Result<(S, u32), End<S>> {
        let mut met = 0;
        loop {
            let tick = simulation.tick();
            End::unless_stopped((self.plays)(tick))?;
            if !self.reference.is_met(&mut simulation) {
                return Err(Odd::of(simulation).into());
            }
            met += 1;
            let turn = self.reference.turn(tick).filter(|_| met < compared_max);
            let Some(turn) = turn else { return Ok((simulation, met)) };
            match before(&mut simulation, turn)? {
                None => step(&mut simulation, turn, self.journal(tick)),
                Some(way) if simulation.step_in(turn, way, self.journal(tick)) => {}
                Some(_) => return skipped("this simulation is stepped in one piece"),
            }
        }
    }

    /// Plays all ticks.
    fn each_tick(&mut self, before: impl FnMut(&mut S, &Turn<S>) -> Result<Option<Way>, End<S>>) -> Played<S> {
        self.follow(self.reference.build(), u32::MAX, before).map(|(_, met)| met)
    }

    /// Plays all ticks, with something done before each that must leave no trace.
    fn disturbed(&mut self, mut before: impl FnMut(&mut S, &Turn<S>)) -> Played<S> {
        self.each_tick(|simulation, turn| {
            before(simulation, turn);
            Ok(None)
        })
    }

    /// Plays all ticks, each in a way of its own.
    fn in_ways(&mut self, way: impl Fn(Tick) -> Way) -> Played<S> {
        self.each_tick(|simulation, _| Ok(Some(way(simulation.tick()))))
    }

    fn stale_snapshots(&mut self) -> Played<S> {
        let (mut simulation, mut kept) = (self.reference.build(), Vec::new());
        let every = STALE_TICKS.max(self.reference.ticks() / STALE_MAX);
        while let Some(turn) = self.reference.turn(simulation.tick()) {
            let tick = simulation.tick();
            if tick.0.is_multiple_of(every) {
                kept.push(simulation.snapshot());
            }
            step(&mut simulation, turn, self.journal(tick));
        }
        if kept.is_empty() {
            return skipped("no snapshot is due in so few ticks");
        }
        let mut met = 0;
        for snapshot in kept {
            simulation.restore(&snapshot);
            let (reached, more) = self.follow(simulation, every + 1, |_, _| Ok(None))?;
            (simulation, met) = (reached, met + more);
        }
        Ok(met)
    }

    fn part(&mut self) -> Played<S> {
        let (mut part, mut whole) = (self.reference.build(), self.reference.build());
        let players: Vec<_> = self.reference.players.iter().copied().collect();
        if players.is_empty() {
            return skipped("nobody enters, so there are no surroundings to simulate");
        }
        let mut met = 0;
        while let Some(turn) = self.reference.turn(whole.tick()) {
            let player = players[(whole.tick().0 / PART_TICKS) as usize % players.len()];
            let journal = self.journal(whole.tick());
            let Some(core) = part.step_beside(&mut whole, turn, View::of(player), journal) else {
                return skipped("this simulation cannot be played in part");
            };
            End::unless_stopped((self.plays)(whole.tick()))?;
            if !self.reference.is_met(&mut whole) {
                return Err(Odd::of(whole).into());
            }
            let differing = differing_cells(&mut part, &mut whole);
            if differing.iter().any(|cell| core.contains(cell)) {
                return Err(Odd { cells: Some(core), ..Odd::of(part) }.into());
            }
            met += core.len() as u32;
        }
        Ok(met)
    }
}

/// Plays turns that never were, and goes back.
fn ahead_and_back<S: Simulation>(simulation: &mut S, turns: &[&Turn<S>]) {
    let snapshot = simulation.snapshot();
    turns.iter().for_each(|turn| simulation.step(turn));
    simulation.restore(&snapshot);
    simulation.retire(snapshot);
}

/// A new simulation in the state that the bytes of another's hold.
fn read_back<S: Inspect>(reference: &Reference<'_, S>, simulation: &mut S) -> Result<S, End<S>> {
    let mut fresh = reference.build();
    fresh.restore_from(&simulation.encoded()).map_err(|error| {
        End::Broke(format!("the serialised state of tick {} cannot be read: {error}", simulation.tick()))
    })?;
    Ok(fresh)
}

/// Memory that is taken and given back in a way of its own, so that all that is allocated
/// meanwhile lies elsewhere.
#[derive(Default)]
struct Heap {
    blocks: Vec<Vec<u8>>,
}

impl Heap {
    fn churn(&mut self, tick: Tick) {
        for n in 0..200 {
            let key = mix64(u64::from(tick.0) << 16 | n);
            self.blocks.push(Vec::with_capacity(16 + (key % 2048) as usize));
            let victim = (mix64(key) % self.blocks.len() as u64) as usize;
            if self.blocks.len() > 1000 {
                self.blocks.swap_remove(victim);
            }
        }
    }
}
