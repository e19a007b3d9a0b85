//! Closes ticks: orders what peers send into turns, and keeps closed turns until every replica has them.
//!
//! ```text
//! commands, join, leave, request ─► Sequencer ─ close ─► turn ─► Feed (one a replica) ─► Turns packets
//! ```
//!
//! Nothing here waits for anyone: what comes late enters a later turn. Nothing here knows what commands mean.

use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};

use lockstone_sim::{Checksum, PlayerId, Tick, codec};

use crate::limits::*;
use crate::link::Channel;
use crate::stamps::Stamps;
use crate::wire::{Bytes, CommandBytes, LeaveReason, List, Name, RawInput, RawTurn, Report, Turns};

/// Reliable packets for one replica at a time: what is left waits for the next tick.
const BULK_PACKETS_AT_ONCE_MAX: usize = 4;
/// A replica that asks for a turn is not answered again sooner than this.
const ANSWER_PAUSE_MIN: Duration = Duration::from_millis(50);

/// Orders inputs into turns.
#[derive(Debug, Default)]
pub struct Sequencer {
    open: Tick,
    oldest: Tick,
    history: BTreeMap<Tick, ClosedTurn>,
    history_bytes: usize,
    players: BTreeMap<PlayerId, Queue>,
    leaves: VecDeque<(PlayerId, LeaveReason)>,
    joins: VecDeque<(PlayerId, Name, Bytes<JOIN_BYTES_MAX>)>,
    requests: VecDeque<Bytes<REQUEST_BYTES_MAX>>,
}

#[derive(Debug)]
struct ClosedTurn {
    inputs: RawTurn,
    encoded_bytes: usize,
}

#[derive(Debug, Default)]
struct Queue {
    taken: u32,
    waiting: VecDeque<CommandBytes>,
}

/// What became of the commands in a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// New ones, that will enter a turn.
    pub new: u64,
    /// Taken before.
    pub repeated: u64,
    /// New, but not commands: dropped.
    pub malformed: u64,
    /// Not taken now: too many wait already, or earlier ones are missing. Their sender offers them again.
    pub refused: u64,
}

impl Sequencer {
    /// Nothing is closed before tick `first`, which is open.
    pub fn starting_at(first: Tick) -> Sequencer {
        Sequencer { open: first, oldest: first, ..Sequencer::default() }
    }

    /// The first tick that is not closed.
    pub fn open(&self) -> Tick {
        self.open
    }

    /// Puts a player's join into the next turn with room, and takes commands of the player from now on.
    pub fn join(&mut self, player: PlayerId, name: Name, join: Bytes<JOIN_BYTES_MAX>) {
        self.players.insert(player, Queue::default());
        self.joins.push_back((player, name, join));
    }

    /// Puts a player's leave into the next turn. If the join has not entered a turn yet, neither does.
    pub fn leave(&mut self, player: PlayerId, reason: LeaveReason) {
        if self.players.remove(&player).is_none() {
            return;
        }
        let joins = self.joins.len();
        self.joins.retain(|(joining, ..)| *joining != player);
        if self.joins.len() == joins {
            self.leaves.push_back((player, reason));
        }
    }

    /// Puts the simulation's request into the next turn with room. Returns whether it was taken.
    pub fn request(&mut self, request: Bytes<REQUEST_BYTES_MAX>) -> bool {
        let room = self.requests.len() < REQUESTS_QUEUED_MAX;
        if room {
            self.requests.push_back(request);
        }
        room
    }

    /// Takes a player's commands, the first of which has number `first`. Those that are not `sound` are dropped.
    pub fn commands(
        &mut self,
        player: PlayerId,
        first: u32,
        commands: &[CommandBytes],
        sound: impl Fn(&CommandBytes) -> bool,
    ) -> Taken {
        let mut result = Taken::default();
        let Some(queue) = self.players.get_mut(&player) else {
            result.refused = commands.len() as u64;
            return result;
        };
        for (command, number) in commands.iter().zip(first..) {
            if number < queue.taken {
                result.repeated += 1;
            } else if number > queue.taken || queue.waiting.len() == COMMANDS_QUEUED_MAX {
                result.refused += 1;
            } else {
                queue.taken += 1;
                if sound(command) {
                    queue.waiting.push_back(command.clone());
                    result.new += 1;
                } else {
                    result.malformed += 1;
                }
            }
        }
        result
    }

