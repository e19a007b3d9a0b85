//! The receiving end of a feed of turns: which are known, which commands wait for the sequencer,
//! and when to report.
//!
//! ```text
//! Turns packet ─► take_turns ─► next_turn ─► simulation
//! command, checksum ─► report ─► Report packet
//! ```
//!
//! With nothing pending a replica sends at most 4 packets a second. Time is an argument.

use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};

use lockstone_sim::{Checksum, Tick};

use crate::limits::*;
use crate::session::CommandError;
use crate::stamps::{Repeated, Stamps};
use crate::wire::{CommandBytes, Frame, RawGiven, RawInput, RawTurn, Report, Turns};

/// Between two reports when nothing is pending and nothing is new.
const KEEP_ALIVE: Duration = Duration::from_millis(500);
/// Between two reports when nothing is pending but a checksum waits.
const REPORT_PAUSE_MIN: Duration = Duration::from_millis(250);
/// Between two reports that ask for the same turn.
const ASK_PAUSE_MIN: Duration = Duration::from_millis(100);
/// So many commands are kept that are in closed turns: a session that went on from a recording may
/// not know these turns. At the rate that a relay takes they last for longer than it writes late.
const ACKNOWLEDGED_KEPT: usize = 128;

/// The receiving end of a sequencer's feed.
#[derive(Debug, Default)]
pub struct Intake<T = RawTurn> {
    stamps: Stamps,
    /// The first tick whose turn is not known, and the next to hand out.
    known: Tick,
    next: Tick,
    turns: BTreeMap<Tick, T>,
    ahead_bytes: usize,
    missing: bool,
    asked_at: Option<Duration>,
    /// How many commands the sequencer told to be in closed turns.
    taken: u32,
    /// The newest commands that are in closed turns, up to the first that is not.
    acknowledged: VecDeque<CommandBytes>,
    first_command: u32,
    commands: VecDeque<Pending>,
    commands_unsent: bool,
    commands_sent_at: Duration,
    /// How long the sequencer may take to acknowledge, besides the round trip.
    answer_delay: Duration,
    checksums: VecDeque<(Tick, Checksum)>,
    /// The newest packet of the distant view, until it is reported.
    distant: Option<Tick>,
    reported_at: Option<Duration>,
}

/// A command that the sequencer is not known to have put into a turn.
#[derive(Debug)]
struct Pending {
    bytes: CommandBytes,
    /// The tick whose turn it presumably enters, once it was sent.
    enters: Option<Tick>,
}

/// The newest commands of a player: all that are not known to be in a closed turn, and some that
/// are.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// The number of the first.
    pub first: u32,
    pub commands: Vec<CommandBytes>,
}

impl Given {
    /// Those that are in no closed turn, if so many are.
    pub fn since(mut self, closed: u32) -> Vec<CommandBytes> {
        self.split_off(closed)
    }

    /// Takes them out.
    fn split_off(&mut self, closed: u32) -> Vec<CommandBytes> {
        let skip = closed.saturating_sub(self.first) as usize;
        self.commands.split_off(skip.min(self.commands.len()))
    }
}

/// What a packet of turns brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Turns from this tick on are now known.
    New(Tick),
    /// Nothing that was not known.
    Old,
    /// Something that does not join up with what is known; it was dropped and is asked for.
    Gap,
    /// More than may be kept ahead of the tick that is played; it was dropped and will come again.
    TooFarAhead,
}

impl<T: Content> Intake<T> {
    /// For a world whose next turn is that of tick `from`. `answer_delay` is the time between two
    /// packets of the sequencer.
    pub fn new(from: Tick, answer_delay: Duration) -> Intake<T> {
        Intake { known: from, next: from, answer_delay, ..Intake::default() }
    }

    /// Takes a packet of turns.
    ///
    /// # Errors
    /// [`Repeated`] if the packet had come before.
    pub fn take_turns(&mut self, packet: Turns<T>, now: Duration) -> Result<Progress, Repeated> {
        self.stamps.take(packet.stamp, now)?;
        let taken = packet.commands_taken;
        let progress = self.append(packet);
        self.missing |= progress == Progress::Gap;
        // A command is pending until the turn is known that it entered.
        if progress != Progress::Gap {
            self.taken = self.taken.max(taken);
            self.acknowledge(taken);
        }
        Ok(progress)
    }

