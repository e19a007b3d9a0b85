//! A world as joiners are given it: the welcome, and the snapshot that follows in chunks. Several
//! may be given the same.

use std::sync::Arc;

use lockstone_sim::{PlayerId, Simulation, Tick};

use super::{Leader, Outbox, Stepper};
use crate::limits::{PLAYERS_MAX, SNAPSHOT_BYTES_MAX};
use crate::link::PeerId;
use crate::transfer::{self, SnapshotSender};
use crate::wire::{List, Message, Name, Welcome};

#[derive(Clone)]
pub struct Offer {
    /// All but the player is the same for all.
    welcome: Welcome,
    bytes: Arc<[u8]>,
}

impl Offer {
    /// The world as it is now, of `bytes`, and of the players in it those whom joiners must know.
    pub fn new<S: Simulation>(
        stepper: &Stepper<S>,
        bytes: Vec<u8>,
        roster: List<(PlayerId, Name), PLAYERS_MAX>,
    ) -> Offer {
        let welcome = Welcome {
            attempt: 0,
            player: stepper.player,
            sequencer: stepper.player,
            seed: stepper.seed,
            plays: None,
            tick: stepper.tick(),
            snapshot_bytes: bytes.len() as u32,
            snapshot_digest: transfer::digest(&bytes),
            roster,
        };
        Offer { welcome, bytes: bytes.into() }
    }

    pub fn tick(&self) -> Tick {
        self.welcome.tick
    }

    pub fn is_too_large(&self) -> bool {
        self.bytes.len() > SNAPSHOT_BYTES_MAX
    }

    /// Makes it to a joiner, in answer to its hello of that `attempt`, who will be `player`. Its
    /// hero `plays` already, and gave so many commands, or is still to enter. Returns what sends
    /// the snapshot.
    pub fn make<S: Simulation>(
        &self,
        leader: Leader,
        joiner: PeerId,
        attempt: u32,
        (player, plays): (PlayerId, Option<u32>),
        out: &mut Outbox<S>,
    ) -> SnapshotSender {
        let welcome = Welcome { attempt, player, plays, ..self.welcome.clone() };
        out.reliably(leader.epoch, joiner, &Message::Welcome(welcome));
        SnapshotSender::new(self.bytes.clone())
    }
}
