//! What is under way in a memory network: when each packet arrives, by the weather and the seed.
//!
//! It must never draw a chance that the weather does not ask for: what a seed gives is what its
//! runs are repeated by.

use core::time::Duration;
use std::collections::BTreeMap;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::link::{Channel, LinkEvent, PeerId};

/// What happens to packets on their way in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weather {
    /// The least time that a packet takes.
    pub delay: Duration,
    /// Up to so much is added, evenly spread.
    pub jitter: Duration,
    /// Of 1,000 packets, how many are lost. On the reliable channel each loss costs a
    /// retransmission instead; if all are lost, what is sent there waits for better weather.
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
    /// By when each arrives and how many were sent before it: what arrives at the same time arrives
    /// in that order.
    under_way: BTreeMap<(Duration, u64), (PeerId, LinkEvent)>,
    sent: u64,
}

/// What one direction remembers of the packets before.
pub(super) struct Line {
    /// When the last reliable packet arrives: the next one does not before.
    pub reliable_until: Duration,
    /// When all that was sent is through the line.
    free: Duration,
}

impl Line {
    pub fn free_at(at: Duration) -> Line {
        Line { reliable_until: at, free: at }
    }
}

impl Transit {
    pub fn new(seed: u64, weather: Weather) -> Transit {
        let rng = ChaCha8Rng::seed_from_u64(seed);
        Transit { weather, rng, now: Duration::ZERO, under_way: BTreeMap::new(), sent: 0 }
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
        self.under_way.first_key_value().map(|((at, _), _)| *at)
    }

    /// The next event that arrives until `now`, and for whom.
    pub fn arrived(&mut self, now: Duration) -> Option<(PeerId, LinkEvent)> {
        self.under_way.first_entry().filter(|next| next.key().0 <= now).map(|next| next.remove())
    }

    pub fn deliver(&mut self, at: Duration, to: PeerId, event: LinkEvent) {
        self.under_way.insert((at, self.sent), (to, event));
        self.sent += 1;
    }

    /// Sends a packet by a line, in its weather.
    pub fn send(
        &mut self,
        (from, to): (PeerId, PeerId),
        channel: Channel,
        bytes: Vec<u8>,
        weather: Weather,
        line: &mut Line,
    ) {
        let mut from_line = self.now;
        if let Some(per_s) = weather.line_bytes_per_s {
            if channel == Channel::Unreliable && line.free > self.now + LINE_QUEUE_MAX {
                return;
            }
            let time = Duration::from_micros(bytes.len() as u64 * 1_000_000 / u64::from(per_s.max(1)));
            line.free = self.now.max(line.free) + time;
            from_line = line.free;
        }
        let event = LinkEvent::Packet { from, channel, bytes };
        match channel {
            Channel::Reliable => {
                let mut at = from_line + self.time(weather);
                while self.chance(weather.loss_permille.min(900)) {
                    at += (weather.delay + weather.jitter) * 2 + Duration::from_millis(50);
                }
                line.reliable_until = at.max(line.reliable_until);
                self.deliver(line.reliable_until, to, event);
            }
            Channel::Unreliable => {
                if self.chance(weather.loss_permille) {
                    return;
                }
                if self.chance(weather.duplicate_permille) {
                    let at = self.arrival(weather, from_line);
                    self.deliver(at, to, event.clone());
                }
                let at = self.arrival(weather, from_line);
                self.deliver(at, to, event);
            }
        }
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
