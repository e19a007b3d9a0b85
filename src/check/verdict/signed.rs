//! Who told two stories, as signatures in the recordings prove. Without one, nobody is accused.
//!
//! A recording may be forged, but not what another player signed: a key counts only if all
//! recordings that name a player's key name the same.

use lockstone_net::limits::{ATTESTED_TICKS, ROLLBACK_ATTESTED_TICKS};
use lockstone_net::wire::{Attestation, SessionKind, Signed};
use lockstone_sim::{Input, PlayerId, Tick, Turn};

use crate::inspect::Inspect;
use crate::recording::Timeline;

/// The player that told two stories of a tick, and what proves it.
pub(super) fn two_stories<S: Inspect>(peers: &[Timeline<S>], tick: Tick) -> Option<(PlayerId, String)> {
    let signed: Vec<_> = peers.iter().flat_map(|peer| about(peer, peers, tick)).collect();
    let contradicts = |one: &&Signed| signed.iter().any(|other| one.contradicts(other) && other.is_sound());
    if let Some(one) = signed.iter().find(|one| contradicts(one) && one.is_sound()) {
        let end = one.attestation.end;
        let proof = format!("{} signed two stories of the same ticks up to {end}", name(peers, one.player));
        return Some((one.player, proof));
    }
    let denies = |one: &&&Signed| {
        let own = peers.iter().find(|peer| peer.header.player == one.player);
        own.is_some_and(|own| gave(own, one) == Some(false)) && one.is_sound()
    };
    signed.iter().find(denies).map(|one| {
        let proof = format!("{} recorded other commands of its own than it signed", name(peers, one.player));
        (one.player, proof)
    })
}

/// Whether all that a recording has of what a player signed around a tick is what it signed: then
/// it was told just that.
pub(super) fn is_as_signed<S: Inspect>(peer: &Timeline<S>, peers: &[Timeline<S>], tick: Tick) -> bool {
    let of_others = about(peer, peers, tick).filter(|signed| signed.player != peer.header.player);
    let mut told = of_others.map(|signed| gave(peer, signed) == Some(true) && signed.is_sound()).peekable();
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

/// What a recording has that was signed of a tick, with a key that counts.
fn about<'p, S: Inspect>(
    peer: &'p Timeline<S>,
    peers: &'p [Timeline<S>],
    tick: Tick,
) -> impl Iterator<Item = &'p Signed> {
    peer.signed.iter().filter(move |signed| span(peer, signed).contains(&tick) && is_only_key(peers, signed))
}

/// The ticks that something signed is about.
fn span<S: Inspect>(peer: &Timeline<S>, signed: &Signed) -> std::ops::Range<Tick> {
    let ticks = if is_rollback(peer) { ROLLBACK_ATTESTED_TICKS } else { ATTESTED_TICKS };
    let end = signed.attestation.end;
    Tick(end.0.saturating_sub(ticks))..end
}

/// Whether nobody names another key of that player.
fn is_only_key<S: Inspect>(peers: &[Timeline<S>], signed: &Signed) -> bool {
    let mut named = peers.iter().flat_map(|peer| &peer.signed).filter(|other| other.player == signed.player);
    named.all(|other| other.key == signed.key)
}

/// Whether the commands of a rollback player in a recording are those that it signed, if the
/// recording holds all of the span.
fn gave<S: Inspect>(peer: &Timeline<S>, signed: &Signed) -> Option<bool> {
    let span = span(peer, signed);
    if !is_rollback(peer) || span.start < peer.start() || span.end > peer.end {
        return None;
    }
    let commands = peer.turns.range(span).filter_map(|(tick, turn)| {
        let of_player = turn.inputs.iter().find_map(|input| match input {
            Input::Command(by, command) if *by == signed.player => Some(command),
            _ => None,
        });
        Some((*tick, of_player?))
    });
    Some(Attestation::digest_of(commands) == signed.attestation.digest)
}

fn name<S: Inspect>(peers: &[Timeline<S>], player: PlayerId) -> String {
    let own = peers.iter().find(|peer| peer.header.player == player).map(Timeline::who);
    let named = peers.iter().find_map(|peer| peer.names.get(&player)).map(|name| format!("{name} ({player})"));
    own.or(named).unwrap_or_else(|| player.to_string())
}

fn is_rollback<S: Inspect>(peer: &Timeline<S>) -> bool {
    matches!(peer.header.kind, SessionKind::Rollback { .. })
}
