//! The checksum covers every field of the game that the checker's tests use; where one does not,
//! the field is named.

use lockstone::check::coverage::CoverageReport;
use lockstone::check::{Inspect, Thing, coverage_of};
use lockstone::sim::codec::{self, CodecError, Fixed};
use lockstone::sim::world::StatePart;
use lockstone::sim::{CellId, Checksum, Input, PlayerId, Simulation, Tick, Turn};
use testkit::faulty::{self, Fault, world};
use testkit::tally::Tally;

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
    assert!(report.kinds.iter().all(|kind| kind.changed > 0 && kind.most > 0), "{report}");
    // Stones are not hashed again unless they are touched.
    let stone = report.kinds.iter().find(|kind| kind.kind == "Stone").expect("it was met");
    assert!(stone.changed >= 8, "{report}");
}

#[test]
fn what_is_not_met_is_told() {
    let build = || world(SEED, Fault::None);
    let report = coverage_of(&build, faulty::turns(SEED, 0, 20), &[]);
    assert_eq!(report.never_met, ["Hero", "Beast", "Stone", "Shrine"], "{report}");
}

fn turns<S: Simulation<Command = u32, Join = String>>() -> Vec<Turn<S>> {
    let join = Turn { inputs: vec![Input::Join(PlayerId(3), "Ada".to_owned())] };
    let add = |by| Turn { inputs: vec![Input::Command(PlayerId(3), by)] };
    std::iter::once(join).chain((0..20).map(add)).collect()
}

fn fields(report: &CoverageReport) -> Vec<String> {
    report.uncovered.iter().map(|field| format!("{} {}", field.kind, field.path)).collect()
}

#[test]
fn a_field_that_is_left_out_is_named() {
    let report = coverage_of(&|| Tally::new(SEED), turns(), &[]);
    println!("{report}");
    assert!(!report.passed());
    assert_eq!(fields(&report), ["Tally seed"]);
    assert_eq!(report.unlike_reread, None);
}

#[test]
fn a_field_that_is_listed_passes_with_its_reason() {
    let report = coverage_of(&|| Tally::new(SEED), turns(), &[("Tally seed", "it never changes")]);
    assert!(report.passed(), "{report}");
    assert_eq!(report.uncovered[0].reason.as_deref(), Some("it never changes"));
    let other = coverage_of(&|| Tally::new(SEED), turns(), &[("Tally se", "it never changes")]);
    assert!(!other.passed(), "{other}");
}

#[test]
fn nothing_changed_is_nothing_shown() {
    let report = coverage_of(
        &|| Forgetful { tally: Tally::new(SEED), kept: None, uncounted: false, blind: true },
        Vec::new(),
        &[],
    );
    assert!(!report.passed(), "{report}");
    assert!(report.to_string().contains("NOT SHOWN"), "{report}");
}

/// Takes its checksum again only when somebody enters: whatever else changes is forgotten.
struct Forgetful {
    tally: Tally,
    kept: Option<Checksum>,
    /// Leaves all numbers but the first out of the checksum, and so how many there are.
    uncounted: bool,
    /// Reads no state at all.
    blind: bool,
}

impl Simulation for Forgetful {
    type Command = u32;
    type Hero = String;
    type Join = String;
    type Request = u8;
    type Given = lockstone::sim::Nothing;
    type Snapshot = Tally;

    fn tick(&self) -> Tick {
        self.tally.tick()
    }

    fn step(&mut self, turn: &Turn<Self>) {
        for input in &turn.inputs {
            self.kept = self.kept.filter(|_| !matches!(input, Input::Join(..)));
        }
        let inputs = turn.inputs.iter().filter_map(|input| match input {
            Input::Command(player, by) => Some(Input::Command(*player, *by)),
            Input::Join(player, name) => Some(Input::Join(*player, name.clone())),
            _ => None,
        });
        self.tally.step(&Turn { inputs: inputs.collect() });
    }

    fn requests(&self) -> &[u8] {
        &[]
    }

    fn admit(&self, player: PlayerId, hero: String) -> String {
        self.tally.admit(player, hero)
    }

    fn snapshot(&mut self) -> Tally {
        self.tally.snapshot()
    }

    fn restore(&mut self, snapshot: &Tally) {
        self.tally.restore(snapshot);
        self.kept = None;
    }

    fn checksum(&mut self) -> Checksum {
        let mut counted = self.tally.clone();
        counted.numbers = counted.numbers.into_iter().take(if self.uncounted { 1 } else { usize::MAX }).collect();
        *self.kept.get_or_insert(counted.checksum())
    }

    fn encode(&self, snapshot: &Tally) -> Vec<u8> {
        self.tally.encode(snapshot)
    }

    fn decode(&self, bytes: &[u8]) -> Result<Tally, CodecError> {
        if self.blind { Err(CodecError::Malformed("it is blind")) } else { self.tally.decode(bytes) }
    }
}

impl Inspect for Forgetful {
    fn things(&self, cell: Option<CellId>) -> Vec<Thing> {
        self.tally.things(cell)
    }

    fn part(&mut self, _: StatePart) -> Option<Vec<u8>> {
        let mut bytes = Fixed::default();
        bytes.push(&self.tally);
        Some(bytes.bytes().to_vec())
    }

    fn with_part(&mut self, _: StatePart, bytes: &[u8]) -> Option<Tally> {
        codec::read_fixed(bytes).ok()
    }
}

#[test]
fn a_length_that_is_left_out_is_named() {
    let mut turns = turns();
    turns.insert(1, Turn { inputs: vec![Input::Join(PlayerId(7), "Bram".to_owned())] });
    let plays = |uncounted| {
        let build = move || Forgetful { tally: Tally::new(SEED), kept: None, uncounted, blind: true };
        coverage_of(&build, turns.clone(), &[])
    };
    let (sound, uncounted) = (plays(false), plays(true));
    println!("{uncounted}");
    assert_eq!(fields(&sound), [""; 0], "{sound}");
    assert_eq!(fields(&uncounted), ["Tally numbers"]);
}

#[test]
fn what_cannot_be_changed_is_named() {
    let report = coverage_of(&|| Tally::new(SEED), turns(), &[("Tally seed", "it never changes")]);
    let unchanged: Vec<_> = report.unchanged.iter().map(|field| field.path.as_str()).collect();
    assert_eq!(unchanged, ["numbers"], "only a bit at a time is turned over: {report}");
}

#[test]
fn a_checksum_that_is_not_taken_again_is_told() {
    let build = || Forgetful { tally: Tally::new(SEED), kept: None, uncounted: false, blind: false };
    let report = coverage_of(&build, turns(), &[("Tally seed", "it never changes")]);
    println!("{report}");
    assert!(report.unlike_reread.is_some() && !report.passed());
}
