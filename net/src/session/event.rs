//! What a session tells: packets to send, events to read, its phase.

use core::fmt;

use lockstone_sim::{CellId, Checksum, PlayerId, Simulation, Tick, Turn};

use crate::limits::CHAT_BYTES_MAX;
use crate::link::{Channel, LinkError, PeerId};
use crate::transfer::TransferError;
use crate::wire::{Branch, LeaveReason, PublicKey, Refusal, Signed};

/// A packet to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// To whom.
    pub to: PeerId,
    /// How.
    pub channel: Channel,
    /// What.
    pub bytes: Vec<u8>,
}

/// What happened. A recording is written from these.
pub enum Event<S: Simulation> {
    /// The world is there. Comes before any turn, and again when the world was loaded anew or put
    /// right.
    Started {
        /// The first turn that will be played.
        tick: Tick,
        /// The seed the world was built with.
        seed: u64,
        /// This peer's player.
        player: PlayerId,
        /// The serialised state at `tick`.
        snapshot: Vec<u8>,
    },
    /// A turn that is not empty was played. Ticks in between had empty turns.
    Turn {
        /// The tick it was played at.
        tick: Tick,
        /// What entered.
        turn: Turn<S>,
    },
    /// The checksum of the state before the turn of a tick: of every tick, whether peers
    /// compare it or not.
    Checksum {
        /// The tick.
        tick: Tick,
        /// The whole world's.
        checksum: Checksum,
        /// Its parts, if the settings ask for them: see [`Simulation::tree`].
        tree: Vec<(CellId, Checksum)>,
    },
    /// A copy of the state before the turn of a tick: of every
    /// [`KEYFRAME_TICKS`](crate::limits::KEYFRAME_TICKS)-th, and just before a
    /// [`Desync`](Event::Desync) is told, as of the last tick that is final. [`Simulation::encode`]
    /// makes bytes of it.
    Keyframe {
        /// The tick.
        tick: Tick,
        /// The state.
        snapshot: S::Snapshot,
    },
    /// What the turns so far say beside the world, as of a state that was just told: who the
    /// session's players are, and what waits for a turn. With that state, and the turns that
    /// follow, the session can be [gone on](super::Continuation) with. Only who plays the whole
    /// world of a party or a relay session is told.
    Ledger {
        /// The state's tick.
        tick: Tick,
        /// Serialised. Nobody else need look into it.
        ledger: Vec<u8>,
    },
    /// Who plays a player that came in, or back, with the turn that was told last; or that was in
    /// the session as this peer's world began.
    Member {
        /// Who.
        player: PlayerId,
        /// The key by which the player is known again, if it has one.
        key: Option<PublicKey>,
    },
    /// A player is in the world (or was, when this peer joined).
    PlayerJoined {
        /// Who.
        player: PlayerId,
        /// The player's name.
        name: String,
    },
    /// A player's hero came into the part of a relay's world that is known here. The player may
    /// have been in the session for long.
    PlayerNear {
        /// Who.
        player: PlayerId,
        /// The player's name.
        name: String,
    },
    /// A player is lost, and may come back. The hero stays as the rules say.
    PlayerAway {
        /// Who.
        player: PlayerId,
        /// Why.
        reason: LeaveReason,
    },
    /// A player who was away is back.
    PlayerBack {
        /// Who.
        player: PlayerId,
        /// The player's name.
        name: String,
    },
    /// A player is gone for good, and so is the hero.
    PlayerLeft {
        /// Who.
        player: PlayerId,
        /// Why.
        reason: LeaveReason,
    },
    /// The others of a rollback session waited for a player for 2 s more than they played since. It
    /// is put out if it goes on so:
    /// [`slowness_timeout`](crate::rollback::RollbackSettings::slowness_timeout).
    HoldsUp {
        /// Whom they wait for.
        player: PlayerId,
    },
    /// What another peer proved does not fit the connection to it, which is given up. Someone is
    /// between the two, and could read and change what they say: a dishonest server that brought
    /// them together, say. Or that peer lies.
    Intercepted {
        /// The other end, as the carrier named it.
        peer: PeerId,
    },
    /// Too few of a party's members can be reached for anyone to lead: the others may go on, and
    /// this peer waits for them. Told once when that has lasted for 2 s, and again after 10 s
    /// ([`silence_timeout`](crate::party::PartySettings::silence_timeout)).
    Minority {
        /// How many can be reached, this peer included.
        reached: usize,
        /// Of how many.
        members: usize,
        /// Whether its player may go on without the others:
        /// [`go_on_as_branch`](super::Session::go_on_as_branch).
        may_branch: bool,
    },
    /// Which history is played from here on: told with each [`Started`](Event::Started) of a whole
    /// world, and when a party goes on as a branch.
    Branch {
        /// Its name: no two histories of a session have the same.
        branch: Branch,
        /// If it is a branch that begins with the turn that was told last: whose peer leads it.
        leader: Option<PlayerId>,
    },
    /// A branch met the session, or another branch of it, which goes on in its place. What this
    /// peer played apart does not count any more. It loads that one's world, where its hero waits.
    Yielded,
    /// A player said something: another, or this one. It is no part of the game.
    Said {
        /// Who.
        player: PlayerId,
        /// The player's name.
        name: String,
        /// What.
        text: String,
    },
    /// A peer's world has become another than this one's. Told once for each peer, and again if it
    /// was repaired since.
    Desync {
        /// Whose: to a party's replica always the sequencer.
        player: PlayerId,
        /// The tick of the first checksums that differed.
        tick: Tick,
        /// The newest earlier tick at which they were equal: the fault lies between.
        agreed: Option<Tick>,
        /// This peer's checksum.
        ours: Checksum,
        /// The other peer's.
        theirs: Checksum,
    },
    /// A world that had become another was put right: this peer's own, or to a party's sequencer
    /// that of one of the others. In a rollback session that is so of who was told another story
    /// than the rest, once who told both is out. For this peer's own it follows a
    /// [`Started`](Event::Started) with the state as it is now: recordings begin anew, as those
    /// before tell another history.
    Repaired {
        /// Whose.
        player: PlayerId,
        /// The state before this tick's turn was put right.
        tick: Tick,
        /// How many cells were replaced. 0 if what differed is in none, or if all of the state was.
        cells: u32,
        /// Whether more than half of the members have this state, or a replay came to it. Else
        /// nobody could tell whose world is right, and the session goes on from the sequencer's, or
        /// from the first player's of as many as have another.
        is_proven: bool,
    },
    /// A player's peer reported a false checksum: its world is right and was right, as it says when
    /// it is asked what it is made of. It is put out. To a party's sequencer and a relay. To a
    /// party's members if its sequencer told other checksums than a quorum had, and did not hand
    /// over within 5 s: they vote for another, who puts it out.
    Liar {
        /// Whose.
        player: PlayerId,
    },
    /// A member of a party wants another out.
    VoteOut {
        /// Who wants it. It may be this player.
        by: PlayerId,
        /// Whom. It may be this player.
        player: PlayerId,
        /// How many want that by now.
        votes: usize,
        /// Of how many members who are there.
        members: usize,
    },
    /// A party's sequencer told some other turns than others, and signed both; or it does not sign
    /// what it tells. The members vote for another, and who leads on puts it out. The same of a
    /// rollback player and its commands: it is lost. Or either voted for two in one epoch, and
    /// signed both: its votes count no more, and it is put out, or lost.
    Distrusted {
        /// Whose peer it is.
        player: PlayerId,
        /// Whether it signed both.
        is_proven: bool,
    },
    /// What a player signed of what it told: both that contradict each other, or of a rollback
    /// session's players the newest, as worlds differ.
    Signed(Signed),
    /// Worlds differ, and no more than half of the members agree on one: a replay of this peer's
    /// recording can tell which is right. It is to be given within 1.5 s, by
    /// [`give_reference`](super::Session::give_reference). To a party's sequencer and a rollback
    /// session's players; to a relay whenever a core differs, which may wait for it.
    ReferenceWanted {
        /// The checksum of the state before this tick's turn is wanted.
        tick: Tick,
        /// States up to this tick were equal: the replay begins at one of them. `None`: at the
        /// first there is.
        agreed: Option<Tick>,
    },
    /// Worlds differ in this session, this peer's or others': evidence is wanted of every
    /// player. It is to be given within 12 s by
    /// [`give_evidence`](super::Session::give_evidence). At most once a minute.
    EvidenceWanted {
        /// How long it may be.
        bytes_max: usize,
    },
    /// Another player's evidence has arrived, as that player's peer announced it.
    /// Hostile until checked.
    Evidence {
        /// Whose.
        player: PlayerId,
        /// What it gave.
        bytes: Vec<u8>,
    },
    /// No more evidence will come. One for each [`EvidenceWanted`](Event::EvidenceWanted), at
    /// most 30 s after it.
    EvidenceComplete {
        /// Whose did not come: it had none, was lost, was too slow, or did not send what
        /// it had announced.
        missing: Vec<PlayerId>,
    },
    /// A joiner was refused: this peer, or one that knocked here.
    Refused {
        /// The other side.
        peer: PeerId,
        /// The joiner's name, as far as it could be read.
        name: String,
        /// Why.
        refusal: Refusal,
    },
    /// The session is over for this peer. The last event.
    Ended {
        /// The tick that would have been next.
        tick: Tick,
        /// Why.
        reason: EndReason,
    },
}

