//! One case: what is planted, and what of it the peers record.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::{env, fs, process};

use lockstone::check::{Cause, Checker, Inspect};
use lockstone::recording::{Build, Entry, Packed, Recording, Rerunner};
use lockstone::sim::{Checksum, Dice, Simulation, Tick, codec};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use testkit::flips::dice;
use testkit::recorded::Peer;
use xxhash_rust::xxh3::xxh3_64;

use super::games::Game;
use super::judge::{Outcome, Planted};
use super::{CHILD_CASE, CHILD_FILE, OTHER_BUILD};

const TICKS: u32 = 200;
/// The odd peer is stopped so soon after it is found, and records its state then.
pub const STOPPED_TICKS: u32 = 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Plant {
    Nothing,
    /// A keyframe that cannot be read, or is another than its checksum says.
    Keyframe,
    Input,
    Seed,
    /// Its header tells the right one.
    HiddenSeed,
    Table,
    Rules,
    Platform,
    Bit,
    /// Between checksum and step.
    LateBit,
    Write,
    Field,
    HiddenField,
    Scene,
    Clock,
    Counter,
    HashOrder,
    /// What is another in each process.
    Process,
    /// The same of a peer of another build: nobody can tell that from other rules, and nor can a
    /// rerun in that process.
    ProcessOfAnotherBuild,
    /// The relay keeps from a player what others command.
    Withheld,
    /// The relay keeps from a player what changes beside its part.
    Halo,
}

impl Plant {
    /// What may be told of it: any of these is right.
    pub fn causes(self) -> &'static [Cause] {
        match self {
            Plant::Nothing | Plant::Keyframe => &[],
            Plant::Input | Plant::Withheld => &[Cause::Input],
            Plant::Seed | Plant::HiddenSeed => &[Cause::StartData],
            Plant::Table => &[Cause::Table],
            Plant::Rules => &[Cause::Build],
            // Another platform is another program, too.
            Plant::Platform => &[Cause::Platform, Cause::Build],
            Plant::Bit | Plant::LateBit | Plant::Write => &[Cause::StateCorruption],
            Plant::Field | Plant::HiddenField => &[Cause::SnapshotField],
            Plant::Scene => &[Cause::Presentation],
            Plant::Clock | Plant::Counter | Plant::HashOrder => &[Cause::Nondeterminism],
            Plant::Process => &[Cause::Nondeterminism, Cause::Unknown],
            Plant::ProcessOfAnotherBuild => &[Cause::Build, Cause::Nondeterminism, Cause::Unknown],
            Plant::Halo => &[Cause::HaloMissing],
        }
    }

    /// Whether it lies in the game, or in what was given, so that no peer is to blame.
    pub fn is_of_nobody(self) -> bool {
        use Plant::{Clock, Counter, Field, Halo, HashOrder, HiddenField, Process, Scene, Withheld};
        matches!(self, Clock | Counter | Field | Halo | HashOrder | HiddenField | Process | Scene | Withheld)
    }

    /// Whether the same turns come out alike each time.
    pub fn is_steady(self) -> bool {
        !matches!(self, Plant::Clock | Plant::Counter | Plant::HashOrder)
    }
}

/// Which process plays what the odd peer records, or checks what all recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    This,
    AChild,
    /// A child of [`OTHER_BUILD`].
    AnotherBuild,
}

impl By {
    /// Draws who checks a case.
    pub fn checker(dice: &mut Dice) -> By {
        let has_other = other_build().is_some();
        match (dice.chance(1, 4), has_other && dice.chance(1, 2)) {
            (false, _) => By::This,
            (true, false) => By::AChild,
            (true, true) => By::AnotherBuild,
        }
    }

    /// The program of a child, if it is one.
    fn program(self) -> Option<PathBuf> {
        match self {
            By::This => None,
            By::AChild => Some(env::current_exe().expect("it runs")),
            By::AnotherBuild => Some(other_build().expect("it was drawn as there is one")),
        }
    }
}

