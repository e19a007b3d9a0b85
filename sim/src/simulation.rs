//! The seam between a simulation and all that drives it: live play, replay, tests and the checker.
//!
//! A [`Simulation`] is a value that changes only in [`step`](Simulation::step), and there only by
//! what the [`Turn`] says. [`World`](crate::world::World) is one; a game with its own state (any
//! ECS) can be another, and then has party sessions, recordings and the checker too.

use alloc::vec::Vec;
use core::fmt::Debug;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::codec::CodecError;
use crate::grid::CellId;
use crate::ids::{Checksum, PlayerId, Tick};

/// A value that can be sent, recorded and compared.
pub trait Message: Clone + Debug + PartialEq + Send + Sync + Serialize + DeserializeOwned + 'static {}

impl<T: Clone + Debug + PartialEq + Send + Sync + Serialize + DeserializeOwned + 'static> Message for T {}

/// Serialises a snapshot, on any thread.
pub type Encoder<P> = fn(&P) -> Vec<u8>;

/// A deterministic simulation in fixed steps.
///
/// Two values of the same type that started equal and were given equal turns are equal: the same
/// [`checksum`](Simulation::checksum) at every tick, on every machine, in every build.
pub trait Simulation: Sized + Send + 'static {
    /// A player's state change. Held by the simulation until the next one replaces it.
    type Command: Message;
    /// What a player brings along to join: name, class, looks.
    type Hero: Message;
    /// A join as it enters the turn: the hero and all that the simulation needs to place it.
    type Join: Message;
    /// What the simulation itself asks to be put into a later turn, because it reaches too
    /// far for one tick.
    type Request: Message;
    /// What a part of the simulation is given from outside, after the step: the state of what it
    /// does not simulate itself. [`Nothing`] for a simulation that is always whole.
    type Given: Message;
    /// A copy of the state, cheap to take and to keep.
    type Snapshot: Clone + Send + 'static;

    /// The tick that the next [`step`](Simulation::step) will simulate.
    fn tick(&self) -> Tick;

    /// Simulates one tick. Inputs that make no sense (a command of a player without hero)
    /// are passed over.
    fn step(&mut self, turn: &Turn<Self>);

    /// What the last step asked for, in a fixed order. In a party only the sequencer puts it into a
    /// turn, and the others drop it; in a rollback session each peer puts it into the next one.
    /// Whoever steps a simulation by hand, without a session, puts it into the next turn as
    /// [`Input::Request`]: else nothing comes of it, and no gate opens or portal leads anywhere.
    fn requests(&self) -> &[Self::Request];

    /// Turns a player's wish to join into the input that makes it so. Read-only. In a party only
    /// the sequencer calls it; in a rollback session each peer does, before the first tick.
    fn admit(&self, player: PlayerId, hero: Self::Hero) -> Self::Join;

    /// For how long the hero of a player who is lost stays, in ticks, so that the player can come
    /// back to it. 0, unless said otherwise: it leaves at once, and there is no [`Input::Away`].
    /// The same on all peers.
    fn away_ticks(&self) -> u32 {
        0
    }

    /// Copies the state.
    fn snapshot(&mut self) -> Self::Snapshot;

    /// Goes back (or forth) to a snapshot of this simulation.
    fn restore(&mut self, snapshot: &Self::Snapshot);

    /// Gives back a snapshot that is no longer needed, so that its memory can be used again.
    fn retire(&mut self, snapshot: Self::Snapshot) {
        drop(snapshot);
    }

    /// The checksum of the whole state, the tick included.
    fn checksum(&mut self) -> Checksum;

    /// The checksums of the state's parts, by cell: what the [`checksum`](Simulation::checksum) is
    /// the root of, for the desync checker to say where states differ. In ascending order, each
    /// cell once; it need not cover the whole state. A simulation without parts has an empty one;
    /// one that knows no grid may name its parts by any cells.
    fn tree(&mut self) -> Vec<(CellId, Checksum)> {
        Vec::new()
    }

    /// The checksum of what the [`tree`](Simulation::tree) does not cover, the tick included: equal
    /// trees and equal rests are equal states. Where worlds have come to differ, a session finds by
    /// both which parts do, and replaces only those. `None`, unless said otherwise: a state is
    /// replaced as a whole.
    fn rest_checksum(&mut self) -> Option<Checksum> {
        None
    }

    /// Serialises parts of a snapshot, for [`replace_parts`](Simulation::replace_parts): those
    /// cells of it, and if `rest` all that is in no cell. All of it, unless said otherwise: of a
    /// simulation without a [`rest_checksum`](Simulation::rest_checksum) nobody asks for parts.
    fn encode_parts(&self, snapshot: &Self::Snapshot, cells: &[CellId], rest: bool) -> Vec<u8> {
        let _ = (cells, rest);
        self.encode(snapshot)
    }

    /// Replaces the parts that [`encode_parts`](Simulation::encode_parts) wrote of another
    /// simulation's state at this very tick.
    ///
    /// # Errors
    /// [`CodecError`] if the bytes are no such parts; they may come from a peer. The simulation
    /// stays in its own state then.
    fn replace_parts(&mut self, bytes: &[u8]) -> Result<(), CodecError> {
        self.restore_from(bytes)
    }

    /// The checksum of a player's hero. A session that looks ahead tells by it how often the
    /// player saw its hero otherwise than it came. `None` if there is no hero, or if the simulation
    /// does not tell.
    fn hero_checksum(&self, player: PlayerId) -> Option<Checksum> {
        let _ = player;
        None
    }

    /// Serialises a snapshot: the same bytes for the same state.
    fn encode(&self, snapshot: &Self::Snapshot) -> Vec<u8>;

    /// [`encode`](Simulation::encode) as a function that needs no simulation, if there is one: then
    /// another thread can serialise a snapshot while the simulation goes on.
    fn encoder(&self) -> Option<Encoder<Self::Snapshot>> {
        None
    }

    /// Reads what [`encode`](Simulation::encode) wrote.
    ///
    /// # Errors
    /// [`CodecError`] if the bytes are not a snapshot of this simulation; they may come from a peer
    /// or a damaged file.
    fn decode(&self, bytes: &[u8]) -> Result<Self::Snapshot, CodecError>;

    /// The state that it is in, serialised.
    fn encoded(&mut self) -> Vec<u8> {
        let snapshot = self.snapshot();
        let bytes = self.encode(&snapshot);
        self.retire(snapshot);
        bytes
    }

    /// Goes over to a serialised state.
    ///
    /// # Errors
    /// [`CodecError`] if the bytes are no state of this simulation: it stays in its own then.
    fn restore_from(&mut self, bytes: &[u8]) -> Result<(), CodecError> {
        let snapshot = self.decode(bytes)?;
        self.restore(&snapshot);
        self.retire(snapshot);
        Ok(())
    }
}