    /// Takes turns that go on from those that are known, whoever sent them.
    pub fn append(&mut self, packet: Turns<T>) -> Progress {
        if packet.from > self.known {
            return Progress::Gap;
        }
        if packet.end() <= self.known {
            return Progress::Old;
        }
        let bytes: usize = packet.turns.iter().map(|(_, turn)| turn.weight()).sum();
        if packet.end().since(self.next) > TICKS_AHEAD_MAX || self.ahead_bytes + bytes > AHEAD_BYTES_MAX {
            return Progress::TooFarAhead;
        }
        let first = self.known;
        self.known = packet.end();
        self.missing = false;
        self.asked_at = None;
        for (after, turn) in packet.turns.into_vec() {
            let tick = packet.from.plus(after);
            if tick >= first {
                self.ahead_bytes += turn.weight();
                self.turns.insert(tick, turn);
            }
        }
        Progress::New(first)
    }

    /// Another leads from now on, who knows none of our packets: commands that are in no closed
    /// turn are offered again.
    pub fn follow_anew(&mut self) {
        self.stamps = Stamps::default();
        (self.missing, self.asked_at, self.reported_at) = (false, None, None);
        self.commands_unsent = !self.commands.is_empty();
        self.commands.iter_mut().for_each(|command| command.enters = None);
        self.checksums.clear();
    }

    /// The turns from the next on until before `known` are known already.
    pub fn resume(&mut self, known: Tick, turn: impl Fn(Tick) -> T) {
        for tick in (self.next.0..known.0).map(Tick) {
            let turn = turn(tick);
            self.ahead_bytes += turn.weight();
            self.turns.insert(tick, turn);
        }
        self.known = known;
    }

    /// Commands that were given before this end began to receive. Of all of the player's so many
    /// are in closed turns; those that are not are offered again.
    pub fn resume_commands(&mut self, mut given: Given, closed: u32) {
        let commands = given.split_off(closed).into_iter().map(|bytes| Pending { bytes, enters: None });
        (self.first_command, self.commands) = (closed, commands.collect());
        self.acknowledged = given.commands.into();
        self.commands_unsent = !self.commands.is_empty();
    }

    /// The newest commands.
    pub fn given(&self) -> Given {
        let pending = self.commands.iter().map(|command| &command.bytes);
        let first = self.first_command.saturating_sub(self.acknowledged.len() as u32);
        Given { first, commands: self.acknowledged.iter().chain(pending).cloned().collect() }
    }

    /// Those that are not known to be in a closed turn, each with the tick whose turn it presumably
    /// enters: none that is known.
    pub fn on_their_way(&self, closed: u32) -> impl Iterator<Item = (Tick, &CommandBytes)> {
        let skip = closed.saturating_sub(self.first_command) as usize;
        let (mut tick, mut count) = (self.known, 0);
        self.commands.iter().skip(skip).map(move |command| {
            let enters = command.enters.unwrap_or(tick).max(tick);
            if enters > tick {
                (tick, count) = (enters, 0);
            } else if count == COMMANDS_PER_TURN_MAX {
                (tick, count) = (tick.next(), 0);
            }
            count += 1;
            (tick, &command.bytes)
        })
    }

    /// A turn that is known and was not handed out; `None` if it is empty.
    pub fn turn(&self, tick: Tick) -> Option<&T> {
        self.turns.get(&tick)
    }

    /// How many commands of the player are in closed turns, as far as was told.
    pub fn taken(&self) -> u32 {
        self.taken
    }

    fn acknowledge(&mut self, taken: u32) {
        // A number beyond what was sent can only be forged: ignored.
        let acknowledged = taken.saturating_sub(self.first_command) as usize;
        if acknowledged > 0 && acknowledged <= self.commands.len() {
            self.acknowledged.extend(self.commands.drain(..acknowledged).map(|command| command.bytes));
            let kept = self.acknowledged.len().min(ACKNOWLEDGED_KEPT);
            self.acknowledged.drain(..self.acknowledged.len() - kept);
            self.first_command = taken;
        }
    }

    /// The first tick whose turn is not known.
    pub fn known(&self) -> Tick {
        self.known
    }

    /// The tick whose turn [`next_turn`](Intake::next_turn) hands out next.
    pub fn next(&self) -> Tick {
        self.next
    }

    /// Hands out the next turn, if it is known.
    pub fn next_turn(&mut self) -> Option<T> {
        if self.next >= self.known {
            return None;
        }
        let turn = self.turns.remove(&self.next).unwrap_or_default();
        self.ahead_bytes -= turn.weight();
        self.next = self.next.next();
        Some(turn)
    }

    /// Takes a command of the player; it is in every report until the sequencer has it.
    ///
    /// # Errors
    /// [`CommandError::Full`] if [`COMMANDS_PENDING_MAX`] wait already.
    pub fn command(&mut self, command: CommandBytes) -> Result<(), CommandError> {
        if self.commands.len() == COMMANDS_PENDING_MAX {
            return Err(CommandError::Full);
        }
        self.commands.push_back(Pending { bytes: command, enters: None });
        self.commands_unsent = true;
        Ok(())
    }