// A derive would ask for `S: Debug`.
impl<S: Simulation> fmt::Debug for Event<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Started { tick, seed, player, snapshot } => {
                write!(f, "started at {tick} as {player}, seed {seed}, {} bytes", snapshot.len())
            }
            Event::Turn { tick, turn } => write!(f, "turn {tick}: {turn:?}"),
            Event::Checksum { tick, checksum, .. } => write!(f, "checksum {tick}: {checksum}"),
            Event::Keyframe { tick, .. } => write!(f, "keyframe {tick}"),
            Event::Ledger { tick, ledger } => write!(f, "ledger {tick}, {} bytes", ledger.len()),
            Event::Member { player, key } => write!(f, "{player} is known by {key:?}"),
            Event::PlayerJoined { player, name } => write!(f, "{player} joined: {name}"),
            Event::PlayerNear { player, name } => write!(f, "{player} came near: {name}"),
            Event::PlayerAway { player, reason } => write!(f, "{player} {reason}, and may come back"),
            Event::PlayerBack { player, name } => write!(f, "{player} is back: {name}"),
            Event::PlayerLeft { player, reason } => write!(f, "{player} {reason}"),
            Event::HoldsUp { player } => write!(f, "{player} holds the others up"),
            Event::Intercepted { peer } => write!(f, "someone is between this peer and {peer}"),
            Event::Minority { reached, members, may_branch } => {
                let may = if *may_branch { ", and may go on" } else { "" };
                write!(f, "{reached} of {members} can be reached{may}")
            }
            Event::Branch { branch, leader } => write!(f, "branch {branch}, begun by {leader:?}"),
            Event::Yielded => write!(f, "another branch is the session"),
            Event::Said { name, text, .. } => write!(f, "{name}: {text}"),
            Event::Desync { player, tick, agreed, ours, theirs } => {
                write!(f, "desync with {player} at {tick} (agreed {agreed:?}): {ours}, theirs {theirs}")
            }
            Event::Repaired { player, tick, cells, is_proven } => {
                let doubt = if *is_proven { "" } else { ", unproven" };
                write!(f, "repaired {player} at {tick}: {cells} cells{doubt}")
            }
            Event::Liar { player } => write!(f, "{player} reported a false checksum"),
            Event::VoteOut { by, player, votes, members } => {
                write!(f, "{by} wants {player} out, as {votes} of {members} do")
            }
            Event::Distrusted { player, is_proven: true } => write!(f, "{player} told two stories"),
            Event::Distrusted { player, is_proven: false } => write!(f, "{player} does not sign what it tells"),
            Event::Signed(signed) => write!(f, "{} signed {:?}", signed.player, signed.word),
            Event::ReferenceWanted { tick, agreed } => write!(f, "reference of {tick} wanted, agreed {agreed:?}"),
            Event::EvidenceWanted { bytes_max } => write!(f, "evidence wanted, {bytes_max} bytes at most"),
            Event::Evidence { player, bytes } => write!(f, "evidence of {player}, {} bytes", bytes.len()),
            Event::EvidenceComplete { missing } => write!(f, "evidence complete, missing {missing:?}"),
            Event::Refused { peer, name, refusal } => write!(f, "refused {name} ({peer}): {refusal}"),
            Event::Ended { tick, reason } => write!(f, "ended at {tick}: {reason}"),
        }
    }
}

