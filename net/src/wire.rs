//! What travels between peers: the messages, their bytes, and the checks that every packet passes
//! before anyone looks at it.
//!
//! Commands, heroes, joins and requests are byte strings here; the session knows their types.
//! `PROTOCOL.md` describes the bytes. Decoding never panics, never reserves more than the packet
//! can justify, and leaves no byte unread.

mod bounded;
mod distant;
mod encoded;
mod evidence;
mod members;
mod relay;
mod repair;
mod rollback;
mod terms;

pub use bounded::{Bytes, ChatLine, List, Name, Text, TooMany};
pub use distant::{Distant, Landmarks, Route, Samples, Track};
pub(crate) use encoded::{Encoded, TurnsKind, encode_turns};
pub use evidence::{Inquiry, Parcel};
pub use members::{
    Attestation, Author, Branch, Fitness, Heir, Known, Lead, Meet, Rank, Signed, Stand, TwoVotes, Vote, Vouch, Word,
};
pub use relay::{CellBytes, CoreTree, Frame, Frames, Load, LoadedCells, Nearby, RawGiven};
pub use repair::{Parts, Repair, Survey};
pub use rollback::{Form, Inputs, Member, Regroup};
pub use terms::{Difference, Identity, Refusal, SessionKind, Subject, Terms};

use core::fmt;
use lockstone_sim::codec::{self, CodecError};
use lockstone_sim::{Checksum, PlayerId, Tick};
use serde::{Deserialize, Serialize};

pub use crate::key::{Proof, PublicKey};
use crate::limits::*;
use crate::link::PeerId;
pub use crate::members::Electorate;

/// The version of this wire format. Peers with different ones refuse each other.
pub const PROTOCOL_VERSION: u32 = 16;

/// Which part of a session a packet belongs to. In a party, which sequencer closes ticks: 0 for the
/// founder, a later one after each election. In a rollback session, who is left: a later one after
/// each election.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Epoch(pub u32);

/// A command, encoded.
pub type CommandBytes = Bytes<COMMAND_BYTES_MAX>;
/// The inputs of a turn, in the order in which they are applied: leaves, joins, requests, then
/// commands by player and number.
pub type RawTurn = List<RawInput, INPUTS_PER_TURN_MAX>;
/// Checksums by tick.
pub type Checksums = List<(Tick, Checksum), CHECKSUMS_PER_PACKET_MAX>;

