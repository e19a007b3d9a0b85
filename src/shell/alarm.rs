//! How the thread that plays sleeps: until a time, or until something rings.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Wake, Waker};
use std::time::Duration;

#[derive(Default)]
struct Bell {
    rung: Mutex<bool>,
    ring: Condvar,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        *self.rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.ring.notify_one();
    }
}

/// Wakes one thread.
#[derive(Default)]
pub(super) struct Alarm(Arc<Bell>);

impl Alarm {
    /// What rings it.
    pub fn waker(&self) -> Waker {
        Waker::from(Arc::clone(&self.0))
    }

    /// Sleeps, unless it has rung since it last did.
    pub fn sleep(&self, time: Duration) {
        let rung = self.0.rung.lock().unwrap_or_else(PoisonError::into_inner);
        let slept = self.0.ring.wait_timeout_while(rung, time, |rung| !*rung);
        *slept.unwrap_or_else(PoisonError::into_inner).0 = false;
    }
}
