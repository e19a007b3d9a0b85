//! What a peer finds out once worlds differ: its recording of the last minutes, what comes out when
//! it plays that again, and what the others found. Together they are a bundle.
//!
//! It is played in small pieces, for the game goes on, here or beside it. A peer that is out of
//! step has time, and waits for another's evidence first: two recordings together show the very
//! tick at which worlds parted. All must be done before the session gives up waiting.

use std::time::Duration;

use lockstone_net::limits::EVIDENCE_GIVE_TIME;
use lockstone_sim::PlayerId;

use super::effort::Clock;
use crate::inspect::Inspect;
use crate::recording::{Bundle, PackedRerun, Rerunner};

/// So long another's evidence is waited for.
pub(super) const WAIT_TIME: Duration = Duration::from_secs(8);
/// So long it is played again at most; evidence goes without what it has not come to by then.
const RERUN_TIME: Duration = Duration::from_millis(1_400);
/// So long at a time.
pub(super) const PIECE: Duration = Duration::from_millis(4);
/// What a rerun may take of the evidence: one part of so many.
const SHARE: usize = 2;

const _: () = assert!(WAIT_TIME.as_millis() + RERUN_TIME.as_millis() < EVIDENCE_GIVE_TIME.as_millis());

/// One inquiry, from the call for evidence to the bundle.
pub(super) struct Inquiry<S: Inspect> {
    /// How long this peer's evidence may be.
    pub bytes_max: usize,
    pub bundle: Bundle,
    /// Whether no more of the others' evidence comes.
    pub is_complete: bool,
    pub state: State<S>,
}

pub(super) enum State<S: Inspect> {
    /// For what others have recorded.
    Waits,
    Plays {
        rerunner: Box<Rerunner<S>>,
        until: Duration,
    },
    /// There is nothing to play.
    Ready,
    /// This peer's evidence is given.
    Given,
}

impl<S: Inspect> Inquiry<S> {
    pub fn new(player: PlayerId, bytes_max: usize) -> Self {
        let bundle = Bundle { player, recordings: Vec::new(), missing: Vec::new() };
        Inquiry { bytes_max, bundle, is_complete: false, state: State::Waits }
    }

    /// Waits no longer.
    pub fn begin(&mut self, rerunner: Option<Rerunner<S>>, clock: Clock) {
        self.state = match rerunner {
            Some(rerunner) => State::Plays { rerunner: Box::new(rerunner), until: clock() + RERUN_TIME },
            None => State::Ready,
        };
    }

    /// Plays a piece. Returns whether there is more to play, and time for it.
    pub fn advance(&mut self, clock: Clock) -> bool {
        let State::Plays { rerunner, until } = &mut self.state else { return false };
        let began = clock();
        while clock() < *until && rerunner.advance() {
            if clock() >= began + PIECE {
                return true;
            }
        }
        false
    }

    /// This peer's evidence is given. Returns what came out of playing it again.
    pub fn give(&mut self) -> Option<PackedRerun> {
        let State::Plays { rerunner, .. } = std::mem::replace(&mut self.state, State::Given) else { return None };
        rerunner.pack(self.bytes_max / SHARE)
    }
}
