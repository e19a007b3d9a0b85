//! When a turn that has arrived is played: an adaptive jitter buffer.
//!
//! Turn `t` is played at `base + t × period`. The base is such that, in the recent past, no turn
//! would have come too late for it, with a small margin. It follows slowly, so that the world runs
//! at most a tenth faster or slower; a backlog beyond what the network's jitter explains (a stall,
//! a join) is played at once.
//!
//! The idea is that of audio playout: Ramjee, Kurose, Towsley, Schulzrinne, "Adaptive playout
//! mechanisms for packetized audio applications in wide-area networks" (1994), with the window's
//! maximum in place of a filtered estimate.

use core::ops::RangeInclusive;
use core::time::Duration;
use std::collections::VecDeque;

use lockstone_sim::Tick;

/// The window in which lateness is remembered, in buckets.
const BUCKETS: usize = 16;
const BUCKET_US: i64 = 250_000;
/// Added to the greatest lateness seen.
const MARGIN_US: i64 = 10_000;
/// Lateness beyond this, against the fastest packet of the window, is an outage rather than jitter.
const JITTER_MAX_US: i64 = 1_000_000;
/// A base later than its target by more than this is put right at once.
const HURRY_US: i64 = 400_000;
/// The base moves by at most one part in this many of the time that passes.
const SLEW: i64 = 10;
/// A round trip seems longer than it was by up to so much, as times are told in milliseconds.
const ROUNDED_US: i64 = 1_000;
/// A command that comes too late for a tick by less than this is no reason to play it later than
/// others: it keeps the number of ticks from going back and forth.
const STEADY_US: i64 = 5_000;
/// Commands of which it is remembered how long after a tick they were given.
const COMMANDS: usize = 8;

/// Decides when turns are played. All times are microseconds from the caller's arbitrary start.
#[derive(Debug)]
pub struct Playout {
    period_us: i64,
    base: Option<i64>,
    adjusted_at: i64,
    buckets: [Bucket; BUCKETS],
    /// How long after a tick the newest own commands were given.
    commands_after: VecDeque<i64>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    number: i64,
    /// The latest that a turn became known, less its own time.
    latest: Option<i64>,
    /// The earliest that a packet told of its newest turn, less that turn's time.
    earliest: i64,
}

const EMPTY: Bucket = Bucket { number: i64::MIN, latest: None, earliest: 0 };

impl Playout {
    /// For ticks of a period.
    pub fn new(period: Duration) -> Playout {
        let (buckets, commands_after) = ([EMPTY; BUCKETS], VecDeque::new());
        Playout { period_us: micros(period), base: None, adjusted_at: 0, buckets, commands_after }
    }

    /// The turns from `first` until before `end` became known.
    pub fn arrived(&mut self, first: Tick, end: Tick, now: Duration) {
        let (earliest, lateness) = self.lateness(first, end, now);
        let fastest = self.fastest(micros(now)).unwrap_or(earliest);
        if lateness - fastest <= JITTER_MAX_US {
            self.note(micros(now), Some(lateness), earliest);
        }
        self.adjust(micros(now));
    }

    /// The same of turns that did not come on the way on which the next will, or of all that was
    /// missed: how late they are is no jitter.
    pub fn caught_up(&mut self, first: Tick, end: Tick, now: Duration) {
        self.lateness(first, end, now);
        self.adjust(micros(now));
    }

    /// The way on which turns come is another from now on.
    pub fn begin_anew(&mut self) {
        self.buckets = [EMPTY; BUCKETS];
    }

    /// How late the newest of these turns is, and the first.
    fn lateness(&mut self, first: Tick, end: Tick, now: Duration) -> (i64, i64) {
        let now = micros(now);
        let (earliest, lateness) = (now - self.offset(end), now - self.offset(first));
        self.note(now, None, earliest);
        if self.base.is_some_and(|base| base < lateness) {
            // Too late: the world stood still, and goes on from here.
            self.base = Some(lateness);
        }
        (earliest, lateness)
    }

