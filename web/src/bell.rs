//! How the session's carrier wakes the page.
//!
//! A wake must never step the session itself: it comes in the middle of what the browser tells the
//! carrier. It asks the page to do so soon.

use std::cell::RefCell;
use std::sync::Arc;
use std::task::{Wake, Waker};

use js_sys::Function;
use wasm_bindgen::JsValue;

thread_local! {
    /// Wakers may move to other threads, and functions of the page may not.
    static WAKE: RefCell<Option<Function>> = const { RefCell::new(None) };
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
