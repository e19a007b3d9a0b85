//! What all peers of a session must have in common, and how a joiner is told what differs.
//!
//! The bytes of a [`Refusal`] never change, as those of a hello's start: peers of different
//! versions can tell each other so.

use core::fmt;
use serde::{Deserialize, Serialize};

use super::{List, PROTOCOL_VERSION};
use crate::limits::DIFFERENCES_MAX;

/// What the game is, as digests. Peers with different ones refuse each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Of the rules: the code that steps the simulation.
    pub rules: u64,
    /// Of the random table.
    pub table: u128,
    /// Of the game's configuration.
    pub config: u64,
}

/// What all peers of a session must have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// The game.
    pub identity: Identity,
    /// How commands become turns.
    pub kind: SessionKind,
    /// Ticks a second.
    pub ticks_per_s: u32,
    /// How much later a command plays in a rollback session, in ticks. In others 0: in a party it
    /// is a matter of whoever leads.
    pub input_delay_ticks: u32,
    /// Between two checksums, in ticks.
    pub checksum_interval_ticks: u32,
}

/// How commands become turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SessionKind {
    /// One peer orders them.
    Party {
        /// Between two packets of turns.
        packet_interval_ticks: u32,
    },
    /// Each peer plays its own at once, predicts those of others, and corrects itself.
    Rollback {
        /// How far it plays ahead of what it knows.
        max_prediction_ticks: u32,
    },
    /// One peer orders them, simulates all, and tells each other peer what its part of
    /// the world needs.
    Relay {
        /// Between two packets of frames.
        packet_interval_ticks: u32,
    },
}

/// Why a joiner is refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
pub enum Refusal {
    /// The peers are not of the same build or settings.
    #[error("{}", listed(.0))]
    Different(List<Difference, DIFFERENCES_MAX>),
    /// All places are taken.
    #[error("all {players_max} places are taken")]
    Full {
        /// How many places there are.
        players_max: u16,
    },
    /// The simulation cannot read the hero.
    #[error("the session cannot read the hero")]
    Hero,
    /// The world is too large to be sent.
    #[error("the world is too large to be sent")]
    World,
    /// The session has begun, and takes nobody in later.
    #[error("the session has begun, and a rollback session takes nobody in later")]
    Begun,
    /// The joiner named a key, and did not prove to have it.
    #[error("the player's key was not proven")]
    Key,
    /// The player leads the session, from elsewhere.
    #[error("this player is in the session already, and leads it")]
    Leads,
    /// The player was put out of the session by the others.
    #[error("the players of the session have put this player out")]
    PutOut,
}

/// Something that differs between two peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// What.
    pub what: Subject,
    /// The session's value.
    pub session: u128,
    /// The joiner's value.
    pub joiner: u128,
}

/// What peers must have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Subject {
    /// The version of the wire format.
    Protocol,
    /// The digest of the rules: the code that steps the simulation.
    Rules,
    /// The digest of the random table.
    Table,
    /// The digest of the game's configuration.
    Config,
    /// The kind of session: 0 is a party, 1 a rollback session, 2 a relay session.
    Kind,
    /// Ticks a second.
    TickRate,
    /// The input delay, in ticks.
    InputDelay,
    /// Between two checksums, in ticks.
    ChecksumInterval,
    /// Between two packets of a party's turns or a relay's frames, in ticks.
    PacketInterval,
    /// How far a rollback session plays ahead, in ticks.
    MaxPrediction,
}

impl SessionKind {
    /// The number of the kind, and its own setting.
    fn parts(self) -> (u128, Subject, u32) {
        match self {
            SessionKind::Party { packet_interval_ticks } => (0, Subject::PacketInterval, packet_interval_ticks),
            SessionKind::Rollback { max_prediction_ticks } => (1, Subject::MaxPrediction, max_prediction_ticks),
            SessionKind::Relay { packet_interval_ticks } => (2, Subject::PacketInterval, packet_interval_ticks),
        }
    }
}

impl Terms {
    /// What differs, the session's own terms being `self`. Sessions of different kinds are not
    /// compared any further.
    pub fn differences(&self, protocol: u32, joiner: &Terms) -> Vec<Difference> {
        let (ours, theirs) = (&self.identity, &joiner.identity);
        let ((kind, subject, setting), (joiner_kind, _, joiner_setting)) = (self.kind.parts(), joiner.kind.parts());
        let mut pairs: Vec<(Subject, u128, u128)> = vec![
            (Subject::Protocol, PROTOCOL_VERSION.into(), protocol.into()),
            (Subject::Rules, ours.rules.into(), theirs.rules.into()),
            (Subject::Table, ours.table, theirs.table),
            (Subject::Config, ours.config.into(), theirs.config.into()),
            (Subject::Kind, kind, joiner_kind),
        ];
        if kind == joiner_kind {
            pairs.extend([
                (Subject::TickRate, self.ticks_per_s.into(), joiner.ticks_per_s.into()),
                (Subject::InputDelay, self.input_delay_ticks.into(), joiner.input_delay_ticks.into()),
                (Subject::ChecksumInterval, self.checksum_interval_ticks.into(), joiner.checksum_interval_ticks.into()),
                (subject, setting.into(), joiner_setting.into()),
            ]);
        }
        let differences = pairs.into_iter().filter(|(_, session, joiner)| session != joiner);
        differences.map(|(what, session, joiner)| Difference { what, session, joiner }).collect()
    }
}

impl Subject {
    /// A value as people read it.
    fn show(self, value: u128) -> String {
        match (self, value) {
            (Subject::Rules | Subject::Table | Subject::Config, _) => format!("{value:x}"),
            (Subject::Kind, 0) => "party".to_owned(),
            (Subject::Kind, 1) => "rollback".to_owned(),
            (Subject::Kind, 2) => "relay".to_owned(),
            _ => value.to_string(),
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Subject::Protocol => "protocol",
            Subject::Rules => "rules",
            Subject::Table => "random table",
            Subject::Config => "game's configuration",
            Subject::Kind => "kind of session",
            Subject::TickRate => "tick rate",
            Subject::InputDelay => "input delay",
            Subject::ChecksumInterval => "checksum interval",
            Subject::PacketInterval => "packet interval",
            Subject::MaxPrediction => "prediction limit",
        })
    }
}

fn listed(differences: &[Difference]) -> String {
    let shown = differences.iter().map(|Difference { what, session, joiner }| {
        let (session, joiner) = (what.show(*session), what.show(*joiner));
        let differs = if *what == Subject::Rules { "differ" } else { "differs" };
        format!("the {what} {differs} (session {session}, joiner {joiner})")
    });
    shown.collect::<Vec<_>>().join(", ")
}
