//! The page's time, and how the session's carrier wakes the page.
//!
//! A wake must never step the session itself: it comes in the middle of what the browser tells the
//! carrier. It asks the page to do so soon.

use std::cell::RefCell;
use std::sync::{Arc, LazyLock};
use std::task::{Wake, Waker};
use std::time::Duration;

use js_sys::Function;
use lockstone::shell::Clocks;
use wasm_bindgen::JsValue;
use web_time::Instant;

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

thread_local! {
    /// Wakers may move to other threads, and functions of the page may not.
    static WAKE: RefCell<Option<Function>> = const { RefCell::new(None) };
}

/// The time since the page was first asked for it.
pub(crate) fn now() -> Duration {
    START.elapsed()
}

/// A browser tells nobody for how long a thread has had a processor: the time that passes stands
/// for it.
pub(crate) fn clocks() -> Clocks {
    Clocks { wall: now, thread: now, process: now }
}

struct Ring;

impl Wake for Ring {
    fn wake(self: Arc<Self>) {
        WAKE.with_borrow(|wake| wake.iter().for_each(|wake| drop(wake.call0(&JsValue::NULL))));
    }
}

/// Calls a function of the page whenever there is something to do.
pub(crate) fn waker(wake: Function) -> Waker {
    WAKE.set(Some(wake));
    Waker::from(Arc::new(Ring))
}
