//! The loop of a program of its own: rounds of a shell, and sleep between them.
//!
//! It must never decide when there is something to do: that the round before it and the link say.
//! A page has another loop, for it may not sleep.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use lockstone_net::session::EndReason;
use lockstone_net::{Link, Session};

use super::{Next, Report, Shell};
use crate::game::Game;

/// A link that wakes nobody is looked at this often.
const LINK_PERIOD: Duration = Duration::from_millis(4);
/// Packets that come within so long of each other are taken together.
const ROUND_PERIOD: Duration = Duration::from_millis(1);
/// Whether it shall stop is looked at this often.
const STOP_PERIOD: Duration = Duration::from_millis(100);

/// Wakes the thread that plays.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl<G: Game, L: Link, T: Session<Sim = G::Sim>> Shell<G, L, T> {
    /// Plays until the session ends, the time is up, the person quits, or `stop` is set. Returns
    /// what became of it.
    pub fn run(&mut self, stop: &AtomicBool) -> (EndReason, Report) {
        let (started, waker) = (Instant::now(), Waker::from(Arc::new(Unpark(thread::current()))));
        let sleep_max = if self.link_mut().wake_with(&waker) { STOP_PERIOD } else { LINK_PERIOD };
        loop {
            let now = started.elapsed();
            if stop.load(Ordering::Relaxed) {
                self.leave(now);
            }
            let Next::At(at) = self.step(now) else { return self.finish() };
            let rest = (now + ROUND_PERIOD).saturating_sub(started.elapsed());
            let due = at.saturating_sub(started.elapsed());
            if due > rest {
                thread::sleep(rest);
            }
            // At once, if something has come since it last did so.
            thread::park_timeout(at.saturating_sub(started.elapsed()).min(sleep_max));
        }
    }
}