    /// Lets time pass.
    pub fn advance(&mut self, now: Duration) {
        self.adjust(micros(now));
    }

    /// When the turn of a tick is to be played; `None` as long as nothing arrived.
    pub fn time_of(&self, tick: Tick) -> Option<Duration> {
        let at = self.base? + self.offset(tick);
        Some(Duration::from_micros(at.max(0).unsigned_abs()))
    }

    /// An own command is sent now, before the turn of tick `next`. Returns the tick whose turn it
    /// presumably enters, if a round trip takes so long: who closes ticks told of its newest one
    /// when the fastest packet left.
    pub fn commanded(&mut self, next: Tick, now: Duration, rtt: Duration) -> Option<Tick> {
        let (now, base) = (micros(now), self.base?);
        if self.commands_after.len() == COMMANDS {
            self.commands_after.pop_front();
        }
        let after = now - base - self.offset(next) + self.period_us;
        self.commands_after.push_back(after.clamp(0, self.period_us));
        let tick = (now + micros(rtt) - ROUNDED_US - self.fastest(now)?).div_euclid(self.period_us);
        Some(Tick(u32::try_from(tick).unwrap_or(0)))
    }

    /// How many ticks later than the world stands a command is played, if a round trip takes so
    /// long: one that is given as long after a tick as the latest of the newest. The least that
    /// does, and the most.
    pub fn delay_ticks(&self, now: Duration, rtt: Duration) -> Option<RangeInclusive<u32>> {
        let after = self.commands_after.iter().max().copied().unwrap_or(0);
        let way = micros(rtt) - ROUNDED_US - self.fastest(micros(now))?;
        let ticks = |delay: i64| u32::try_from(delay.div_euclid(self.period_us)).unwrap_or(0);
        let delay = self.base? - self.period_us + after + way;
        Some(ticks(delay - STEADY_US)..=ticks(delay))
    }

    fn adjust(&mut self, now: i64) {
        let Some(target) = self.target(now) else { return };
        let step_max = (now - self.adjusted_at).max(0) / SLEW;
        // A step below one unit would be lost: time is left to add up.
        let adjusted = step_max > 0 || self.base.is_none();
        let base = self.base.unwrap_or(target);
        let ahead = target - base;
        self.base = Some(if -ahead > HURRY_US { target } else { base + ahead.clamp(-step_max, step_max) });
        if adjusted {
            self.adjusted_at = now;
        }
    }

    /// Where the base should be; `None` if nothing arrived lately.
    fn target(&self, now: i64) -> Option<i64> {
        let fastest = self.fastest(now)?;
        let latest = self.window(now).filter_map(|bucket| bucket.latest).max().unwrap_or(fastest);
        Some((latest + MARGIN_US).min(fastest + JITTER_MAX_US))
    }

    fn note(&mut self, now: i64, latest: Option<i64>, earliest: i64) {
        let number = now / BUCKET_US;
        let bucket = &mut self.buckets[number.unsigned_abs() as usize % BUCKETS];
        if bucket.number != number {
            *bucket = Bucket { number, latest, earliest };
        }
        bucket.latest = bucket.latest.max(latest);
        bucket.earliest = bucket.earliest.min(earliest);
    }

    /// The earliest that a packet told of its newest turn, less that turn's time.
    fn fastest(&self, now: i64) -> Option<i64> {
        self.window(now).map(|bucket| bucket.earliest).min()
    }

    fn window(&self, now: i64) -> impl Iterator<Item = &Bucket> {
        let newest = now / BUCKET_US;
        self.buckets.iter().filter(move |bucket| (newest - BUCKETS as i64..=newest).contains(&bucket.number))
    }

    fn offset(&self, tick: Tick) -> i64 {
        i64::from(tick.0) * self.period_us
    }
}

fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX / 4)
}

#[cfg(test)]
mod tests;
