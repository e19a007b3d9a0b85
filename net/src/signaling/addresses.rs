//! What one address may take of the server, so that others get in: how many connections, and how
//! many wrong guesses of rooms, keys and tokens.
//!
//! An address of IPv6 is a network of 64 bits: whoever has one of its addresses has them all.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The most connections of an address.
pub const ADDRESS_CONNECTIONS_MAX: usize = 512;

/// The most connections of all: some that have not entered beside those that may.
const CONNECTIONS_MAX: usize = super::rooms::SERVER_PEERS_MAX + 1_024;

/// So many wrong guesses cost an address nothing; later ones wait.
const GUESSES_FREE: f64 = 64.0;
/// So many are forgotten in a second.
const GUESSES_PER_S: f64 = 8.0;
/// Who would have to wait for longer is refused.
const WAIT_MAX: Duration = Duration::from_secs(4);

/// So many addresses are remembered that have no connection, before those are sought that need not
/// be.
const REMEMBERED_MAX: usize = 16_384;

/// All addresses that have a connection, or guessed wrongly of late.
#[derive(Debug, Default)]
pub(super) struct Addresses(Mutex<All>);

#[derive(Debug, Default)]
struct All {
    by: HashMap<IpAddr, Taken>,
    connections: usize,
}

#[derive(Debug)]
struct Taken {
    connections: usize,
    /// Wrong guesses, and attempts that may turn out to be; as of then.
    guesses: f64,
    at: Instant,
}

/// A connection, until this is dropped.
#[derive(Debug)]
pub(super) struct Guest {
    addresses: Arc<Addresses>,
    addr: IpAddr,
}

impl Addresses {
    /// There is none for an address, or a server, that has too many.
    pub fn connect(self: &Arc<Self>, addr: IpAddr) -> Option<Guest> {
        let (addr, now) = (network(addr), Instant::now());
        let all = &mut *self.lock();
        if all.by.len() >= REMEMBERED_MAX + all.connections {
            all.by.retain(|_, taken| taken.connections > 0 || taken.guesses(now) > 0.0);
        }
        let taken = all.by.entry(addr).or_insert(Taken { connections: 0, guesses: 0.0, at: now });
        if taken.connections >= ADDRESS_CONNECTIONS_MAX || all.connections >= CONNECTIONS_MAX {
            return None;
        }
        taken.connections += 1;
        all.connections += 1;
        Some(Guest { addresses: Arc::clone(self), addr })
    }

    /// How many connections there are.
    pub fn connections(&self) -> usize {
        self.lock().connections
    }

    fn lock(&self) -> MutexGuard<'_, All> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    fn guesses(&self, now: Instant) -> f64 {
        (self.guesses - GUESSES_PER_S * now.saturating_duration_since(self.at).as_secs_f64()).max(0.0)
    }
}

impl Guest {
    /// It tries to enter: how long it has to wait, if it may try at all. It counts as a wrong guess
    /// until it [was none](Guest::was_no_guess).
    pub fn tries(&self) -> Option<Duration> {
        let now = Instant::now();
        let all = &mut *self.addresses.lock();
        let taken = all.by.get_mut(&self.addr)?;
        let guesses = taken.guesses(now) + 1.0;
        let wait = Duration::from_secs_f64((guesses - GUESSES_FREE).max(0.0) / GUESSES_PER_S);
        if wait > WAIT_MAX {
            return None;
        }
        (taken.guesses, taken.at) = (guesses, now);
        Some(wait)
    }

    pub fn was_no_guess(&self) {
        if let Some(taken) = self.addresses.lock().by.get_mut(&self.addr) {
            taken.guesses = (taken.guesses - 1.0).max(0.0);
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let all = &mut *self.addresses.lock();
        all.connections -= 1;
        if let Some(taken) = all.by.get_mut(&self.addr) {
            taken.connections -= 1;
            if taken.connections == 0 && taken.guesses(Instant::now()) == 0.0 {
                all.by.remove(&self.addr);
            }
        }
    }
}

fn network(addr: IpAddr) -> IpAddr {
    match addr.to_canonical() {
        IpAddr::V6(addr) => Ipv6Addr::from_bits(addr.to_bits() >> 64 << 64).into(),
        addr => addr,
    }
}
