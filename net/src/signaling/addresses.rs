//! What one address may take of the server, so that others get in: how many connections, how much
//! that waits for it, how many wrong guesses of rooms, keys and tokens, how many visits (who enters
//! and is gone at once), and how much is read of it.
//!
//! An address of IPv6 is a network of 64 bits: whoever has one of its addresses has them all. Who
//! comes through a trusted proxy has the address that the proxy names. It must never be that anyone
//! else can name one.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, HeaderName};

use super::count::Count;
use super::figures::Figures;
use super::rooms::Waiting;
use crate::limits::signaling::{
    ADDRESS_CONNECTIONS_MAX, ADDRESSES_REMEMBERED_MAX, CONNECTION_READS, GUESSES, READ_BYTES_EACH, READS, VISITS,
    WAIT_MAX,
};

/// In which a proxy names who speaks through it, after whoever that one said to speak for.
const FORWARDED: HeaderName = HeaderName::from_static("x-forwarded-for");

/// All addresses that have a connection, or guessed wrongly of late.
#[derive(Debug)]
pub(super) struct Addresses {
    all: Mutex<All>,
    connections_max: usize,
    /// What waits for all.
    waiting: Waiting,
    /// Those whose word on addresses counts.
    proxies: Vec<IpAddr>,
}

#[derive(Debug, Default)]
struct All {
    by: HashMap<IpAddr, Taken>,
    connections: usize,
}

#[derive(Debug)]
struct Taken {
    connections: usize,
    waiting: Waiting,
    guesses: Count,
    visits: Count,
    reads: Count,
}

/// A connection.
#[derive(Debug)]
pub(super) struct Connection {
    counted: Arc<Counted>,
    /// Where it comes from.
    addr: IpAddr,
    /// Who that is, unless it is a proxy.
    guest: Option<Arc<Guest>>,
}

/// That a connection counts, until this is dropped.
#[derive(Debug)]
struct Counted(Arc<Addresses>);

/// Who asks by a connection. It counts for its address until this is dropped.
#[derive(Debug)]
pub(super) struct Guest {
    connection: Arc<Counted>,
    addr: IpAddr,
    waiting: Waiting,
}

impl Addresses {
    /// With so many connections at most.
    pub fn behind(proxies: impl IntoIterator<Item = IpAddr>, connections_max: usize) -> Addresses {
        let proxies = proxies.into_iter().map(|addr| addr.to_canonical()).collect();
        Addresses { all: Mutex::default(), connections_max, waiting: Waiting::default(), proxies }
    }

    /// There is none for an address, or a server, that has too many.
    pub fn connect(self: &Arc<Self>, addr: IpAddr) -> Option<Connection> {
        let counted = Arc::new(self.count()?);
        let guest = if self.is_proxy(addr) { None } else { Some(Arc::new(Guest::of(&counted, addr)?)) };
        Some(Connection { counted, addr, guest })
    }

    fn count(self: &Arc<Self>) -> Option<Counted> {
        let all = &mut *self.lock();
        (all.connections < self.connections_max).then(|| all.connections += 1)?;
        Some(Counted(Arc::clone(self)))
    }

    /// So much more is read of an address: how long nothing more is to be.
    fn read(&self, addr: IpAddr, messages: f64) -> Duration {
        let all = &mut *self.lock();
        let Some(taken) = all.by.get_mut(&addr) else { return Duration::ZERO };
        taken.reads = taken.reads.at(Instant::now(), &READS).more(messages).at_most(WAIT_MAX, &READS);
        taken.reads.wait(&READS)
    }

    fn is_proxy(&self, addr: IpAddr) -> bool {
        self.proxies.contains(&addr.to_canonical())
    }

    /// How many connections there are, how many there may be, and how many bytes wait for all.
    pub fn figures(&self) -> Figures {
        let connections = self.lock().connections;
        let (connections_max, waiting_bytes) = (self.connections_max, self.waiting.all());
        Figures { connections, connections_max, waiting_bytes, ..Figures::default() }
    }

    fn lock(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// How long it is to wait before anything is read of it. Who is behind a proxy is known later.
    pub fn waits(&self) -> Duration {
        self.guest.as_ref().map_or(Duration::ZERO, |guest| guest.asks())
    }

    /// Who asks by a request: whom a proxy names last that is no proxy itself. There is nobody for
    /// an address that has too many.
    pub fn guest(&self, headers: &HeaderMap) -> Option<Arc<Guest>> {
        if let Some(guest) = &self.guest {
            return Some(Arc::clone(guest));
        }
        let lists = headers.get_all(FORWARDED).into_iter().filter_map(|list| list.to_str().ok());
        let named: Vec<&str> = lists.flat_map(|list| list.split(',')).map(str::trim).collect();
        // What stands before a word that is no address may have been said by anyone.
        let mut addresses = named.iter().rev().map_while(|name| name.parse().ok());
        let addr = addresses.find(|addr| !self.counted.0.is_proxy(*addr)).unwrap_or(self.addr);
        Guest::of(&self.counted, addr).map(Arc::new)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.lock().connections -= 1;
    }
}

impl Taken {
    /// Whether it must be remembered.
    fn counts(&self, now: Instant) -> bool {
        let left = [self.guesses.at(now, &GUESSES), self.visits.at(now, &VISITS), self.reads.at(now, &READS)];
        self.connections > 0 || !left.iter().all(|count| count.is_none())
    }
}

impl Guest {
    fn of(connection: &Arc<Counted>, addr: IpAddr) -> Option<Guest> {
        let (addr, now) = (network(addr), Instant::now());
        let all = &mut *connection.0.lock();
        if all.by.len() >= ADDRESSES_REMEMBERED_MAX + all.connections {
            all.by.retain(|_, taken| taken.counts(now));
        }
        let none = Count::none(now);
        let waiting = &connection.0.waiting;
        let new = || Taken { connections: 0, waiting: waiting.elsewhere(), guesses: none, visits: none, reads: none };
        let taken = all.by.entry(addr).or_insert_with(new);
        // The new one is counted already.
        let left = connection.0.connections_max + 1 - all.connections;
        if taken.connections >= left.min(ADDRESS_CONNECTIONS_MAX) {
            return None;
        }
        taken.connections += 1;
        Some(Guest { connection: Arc::clone(connection), addr, waiting: taken.waiting.clone() })
    }

    /// Where it comes from, and where what waits for it counts.
    pub fn origin(&self) -> (IpAddr, Waiting) {
        (self.addr, self.waiting.clone())
    }

    /// It connects, or asks for something: how long that is to wait.
    pub fn asks(&self) -> Duration {
        self.connection.0.read(self.addr, CONNECTION_READS.into())
    }

    /// It has said so many bytes: how long it is to wait before more is read of it.
    pub fn says(&self, bytes: usize) -> Duration {
        self.connection.0.read(self.addr, 1.0 + bytes as f64 / READ_BYTES_EACH as f64)
    }

    /// It tries to enter: how long it has to wait, if it may try at all. It counts as a wrong guess
    /// until it [was none](Guest::was_no_guess), and as a visit until it [stays](Guest::stays).
    pub fn tries(&self) -> Option<Duration> {
        let now = Instant::now();
        let all = &mut *self.connection.0.lock();
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
        if let Some(taken) = self.connection.0.lock().by.get_mut(&self.addr) {
            taken.guesses = taken.guesses.one_less();
        }
    }

    pub fn stays(&self) {
        if let Some(taken) = self.connection.0.lock().by.get_mut(&self.addr) {
            taken.visits = taken.visits.one_less();
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let all = &mut *self.connection.0.lock();
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
