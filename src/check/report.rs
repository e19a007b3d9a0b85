//! What the checker found, for people and for programs.

use std::fmt;

use lockstone_net::text::escaped;
use lockstone_sim::journal::{Divergence, Doer, Journal, Note, Phase, Site};
use lockstone_sim::{CellId, Checksum, PlayerId, Tick};
use serde::{Deserialize, Serialize};

use super::extent::{self, Covered};
use super::locate::Location;
use super::states::Unusable;
use crate::inspect::Sketch;
use crate::panics::Panicked;
use crate::recording::{Desync, Ending, Packed};

/// What came out of one or more recordings of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The recordings, in the order in which they were given.
    pub peers: Vec<PeerReport>,
    /// The first tick that was played.
    pub start: Tick,
    /// The tick after the last one that was played.
    pub end: Tick,
    /// How many cells two recordings have in common were compared, each at each tick, if some
    /// recordings are of a part of the world: then neither turns nor checksums can be. `None` if
    /// all are of the whole.
    pub shared: Option<u64>,
    /// What differs, if anything does.
    pub finding: Option<Finding>,
    /// The tick in whose step the rules panicked, and where, if they did: no more could be played.
    pub panic: Option<(Tick, Panicked)>,
    /// Who voted for two leaders in one epoch, as signatures in the recordings prove: each in a
    /// sentence. It says nothing of the worlds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub two_faced: Vec<String>,
}

/// One recording, checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PeerReport {
    /// The player that recorded.
    pub who: String,
    /// The recorder's player.
    pub player: PlayerId,
    /// What it was recorded by.
    pub build: String,
    /// The first tick it knows.
    pub start: Tick,
    /// The tick that would have been next.
    pub end: Tick,
    /// How its file ends: one that was torn by a crash is in step, or not, as far as it goes.
    pub ending: Ending,
    /// Which part of the world it covers, over time. Empty if it is all of it.
    pub covers: Vec<Covered>,
    /// The first difference that was found while playing: the other's recording belongs to this
    /// one.
    pub noted: Option<Desync>,
    /// The states that it recorded and that do not count: all was played without them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unusable: Vec<Unusable>,
    /// How many of its checksums were compared.
    pub checksums: u32,
    /// The newest tick before a difference at which it was equal.
    pub agreed: Option<Tick>,
    /// The first checksum that was not met.
    pub differs: Option<Unmet>,
}

impl PeerReport {
    /// Whether it meets its checksums, as far as they were compared.
    pub(super) fn is_healthy(&self) -> bool {
        self.checksums > 0 && self.differs.is_none()
    }
}

/// A recorded checksum that was not met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Unmet {
    /// Of the state before the turn of this tick.
    pub tick: Tick,
    /// What was recorded.
    pub recorded: Checksum,
    /// What came out.
    pub played: Checksum,
}

/// The first difference, and all that could be learnt of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The first tick whose state differs, before its turn.
    pub tick: Tick,
    /// The newest tick before it that is known to be equal.
    pub agreed: Option<Tick>,
    /// Who differs from the turns' outcome: places in [`Report::peers`].
    pub odd: Vec<usize>,
    /// Whose states were compared, here and there, if each is what its own turns lead to: places in
    /// [`Report::peers`]. Else what the turns lead to was compared with the odd peer's.
    pub between: Option<[usize; 2]>,
    /// Whether two plays of the same turns were compared, here and there.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub varies: bool,
    /// Why.
    pub verdict: Verdict,
    /// Where, if the odd state could be had: ours is what the turns lead to, theirs is the odd
    /// peer's.
    pub location: Option<Location>,
    /// What happened otherwise in the step that led there; nothing if the state was changed
    /// outside of any step.
    pub bad_writes: Vec<BadWrite>,
    /// The cells that differ in the ticks after.
    pub spread: Vec<Spread>,
    /// The inputs of the ticks before.
    pub inputs: Vec<String>,
    /// The odd peer's world there, if it could be had: to be looked at, and of no use to programs.
    #[serde(skip)]
    pub odd_world: Option<OddWorld>,
}

/// The odd peer's world, as the verdict has it again. Its recording alone may not tell it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OddWorld {
    /// Whose it is: a place in [`Report::peers`].
    pub peer: usize,
    /// The seed of its simulation, which may be another than its recording's.
    pub seed: u64,
    /// The state is the one before the turn of this tick.
    pub tick: Tick,
    /// The state, encoded and compressed.
    pub state: Packed,
}