    /// How many of a player's commands have been taken.
    pub fn commands_taken(&self, player: PlayerId) -> u32 {
        self.players.get(&player).map_or(0, |queue| queue.taken)
    }

    /// Closes the open tick: leaves, joins, requests, then commands by player and number.
    pub fn close(&mut self) {
        let mut inputs = Vec::new();
        inputs.extend(self.leaves.drain(..self.leaves.len().min(PLAYERS_MAX)).map(|(p, why)| RawInput::Leave(p, why)));
        let joins = self.joins.drain(..self.joins.len().min(JOINS_PER_TURN_MAX));
        inputs.extend(joins.map(|(player, name, join)| RawInput::Join(player, name, join)));
        self.close_requests(&mut inputs);
        for (player, queue) in &mut self.players {
            let commands = queue.waiting.drain(..queue.waiting.len().min(COMMANDS_PER_TURN_MAX));
            inputs.extend(commands.map(|command| RawInput::Command(*player, command)));
        }
        if !inputs.is_empty() {
            let encoded_bytes = codec::compact(&inputs).len();
            let inputs = RawTurn::try_from(inputs).expect("the limits of each kind of input add up to a turn's");
            self.history_bytes += encoded_bytes;
            self.history.insert(self.open, ClosedTurn { inputs, encoded_bytes });
        }
        self.open = self.open.next();
    }

    fn close_requests(&mut self, inputs: &mut Vec<RawInput>) {
        let mut bytes = 0;
        for _ in 0..REQUESTS_PER_TURN_MAX {
            let Some(request) = self.requests.pop_front_if(|next| bytes + next.len() <= REQUEST_BYTES_PER_TURN_MAX)
            else {
                return;
            };
            bytes += request.len();
            inputs.push(RawInput::Request(request));
        }
    }

    /// The inputs of a closed tick that is not forgotten; none if the turn is empty.
    pub fn turn(&self, tick: Tick) -> &[RawInput] {
        self.history.get(&tick).map_or(&[], |turn| &turn.inputs)
    }

    /// Forgets the turns before a tick: nobody will ask for them.
    pub fn forget(&mut self, before: Tick) {
        self.oldest = self.oldest.max(before);
        while let Some(turn) = self.history.first_entry().filter(|turn| *turn.key() < before) {
            self.history_bytes -= turn.remove().encoded_bytes;
        }
    }

    /// What the turns that are not forgotten take on the wire, in bytes.
    pub fn history_bytes(&self) -> usize {
        self.history_bytes
    }

    /// The oldest tick whose turn is still known.
    pub fn oldest(&self) -> Tick {
        self.oldest
    }

    /// Closed turns from a tick on, as many as fit into `bytes_max`, and at least one.
    fn cut(&self, from: Tick, bytes_max: usize) -> Turns {
        let mut ticks = self.open.since(from).min(TICKS_PER_PACKET_MAX);
        let mut turns = List::default();
        let mut bytes = 0;
        for (tick, turn) in self.history.range(from..from.plus(ticks)) {
            bytes += turn.encoded_bytes + 5;
            let over = bytes > bytes_max && !turns.is_empty();
            if over || turns.push((tick.since(from), turn.inputs.clone())).is_err() {
                ticks = tick.since(from);
                break;
            }
        }
        Turns { from, ticks, turns, ..Turns::default() }
    }
}

/// What one replica has been sent and has acknowledged: decides what it is sent next.
///
/// A turn is sent in [`TURN_SENDS`] packets running. A replica that misses one nevertheless says so, and gets it again.
#[derive(Debug)]
pub struct Feed {
    stamps: Stamps,
    known: Tick,
    /// Where the newest packets ended, oldest first.
    ends: [Tick; TURN_SENDS],
    asked: bool,
    answered: Option<Duration>,
    sent: Option<(Tick, Duration)>,
    checksums: VecDeque<(Tick, Checksum)>,
}

