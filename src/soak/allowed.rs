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
use lockstone_net::session::Phase;

use super::fleet::RETURNS_MS;
use super::schedule::{Fault, Kind, Schedule, SeatId, has_key};
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

/// All are abreast so long after trouble: jitter is remembered for 4 s and made up for in as much,
/// and who loads the world anew needs a second or two. The same after a relay was started again.
const ABREAST_MS: u32 = 10_000;

/// Everyone follows a standby that leads so soon, and is in the one session of the room so soon
/// after the signaling server is back.
const FOLLOWED_MS: u32 = 5_000;

/// Players who are not told that a relay is dead wait for it so long.
const SILENT_MS: u32 = 10_000;

/// A turn comes so soon after a relay was lost, or may have been.
const RELAY_GOES_ON_MS: u32 = 3_000;

/// A standby that follows the relay for so long is in step.
const IN_STEP_MS: u32 = 1_500;

/// Trouble, from its beginning to its end.
#[derive(Debug, Default)]
pub(super) struct Spell {
    pub from_ms: u32,
    pub over_ms: u32,
    /// For how long each peer could not reach the session.
    isolated_ms: BTreeMap<SeatId, u32>,
    /// Who is gone for good.
    lost: BTreeSet<SeatId>,
    /// How the session outlives its relay, if that is lost.
    relay: Option<Outlives>,
    /// Whether a relay's standby may not be in step.
    shakes_standby: bool,
    /// Who cannot hear the session for a while, though its clock is right.
    deaf: BTreeSet<SeatId>,
    /// Whether anything went wrong but signaling.
    harms: bool,
    /// When the players know of a relay's death, if another process takes its place before.
    noticed_ms: u32,
}

/// How a session outlives its relay.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Outlives {
    /// Its standby leads on.
    ByStandby,
    /// It is started again.
    Resumed,
    Not,
}

impl Spell {
    /// Whether something happens in it, or just before or after.
    fn meets(&self, at_ms: u32) -> bool {
        (self.from_ms.saturating_sub(ENTRY_MS)..self.over_ms + ENTRY_MS).contains(&at_ms)
    }

    /// The next turn comes so soon after it.
    fn goes_on_ms(&self, terms: &Terms) -> u32 {
        if self.relay.is_some() || self.shakes_standby { RELAY_GOES_ON_MS } else { terms.goes_on_ms }
    }

