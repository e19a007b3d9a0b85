//! The addresses whose peers come and go. Each costs a relay or a party a handshake, and its
//! session what it loads for a player; who was put out is back in a moment. So peers who stay for a
//! moment only, one after the other, have those of their address wait ever longer. So do those
//! whose handshakes are in vain, however long these take.
//!
//! It must never be that those of another address wait for them.

use std::collections::BTreeMap;
use std::task::{Context, Waker};
use std::time::Duration;

use futures::FutureExt;

use super::delay::Delay;
use super::wire::Address;
use crate::limits::{RELAY_PLAYERS_MAX, SHORT_VISITS_MAX, VISIT_TIME, VISITS_TIME};
use crate::link::PeerId;

/// How long an address waits at first; twice as long each time, so often at most.
const WAIT: Duration = Duration::from_secs(1);
const DOUBLINGS_MAX: u32 = 6;

#[derive(Debug)]
pub(super) struct Restless {
    /// Rings when an address need wait no more.
    bell: Waker,
    visits: BTreeMap<PeerId, Visit>,
    addresses: BTreeMap<u64, Visits>,
}

/// A peer that is connected, or to be.
#[derive(Debug)]
struct Visit {
    address: u64,
    /// Since it is connected: runs out once that is no short visit.
    stayed: Option<Delay>,
}

/// The short ones of an address.
#[derive(Debug)]
struct Visits {
    count: u32,
    /// While nobody else may come.
    wait: Option<Delay>,
    forgotten: Delay,
}

impl Restless {
    pub fn new(bell: Waker) -> Restless {
        Restless { bell, visits: BTreeMap::new(), addresses: BTreeMap::new() }
    }

    /// A handshake with a peer begins.
    pub fn comes(&mut self, peer: PeerId, address: Address) {
        if let Some(address) = address {
            self.visits.entry(peer).or_insert(Visit { address, stayed: None });
        }
    }

    /// The handshake was not in vain.
    pub fn is_here(&mut self, peer: PeerId) {
        if let Some(visit) = self.visits.get_mut(&peer) {
            visit.stayed.get_or_insert_with(|| Delay::new(VISIT_TIME));
        }
    }

    /// The connection is over, or there is to be none.
    pub fn went(&mut self, peer: PeerId) {
        let Some(Visit { address, stayed }) = self.visits.remove(&peer) else { return };
        if stayed.is_some_and(|stayed| stayed.now_or_never().is_some()) {
            return;
        }
        if self.addresses.len() >= RELAY_PLAYERS_MAX {
            self.addresses.retain(|_, visits| (&mut visits.forgotten).now_or_never().is_none());
        }
        let new = || Visits { count: 0, wait: None, forgotten: Delay::new(VISITS_TIME) };
        self.addresses.entry(address).or_insert_with(new).add();
    }

    /// It is so no more, through no fault of its own.
    pub fn forget(&mut self, peer: PeerId) {
        self.visits.remove(&peer);
    }

    /// Whether peers of an address are to wait.
    pub fn waits(&mut self, address: Address) -> bool {
        let visits = address.and_then(|address| self.addresses.get_mut(&address));
        visits.is_some_and(|visits| visits.waits(&self.bell))
    }
}

impl Visits {
    fn add(&mut self) {
        if (&mut self.forgotten).now_or_never().is_some() {
            self.count = 0;
        }
        self.forgotten.reset(VISITS_TIME);
        // Those who leave together count once.
        if !self.waits(Waker::noop()) {
            self.count += 1;
            let more = self.count.checked_sub(SHORT_VISITS_MAX + 1);
            self.wait = more.map(|more| Delay::new(WAIT * (1 << more.min(DOUBLINGS_MAX))));
        }
    }

    fn waits(&mut self, bell: &Waker) -> bool {
        let cx = &mut Context::from_waker(bell);
        let _ = self.wait.take_if(|wait| wait.poll_unpin(cx).is_ready());
        self.wait.is_some()
    }
}

const _: () = assert!(WAIT.as_secs() << DOUBLINGS_MAX < VISITS_TIME.as_secs(), "forgotten while it waits");
