//! What a party's replica simulates: the whole world, by the turns of all.

use core::marker::PhantomData;
use core::ops::ControlFlow;

use lockstone_sim::{Checksum, Simulation, Tick};

use crate::link::PeerId;
use crate::replica::Share;
use crate::session::{Leader, Outbox, Stepper};
use crate::transfer::TransferError;
use crate::wire::{Message, RawTurn, Turns};

pub struct Whole<S>(pub PhantomData<fn() -> S>);

impl<S: Simulation> Share for Whole<S> {
    type Sim = S;
    type Turn = RawTurn;
    const REPAIRED: bool = false;

    fn may_lead(peer: PeerId) -> bool {
        // Of the first epoch: who leads a later one, a welcome says.
        Leader::of_room(peer).is_some()
    }

    fn turns(message: Message) -> ControlFlow<Turns, Message> {
        match message {
            Message::Turns(turns) => ControlFlow::Break(turns),
            other => ControlFlow::Continue(other),
        }
    }

    fn play(
        &mut self,
        stepper: &mut Stepper<S>,
        turn: RawTurn,
        _: Leader,
        out: &mut Outbox<S>,
    ) -> Result<Option<(Tick, Checksum)>, TransferError> {
        Ok(stepper.play(&turn, Vec::new(), out))
    }
}
