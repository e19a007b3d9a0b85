//! Draws schedules from seeds: topology, clocks, weather, and what goes wrong.
//!
//! Trouble comes in spells of several faults with calm between them, so that each spell shows that
//! the session comes back. A change here makes other runs of the same seeds; what ever failed is
//! therefore kept as a schedule, and not as a seed.

mod relays;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::time::Duration;

use lockstone_net::limits::{PLAYERS_MAX, ROLLBACK_PLAYERS_MAX};
use lockstone_net::memory::Weather;
use lockstone_sim::{Dice, Tick};

use super::schedule::{Fault, FaultKind, Kind, Schedule, SeatId, Step, has_key};
use crate::default_table;
use relays::Relays;

/// What schedules are drawn from.
#[derive(Clone, Debug)]
pub struct Range {
    /// Peers at the start, a relay not counted. A kind of session takes no more than it has places.
    pub peers: RangeInclusive<u16>,
    /// How long things go wrong, in milliseconds.
    pub ms: u32,
    /// What goes wrong.
    pub faults: BTreeSet<FaultKind>,
}

impl Default for Range {
    fn default() -> Self {
        Range { peers: 2..=8, ms: 120_000, faults: FaultKind::ALL.into() }
    }
}

/// Nothing happens until all are there.
const GATHER_MS: u32 = 6_000;
/// A spell of trouble lasts so long at most.
const SPELL_MS_MAX: u32 = 8_000;
/// Between two spells all is calm for so long.
const CALM_MS: RangeInclusive<i32> = 12_000..=20_000;

/// The schedule of a seed.
pub fn draw(kind: Kind, seed: u64, range: &Range) -> Schedule {
    let table = default_table();
    let mut drawing = Drawing {
        dice: table.dice(seed ^ 0x50a4, Tick(0)),
        kind,
        range,
        steps: Vec::new(),
        there: BTreeMap::new(),
        gone: BTreeSet::new(),
        relays: Relays::new(),
        next: u16::from(kind == Kind::Relay),
    };
    drawing.gather();
    let weather = drawing.mild();
    let mut at_ms = GATHER_MS;
    while at_ms + SPELL_MS_MAX <= range.ms {
        let over_ms = drawing.spell(at_ms);
        at_ms = over_ms + drawing.dice.range(CALM_MS).unsigned_abs();
    }
    drawing.signaling(&mut table.dice(seed ^ 0x516a, Tick(0)));
    let mut steps = drawing.steps;
    steps.sort_by_key(|step| step.at_ms);
    Schedule { kind, seed, ms: range.ms, weather, steps }
}

struct Drawing<'d> {
    dice: Dice<'d>,
    kind: Kind,
    range: &'d Range,
    steps: Vec<Step>,
    /// Who is there, a relay not counted, and the first seat of each one's player.
    there: BTreeMap<SeatId, SeatId>,
    /// The first seats of players who are gone and can come back.
    gone: BTreeSet<SeatId>,
    /// The processes of a relay.
    relays: Relays,
    /// The next seat.
    next: SeatId,
}