fn other_build() -> Option<PathBuf> {
    env::var_os(OTHER_BUILD).map(PathBuf::from)
}

/// The digest of this program, as a peer's header tells it.
static EXECUTABLE: LazyLock<u64> =
    LazyLock::new(|| xxh3_64(&fs::read(env::current_exe().expect("it runs")).expect("it can be read")));

/// What the checker is asked, and what the judge knows besides.
#[derive(Serialize, Deserialize)]
struct Question<K> {
    /// As files.
    recordings: Vec<Vec<u8>>,
    known: K,
}

/// What comes of a case where it is checked.
pub fn judged_by<S: Simulation, K: Serialize>(
    (n, by): (u64, By),
    recordings: Vec<Recording<S>>,
    known: K,
    judge: impl FnOnce(Vec<Recording<S>>, K) -> Outcome,
) -> Outcome {
    let Some(program) = by.program() else { return judge(recordings, known) };
    let question = Question { recordings: recordings.iter().map(Recording::write).collect(), known };
    let told = made_by(n, program, "a_child_checks_what_it_is_given", &codec::compact(&question));
    codec::read(&told, told.len()).expect("the child wrote it")
}

/// What comes of it in this process, which has played nothing of it.
pub fn answered<S: Simulation, K: DeserializeOwned>(
    question: &[u8],
    judge: impl FnOnce(Vec<Recording<S>>, K) -> Outcome,
) -> Outcome {
    let Question { recordings, known } = codec::read(question, question.len()).expect("its parent wrote it");
    let recordings = recordings.iter().map(|bytes: &Vec<u8>| Recording::read(bytes).expect("it is whole"));
    judge(recordings.collect(), known)
}

/// What a test of another process, that runs a case, makes of a file.
fn made_by(n: u64, program: PathBuf, test: &str, given: &[u8]) -> Vec<u8> {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("matrix-{}-{n}", process::id()));
    fs::write(&file, given).expect("the target directory can be written");
    let mut child = Command::new(program);
    child.args(["--exact", test]).env(CHILD_CASE, n.to_string()).env(CHILD_FILE, &file).env_remove("CASE");
    let output = child.output().expect("it starts");
    assert!(output.status.success(), "case {n}: {}", String::from_utf8_lossy(&output.stdout));
    let made = fs::read(&file).expect("it is there");
    fs::remove_file(file).expect("it is there");
    made
}

/// One planted difference.
pub struct Case<G: Game> {
    n: u64,
    pub plant: Plant,
    seed: u64,
    peers: u16,
    pub odd: u16,
    /// Evidence as peers exchange it, with trees, a state at the end, and a stopped odd peer.
    is_bundle: bool,
    has_rerun: bool,
    interval: u32,
    at: Tick,
    played: By,
    checked: By,
    planted: RefCell<Option<Planted>>,
    game: PhantomData<G>,
}

impl<G: Game> Case<G> {
    pub fn draw(n: u64) -> Case<G> {
        let mut dice = dice(0x6d61_7472 + n);
        let plant = *dice.pick(G::PLANTS).expect("there are some");
        let peers = 2 + dice.below(3) as u16;
        let mut case = Case {
            n,
            plant,
            seed: 1_000 + n,
            peers,
            odd: dice.below(peers.into()) as u16,
            is_bundle: dice.chance(1, 2),
            has_rerun: dice.chance(1, 3),
            played: if dice.chance(1, 8) { By::AChild } else { By::This },
            checked: By::This,
            interval: *dice.pick(&[1, 1, 2, 10]).expect("there are some"),
            at: Tick(50 + dice.below(TICKS - 100)),
            planted: RefCell::default(),
            game: PhantomData,
        };
        if other_build().is_some() && dice.chance(1, 2) {
            case.played = By::AnotherBuild;
        }
        case.checked = By::checker(&mut dice);
        case
    }

