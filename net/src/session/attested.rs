//! Whether a peer tells all the same: a party's sequencer of the turns that it closes, a rollback
//! player of its own commands. It signs what those of each span of ticks come to, and the others
//! tell each other what it signed.
//!
//! Without that it could tell each what that one wants to hear. Two of its signatures for the same
//! ticks and different turns are proof against it, to anyone. A member that lies can forge none, so
//! nobody is believed here but who signed.
//!
//! It never decides who leads, and knows no world. Its loop is [`Attested::closed`].

use std::collections::BTreeMap;

use lockstone_sim::{PlayerId, Tick, codec};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::key::PlayerKey;
use crate::wire::{Attestation, Author, PublicKey};

/// After so many ticks of which nothing was signed a peer is taken for one that tells different
/// turns. It may leave a span out that began when it did not know this member yet.
const UNSIGNED_TICKS_MAX: u32 = 1_800;

/// What is found out of who signs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Offence {
    /// It signed two histories: one for this peer, the other for another.
    Equivocates([Attestation; 2]),
    /// It does not sign what it tells.
    SignsNothing,
    /// It signed other turns than are known here.
    Differs,
}

/// The turns of one peer, and what it signed of them.
pub struct Attested {
    span_ticks: u32,
    /// Of all ticks before, others closed the turns, or nothing is known.
    from: Tick,
    /// The turns of the span that is open.
    open: Sha256,
    /// What those of the newest span come to that is known as a whole.
    known: Option<(Tick, [u8; 32])>,
    /// What it signed last, for this peer. It may be ahead of what is known.
    told: Option<Attestation>,
    /// The same, for others, as they say.
    others: BTreeMap<PlayerId, Attestation>,
    unsigned: u32,
}

impl Attested {
    /// A peer's, whose turns begin at a tick. A span ends at each multiple of so many ticks.
    pub fn beginning(from: Tick, span_ticks: u32) -> Attested {
        Attested {
            span_ticks,
            from,
            open: Sha256::new(),
            known: None,
            told: None,
            others: BTreeMap::new(),
            unsigned: 0,
        }
    }

    /// The turn of a tick is known, as far as it is this peer's to tell: `None` if it is empty.
    pub fn closed(&mut self, tick: Tick, told: Option<&impl Serialize>) {
        if tick.0.is_multiple_of(self.span_ticks) {
            self.open = Sha256::new();
        }
        if let Some(told) = told {
            self.open.update(codec::compact(&(tick, told)));
        }
        let end = tick.next();
        if end.0.is_multiple_of(self.span_ticks) && self.from.plus(self.span_ticks) <= end {
            self.known = Some((end, self.open.clone().finalize().into()));
            self.unsigned += 1;
        }
    }

    /// As that peer, signs what the newest span comes to, once. Returns whether it did.
    pub fn sign(&mut self, author: Author, (key, public): (&PlayerKey, &PublicKey)) -> bool {
        let Some((end, digest)) = self.known.filter(|_| self.unsigned > 0) else { return false };
        self.told(Attestation::of(author, end, digest, key), author, public)
    }

    /// What it signed last, as far as is known.
    pub fn newest(&self) -> Option<&Attestation> {
        self.told.as_ref()
    }

    /// It says what it signed. Returns whether it did.
    pub fn told(&mut self, attestation: Attestation, author: Author, key: &PublicKey) -> bool {
        let counts = attestation.is_of(author, key);
        if counts {
            self.others.retain(|_, other| other.end >= attestation.end);
            (self.told, self.unsigned) = (Some(attestation), 0);
        }
        counts
    }

    /// Another member says what it signed.
    pub fn passed_on(&mut self, by: PlayerId, attestation: Attestation) {
        self.others.insert(by, attestation);
    }

    /// What all of this comes to. Of each that passed something on a signature is looked at once.
    pub fn find(&mut self, author: Author, key: &PublicKey) -> Option<Offence> {
        if self.unsigned * self.span_ticks >= UNSIGNED_TICKS_MAX {
            return Some(Offence::SignsNothing);
        }
        let told = self.told.as_ref()?;
        let same_span = |(_, other): &(PlayerId, Attestation)| other.end == told.end;
        let others: Vec<_> =
            self.others.iter().map(|(player, other)| (*player, other.clone())).filter(same_span).collect();
        for (player, other) in others {
            self.others.remove(&player);
            if other.digest != told.digest && other.is_of(author, key) {
                return Some(Offence::Equivocates([told.clone(), other]));
            }
        }
        self.known.filter(|(end, digest)| *end == told.end && *digest != told.digest).map(|_| Offence::Differs)
    }
}