impl Finding {
    /// On whose side the verdict says, and nothing more.
    pub(super) fn new(tick: Tick, verdict: Verdict) -> Finding {
        let (bad_writes, spread, inputs) = (Vec::new(), Vec::new(), Vec::new());
        let odd = verdict.blamed.clone();
        Finding {
            tick,
            agreed: None,
            odd,
            between: None,
            varies: false,
            verdict,
            location: None,
            bad_writes,
            spread,
            inputs,
            odd_world: None,
        }
    }
}

/// Something that happens otherwise in a step: the first thing of an entity, an effect, a cell or
/// an input. Those that others follow from come first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BadWrite {
    /// The tick whose turn was played.
    pub tick: Tick,
    /// In which part of the tick.
    pub phase: Phase,
    /// Whose doing it is.
    pub doer: Doer,
    /// Whether it is a random draw.
    pub is_draw: bool,
    /// Where in the source it is decided, here.
    pub here: Option<Site>,
    /// Where in the source it is decided, there.
    pub there: Option<Site>,
    /// If none is known here, because a state was simply written: the place of the last
    /// thing before that note that the same one did alike. What was written may have been so
    /// before or after it.
    pub last_alike: Option<Site>,
    /// All of it, in a line.
    pub text: String,
}

/// Where the last thing was decided that the doer of a note did before it.
fn last_site_before(journal: &Journal, note: &Note) -> Option<Site> {
    let same = |other: &&Note| other.phase == note.phase && other.doer == note.doer;
    let before = journal.notes.iter().filter(same).take_while(|other| *other != note);
    before.filter_map(|other| other.site.clone()).last()
}

/// What came from outside, in a line that no terminal takes for more than text; what is longer is
/// cut.
pub(super) fn plain(text: &str, chars_max: usize) -> String {
    escaped(text.chars().take(chars_max).collect::<String>())
}

/// A number of things: `1 cell`, `3 cells`.
pub(super) fn count(number: usize, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}

impl BadWrite {
    /// How many are kept.
    pub const MAX: usize = 12;

    /// How two journals of one tick part.
    pub fn of(ours: &Journal, theirs: &Journal) -> Vec<BadWrite> {
        BadWrite::told(ours, ours.differences(theirs))
    }

    /// How two journals of one tick part, of which the second comes from another build, and from
    /// whoever sent it.
    pub fn of_builds(ours: &Journal, theirs: &Journal) -> Vec<BadWrite> {
        let mut writes = BadWrite::told(ours, ours.differences_of_builds(theirs));
        for write in &mut writes {
            write.text = plain(&write.text, TEXT_CHARS_MAX);
            let there = write.there.iter_mut().chain(&mut write.last_alike);
            there.for_each(|site| site.file = plain(&site.file, TEXT_CHARS_MAX).into());
        }
        writes
    }

    fn told(ours: &Journal, differences: Vec<Divergence>) -> Vec<BadWrite> {
        let all = differences.into_iter().take(BadWrite::MAX);
        let write = |divergence: Divergence| {
            let (here, there) = (divergence.here(), divergence.there());
            let last_alike = here.filter(|note| note.site.is_none()).and_then(|note| last_site_before(ours, note));
            let told = last_alike
                .as_ref()
                .map_or(String::new(), |site| format!("; what it did last before, and alike, was at {site}"));
            BadWrite {
                tick: ours.tick,
                phase: divergence.phase(),
                doer: divergence.doer(),
                is_draw: divergence.is_draw(),
                here: here.and_then(|note| note.site.clone()),
                there: there.and_then(|note| note.site.clone()),
                text: format!("{divergence}{told}"),
                last_alike,
            }
        };
        all.map(write).collect()
    }
}

/// The cells that differ at a tick.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Spread {
    /// The tick.
    pub tick: Tick,
    /// The cells, row by row.
    pub cells: Vec<CellId>,
    /// The world around them, as the turns lead to it, if it has cells: what a map is drawn on, and
    /// of no use to programs.
    #[serde(skip)]
    pub sketch: Option<Sketch>,
}

/// Why worlds differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The cause.
    pub cause: Cause,
    /// What explains it as well: it is one of these and the cause.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Cause>,
    /// On whose side it lies: places in [`Report::peers`]. Empty if it cannot be told, or lies in
    /// the game itself.
    pub blamed: Vec<usize>,
    /// What led to the verdict, in order.
    pub reasons: Vec<String>,
}

