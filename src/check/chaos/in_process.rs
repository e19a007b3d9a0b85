//! The breakers that play in this process.

use std::ops::ControlFlow;

use lockstone_sim::journal::Journal;
use lockstone_sim::{Simulation, Tick, Turn, mix64};

use super::breaker::Breaker;
use super::reference::{End, Odd, Reference};
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
    plays: &mut dyn FnMut(Tick) -> ControlFlow<()>,
    noted: Option<(Tick, &mut Journal)>,
) -> End<S> {
    let (mut play, mut heap) = (Play { reference, plays, noted }, Heap::default());
    match breaker {
        Breaker::Again => play.disturbed(|_, _| ()),
        Breaker::CellOrder => play.each_tick(|simulation, turn, journal| {
            let even = simulation.tick().0.is_multiple_of(2);
            in_way(simulation, turn, if even { Way::Backwards } else { Way::Shuffled(7) }, journal)
        }),
        Breaker::Threads => play.each_tick(|simulation, turn, journal| {
            let threads = THREADS[simulation.tick().0 as usize % THREADS.len()];
            in_way(simulation, turn, Way::Threads(threads), journal)
        }),
        Breaker::Restore => play.disturbed(|simulation, turn| {
            if simulation.tick().0.is_multiple_of(RESTORE_TICKS) {
                ahead_and_back(simulation, &[turn]);
            }
        }),
        Breaker::Serialise => play.each_tick(|simulation, turn, journal| {
            if simulation.tick().0.is_multiple_of(SERIALISE_TICKS) {
                *simulation = read_back(reference, simulation)?;
            }
            step(simulation, turn, journal);
            Ok(())
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
            None => End::Skipped("nothing is known that shows this simulation".to_owned()),
        },
        Breaker::SecondProcess | Breaker::Environment | Breaker::DebugRelease | Breaker::Wasm => {
            unreachable!("these play in other processes")
        }
    }
}

struct Play<'p, 'r, S: Inspect> {
    reference: &'p Reference<'r, S>,
    plays: &'p mut dyn FnMut(Tick) -> ControlFlow<()>,
    noted: Option<(Tick, &'p mut Journal)>,
}

impl<S: Inspect> Play<'_, '_, S> {
    /// Where to note the turn of a tick, if it is to be.
    fn journal(&mut self, tick: Tick) -> Option<&mut Journal> {
        let (noted, journal) = self.noted.as_mut()?;
        (*noted == tick).then_some(journal)
    }

    /// Plays all ticks, each by `step`, and compares before each and at the end.
    fn each_tick(
        &mut self,
        mut step: impl FnMut(&mut S, &Turn<S>, Option<&mut Journal>) -> Result<(), End<S>>,
    ) -> End<S> {
        let (mut simulation, mut met) = (self.reference.build(), 0);
        loop {
            let tick = simulation.tick();
            if (self.plays)(tick).is_break() {
                return End::stopped();
            }
            if !self.reference.is_met(&mut simulation) {
                return simulation.into();
            }
            met += 1;
            let Some(turn) = self.reference.turn(tick) else { return End::Met(met) };
            if let Err(end) = step(&mut simulation, turn, self.journal(tick)) {
                return end;
            }
        }
    }

    /// Plays all ticks, with something done before each that must leave no trace.
    fn disturbed(&mut self, mut before: impl FnMut(&mut S, &Turn<S>)) -> End<S> {
        self.each_tick(|simulation, turn, journal| {
            before(simulation, turn);
            step(simulation, turn, journal);
            Ok(())
        })
    }

    fn stale_snapshots(&mut self) -> End<S> {
        let (mut simulation, mut kept) = (self.reference.build(), Vec::new());
        let every = STALE_TICKS.max(self.reference.ticks() / STALE_MAX);
        while let Some(turn) = self.reference.turn(simulation.tick()) {
            if simulation.tick().0.is_multiple_of(every) {
                kept.push(simulation.snapshot());
            }
            let tick = simulation.tick();
            step(&mut simulation, turn, self.journal(tick));
        }
        if kept.is_empty() {
            return End::Skipped("no snapshot is due in so few ticks".to_owned());
        }
        let mut met = 0;
        for snapshot in kept {
            simulation.restore(&snapshot);
            for _ in 0..=every {
                let tick = simulation.tick();
                if (self.plays)(tick).is_break() {
                    return End::stopped();
                }
                if !self.reference.is_met(&mut simulation) {
                    return simulation.into();
                }
                met += 1;
                let Some(turn) = self.reference.turn(tick) else { break };
                step(&mut simulation, turn, self.journal(tick));
            }
        }
        End::Met(met)
    }

    fn part(&mut self) -> End<S> {
        let (mut part, mut whole) = (self.reference.build(), self.reference.build());
        let players = self.reference.players();
        if players.is_empty() {
            return End::Skipped("nobody enters, so there are no surroundings to simulate".to_owned());
        }
        let mut met = 0;
        while let Some(turn) = self.reference.turn(whole.tick()) {
            let player = players[(whole.tick().0 / PART_TICKS) as usize % players.len()];
            let journal = self.journal(whole.tick());
            let Some(core) = part.step_beside(&mut whole, turn, View::of(player), journal) else {
                return End::Skipped("this simulation cannot be played in part".to_owned());
            };
            if (self.plays)(whole.tick()).is_break() {
                return End::stopped();
            }
            if !self.reference.is_met(&mut whole) {
                return whole.into();
            }
            let tree = |simulation: &mut S| -> Vec<_> {
                simulation.tree().into_iter().filter(|(cell, _)| core.contains(cell)).collect()
            };
            if tree(&mut part) != tree(&mut whole) {
                return End::Parted(Box::new(Odd { cells: Some(core), ..Odd::of(part) }));
            }
            met += core.len() as u32;
        }
        End::Met(met)
    }
}

fn in_way<S: Inspect>(
    simulation: &mut S,
    turn: &Turn<S>,
    way: Way,
    journal: Option<&mut Journal>,
) -> Result<(), End<S>> {
    match simulation.step_in(turn, way, journal) {
        true => Ok(()),
        false => Err(End::Skipped("this simulation is stepped in one piece".to_owned())),
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
    let snapshot = simulation.snapshot();
    let bytes = simulation.encode(&snapshot);
    let mut fresh = reference.build();
    let read = fresh.decode(&bytes).map_err(|error| {
        End::Broke(format!("the serialised state of tick {} cannot be read: {error}", simulation.tick()))
    })?;
    fresh.restore(&read);
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
