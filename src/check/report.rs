//! What the checker found, for people and for programs.

use std::fmt;

use lockstone_sim::journal::{Divergence, Doer, Journal, Phase, Site};
use lockstone_sim::{CellId, Checksum, PlayerId, Tick};
use serde::Serialize;

use super::inspect::Sketch;
use super::locate::Location;

/// What came out of one or more recordings of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The recordings, in the order in which they were given.
    pub peers: Vec<PeerReport>,
    /// The first tick that was played.
    pub start: Tick,
    /// The tick after the last one that was played.
    pub end: Tick,
    /// What differs, if anything does.
    pub finding: Option<Finding>,
}

/// One recording, checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PeerReport {
    /// Who recorded.
    pub who: String,
    /// The recorder's player.
    pub player: PlayerId,
    /// What it was recorded by.
    pub build: String,
    /// The first tick it knows.
    pub start: Tick,
    /// The tick that would have been next.
    pub end: Tick,
    /// How many of its checksums were compared.
    pub checksums: u32,
    /// The newest tick before a difference at which it was equal.
    pub agreed: Option<Tick>,
    /// The first checksum that was not met.
    pub differs: Option<Unmet>,
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
    /// Why.
    pub verdict: Verdict,
    /// Where, if the odd state could be had: ours is what the turns lead to, theirs is the odd peer's.
    pub location: Option<Location>,
    /// What happened otherwise in the step that led there; nothing if the state was changed outside of any step.
    pub bad_writes: Vec<BadWrite>,
    /// The cells that differ in the ticks after.
    pub spread: Vec<Spread>,
    /// The inputs of the ticks before.
    pub inputs: Vec<String>,
}

/// Something that happens otherwise in a step: the first thing of an entity, an effect, a cell or an input. Those that others follow
/// from come first.
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
    /// All of it, in a line.
    pub text: String,
}

impl BadWrite {
    /// How many are kept.
    pub const MAX: usize = 12;

    /// How two journals of one tick part.
    pub fn of(ours: &Journal, theirs: &Journal) -> Vec<BadWrite> {
        let all = ours.differences(theirs).into_iter().take(BadWrite::MAX);
        let write = |divergence: Divergence| BadWrite {
            tick: ours.tick,
            phase: divergence.phase(),
            doer: divergence.doer(),
            is_draw: divergence.is_draw(),
            here: divergence.here().and_then(|note| note.site.clone()),
            there: divergence.there().and_then(|note| note.site.clone()),
            text: divergence.to_string(),
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
    /// The world around them, as the turns lead to it, if it has cells: what a map is drawn on, and of no use to programs.
    #[serde(skip)]
    pub sketch: Option<Sketch>,
}

/// Why worlds differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The cause.
    pub cause: Cause,
    /// On whose side it lies: places in [`Report::peers`]. Empty if it cannot be told, or lies in the game itself.
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
    /// The state was changed outside of the step: by a fault of the memory, or by a write that has no place there.
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
    /// The same step of the same state comes out in several ways: a clock, an address, a hash map's order.
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

impl Report {
    /// Whether nothing differs.
    pub fn is_in_step(&self) -> bool {
        self.finding.is_none()
    }

    pub(super) fn names(&self, peers: &[usize]) -> String {
        peers.iter().map(|&peer| self.peers[peer].who.as_str()).collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for peer in &self.peers {
            let PeerReport { who, build, start, end, checksums, differs, .. } = peer;
            write!(f, "{who}: ticks {start} to {end}, {checksums} checksums, {build}: ")?;
            match differs {
                None => writeln!(f, "in step")?,
                Some(unmet) => {
                    writeln!(
                        f,
                        "differs from tick {} on: recorded {}, played {}",
                        unmet.tick, unmet.recorded, unmet.played
                    )?;
                }
            }
        }
        match &self.finding {
            None => write!(f, "verdict in step"),
            Some(finding) => self.tell(finding, f),
        }
    }
}

impl Report {
    fn tell(&self, finding: &Finding, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { tick, agreed, verdict, location, bad_writes, spread, inputs, .. } = finding;
        match agreed {
            Some(agreed) => writeln!(f, "\nThe states differ from tick {tick} on; at tick {agreed} they were equal.")?,
            None => writeln!(f, "\nThe states differ from tick {tick} on, and were never equal.")?,
        }
        writeln!(f, "verdict {}", verdict.cause)?;
        if !verdict.blamed.is_empty() {
            writeln!(f, "on the side of {}", self.names(&verdict.blamed))?;
        }
        verdict.reasons.iter().try_for_each(|reason| writeln!(f, "  - {reason}"))?;
        if let Some(location) = location {
            writeln!(f, "what differs at tick {}, in {}:", location.tick, cells(location.cells.len()))?;
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
            let (from, to) = (cells(first.cells.len()), cells(last.cells.len()));
            writeln!(f, "it spreads from {from} at tick {} to {to} at tick {}", first.tick, last.tick)?;
        }
        if !inputs.is_empty() {
            writeln!(f, "what entered just before:")?;
            inputs.iter().try_for_each(|input| writeln!(f, "  {input}"))?;
        }
        Ok(())
    }
}

fn cells(count: usize) -> String {
    if count == 1 { "1 cell".to_owned() } else { format!("{count} cells") }
}

/// How many differing parts are told to people.
const TOLD_MAX: usize = 12;