    /// Everyone is abreast of the session so soon after it.
    fn abreast_ms(&self) -> u32 {
        if self.relay == Some(Outlives::ByStandby) || !self.harms {
            return FOLLOWED_MS;
        }
        ABREAST_MS.max((self.noticed_ms + FOLLOWED_MS).saturating_sub(self.over_ms))
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
            // What befalls a process that is not there befalls nobody.
            if let Fault::Freeze { seat, .. } | Fault::Jump { seat, .. } = step.fault
                && trace.there_at(at_ms).all(|other| other != seat)
            {
                continue;
            }
            let hosts = Hosts::at(at_ms, schedule, trace);
            let Some((isolated, for_ms)) = isolates(schedule.kind, &terms, &step.fault, &there, &hosts) else {
                continue;
            };
            // A death that nobody is told of is over when the others have noticed.
            let over_ms = match step.fault {
                Fault::Kill { .. } => at_ms,
                Fault::Signal { .. } => over_ms + RETURNS_MS,
                _ => over_ms,
            };
            let spell = match spells.last_mut().filter(|spell| at_ms < spell.over_ms + SPELL_GAP_MS) {
                Some(spell) => spell,
                None => spells.push_mut(Spell { from_ms: at_ms, over_ms, ..Spell::default() }),
            };
            spell.over_ms = spell.over_ms.max(over_ms);
            spell.harms |= !matches!(step.fault, Fault::Signal { .. });
            isolated.iter().for_each(|seat| *spell.isolated_ms.entry(*seat).or_default() += for_ms);
            spell.shakes_standby |= hosts.shakes_standby(&step.fault);
            // A clock that jumps makes nobody doubt.
            if !matches!(step.fault, Fault::Jump { .. }) {
                spell.deaf.extend(&isolated);
            }
            if let Fault::Leave { seat } | Fault::Kill { seat, .. } | Fault::Drop { seat } = step.fault {
                spell.lost.insert(seat);
                if hosts.leads == Some(seat) {
                    spell.relay = Some(match hosts.resumed_ms(at_ms, schedule, trace) {
                        _ if matches!(step.fault, Fault::Leave { .. }) => Outlives::Not,
                        _ if hosts.in_step && !spell.shakes_standby => Outlives::ByStandby,
                        Some(resumed_ms) => {
                            spell.over_ms = spell.over_ms.max(resumed_ms);
                            // A signaling server knows that a room's relay is replaced, but not
                            // that the one is that had been its standby.
                            if let Fault::Kill { told_ms, .. } = step.fault
                                && schedule.is_standby(seat)
                            {
                                spell.noticed_ms = at_ms + told_ms.min(SILENT_MS);
                            }
                            Outlives::Resumed
                        }
                        None => Outlives::Not,
                    });
                }
            }
            // A standby is lost before the relay, or with it.
            let standby = hosts.standby.is_some_and(|standby| spell.lost.contains(&standby));
            if standby && spell.relay == Some(Outlives::ByStandby) {
                let resumed = hosts.resumed_ms(at_ms, schedule, trace);
                spell.over_ms = spell.over_ms.max(resumed.unwrap_or(0));
                spell.relay = Some(if resumed.is_some() { Outlives::Resumed } else { Outlives::Not });
            }
        }
        let mut allowed = Allowed { terms, spells, excused_ms: BTreeMap::new(), ended: BTreeSet::new() };
        allowed.excuse(schedule, trace);
        allowed
    }

    fn excuse(&mut self, schedule: &Schedule, trace: &Trace) {
        let Allowed { terms, spells, excused_ms, ended } = self;
        let mut excused_else = BTreeSet::new();
        for spell in spells.iter() {
            let impatient = spell.isolated_ms.iter().filter(|(_, for_ms)| **for_ms >= terms.patience_ms);
            let impatient: BTreeSet<_> = impatient.map(|(seat, _)| *seat).collect();
            let out: BTreeSet<_> = impatient.union(&spell.lost).copied().collect();
            let members: BTreeSet<_> = trace.plays_at(spell.from_ms).collect();
            // Who enters just then has a vote perhaps: who came before it, and who comes during it.
            let enters = |life: &Life| spell.meets(life.entered_ms) && life.entered_ms > 0;
            let entered = |until_ms: u32| {
                let lives = trace.lives.iter().filter(move |(_, life)| enters(life) && life.entered_ms < until_ms);
                members.iter().copied().chain(lives.map(|(seat, _)| *seat)).collect::<BTreeSet<_>>()
            };
            let (before, all) = (entered(spell.from_ms), entered(u32::MAX));
            // Who entered just before may have no vote yet: those who had one must agree as well.
            let plays_long = |seat: &SeatId| {
                trace.lives[seat].plays_from_ms().is_some_and(|since| since + ENTRY_MS <= spell.from_ms)
            };
            let settled: BTreeSet<_> = members.iter().copied().filter(plays_long).collect();
            let is_no_quorum = |of: &BTreeSet<SeatId>| 2 * out.intersection(of).count() >= of.len();
            let too_many = terms.needs_quorum
                && [&members, &before, &all, &settled].iter().any(|of| !of.is_empty() && is_no_quorum(of));
            // A standby leads on, or a relay goes on without it, by the word of most players. If
            // the standby is only shaken, the relay goes on with it.
            let witnesses =
                |of: &BTreeSet<SeatId>| of.iter().filter(|seat| !schedule.is_host(**seat)).copied().collect();
            let heard = !is_no_quorum(&witnesses(&members)) && !is_no_quorum(&witnesses(&all));
            let loses_standby = spell.lost.iter().any(|seat| schedule.is_host(*seat));
            let decides = spell.relay == Some(Outlives::ByStandby) || spell.shakes_standby && loses_standby;
            let present: BTreeSet<_> = witnesses(&members);
            let most_deaf = 2 * spell.deaf.intersection(&present).count() >= present.len();
            let no_hub = spell.relay == Some(Outlives::Not) || decides && !heard;
            let excused = trace.lives.iter().filter(|(seat, life)| {
                // Who comes when the session may be over, may find none.
                let touched = life.gone_ms.is_none_or(|gone_ms| gone_ms >= spell.from_ms);
                let (is_host, was_there) = (schedule.is_host(**seat), life.entered_ms < spell.over_ms);
                // Nobody waits for a player who cannot be known again.
                let is_known = is_host || has_key(schedule.player_of(**seat));
                let unknown = spell.relay == Some(Outlives::Resumed) && was_there && !is_known;
                // Another may lead in its place, also if most of the players miss it in vain.
                let missed = spell.isolated_ms.get(seat).is_some_and(|ms| *ms > 0) || most_deaf;
                let replaced = is_host && was_there && (missed || spell.shakes_standby);
                touched && (too_many || no_hub || unknown || replaced || out.contains(seat))
            });
            for (seat, life) in excused {
                let from_ms = spell.from_ms.max(life.entered_ms);
                let first = excused_ms.entry(*seat).or_insert(from_ms);
                *first = from_ms.min(*first);
                if too_many || no_hub || !out.contains(seat) || impatient.contains(seat) {
                    excused_else.insert(*seat);
                }
            }
        }
        for (seat, life) in &trace.lives {
            let hosts = Hosts::at(life.entered_ms, schedule, trace);
            if schedule.is_resumed(*seat) && hosts.leads.is_some_and(|leads| leads != *seat) {
                excused_ms.insert(*seat, life.entered_ms);
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

    /// Whether a time is in a spell in which nobody is harmed.
    pub fn is_harmless(&self, at_ms: u32) -> bool {
        self.spells.iter().any(|spell| !spell.harms && (spell.from_ms..spell.over_ms).contains(&at_ms))
    }

    /// Whether a peer must still do all that peers must.
    pub fn must(&self, seat: SeatId, at_ms: u32) -> bool {
        self.excused_ms.get(&seat).is_none_or(|from_ms| at_ms < *from_ms)
    }

    /// The times in which nothing goes wrong: each from the end of a spell to the next.
    pub fn calm(&self, end_ms: u32) -> impl Iterator<Item = Calm> + '_ {
        let (goes_on_ms, abreast_ms) = (self.terms.goes_on_ms, ABREAST_MS);
        let first = Calm { from_ms: 0, until_ms: 0, enters_from_ms: 0, goes_on_ms, abreast_ms };
        let after = self.spells.iter().map(move |spell| Calm {
            from_ms: spell.over_ms,
            enters_from_ms: if spell.harms { spell.over_ms } else { spell.from_ms },
            goes_on_ms: spell.goes_on_ms(&self.terms),
            abreast_ms: spell.abreast_ms(),
            ..first
        });
        let until = self.spells.iter().map(|spell| spell.from_ms).chain([end_ms]);
        [first].into_iter().chain(after).zip(until).map(|(calm, until_ms)| Calm { until_ms, ..calm })
    }
}

/// A time in which nothing goes wrong.
#[derive(Clone, Copy)]
pub(super) struct Calm {
    pub from_ms: u32,
    pub until_ms: u32,
    /// Who enters since then is soon in the world.
    pub enters_from_ms: u32,
    /// The next turn comes so soon.
    pub goes_on_ms: u32,
    /// Everyone is abreast of the session so soon.
    pub abreast_ms: u32,
}

/// The processes of a relay at a time.
struct Hosts {
    leads: Option<SeatId>,
    standby: Option<SeatId>,
    /// Whether the standby follows the relay, and has for a while.
    in_step: bool,
}

impl Hosts {
    fn at(at_ms: u32, schedule: &Schedule, trace: &Trace) -> Hosts {
        let hosts = || trace.there_at(at_ms).filter(|seat| schedule.is_host(*seat));
        let since = |seat: &SeatId| trace.lives[seat].plays_from_ms().filter(|since| *since < at_ms.max(1));
        let leads = hosts().filter(|seat| since(seat).is_some()).max_by_key(since);
        let standby = hosts().filter(|seat| since(seat).is_none()).max();
        let in_step = standby.is_some_and(|standby| {
            let begun = trace.lives[&standby].phases.iter().rfind(|(began_ms, _)| *began_ms < at_ms);
            begun.is_some_and(|(began_ms, phase)| *phase == Phase::StandingBy && began_ms + IN_STEP_MS < at_ms)
        });
        Hosts { leads, standby, in_step }
    }

    /// Who of two sides cannot reach the session: those without the relay, unless its standby is
    /// with them and so are most of the players. Then nobody leads if they are half of them.
    fn cut_off(&self, side: BTreeSet<SeatId>, rest: BTreeSet<SeatId>) -> BTreeSet<SeatId> {
        let has = |side: &BTreeSet<SeatId>, host: Option<SeatId>| host.is_some_and(|host| side.contains(&host));
        let (with, without) = if has(&side, self.leads) { (side, rest) } else { (rest, side) };
        let players = |side: &BTreeSet<SeatId>| side.iter().filter(|seat| !self.is_one(**seat)).count();
        match players(&without).cmp(&players(&with)) {
            _ if !has(&without, self.standby) => without,
            core::cmp::Ordering::Less => without,
            core::cmp::Ordering::Greater => with,
            core::cmp::Ordering::Equal => with.union(&without).copied().collect(),
        }
    }

    fn is_one(&self, seat: SeatId) -> bool {
        self.leads == Some(seat) || self.standby == Some(seat)
    }

    /// Whether the standby may be out of step by a fault, and after it.
    fn shakes_standby(&self, fault: &Fault) -> bool {
        self.standby.is_some()
            && match fault {
                Fault::Weather { .. } => true,
                Fault::Freeze { seat, .. } | Fault::Jump { seat, .. } => self.is_one(*seat),
                Fault::Deafen { from, to, .. } => self.is_one(*from) && self.is_one(*to),
                Fault::Cut { seats, .. } => {
                    let apart = |seat: Option<SeatId>| seat.is_some_and(|seat| seats.contains(&seat));
                    apart(self.leads) != apart(self.standby)
                }
                Fault::Leave { seat } | Fault::Kill { seat, .. } | Fault::Drop { seat } => self.standby == Some(*seat),
                Fault::Enter { .. } | Fault::Standby { .. } | Fault::Resume { .. } | Fault::Signal { .. } => false,
            }
    }

    /// When the relay is started again.
    fn resumed_ms(&self, after_ms: u32, schedule: &Schedule, trace: &Trace) -> Option<u32> {
        let resumed = trace.lives.iter().filter(|(seat, _)| schedule.is_resumed(**seat));
        resumed.map(|(_, life)| life.entered_ms).filter(|entered_ms| *entered_ms >= after_ms).min()
    }
}

/// Who cannot reach the session because of a fault, and for how long. `None`: it is no trouble.
fn isolates(
    kind: Kind,
    terms: &Terms,
    fault: &Fault,
    there: &BTreeSet<SeatId>,
    hosts: &Hosts,
) -> Option<(BTreeSet<SeatId>, u32)> {
    let (seats, ms) = match fault {
        Fault::Enter { .. } | Fault::Standby { .. } | Fault::Resume { .. } => return None,
        Fault::Leave { seat } | Fault::Kill { seat, .. } | Fault::Drop { seat } => (BTreeSet::from([*seat]), 0),
        Fault::Freeze { seat, ms } | Fault::Jump { seat, ms } => (BTreeSet::from([*seat]), *ms),
        Fault::Weather { weather, ms } if (terms.too_bad)(weather) => (there.clone(), *ms),
        Fault::Weather { .. } | Fault::Signal { .. } => (BTreeSet::new(), 0),
        Fault::Deafen { from, to, ms } => (BTreeSet::from([*from, *to]), *ms),
        Fault::Cut { seats, ms } => {
            let (side, rest): (BTreeSet<_>, BTreeSet<_>) = there.iter().copied().partition(|seat| seats.contains(seat));
            let apart = match (kind, side.len().cmp(&rest.len())) {
                _ if side.is_empty() || rest.is_empty() => BTreeSet::new(),
                (Kind::Relay, _) => hosts.cut_off(side, rest),
                (_, core::cmp::Ordering::Less) => side,
                (_, core::cmp::Ordering::Greater) => rest,
                (_, core::cmp::Ordering::Equal) => there.clone(),
            };
            (apart, *ms)
        }
    };
    // Nobody but itself isolates a relay, and no cut but one of most of its witnesses.
    let is_its_own =
        matches!(fault, Fault::Freeze { .. } | Fault::Kill { .. } | Fault::Drop { .. } | Fault::Leave { .. });
    let keeps_host = |seat: &SeatId| {
        kind == Kind::Relay && hosts.is_one(*seat) && !is_its_own && !matches!(fault, Fault::Cut { .. })
    };
    Some((seats.into_iter().filter(|seat| !keeps_host(seat)).collect(), ms))
}
