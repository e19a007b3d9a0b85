//! The checksum covers every field of the game that the checker's tests use; where one does not,
//! the field is named.

use lockstone::check::coverage::CoverageReport;
use lockstone::check::{Inspect, Thing, coverage_of};
use lockstone::sim::codec::{self, CodecError, Fixed};
use lockstone::sim::world::StatePart;
use lockstone::sim::{CellId, Checksum, Input, PlayerId, Simulation, Tick, Turn};
use testkit::faulty::{self, Fault, world};
use testkit::mixer::{Mixer, State};
use testkit::pasture::{self, Wrong};

const SEED: u64 = 5;

#[test]
fn a_world_is_covered() {
    let build = || world(SEED, Fault::None);
    let report = coverage_of(&build, faulty::turns(SEED, 4, 600), &[]);
    println!("{report}");
    assert!(report.passed() && report.uncovered.is_empty(), "{report}");
    assert!(report.never_met.is_empty(), "{report}");
    let kinds: Vec<_> = report.kinds.iter().map(|kind| kind.kind.as_str()).collect();
    assert_eq!(kinds, ["Beast", "Facts", "Hero", "Light", "Shrine", "Stone"]);
    let unseen: Vec<_> = report.unseen.iter().map(|field| format!("{} {}", field.kind, field.path)).collect();
    // One has `serde(skip)`; a purse has a `Serialize` of its own, which calls nothing by name.
    assert_eq!(unseen, ["Beast own", "Beast shared", "Beast unsaved", "Hero own", "Hero shared"]);
    assert!(report.kinds.iter().all(|kind| kind.changed > 0 && kind.most > 0), "{report}");
    // Stones are not hashed again unless they are touched.
    let stone = report.kinds.iter().find(|kind| kind.kind == "Stone").expect("it was met");
    assert!(stone.changed >= 8, "{report}");
}

#[test]
fn so_is_another() {
    let build = || pasture::world(SEED, Wrong::Nothing);
    let report = coverage_of(&build, pasture::turns(SEED, 600), &[]);
    assert!(report.passed() && report.uncovered.is_empty() && report.never_met.is_empty(), "{report}");
    let kinds: Vec<_> = report.kinds.iter().map(|kind| kind.kind.as_str()).collect();
    assert_eq!(kinds, ["Facts", "Light", "Sheep", "Shepherd", "Wolf"]);
    let unseen: Vec<_> = report.unseen.iter().map(|field| format!("{} {}", field.kind, field.path)).collect();
    assert_eq!(unseen, ["Sheep grazed", "Sheep own", "Sheep shared"]);
}

#[test]
fn what_is_not_met_is_told() {
    let build = || world(SEED, Fault::None);
    let report = coverage_of(&build, faulty::turns(SEED, 0, 20), &[]);
    assert_eq!(report.never_met, ["Hero", "Beast", "Stone", "Shrine"], "{report}");
}

fn turns() -> Vec<Turn<Forgetful>> {
    let join = Turn { inputs: vec![Input::Join(PlayerId(3), (8, Tick(0)))] };
    let add = |by| Turn { inputs: vec![Input::Command(PlayerId(3), by)] };
    std::iter::once(join).chain((0..20).map(add)).collect()
}

fn fields(report: &CoverageReport) -> Vec<String> {
    report.uncovered.iter().map(|field| format!("{} {}", field.kind, field.path)).collect()
}

/// A mixer with a checksum of its own.
struct Forgetful {
    mixer: Mixer,
    /// Leaves something out of the checksum.
    leave_out: fn(&mut State),
    /// Takes its checksum again only when somebody enters: whatever else changes is forgotten.
    keeps: bool,
    kept: Option<Checksum>,
    /// Reads no state as a whole, but any part of it.
    by_parts: bool,
}

fn forgetful(leave_out: fn(&mut State)) -> Forgetful {
    Forgetful { mixer: Mixer::new(SEED, 8), leave_out, keeps: false, kept: None, by_parts: false }
}

/// Leaves the tick out of the checksum.
fn timeless() -> Forgetful {
    forgetful(|state| state.tick = Tick(0))
}

impl Simulation for Forgetful {
    type Command = u64;
    type Hero = (u8, u64);
    type Join = (u64, Tick);
    type Request = u64;
    type Given = lockstone::sim::Nothing;
    type Snapshot = Vec<u8>;

    fn tick(&self) -> Tick {
        self.mixer.tick()
    }

    fn step(&mut self, turn: &Turn<Self>) {
        for input in &turn.inputs {
            self.kept = self.kept.filter(|_| !matches!(input, Input::Join(..)));
        }
        let inputs = turn.inputs.iter().filter_map(|input| match input {
            Input::Command(player, by) => Some(Input::Command(*player, *by)),
            Input::Join(player, join) => Some(Input::Join(*player, *join)),
            _ => None,
        });
        self.mixer.step(&Turn { inputs: inputs.collect() });
    }