/// Why a session is over for a peer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EndReason {
    /// This peer left.
    #[error("left the session")]
    Left,
    /// The sequencer ended the session.
    #[error("the host ended the session")]
    SequencerLeft,
    /// The connection to the sequencer broke, or nothing was heard of it for too long.
    #[error("{}", if *silent { "the host was not heard of for too long" } else { "the connection to the host broke" })]
    SequencerLost {
        /// Whether it fell silent, rather than the connection breaking.
        silent: bool,
    },
    /// The sequencer did not let this peer in.
    #[error("not let in: {0}")]
    Refused(Refusal),
    /// The sequencer put this peer out, or the other players of a rollback session did.
    #[error("put out of the session: this peer {0}")]
    Removed(LeaveReason),
    /// This relay was lost, and its standby leads the session now.
    #[error("another relay leads the session now")]
    Superseded,
    /// Players of a rollback session were lost, and those that this peer still hears are too few to
    /// go on: the others may play on without it.
    #[error("too few of the players can be reached to go on")]
    NoQuorum,
    /// Nobody in the room runs a session.
    #[error("nobody in the room runs a session")]
    NoSession,
    /// There is a session, but its sequencer cannot be reached from here.
    #[error("the session's host {0} cannot be reached from here")]
    Unreachable(PeerId),
    /// The carrier never let this peer into the room.
    #[error("the room did not let this peer in")]
    NotEntered,
    /// The world did not arrive as it was announced.
    #[error("the world did not arrive whole: {0}")]
    Transfer(TransferError),
    /// The world that arrived cannot be read.
    #[error("the world that arrived cannot be read: {0}")]
    Snapshot(lockstone_sim::codec::CodecError),
    /// Loading the world made no progress for too long.
    #[error("loading the world made no progress for too long")]
    LoadTimeout,
    /// This peer's world had become another than the sequencer's, or than that of a rollback
    /// session's first player.
    #[error("this peer's world fell out of step")]
    Desync,
    /// The link itself ended.
    #[error("{0}")]
    Link(LinkError),
}

