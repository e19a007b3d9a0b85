//! What each fault allows: whom it excuses, and when all must be well again.
//!
//! The one table of what sessions do by design today is [`Terms`]. When a session learns to endure
//! more, its terms here become tighter, and nothing else changes.
//!
//! Trouble that comes close together is one *spell*. A peer is *excused* from the beginning of a
//! spell in which it is isolated for longer than its session is patient. All are excused if the
//! spell takes so many that those who are left are no quorum. An excused peer may be put out, may
//! have played what is discarded, and may give up; it must still not find worlds that differ.

use std::collections::{BTreeMap, BTreeSet};

use lockstone_net::memory::Weather;

use super::schedule::{Fault, HUB, Kind, Schedule, SeatId};
use super::trace::{Life, Trace};

/// What a kind of session endures.
pub(super) struct Terms {
    /// A peer that is isolated for less stays. In a party and of a relay it is put out after 10 s,
    /// in a rollback session after 1.5 s; what an election or a late packet takes is left out.
    pub patience_ms: u32,
    /// Whether the session ends when as many as are left are lost at once.
    pub needs_quorum: bool,
    /// The next turn comes so soon after trouble.
    pub goes_on_ms: u32,
    /// Weather in which a peer may not be heard for longer than the session is patient.
    pub too_bad: fn(&Weather) -> bool,
}

impl Terms {
    fn of(kind: Kind) -> Terms {
        let outage = |weather: &Weather| weather.loss_permille >= 900;
        let terms = Terms { patience_ms: 7_000, needs_quorum: false, goes_on_ms: 2_000, too_bad: outage };
        match kind {
            Kind::Relay => terms,
            Kind::Party => Terms { needs_quorum: true, goes_on_ms: 3_000, ..terms },
            Kind::Rollback => Terms {
                patience_ms: 700,
                needs_quorum: true,
                goes_on_ms: 4_000,
                too_bad: |weather| {
                    weather.loss_permille >= 300
                        || weather.line_bytes_per_s.is_some()
                        || (weather.delay + weather.jitter).as_millis() >= 350
                },
            },
        }
    }
}

/// Trouble closer together than this is one spell.
const SPELL_GAP_MS: u32 = 8_000;

/// An entry takes so long, or an election.
const ENTRY_MS: u32 = 3_000;

/// Trouble, from its beginning to its end.
#[derive(Debug, Default)]
pub(super) struct Spell {
    pub from_ms: u32,
    pub over_ms: u32,
    /// For how long each peer could not reach the session.
    isolated_ms: BTreeMap<SeatId, u32>,
    /// Who is gone for good.
    lost: BTreeSet<SeatId>,
}

impl Spell {
    /// Whether something happens in it, or just before or after.
    fn meets(&self, at_ms: u32) -> bool {
        (self.from_ms.saturating_sub(ENTRY_MS)..self.over_ms + ENTRY_MS).contains(&at_ms)
    }

    /// Whether a peer is to end in it.
    pub fn takes(&self, seat: SeatId) -> bool {
        self.lost.contains(&seat)
    }
}

/// What a run allows.
pub(super) struct Allowed {
    pub terms: Terms,
    pub spells: Vec<Spell>,
    /// From when on each peer is excused that is.
    pub excused_ms: BTreeMap<SeatId, u32>,
    /// Of these, those that did nothing but end when they were to.
    pub ended: BTreeSet<SeatId>,
}

impl Allowed {
    pub fn of(schedule: &Schedule, trace: &Trace) -> Allowed {
        let terms = Terms::of(schedule.kind);
        let mut spells: Vec<Spell> = Vec::new();
        for step in &schedule.steps {
            let (at_ms, over_ms) = (step.at_ms, step.over_ms());
            let enters = |life: &Life| (at_ms..over_ms).contains(&life.entered_ms);
            let entering = trace.lives.iter().filter(|(_, life)| enters(life)).map(|(seat, _)| *seat);
            let there: BTreeSet<_> = trace.there_at(at_ms).chain(entering).collect();
            let Some((isolated, for_ms)) = isolates(schedule.kind, &terms, &step.fault, &there) else { continue };
            // A death that nobody is told of is over when the others have noticed.
            let over_ms = if let Fault::Kill { .. } = step.fault { at_ms } else { over_ms };
            let spell = match spells.last_mut().filter(|spell| at_ms < spell.over_ms + SPELL_GAP_MS) {
                Some(spell) => spell,
                None => spells.push_mut(Spell { from_ms: at_ms, over_ms, ..Spell::default() }),
            };
            spell.over_ms = spell.over_ms.max(over_ms);
            isolated.iter().for_each(|seat| *spell.isolated_ms.entry(*seat).or_default() += for_ms);
            if let Fault::Leave { seat } | Fault::Kill { seat, .. } | Fault::Drop { seat } = step.fault {
                spell.lost.insert(seat);
            }
        }
        let mut allowed = Allowed { terms, spells, excused_ms: BTreeMap::new(), ended: BTreeSet::new() };
        allowed.excuse(schedule.kind, trace);
        allowed
    }

