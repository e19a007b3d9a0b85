//! What a rollback player that lies tells one of the others instead: other commands of some ticks,
//! and signatures of these.

use std::collections::BTreeMap;
use std::ops::Range;

use lockstone_net::PlayerKey;
use lockstone_net::limits::ROLLBACK_ATTESTED_TICKS;
use lockstone_net::link::PeerId;
use lockstone_net::session::Transmit;
use lockstone_net::wire::{self, *};
use lockstone_sim::{Tick, codec};

use super::list;
use super::rollback::settings;

/// The story for one who is deceived: of mixers, with the default input delay.
pub struct OtherStory {
    liar: PeerId,
    /// What signs it. `None`: the liar signs what it tells the others.
    key: Option<PlayerKey>,
    /// What it is about. In each of these ticks it has a command.
    ticks: Range<Tick>,
    told: BTreeMap<Tick, u64>,
    epoch: Epoch,
    /// The first tick that nothing was told of.
    end: Tick,
}

impl OtherStory {
    pub fn new(liar: PeerId, key: Option<PlayerKey>, ticks: Range<Tick>) -> OtherStory {
        OtherStory { liar, key, ticks, told: BTreeMap::new(), epoch: Epoch::default(), end: Tick(0) }
    }

    /// It goes on as another story from here on.
    pub fn begin(&mut self) {
        self.ticks = self.end..Tick(u32::MAX);
    }

    /// What is sent to who is deceived in place of a packet.
    pub fn tell(&mut self, packet: Transmit) -> Transmit {
        let (epoch, message) = wire::decode(&packet.bytes).expect("our own bytes");
        let message = match message {
            Message::Inputs(inputs) => Message::Inputs(self.give(inputs, epoch)),
            Message::Attested(attestation) => Message::Attested(self.sign(attestation)),
            other => other,
        };
        Transmit { bytes: wire::encode(epoch, &message), ..packet }
    }

    fn give(&mut self, inputs: Inputs, epoch: Epoch) -> Inputs {
        if core::mem::replace(&mut self.epoch, epoch) != epoch {
            // What was given and not played is given anew.
            let delay_ticks = settings(0).input_delay_ticks;
            self.told.retain(|tick, _| tick.plus(delay_ticks) < inputs.from);
        }
        let mut given = inputs.inputs.to_vec();
        for (n, input) in given.iter_mut().enumerate() {
            let tick = inputs.from.plus(n as u32);
            let command = input.as_ref().map(|bytes| codec::read::<u64>(bytes, 64).expect("a mixer's command"));
            let command = if self.ticks.contains(&tick) { Some(command.unwrap_or(2) ^ 1) } else { command };
            *input = command.map(|command| list(codec::compact(&command)));
            self.told.remove(&tick);
            self.told.extend(command.map(|command| (tick, command)));
        }
        self.end = self.end.max(inputs.end());
        Inputs { inputs: list(given), ..inputs }.sealed(epoch)
    }

    fn sign(&self, attestation: Attestation) -> Attestation {
        let Some(key) = &self.key else { return attestation };
        let end = attestation.end;
        let span = self.told.range(Tick(end.0 - ROLLBACK_ATTESTED_TICKS)..end);
        let digest = Attestation::digest_of(span.map(|(tick, command)| (*tick, *command)));
        Attestation::of(Author::of(Branch::default(), self.liar), end, digest, key)
    }
}
