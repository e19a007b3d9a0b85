//! The peers of a party's room with whom there is no connection, where there should be one. It is
//! offered again, less and less often: by the end that offered it, and a little later by the other,
//! as one end may take long to find out.

use std::collections::BTreeMap;
use std::task::{Context, Waker};
use std::time::Duration;

use futures::FutureExt;
use futures_timer::Delay;

use crate::link::PeerId;

/// Before a connection is offered again, at first; twice as long each time, up to the greatest.
const AFTER: Duration = Duration::from_secs(1);
/// The same for the end that answered.
const ANSWERED_AFTER: Duration = Duration::from_secs(4);
const AFTER_MAX: Duration = Duration::from_secs(16);

#[derive(Debug, Default)]
pub(super) struct Mending(BTreeMap<PeerId, Attempt>);

#[derive(Debug)]
struct Attempt {
    /// How long to wait after the next one.
    wait: Duration,
    /// When it is due; `None` while it is under way.
    due: Option<Delay>,
}

impl Mending {
    /// The connection with a peer broke, or did not come about, which this end had offered or not.
    pub fn broke(&mut self, peer: PeerId, offered: bool) {
        let wait = if offered { AFTER } else { ANSWERED_AFTER };
        let attempt = self.0.entry(peer).or_insert(Attempt { wait, due: None });
        attempt.due = Some(Delay::new(attempt.wait));
        attempt.wait = (attempt.wait * 2).min(AFTER_MAX);
    }

    /// There is a connection, or no need for one.
    pub fn forget(&mut self, peer: PeerId) {
        self.0.remove(&peer);
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Who is to be offered one now. The bell rings when another is.
    pub fn due(&mut self, bell: &Waker) -> Vec<PeerId> {
        let cx = &mut Context::from_waker(bell);
        let mut due = |attempt: &mut Attempt| {
            let is_due = attempt.due.as_mut().is_some_and(|due| due.poll_unpin(cx).is_ready());
            attempt.due.take_if(|_| is_due).is_some()
        };
        self.0.iter_mut().filter_map(|(peer, attempt)| due(attempt).then_some(*peer)).collect()
    }
}
