//! Numbers on packets: round-trip time by echo, and packets that come twice.
//!
//! Smoothed as TCP does it (RFC 6298). Time is an argument.

use core::time::Duration;

use crate::wire::{Echo, Stamp};

/// Sent packets whose time is remembered.
const SENT_KEPT: usize = 64;
/// How far back a packet that comes twice is recognised.
const SEEN_BITS: u32 = 128;
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
    echo: Option<(u32, Duration)>,
    rtt: Option<Duration>,
    deviation: Duration,
}

impl Default for Stamps {
    fn default() -> Self {
        let (sent, deviation) = (Box::new([None; SENT_KEPT]), Duration::ZERO);
        Stamps { next: 0, sent, newest: 0, seen: 0, echo: None, rtt: None, deviation }
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
        self.rtt
    }

    /// After how long without an answer a packet was probably lost.
    pub fn timeout(&self) -> Duration {
        let timeout = self.rtt.unwrap_or(RTT_INITIAL) + (self.deviation * 4).max(Duration::from_millis(20));
        timeout.min(TIMEOUT_MAX)
    }

    fn mark(&mut self, number: u32) -> Result<(), Repeated> {
        let ahead = number.saturating_sub(self.newest);
        self.seen = self.seen.checked_shl(ahead).unwrap_or(0);
        self.newest = self.newest.max(number);
        let behind = self.newest - number;
        if behind < SEEN_BITS {
            let bit = 1 << behind;
            if self.seen & bit != 0 {
                return Err(Repeated);
            }
            self.seen |= bit;
        }
        Ok(())
    }

    fn measure(&mut self, echo: Echo, now: Duration) {
        // Taken out, so that an echo that comes twice measures once.
        let slot = &mut self.sent[echo.number as usize % SENT_KEPT];
        let Some((_, sent)) = slot.take_if(|(number, _)| *number == echo.number) else { return };
        let held = Duration::from_millis(echo.held_ms.into());
        let sample = now.saturating_sub(sent).saturating_sub(held);
        match self.rtt {
            None => (self.rtt, self.deviation) = (Some(sample), sample / 2),
            Some(rtt) => {
                self.deviation = (self.deviation * 3 + rtt.abs_diff(sample)) / 4;
                self.rtt = Some((rtt * 7 + sample) / 8);
            }
        }
    }
}