/// One thing that peers say to each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Message {
    /// Joiner to everyone it connects to, reliable: may I join?
    Hello(Hello),
    /// Sequencer to joiner, reliable: no, and why. The last message of a session with this peer.
    Refusal(Refusal),
    /// Replica to joiner, reliable: the sequencer is someone else.
    Elsewhere(PeerId),
    /// Sequencer to joiner, reliable: yes. The snapshot follows in chunks.
    Welcome(Welcome),
    /// Sequencer to joiner, reliable: the next piece of the snapshot.
    Chunk(Bytes<CHUNK_BYTES>),
    /// Joiner to sequencer, reliable: how many bytes of the snapshot have arrived.
    ChunkAck(u32),
    /// Joiner to sequencer, reliable: caught up; the hero may enter.
    Ready,
    /// Sequencer to replica: closed ticks. Reliable only if a replica is too far behind for one
    /// packet.
    Turns(Turns),
    /// Replica to sequencer, unreliable: commands, acknowledgements and checksums.
    Report(Report),
    /// Between sequencer and replica, reliable: our checksums differ.
    Desync(DesyncNotice),
    /// Replica to sequencer, or rollback player to all, reliable: this player leaves.
    Bye(LeaveReason),
    /// Sequencer to replica, or rollback player to player, reliable: you are out of the session.
    Removed(LeaveReason),
    /// Sequencer to replica, reliable: the sender leaves. A relay's session ends with that; in a
    /// party another leads on.
    Ending,
    /// Rollback, founder to joiner, reliable: let in, and so many players of so many are there.
    Gathering(u8, u8),
    /// Rollback, founder to joiner, reliable: all are there, and tick 0 begins.
    Form(Form),
    /// Rollback, player to player, unreliable: what the sender plays.
    Inputs(Inputs),
    /// Rollback, player to player, unreliable and repeated: the sender has stopped, whom it has
    /// lost, and who is to lead.
    Regroup(Regroup),
    /// Sequencer to replica, or rollback player to player, reliable: worlds differ; give evidence.
    Inquiry(Inquiry),
    /// Witness to witness, reliable: a step of the way of evidence.
    Parcel(Parcel),
    /// Relay to replica: closed ticks, as that replica needs them. Reliable only if it is too far
    /// behind for one packet.
    Frames(Frames),
    /// Relay to replica, reliable: cells' states, the first piece.
    Load(Load),
    /// Replica to relay, reliable: the checksums of the cells of its core, after a difference.
    CoreTree(CoreTree),
    /// Relay to replica, unreliable: what changed of what its player sees from afar.
    Distant(Distant),
    /// Replica to sequencer, or rollback player to player, reliable: this player says something.
    Say(ChatLine),
    /// Sequencer to replica, reliable: a player said something.
    Said(Said),
    /// Relay to replica, reliable: whose heroes came into what it knows, and whose went out of it.
    Nearby(Nearby),
    /// Member to member, unreliable and repeated: who is to lead.
    Stand(Stand),
    /// From who is elected to a member, unreliable and repeated: send the turns from here on.
    /// Rollback, player to player, reliable: send your world before that tick.
    Fetch(Tick),
    /// The answer, reliable.
    Fetched(Turns),
    /// From who leads now to a replica, or in a rollback session to a player that is left,
    /// unreliable and repeated until it follows.
    Lead(Lead),
    /// Sequencer to joiner, reliable: prove that you have the key that you named, with this.
    Challenge(u64),
    /// The answer, reliable.
    Proof(Proof),
    /// From who leads to a member that was lost, reliable and repeated: there may be two branches
    /// of the session.
    Meet(Meet),
    /// Party, sequencer to replica, reliable: your world differs; say what it is made of.
    Survey(Survey),
    /// The answer, reliable.
    Parts(Parts),
    /// Party, sequencer to replica, reliable: what is put right, or that nothing differs. Rollback,
    /// player to player, reliable: the world that was asked for.
    Repair(Option<Repair>),
    /// Relay to replica, reliable: who leads on if the relay is lost. The answer, reliable: known.
    Heir(Heir),
    /// Party, sequencer to replica, reliable; from that to each other, unreliable: what the
    /// sequencer signed. Rollback, player to player, reliable: what the sender signed.
    Attested(Attestation),
    /// Party, member to all others, reliable: it wants that player out.
    VoteOut(PlayerId),
    /// Rollback, player to player, unreliable: what another signed.
    PassedOn(PlayerId, Attestation),
    /// Party, member to all others, reliable: how well it can lead.
    Fitness(Fitness),
    /// Rollback, player to all others, reliable: that player's world is the odd one.
    Odd(PlayerId),
    /// Whoever has a key to whoever it hears, once for each connection, reliable: it is at the
    /// other end.
    Vouch(Vouch),
    /// Party, member to all others; rollback, player to all others, reliable: one voted for two in
    /// one epoch.
    TwoVotes(TwoVotes),
}

impl Message {
    /// The epoch that it must say, if it must say a certain one; `session` is that of the
    /// receiver's session.
    pub(crate) fn epoch(&self, session: Option<Epoch>) -> Option<Epoch> {
        match self {
            // Its sender may not know any, or it counts in all.
            Message::Hello(_)
            | Message::Refusal(_)
            | Message::Elsewhere(_)
            | Message::Inquiry(_)
            | Message::Parcel(_)
            | Message::Stand(_)
            | Message::Fitness(_)
            | Message::Meet(_)
            | Message::Vouch(_)
            | Message::TwoVotes(_)
            | Message::Regroup(_) => Some(Epoch::default()),
            // It names that of a session which begins with it for the receiver.
            Message::Welcome(_) | Message::Gathering(..) | Message::Form(_) | Message::Challenge(_) => None,
            _ => session,
        }
    }
}

/// A joiner presents itself.
///
/// Its first field and its place in [`Message`] never change, so that peers of different versions
/// can tell each other so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// The joiner's [`PROTOCOL_VERSION`].
    pub protocol: u32,
    /// What must be equal on all peers.
    pub terms: Terms,
    /// The player's name.
    pub name: Name,
    /// The player's hero, encoded.
    pub hero: Bytes<HERO_BYTES_MAX>,
    /// The key by which the player is known again, if it has one.
    pub key: Option<PublicKey>,
    /// The newest epoch in which the joiner voted, if it was in the session before: it must count
    /// for no leader of an older one.
    pub promised: Epoch,
    /// How often the joiner has looked for the session before: an answer to an earlier hello counts
    /// no more.
    pub attempt: u32,
}

/// A joiner is let in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Welcome {
    /// Of the hello that it answers.
    pub attempt: u32,
    /// The player that the joiner will be.
    pub player: PlayerId,
    /// The sequencer's own player.
    pub sequencer: PlayerId,
    /// The seed that the world is built with.
    pub seed: u64,
    /// If the player's hero is in the world, so that nothing has to enter it: how many of its
    /// commands are in closed turns. The next has that number.
    pub plays: Option<u32>,
    /// The tick of the snapshot: the first turn to play on it.
    pub tick: Tick,
    /// The snapshot's length.
    pub snapshot_bytes: u32,
    /// The snapshot's digest: the first half of its BLAKE3.
    pub snapshot_digest: u128,
    /// The players in the snapshot.
    pub roster: List<(PlayerId, Name), PLAYERS_MAX>,
}

