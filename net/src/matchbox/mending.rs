//! The peers of a room with whom there is no connection, where there should be one. It is offered
//! again: by the end that offered it, and in a party a little later by the other, as one end may
//! take long to find out. If there never was one it is offered less and less often, as there may be
//! no way between the two. If there was one, it comes about as soon as they can reach each other
//! again.

use std::collections::BTreeMap;
use std::task::{Context, Waker};
use std::time::Duration;

use futures::FutureExt;

use crate::link::PeerId;

use super::delay::Delay;

/// Before a connection is offered again, at first.
const AFTER: Duration = Duration::from_millis(500);
/// So often one that never was there is offered as at first. Patience alone does not help where
/// packets are lost: rtc-dtls 0.21.1 forgets its timer if it hears again what it has heard, and so
/// never repeats a client's last flight.
const ALIKE: u32 = 5;
/// From then on all takes twice as long each time, so often at most.
const DOUBLINGS_MAX: u32 = 4;
/// Before one that broke is offered by the end that had answered it.
const ANSWERED_AFTER: Duration = Duration::from_secs(4);
/// Before a newcomer's turn comes that cannot be offered one now.
const TURN_AFTER: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(super) struct Mending(BTreeMap<PeerId, Attempt>);

#[derive(Debug, Default)]
struct Attempt {
    /// Whether there was a connection.
    was_connected: bool,
    /// How often it was tried in vain, if there never was one.
    failed: u32,
    /// When it is due; `None` while it is under way.
    due: Option<Delay>,
    /// Whether it waits since too many newcomers came at once.
    waits: bool,
}

impl Attempt {
    fn patience(&self) -> u32 {
        1 << (self.failed + 1).saturating_sub(ALIKE).min(DOUBLINGS_MAX)
    }
}

impl Mending {
    /// A connection with a peer broke, which this end had offered or not.
    pub fn broke(&mut self, peer: PeerId, offered: bool) {
        let due = Some(Delay::new(if offered { AFTER } else { ANSWERED_AFTER }));
        self.0.insert(peer, Attempt { was_connected: true, due, ..Attempt::default() });
    }

    /// A connection that this end had offered did not come about.
    pub fn failed(&mut self, peer: PeerId) {
        let attempt = self.0.entry(peer).or_default();
        attempt.due = Some(Delay::new(AFTER * attempt.patience()));
        attempt.failed += u32::from(!attempt.was_connected);
    }

    /// A newcomer cannot be offered a connection now.
    pub fn wait(&mut self, peer: PeerId) {
        let attempt = self.0.entry(peer).or_default();
        (attempt.due, attempt.waits) = (Some(Delay::new(TURN_AFTER)), true);
    }

    /// The same for one of a restless address: no other newcomer waits in line behind it.
    pub fn rest(&mut self, peer: PeerId) {
        self.0.entry(peer).or_default().due = Some(Delay::new(TURN_AFTER));
    }

    /// Whether a newcomer waits: others come after it.
    pub fn has_waiting(&self) -> bool {
        self.0.values().any(|attempt| attempt.waits)
    }

    /// Those with whom there is, or may be soon, no connection.
    pub fn peers(&self) -> impl Iterator<Item = &PeerId> {
        self.0.keys()
    }

    /// How much more patience than at first the next handshake with a peer needs.
    pub fn patience(&self, peer: PeerId) -> u32 {
        self.0.get(&peer).map_or(1, Attempt::patience)
    }

    /// A peer answers what was given up: it can be reached, so it is offered a connection now.
    pub fn answered(&mut self, peer: PeerId) {
        let due = self.0.get_mut(&peer).and_then(|attempt| attempt.due.as_mut());
        due.into_iter().for_each(|due| due.reset(Duration::ZERO));
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
            attempt.waits &= !is_due;
            attempt.due.take_if(|_| is_due).is_some()
        };
        self.0.iter_mut().filter_map(|(peer, attempt)| due(attempt).then_some(*peer)).collect()
    }
}
