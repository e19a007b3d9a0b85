//! What is under way in a memory network: when each packet arrives, by the weather and the seed.
//!
//! It must never draw a chance that the weather does not ask for: what a seed gives is what its
//! runs are repeated by.

use core::cmp::{Ordering, Reverse};
use core::time::Duration;
use std::collections::BinaryHeap;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::link::LinkEvent;

/// What happens to packets on their way in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weather {
    /// The least time that a packet takes.
    pub delay: Duration,
    /// Up to so much is added, evenly spread.
    pub jitter: Duration,
    /// Of 1,000 packets, how many are lost. On the reliable channel each loss costs a
    /// retransmission instead.
    pub loss_permille: u16,
    /// Of 1,000 packets, how many arrive twice. Not on the reliable channel.
    pub duplicate_permille: u16,
    /// Of 1,000 packets, how many are held back for another delay and jitter, so that others
    /// overtake them. Not on the reliable channel.
    pub reorder_permille: u16,
    /// What the line carries in a second, in bytes of payload: more waits for its turn, and what
    /// would have to wait for more than a second is lost, but on the reliable channel. `None`:
    /// there is room for all.
    pub line_bytes_per_s: Option<u32>,
}

/// Packets wait for their turn on a line for no longer.
const LINE_QUEUE_MAX: Duration = Duration::from_secs(1);

impl Weather {
    /// Nothing but a delay.
    pub const fn clear(delay: Duration) -> Weather {
        let jitter = Duration::ZERO;
        Weather { delay, jitter, loss_permille: 0, duplicate_permille: 0, reorder_permille: 0, line_bytes_per_s: None }
    }
}

pub(super) struct Transit {
    pub weather: Weather,
    rng: ChaCha8Rng,
    now: Duration,
    under_way: BinaryHeap<UnderWay>,
    sent: u64,
}

/// An event for the peer with the number `to`.
struct UnderWay {
    at: Duration,
    /// How many were sent before: what arrives at the same time arrives in that order.
    sent: u64,
    to: usize,
    event: LinkEvent,
}

impl Transit {
    pub fn new(seed: u64, weather: Weather) -> Transit {
        let rng = ChaCha8Rng::seed_from_u64(seed);
        Transit { weather, rng, now: Duration::ZERO, under_way: BinaryHeap::new(), sent: 0 }
    }

    pub fn random(&mut self) -> u64 {
        self.rng.next_u64()
    }

    /// When news of a connection arrives that is sent now.
    pub fn soon(&self) -> Duration {
        self.now + self.weather.delay
    }

    pub fn pass(&mut self, now: Duration) {
        self.now = self.now.max(now);
    }

    pub fn next_arrival(&self) -> Option<Duration> {
        self.under_way.peek().map(|next| next.at)
    }

    /// The next event that arrives until `now`, and for whom.
    pub fn arrived(&mut self, now: Duration) -> Option<(usize, LinkEvent)> {
        self.under_way.peek().filter(|next| next.at <= now)?;
        self.under_way.pop().map(|next| (next.to, next.event))
    }

    pub fn deliver(&mut self, at: Duration, to: usize, event: LinkEvent) {
        self.under_way.push(UnderWay { at, sent: self.sent, to, event });
        self.sent += 1;
    }

    /// When a packet of so many bytes is through the line. `free`: when those before it are.
    pub fn through(&self, weather: Weather, bytes: usize, free: &mut Duration) -> Duration {
        let Some(per_s) = weather.line_bytes_per_s else { return self.now };
        let time = Duration::from_micros(bytes as u64 * 1_000_000 / u64::from(per_s.max(1)));
        *free = self.now.max(*free) + time;
        *free
    }

    /// Whether the line has no more room, now that those before are through at `free`.
    pub fn is_full(&self, weather: Weather, free: Duration) -> bool {
        weather.line_bytes_per_s.is_some() && free > self.now + LINE_QUEUE_MAX
    }

    /// `from`: when it is through the line. `until`: when the last reliable packet of this
    /// direction arrives.
    pub fn send_reliably(
        &mut self,
        to: usize,
        weather: Weather,
        event: LinkEvent,
        from: Duration,
        until: &mut Duration,
    ) {
        let mut at = from + self.time(weather);
        while self.chance(weather.loss_permille.min(900)) {
            at += (weather.delay + weather.jitter) * 2 + Duration::from_millis(50);
        }
        *until = at.max(*until);
        self.deliver(*until, to, event);
    }

    /// `from`: when it is through the line.
    pub fn send_unreliably(&mut self, to: usize, weather: Weather, event: LinkEvent, from: Duration) {
        if self.chance(weather.loss_permille) {
            return;
        }
        if self.chance(weather.duplicate_permille) {
            let at = self.arrival(weather, from);
            self.deliver(at, to, event.clone());
        }
        let at = self.arrival(weather, from);
        self.deliver(at, to, event);
    }

    fn arrival(&mut self, weather: Weather, from: Duration) -> Duration {
        let mut at = from + self.time(weather);
        if self.chance(weather.reorder_permille) {
            at += self.time(weather);
        }
        at
    }

    fn chance(&mut self, permille: u16) -> bool {
        permille > 0 && self.rng.next_u32() % 1_000 < u32::from(permille)
    }

    fn time(&mut self, weather: Weather) -> Duration {
        let jitter = u64::try_from(weather.jitter.as_micros()).unwrap_or(u64::MAX - 1);
        weather.delay + Duration::from_micros(self.rng.next_u64() % (jitter + 1))
    }
}

/// The greatest is what arrives first: a heap gives its greatest.
impl Ord for UnderWay {
    fn cmp(&self, other: &Self) -> Ordering {
        Reverse((self.at, self.sent)).cmp(&Reverse((other.at, other.sent)))
    }
}

impl PartialOrd for UnderWay {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for UnderWay {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for UnderWay {}
