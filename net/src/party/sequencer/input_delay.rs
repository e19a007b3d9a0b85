//! The input delay: how far ahead of its own time a sequencer closes ticks.
//!
//! It is as long as turns take to the member that gets them last, jitter included: then everyone
//! can play a turn when the sequencer does. It is a matter of the sequencer alone. No packet names
//! it, and a replica plays what it has when its jitter buffer says so. So it must never change
//! faster than a jitter buffer follows. Its loop is [`InputDelay::closed`], once for each tick.

use core::cmp::Ordering;
use core::time::Duration;

use crate::party::config::PartySettings;
use crate::session::RoundTrip;

/// It begins so, as long as no line is known.
const TICKS_AT_FIRST: u32 = 3;
/// It follows members no farther than this, but in whole ticks: beyond, the sequencer's own player
/// would pay too much for one slow line.
const TIME_MAX: Duration = Duration::from_millis(300);
/// A change, by a tick, must have been called for so long: a line that changes looks worse than it
/// is for a while, also one that becomes better.
const PATIENCE: Duration = Duration::from_secs(8);
/// A change moves by one part in this many of a tick's time with each tick that is closed. That is
/// slow enough for nobody's ticks to come a twentieth of their time sooner or later.
const SLEW: u32 = 100;
/// Added to what turns take: what jitter buffers add too.
const MARGIN: Duration = Duration::from_millis(10);
/// It becomes less only if so much is left over, so that it does not go back and forth.
const STEADY: Duration = Duration::from_millis(10);

pub(super) struct InputDelay {
    period: Duration,
    /// The least and the most that it follows to.
    least: u32,
    most: u32,
    /// Between two packets of turns.
    packets: Duration,
    /// How many ticks it is to be, and how long it is on its way there.
    ticks: u32,
    time: Duration,
    /// Whether more or less is called for, and since when.
    called_for: (Ordering, Duration),
}

impl InputDelay {
    /// `closed_ahead`: so many ticks are closed already that this peer has not played.
    pub fn new(settings: &PartySettings, period: Duration, closed_ahead: u32, now: Duration) -> InputDelay {
        let interval = settings.packet_interval_ticks;
        let most = u32::try_from(TIME_MAX.as_nanos() / period.as_nanos()).unwrap_or(u32::MAX).max(interval);
        let (least, most) = settings.input_delay_ticks.map_or((interval, most), |fixed| (fixed, fixed));
        let ticks = closed_ahead.max(TICKS_AT_FIRST).clamp(least, most);
        let (packets, time) = (period * interval.min(ticks), period * ticks);
        InputDelay { period, least, most, packets, ticks, time, called_for: (Ordering::Equal, now) }
    }

    /// How long it is now.
    pub fn time(&self) -> Duration {
        self.time
    }

    /// The same in ticks, those that are begun included.
    pub fn ticks(&self) -> u32 {
        u32::try_from(self.time.as_nanos().div_ceil(self.period.as_nanos())).unwrap_or(u32::MAX)
    }

    /// A tick was closed: follows the round trips to those who play.
    pub fn closed(&mut self, round_trips: impl Iterator<Item = RoundTrip>, now: Duration) {
        if let Some(way) = round_trips.map(|trip| trip.smoothed / 2 + trip.jitter * 2).max() {
            let change = self.change(way);
            if self.called_for.0 != change {
                self.called_for = (change, now);
            } else if now >= self.called_for.1 + PATIENCE {
                self.ticks = match change {
                    Ordering::Greater => self.ticks + 1,
                    Ordering::Equal => self.ticks,
                    Ordering::Less => self.ticks - 1,
                };
                self.called_for = (change, now);
            }
        }
        let (target, step) = (self.period * self.ticks, self.period / SLEW);
        self.time = target.clamp(self.time.saturating_sub(step), self.time + step);
    }

    /// Whether it is to become more or less, if turns are so long on their way.
    fn change(&self, way: Duration) -> Ordering {
        // A turn waits for its packet first.
        let waits = self.packets.saturating_sub(self.period);
        let needed = |margin: Duration| {
            let ticks = (waits + way + margin).as_nanos().div_ceil(self.period.as_nanos());
            u32::try_from(ticks).unwrap_or(u32::MAX).clamp(self.least, self.most)
        };
        match () {
            () if needed(MARGIN) > self.ticks => Ordering::Greater,
            () if needed(MARGIN + STEADY) < self.ticks => Ordering::Less,
            () => Ordering::Equal,
        }
    }
}
