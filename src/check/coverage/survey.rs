//! Looks at states, and changes in each what was in none before.

use std::collections::{BTreeMap, BTreeSet};

use lockstone_sim::codec::Field;
use lockstone_sim::world::StateBit;
use lockstone_sim::{CellId, Checksum, Tick};

use super::report::{CoverageReport, KindCoverage, Uncovered};
use crate::check::inspect::{Inspect, Thing};
use crate::check::locate::compare;

/// A field that could not be changed in so many things is one that no single bit changes: a length, whether an option is there.
const VAIN_MAX: u32 = 4;
/// A state that can only be changed as bytes is changed in so many places at most, and so many states are.
const PLACES_MAX: usize = 2_048;
const STATES_MAX: u32 = 24;
/// What is not named by the simulation.
const UNNAMED: &str = "state";

/// What is known of the fields that were seen.
#[derive(Default)]
pub(super) struct Survey {
    kinds: BTreeMap<String, Kind>,
    uncovered: BTreeMap<(String, String), Tick>,
    unlike_reread: Option<Tick>,
    /// Whether a bit of a field could be turned over; if not, the state is changed as bytes.
    by_field: bool,
    states: u32,
}

#[derive(Default)]
struct Kind {
    most: usize,
    fields: BTreeMap<String, Known>,
}

/// A field.
#[derive(Clone, Copy, Default)]
struct Known {
    /// How many of its bytes were changed.
    bytes: usize,
    /// In how many things nothing of it could be.
    vain: u32,
}

impl Known {
    fn is_done(self) -> bool {
        self.bytes > 0 || self.vain >= VAIN_MAX
    }
}

impl Survey {
    /// Looks at a state, which is the same afterwards.
    pub fn look<S: Inspect>(&mut self, simulation: &mut S, build: &dyn Fn() -> S) {
        let things = things(simulation);
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        things.iter().for_each(|thing| *counts.entry(&thing.kind).or_default() += 1);
        for (kind, count) in counts {
            let known = self.kinds.entry(kind.to_owned()).or_default();
            known.most = known.most.max(count);
        }
        self.reread(simulation, build);
        let (root, snapshot) = (simulation.checksum(), simulation.snapshot());
        let mut news = false;
        for thing in &things {
            for field in &thing.fields {
                let fields = &mut self.kinds.get_mut(&thing.kind).expect("it was counted").fields;
                news |= !fields.contains_key(&field.path);
                let known = *fields.entry(field.path.clone()).or_default();
                if !known.is_done() {
                    self.change(simulation, root, &snapshot, thing, field);
                }
            }
        }
        if news && !self.by_field && self.states < STATES_MAX {
            self.states += 1;
            self.change_bytes(simulation, root, &things);
        }
    }

    /// Turns over a bit of each byte of a field.
    fn change<S: Inspect>(
        &mut self,
        simulation: &mut S,
        root: Checksum,
        snapshot: &S::Snapshot,
        thing: &Thing,
        field: &Field,
    ) {
        let (mut bytes, mut covered) = (0, true);
        for byte in field.bytes.clone() {
            for bit in 0..8 {
                let Some(turned) = simulation.with_bit_turned(&StateBit { of: thing.part, byte, bit }) else {
                    continue;
                };
                simulation.restore(&turned);
                let same_root = simulation.checksum() == root;
                // A value may be read as the one that it was, as one out of range that is put right.
                let took = !same_root || !simulation.things(thing.part.cell()).contains(thing);
                simulation.restore(snapshot);
                if took {
                    (bytes, covered) = (bytes + 1, covered && !same_root);
                    break;
                }
            }
        }
        self.by_field |= bytes > 0;
        let known = self.known(&thing.kind, &field.path);
        (known.bytes, known.vain) = (bytes, known.vain + u32::from(bytes == 0));
        if !covered {
            self.uncovered(&thing.kind, &field.path, simulation.tick());
        }
    }

