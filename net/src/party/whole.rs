//! What a party's replica simulates: the whole world, by the turns of all. So it can lead on.

use core::marker::PhantomData;
use core::ops::ControlFlow;
use core::time::Duration;
use std::sync::Arc;

use lockstone_sim::{Checksum, Simulation, Tick, Turn};

use super::config::PartyConfig;
use super::sequencer::Sequencing;
use crate::link::PeerId;
use crate::replica::{Estate, Replica, Share};
use crate::session::{Entrant, Io, Leader, Outbox, Role, Stepper, turn};
use crate::transfer::TransferError;
use crate::wire::{Message, RawInput, RawTurn, Turns};

pub struct Whole<S> {
    config: PartyConfig,
    simulation: PhantomData<fn() -> S>,
}

impl<S: Simulation> Whole<S> {
    /// The role of a peer that looks for the session.
    pub fn follow(config: PartyConfig, entrant: &Arc<Entrant<S>>, me: PeerId, now: Duration) -> Replica<Whole<S>> {
        let settings = config.following();
        Replica::new(Whole { config, simulation: PhantomData }, settings, entrant.clone(), me, now)
    }

    /// The role of a peer that led the session, and follows another.
    pub fn step_down(config: PartyConfig, estate: Estate<S>, io: &mut Io<S>) -> Replica<Whole<S>> {
        let settings = config.following();
        Replica::step_down(Whole { config, simulation: PhantomData }, settings, estate, io)
    }
}

impl<S: Simulation> Share for Whole<S> {
    type Sim = S;
    type Turn = RawTurn;
    const LEADER_COMPARES: bool = false;
    const OUTLIVES_LEADER: bool = true;

    fn may_lead(peer: PeerId) -> bool {
        // Of the first epoch: who leads a later one, a welcome says.
        Leader::of_room(peer).is_some()
    }

    fn turns(message: Message) -> ControlFlow<Turns, Message> {
        match message {
            Message::Turns(turns) | Message::Fetched(turns) => ControlFlow::Break(turns),
            other => ControlFlow::Continue(other),
        }
    }

    fn whole(turn: &RawTurn) -> &[RawInput] {
        turn
    }

    fn of_whole(inputs: &[RawInput]) -> RawTurn {
        RawTurn::try_from(inputs.to_vec()).expect("it was closed")
    }

    fn ahead(raw: &RawTurn) -> Turn<S> {
        turn(raw, Vec::new(), || {})
    }

    fn take_over(&self, estate: Estate<S>, io: &mut Io<S>) -> Option<Box<dyn Role<S>>> {
        Some(Box::new(Sequencing::take_over(self.config.clone(), estate, io)))
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
