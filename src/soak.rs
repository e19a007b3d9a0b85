//! A fleet that plays whole sessions on virtual time, with the real game, while everything goes
//! wrong that a seed draws: production code, and an oracle over what each peer was told.
//!
//! ```text
//! seed ─► Schedule ─► play: sessions, bots, memory network ─► Trace ─► judge ─► breaches
//!            ▲                                                            │
//!            └──────────────────── shrink: fewer steps ◄──────────────────┘
//! ```
//!
//! The loop of a run is in `fleet.rs`, what a run must come to in `oracle.rs`, and what each fault
//! allows in `allowed.rs`. The same schedule and the same program play the same run, to the byte.
//! Nothing here reads a clock, and no session has a hook for it.
//!
//! What is no failure, because sessions are made so:
//!
//! - Whoever is isolated for longer than its session is patient is put out. Its hero leaves, or
//!   waits for it in a party whose simulation says so.
//! - A party goes on while a quorum is left, within 2 s, or 3 s if two are lost at once. A peer
//!   that was cut off from it may have played turns that are discarded: the history is that of the
//!   majority that goes on. A peer that loads the world anew begins a new segment of its trace.
//! - A relay is followed by its standby, if that is in step and most of the players who are in the
//!   world are there to say so; else it has to be started again. Then players without a key have
//!   lost their heroes. If most of the players are lost with the standby, nobody goes on.
//! - A relay that was a standby may only stand still. So if nobody is told that it died, its
//!   players wait for it for 10 s, also while another is started again in its place.
//! - A signaling server that is started again lets newcomers wait for 3 s, or until a member is
//!   back. Two who enter before any, after all, are a session that yields to no stranger. So then
//!   they enter one after the other here.
//! - A rollback session takes nobody in after it began. Of two sides of a cut the one with a quorum
//!   goes on, and the other ends.

mod allowed;
mod draw;
mod fleet;
mod hosts;
mod oracle;
mod play;
mod schedule;
mod shrink;
mod story;
mod trace;

use lockstone_net::session::EndReason;
use lockstone_sim::Tick;

use allowed::Allowed;

pub use draw::{Range, draw};
pub use oracle::{Breach, Rule, judge};
pub use play::{SoakError, key, play, play_party, play_rollback, play_wide};
pub use schedule::{Fault, FaultKind, HUB, Kind, Schedule, SeatId, Step};
pub use shrink::shrink;
pub use story::story;
pub use trace::{LOOK_MS, Life, Look, Segment, Told, Trace};

/// What plays a schedule: [`play`] or [`play_wide`] of a game.
pub type Player<'p> = &'p (dyn Fn(&Schedule) -> Result<Trace, SoakError> + Sync);

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// What does not hold.
    pub breaches: Vec<Breach>,
    /// How much was played.
    pub figures: Figures,
}

/// How much was played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Figures {
    /// Peers that entered.
    pub peers: u64,
    /// Of them, those that had no excuse for anything.
    pub without_excuse: u64,
    /// Peers whose session ended, and neither they nor the schedule wanted it.
    pub put_out: u64,
    /// Ticks that they played.
    pub ticks: u64,
    /// Commands that bots gave.
    pub commands: u64,
    /// How often another took over.
    pub takeovers: u64,
    /// How often a peer loaded the world anew.
    pub reloads: u64,
    /// Cells of replicas' cores that were compared with the whole world, each at each tick.
    pub core_cell_ticks: u64,
    /// How long it was for the peers, in milliseconds.
    pub virtual_ms: u64,
}

impl Figures {
    fn of(schedule: &Schedule, trace: &Trace) -> Figures {
        let sessions = trace.sessions(schedule.kind);
        let excused: usize = sessions.iter().map(|session| Allowed::of(schedule, session).excused_ms.len()).sum();
        let lives = || trace.lives.values();
        let relays =
            trace.lives.iter().filter(|(seat, life)| schedule.is_host(**seat) && life.plays_from_ms().is_some());
        let ticks = |segment: &Segment| segment.span().map_or(0, |(Tick(from), Tick(to))| u64::from(to - from));
        Figures {
            peers: lives().count() as u64,
            without_excuse: (lives().count() - excused) as u64,
            put_out: lives().filter(|life| life.end.as_ref().is_some_and(is_unwanted)).count() as u64,
            ticks: lives().flat_map(|life| &life.segments).map(ticks).sum(),
            commands: lives().map(|life| life.given.len() as u64).sum(),
            takeovers: lives().map(|life| life.leaders.len().saturating_sub(1) as u64).max().unwrap_or(0)
                + relays.count().saturating_sub(1) as u64,
            reloads: lives()
                .map(|life| life.segments.iter().filter(|one| !one.leaves).count().saturating_sub(1) as u64)
                .sum(),
            core_cell_ticks: trace.cores.as_ref().map_or(0, |(cells, _)| *cells),
            virtual_ms: trace.end_ms.into(),
        }
    }

    /// Adds those of another run.
    pub fn add(&mut self, other: &Figures) {
        self.peers += other.peers;
        self.without_excuse += other.without_excuse;
        self.put_out += other.put_out;
        self.ticks += other.ticks;
        self.commands += other.commands;
        self.takeovers += other.takeovers;
        self.reloads += other.reloads;
        self.core_cell_ticks += other.core_cell_ticks;
        self.virtual_ms += other.virtual_ms;
    }
}

fn is_unwanted(end: &EndReason) -> bool {
    !matches!(end, EndReason::Left | EndReason::SequencerLeft | EndReason::Link(_))
}

/// Plays a schedule twice, and judges it.
///
/// # Errors
/// [`SoakError`] if the game cannot play it.
pub fn run(schedule: &Schedule, player: Player<'_>) -> Result<Outcome, SoakError> {
    let play = || match crate::panics::caught(|| player(schedule)) {
        Ok(trace) => trace.map(Ok),
        Err(panicked) => Ok(Err(panicked.message)),
    };
    let panicked = |text| {
        let breaches = vec![Breach { rule: Rule::Panic, text }];
        Ok(Outcome { breaches, figures: Figures::default() })
    };
    let [first, again] = [play()?, play()?];
    let (first, again) = match (first, again) {
        (Ok(first), Ok(again)) => (first, again),
        (Err(text), _) | (_, Err(text)) => return panicked(text),
    };
    let mut breaches = judge(schedule, &first);
    if let Some(text) = first.parts_from(&again) {
        breaches.push(Breach { rule: Rule::Trace, text });
    }
    Ok(Outcome { breaches, figures: Figures::of(schedule, &first) })
}