    fn requests(&self) -> &[u64] {
        &[]
    }

    fn admit(&self, player: PlayerId, hero: (u8, u64)) -> (u64, Tick) {
        self.mixer.admit(player, hero)
    }

    fn snapshot(&mut self) -> Vec<u8> {
        self.mixer.snapshot()
    }

    fn restore(&mut self, snapshot: &Vec<u8>) {
        self.mixer.restore(snapshot);
        self.kept = None;
    }

    fn checksum(&mut self) -> Checksum {
        let mut counted = Mixer::new(SEED, 8);
        counted.state = self.mixer.state.clone();
        (self.leave_out)(&mut counted.state);
        let kept = self.kept.filter(|_| self.keeps).unwrap_or_else(|| counted.checksum());
        *self.kept.insert(kept)
    }

    fn encode(&self, snapshot: &Vec<u8>) -> Vec<u8> {
        self.mixer.encode(snapshot)
    }

    fn decode(&self, bytes: &[u8]) -> Result<Vec<u8>, CodecError> {
        if self.by_parts { Err(CodecError::Malformed("it reads parts alone")) } else { self.mixer.decode(bytes) }
    }
}

impl Inspect for Forgetful {
    fn things(&self, _: Option<CellId>) -> Vec<Thing> {
        self.mixer.things(None)
    }

    fn part(&mut self, _: StatePart) -> Option<Vec<u8>> {
        let mut bytes = Fixed::default();
        bytes.push(&self.mixer.state);
        self.by_parts.then(|| bytes.bytes().to_vec())
    }

    fn with_part(&mut self, _: StatePart, bytes: &[u8]) -> Option<Vec<u8>> {
        Some(codec::compact(&codec::read_fixed::<State>(bytes).ok()?))
    }
}

#[test]
fn a_field_that_is_left_out_is_named() {
    let report = coverage_of(&timeless, turns(), &[]);
    println!("{report}");
    assert!(!report.passed());
    assert_eq!(fields(&report), ["Mixer tick"]);
    assert!(!report.knows_unseen && report.to_string().contains("serde(skip), cannot be seen"), "{report}");
    assert_eq!(report.unlike_reread, None);
}

#[test]
fn a_field_that_is_listed_passes_with_its_reason() {
    let report = coverage_of(&timeless, turns(), &[("Mixer tick", "it is told apart")]);
    assert!(report.passed(), "{report}");
    assert_eq!(report.uncovered[0].reason.as_deref(), Some("it is told apart"));
    let other = coverage_of(&timeless, turns(), &[("Mixer ti", "it is told apart")]);
    assert!(!other.passed(), "{other}");
}

#[test]
fn nothing_changed_is_nothing_shown() {
    let blind = || Forgetful { mixer: Mixer::new(SEED, 0), by_parts: true, ..forgetful(|_| {}) };
    let report = coverage_of(&blind, Vec::new(), &[]);
    assert!(!report.passed(), "{report}");
    assert!(report.to_string().contains("NOT SHOWN"), "{report}");
}

#[test]
fn a_length_that_is_left_out_is_named() {
    let mut turns = turns();
    turns.insert(1, Turn { inputs: vec![Input::Join(PlayerId(7), (9, Tick(1)))] });
    let plays = |leave_out: fn(&mut State)| {
        let build = move || Forgetful { by_parts: true, ..forgetful(leave_out) };
        coverage_of(&build, turns.clone(), &[])
    };
    // All heroes but the first, and so how many there are.
    let (sound, uncounted) = (plays(|_| {}), plays(|state| state.heroes.retain(|player, _| *player == PlayerId(3))));
    println!("{uncounted}");
    assert_eq!(fields(&sound), [""; 0], "{sound}");
    assert_eq!(fields(&uncounted), ["Mixer heroes"]);
}

#[test]
fn what_cannot_be_changed_is_named() {
    let report = coverage_of(&timeless, turns(), &[("Mixer tick", "it is told apart")]);
    let unchanged: Vec<_> = report.unchanged.iter().map(|field| field.path.as_str()).collect();
    assert_eq!(unchanged, ["away", "cells", "heroes"], "only a bit at a time is turned over: {report}");
}

#[test]
fn a_checksum_that_is_not_taken_again_is_told() {
    let report = coverage_of(&|| Forgetful { keeps: true, ..forgetful(|_| {}) }, turns(), &[]);
    println!("{report}");
    assert!(report.unlike_reread.is_some() && !report.passed());
}
