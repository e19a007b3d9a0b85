//! What members say of who leads.

use core::fmt;

use lockstone_sim::{PlayerId, Tick, codec};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Epoch, LeaveReason, List, Proof, PublicKey, WireError, ascending};
use crate::key::{PlayerKey, Statement};
use crate::limits::{EPOCHS_TOLD_MAX, PLAYERS_MAX, ROLLBACK_PLAYERS_MAX};
use crate::link::PeerId;

/// A promise: to follow nobody of an older epoch, and nobody else in this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vote {
    /// The epoch that begins with the new leader.
    pub epoch: Epoch,
    /// Who is to lead it.
    pub leader: PlayerId,
}

/// Names a history that no other goes on from: of a session, or of a branch that left it. All who
/// play that history know it by the closed turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Branch(pub u64);

impl Vote {
    /// What shows that a voter gave it in a branch, as that peer, whose key that is.
    pub fn signed(self, branch: Branch, voter: PeerId, key: &PlayerKey) -> Proof {
        key.sign(&Ballot { branch, vote: self, voter })
    }

    /// Whether a voter gave it in a branch, as that peer, whose key that is.
    pub fn is_signed(self, branch: Branch, voter: PeerId, key: &PublicKey, proof: &Proof) -> bool {
        key.signed(&Ballot { branch, vote: self, voter }, proof)
    }
}

impl Branch {
    /// The one that leaves this one at a tick, founded by the one who has that vote, as that peer.
    pub(crate) fn founded(self, tick: Tick, vote: Vote, peer: Option<PeerId>) -> Branch {
        Branch(xxhash_rust::xxh3::xxh3_64(&lockstone_sim::codec::compact(&(self, tick, vote, peer))))
    }
}

impl fmt::Display for Branch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// How far a member's history goes. Of one branch the one that goes farther is the greater: of a
/// newer leader, else of more turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Known {
    /// The epoch of the leader that closed the newest of its turns.
    pub epoch: Epoch,
    /// The first tick whose turn it does not know.
    pub end: Tick,
    /// Of which history. What is known of one says nothing of another.
    pub branch: Branch,
    /// In a party that leader. Two have led in one epoch if a member voted for both: what is known
    /// of the turns of one says nothing of the other's.
    pub leader: PlayerId,
}

impl Default for Known {
    fn default() -> Known {
        Known { epoch: Epoch::default(), end: Tick(0), branch: Branch::default(), leader: PlayerId(0) }
    }
}

impl Known {
    /// Whether both are of the turns of one leader.
    pub(crate) fn is_of_same(&self, other: &Known) -> bool {
        (self.branch, self.epoch, self.leader) == (other.branch, other.epoch, other.leader)
    }

    /// Whether it goes on from another, as far as can be told.
    pub(crate) fn exceeds(&self, other: &Known) -> bool {
        self.epoch > other.epoch || self.is_of_same(other) && self.end > other.end
    }
}

/// What a member says of who leads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stand {
    /// Its newest vote. As long as it has given none, for the leader that let it in.
    pub vote: Vote,
    /// The epoch in which it would vote for another, if others would.
    pub doubts: Option<Epoch>,
    /// What it knows. It knows no more later, until the leader that it voted for leads; if that is
    /// itself, until it votes for another.
    pub known: Known,
    /// Members that it does not hear: led by one of them it would be alone.
    pub deaf: List<PlayerId, PLAYERS_MAX>,
    /// What shows that it gave that vote: what its key signed of the text
    /// `"lockstone: a member's vote"`, the branch, the vote and its peer. `None` if it has no key,
    /// or follows whom others elected.
    pub proof: Option<Proof>,
}

/// How well a member can lead a party: the lower, the better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Fitness {
    /// It keeps time, as a process of its own does. A member that says nothing is one of these.
    #[default]
    Steady,
    /// It is a browser's page, which may be slowed down at any time.
    Page,
    /// It is slowed down now, as a hidden page is.
    Slow,
}

/// Someone leads from now on, in the packet's epoch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lead {
    /// Where the turns go on from. In a party all that is closed already. In a rollback session
    /// what all who are left know, as far as their leader knew any leader's.
    pub from: Known,
    /// In a party how far the turns of each of the epochs before go, as far as they are remembered,
    /// ascending.
    pub before: List<Known, EPOCHS_TOLD_MAX>,
    /// In a rollback session everyone who is gone since it began, ascending, and why. In a party
    /// turns say it.
    pub gone: List<(PlayerId, LeaveReason), ROLLBACK_PLAYERS_MAX>,
    /// In a party those who voted for it and have a key, ascending, and what shows each vote.
    pub votes: List<(PlayerId, Proof), PLAYERS_MAX>,
}

/// What shows that a member voted for two in one epoch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TwoVotes {
    /// Whose votes.
    pub voter: PlayerId,
    /// In which epoch.
    pub epoch: Epoch,
    /// For whom, and what shows that.
    pub votes: [(PlayerId, Proof); 2],
}

/// Who leads on if the relay is lost, from now on. A replica says the same back: it knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heir {
    /// Counts what the relay said of it.
    pub number: u32,
    /// The relay's standby. `None`: nobody.
    pub peer: Option<PeerId>,
}

/// Which of two sessions in a room, or of two branches of one, is to go on: the one of the higher
/// rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Rank {
    /// Members that are there.
    pub members: u16,
    /// How often its ticks have doubled since it was founded, or left another. If it had more
    /// members than its founder, [`SHARED`](Rank::SHARED) is added.
    pub age: u8,
    /// Which one it is.
    pub branch: Branch,
}

impl Rank {
    /// Older than any session that had no member but its founder.
    pub const SHARED: u8 = 0x80;