/// What a simulation is given that has no parts: there is no such value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Nothing {}

/// One thing that enters a simulation from outside.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Input<S: Simulation> {
    /// A player's command.
    Command(PlayerId, S::Command),
    /// A player enters.
    Join(PlayerId, S::Join),
    /// A player is gone; so is what the simulation holds for them.
    Leave(PlayerId),
    /// What the simulation asked for some ticks ago.
    Request(S::Request),
    /// What a part is given by whoever simulates the whole. It takes effect at the end of the tick.
    Given(S::Given),
    /// A player is lost, and may come back; the hero stays. Only if
    /// [`away_ticks`](Simulation::away_ticks) says so, and at the end of them the player leaves.
    Away(PlayerId),
    /// A player who was away is back.
    Back(PlayerId),
}

/// All that enters a simulation at one tick, in the order in which it is applied. A
/// [`World`](crate::world::World) gives commands to the heroes that are there already, and lets
/// everything else take effect after all have thought; what is given takes effect last.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Turn<S: Simulation> {
    /// The inputs.
    pub inputs: Vec<Input<S>>,
}

impl<S: Simulation> Turn<S> {
    /// A turn in which nothing happens.
    pub const EMPTY: Turn<S> = Turn { inputs: Vec::new() };
}

impl<S: Simulation> Default for Turn<S> {
    fn default() -> Self {
        Turn::EMPTY
    }
}

// Derives would ask for bounds on `S` itself; the bounds that matter stand on its associated types.
impl<S: Simulation> Clone for Input<S> {
    fn clone(&self) -> Self {
        match self {
            Input::Command(player, command) => Input::Command(*player, command.clone()),
            Input::Join(player, join) => Input::Join(*player, join.clone()),
            Input::Leave(player) => Input::Leave(*player),
            Input::Request(request) => Input::Request(request.clone()),
            Input::Given(given) => Input::Given(given.clone()),
            Input::Away(player) => Input::Away(*player),
            Input::Back(player) => Input::Back(*player),
        }
    }
}

impl<S: Simulation> Debug for Input<S> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Input::Command(player, command) => write!(f, "{player} {command:?}"),
            Input::Join(player, join) => write!(f, "{player} joins as {join:?}"),
            Input::Leave(player) => write!(f, "{player} leaves"),
            Input::Request(request) => write!(f, "{request:?}"),
            Input::Given(given) => write!(f, "{given:?}"),
            Input::Away(player) => write!(f, "{player} is away"),
            Input::Back(player) => write!(f, "{player} is back"),
        }
    }
}

impl<S: Simulation> PartialEq for Input<S> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Input::Command(a, x), Input::Command(b, y)) => a == b && x == y,
            (Input::Join(a, x), Input::Join(b, y)) => a == b && x == y,
            (Input::Leave(a), Input::Leave(b))
            | (Input::Away(a), Input::Away(b))
            | (Input::Back(a), Input::Back(b)) => a == b,
            (Input::Request(x), Input::Request(y)) => x == y,
            (Input::Given(x), Input::Given(y)) => x == y,
            _ => false,
        }
    }
}

impl<S: Simulation> Clone for Turn<S> {
    fn clone(&self) -> Self {
        Turn { inputs: self.inputs.clone() }
    }
}

impl<S: Simulation> Debug for Turn<S> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(&self.inputs).finish()
    }
}

impl<S: Simulation> PartialEq for Turn<S> {
    fn eq(&self, other: &Self) -> bool {
        self.inputs == other.inputs
    }
}
