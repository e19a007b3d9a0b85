//! What went wrong, in one sentence, and the exit code.

use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;

use lockstone_net::session::{EndReason, PlayerError};
use lockstone_net::signaling::SignalingError;
use lockstone_net::tls::TlsError;
use lockstone_net::wire::{LeaveReason, Refusal, SessionKind, Subject};
use lockstone_net::{LinkError, Obstacle};

use crate::output::say;
use crate::recording::{BundleError, RecordingError};

/// Bad input, or a place that cannot be reached or written.
pub(super) const BAD_INPUT: u8 = 2;
/// Worlds differed.
pub(super) const DIFFERED: u8 = 1;

/// Ends the program with a sentence.
#[derive(Debug, thiserror::Error)]
#[error("{sentence}")]
pub(super) struct Failure {
    sentence: String,
    code: u8,
}

impl Failure {
    /// Bad input: its cause and what to do, without a full stop.
    pub fn new(sentence: impl Display) -> Failure {
        Failure { sentence: sentence.to_string(), code: BAD_INPUT }
    }

    /// Worlds that should be equal are not.
    pub fn differed(sentence: impl Display) -> Failure {
        Failure { sentence: sentence.to_string(), code: DIFFERED }
    }

    /// A file that cannot be read or written.
    pub fn file(doing: &str, path: &Path, cause: impl Display) -> Failure {
        Failure::new(format!("cannot {doing} {}: {cause}", path.display()))
    }

    /// A recording that cannot be read or played.
    pub fn recording(doing: &str, path: &Path, cause: &RecordingError) -> Failure {
        Failure::file(doing, path, format!("{cause}; {}", of_recording(cause)))
    }

    /// Says it, and gives the exit code.
    pub fn tell(self) -> ExitCode {
        say(format_args!("{self}."));
        ExitCode::from(self.code)
    }
}

impl From<PlayerError> for Failure {
    fn from(error: PlayerError) -> Failure {
        Failure::new(format!("{error}; choose another --name"))
    }
}

impl From<SignalingError> for Failure {
    fn from(error: SignalingError) -> Failure {
        let advice = match error {
            SignalingError::AddressTaken { .. } | SignalingError::Listen { .. } => "choose another with --listen",
            SignalingError::Register { .. } => "name another file with --state",
            SignalingError::Run(_) => "close other programs and try again",
        };
        Failure::new(format!("{error}; {advice}"))
    }
}

impl From<TlsError> for Failure {
    fn from(error: TlsError) -> Failure {
        Failure::new(format!("{error}; name others with --cert and --cert-key"))
    }
}

/// Whether the end of a session of a kind is a failure, and what to do about it.
pub(super) fn of_end(reason: &EndReason, kind: SessionKind, obstacle: Option<Obstacle>) -> Option<Failure> {
    // What goes on without this peer, and what nobody is found of.
    let (goes_on, is_lost) = match kind {
        // It has begun, and takes nobody in.
        SessionKind::Rollback { .. } => ("begin another session", "begin another session"),
        SessionKind::Party { .. } => ("join again to go on", "join again once its players are there"),
        SessionKind::Relay { .. } => ("join again to go on", "join again once the relay is there"),
    };
    let advice = match reason {
        EndReason::Left | EndReason::SequencerLeft => return None,
        EndReason::Desync => return Some(Failure::differed(reason)),
        EndReason::Removed(LeaveReason::Desync) => return Some(Failure::differed(reason)),
        EndReason::Removed(LeaveReason::Replaced) => "play on there",
        EndReason::Removed(LeaveReason::Lied | LeaveReason::Distrusted | LeaveReason::VotedOut) => {
            "begin another session"
        }
        EndReason::Removed(_) => goes_on,
        EndReason::SequencerLost { .. } => is_lost,
        EndReason::Refused(refusal) => of_refusal(refusal),
        EndReason::NoQuorum => "begin another session",
        EndReason::Superseded => "its players play on there",
        EndReason::NoSession if obstacle.is_none() => "try again, or choose another --room",
        EndReason::NoSession | EndReason::Unreachable(_) => of_obstacle(obstacle),
        EndReason::NotEntered => "see whether the signaling server still answers",
        EndReason::Transfer(_) | EndReason::Snapshot(_) | EndReason::LoadTimeout => "try again",
        EndReason::Link(error) => match error {
            LinkError::Unreachable { url, .. } if url.starts_with("wss:") => {
                "name another with --signal, or whom to trust with --signal-ca"
            }
            LinkError::Unreachable { .. } => "start one with `signal`, or name another with --signal",
            LinkError::Refused { .. } => "see --room, --key and --relay",
            LinkError::Ended(_) => is_lost,
        },
    };
    Some(Failure::new(format!("{reason}; {advice}")))
}

