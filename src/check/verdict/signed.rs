//! Who told two stories, as signatures in the recordings prove. Without one, nobody is accused.
//!
//! A recording may be forged, but not what another player signed: a key counts only if all
//! recordings that name a player's key name the same.

use std::collections::BTreeMap;

use lockstone_net::limits::{ATTESTED_TICKS, ROLLBACK_ATTESTED_TICKS};
use lockstone_net::wire::{Attestation, SessionKind, Signed, Vote, Word};
use lockstone_sim::{Input, PlayerId, Tick, Turn};

use crate::inspect::Inspect;
use crate::recording::Timeline;

/// The player that told two stories of a tick, and what proves it.
pub(super) fn two_stories<S: Inspect>(peers: &[Timeline<S>], tick: Tick) -> Option<(PlayerId, String)> {
    let signed: Vec<_> = peers.iter().flat_map(|peer| about(peer, peers, tick)).collect();
    let contradicts = |one: &Signed| signed.iter().any(|(other, _)| one.contradicts(other) && other.is_sound());
    if let Some((one, attestation)) = signed.iter().find(|(one, _)| contradicts(one) && one.is_sound()) {
        let end = attestation.end;
        let proof = format!("{} signed two stories of the same ticks up to {end}", name(peers, one.player));
        return Some((one.player, proof));
    }
    let denies = |(one, attestation): &&(&Signed, &Attestation)| {
        let own = peers.iter().find(|peer| peer.header.player == one.player);
        own.is_some_and(|own| gave(own, one.player, attestation) == Some(false)) && one.is_sound()
    };
    signed.iter().find(denies).map(|(one, _)| {
        let proof = format!("{} recorded other commands of its own than it signed", name(peers, one.player));
        (one.player, proof)
    })
}

/// Who voted for two leaders in one epoch, as signatures in the recordings prove: each in a
/// sentence.
pub fn two_votes<S: Inspect>(peers: &[Timeline<S>]) -> Vec<String> {
    let signed = peers.iter().flat_map(|peer| &peer.signed).filter(|signed| is_only_key(peers, signed));
    let votes: Vec<_> = signed.filter_map(|signed| Some((signed, vote(signed)?))).collect();
    let mut found = BTreeMap::new();
    for (n, (one, ours)) in votes.iter().enumerate() {
        let contradicts = |(other, _): &&(&Signed, Vote)| one.contradicts(other) && one.is_sound() && other.is_sound();
        if let Some((_, theirs)) = votes[n..].iter().find(contradicts) {
            found.entry((one.player, ours.epoch)).or_insert([ours.leader, theirs.leader]);
        }
    }
    let told = found.into_iter().map(|((player, epoch), leaders)| {
        let [one, other] = leaders.map(|leader| name(peers, leader));
        format!("{} voted for two to lead epoch {}, {one} and {other}, and signed both", name(peers, player), epoch.0)
    });
    told.collect()
}

fn vote(signed: &Signed) -> Option<Vote> {
    match signed.word {
        Word::Vote(vote, _) => Some(vote),
        Word::Span(_) => None,
    }
}

/// Whether all that a recording has of what a player signed around a tick is what it signed: then
/// it was told just that.
pub(super) fn is_as_signed<S: Inspect>(peer: &Timeline<S>, peers: &[Timeline<S>], tick: Tick) -> bool {
    let of_others = about(peer, peers, tick).filter(|(signed, _)| signed.player != peer.header.player);
    let is_so =
        |(signed, told): (&Signed, &Attestation)| gave(peer, signed.player, told) == Some(true) && signed.is_sound();
    let mut told = of_others.map(is_so).peekable();
    told.peek().is_some() && told.all(|is_so| is_so)
}

/// Who else may have told a recording's peer what it has otherwise in a turn: whoever orders the
/// turns; or, in a rollback session, each other player, who tells its commands itself.
pub(super) fn teller<'t, S: Inspect>(
    peer: &Timeline<S>,
    ours: Option<&'t Turn<S>>,
    theirs: Option<&'t Turn<S>>,
) -> Option<&'static str> {
    if !is_rollback(peer) {
        return Some("one peer orders the turns and tells them to each other, and may have told it other ones");
    }
    let is_own = |input: &&Input<S>| matches!(input, Input::Command(by, _) if *by == peer.header.player);
    let own = |turn: Option<&'t Turn<S>>| turn.into_iter().flat_map(|turn| &turn.inputs).filter(is_own);
    let is_told = own(ours).eq(own(theirs));
    is_told.then_some("each player of a rollback session tells the others itself, and may have told it another story")
}

/// What players told of the turns, and signed, as a recording has it of a tick, with a key that
/// counts.
fn about<'p, S: Inspect>(
    peer: &'p Timeline<S>,
    peers: &'p [Timeline<S>],
    tick: Tick,
) -> impl Iterator<Item = (&'p Signed, &'p Attestation)> {
    let spans = peer.signed.iter().filter_map(|signed| match &signed.word {
        Word::Span(attestation) => Some((signed, attestation)),
        Word::Vote(..) => None,
    });
    spans.filter(move |(signed, told)| span(peer, told).contains(&tick) && is_only_key(peers, signed))
}

/// The ticks that something signed is about.
fn span<S: Inspect>(peer: &Timeline<S>, told: &Attestation) -> std::ops::Range<Tick> {
    let ticks = if is_rollback(peer) { ROLLBACK_ATTESTED_TICKS } else { ATTESTED_TICKS };
    Tick(told.end.0.saturating_sub(ticks))..told.end
}

/// Whether nobody names another key of that player.
fn is_only_key<S: Inspect>(peers: &[Timeline<S>], signed: &Signed) -> bool {
    let mut named = peers.iter().flat_map(|peer| &peer.signed).filter(|other| other.player == signed.player);
    named.all(|other| other.key == signed.key)
}

/// Whether the commands of a rollback player in a recording are those that it signed, if the
/// recording holds all of the span.
fn gave<S: Inspect>(peer: &Timeline<S>, player: PlayerId, told: &Attestation) -> Option<bool> {
    let span = span(peer, told);
    if !is_rollback(peer) || span.start < peer.start() || span.end > peer.end {
        return None;
    }
    let commands = peer.turns.range(span).filter_map(|(tick, turn)| {
        let of_player = turn.inputs.iter().find_map(|input| match input {
            Input::Command(by, command) if *by == player => Some(command),
            _ => None,
        });
        Some((*tick, of_player?))
    });
    Some(Attestation::digest_of(commands) == told.digest)
}

fn name<S: Inspect>(peers: &[Timeline<S>], player: PlayerId) -> String {
    let own = peers.iter().find(|peer| peer.header.player == player).map(Timeline::who);
    let named = peers.iter().find_map(|peer| peer.names.get(&player)).map(|name| format!("{name} ({player})"));
    own.or(named).unwrap_or_else(|| player.to_string())
}

fn is_rollback<S: Inspect>(peer: &Timeline<S>) -> bool {
    matches!(peer.header.kind, SessionKind::Rollback { .. })
}
