//! What tells a party's replica from a relay's: its part of the world, and what feeds it.

use core::ops::ControlFlow;

use lockstone_sim::codec::CodecError;
use lockstone_sim::{Checksum, Simulation, Tick, Turn};

use super::Estate;
use crate::intake::{Content, Intake};
use crate::link::PeerId;
use crate::session::{DistantView, DropReason, Io, Leader, Outbox, Role, Stepper};
use crate::transfer::TransferError;
use crate::wire::{Message, RawInput, Turns};

/// What part of the world a replica simulates, and by what it is fed.
pub trait Share: Send + 'static {
    type Sim: Simulation;
    /// What it plays at a tick.
    type Turn: Content + Send;

    /// Whether only who leads compares worlds, and repairs them.
    const LEADER_COMPARES: bool;

    /// Whether a peer may let others in.
    fn may_lead(peer: PeerId) -> bool;

    /// Takes the turns out of a message, if it carries some; any other goes on.
    fn turns(message: Message) -> ControlFlow<Turns<Self::Turn>, Message>;

    /// A turn that is known ahead, as far as the world can be simulated ahead by it.
    fn ahead(turn: &Self::Turn) -> Turn<Self::Sim>;

    /// Whether another of the members leads on when the leader is lost. Else that is the end.
    const OUTLIVES_LEADER: bool = false;

    /// What a turn holds of the whole world, if it outlives its leader.
    fn whole(turn: &Self::Turn) -> &[RawInput] {
        let _ = turn;
        &[]
    }

    /// The turn that holds those inputs of the whole world, if it outlives its leader.
    fn of_whole(inputs: &[RawInput]) -> Self::Turn {
        let _ = inputs;
        Self::Turn::default()
    }

    /// Leads on.
    fn take_over(&self, estate: Estate<Self::Sim>, io: &mut Io<Self::Sim>) -> Option<Box<dyn Role<Self::Sim>>> {
        let _ = (estate, io);
        None
    }

    /// It was let in, and begins with nothing: also where it was before.
    fn begin(&mut self) {}

    /// Checks a world that was loaded.
    fn check(&self, simulation: &Self::Sim) -> Result<(), CodecError> {
        let _ = simulation;
        Ok(())
    }

    /// Plays a turn. Returns a checksum for the report, if one is due.
    fn play(
        &mut self,
        stepper: &mut Stepper<Self::Sim>,
        turn: Self::Turn,
        leader: Leader,
        out: &mut Outbox<Self::Sim>,
    ) -> Result<Option<(Tick, Checksum)>, TransferError>;

    /// Follows the world after all that was due has been played.
    fn played(&mut self, stepper: &Stepper<Self::Sim>) {
        let _ = stepper;
    }

    /// Whether the hero can enter once nothing is left to play.
    fn is_placed(&self, stepper: &Stepper<Self::Sim>) -> bool {
        let _ = stepper;
        true
    }

    /// Takes a message that only replicas of this share get, once the world is there. Returns how
    /// many bytes of what is loading have arrived, if more have.
    fn handle(
        &mut self,
        message: Message,
        fed: Fed<'_, Self>,
        out: &mut Outbox<Self::Sim>,
    ) -> Result<Option<u32>, TransferError> {
        let _ = (message, fed);
        out.dropped(DropReason::Unexpected);
        Ok(None)
    }

    /// Worlds were found to differ, at a tick.
    fn differs(&mut self, tick: Tick) {
        let _ = tick;
    }

    fn distant(&self, simulation: &Self::Sim) -> DistantView {
        let _ = simulation;
        DistantView::default()
    }
}

/// What a share's own messages may touch.
pub struct Fed<'a, F: Share + ?Sized> {
    pub stepper: &'a mut Stepper<F::Sim>,
    pub intake: &'a mut Intake<F::Turn>,
}