    /// How many commands the sequencer is not known to have.
    pub fn commands_pending(&self) -> usize {
        self.commands.len()
    }

    /// Notes a checksum of this peer's world for the next report.
    pub fn checksum(&mut self, tick: Tick, checksum: Checksum) {
        if self.checksums.len() == CHECKSUMS_PER_PACKET_MAX {
            self.checksums.pop_front();
        }
        self.checksums.push_back((tick, checksum));
    }

    /// The world is another from now on: checksums of the one before are not told any more.
    pub fn forget_checksums(&mut self) {
        self.checksums.clear();
    }

    /// Notes that a packet of the distant view has come, for the next report.
    pub fn distant(&mut self, tick: Tick) {
        self.distant = Some(tick);
    }

    /// The smoothed round-trip time, once measured.
    pub fn rtt(&self) -> Option<Duration> {
        self.stamps.rtt()
    }

    /// What the numbers of packets tell of the way to the sequencer.
    pub fn stamps(&self) -> &Stamps {
        &self.stamps
    }

    /// When the next report is due.
    pub fn report_at(&self) -> Duration {
        let Some(reported_at) = self.reported_at else { return Duration::ZERO };
        let mut at = reported_at + KEEP_ALIVE;
        if !self.checksums.is_empty() {
            at = at.min(reported_at + REPORT_PAUSE_MIN);
        }
        if self.commands_unsent {
            at = Duration::ZERO;
        } else if !self.commands.is_empty() {
            at = at.min(self.resend_at());
        }
        if self.missing {
            let pause = self.stamps.timeout().max(ASK_PAUSE_MIN);
            at = at.min(self.asked_at.map_or(Duration::ZERO, |asked| asked + pause));
        }
        at
    }

    /// When commands that were sent are taken for lost.
    fn resend_at(&self) -> Duration {
        self.commands_sent_at + self.stamps.timeout() + self.answer_delay
    }

    /// Whether the next report has commands that are new, or were lost.
    pub fn sends_commands(&self, now: Duration) -> bool {
        self.commands_unsent || !self.commands.is_empty() && now >= self.resend_at()
    }

    /// The next report. A command that is sent with it enters the turn of tick `enters`, as far as
    /// that can be foreseen.
    pub fn report(&mut self, now: Duration, enters: Option<Tick>) -> Report {
        let lost = now >= self.resend_at();
        for command in self.commands.iter_mut().take(COMMANDS_PER_PACKET_MAX) {
            if lost || command.enters.is_none() {
                command.enters = enters;
            }
        }
        self.reported_at = Some(now);
        if self.missing {
            self.asked_at = Some(now);
        }
        self.commands_unsent = false;
        self.commands_sent_at = now;
        let commands: Vec<_> =
            self.commands.iter().take(COMMANDS_PER_PACKET_MAX).map(|command| command.bytes.clone()).collect();
        let checksums: Vec<_> = self.checksums.drain(..).collect();
        Report {
            stamp: self.stamps.stamp(now),
            known: self.known,
            missing: self.missing,
            first_command: self.first_command,
            commands: commands.try_into().expect("no more are taken"),
            checksums: checksums.try_into().expect("no more are kept"),
            distant: self.distant.take(),
        }
    }
}

/// A turn of some kind, as it waits to be played.
pub trait Content: Default {
    /// What it costs to keep, in bytes.
    fn weight(&self) -> usize;
}

impl Content for RawTurn {
    fn weight(&self) -> usize {
        self.iter().map(input_weight).sum()
    }
}

impl Content for Frame {
    fn weight(&self) -> usize {
        let given = |given: &RawGiven| match given {
            RawGiven::Change(_, bytes) | RawGiven::Cell(_, bytes) => bytes.len(),
            RawGiven::Pristine(_) | RawGiven::Area(..) => 0,
        };
        let given: usize = self.given.iter().map(|one| size_of::<RawGiven>() + given(one)).sum();
        self.inputs.iter().map(input_weight).sum::<usize>() + given
    }
}

fn input_weight(input: &RawInput) -> usize {
    let content = match input {
        RawInput::Command(_, bytes) => bytes.len(),
        RawInput::Join(_, name, bytes) => name.as_str().len() + bytes.len(),
        RawInput::Back(_, name) => name.as_str().len(),
        RawInput::Leave(..) | RawInput::Away(..) | RawInput::Member(..) => 0,
        RawInput::Settled | RawInput::Branch(_) => 0,
        RawInput::Electorate(electorate) => size_of_val::<[_]>(&electorate.members),
        RawInput::Request(bytes) => bytes.len(),
    };
    size_of::<RawInput>() + content
}

#[cfg(test)]
mod tests;
