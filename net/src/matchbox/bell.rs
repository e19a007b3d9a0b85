//! Who has something to take, and how the link's driver hears of it.
//!
//! matchbox's loops fill queues on a thread of their own. Each queue wakes a bell: that of its
//! pair, or that of signaling. So [`poll`](crate::Link::poll) looks only where a bell has rung,
//! however many pairs there are.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Wake, Waker};

use crate::link::PeerId;

/// A link's bells. All ring here.
#[derive(Debug)]
pub(super) struct Bells(Arc<Mutex<Rung>>);

#[derive(Debug)]
struct Rung {
    /// Signaling is `None`.
    by: BTreeSet<Option<PeerId>>,
    driver: Waker,
}

struct Bell {
    whose: Option<PeerId>,
    rung: Arc<Mutex<Rung>>,
}

impl Default for Bells {
    fn default() -> Self {
        Bells(Arc::new(Mutex::new(Rung { by: BTreeSet::new(), driver: Waker::noop().clone() })))
    }
}

impl Bells {
    /// The bell of a pair, or of signaling. It has rung: what is there already is to be looked at.
    pub(super) fn hang(&self, whose: Option<PeerId>) -> Waker {
        let bell = Waker::from(Arc::new(Bell { whose, rung: Arc::clone(&self.0) }));
        bell.wake_by_ref();
        bell
    }

    /// Whose bells have rung since this was last asked.
    pub(super) fn take(&self) -> BTreeSet<Option<PeerId>> {
        std::mem::take(&mut lock(&self.0).by)
    }

    pub(super) fn wake(&self, driver: &Waker) {
        lock(&self.0).driver.clone_from(driver);
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let driver = {
            let mut rung = lock(&self.rung);
            rung.by.insert(self.whose).then(|| rung.driver.clone())
        };
        // Without the lock: a driver may do anything.
        driver.iter().for_each(Waker::wake_by_ref);
    }
}

fn lock(rung: &Mutex<Rung>) -> MutexGuard<'_, Rung> {
    rung.lock().unwrap_or_else(PoisonError::into_inner)
}