/// What to do where no way leads to another peer.
fn of_obstacle(obstacle: Option<Obstacle>) -> &'static str {
    match obstacle {
        Some(Obstacle::Silence) => "who is there said nothing by signaling: see whether they still play",
        Some(Obstacle::Turn { refused: true }) => {
            "the TURN server refused the user and password: see --turn-password, or the signaling server's secret and clock"
        }
        Some(Obstacle::Turn { refused: false }) => {
            "the TURN server gave no address: see --turn, or the signaling server's, and whether UDP leaves this network"
        }
        Some(Obstacle::Stun) => "the STUN server gave no address: see --stun, and whether UDP leaves this network",
        Some(Obstacle::Firewall { relayed: true }) => {
            "a firewall is between the peers, and the TURN server led nowhere: both need one that both reach"
        }
        Some(Obstacle::Firewall { relayed: false }) | None => {
            "see whether a firewall is between the peers, or name a --stun or a --turn server"
        }
    }
}

/// What a peer does that was not let in.
fn of_refusal(refusal: &Refusal) -> &'static str {
    let differences = match refusal {
        Refusal::PutOut | Refusal::Full { .. } | Refusal::Begun => return "choose another --room",
        Refusal::Different(differences) => &differences[..],
        _ => &[],
    };
    let kinds = differences.iter().find(|difference| difference.what == Subject::Kind);
    match kinds.map(|kinds| (kinds.session, kinds.joiner)) {
        None => "all peers need the same build, table and settings",
        Some((0, 1)) => "leave out --rollback, or choose another --room",
        Some((0, _)) => "leave out --relay, or choose another --room",
        Some((1, _)) => "join with --rollback, or choose another --room",
        Some(_) => "join with --relay, or choose another --room",
    }
}

/// What to do with a recording that cannot be used.
pub(super) fn of_recording(error: &RecordingError) -> &'static str {
    match error {
        RecordingError::WrongMagic => "record one with `play --record`, or read a bundle with `explain`",
        RecordingError::TooShort { .. } | RecordingError::Damaged { .. } => "copy it again from where it was recorded",
        RecordingError::Unreadable { .. } => "see which build recorded it",
        RecordingError::UnsupportedVersion { .. } | RecordingError::Different { .. } => {
            "use the build that recorded it"
        }
    }
}

/// What to do with a bundle that cannot be read.
pub(super) fn of_bundle(error: &BundleError) -> &'static str {
    match error {
        BundleError::WrongMagic => "read a recording with `check`",
        BundleError::UnsupportedVersion { .. } => "use the build that wrote it",
        BundleError::TooLong { .. } | BundleError::Damaged => "ask for it again",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_may_go_on_is_told_to_join_again_to_go_on() {
        let (packet_interval_ticks, max_prediction_ticks) = (2, 8);
        let kinds = [SessionKind::Party { packet_interval_ticks }, SessionKind::Relay { packet_interval_ticks }];
        let goes_on = |reason: EndReason, kind| {
            let told = of_end(&reason, kind, None).expect("it is a failure").to_string();
            told.contains("join again to go on")
        };
        for kind in kinds {
            assert!(goes_on(EndReason::Removed(LeaveReason::Silent), kind), "the others play on, and its hero waits");
            for silent in [true, false] {
                assert!(!goes_on(EndReason::SequencerLost { silent }, kind), "nobody is found any more");
            }
            assert!(!goes_on(EndReason::Link(LinkError::Ended("it is gone".to_owned())), kind));
            assert!(!goes_on(EndReason::Removed(LeaveReason::VotedOut), kind));
        }
        let rollback = SessionKind::Rollback { max_prediction_ticks };
        assert!(!goes_on(EndReason::Removed(LeaveReason::Silent), rollback), "it takes nobody in");
    }
}
