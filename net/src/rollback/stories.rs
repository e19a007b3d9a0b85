//! Whether each player gives all others the same inputs: each signs its own, span by span, and
//! passes on what the others signed.
//!
//! It looks at settled turns alone, which no epoch undoes: so what a player gave and signed counts
//! on in the next one. It never decides who goes, and holds for players that have a key.
//! Its loop is [`Stories::settled`].

use std::collections::{BTreeMap, VecDeque};

use lockstone_sim::{Input, PlayerId, Simulation, Tick, Turn};

use crate::key::PlayerKey;
use crate::limits::{ROLLBACK_ATTESTED_GRACE_TICKS, ROLLBACK_ATTESTED_TICKS};
use crate::link::PeerId;
use crate::session::{Attested, Offence};
use crate::wire::{Attestation, Author, Branch, PublicKey, Signed, Word};

/// A difference is told within so many spans of when it began.
const ATTESTATIONS_KEPT: usize = 3;

pub(super) struct Stories {
    me: PlayerId,
    key: Option<PlayerKey>,
    /// Those who have a key, this player included.
    players: BTreeMap<PlayerId, Story>,
}

/// What one player gave, and signed.
struct Story {
    author: Author,
    key: PublicKey,
    attested: Attested,
    /// What it signed last.
    newest: VecDeque<Attestation>,
}

impl Story {
    fn beginning(author: Author, key: PublicKey, from: Tick) -> Story {
        let attested = Attested::beginning(from, ROLLBACK_ATTESTED_TICKS);
        Story { author, key, attested, newest: VecDeque::new() }
    }

    /// Keeps what it signed.
    fn keep(&mut self, attestation: Attestation) {
        self.newest.truncate(ATTESTATIONS_KEPT - 1);
        self.newest.push_front(attestation);
    }
}

impl Stories {
    /// `keys`: of all players that have one. The session begins at a tick.
    pub fn new(
        me: PlayerId,
        key: Option<PlayerKey>,
        keys: impl Iterator<Item = (PlayerId, PeerId, PublicKey)>,
        from: Tick,
    ) -> Stories {
        let author = |peer| Author::of(Branch::default(), peer);
        let players = keys.map(|(player, peer, key)| (player, Story::beginning(author(peer), key, from))).collect();
        Stories { me, key, players }
    }

    /// Those who do not stay are gone.
    pub fn retain(&mut self, stays: impl Fn(PlayerId) -> bool) {
        self.players.retain(|player, _| stays(*player));
    }

    /// As which peer a player signs, and its key, if it has one.
    pub fn signer(&self, player: PlayerId) -> Option<(PeerId, PublicKey)> {
        self.players.get(&player).map(|story| (story.author.peer, story.key))
    }

    /// The turn of the next tick is settled.
    pub fn settled<S: Simulation>(&mut self, tick: Tick, turn: &Turn<S>) {
        for (player, story) in &mut self.players {
            let command = turn.inputs.iter().find_map(|input| match input {
                Input::Command(by, command) if by == player => Some(command),
                _ => None,
            });
            story.attested.closed(tick, command);
        }
    }

    /// Signs what this player gave in a span that is over, once.
    pub fn sign(&mut self) -> Option<Attestation> {
        let (key, own) = (self.key.as_ref()?, self.players.get_mut(&self.me)?);
        let attestation = own.attested.sign(own.author, (key, &own.key)).then(|| own.attested.newest().cloned())??;
        own.keep(attestation.clone());
        Some(attestation)
    }

    /// A player says what it signed. Returns whether the others are to be told.
    pub fn told(&mut self, by: PlayerId, attestation: Attestation) -> bool {
        let Some(story) = self.players.get_mut(&by) else { return false };
        let counts = story.attested.told(attestation.clone(), story.author, &story.key);
        if counts {
            story.keep(attestation);
        }
        counts
    }

    /// A player says what another signed.
    pub fn passed_on(&mut self, by: PlayerId, of: PlayerId, attestation: Attestation) {
        if let Some(story) = self.players.get_mut(&of).filter(|_| ![by, self.me].contains(&of)) {
            story.attested.passed_on(by, attestation);
        }
    }

    /// Who gives different inputs, or other inputs than it signs, and what shows that.
    pub fn find(&mut self) -> Vec<(PlayerId, Offence)> {
        let others = self.players.iter_mut().filter(|(player, _)| **player != self.me);
        others.filter_map(|(player, story)| Some((*player, story.attested.find(story.author, &story.key)?))).collect()
    }

    /// A signature of a player, as it is recorded.
    pub fn signed(&self, player: PlayerId, attestation: Attestation) -> Option<Signed> {
        let Story { author, key, .. } = self.players.get(&player)?;
        Some(Signed { player, key: *key, author: *author, word: Word::Span(attestation) })
    }

    /// What each signed of late.
    pub fn newest(&self) -> impl Iterator<Item = Signed> {
        let newest = |(player, story): (&PlayerId, &Story)| {
            let signed = |attestation: &Attestation| self.signed(*player, attestation.clone());
            story.newest.iter().filter_map(signed).collect::<Vec<_>>()
        };
        self.players.iter().flat_map(newest)
    }

    /// Whether all had the time to prove who told what, up to a tick, once turns are settled up to
    /// another.
    pub fn are_told(&self, tick: Tick, settled: Tick) -> bool {
        let (end, me) = (tick.0.next_multiple_of(ROLLBACK_ATTESTED_TICKS), self.me);
        self.players.keys().all(|player| *player == me) || settled.0 >= end + ROLLBACK_ATTESTED_GRACE_TICKS
    }
}