impl Drawing<'_> {
    /// All enter.
    fn gather(&mut self) {
        let most = match self.kind {
            Kind::Party | Kind::Relay => PLAYERS_MAX as u16,
            Kind::Rollback => ROLLBACK_PLAYERS_MAX as u16,
        };
        let (low, high) = (*self.range.peers.start(), *self.range.peers.end());
        let least = if self.kind == Kind::Rollback { 2 } else { 1 };
        let low = low.clamp(least, most);
        let peers = low + self.dice.below(u32::from(high.clamp(low, most) - low) + 1) as u16;
        (0..peers).for_each(|_| self.enter(0, None));
        self.gather_relays();
    }

    /// A seat that nobody had before, what its clock shows at first, and what that gains.
    fn seat(&mut self) -> (SeatId, u32, i32) {
        let seat = self.next;
        self.next += 1;
        match self.range.faults.contains(&FaultKind::Skew) {
            true => (seat, self.dice.below(1_000_000_000), self.dice.range(-500..=500)),
            false => (seat, 0, 0),
        }
    }

    fn enter(&mut self, at_ms: u32, back: Option<SeatId>) {
        let (seat, clock_ms, gains_ppm) = self.seat();
        self.there.insert(seat, back.unwrap_or(seat));
        self.steps.push(Step { at_ms, fault: Fault::Enter { seat, clock_ms, gains_ppm, back } });
    }

    /// One thing goes wrong, or several within a few seconds. Returns when all is over.
    fn spell(&mut self, from_ms: u32) -> u32 {
        let before = self.steps.len();
        if self.relay_comes_late(from_ms) {
            return from_ms;
        }
        let faults = 1 + self.dice.below(3);
        let mut at_ms = from_ms;
        self.relay_dies(at_ms);
        for _ in 0..faults {
            self.something(at_ms);
            at_ms += match self.dice.below(3) {
                0 => self.dice.below(100),
                1 => self.dice.below(1_000),
                _ => self.dice.below(SPELL_MS_MAX / 4),
            };
        }
        self.steps[before..].iter().map(Step::over_ms).fold(from_ms, u32::max)
    }

    fn something(&mut self, at_ms: u32) {
        let kinds: Vec<_> = self.range.faults.iter().filter(|kind| self.is_drawn(**kind)).copied().collect();
        let weights: Vec<_> = kinds.iter().map(|kind| self.weight(*kind)).collect();
        let Some(kind) = self.dice.weighted(&weights).map(|n| kinds[n]) else { return };
        let Some(seat) = self.any() else { return self.enter(at_ms, None) };
        let seat = self.or_relay(seat, kind);
        let fault = match kind {
            FaultKind::Enter => return self.enter(at_ms, None),
            FaultKind::Return => {
                let back = self.gone.iter().nth(self.dice.below(self.gone.len() as u32) as usize).copied();
                self.gone.retain(|first| Some(*first) != back);
                return self.enter(at_ms, back);
            }
            FaultKind::Skew | FaultKind::Relay | FaultKind::Signal => return,
            FaultKind::Leave => Fault::Leave { seat },
            FaultKind::Kill => Fault::Kill { seat, told_ms: if self.dice.chance(1, 2) { 0 } else { self.some_ms() } },
            FaultKind::Drop => Fault::Drop { seat },
            FaultKind::Cut => {
                let all: Vec<_> = self.there.keys().copied().chain(self.relays()).collect();
                let side = all.into_iter().filter(|other| *other == seat || self.dice.chance(1, 3)).collect();
                Fault::Cut { seats: side, ms: self.some_ms() }
            }
            FaultKind::Deafen => {
                let other = if self.kind == Kind::Relay { Some(0) } else { self.any() };
                let Some(other) = other.filter(|other| *other != seat) else { return };
                let [from, to] = if self.dice.chance(1, 2) { [seat, other] } else { [other, seat] };
                Fault::Deafen { from, to, ms: self.some_ms() }
            }
            FaultKind::Freeze => Fault::Freeze { seat, ms: self.some_ms() },
            FaultKind::Jump => Fault::Jump { seat, ms: 10 + self.dice.below(2_000) },
            FaultKind::Weather => Fault::Weather { weather: self.storm(), ms: 1_000 + self.dice.below(6_000) },
        };
        if let FaultKind::Leave | FaultKind::Kill | FaultKind::Drop = kind {
            let returns = |first: &SeatId| self.kind != Kind::Rollback && has_key(*first);
            self.gone.extend(self.there.remove(&seat).filter(returns));
        }
        self.steps.push(Step { at_ms, fault });
    }

    /// In half of the runs the signaling server is away for a while, and mostly somebody enters
    /// then. By dice of its own: all else goes wrong as it does without it.
    fn signaling(&mut self, dice: &mut Dice<'_>) {
        let drawn = self.kind != Kind::Rollback && self.range.faults.contains(&FaultKind::Signal);
        if !drawn || self.range.ms <= GATHER_MS || dice.chance(1, 2) {
            return;
        }
        let (at_ms, ms) = (GATHER_MS + dice.below(self.range.ms - GATHER_MS), 500 + dice.below(15_000));
        self.steps.push(Step { at_ms, fault: Fault::Signal { ms } });
        if self.there.len() + 4 < PLAYERS_MAX && dice.chance(3, 4) {
            self.enter(at_ms + dice.below(ms), None);
        }
    }

    /// Whether it is drawn as others are.
    fn is_drawn(&self, kind: FaultKind) -> bool {
        !matches!(kind, FaultKind::Skew | FaultKind::Relay | FaultKind::Signal)
    }

    /// How often something happens beside the others. Fewer go as fewer are left.
    fn weight(&self, kind: FaultKind) -> u32 {
        let left = self.there.len();
        match kind {
            FaultKind::Enter if left < 3 => 12,
            FaultKind::Enter if left < PLAYERS_MAX - 2 => 5,
            FaultKind::Return if self.gone.is_empty() || left >= PLAYERS_MAX => 0,
            FaultKind::Return => 8,
            FaultKind::Enter | FaultKind::Skew | FaultKind::Relay | FaultKind::Signal => 0,
            FaultKind::Leave | FaultKind::Kill | FaultKind::Drop if left < 2 => 0,
            FaultKind::Leave => 2,
            FaultKind::Kill => 4,
            FaultKind::Drop => 2,
            FaultKind::Cut => 5,
            FaultKind::Deafen => 3,
            FaultKind::Freeze => 4,
            FaultKind::Jump => 2,
            FaultKind::Weather => 4,
        }
    }

    fn any(&mut self) -> Option<SeatId> {
        // The first is most likely the one that closes ticks.
        let at = if self.dice.chance(1, 3) { 0 } else { self.dice.below(self.there.len() as u32) as usize };
        self.there.keys().nth(at).copied()
    }

    /// Mostly shorter than anyone may be silent, now and then much longer.
    fn some_ms(&mut self) -> u32 {
        match self.dice.below(6) {
            0..=2 => 50 + self.dice.below(900),
            3 | 4 => 500 + self.dice.below(4_500),
            _ => 12_000 + self.dice.below(8_000),
        }
    }

    /// What a session plays in as if it were nothing.
    fn mild(&mut self) -> Weather {
        Weather {
            delay: ms(2 + self.dice.below(80)),
            jitter: ms(self.dice.below(30)),
            loss_permille: self.dice.below(30) as u16,
            duplicate_permille: self.dice.below(10) as u16,
            reorder_permille: self.dice.below(20) as u16,
            line_bytes_per_s: None,
        }
    }

    fn storm(&mut self) -> Weather {
        if self.dice.chance(1, 4) {
            return Weather { loss_permille: 1_000, ..self.mild() };
        }
        Weather {
            delay: ms(5 + self.dice.below(300)),
            jitter: ms(self.dice.below(300)),
            loss_permille: self.dice.below(350) as u16,
            duplicate_permille: self.dice.below(200) as u16,
            reorder_permille: self.dice.below(300) as u16,
            line_bytes_per_s: self.dice.chance(1, 4).then(|| 8_000 + self.dice.below(60_000)),
        }
    }
}

fn ms(ms: u32) -> Duration {
    Duration::from_millis(ms.into())
}
