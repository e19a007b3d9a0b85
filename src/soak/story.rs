//! What happened in a run, told line by line: what went wrong, and how each peer took it.

use std::fmt::{self, Write};

use lockstone_net::session::Phase;

use super::schedule::{Schedule, SeatId, seconds};
use super::trace::Trace;

/// Tells a run.
pub fn story(schedule: &Schedule, trace: &Trace) -> String {
    let mut lines: Vec<_> = schedule.steps.iter().map(|step| (step.at_ms, None, step.fault.to_string())).collect();
    for (seat, life) in &trace.lives {
        let mut tell = |at_ms: u32, what: String| lines.push((at_ms, Some(*seat), what));
        for (at_ms, phase) in &life.phases {
            let tick = life.look(*at_ms).map_or(0, |look| look.tick.0);
            tell(*at_ms, format!("{} at tick {tick}", Told(phase)));
        }
        for (at_ms, player) in &life.leaders {
            tell(*at_ms, format!("{player} leads"));
        }
        for (at_ms, player, tick) in &life.differences {
            tell(*at_ms, format!("its checksum at {tick} differs from that of {player}"));
        }
        for (at_ms, player) in &life.distrusted {
            tell(*at_ms, format!("it distrusts {player}"));
        }
        for segment in &life.segments {
            let Some((from, to)) = segment.span() else { continue };
            tell(segment.until_ms, format!("as {} it played ticks {from} to {to}", segment.player));
        }
        if let (Some(at_ms), Some(end)) = (life.gone_ms, &life.end) {
            tell(at_ms, format!("its session ended: {end}"));
        }
    }
    lines.sort_by_key(|(at_ms, seat, _)| (*at_ms, *seat));
    lines.into_iter().fold(String::new(), |mut text, (at_ms, seat, what)| {
        let seat = seat.map_or_else(String::new, |seat: SeatId| format!("{seat:>4}: "));
        let _ = writeln!(text, "{:>8} s  {seat}{what}", seconds(at_ms));
        text
    })
}

struct Told<'p>(&'p Phase);

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Phase::Connecting => "looks for the session",
            Phase::Loading { .. } => "loads the world",
            Phase::CatchingUp => "catches up",
            Phase::Waiting { .. } => "waits for others",
            Phase::Playing => "plays",
            Phase::StandingBy => "follows the relay as its standby",
            Phase::Returning => "looks for its session again",
            Phase::Regrouping => "decides with others who leads",
            Phase::OutOfStep => "is out of step",
            Phase::Ended(_) => "is at the end",
        })
    }
}
