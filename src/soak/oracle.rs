//! Judges a run by its trace: what must hold whatever goes wrong, but for what [`Allowed`] allows.
//!
//! It must never look into a session, only at what peers told. Each rule is one function.

mod commands;
mod history;
mod pace;

use std::fmt;

use lockstone_net::session::DropReason;
use serde::Serialize;

use super::allowed::Allowed;
use super::fleet::HUSH_MS;
use super::schedule::{Kind, Schedule, SeatId};
use super::trace::{Life, Trace};

/// What must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// All play the same turns, and nobody discards more than the last moments.
    OneHistory,
    /// Worlds are equal at every tick that two peers have, and no peer finds a difference.
    Checksums,
    /// Each command that was taken of a player is played once, in order.
    Commands,
    /// What the world asks for comes in a turn.
    Requests,
    /// The session goes on soon after trouble, and everyone is abreast of it.
    Progress,
    /// Who is in the world stays, as the same player; who enters comes in.
    Hero,
    /// Nothing waits for ever, and no honest peer is taken for a hostile one.
    Leak,
    /// The same schedule gives the same trace.
    Trace,
    /// Nothing panics.
    Panic,
}

/// Something that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Breach {
    /// Which rule.
    pub rule: Rule,
    /// What happened.
    pub text: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule.name(), self.text)
    }
}

impl Rule {
    /// What reports call it.
    pub const fn name(self) -> &'static str {
        match self {
            Rule::OneHistory => "one-history",
            Rule::Checksums => "checksums",
            Rule::Commands => "commands",
            Rule::Requests => "requests",
            Rule::Progress => "progress",
            Rule::Hero => "hero",
            Rule::Leak => "leak",
            Rule::Trace => "trace",
            Rule::Panic => "panic",
        }
    }
}

/// All that does not hold in a run.
pub fn judge(schedule: &Schedule, trace: &Trace) -> Vec<Breach> {
    let sessions = trace.sessions(schedule.kind);
    let mut breaches: Vec<_> = sessions.iter().flat_map(|session| judge_session(schedule, session)).collect();
    if let Some((_, Some(first))) = &trace.cores {
        breaches.push(breach(Rule::Checksums, first));
    }
    breaches
}

fn judge_session(schedule: &Schedule, trace: &Trace) -> Vec<Breach> {
    let judge = Judge { schedule, trace, allowed: Allowed::of(schedule, trace) };
    let mut breaches = Vec::new();
    let out = &mut breaches;
    match schedule.kind {
        Kind::Party => {
            let history = judge.one_history(out);
            judge.commands_and_heroes(&history, out);
            judge.requests(&history, out);
        }
        Kind::Rollback => judge.settled_history(out),
        Kind::Relay => {
            let history = judge.relays_history(out);
            judge.commands_and_heroes(&history, out);
            judge.requests(&history, out);
        }
    }
    judge.progress(out);
    judge.presence(out);
    judge.leaks(out);
    breaches
}

fn breach(rule: Rule, text: impl fmt::Display) -> Breach {
    Breach { rule, text: text.to_string() }
}

struct Judge<'j> {
    schedule: &'j Schedule,
    trace: &'j Trace,
    allowed: Allowed,
}

impl Judge<'_> {
    /// Who lives to the end without an excuse.
    fn steadfast(&self) -> impl Iterator<Item = (SeatId, &Life)> {
        let lives = self.trace.lives.iter().map(|(seat, life)| (*seat, life));
        lives.filter(|(seat, life)| life.lives() && !self.allowed.excused_ms.contains_key(seat))
    }

    fn is_steady(&self, seat: SeatId) -> bool {
        !self.allowed.excused_ms.contains_key(&seat)
    }

    /// Whether nothing but its end excuses a peer.
    fn was_steady(&self, seat: SeatId) -> bool {
        self.is_steady(seat) || self.allowed.ended.contains(&seat)
    }

    fn leaks(&self, out: &mut Vec<Breach>) {
        for (seat, life) in &self.trace.lives {
            if life.desyncs > 0 {
                out.push(breach(Rule::Checksums, format!("seat {seat} found {} differences", life.desyncs)));
            }
            if let Some((at_ms, player)) = life.distrusted.first() {
                let text = format!("seat {seat} distrusts {player} from {at_ms} ms, and all are honest");
                out.push(breach(Rule::Leak, text));
            }
            let hostile = life.drops.iter().find(|(reason, _)| HOSTILE.contains(reason));
            if let Some((reason, times)) = hostile {
                out.push(breach(
                    Rule::Leak,
                    format!("seat {seat} dropped something {times} times as {reason:?}, and all are honest"),
                ));
            }
        }
        for (seat, life) in self.steadfast().filter(|(_, life)| life.pending > 0) {
            let text = format!("seat {seat} has {} commands that wait, {HUSH_MS} ms after its last", life.pending);
            out.push(breach(Rule::Leak, text));
        }
    }
}

/// What only a hostile peer should be the reason of.
const HOSTILE: [DropReason; 8] = [
    DropReason::Malformed,
    DropReason::Oversized,
    DropReason::ForgedAck,
    DropReason::BadCommand,
    DropReason::BadInput,
    DropReason::RequestFlood,
    DropReason::BadEvidence,
    DropReason::BadRepair,
];
