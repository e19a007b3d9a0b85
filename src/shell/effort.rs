//! What a session costs this process, in time: measured tick by tick over the last minute.
//!
//! Clocks are the caller's. Nothing that is played depends on them.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Ticks that are measured: the last minute at 20 a second, with the keyframe that is in it.
pub(super) const MEASURED_TICKS: u32 = 1_200;

/// Tells a time that only grows.
pub type Clock = fn() -> Duration;

/// The clocks that a shell may read. The default ones stand still: then nothing is measured, and
/// work that should be done in pieces is done at once.
#[derive(Clone, Copy, Debug)]
pub struct Clocks {
    /// Time as it passes.
    pub wall: Clock,
    /// For how long the calling thread has had a processor.
    pub thread: Clock,
    /// For how long all threads of this process have had one.
    pub process: Clock,
}

impl Default for Clocks {
    fn default() -> Self {
        let still = || Duration::ZERO;
        Clocks { wall: still, thread: still, process: still }
    }
}

/// What ticks cost, in microseconds: each with all that was done since the tick before. Of the last
/// minute, unless it says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Effort {
    /// Ticks, since the session began.
    pub ticks: u64,
    /// What a tick took the thread that plays, on average.
    pub mean_us: f64,
    /// All but one of a hundred took it no longer.
    pub p99_us: f64,
    /// The longest since the session began.
    pub max_us: f64,
    /// Of that, what it took to look ahead, on average.
    #[serde(default)]
    pub ahead_us: f64,
    /// What a tick took the thread that records, on average.
    pub recording_us: f64,
    /// What a tick took all threads of the process, those of the carrier too, on average.
    pub process_us: f64,
    /// All but one of a hundred ticks came within so long of the tick before.
    pub between_p99_us: f64,
}

impl fmt::Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Effort { mean_us, p99_us, max_us, ahead_us, recording_us, process_us, between_p99_us, .. } = self;
        let [play, p99, max] = [mean_us, p99_us, max_us].map(|us| us / 1_000.0);
        let [recording, all, between] = [recording_us, process_us, between_p99_us].map(|us| us / 1_000.0);
        let ahead =
            if *ahead_us > 0.0 { format!(", {:.3} of it to look ahead", ahead_us / 1_000.0) } else { String::new() };
        write!(
            f,
            "a tick takes {play:.3} ms of a processor to play (p99 {p99:.3}, at worst {max:.1}{ahead}), \
             {recording:.3} to record, {all:.3} in all; p99 from tick to tick {between:.1} ms"
        )
    }
}

/// Measures.
pub(super) struct Meter {
    clocks: Clocks,
    ticks: u64,
    max_us: f64,
    before: Option<Reading>,
    /// Of each tick.
    recent: VecDeque<Reading>,
    recent_max: usize,
}

/// Times so far; or of one tick.
#[derive(Clone, Copy)]
struct Reading {
    thread: Duration,
    ahead: Duration,
    recording: Duration,
    process: Duration,
    now: Duration,
}

impl Meter {
    pub fn new(clocks: Clocks, ticks: u32) -> Meter {
        Meter { clocks, ticks: 0, max_us: 0.0, before: None, recent: VecDeque::new(), recent_max: ticks as usize }
    }

    /// Ticks were played. `recording` tells how long it has been recorded beside, `ahead` how long
    /// it was looked ahead.
    pub fn played(&mut self, ticks: u32, recording: Duration, ahead: Duration, now: Duration) {
        if ticks == 0 {
            return;
        }
        let (thread, process) = ((self.clocks.thread)(), (self.clocks.process)());
        let reading = Reading { thread, ahead, recording, process, now };
        if let Some(before) = self.before.replace(reading) {
            let each = |after: Duration, before: Duration| (after - before) / ticks;
            let one = Reading {
                thread: each(reading.thread, before.thread),
                ahead: each(reading.ahead, before.ahead),
                recording: each(reading.recording, before.recording),
                process: each(reading.process, before.process),
                now: each(reading.now, before.now),
            };
            self.ticks += u64::from(ticks);
            self.max_us = self.max_us.max(us(one.thread));
            self.recent.extend(std::iter::repeat_n(one, ticks as usize));
            self.recent.drain(..self.recent.len().saturating_sub(self.recent_max));
        }
    }

    pub fn effort(&self) -> Effort {
        let count = self.recent.len().max(1);
        let mean = |of: fn(&Reading) -> Duration| self.recent.iter().map(|one| us(of(one))).sum::<f64>() / count as f64;
        let p99 = |of: fn(&Reading) -> Duration| {
            let mut times: Vec<_> = self.recent.iter().map(of).collect();
            times.sort();
            times.get(times.len() * 99 / 100).copied().map_or(0.0, us)
        };
        Effort {
            ticks: self.ticks,
            mean_us: mean(|one| one.thread),
            p99_us: p99(|one| one.thread),
            max_us: self.max_us,
            ahead_us: mean(|one| one.ahead),
            recording_us: mean(|one| one.recording),
            process_us: mean(|one| one.process),
            between_p99_us: p99(|one| one.now),
        }
    }
}

fn us(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
