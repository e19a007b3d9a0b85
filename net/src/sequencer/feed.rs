//! What one replica is sent of the turns that are closed for it, and when.

use core::time::Duration;
use std::collections::VecDeque;

use lockstone_sim::{Checksum, Tick};

use super::History;
use crate::limits::*;
use crate::link::Channel;
use crate::session::DropReason;
use crate::stamps::Stamps;
use crate::wire::{Encoded, Report, Turns};

/// Reliable packets for one replica at a time: what is left waits for the next tick.
const BULK_PACKETS_AT_ONCE_MAX: usize = 4;
/// A replica that asks for a turn is not answered again sooner than this.
const ANSWER_PAUSE_MIN: Duration = Duration::from_millis(50);

/// What one replica has been sent and has acknowledged: decides what it is sent next.
///
/// A turn is sent in [`TURN_SENDS`] packets running. A replica that misses one nevertheless says
/// so, and gets it again.
#[derive(Debug, Default)]
pub struct Feed {
    stamps: Stamps,
    known: Tick,
    /// A packet that holds more than what is new stays below this.
    repeat_bytes_max: usize,
    /// What is new is sent reliably from this on.
    once_bytes_max: usize,
    /// Where the newest packets ended, oldest first.
    ends: [Tick; TURN_SENDS],
    asked: bool,
    /// Packets were lost lately: until then more is repeated.
    lossy_until: Duration,
    answered: Option<Duration>,
    sent: Option<(Tick, Duration)>,
    checksums: VecDeque<(Tick, Checksum)>,
}

/// For so long after a loss, a packet holds all of the one before if both fit into a datagram.
const LOSSY_TIME: Duration = Duration::from_secs(10);

impl Feed {
    /// For a replica that needs the turns from a tick on.
    pub fn new(from: Tick) -> Feed {
        Feed::with(from, TURN_PACKET_BYTES_MAX, TURN_PACKET_BYTES_MAX)
    }

    /// The same, of frames, which are larger: little ones are repeated, and one that is
    /// lost is asked for.
    pub fn of_frames(from: Tick) -> Feed {
        Feed::with(from, FRAME_REPEAT_BYTES_MAX, FRAME_ONCE_BYTES_MAX)
    }

    fn with(from: Tick, repeat_bytes_max: usize, once_bytes_max: usize) -> Feed {
        Feed { known: from, repeat_bytes_max, once_bytes_max, ends: [from; TURN_SENDS], ..Feed::default() }
    }

    /// Takes note of a report's number and acknowledgement.
    ///
    /// # Errors
    /// [`DropReason`] if it had come before, or acknowledges a tick at or after `open`; then
    /// nothing of it counts.
    pub fn take(&mut self, report: &Report, open: Tick, now: Duration) -> Result<(), DropReason> {
        self.stamps.take(report.stamp, now).map_err(|_| DropReason::Replayed)?;
        if report.known > open {
            return Err(DropReason::ForgedAck);
        }
        self.known = self.known.max(report.known);
        let pause = self.stamps.timeout().max(ANSWER_PAUSE_MIN);
        let rested = self.answered.is_none_or(|answered| now >= answered + pause);
        self.asked |= report.missing && report.known == self.known && rested;
        if report.missing {
            self.lossy_until = now + LOSSY_TIME;
        }
        Ok(())
    }

    /// The first tick that the replica does not know, as far as it told.
    pub fn known(&self) -> Tick {
        self.known
    }

    /// The smoothed round-trip time, once measured.
    pub fn rtt(&self) -> Option<Duration> {
        self.stamps.rtt()
    }

    /// What the numbers of packets tell of the way to the replica.
    pub fn stamps(&self) -> &Stamps {
        &self.stamps
    }

    /// Notes a checksum of the sequencer's world for the next packet.
    pub fn checksum(&mut self, tick: Tick, checksum: Checksum) {
        if self.checksums.len() == CHECKSUMS_PER_PACKET_MAX {
            self.checksums.pop_front();
        }
        self.checksums.push_back((tick, checksum));
    }

    /// Whether something must be sent at tick `now_tick`, as the sequencer counts time: every
    /// `interval_ticks`, and to an asker at once.
    pub fn due(&self, now_tick: Tick, interval_ticks: u32) -> bool {
        self.asked || self.sent.is_none_or(|(tick, _)| now_tick.since(tick) >= interval_ticks)
    }

    /// When the last packet was sent.
    pub fn sent_at(&self) -> Option<Duration> {
        self.sent.map(|(_, at)| at)
    }

    /// The next packets.
    pub fn packets<T>(
        &mut self,
        history: &History<T>,
        now_tick: Tick,
        now: Duration,
        commands_taken: u32,
    ) -> Vec<(Channel, Turns<Encoded>)> {
        self.sent = Some((now_tick, now));
        let asked = core::mem::take(&mut self.asked);
        if asked {
            self.answered = Some(now);
            // What was lost is sent as often as what is new.
            self.ends = [self.known; TURN_SENDS];
        }
        let mut packets = if let Some(turns) = self.in_one(history, asked, now) {
            self.ends.rotate_left(1);
            self.ends[TURN_SENDS - 1] = turns.end();
            vec![(Channel::Unreliable, turns)]
        } else {
            let newest = self.ends[TURN_SENDS - 1].max(self.known);
            self.bulk(history, if asked { self.known } else { newest })
        };
        for (_, turns) in &mut packets {
            turns.stamp = self.stamps.stamp(now);
            turns.commands_taken = commands_taken;
            turns.checksums = self.checksums.drain(..).collect::<Vec<_>>().try_into().expect("no more are kept");
        }
        packets
    }

    /// All that is due, if it fits into a datagram: with what was sent before, or some of it,
    /// if that is little.
    fn in_one<T>(&self, history: &History<T>, asked: bool, now: Duration) -> Option<Turns<Encoded>> {
        let fits = |from: Tick, bytes_max| {
            let turns = history.fits(from, bytes_max).then(|| history.cut(from, bytes_max));
            turns.filter(|turns| turns.end() == history.open())
        };
        if asked {
            return fits(self.known, TURN_PACKET_BYTES_MAX);
        }
        let [repeats @ .., before, newest] = self.ends.map(|end| end.max(self.known));
        let before_max = if now < self.lossy_until { TURN_PACKET_BYTES_MAX } else { self.repeat_bytes_max };
        let mut repeats = repeats.iter();
        let repeating = repeats.find_map(|from| fits(*from, self.repeat_bytes_max));
        repeating.or_else(|| fits(before, before_max)).or_else(|| fits(newest, self.once_bytes_max))
    }

    /// Far behind: on the reliable channel, each turn once.
    fn bulk<T>(&mut self, history: &History<T>, mut from: Tick) -> Vec<(Channel, Turns<Encoded>)> {
        let mut packets = Vec::new();
        while from < history.open() && packets.len() < BULK_PACKETS_AT_ONCE_MAX {
            let turns = history.cut(from, BULK_PACKET_BYTES_MAX);
            from = turns.end();
            packets.push((Channel::Reliable, turns));
        }
        self.ends = [from; TURN_SENDS];
        packets
    }
}
