//! What one address may take of the server, so that others get in: how many connections, how many
//! wrong guesses of rooms, keys and tokens, and how many visits: who enters and is gone at once.
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

/// Wrong guesses, and attempts that may turn out to be.
const GUESSES: Pace = Pace { free: 64.0, forgotten_per_s: 8.0 };
/// Visits, and entries that may turn out to be. All whom an address may have inside can come at
/// once.
const VISITS: Pace = Pace { free: ADDRESS_CONNECTIONS_MAX as f64, forgotten_per_s: 4.0 };
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
    guesses: Count,
    visits: Count,
}

/// How many of something cost an address nothing, and how many of them are forgotten in a second.
/// More wait.
struct Pace {
    free: f64,
    forgotten_per_s: f64,
}

/// How many there were; as of then.
#[derive(Clone, Copy, Debug)]
struct Count {
    count: f64,
    at: Instant,
}

impl Count {
    /// Of which all that were long ago are forgotten.
    fn at(self, now: Instant, pace: &Pace) -> Count {
        let forgotten = pace.forgotten_per_s * now.saturating_duration_since(self.at).as_secs_f64();
        Count { count: (self.count - forgotten).max(0.0), at: now }
    }

    fn one_more(self) -> Count {
        Count { count: self.count + 1.0, ..self }
    }

    fn one_less(self) -> Count {
        Count { count: (self.count - 1.0).max(0.0), ..self }
    }

    /// How long the newest of them waits.
    fn wait(self, pace: &Pace) -> Duration {
        Duration::from_secs_f64((self.count - pace.free).max(0.0) / pace.forgotten_per_s)
    }
}

/// A connection, until this is dropped.
#[derive(Debug)]
pub(super) struct Guest {
    addresses: Arc<Addresses>,
    pub(super) addr: IpAddr,
}

impl Addresses {
    /// There is none for an address, or a server, that has too many.
    pub fn connect(self: &Arc<Self>, addr: IpAddr) -> Option<Guest> {
        let (addr, now) = (network(addr), Instant::now());
        let all = &mut *self.lock();
        if all.by.len() >= REMEMBERED_MAX + all.connections {
            all.by.retain(|_, taken| taken.counts(now));
        }
        let none = Count { count: 0.0, at: now };
        let taken = all.by.entry(addr).or_insert(Taken { connections: 0, guesses: none, visits: none });
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
    /// Whether it must be remembered.
    fn counts(&self, now: Instant) -> bool {
        let left = [self.guesses.at(now, &GUESSES), self.visits.at(now, &VISITS)];
        self.connections > 0 || left.iter().any(|count| count.count > 0.0)
    }
}

impl Guest {
    /// It tries to enter: how long it has to wait, if it may try at all. It counts as a wrong guess
    /// until it [was none](Guest::was_no_guess), and as a visit until it [stays](Guest::stays).
    pub fn tries(&self) -> Option<Duration> {
        let now = Instant::now();
        let all = &mut *self.addresses.lock();
        let taken = all.by.get_mut(&self.addr)?;
        let guesses = taken.guesses.at(now, &GUESSES).one_more();
        let visits = taken.visits.at(now, &VISITS).one_more();
        let wait = guesses.wait(&GUESSES).max(visits.wait(&VISITS));
        if wait > WAIT_MAX {
            return None;
        }
        (taken.guesses, taken.visits) = (guesses, visits);
        Some(wait)
    }

    pub fn was_no_guess(&self) {
        if let Some(taken) = self.addresses.lock().by.get_mut(&self.addr) {
            taken.guesses = taken.guesses.one_less();
        }
    }

    pub fn stays(&self) {
        if let Some(taken) = self.addresses.lock().by.get_mut(&self.addr) {
            taken.visits = taken.visits.one_less();
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let all = &mut *self.addresses.lock();
        all.connections -= 1;
        if let Some(taken) = all.by.get_mut(&self.addr) {
            taken.connections -= 1;
            if !taken.counts(Instant::now()) {
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
