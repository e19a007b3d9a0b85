//! How a session ended, for a page: one sentence with its cause and what to do there, and the
//! report for programs.

use lockstone::net::session::EndReason;
use lockstone::net::wire::{LeaveReason, Refusal, SessionKind, Subject};
use lockstone::net::{LinkError, Obstacle};
use lockstone::shell::Report;
use serde_json::{Value, json};

pub(crate) fn of(reason: &EndReason, kind: SessionKind, obstacle: Option<Obstacle>, report: &Report) -> Value {
    let advice = advice(reason, kind, obstacle);
    let sentence = match (reason, advice) {
        (EndReason::Left, _) => "You have left the session.".to_owned(),
        (_, Some(advice)) => format!("{}; {advice}.", capital(&reason.to_string())),
        (_, None) => format!("The session is over: {reason}."),
    };
    // As a text: JavaScript's numbers are too short for checksums.
    let report = serde_json::to_string(report).expect("it is made of texts and numbers");
    json!({ "sentence": sentence, "report": report })
}

fn advice(reason: &EndReason, kind: SessionKind, obstacle: Option<Obstacle>) -> Option<&'static str> {
    // What goes on without this peer, and what nobody is found of.
    let (goes_on, is_lost) = match kind {
        // It has begun, and takes nobody in.
        SessionKind::Rollback { .. } => ("begin another session", "begin another session"),
        SessionKind::Party { .. } => {
            ("join again to go on with the same hero", "join again once its players are there")
        }
        SessionKind::Relay { .. } => ("join again to go on with the same hero", "join again once the relay is there"),
    };
    Some(match reason {
        EndReason::Left | EndReason::SequencerLeft => return None,
        EndReason::Removed(LeaveReason::Replaced) => "play on there",
        EndReason::Removed(LeaveReason::Lied | LeaveReason::Distrusted | LeaveReason::VotedOut) => {
            "begin another session"
        }
        EndReason::Desync | EndReason::Removed(LeaveReason::Desync) => {
            "save the recording for whoever made the game, and join again"
        }
        EndReason::Removed(_) => goes_on,
        EndReason::SequencerLost { .. } => is_lost,
        EndReason::Refused(refusal) => of_refusal(refusal),
        EndReason::NoQuorum => "begin another session",
        EndReason::Superseded => "join again: its players play on there",
        EndReason::NoSession | EndReason::Unreachable(_) => match obstacle {
            Some(Obstacle::Turn { refused: true }) => {
                "the TURN server refused the name and password that it was given: ask for a new link"
            }
            Some(Obstacle::Turn { refused: false }) => {
                "the TURN server gave no address: ask who sent the link to see after it"
            }
            Some(Obstacle::Stun) => "no UDP seems to leave this network: try from another",
            Some(Obstacle::Firewall { relayed: true }) => {
                "a firewall is between you, and the TURN server led nowhere: try from another network"
            }
            Some(Obstacle::Firewall { relayed: false }) => {
                "a firewall is between you: try from another network, or ask for a link with a TURN server"
            }
            Some(Obstacle::Silence) | None => "see whether the link is whole, and whether its sender still plays",
        },
        EndReason::NotEntered => "see whether the server still answers, and try again",
        EndReason::Transfer(_) | EndReason::Snapshot(_) | EndReason::LoadTimeout => "try again",
        EndReason::Link(LinkError::Unreachable { .. }) => {
            "see whether the server of this page still runs, and whether you are in its network"
        }
        EndReason::Link(LinkError::Refused { .. }) => "ask for the whole link",
        EndReason::Link(LinkError::Ended(_)) => is_lost,
    })
}

fn of_refusal(refusal: &Refusal) -> &'static str {
    let differences = match refusal {
        Refusal::PutOut | Refusal::Full { .. } | Refusal::Begun => return "begin another session",
        Refusal::Different(differences) => &differences[..],
        _ => &[],
    };
    let is_kind = differences.iter().any(|difference| difference.what == Subject::Kind);
    if is_kind { "ask for the whole link" } else { "load this page again from the server of whoever you join" }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