    fn peer(&self, n: u16) -> Peer {
        let mut peer = Peer { trees: self.is_bundle && self.interval == 1, ..Peer::new(n, self.seed) };
        let header = &mut peer.header;
        header.build = Build::of(*EXECUTABLE);
        if n == self.odd {
            match self.plant {
                Plant::Seed => header.seed += 1,
                Plant::Table => header.identity.table ^= 1,
                Plant::Rules => header.build.executable ^= 1,
                Plant::Platform => (header.build.arch, header.build.executable) = ("wasm32".into(), 0),
                _ => {}
            }
        }
        peer
    }

    /// The odd peer's own recording.
    pub fn odd(&self) -> Recording<G::Sim> {
        let (mut dice, mut turns, mut peer) = (dice(!self.n), G::turns(self.seed, TICKS), self.peer(self.odd));
        let seed = if matches!(self.plant, Plant::Seed | Plant::HiddenSeed) { self.seed + 1 } else { self.seed };
        let mut world = G::odd_world(seed, self.plant);
        if matches!(self.plant, Plant::Field | Plant::HiddenField) {
            let mut founder = G::world(self.seed, self.plant);
            turns[..self.at.0 as usize].iter().for_each(|turn| founder.step(turn));
            world.restore_from(&founder.encoded()).expect("its own bytes");
        }
        if self.is_bundle || self.plant == Plant::Write {
            let stopped = match self.plant {
                Plant::Input | Plant::Bit | Plant::LateBit | Plant::Write => self.at.plus(STOPPED_TICKS),
                _ => Tick(TICKS - 2),
            };
            peer.keyframe_at = Some(stopped);
            if self.is_bundle {
                turns.truncate(stopped.0 as usize + 1);
            }
        }
        let bits = if self.plant == Plant::Write { 6 } else { 1 };
        let mut write = |world: &mut G::Sim| {
            if world.tick() == self.at {
                *self.planted.borrow_mut() = Some(G::scribble(world, &mut dice, bits));
            }
        };
        match self.plant {
            Plant::Bit | Plant::Write => peer.record(&mut world, &turns, |world| {
                write(world);
                None
            }),
            Plant::LateBit => peer.record_late(&mut world, &turns, write),
            Plant::Scene => peer.record_late(&mut world, &turns, |world| G::look(world)),
            Plant::Input => {
                let other = G::command(&mut testkit::flips::dice(self.n + 7));
                peer.record(&mut world, &turns, |world| {
                    let mut turn = turns.get(world.tick().0 as usize).cloned()?;
                    turn.inputs.push(other.clone());
                    (world.tick() == self.at).then_some(turn)
                })
            }
            Plant::Keyframe => {
                peer.keyframe_at = Some(self.at);
                let mut recording = peer.record(&mut world, &turns, |_| None);
                for entry in &mut recording.entries {
                    if let Entry::Keyframe(state) = entry {
                        *state = Packed::of(b"no state at all");
                    }
                }
                recording
            }
            _ => peer.record(&mut world, &turns, |_| None),
        }
    }

    /// All recordings, as peers give them to the checker.
    fn recordings(&self) -> Vec<Recording<G::Sim>> {
        let recorded = self.odd();
        let read = |bytes: Vec<u8>| Recording::read(&bytes).expect("it is whole");
        let of_a_child = |program| read(made_by(self.n, program, "a_child_records_what_the_odd_peer_plays", &[]));
        let mut odd = Some(self.played.program().map_or(recorded, of_a_child));
        let turns = G::turns(self.seed, TICKS);
        let healthy = |n| self.peer(n).record(&mut G::world(self.seed, self.plant), &turns, |_| None);
        let each = (0..self.peers).map(|n| if n == self.odd { odd.take().expect("there is one") } else { healthy(n) });
        let mut recordings: Vec<_> = each.map(|recording| thinned(recording, self.interval)).collect();
        if self.has_rerun
            && let Some(found) = split(&recordings)
        {
            let build = |seed| G::odd_world(seed + u64::from(self.plant == Plant::HiddenSeed), self.plant);
            play_again(&mut recordings[usize::from(self.odd)], found, &build);
        }
        recordings
    }