/// How far a session has come.
#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    /// Looking for the session.
    Connecting,
    /// The world is on its way.
    Loading {
        /// Bytes that have arrived.
        bytes: usize,
        /// All bytes.
        total: usize,
    },
    /// The world is here, and plays what has happened since; then the hero enters.
    CatchingUp,
    /// The founder holds tick 0 for other players.
    Waiting {
        /// Players that are there.
        players: usize,
        /// Players that the founder waits for.
        needed: usize,
    },
    /// In the session, and in step.
    Playing,
    /// A relay's standby: it has the whole world, and leads on if the relay is lost.
    StandingBy,
    /// The session was lost, and is looked for again: the hero waits in it.
    Returning,
    /// Someone is lost: the players that are left decide who goes on, and from where.
    Regrouping,
    /// This peer's world fell out of step. It no longer plays, and stays until evidence is
    /// exchanged.
    OutOfStep,
    /// Over.
    Ended(EndReason),
}

/// Why a command was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// This peer's hero is not in the world.
    #[error("the hero is not in the world")]
    NotPlaying,
    /// The command's encoding is too long.
    #[error("a command of {0} bytes is too long")]
    TooLong(usize),
    /// Too many commands wait: for the sequencer, or for a tick of their own.
    #[error("too many commands wait")]
    Full,
}

/// Going on as a branch is not offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the session is not cut off from others")]
pub struct BranchError;

/// Nobody is voted out so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("only members of a party vote another of them out")]
pub struct VoteError;

/// Why something was not said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SayError {
    /// This peer's hero is not in the world.
    #[error("the hero is not in the world")]
    NotPlaying,
    /// It is no line of text.
    #[error("a line has 1 to {CHAT_BYTES_MAX} bytes and no control characters")]
    Text,
    /// Too much was said just now.
    #[error("that was too much in a second")]
    TooOften,
}

/// Why evidence was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvidenceError {
    /// Nobody asked for it, it was given before, or it comes too late.
    #[error("no evidence is wanted")]
    NotWanted,
    /// It is too long.
    #[error("evidence of {len} bytes, where at most {max} are allowed")]
    TooLong {
        /// How long.
        len: usize,
        /// How long it may be.
        max: usize,
    },
}
