//! Looks at states, and changes in each what was in none before.

use std::collections::{BTreeMap, BTreeSet};

use lockstone_sim::codec::{Field, FieldKind};
use lockstone_sim::world::StateBit;
use lockstone_sim::{CellId, Checksum, Tick};

use super::report::{CoverageReport, KindCoverage, Unchanged, Uncovered};
use super::shape::{Donors, Place, is_shape, is_within};
use crate::check::locate::compare;
use crate::inspect::{Inspect, Thing};

/// A field that could not be changed in so many things is one that no single bit changes.
const VAIN_MAX: u32 = 4;
/// The same of its [shape](super::shape), which may want what is only met later.
const SHAPE_VAIN_MAX: u32 = 16;
/// A state that can only be changed as bytes is changed in so many places at most, and so
/// many states are.
const PLACES_MAX: usize = 2_048;
const STATES_MAX: u32 = 24;
/// So many things of a kind are asked for their `Debug`.
const DEBUGGED_MAX: u32 = 16;
/// What is not named by the simulation.
const UNNAMED: &str = "state";

/// What is known of the fields that were seen.
#[derive(Default)]
pub(super) struct Survey {
    kinds: BTreeMap<String, Kind>,
    uncovered: BTreeMap<(String, String), Tick>,
    /// What `Debug` shows and no encoding has, by kind.
    unseen: BTreeSet<(String, String)>,
    unlike_reread: Option<Tick>,
    /// Whether a bit of a field could be turned over; if not, the state is changed as bytes.
    by_field: bool,
    states: u32,
    donors: Donors,
}

#[derive(Default)]
struct Kind {
    most: usize,
    fields: BTreeMap<String, Known>,
    /// Those that say what stands behind them: how many elements, whether it is there, or which
    /// variant.
    shapes: BTreeMap<Place, Known>,
    /// Of how many `Debug` was asked.
    debugged: u32,
}

/// What came of changing a field, or its shape.
#[derive(Clone, Copy, Default)]
struct Known {
    /// How many of its bytes were changed, or to how many other shapes.
    changed: usize,
    /// In how many things nothing of it could be.
    vain: u32,
}

impl Known {
    fn is_done(self, vain_max: u32) -> bool {
        self.changed > 0 || self.vain >= vain_max
    }
}

/// A state that others are compared with.
struct Present<'s, S: Inspect> {
    simulation: &'s mut S,
    root: Checksum,
    snapshot: S::Snapshot,
}

