//! Whether the session goes on in calm, and all are in it.

use lockstone_sim::Tick;

use super::{Breach, Judge, Rule, breach};
use crate::soak::allowed::Calm;
use crate::soak::schedule::{Kind, SeatId};
use crate::soak::trace::{LOOK_MS, Life};

/// A peer that is abreast is at most so many ticks behind the newest.
const BEHIND_TICKS_MAX: u32 = 16;
/// In calm the newest tick grows within so long.
const STALL_MS_MAX: u32 = 1_000;
/// Who enters in calm is in the world within so long.
const ENTER_MS_MAX: u32 = 5_000;

impl Judge<'_> {
    /// In calm the newest tick grows, and everyone is abreast of it.
    pub fn progress(&self, out: &mut Vec<Breach>) {
        for Calm { from_ms, until_ms, goes_on_ms, abreast_ms, .. } in self.allowed.calm(self.trace.end_ms) {
            let late = self.stalls(from_ms + goes_on_ms, until_ms);
            if let Some(at_ms) = late {
                out.push(breach(
                    Rule::Progress,
                    format!("no tick is played around {at_ms} ms, and the trouble was over at {from_ms} ms"),
                ));
            }
            let mut at_ms = (from_ms + abreast_ms).next_multiple_of(LOOK_MS);
            while at_ms < until_ms {
                if let Some((seat, behind)) = self.laggard((from_ms, abreast_ms), at_ms) {
                    let text =
                        format!("seat {seat} is {behind} at {at_ms} ms, and the trouble was over at {from_ms} ms");
                    out.push(breach(Rule::Progress, text));
                    break;
                }
                at_ms += LOOK_MS;
            }
        }
    }

    /// When the newest tick stands still, if it does.
    fn stalls(&self, from_ms: u32, until_ms: u32) -> Option<u32> {
        let mut grew_ms = from_ms.next_multiple_of(LOOK_MS);
        let mut newest = self.newest(grew_ms)?;
        let mut at_ms = grew_ms;
        while at_ms < until_ms {
            let now = self.newest(at_ms)?;
            if now > newest {
                (newest, grew_ms) = (now, at_ms);
            } else if at_ms >= grew_ms + STALL_MS_MAX {
                return Some(at_ms);
            }
            at_ms += LOOK_MS;
        }
        None
    }

    /// The newest tick of all who must play then.
    fn newest(&self, at_ms: u32) -> Option<Tick> {
        self.must_play(at_ms).map(|(_, tick, _)| tick).max()
    }

    /// Everyone who is in the world at a time and has no excuse: how far it is, and whether it
    /// plays.
    fn must_play(&self, at_ms: u32) -> impl Iterator<Item = (SeatId, Tick, bool)> {
        self.trace.lives.iter().filter_map(move |(seat, life)| {
            let there = life.gone_ms.is_none_or(|gone_ms| at_ms < gone_ms) && self.allowed.must(*seat, at_ms);
            let look =
                life.look(at_ms).filter(|_| there && life.plays_from_ms().is_some_and(|from_ms| from_ms <= at_ms))?;
            Some((*seat, look.tick, look.plays))
        })
    }

    fn laggard(&self, (calm_ms, abreast_ms): (u32, u32), at_ms: u32) -> Option<(SeatId, String)> {
        let newest = self.newest(at_ms)?;
        let settled = |seat: SeatId| {
            let from_ms = self.trace.lives[&seat].plays_from_ms().unwrap_or(at_ms);
            at_ms >= from_ms.max(calm_ms) + abreast_ms
        };
        self.must_play(at_ms).filter(|(seat, ..)| settled(*seat)).find_map(|(seat, tick, plays)| {
            let behind = newest.since(tick);
            (behind > BEHIND_TICKS_MAX || !plays)
                .then(|| (seat, if plays { format!("{behind} ticks behind") } else { "not playing".to_owned() }))
        })
    }

    /// Who enters comes in, and who is in the world stays.
    pub fn presence(&self, out: &mut Vec<Breach>) {
        for (seat, life) in &self.trace.lives {
            let steady = !self.allowed.excused_ms.contains_key(seat);
            let elected = life
                .leaders
                .iter()
                .skip(1)
                .find(|(at_ms, _)| life.entered_ms + ENTER_MS_MAX < *at_ms && self.allowed.is_harmless(*at_ms));
            if let Some((at_ms, player)) = elected.filter(|_| steady) {
                out.push(breach(Rule::Progress, format!("{player} leads since {at_ms} ms, and nobody was lost")));
            }
            let scheduled = self.allowed.spells.iter().any(|spell| spell.takes(*seat));
            if let Some(end) = life.end.as_ref().filter(|_| steady && !scheduled && !self.is_too_late(life)) {
                let at_ms = life.gone_ms.unwrap_or(self.trace.end_ms);
                out.push(breach(Rule::Hero, format!("seat {seat} ended at {at_ms} ms: {end}")));
            }
            let calm = self
                .allowed
                .calm(self.trace.end_ms)
                .find(|calm| (calm.enters_from_ms..calm.until_ms).contains(&life.entered_ms));
            let due_ms = calm.map_or(self.trace.end_ms, |Calm { from_ms, until_ms, .. }| {
                let due_ms = life.entered_ms.max(from_ms) + ENTER_MS_MAX;
                if due_ms <= until_ms { due_ms } else { self.trace.end_ms }
            });
            let waits = !self.schedule.is_host(*seat)
                && !self.is_too_late(life)
                && life.lives()
                && life.plays_from_ms().is_none_or(|from_ms| from_ms > due_ms);
            if waits && steady && due_ms > life.entered_ms {
                out.push(breach(
                    Rule::Hero,
                    format!("seat {seat} entered at {} ms, and is not in the world at {due_ms} ms", life.entered_ms),
                ));
            }
        }
    }

    /// Whether a session takes nobody in any more.
    fn is_too_late(&self, life: &Life) -> bool {
        self.schedule.kind == Kind::Rollback && life.entered_ms > 0
    }
}
