//! Joiners that name a key, until they have proven to have it.

use core::time::Duration;
use std::collections::BTreeMap;

use lockstone_sim::Simulation;

use super::{Leader, Outbox};
use crate::key::{Claim, Proof, PublicKey};
use crate::link::{Binding, PeerId};
use crate::wire::{Message, Name};

/// Who asks to be let in, and may be.
pub struct Applicant<S: Simulation> {
    pub name: Name,
    pub hero: S::Hero,
    pub key: Option<PublicKey>,
    /// Of its hello.
    pub attempt: u32,
}

/// At most one of each connected peer.
pub struct Applicants<S: Simulation> {
    asked: BTreeMap<PeerId, (Applicant<S>, u64)>,
    nonces: u64,
}

impl<S: Simulation> Applicants<S> {
    pub fn new() -> Self {
        Applicants { asked: BTreeMap::new(), nonces: 0 }
    }

    /// Asks for a proof: for the same again, if the peer says hello again. Returns who needs none,
    /// as there is no key.
    pub fn ask(
        &mut self,
        host: Leader,
        peer: PeerId,
        applicant: Applicant<S>,
        now: Duration,
        out: &mut Outbox<S>,
    ) -> Option<Applicant<S>> {
        if applicant.key.is_none() {
            return Some(applicant);
        }
        // The claim names the connection, which carriers draw by lot: it need not be drawn again.
        let nonce = match self.asked.get(&peer) {
            Some((_, nonce)) => *nonce,
            None => {
                self.nonces += 1;
                now.as_nanos() as u64 ^ self.nonces << 48
            }
        };
        self.asked.insert(peer, (applicant, nonce));
        out.reliably(host.epoch, peer, &Message::Challenge(nonce));
        None
    }

    /// A peer answers. Returns who it is and whether that is proven, if it was asked.
    pub fn answer(
        &mut self,
        host: Leader,
        (peer, binding): (PeerId, Binding),
        proof: &Proof,
    ) -> Option<(Applicant<S>, bool)> {
        let (applicant, nonce) = self.asked.remove(&peer)?;
        let claim = Claim { epoch: host.epoch, host: host.peer, joiner: peer, nonce, binding };
        let proven = applicant.key.is_some_and(|key| key.signed(&claim, proof));
        Some((applicant, proven))
    }

    /// The carrier lost a peer.
    pub fn forget(&mut self, peer: PeerId) {
        self.asked.remove(&peer);
    }
}