    /// Whether it had more members than its founder.
    pub(crate) fn is_shared(&self) -> bool {
        self.age >= Rank::SHARED
    }
}

/// That its sender is at one end of the connection by which it comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vouch {
    /// The sender's key.
    pub key: PublicKey,
    /// What the key signed: the text `"lockstone: an end of a connection"`, the sender's peer and
    /// the connection's [`Binding`](crate::Binding).
    pub proof: Proof,
}

/// A sequencer's word for turns that it closed, or a rollback player's for commands that it gave.
/// Whoever shows two of the same author and tick with different digests proves that it told
/// different ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attestation {
    /// The tick after the newest of them, a multiple of
    /// [`ATTESTED_TICKS`](crate::limits::ATTESTED_TICKS), or
    /// [`ROLLBACK_ATTESTED_TICKS`](crate::limits::ROLLBACK_ATTESTED_TICKS).
    pub end: Tick,
    /// The SHA-256 of so many ticks' turns, or of the player's commands in them.
    pub digest: [u8; 32],
    /// What the author's key signed: the text `"lockstone: what was told of a span"`, the branch,
    /// the epoch, the author's peer, the tick and the digest.
    pub proof: Proof,
}

/// Who signs: in a branch the sequencer, or a rollback player. A peer leads a branch or plays in a
/// session from one history on, whatever epochs begin, so it has one story to tell of each tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Author {
    /// Which history they are of.
    pub branch: Branch,
    /// Epoch 0.
    pub epoch: Epoch,
    /// The author's peer.
    pub peer: PeerId,
}

impl Author {
    /// That peer, in that branch.
    pub fn of(branch: Branch, peer: PeerId) -> Author {
        Author { branch, epoch: Epoch::default(), peer }
    }
}

/// What a player signed, with all that it takes to prove it to anyone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signed {
    /// Who.
    pub player: PlayerId,
    /// The player's key, as the session began with it.
    pub key: PublicKey,
    /// As whom.
    pub author: Author,
    /// What.
    pub word: Word,
}

/// What a player signed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Word {
    /// What it told of a span of ticks.
    Span(Attestation),
    /// For whom it voted, and what shows that.
    Vote(Vote, Proof),
}

/// What an [`Attestation`] is a signature of.
#[derive(Serialize)]
struct Span {
    author: Author,
    end: Tick,
    digest: [u8; 32],
}

/// What the proof of a vote is a signature of.
#[derive(Serialize)]
struct Ballot {
    branch: Branch,
    vote: Vote,
    voter: PeerId,
}

/// A leader meets another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meet {
    /// The rank of the sender's session.
    pub ours: Rank,
    /// The rank of the receiver's, as it said last.
    pub yours: Option<Rank>,
}

impl Statement for Span {
    const SUBJECT: &'static str = "lockstone: what was told of a span";
}

impl Statement for Ballot {
    const SUBJECT: &'static str = "lockstone: a member's vote";
}

impl Attestation {
    /// What so many ticks come to, of those that are not empty: a turn's inputs, or a command.
    pub fn digest_of<T: Serialize>(told: impl IntoIterator<Item = (Tick, T)>) -> [u8; 32] {
        let digest = |digest: Sha256, told: (Tick, T)| digest.chain_update(codec::compact(&told));
        told.into_iter().fold(Sha256::new(), digest).finalize().into()
    }

    /// That of an author who has a key.
    pub fn of(author: Author, end: Tick, digest: [u8; 32], key: &PlayerKey) -> Attestation {
        Attestation { end, digest, proof: key.sign(&Span { author, end, digest }) }
    }

    /// Whether an author signed it, whose key that is.
    pub fn is_of(&self, author: Author, key: &PublicKey) -> bool {
        key.signed(&Span { author, end: self.end, digest: self.digest }, &self.proof)
    }
}

impl Signed {
    /// Whether the player signed it.
    pub fn is_sound(&self) -> bool {
        let Signed { key, author, word, .. } = self;
        match word {
            Word::Span(attestation) => attestation.is_of(*author, key),
            Word::Vote(vote, proof) => vote.is_signed(author.branch, author.peer, key, proof),
        }
    }

    /// Whether another is of the same author, and of other turns in the same ticks, or of a vote
    /// for another in the same epoch.
    pub fn contradicts(&self, other: &Signed) -> bool {
        let who = |signed: &Signed| (signed.player, signed.key, signed.author);
        let differ = match (&self.word, &other.word) {
            (Word::Span(ours), Word::Span(theirs)) => ours.end == theirs.end && ours.digest != theirs.digest,
            (Word::Vote(ours, _), Word::Vote(theirs, _)) => ours.epoch == theirs.epoch && ours.leader != theirs.leader,
            _ => false,
        };
        differ && who(self) == who(other)
    }
}

impl Lead {
    pub(super) fn check(&self) -> Result<(), WireError> {
        let before = self.before.iter().map(|known| (known.epoch, ()));
        let before: Vec<_> = before.chain([(self.from.epoch, ())]).collect();
        let sound = ascending(&self.gone) && ascending(&before) && ascending(&self.votes);
        WireError::unless(sound, "out of order")
    }
}

impl TwoVotes {
    pub(super) fn check(&self) -> Result<(), WireError> {
        let [(one, _), (other, _)] = &self.votes;
        WireError::unless(one != other, "one vote twice")
    }
}

impl Stand {
    /// That of one who gave a vote, and doubts nobody.
    pub fn of(vote: Vote, known: Known) -> Stand {
        Stand { vote, doubts: None, known, deaf: List::default(), proof: None }
    }

    /// The newest epoch that it names.
    pub(crate) fn newest(&self) -> Epoch {
        self.doubts.map_or(self.vote.epoch, |doubts| doubts.max(self.vote.epoch))
    }
}