impl<S: Inspect> Present<'_, S> {
    /// Whether the checksum tells another state, in which a thing was changed; `None` if it is no
    /// other state.
    fn tells(&mut self, other: &S::Snapshot, thing: &Thing) -> Option<bool> {
        self.simulation.restore(other);
        let tells = self.simulation.checksum() != self.root;
        // A value may be read as the one that it was, as one out of range that is put right.
        let took = tells || !self.simulation.things(thing.part.cell()).contains(thing);
        self.simulation.restore(&self.snapshot);
        took.then_some(tells)
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
        // What the rules left of the checksum must be what the state alone leads to.
        let mut again = build();
        let read = again.restore_from(&simulation.encoded());
        let root = simulation.checksum();
        if read.is_err() || again.checksum() != root {
            self.unlike_reread.get_or_insert(simulation.tick());
        }
        let snapshot = simulation.snapshot();
        let mut present = Present { simulation, root, snapshot };
        let mut news = false;
        for thing in &things {
            self.ask_debug(present.simulation, thing);
            for (n, field) in thing.fields.iter().enumerate() {
                let fields = &mut self.kinds.get_mut(&thing.kind).expect("it was counted").fields;
                news |= !fields.contains_key(&field.path);
                if !fields.entry(field.path.clone()).or_default().is_done(VAIN_MAX) {
                    self.change(&mut present, thing, field);
                }
                if is_shape(&thing.fields, n) {
                    self.donors.keep(thing, n, || present.simulation.part(thing.part));
                    self.reshape(&mut present, thing, n);
                }
            }
        }
        if news && !self.by_field && self.states < STATES_MAX {
            self.states += 1;
            self.change_bytes(present, &things);
        }
    }

    /// What a thing's `Debug` shows, and its encoding has not by that name.
    fn ask_debug<S: Inspect>(&mut self, simulation: &S, thing: &Thing) {
        let kind = self.kinds.get_mut(&thing.kind).expect("it was counted");
        if kind.debugged >= DEBUGGED_MAX {
            return;
        }
        let Some(text) = simulation.debugged(thing.part) else { return };
        kind.debugged += 1;
        let is_encoded =
            |name: &str| thing.fields.iter().any(|field| field.path.split(['.', '[', ']']).any(|part| part == name));
        let unseen = field_names(&text).into_iter().filter(|name| !is_encoded(name));
        self.unseen.extend(unseen.map(|name| (thing.kind.clone(), name)));
    }

    /// Gives a thing another shape: an element less, or what another thing has there.
    fn reshape<S: Inspect>(&mut self, present: &mut Present<'_, S>, thing: &Thing, n: usize) {
        let Field { path, kind: of, .. } = &thing.fields[n];
        let kind = self.kinds.get_mut(&thing.kind).expect("it was counted");
        let shape = kind.shapes.entry((path.clone(), *of)).or_default();
        if *of == FieldKind::Variant {
            shape.changed = shape.changed.max(kind.fields[path].changed);
        }
        if shape.is_done(SHAPE_VAIN_MAX) {
            return;
        }
        let changed = present.simulation.part(thing.part).map(|bytes| self.donors.changed(thing, n, &bytes));
        let changed = changed.unwrap_or_default();
        let told = changed.iter().filter_map(|bytes| {
            let state = present.simulation.with_part(thing.part, bytes)?;
            present.tells(&state, thing)
        });
        let told: Vec<bool> = told.collect();
        shape.changed += told.len();
        shape.vain += u32::from(told.is_empty() && !changed.is_empty());
        if told.contains(&false) {
            self.uncovered(&thing.kind, path, present.simulation.tick());
        }
    }

    /// Turns over a bit of each byte of a field.
    fn change<S: Inspect>(&mut self, present: &mut Present<'_, S>, thing: &Thing, field: &Field) {
        let mut turned = |byte, bit| {
            let state = present.simulation.with_bit_turned(&StateBit { of: thing.part, byte, bit })?;
            present.tells(&state, thing)
        };
        let told = field.bytes.clone().filter_map(|byte| (0..8).find_map(|bit| turned(byte, bit)));
        let told: Vec<bool> = told.collect();
        self.by_field |= !told.is_empty();
        let known = self.known(&thing.kind, &field.path);
        known.changed += told.len();
        known.vain += u32::from(told.is_empty());
        if told.contains(&false) {
            self.uncovered(&thing.kind, &field.path, present.simulation.tick());
        }
    }

    /// Turns over a bit of each byte of the serialised state.
    fn change_bytes<S: Inspect>(&mut self, present: Present<'_, S>, before: &[Thing]) {
        let Present { simulation, root, snapshot } = present;
        let (tick, bytes) = (simulation.tick(), simulation.encode(&snapshot));
        for byte in (0..bytes.len()).step_by(bytes.len().div_ceil(PLACES_MAX).max(1)) {
            for bit in 0..8 {
                let mut turned = bytes.clone();
                turned[byte] ^= 1 << bit;
                if simulation.restore_from(&turned).is_err() {
                    continue;
                }
                let same_root = simulation.checksum() == root;
                let changed: Vec<_> = compare(before.to_vec(), things(simulation))
                    .into_iter()
                    .flat_map(|spot| spot.fields.into_iter().map(move |field| (spot.kind.clone(), field.path)))
                    .collect();
                let took = !changed.is_empty() || simulation.encoded() != bytes;
                simulation.restore(&snapshot);
                if !took {
                    continue;
                }
                match changed.as_slice() {
                    [] if same_root => self.uncovered(UNNAMED, &format!("byte {byte} of its {}", bytes.len()), tick),
                    changed if same_root => changed.iter().for_each(|(kind, path)| {
                        self.known(kind, path).changed += 1;
                        self.uncovered(kind, path, tick);
                    }),
                    [(kind, path)] => self.known(kind, path).changed += 1,
                    // Several fields at once: any of them may be what the checksum tells. Another
                    // bit may change one alone.
                    [_, _, ..] => continue,
                    [] => {}
                }
                break;
            }
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
        let never_met = all.iter().filter(|kind| !self.kinds.contains_key(**kind)).map(|kind| (*kind).to_owned());
        let kinds = self.kinds.iter().map(|(name, kind)| KindCoverage {
            kind: name.clone(),
            most: kind.most,
            fields: kind.fields.len(),
            changed: kind.fields.keys().filter(|path| kind.is_changed(path)).count(),
            bytes: kind.fields.values().map(|known| known.changed).sum(),
        });
        let unchanged = self
            .kinds
            .iter()
            .flat_map(|(name, kind)| kind.unchanged().into_iter().map(|path| Unchanged { kind: name.clone(), path }));
        let uncovered = self.uncovered.iter().map(|((kind, path), tick)| Uncovered {
            kind: kind.clone(),
            path: path.clone(),
            tick: *tick,
            reason: reason(listed, kind, path).map(str::to_owned),
        });
        let unseen = self.unseen.iter().map(|(kind, path)| Unchanged { kind: kind.clone(), path: path.clone() });
        CoverageReport {
            unseen: unseen.collect(),
            knows_unseen: self.kinds.values().any(|kind| kind.debugged > 0),
            ticks,
            kinds: kinds.collect(),
            never_met: never_met.collect(),
            unchanged: unchanged.collect(),
            uncovered: uncovered.collect(),
            unlike_reread: self.unlike_reread,
        }
    }
}