    /// What came of the case, by the process that checks it.
    pub fn judged(&self) -> (Plant, &'static str, Outcome) {
        let recordings = self.recordings();
        let planted = self.planted.take();
        let judge = |recordings, planted| self.judge(recordings, planted);
        (self.told_plant(), G::NAME, judged_by((self.n, self.checked), recordings, planted, judge))
    }

    /// What came of it in this process, which has played nothing of it.
    pub fn answer(&self, question: &[u8]) -> Outcome {
        answered(question, |recordings, planted| self.judge(recordings, planted))
    }

    fn judge(&self, recordings: Vec<Recording<G::Sim>>, planted: Option<Planted>) -> Outcome {
        let split = split(&recordings).map(|(_, tick)| tick);
        let (build, look) = (|seed| G::world(seed, self.plant), |world: &G::Sim| G::look(world));
        let report = Checker::new(&build).with_presentation(&look).check(recordings).expect("they are of one session");
        let how = format!(
            "{} peers, P{} odd, {}, rerun {}, played by {:?}, checked by {:?}, interval {}, at {}",
            self.peers,
            self.odd,
            if self.is_bundle { "bundle" } else { "recordings" },
            self.has_rerun,
            self.played,
            self.checked,
            self.interval,
            self.at
        );
        // Only its own program knows the lines of other rules.
        let lines = G::lines(self.plant).filter(|_| self.plant != Plant::Rules || self.has_rerun);
        // Later checksums tell of what came of it, and no longer of what was written to.
        let next = if self.plant == Plant::LateBit { self.at.next() } else { self.at };
        let planted = (planted.filter(|_| split == Some(next)), lines);
        Outcome::of(self.told_plant(), self.odd.into(), split, planted, report, (how, self.has_rerun))
    }

    /// What is planted, as the judge calls it.
    fn told_plant(&self) -> Plant {
        match (self.plant, self.played) {
            (Plant::Process, By::AnotherBuild) => Plant::ProcessOfAnotherBuild,
            (plant, _) => plant,
        }
    }
}

/// Has a peer play its own recording again, as it does once a difference is found at a tick, and
/// all was well at another. Returns whether it came to the difference.
pub fn play_again<S: Inspect>(
    odd: &mut Recording<S>,
    (agreed, tick): (Option<Tick>, Tick),
    build: &dyn Fn(u64) -> S,
) -> bool {
    let mut rerunner = Rerunner::new(odd.clone(), tick, agreed, build).expect("it is its own");
    while rerunner.advance() {}
    let rerun = rerunner.pack(usize::MAX).map(Entry::Rerun);
    let came = rerun.is_some();
    odd.entries.extend(rerun);
    came
}

/// A recording with checksums at some ticks alone.
pub fn thinned<S: Simulation>(mut recording: Recording<S>, interval: u32) -> Recording<S> {
    let mut tick = recording.header.start;
    recording.entries.retain(|entry| {
        let now = tick;
        tick = tick.plus(entry.ticks());
        !matches!(entry, Entry::Checksum(_)) || now.0.is_multiple_of(interval)
    });
    recording
}

/// The first tick at which recorded checksums differ, and the last before at which they did not.
pub fn split<S: Simulation>(recordings: &[Recording<S>]) -> Option<(Option<Tick>, Tick)> {
    let mut roots = std::collections::BTreeMap::<Tick, Vec<Checksum>>::new();
    for recording in recordings {
        let mut tick = recording.header.start;
        for entry in &recording.entries {
            if let Entry::Checksum(root) = entry {
                roots.entry(tick).or_default().push(*root);
            }
            tick = tick.plus(entry.ticks());
        }
    }
    let split = roots.iter().find(|(_, roots)| roots.iter().any(|root| *root != roots[0])).map(|(tick, _)| *tick)?;
    let agreed = roots.range(..split).rev().find(|(_, roots)| roots.len() > 1).map(|(tick, _)| *tick);
    Some((agreed, split))
}
