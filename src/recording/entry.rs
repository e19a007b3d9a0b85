//! What happened in a recorded session, one thing after the other, as it is written.

use lockstone_net::wire::{LeaveReason, PublicKey, Signed};
use lockstone_sim::{Checksum, PlayerId, Turn};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::format::Desync;
use super::packed::Packed;
use super::rerun::PackedRerun;
use super::tree::TreeChange;

/// Something that happened in a recorded session.
pub type Entry<S> = EntryOf<Turn<S>>;

/// One that is no turn.
pub(super) type Plain = EntryOf<()>;

/// An [`Entry`], of whatever turns.
///
/// Its tick is not in it: it is counted from the header's `start`, one for each turn, `n` for
/// `Empty(n)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum EntryOf<T> {
    /// The next so many ticks had empty turns.
    Empty(u32),
    /// The next tick's turn.
    Turn(T),
    /// The checksum of the state before the next turn.
    Checksum(#[serde(serialize_with = "write_checksum", deserialize_with = "read_checksum")] Checksum),
    /// How the checksums of the state's parts before the next turn differ from the tree
    /// before, or from none.
    Tree(TreeChange),
    /// A player's name.
    Name(PlayerId, String),
    /// A difference was found.
    Desync(Desync),
    /// Who plays a player that came in, or back, with the last turn: the key by which the player is
    /// known again.
    Member(PlayerId, Option<PublicKey>),
    /// What a player signed of what it told.
    Signed(Signed),
    /// Why a player left with the last turn, or is away since.
    Gone(PlayerId, LeaveReason),
    /// The state before the next turn. It has a frame of its own.
    #[serde(skip)]
    Keyframe(Packed),
    /// What came out when the recorder played it again. It has a frame of its own.
    #[serde(skip)]
    Rerun(PackedRerun),
    /// What the turns so far say beside the last state: what a session goes on with. It has a frame
    /// of its own, and may be anything.
    #[serde(skip)]
    Ledger(Vec<u8>),
}

impl<T> EntryOf<T> {
    /// How many ticks it plays.
    pub fn ticks(&self) -> u32 {
        match self {
            EntryOf::Empty(ticks) => *ticks,
            EntryOf::Turn(_) => 1,
            EntryOf::Checksum(_) | EntryOf::Tree(_) | EntryOf::Keyframe(_) => 0,
            EntryOf::Member(..) | EntryOf::Signed(_) | EntryOf::Ledger(_) => 0,
            EntryOf::Rerun(_) | EntryOf::Name(..) | EntryOf::Gone(..) | EntryOf::Desync(_) => 0,
        }
    }
}

/// As eight bytes: there are no small ones, which another encoding would make shorter.
fn write_checksum<S: Serializer>(checksum: &Checksum, serializer: S) -> Result<S::Ok, S::Error> {
    checksum.0.to_le_bytes().serialize(serializer)
}

fn read_checksum<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Checksum, D::Error> {
    <[u8; 8]>::deserialize(deserializer).map(|bytes| Checksum(u64::from_le_bytes(bytes)))
}