/// What makes worlds differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Cause {
    /// Other turns entered.
    Input,
    /// They began with another state, seed or configuration.
    StartData,
    /// Another random table.
    Table,
    /// Another program.
    Build,
    /// Another operating system or processor.
    Platform,
    /// The state was changed outside of the step: by a fault of the memory, or by a write that
    /// has no place there.
    StateCorruption,
    /// What goes on is kept in something that no snapshot holds.
    SnapshotField,
    /// The checksum leaves a field out.
    ChecksumField,
    /// What shows the world changes it.
    Presentation,
    /// An entity read or did something farther away than it may.
    ReachExceeded,
    /// A partial world was not given all that it needs.
    HaloMissing,
    /// The same step of the same state comes out in several ways: a clock, an address, a
    /// hash map's order.
    Nondeterminism,
    /// None of these could be shown.
    Unknown,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cause::Input => "input: other turns entered",
            Cause::StartData => "start data: another state, seed or configuration at the start",
            Cause::Table => "table: another random table",
            Cause::Build => "build: another program",
            Cause::Platform => "platform: another operating system or processor",
            Cause::StateCorruption => "state corruption: the state was changed outside of the step",
            Cause::SnapshotField => "snapshot: something that matters is in no snapshot",
            Cause::ChecksumField => "checksum: a field is left out of it",
            Cause::Presentation => "presentation: what shows the world changes it",
            Cause::ReachExceeded => "reach: something was read or done from too far away",
            Cause::HaloMissing => "halo: a partial world was not given all that it needs",
            Cause::Nondeterminism => "nondeterminism: the same step comes out in several ways",
            Cause::Unknown => "unknown",
        })
    }
}

impl Cause {
    /// Whether it lies in the game, so that no peer can be at fault.
    pub(super) fn is_of_the_game(self) -> bool {
        use Cause::{ChecksumField, Nondeterminism, Presentation, ReachExceeded, SnapshotField};
        matches!(self, SnapshotField | ChecksumField | Presentation | ReachExceeded | Nondeterminism)
    }

    /// Whether the odd peer's step itself may do something else, which can only be seen where it
    /// does.
    pub(super) fn may_be_other_rules(self) -> bool {
        use Cause::{Build, Nondeterminism, Platform, StartData, Table, Unknown};
        matches!(self, Build | Platform | StartData | Table | Nondeterminism | Unknown)
    }
}

impl Report {
    /// Whether checksums were compared, and nothing differs.
    pub fn is_in_step(&self) -> bool {
        self.finding.is_none() && self.panic().is_none() && !self.shows_nothing()
    }

    /// What panicked, in a sentence, here or at a recorder alone.
    pub fn panic(&self) -> Option<String> {
        if let Some((tick, panicked)) = &self.panic {
            return Some(format!("{panicked}, in the step of tick {tick}"));
        }
        let at_recorder = |peer: &PeerReport| {
            let reason = peer.ending.panic()?;
            Some(format!("{}: {reason}, in the step of tick {}; it does not here", peer.who, peer.end.0 - 1))
        };
        self.peers.iter().find_map(at_recorder)
    }

    /// Whether there was nothing to compare: no difference, and no checksum, or no cell that two
    /// parts of a world have in common.
    pub fn shows_nothing(&self) -> bool {
        let nothing = self.shared == Some(0) || self.peers.iter().all(|peer| peer.checksums == 0);
        self.finding.is_none() && self.panic().is_none() && nothing
    }

    /// Puts a peer in its place that had no part in the check.
    pub(super) fn insert(&mut self, at: usize, peer: PeerReport) {
        self.peers.insert(at, peer);
        let Some(Finding { odd, between, verdict, odd_world, .. }) = &mut self.finding else { return };
        let worlds = odd_world.iter_mut().map(|world| &mut world.peer);
        let places = odd.iter_mut().chain(&mut verdict.blamed).chain(between.iter_mut().flatten()).chain(worlds);
        places.filter(|place| **place >= at).for_each(|place| *place += 1);
    }

    fn names(&self, peers: &[usize]) -> String {
        peers.iter().map(|&peer| self.peers[peer].who.as_str()).collect::<Vec<_>>().join(", ")
    }

