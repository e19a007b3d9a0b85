//! This peer's evidence of a difference: its recording of the last minutes, and what comes out when it plays that again.
//!
//! It is played in small pieces between two pictures, for the game goes on. Who is out of step has time, and waits for another's evidence
//! first: two recordings together tell the very tick at which worlds parted. All must be done before the session gives up waiting.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use lockstone_net::limits::EVIDENCE_GIVE_TIME;
use lockstone_sim::{Checksum, Simulation, Tick};

use crate::inspect::Inspect;
use crate::recording::{Entry, PackedRerun, Recording, Rerunner};

/// So long another's evidence is waited for.
const WAIT_TIME: Duration = Duration::from_secs(8);
/// So long it is played again at most; evidence goes without what it has not come to by then.
const RERUN_TIME: Duration = Duration::from_millis(1_400);
/// So long at a time, while the game goes on, and when it does not.
const PIECE: Duration = Duration::from_millis(4);
const LONG_PIECE: Duration = Duration::from_millis(20);
/// What a rerun may take of the evidence: one part of so many.
const SHARE: usize = 2;

const _: () = assert!(WAIT_TIME.as_millis() + RERUN_TIME.as_millis() < EVIDENCE_GIVE_TIME.as_millis());

/// Evidence that is wanted.
pub(super) struct Wanted<S: Inspect> {
    /// How long it may be.
    pub bytes_max: usize,
    since: Duration,
    /// How many of the others' recordings were looked at.
    seen: usize,
    state: State<S>,
}

enum State<S: Inspect> {
    /// For what others have recorded.
    Waits,
    Plays {
        rerunner: Box<Rerunner<S>>,
        until: Duration,
    },
    /// There is nothing to play.
    Done,
}

impl<S: Inspect> Wanted<S> {
    pub fn new(bytes_max: usize, now: Duration) -> Self {
        Wanted { bytes_max, since: now, seen: 0, state: State::Waits }
    }

    /// Whether it may still be waited for what others have recorded.
    pub fn waits(&self, now: Duration) -> bool {
        matches!(self.state, State::Waits) && now < self.since + WAIT_TIME
    }

    /// Whether nothing was begun yet.
    pub fn is_new(&self) -> bool {
        matches!(self.state, State::Waits)
    }

    /// Those of the others' recordings that were not looked at yet.
    pub fn news<'o>(&mut self, others: &'o [Vec<u8>]) -> &'o [Vec<u8>] {
        let seen = std::mem::replace(&mut self.seen, others.len());
        others.get(seen..).unwrap_or_default()
    }

    /// Waits no longer.
    pub fn begin(&mut self, rerunner: Option<Rerunner<S>>, now: Duration) {
        self.state = match rerunner {
            Some(rerunner) => State::Plays { rerunner: Box::new(rerunner), until: now + RERUN_TIME },
            None => State::Done,
        };
    }

    /// Plays a piece. Returns whether there is more to play, and time for it.
    pub fn advance(&mut self, now: Duration, game_goes_on: bool) -> bool {
        let (piece, began) = (if game_goes_on { PIECE } else { LONG_PIECE }, Instant::now());
        let State::Plays { rerunner, until } = &mut self.state else { return false };
        while now < *until && rerunner.advance() {
            if began.elapsed() >= piece {
                return true;
            }
        }
        false
    }

    /// What came out.
    pub fn rerun(self) -> Option<PackedRerun> {
        let State::Plays { rerunner, .. } = self.state else { return None };
        rerunner.pack(self.bytes_max / SHARE)
    }
}

/// The first tick at which another's recording has another checksum than one's own, if it can be read and there is one.
pub(super) fn first_difference<S: Simulation>(own: &Recording<S>, other: &[u8]) -> Option<Tick> {
    let (own, other) = (roots(own), roots(&Recording::<S>::read(other).ok()?));
    other.into_iter().find(|(tick, root)| own.get(tick).is_some_and(|own| own != root)).map(|(tick, _)| tick)
}

fn roots<S: Simulation>(recording: &Recording<S>) -> BTreeMap<Tick, Checksum> {
    let (mut tick, mut roots) = (recording.header.start, BTreeMap::new());
    for entry in &recording.entries {
        if let Entry::Checksum(root) = entry {
            roots.insert(tick, *root);
        }
        tick = tick.plus(entry.ticks());
    }
    roots
}
