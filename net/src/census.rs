//! Whose world is right, once worlds differ: what players told of theirs at one tick, counted.
//!
//! ```text
//! a difference ─► all have told, or had time to ─► more than half agree ──────► that is right
//!                                                └─► nobody can outvote the rest ─► a replay tells
//!                                                    └─► nor does that: one's counts, unproven
//! ```
//!
//! Whose counts at last is the sequencer in a party, the first player in a rollback session. It
//! knows no packet and no world. Its loop is [`Census::judge`].

use core::time::Duration;
use std::collections::BTreeMap;

use lockstone_sim::{Checksum, PlayerId, Tick};

/// So long are members waited for that have not told theirs: a report may be lost.
const TELL_TIME: Duration = Duration::from_millis(750);
/// So long is a replay waited for.
const REFERENCE_TIME: Duration = Duration::from_millis(1_500);
/// Ticks at which checksums are compared that are remembered.
const TICKS_MAX: usize = 16;

#[derive(Default)]
pub(crate) struct Census {
    told: BTreeMap<Tick, BTreeMap<PlayerId, Checksum>>,
    dispute: Option<Dispute>,
}

/// A tick at which worlds differ.
struct Dispute {
    tick: Tick,
    agreed: Option<Tick>,
    since: Duration,
    reference: Reference,
}

/// What a replay came to.
enum Reference {
    Unasked,
    Asked(Duration),
    Told(Option<Checksum>),
}

/// What comes of a dispute.
#[derive(Debug, PartialEq)]
pub(crate) enum Judgement {
    /// A replay is to tell.
    Replay { tick: Tick, agreed: Option<Tick> },
    /// It is decided.
    Found(Ruling),
}

#[derive(Debug, PartialEq)]
pub(crate) struct Ruling {
    pub tick: Tick,
    /// Those whose checksum is right, ascending.
    pub sound: Vec<PlayerId>,
    /// Those who told another, and which.
    pub odd: BTreeMap<PlayerId, Checksum>,
    /// Whether more than half agree, or a replay does.
    pub is_proven: bool,
}

impl Census {
    /// A player told its checksum of a tick.
    pub fn tell(&mut self, player: PlayerId, tick: Tick, checksum: Checksum) {
        self.told.entry(tick).or_default().insert(player, checksum);
        if self.told.len() > TICKS_MAX {
            let disputed = self.disputed();
            let oldest = self.told.keys().copied().find(|tick| Some(*tick) != disputed);
            oldest.map(|tick| self.told.remove(&tick));
        }
    }

    /// The session goes on from a tick: later ones are to be played again.
    #[cfg(feature = "rollback")]
    pub fn go_on(&mut self, from: Tick) {
        self.told.retain(|tick, _| *tick <= from);
        self.dispute.take_if(|dispute| dispute.tick > from);
    }

    /// Worlds were found to differ at a tick. One difference is looked into at a time: what is not
    /// put right with it differs again.
    pub fn dispute(&mut self, tick: Tick, agreed: Option<Tick>, now: Duration) {
        let open = Dispute { tick, agreed, since: now, reference: Reference::Unasked };
        self.dispute.get_or_insert(open);
    }

    /// The tick that is looked into.
    pub fn disputed(&self) -> Option<Tick> {
        self.dispute.as_ref().map(|dispute| dispute.tick)
    }

    /// A replay came to a checksum at a tick, or to none.
    pub fn reference(&mut self, tick: Tick, checksum: Option<Checksum>) {
        if let Some(dispute) = self.dispute.as_mut().filter(|dispute| dispute.tick == tick)
            && let Reference::Asked(_) = dispute.reference
        {
            dispute.reference = Reference::Told(checksum);
        }
    }

    /// Decides who is right, or what is to be done for that. `first` is the one of the `voters`
    /// whose world counts if nothing else tells.
    pub fn judge(&mut self, first: PlayerId, voters: &[PlayerId], now: Duration) -> Option<Judgement> {
        let dispute = self.dispute.as_mut()?;
        let (tick, agreed) = (dispute.tick, dispute.agreed);
        let told = self.told.get(&tick);
        let votes = voters.iter().filter_map(|player| Some((*player, *told?.get(player)?)));
        let votes: BTreeMap<PlayerId, Checksum> = votes.collect();
        let count = |checksum: &Checksum| votes.values().filter(|theirs| *theirs == checksum).count();
        let outvotes = |all: usize| votes.values().copied().find(|checksum| 2 * count(checksum) > all);
        let may_learn_more = votes.len() < voters.len() && now < dispute.since + TELL_TIME;
        let (right, is_proven) = match (outvotes(voters.len()), outvotes(votes.len())) {
            (Some(right), _) => (right, true),
            (None, _) if may_learn_more => return None,
            (None, Some(right)) => (right, true),
            (None, None) => match (&dispute.reference, votes.get(&first)) {
                (_, None) => {
                    // It is too long ago.
                    self.dispute = None;
                    return None;
                }
                (Reference::Unasked, _) => {
                    dispute.reference = Reference::Asked(now);
                    return Some(Judgement::Replay { tick, agreed });
                }
                (Reference::Asked(at), _) if now < *at + REFERENCE_TIME => return None,
                (Reference::Told(Some(reference)), _) if count(reference) > 0 => (*reference, true),
                (_, Some(first)) => (*first, false),
            },
        };
        self.dispute = None;
        let (sound, odd): (BTreeMap<_, _>, _) = votes.into_iter().partition(|(_, checksum)| *checksum == right);
        Some(Judgement::Found(Ruling { tick, sound: sound.into_keys().collect(), odd, is_proven }))
    }
}

#[cfg(test)]
mod tests;