    fn tell(&self, finding: &Finding, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { tick, agreed, verdict, location, bad_writes, spread, inputs, .. } = finding;
        match agreed {
            Some(agreed) => writeln!(f, "\nThe states differ from tick {tick} on; at tick {agreed} they were equal.")?,
            None => writeln!(f, "\nThe states differ from tick {tick} on, and were never equal.")?,
        }
        write!(f, "verdict {}", verdict.cause)?;
        verdict.others.iter().try_for_each(|other| write!(f, "; or {other}"))?;
        writeln!(f)?;
        if !verdict.blamed.is_empty() {
            writeln!(f, "on the side of {}", self.names(&verdict.blamed))?;
        }
        verdict.reasons.iter().try_for_each(|reason| writeln!(f, "  - {reason}"))?;
        if let Some(location) = location {
            let (at, cells) = (location.tick, count(location.cells.len(), "cell"));
            let [here, there] = match finding.between {
                _ if finding.varies => ["one play", "another play of the same"].map(str::to_owned),
                Some(both) => both.map(|peer| self.names(&[peer])),
                None => ["as the turns lead to".to_owned(), self.names(&finding.odd)],
            };
            let late = if at > *tick && !finding.varies { ", the first of which both states are known" } else { "" };
            writeln!(f, "what differs at tick {at}{late}, in {cells} (here: {here}; there: {there}):")?;
            location.spots.iter().take(TOLD_MAX).try_for_each(|spot| writeln!(f, "  {spot}"))?;
            if location.spots_count > TOLD_MAX {
                writeln!(f, "  and {} more", location.spots_count - TOLD_MAX)?;
            }
        }
        if let Some(first) = bad_writes.first() {
            writeln!(f, "what happened otherwise at tick {}, first things first:", first.tick)?;
            bad_writes.iter().take(3).try_for_each(|write| writeln!(f, "  {}", write.text))?;
        }
        if let [first, .., last] = spread.as_slice() {
            let (from, to) = (count(first.cells.len(), "cell"), count(last.cells.len(), "cell"));
            writeln!(f, "how far it gets: {from} at tick {}, {to} at tick {}", first.tick, last.tick)?;
        }
        if !inputs.is_empty() {
            writeln!(f, "what entered just before:")?;
            inputs.iter().try_for_each(|input| writeln!(f, "  {input}"))?;
        }
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for peer in &self.peers {
            let PeerReport { who, build, start, end, ending, covers, noted, unusable, checksums, differs, .. } = peer;
            write!(f, "{who}: ticks {start} to {end}, {checksums} checksums, {build}: ")?;
            match differs {
                None if *checksums == 0 => writeln!(f, "nothing to compare")?,
                None => writeln!(f, "in step")?,
                Some(Unmet { tick, recorded, played }) => {
                    writeln!(f, "differs from tick {tick} on: recorded {recorded}, played {played}")?;
                }
            }
            if !covers.is_empty() {
                writeln!(f, "  it is of a part of the world: {}", extent::tell(covers))?;
            }
            if let Ending::Torn { bytes } = ending {
                writeln!(f, "  the file broke off while it was written: the last {bytes} bytes are left out")?;
            }
            for Unusable { tick, why } in unusable {
                writeln!(
                    f,
                    "  the state that it recorded at tick {tick} does not count: {}",
                    plain(why, TEXT_CHARS_MAX)
                )?;
            }
            if let (Some(Desync { player, tick, .. }), [_]) = (noted, self.peers.as_slice()) {
                writeln!(f, "  it notes that {player} differed at tick {tick}: check both recordings together")?;
            }
        }
        self.two_faced.iter().try_for_each(|told| writeln!(f, "{told}"))?;
        match (&self.finding, self.shared) {
            (Some(finding), _) => self.tell(finding, f),
            (None, _) if let Some(panic) = self.panic() => write!(f, "verdict PANIC: {panic}"),
            (None, Some(0)) => write!(f, "verdict NOT SHOWN: no two recordings have a cell in common"),
            (None, _) if self.shows_nothing() => write!(f, "verdict NOT SHOWN: no checksum could be compared"),
            (None, Some(times)) => {
                write!(f, "verdict in step: {times} times a cell that two recordings have in common")
            }
            (None, None) => write!(f, "verdict in step"),
        }
    }
}

/// The longest text of a journal that came from outside.
const TEXT_CHARS_MAX: usize = 2_000;
/// How many differing parts are told to people.
const TOLD_MAX: usize = 12;