    fn excuse(&mut self, kind: Kind, trace: &Trace) {
        let Allowed { terms, spells, excused_ms, ended } = self;
        let mut excused_else = BTreeSet::new();
        for spell in spells.iter() {
            let impatient = spell.isolated_ms.iter().filter(|(_, for_ms)| **for_ms >= terms.patience_ms);
            let impatient: BTreeSet<_> = impatient.map(|(seat, _)| *seat).collect();
            let out: BTreeSet<_> = impatient.union(&spell.lost).copied().collect();
            let members: BTreeSet<_> = trace.plays_at(spell.from_ms).collect();
            // Who enters just then has a vote perhaps.
            let enters = |life: &Life| spell.meets(life.entered_ms) && life.entered_ms > 0;
            let entered = trace.lives.iter().filter(|(_, life)| enters(life)).map(|(seat, _)| *seat);
            let all: BTreeSet<_> = members.iter().copied().chain(entered).collect();
            let is_no_quorum = |of: &BTreeSet<SeatId>| 2 * out.intersection(of).count() >= of.len();
            let too_many = terms.needs_quorum && (is_no_quorum(&members) || is_no_quorum(&all));
            let no_hub = kind == Kind::Relay && out.contains(&HUB);
            let excused = trace.lives.iter().filter(|(seat, life)| {
                // Who comes when the session may be over, may find none.
                let touched = life.gone_ms.is_none_or(|gone_ms| gone_ms >= spell.from_ms);
                touched && (too_many || no_hub || out.contains(seat))
            });
            for (seat, life) in excused {
                let from_ms = spell.from_ms.max(life.entered_ms);
                let first = excused_ms.entry(*seat).or_insert(from_ms);
                *first = from_ms.min(*first);
                if too_many || no_hub || impatient.contains(seat) {
                    excused_else.insert(*seat);
                }
            }
        }
        let lost = spells.iter().flat_map(|spell| &spell.lost);
        *ended = lost.filter(|seat| !excused_else.contains(seat)).copied().collect();
    }

    /// When the trouble began that had an effect at a time.
    pub fn trouble_before(&self, at_ms: u32) -> Option<u32> {
        let since = |spell: &&Spell| (spell.from_ms..=spell.over_ms + ENTRY_MS).contains(&at_ms);
        self.spells.iter().find(since).map(|spell| spell.from_ms)
    }

    /// Whether a peer must still do all that peers must.
    pub fn must(&self, seat: SeatId, at_ms: u32) -> bool {
        self.excused_ms.get(&seat).is_none_or(|from_ms| at_ms < *from_ms)
    }

    /// The times in which nothing goes wrong: each from the end of a spell to the next.
    pub fn calm(&self, end_ms: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let from = [0].into_iter().chain(self.spells.iter().map(|spell| spell.over_ms));
        from.zip(self.spells.iter().map(|spell| spell.from_ms).chain([end_ms]))
    }
}

/// Who cannot reach the session because of a fault, and for how long. `None`: it is no trouble.
fn isolates(kind: Kind, terms: &Terms, fault: &Fault, there: &BTreeSet<SeatId>) -> Option<(BTreeSet<SeatId>, u32)> {
    let (seats, ms) = match fault {
        Fault::Enter { .. } => return None,
        Fault::Leave { seat } | Fault::Kill { seat, .. } | Fault::Drop { seat } => (BTreeSet::from([*seat]), 0),
        Fault::Freeze { seat, ms } | Fault::Jump { seat, ms } => (BTreeSet::from([*seat]), *ms),
        Fault::Weather { weather, ms } if (terms.too_bad)(weather) => (there.clone(), *ms),
        Fault::Weather { .. } => (BTreeSet::new(), 0),
        Fault::Deafen { from, to, ms } => (BTreeSet::from([*from, *to]), *ms),
        Fault::Cut { seats, ms } => {
            let (side, rest): (BTreeSet<_>, BTreeSet<_>) = there.iter().copied().partition(|seat| seats.contains(seat));
            let apart = match (kind, side.len().cmp(&rest.len())) {
                _ if side.is_empty() || rest.is_empty() => BTreeSet::new(),
                (Kind::Relay, _) => {
                    if side.contains(&HUB) {
                        rest
                    } else {
                        side
                    }
                }
                (_, core::cmp::Ordering::Less) => side,
                (_, core::cmp::Ordering::Greater) => rest,
                (_, core::cmp::Ordering::Equal) => there.clone(),
            };
            (apart, *ms)
        }
    };
    // Of a relay's session nobody else can isolate the relay.
    let keeps_hub = kind == Kind::Relay
        && !matches!(fault, Fault::Freeze { .. } | Fault::Kill { .. } | Fault::Drop { .. } | Fault::Leave { .. });
    Some((seats.into_iter().filter(|seat| !(keeps_hub && *seat == HUB)).collect(), ms))
}
