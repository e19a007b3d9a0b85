//! What a party's replica simulates: the whole world, by the turns of all. So it can lead on.

use core::ops::ControlFlow;
use core::time::Duration;

use lockstone_sim::{Checksum, Simulation, Tick};

use super::config::PartyConfig;
use super::sequencer::Sequencing;
use crate::link::PeerId;
use crate::replica::{Estate, Replica, Share};
use crate::session::{Build, Io, Leader, Outbox, Role, Stepper};
use crate::transfer::TransferError;
use crate::wire::{Hello, Message, RawTurn, Turns};

/// What it brings along to lead, or to look for the session again.
pub struct Whole<S: Simulation> {
    pub config: PartyConfig,
    pub hello: Hello,
    pub build: Build<S>,
}

impl<S: Simulation> Whole<S> {
    /// The role of a peer that looks for the session.
    pub fn follow(self, me: PeerId, now: Duration) -> Replica<Whole<S>> {
        let (settings, hello, build) = (self.config.following(), self.hello.clone(), self.build.clone());
        Replica::new(self, settings, hello, build, me, now)
    }
}

// A derive would ask for `S: Clone`.
impl<S: Simulation> Clone for Whole<S> {
    fn clone(&self) -> Self {
        Whole { config: self.config.clone(), hello: self.hello.clone(), build: self.build.clone() }
    }
}

impl<S: Simulation> Share for Whole<S> {
    type Sim = S;
    type Turn = RawTurn;
    const REPAIRED: bool = false;
    const OUTLIVES_LEADER: bool = true;

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

    fn whole(turn: &RawTurn) -> Option<&RawTurn> {
        Some(turn)
    }

    fn take_over(&self, estate: Estate<S>, io: &mut Io<S>) -> Option<Box<dyn Role<S>>> {
        Some(Box::new(Sequencing::take_over(self.clone(), estate, io)))
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
