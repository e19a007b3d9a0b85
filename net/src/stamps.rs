//! Numbers on packets: round-trip time by echo, packets that are lost, and packets that come twice.
//!
//! Round trips and their variance are smoothed as TCP does it (RFC 6298, section 2). What is lost
//! is what is missing among the numbers, as in RTP (RFC 3550, appendix A.3). Time is an argument.

use core::time::Duration;

use crate::session::{Loss, RoundTrip};
use crate::wire::{Echo, Stamp};

/// Sent packets whose time is remembered.
const SENT_KEPT: usize = 64;
/// How far back a packet that comes twice is recognised.
const SEEN_BITS: u32 = 128;
/// So many packets are missing at most between two that come: a number farther ahead is no count of
/// what was sent (RFC 3550, appendix A.1).
const DROPOUT_MAX: u32 = 3_000;
/// A round trip that a peer's standing still made seem longer must not keep others
/// waiting afterwards.
const TIMEOUT_MAX: Duration = Duration::from_secs(1);
/// Assumed before the first measurement.
const RTT_INITIAL: Duration = Duration::from_millis(200);

/// The packet had come before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeated;

/// One side of a numbered, echoed stream of packets.
#[derive(Debug)]
pub struct Stamps {
    next: u32,
    /// Apart from what every packet needs: a relay goes through one of these for each of its
    /// replicas, tick by tick.
    sent: Box<[Option<(u32, Duration)>; SENT_KEPT]>,
    /// The newest number that came, and a bit for it and each one before.
    newest: u32,
    seen: u128,
    /// How many packets should have come, and how many have.
    expected: u64,
    received: u64,
    echo: Option<(u32, Duration)>,
    round_trip: Option<RoundTrip>,
}

impl Default for Stamps {
    fn default() -> Self {
        let sent = Box::new([None; SENT_KEPT]);
        Stamps { next: 0, sent, newest: 0, seen: 0, expected: 0, received: 0, echo: None, round_trip: None }
    }
}

impl Stamps {
    /// The stamp of the next packet.
    pub fn stamp(&mut self, now: Duration) -> Stamp {
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        self.sent[number as usize % SENT_KEPT] = Some((number, now));
        let echo = self.echo.take().and_then(|(number, came)| {
            let held_ms = u16::try_from(now.saturating_sub(came).as_millis()).ok()?;
            Some(Echo { number, held_ms })
        });
        Stamp { number, echo }
    }

    /// Takes note of a packet's stamp.
    ///
    /// # Errors
    /// [`Repeated`] if the packet had come before, as far as that is remembered.
    pub fn take(&mut self, stamp: Stamp, now: Duration) -> Result<(), Repeated> {
        self.mark(stamp.number)?;
        if self.newest == stamp.number {
            self.echo = Some((stamp.number, now));
        }
        if let Some(echo) = stamp.echo {
            self.measure(echo, now);
        }
        Ok(())
    }

    /// The smoothed round-trip time, once it was measured.
    pub fn rtt(&self) -> Option<Duration> {
        self.round_trip.map(|round_trip| round_trip.smoothed)
    }

    /// Round trips, once one was measured.
    pub fn round_trip(&self) -> Option<RoundTrip> {
        self.round_trip
    }

    /// What was lost of what the other side sent.
    pub fn loss(&self) -> Loss {
        let recent = if self.seen == 0 { 0 } else { self.newest.saturating_add(1).min(SEEN_BITS) };
        Loss {
            expected: self.expected,
            lost: self.expected.saturating_sub(self.received),
            recent_expected: recent,
            recent_lost: recent.saturating_sub(self.seen.count_ones()),
        }
    }

    /// After how long without an answer a packet was probably lost.
    pub fn timeout(&self) -> Duration {
        let (rtt, jitter) = self.round_trip.map_or((RTT_INITIAL, Duration::ZERO), |trip| (trip.smoothed, trip.jitter));
        let timeout = rtt + (jitter * 4).max(Duration::from_millis(20));
        timeout.min(TIMEOUT_MAX)
    }

    fn mark(&mut self, number: u32) -> Result<(), Repeated> {
        let ahead = number.saturating_sub(self.newest);
        // Numbers begin at 0: what is missing before the first that comes is lost too.
        let new = if self.seen == 0 { number.saturating_add(1) } else { ahead };
        self.expected += u64::from(new.min(DROPOUT_MAX));
        self.seen = self.seen.checked_shl(ahead).unwrap_or(0);
        self.newest = self.newest.max(number);
        let behind = self.newest - number;
        if behind < SEEN_BITS {
            let bit = 1 << behind;
            if self.seen & bit != 0 {
                return Err(Repeated);
            }
            self.seen |= bit;
            self.received += 1;
        }
        Ok(())
    }

    fn measure(&mut self, echo: Echo, now: Duration) {
        // Taken out, so that an echo that comes twice measures once.
        let slot = &mut self.sent[echo.number as usize % SENT_KEPT];
        let Some((_, sent)) = slot.take_if(|(number, _)| *number == echo.number) else { return };
        let held = Duration::from_millis(echo.held_ms.into());
        let sample = now.saturating_sub(sent).saturating_sub(held);
        self.round_trip = Some(match self.round_trip {
            None => RoundTrip { last: sample, smoothed: sample, jitter: sample / 2 },
            Some(RoundTrip { smoothed, jitter, .. }) => RoundTrip {
                last: sample,
                smoothed: (smoothed * 7 + sample) / 8,
                jitter: (jitter * 3 + smoothed.abs_diff(sample)) / 4,
            },
        });
    }
}
