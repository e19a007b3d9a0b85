//! Where two journals part.
//!
//! Notes are brought together by phase and doer, then compared in order. Where two such rows part,
//! whoever made the note that stands there is looked for further on in the other row: so an added
//! draw is told from one dropped, and from two that changed places.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

use super::note::{Doer, Event, Note, Phase, Site};
use super::sites::Sites;

/// A difference of two journals of the same tick: this one ("here") and the other ("there").
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Divergence {
    /// Something happened here alone: a draw more, an effect more, a thinker that is not there.
    Added {
        /// What happened here.
        here: Note,
        /// What stands in its place there; for a draw, the one that takes the same bits.
        there: Option<Note>,
    },
    /// Something happened there alone.
    Dropped {
        /// What stands in its place here; for a draw, the one that takes the same bits.
        here: Option<Note>,
        /// What happened there.
        there: Note,
    },
    /// The same place of the source, or the engine at the same step, with another value.
    Changed {
        /// What happened here.
        here: Note,
        /// What happened there.
        there: Note,
    },
    /// The same position is taken from another place of the source. For a draw: the same bits went
    /// to another consumer.
    Taken {
        /// Who took it here.
        here: Note,
        /// Who took it there.
        there: Note,
    },
    /// Two happened in another order, so that each draw went to the other's consumer.
    Swapped(Box<Swap>),
}

/// Two notes that changed places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swap {
    /// The first and the second here.
    pub here: [Note; 2],
    /// The first and the second there: made by who made the second and the first here.
    pub there: [Note; 2],
}

impl Divergence {
    /// What happened here, where the journals part. `None` if something is missing here, with
    /// nothing in its place.
    pub fn here(&self) -> Option<&Note> {
        match self {
            Divergence::Added { here, .. } | Divergence::Changed { here, .. } | Divergence::Taken { here, .. } => {
                Some(here)
            }
            Divergence::Dropped { here, .. } => here.as_ref(),
            Divergence::Swapped(swap) => Some(&swap.here[0]),
        }
    }

    /// What happened there, where the journals part. `None` if something is missing there, with
    /// nothing in its place.
    pub fn there(&self) -> Option<&Note> {
        match self {
            Divergence::Dropped { there, .. } | Divergence::Changed { there, .. } | Divergence::Taken { there, .. } => {
                Some(there)
            }
            Divergence::Added { there, .. } => there.as_ref(),
            Divergence::Swapped(swap) => Some(&swap.there[0]),
        }
    }

    /// In which part of the tick the journals part.
    pub fn phase(&self) -> Phase {
        self.any().phase
    }

    /// Whose doing differs.
    pub fn doer(&self) -> Doer {
        self.any().doer
    }

    /// Whether a random draw differs.
    pub fn is_draw(&self) -> bool {
        match self {
            Divergence::Added { here: note, .. } | Divergence::Dropped { there: note, .. } => note.drawn().is_some(),
            _ => [self.here(), self.there()].into_iter().flatten().all(|note| note.drawn().is_some()),
        }
    }

    fn any(&self) -> &Note {
        match self {
            Divergence::Added { here, .. } | Divergence::Changed { here, .. } | Divergence::Taken { here, .. } => here,
            Divergence::Dropped { there, .. } => there,
            Divergence::Swapped(swap) => &swap.here[0],
        }
    }
}

/// What is compared with what. What was so when the tick began comes first: all that is thought
/// may follow from it.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    phase: Phase,
    thought: bool,
    doer: Doer,
}

/// A note in its row, with the place of the source here that it corresponds to.
#[derive(Clone, Copy)]
struct Placed<'n> {
    note: &'n Note,
    site: Option<&'n Site>,
}

impl Placed<'_> {
    fn same(self, other: Self) -> bool {
        self.note.event == other.note.event && self.site == other.site
    }

    fn same_consumer(self, other: Self) -> bool {
        self.note.same_kind(other.note) && self.site == other.site
    }
}

/// The notes of either side, row by row.
fn rows<'n>(here: &'n [Note], there: &'n [Note]) -> impl Iterator<Item = [Vec<&'n Note>; 2]> + use<'n> {
    let mut rows: BTreeMap<Key, [Vec<&Note>; 2]> = BTreeMap::new();
    for (side, notes) in [here, there].into_iter().enumerate() {
        for note in notes {
            let thought = !matches!(note.event, Event::Thinks { .. });
            let key = Key { phase: note.phase, thought, doer: note.doer };
            rows.entry(key).or_default()[side].push(note);
        }
    }
    rows.into_values()
}