    /// Turns over a bit of each byte of the serialised state.
    fn change_bytes<S: Inspect>(&mut self, simulation: &mut S, root: Checksum, before: &[Thing]) {
        let (tick, snapshot) = (simulation.tick(), simulation.snapshot());
        let bytes = simulation.encode(&snapshot);
        for byte in (0..bytes.len()).step_by(bytes.len().div_ceil(PLACES_MAX).max(1)) {
            for bit in 0..8 {
                let mut turned = bytes.clone();
                turned[byte] ^= 1 << bit;
                let Ok(state) = simulation.decode(&turned) else { continue };
                simulation.restore(&state);
                let same_root = simulation.checksum() == root;
                let changed: Vec<_> = compare(before.to_vec(), things(simulation))
                    .into_iter()
                    .flat_map(|spot| spot.fields.into_iter().map(move |field| (spot.kind.clone(), field.path)))
                    .collect();
                let again = simulation.snapshot();
                let took = !changed.is_empty() || simulation.encode(&again) != bytes;
                simulation.restore(&snapshot);
                if !took {
                    continue;
                }
                match changed.as_slice() {
                    [] if same_root => self.uncovered(UNNAMED, &format!("byte {byte} of its {}", bytes.len()), tick),
                    changed if same_root => changed.iter().for_each(|(kind, path)| {
                        self.known(kind, path).bytes += 1;
                        self.uncovered(kind, path, tick);
                    }),
                    [(kind, path)] => self.known(kind, path).bytes += 1,
                    // Several fields at once: any of them may be what the checksum tells. Another bit may change one alone.
                    [_, _, ..] => continue,
                    [] => {}
                }
                break;
            }
        }
    }

    /// What the rules left of the checksum must be what the state alone leads to.
    fn reread<S: Inspect>(&mut self, simulation: &mut S, build: &dyn Fn() -> S) {
        let snapshot = simulation.snapshot();
        let mut again = build();
        let same = again.decode(&simulation.encode(&snapshot)).is_ok_and(|state| {
            again.restore(&state);
            again.checksum() == simulation.checksum()
        });
        if !same && self.unlike_reread.is_none() {
            self.unlike_reread = Some(simulation.tick());
        }
    }

    fn known(&mut self, kind: &str, path: &str) -> &mut Known {
        self.kinds.entry(kind.to_owned()).or_default().fields.entry(path.to_owned()).or_default()
    }

    fn uncovered(&mut self, kind: &str, path: &str, tick: Tick) {
        self.uncovered.entry((kind.to_owned(), path.to_owned())).or_insert(tick);
    }

    /// What was found in so many ticks, of the kinds that there are.
    pub fn report(self, ticks: u32, all: &[&str], listed: &[(&str, &str)]) -> CoverageReport {
        let met: BTreeSet<&str> = self.kinds.keys().map(String::as_str).collect();
        let never_met = all.iter().filter(|kind| !met.contains(*kind)).map(|kind| (*kind).to_owned()).collect();
        let kinds = self.kinds.iter().map(|(kind, Kind { most, fields })| KindCoverage {
            kind: kind.clone(),
            most: *most,
            fields: fields.len(),
            changed: fields.values().filter(|known| known.bytes > 0).count(),
            bytes: fields.values().map(|known| known.bytes).sum(),
        });
        let uncovered = self.uncovered.iter().map(|((kind, path), tick)| Uncovered {
            kind: kind.clone(),
            path: path.clone(),
            tick: *tick,
            reason: reason(listed, kind, path).map(str::to_owned),
        });
        CoverageReport {
            ticks,
            kinds: kinds.collect(),
            never_met,
            uncovered: uncovered.collect(),
            unlike_reread: self.unlike_reread,
        }
    }
}

/// All that a simulation shows.
fn things<S: Inspect>(simulation: &mut S) -> Vec<Thing> {
    let cells: Vec<CellId> = simulation.tree().into_iter().map(|(cell, _)| cell).collect();
    std::iter::once(None).chain(cells.into_iter().map(Some)).flat_map(|cell| simulation.things(cell)).collect()
}

/// Why a field, or what it is part of, need not be covered.
fn reason<'l>(listed: &[(&str, &'l str)], kind: &str, path: &str) -> Option<&'l str> {
    let field = format!("{kind} {path}");
    let names =
        |name: &str| field.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
    listed.iter().find(|(name, _)| names(name)).map(|&(_, reason)| reason)
}