impl Kind {
    /// Whether a field was another once, and if it says what stands behind it, whether something
    /// else stood there.
    fn is_changed(&self, path: &str) -> bool {
        let of_path = |of| self.shapes.get(&(path.to_owned(), of));
        let mut shapes =
            [FieldKind::Length, FieldKind::Presence, FieldKind::Variant].into_iter().filter_map(of_path).peekable();
        match shapes.peek() {
            None => self.fields.get(path).is_some_and(|known| known.changed > 0),
            Some(_) => shapes.all(|shape| shape.changed > 0),
        }
    }

    /// The fields of which nothing could be changed in any element: `bag[].power`.
    fn unchanged(&self) -> BTreeSet<String> {
        let (changed, not): (Vec<&String>, Vec<&String>) = self.fields.keys().partition(|path| self.is_changed(path));
        let changed: BTreeSet<String> = changed.into_iter().map(|path| of_any_element(path)).collect();
        not.into_iter().map(|path| of_any_element(path)).filter(|path| !changed.contains(path)).collect()
    }
}

/// The names of fields in what `Debug` writes: what stands before a colon, but for texts.
fn field_names(text: &str) -> Vec<String> {
    let beside_texts: String = text.replace("\\\"", "").split('"').step_by(2).collect();
    let pieces = beside_texts.split(['{', '}', '(', ')', '[', ']', ',']);
    let named = pieces.filter_map(|piece| piece.split_once(':')).map(|(name, _)| name.trim());
    let is_name = |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    named.filter(is_name).map(str::to_owned).collect()
}

/// A path without the elements' numbers.
fn of_any_element(path: &str) -> String {
    let mut parts = path.split('[');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |path, part| path + "[" + part.trim_start_matches(|c: char| c.is_ascii_digit()))
}

/// All that a simulation shows.
fn things<S: Inspect>(simulation: &mut S) -> Vec<Thing> {
    let cells: Vec<CellId> = simulation.tree().into_iter().map(|(cell, _)| cell).collect();
    std::iter::once(None).chain(cells.into_iter().map(Some)).flat_map(|cell| simulation.things(cell)).collect()
}

/// Why a field, or what it is part of, need not be covered.
fn reason<'l>(listed: &[(&str, &'l str)], kind: &str, path: &str) -> Option<&'l str> {
    let field = format!("{kind} {path}");
    listed.iter().find(|(name, _)| is_within(&field, name)).map(|&(_, reason)| reason)
}