/// A packet's number and the answer to the newest packet from the other side, from which both learn
/// the round-trip time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// Counts the packets of one direction.
    pub number: u32,
    /// The newest packet of the other direction, if it was not echoed before.
    pub echo: Option<Echo>,
}

/// The answer to a numbered packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Echo {
    /// The packet's number.
    pub number: u32,
    /// How long ago it had arrived, in milliseconds.
    pub held_ms: u16,
}

/// Closed ticks. All turns from `from` on, `ticks` of them, are in here: those not listed are
/// empty. Of a party the turns of all; of a relay session those of one replica, its [`Frames`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Turns<T = RawTurn> {
    /// Number and echo.
    pub stamp: Stamp,
    /// The first tick that this packet tells of.
    pub from: Tick,
    /// How many ticks it tells of.
    pub ticks: u32,
    /// The turns that are not empty: ticks after `from`, ascending.
    pub turns: List<(u32, T), TURNS_PER_PACKET_MAX>,
    /// How many of the replica's commands have been taken.
    pub commands_taken: u32,
    /// The sequencer's newest checksums.
    pub checksums: Checksums,
}

/// One input of a turn, as bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum RawInput {
    /// A player's command.
    Command(PlayerId, CommandBytes),
    /// A player enters.
    Join(PlayerId, Name, Bytes<JOIN_BYTES_MAX>),
    /// A player is gone.
    Leave(PlayerId, LeaveReason),
    /// The simulation's own request.
    Request(Bytes<REQUEST_BYTES_MAX>),
    /// Who plays a player that joins or comes back, and by which key it is known
    /// again. It stands before the join or the return.
    Member(PlayerId, PeerId, Option<PublicKey>),
    /// In a party: whose votes count from now on, beside those who counted before.
    Electorate(Electorate),
    /// In a party: those who counted before do not any more.
    Settled,
    /// A player is lost, and may come back to its hero.
    Away(PlayerId, LeaveReason),
    /// A player who was away is back, and is called so now.
    Back(PlayerId, Name),
    /// In a party: who leads goes on as a branch, without a quorum. Its vote alone counts.
    Branch(Vote),
}

impl RawInput {
    /// Who is gone with it, for good or for now.
    pub(crate) fn leaver(&self) -> Option<PlayerId> {
        match self {
            RawInput::Leave(player, _) | RawInput::Away(player, _) => Some(*player),
            _ => None,
        }
    }
}

/// Why a player is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LeaveReason {
    /// The player left.
    Left,
    /// The connection broke.
    Lost,
    /// Nothing was heard for too long.
    Silent,
    /// The peer fell too far behind.
    TooSlow,
    /// The peer's world had become another.
    Desync,
    /// The player was lost, and did not come back in time.
    Away,
    /// The player came back from elsewhere.
    Replaced,
    /// This part of the session is given up for another, in which more of its players are.
    Yielded,
    /// The peer reported false checksums of a right world, again and again.
    Lied,
    /// The peer told some other turns than others, as it led, or voted for two in one epoch.
    Distrusted,
    /// A quorum of the members wanted the player out.
    VotedOut,
}

impl LeaveReason {
    /// Whether a party lets nobody in any more by the player's key.
    pub(crate) fn outlaws(self) -> bool {
        matches!(self, LeaveReason::Distrusted | LeaveReason::VotedOut)
    }

    /// Whether the player may come back to its hero.
    pub(crate) fn may_return(self) -> bool {
        matches!(self, LeaveReason::Lost | LeaveReason::Silent | LeaveReason::TooSlow | LeaveReason::Replaced)
    }
}

impl fmt::Display for LeaveReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LeaveReason::Left => "left",
            LeaveReason::Lost => "lost the connection",
            LeaveReason::Silent => "was not heard of for too long",
            LeaveReason::TooSlow => "fell too far behind",
            LeaveReason::Desync => "fell out of step",
            LeaveReason::Away => "was away for too long",
            LeaveReason::Replaced => "came back from elsewhere",
            LeaveReason::Yielded => "went over to the others",
            LeaveReason::Lied => "reported false checksums",
            LeaveReason::Distrusted => "told some a different story",
            LeaveReason::VotedOut => "was voted out",
        })
    }
}

/// What a replica tells the sequencer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Number and echo.
    pub stamp: Stamp,
    /// The first tick whose turn has not arrived.
    pub known: Tick,
    /// Whether something after `known` has arrived, so that `known` must be sent again.
    pub missing: bool,
    /// The number of the first command in here. Numbers start at 0.
    pub first_command: u32,
    /// Commands that are not known to be taken.
    pub commands: List<CommandBytes, COMMANDS_PER_PACKET_MAX>,
    /// The replica's newest checksums.
    pub checksums: Checksums,
    /// The tick of the newest packet of the distant view, if one has come since the last report.
    pub distant: Option<Tick>,
}