/// A replica acknowledged a tick that is not closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FromTheFuture;

impl Feed {
    /// For a replica that needs the turns from a tick on.
    pub fn new(from: Tick) -> Feed {
        let (asked, answered, sent) = (false, None, None);
        let checksums = VecDeque::new();
        Feed { stamps: Stamps::default(), known: from, ends: [from; TURN_SENDS], asked, answered, sent, checksums }
    }

    /// Takes note of a report's acknowledgement.
    ///
    /// # Errors
    /// [`FromTheFuture`] if it is for a tick at or after `open`; then nothing is noted.
    pub fn acknowledge(&mut self, report: &Report, open: Tick, now: Duration) -> Result<(), FromTheFuture> {
        if report.known > open {
            return Err(FromTheFuture);
        }
        self.known = self.known.max(report.known);
        let pause = self.stamps.timeout().max(ANSWER_PAUSE_MIN);
        let rested = self.answered.is_none_or(|answered| now >= answered + pause);
        self.asked |= report.missing && report.known == self.known && rested;
        Ok(())
    }

    /// The first tick that the replica does not know, as far as it told.
    pub fn known(&self) -> Tick {
        self.known
    }

    /// The numbers of this stream.
    pub fn stamps(&mut self) -> &mut Stamps {
        &mut self.stamps
    }

    /// The smoothed round-trip time, once measured.
    pub fn rtt(&self) -> Option<Duration> {
        self.stamps.rtt()
    }

    /// Notes a checksum of the sequencer's world for the next packet.
    pub fn checksum(&mut self, tick: Tick, checksum: Checksum) {
        if self.checksums.len() == CHECKSUMS_PER_PACKET_MAX {
            self.checksums.pop_front();
        }
        self.checksums.push_back((tick, checksum));
    }

    /// Whether something must be sent at tick `now_tick`, of the sequencer's time: every `interval_ticks`, and to an asker at once.
    pub fn due(&self, now_tick: Tick, interval_ticks: u32) -> bool {
        self.asked || self.sent.is_none_or(|(tick, _)| now_tick.since(tick) >= interval_ticks)
    }

    /// When the last packet was sent.
    pub fn sent_at(&self) -> Option<Duration> {
        self.sent.map(|(_, at)| at)
    }

    /// The next packets.
    pub fn packets(
        &mut self,
        sequencer: &Sequencer,
        now_tick: Tick,
        now: Duration,
        commands_taken: u32,
    ) -> Vec<(Channel, Turns)> {
        self.sent = Some((now_tick, now));
        let asked = core::mem::take(&mut self.asked);
        if asked {
            self.answered = Some(now);
        }
        let from = if asked { self.known } else { self.ends[0].max(self.known) };
        let turns = sequencer.cut(from, TURN_PACKET_BYTES_MAX);
        let mut packets = if turns.end() == sequencer.open() {
            self.ends.rotate_left(1);
            self.ends[TURN_SENDS - 1] = turns.end();
            vec![(Channel::Unreliable, turns)]
        } else {
            let newest = self.ends[TURN_SENDS - 1].max(self.known);
            self.bulk(sequencer, if asked { self.known } else { newest }, now)
        };
        for (_, turns) in &mut packets {
            turns.stamp = self.stamps.stamp(now);
            turns.commands_taken = commands_taken;
            turns.checksums = self.checksums.drain(..).collect::<Vec<_>>().try_into().expect("no more are kept");
        }
        packets
    }

    /// Far behind: on the reliable channel, each turn once.
    fn bulk(&mut self, sequencer: &Sequencer, mut from: Tick, now: Duration) -> Vec<(Channel, Turns)> {
        let mut packets = Vec::new();
        while from < sequencer.open() && packets.len() < BULK_PACKETS_AT_ONCE_MAX {
            let turns = sequencer.cut(from, BULK_PACKET_BYTES_MAX);
            from = turns.end();
            packets.push((Channel::Reliable, turns));
        }
        self.ends = [from; TURN_SENDS];
        self.answered = Some(now);
        packets
    }
}
