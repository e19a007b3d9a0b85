//! What coverage found, for people and for programs.

use std::fmt;

use lockstone_sim::Tick;
use serde::Serialize;

/// Which fields the checksum covers.
#[derive(Clone, Debug, Serialize)]
pub struct CoverageReport {
    /// How many ticks were played.
    pub ticks: u32,
    /// The kinds of things that were met, by name.
    pub kinds: Vec<KindCoverage>,
    /// Kinds that there are, and that were not met. Empty if the kinds are not known.
    pub never_met: Vec<String>,
    /// Fields that were met, and of which nothing could be changed: of them nothing is shown.
    pub unchanged: Vec<Unchanged>,
    /// Fields that `Debug` shows and that no encoding has by that name, as with `serde(skip)`: no
    /// checksum sees them. Only of bodies that tell their
    /// [`Debug`](lockstone_sim::Body::debugged), and as far as those were met.
    pub unseen: Vec<Unchanged>,
    /// Whether anything told its `Debug`: if not, nothing is known of such fields.
    pub knows_unseen: bool,
    /// Fields that can be changed without another checksum.
    pub uncovered: Vec<Uncovered>,
    /// The first tick at which the state, serialised and read again, had another checksum: what is
    /// in the checksum and not in the state, or was changed without the checksum being taken again.
    pub unlike_reread: Option<Tick>,
}

/// One kind of thing.
#[derive(Clone, Debug, Default, Serialize)]
pub struct KindCoverage {
    /// Its name.
    pub kind: String,
    /// How many were there, at most.
    pub most: usize,
    /// How many different fields were seen.
    pub fields: usize,
    /// How many of them could be changed.
    pub changed: usize,
    /// How many bytes were changed.
    pub bytes: usize,
}

/// A field of which nothing could be changed: an option that is always none, a list that
/// is always empty.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Unchanged {
    /// Of what.
    pub kind: String,
    /// Which, of any element: `bag[].power`.
    pub path: String,
}

/// A field that can be changed without another checksum.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Uncovered {
    /// Of what.
    pub kind: String,
    /// Which.
    pub path: String,
    /// When it was first seen.
    pub tick: Tick,
    /// Why the game says that it need not be covered, if it does.
    pub reason: Option<String>,
}

impl CoverageReport {
    /// Whether every field is covered, or listed with a reason. Nothing was shown if nothing
    /// could be changed.
    pub fn passed(&self) -> bool {
        let changed = self.kinds.iter().any(|kind| kind.changed > 0);
        changed && self.unlike_reread.is_none() && self.uncovered.iter().all(|field| field.reason.is_some())
    }
}

impl fmt::Display for Uncovered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} (tick {})", self.kind, self.path, self.tick)?;
        self.reason.iter().try_for_each(|reason| write!(f, ", listed: {reason}"))
    }
}

impl fmt::Display for CoverageReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for KindCoverage { kind, most, fields, changed, bytes } in &self.kinds {
            writeln!(f, "{kind}: {most} at most, {changed} of {fields} fields changed, in {bytes} bytes")?;
        }
        write!(f, "{}", self.told())
    }
}

impl CoverageReport {
    /// All but the kinds that were met.
    pub fn told(&self) -> impl fmt::Display {
        fmt::from_fn(|f| {
            if !self.never_met.is_empty() {
                writeln!(f, "never met in {} ticks: {}", self.ticks, self.never_met.join(", "))?;
            }
            if !self.unchanged.is_empty() {
                let named: Vec<_> =
                    self.unchanged.iter().map(|field| format!("{} {}", field.kind, field.path)).collect();
                writeln!(f, "could not be changed, so nothing is shown of them: {}", named.join(", "))?;
            }
            if !self.unseen.is_empty() {
                let named: Vec<_> = self.unseen.iter().map(|field| format!("{} {}", field.kind, field.path)).collect();
                let why = "serde(skip), or a Serialize of its own";
                writeln!(f, "shown by Debug, and in no encoding by that name ({why}): {}", named.join(", "))?;
            }
            if !self.knows_unseen {
                let how = "no body tells its Debug; `check chaos --only serialise` finds what comes of such a field";
                writeln!(f, "fields in no encoding, as with serde(skip), cannot be seen: {how}")?;
            }
            self.uncovered.iter().try_for_each(|field| writeln!(f, "not in the checksum: {field}"))?;
            if let Some(tick) = self.unlike_reread {
                writeln!(f, "at tick {tick} the state has another checksum once it is serialised and read again")?;
            }
            let fields: usize = self.kinds.iter().map(|kind| kind.changed).sum();
            match self.uncovered.iter().find(|field| field.reason.is_none()) {
                _ if self.passed() => write!(f, "verdict covered: {fields} fields of {} kinds", self.kinds.len()),
                _ if fields == 0 => write!(f, "verdict NOT SHOWN: nothing could be changed"),
                Some(first) => write!(f, "verdict NOT COVERED: {} {}", first.kind, first.path),
                None => write!(f, "verdict NOT COVERED: the checksum is not that of the serialised state"),
            }
        })
    }
}
