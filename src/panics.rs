//! A game's panics, caught and told in a line: where, and what it says.
//!
//! Whoever catches one must never go on with what was being done: it may be half done. A program
//! that does not unwind, as in a page, catches none: it ends, and its hook tells.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use serde::{Deserialize, Serialize};

/// How the reason begins for which a recording was closed, if that is a panic.
const BEGINNING: &str = "the game panicked";

/// A panic.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Panicked {
    /// Where in the source: file, line and column.
    pub at: String,
    /// What it says.
    pub message: String,
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{BEGINNING} at {}: {}", self.at, self.message)
    }
}

impl Panicked {
    /// Whether a recording was closed for a panic.
    pub(crate) fn is_reason(reason: &str) -> bool {
        reason.starts_with(BEGINNING)
    }
}

thread_local! {
    /// How many callers wait for a panic of this thread.
    static CAUGHT_BY: Cell<u32> = const { Cell::new(0) };
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// What comes of a piece of work, or the panic that ended it, which nobody else is told of.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    if cfg!(not(panic = "unwind")) {
        return Ok(work());
    }
    static LISTENS: Once = Once::new();
    // Only the hook is told where a panic was.
    LISTENS.call_once(|| {
        let tell = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if CAUGHT_BY.get() == 0 {
                return tell(panic);
            }
            PLACE.set(panic.location().map(ToString::to_string).unwrap_or_default());
        }));
    });
    CAUGHT_BY.set(CAUGHT_BY.get() + 1);
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    CAUGHT_BY.set(CAUGHT_BY.get() - 1);
    done.map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let message = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Panicked { at: PLACE.take(), message: message.unwrap_or_else(|| "no message".to_owned()) }
    })
}