/// What a player said. The name comes along: a relay's replica may never have been near that
/// player.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Said {
    /// Who.
    pub player: PlayerId,
    /// The player's name.
    pub name: Name,
    /// What.
    pub line: ChatLine,
}

/// Two checksums that should be equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesyncNotice {
    /// The tick of both.
    pub tick: Tick,
    /// The newest earlier tick at which both were equal, if they were compared before.
    pub agreed: Option<Tick>,
    /// The sender's.
    pub ours: Checksum,
    /// The receiver's.
    pub theirs: Checksum,
}

impl DesyncNotice {
    /// The same as the other side sees it.
    pub(crate) fn turned(self) -> DesyncNotice {
        DesyncNotice { ours: self.theirs, theirs: self.ours, ..self }
    }
}

/// Why a packet was not understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// Longer than any packet.
    #[error("a packet of {len} bytes, where at most {PACKET_BYTES_MAX} are allowed")]
    Oversized {
        /// How long.
        len: usize,
    },
    /// Not a message.
    #[error("not a message: {0}")]
    Malformed(#[from] CodecError),
    /// A message that contradicts itself.
    #[error("a message that contradicts itself: {0}")]
    Inconsistent(&'static str),
}

/// The bytes of a message.
pub fn encode(epoch: Epoch, message: &Message) -> Vec<u8> {
    codec::compact(&(epoch, message))
}

/// Reads a packet.
///
/// # Errors
/// [`WireError`] if it is not exactly one message whose parts fit together.
pub fn decode(packet: &[u8]) -> Result<(Epoch, Message), WireError> {
    if packet.len() > PACKET_BYTES_MAX {
        return Err(WireError::Oversized { len: packet.len() });
    }
    let (epoch, message) = codec::read(packet, PACKET_BYTES_MAX)?;
    match &message {
        Message::Turns(turns) | Message::Fetched(turns) => turns.check()?,
        Message::Welcome(welcome) => welcome.check()?,
        Message::Form(form) => form.check()?,
        Message::Inputs(inputs) => inputs.check(epoch)?,
        Message::Regroup(regroup) => regroup.check()?,
        Message::Lead(lead) => lead.check()?,
        Message::TwoVotes(two) => two.check()?,
        Message::Inquiry(inquiry) => inquiry.check()?,
        Message::Parcel(parcel) => parcel.check()?,
        Message::Frames(frames) => frames.check()?,
        Message::Load(load) => load.check()?,
        Message::CoreTree(tree) => tree.check()?,
        Message::Parts(parts) => parts.check()?,
        Message::Repair(Some(repair)) => repair.check()?,
        Message::Distant(distant) => distant.check()?,
        _ => {}
    }
    Ok((epoch, message))
}

/// The protocol version in a packet that may be a [`Hello`] of another version,
/// whatever follows there.
pub fn hello_version(packet: &[u8]) -> Option<u32> {
    // The epoch of a hello is 0, its tag is 0: one byte each.
    let rest = packet.strip_prefix(&[0, 0])?;
    let len = match rest.first()? {
        0..=250 => 1,
        251 => 3,
        252 => 5,
        _ => return None,
    };
    codec::read(rest.get(..len)?, len).ok()
}

impl WireError {
    /// Refuses a message unless something holds.
    fn unless(holds: bool, otherwise: &'static str) -> Result<(), WireError> {
        if holds { Ok(()) } else { Err(WireError::Inconsistent(otherwise)) }
    }
}

/// Whether pairs are in strictly ascending order of what they begin with.
fn ascending<K: PartialOrd, V>(pairs: &[(K, V)]) -> bool {
    pairs.is_sorted_by(|a, b| a.0 < b.0)
}

impl<T> Turns<T> {
    fn check(&self) -> Result<(), WireError> {
        let many = self.ticks > TICKS_PER_PACKET_MAX || self.from.0.checked_add(self.ticks).is_none();
        WireError::unless(!many, "too many ticks")?;
        let inside = self.turns.last().is_none_or(|(after, _)| *after < self.ticks);
        WireError::unless(ascending(&self.turns) && inside, "turns out of order")
    }

    /// The first tick after those that this packet tells of.
    pub fn end(&self) -> Tick {
        self.from.plus(self.ticks)
    }
}

impl Welcome {
    fn check(&self) -> Result<(), WireError> {
        WireError::unless(self.snapshot_bytes as usize <= SNAPSHOT_BYTES_MAX, "too large a snapshot")
    }
}