/// The first difference of each row of notes, in order. Both are of one build.
pub(super) fn differences<'n>(here: &'n [Note], there: &'n [Note]) -> impl Iterator<Item = Divergence> + use<'n> {
    let place = |note: &'n Note| Placed { note, site: note.site.as_ref() };
    rows(here, there).filter_map(move |[here, there]| parting(&placed(&here, place), &placed(&there, place)))
}

/// The same of two builds.
pub(super) fn differences_of_builds(here: &[Note], there: &[Note]) -> Vec<Divergence> {
    let sites = Sites::learnt(rows(here, there), there);
    let ours = |note| Placed { note, site: note.site.as_ref() };
    let theirs = |note| Placed { note, site: note.site.as_ref().map(|site| sites.here(site)) };
    rows(here, there).filter_map(|[here, there]| parting(&placed(&here, ours), &placed(&there, theirs))).collect()
}

fn placed<'n>(row: &[&'n Note], place: impl Fn(&'n Note) -> Placed<'n>) -> Vec<Placed<'n>> {
    row.iter().map(|&note| place(note)).collect()
}

/// Where two rows of notes part.
fn parting(here: &[Placed<'_>], there: &[Placed<'_>]) -> Option<Divergence> {
    let equal = here.iter().zip(there).take_while(|(a, b)| a.same(**b)).count();
    let (here, there) = (&here[equal..], &there[equal..]);
    let (a, b) = match (here.first(), there.first()) {
        (None, None) => return None,
        (Some(a), None) => return Some(added(a.note, there)),
        (None, Some(b)) => return Some(dropped(here, b.note)),
        (Some(&a), Some(&b)) => (a, b),
    };
    if a.same_consumer(b) {
        return Some(Divergence::Changed { here: a.note.clone(), there: b.note.clone() });
    }
    let (more_here, more_there) = (count(a, here) > count(a, there), count(b, there) > count(b, here));
    Some(match (find(b, here), find(a, there)) {
        (None, None) => Divergence::Taken { here: a.note.clone(), there: b.note.clone() },
        (Some(second_here), Some(second_there)) if !more_here && !more_there => {
            let [here, there] = [[a.note, second_here], [b.note, second_there]].map(|pair| pair.map(Note::clone));
            Divergence::Swapped(Box::new(Swap { here, there }))
        }
        (Some(_), None) => added(a.note, there),
        (Some(_), Some(_)) if more_here => added(a.note, there),
        (_, Some(_)) => dropped(here, b.note),
    })
}

fn added(here: &Note, there: &[Placed<'_>]) -> Divergence {
    Divergence::Added { here: here.clone(), there: in_place_of(here, there) }
}

fn dropped(here: &[Placed<'_>], there: &Note) -> Divergence {
    Divergence::Dropped { here: in_place_of(there, here), there: there.clone() }
}

/// The note that has the place of one that is missing in a row.
fn in_place_of(note: &Note, row: &[Placed<'_>]) -> Option<Note> {
    let next = match note.drawn() {
        Some(drawn) => row.iter().find(|other| other.note.drawn() == Some(drawn)),
        None => row.first(),
    };
    next.map(|next| next.note.clone())
}

/// The first note by the same consumer.
fn find<'n>(wanted: Placed<'_>, row: &[Placed<'n>]) -> Option<&'n Note> {
    row.iter().find(|other| other.same_consumer(wanted)).map(|found| found.note)
}

fn count(wanted: Placed<'_>, row: &[Placed<'_>]) -> usize {
    row.iter().filter(|other| other.same_consumer(wanted)).count()
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.phase())?;
        match self {
            Divergence::Added { here, there: Some(there) } => write!(f, "only here {here}; in its place there {there}"),
            Divergence::Added { here, there: None } => write!(f, "only here {here}"),
            Divergence::Dropped { here: Some(here), there } => {
                write!(f, "only there {there}; in its place here {here}")
            }
            Divergence::Dropped { here: None, there } => write!(f, "only there {there}"),
            Divergence::Changed { here, there } => write!(f, "here {here}; there {there}"),
            Divergence::Taken { here, there } => write!(f, "taken by another: here {here}; there {there}"),
            Divergence::Swapped(swap) => {
                let Swap { here: [first, second], .. } = &**swap;
                write!(f, "two changed places: here {first}, then {second}; there the other way round")
            }
        }
    }
}
