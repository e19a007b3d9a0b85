//! What happens to the processes of a relay: each story is one of how a session outlives one.

use super::super::schedule::{Fault, FaultKind, HUB, Kind, SeatId, Step};
use super::Drawing;

/// The processes of a relay, as far as a drawing knows them.
pub(super) struct Relays {
    leads: SeatId,
    standby: Option<SeatId>,
    /// Whether the one that leads can have a standby: one that was a standby itself cannot.
    may_have_standby: bool,
    /// Whether either may lead by now.
    open: bool,
}

/// A standby is in step so soon after it entered.
const STEPS_IN_MS: u32 = 3_000;

impl Relays {
    pub fn new() -> Relays {
        Relays { leads: HUB, standby: None, may_have_standby: true, open: false }
    }
}

impl Drawing<'_> {
    fn relays_die(&self) -> bool {
        self.kind == Kind::Relay && self.range.faults.contains(&FaultKind::Relay)
    }

    /// Half of the relays have a standby.
    pub(super) fn gather_relays(&mut self) {
        if self.relays_die() && self.dice.chance(1, 2) {
            self.standby_enters(0);
        }
    }

    /// The relay's process dies, or its standby's, in some spells.
    pub(super) fn relay_dies(&mut self, at_ms: u32) {
        if !self.relays_die() || !self.dice.chance(1, 3) {
            return;
        }
        match self.relays.standby {
            Some(standby) if !self.relays.open && self.dice.chance(1, 4) => {
                self.kill(standby, at_ms);
                let back_ms = 200 + self.dice.below(3_000);
                self.standby_enters(at_ms + back_ms);
            }
            Some(standby) if !self.relays.open => {
                self.kill(self.relays.leads, at_ms);
                (self.relays.leads, self.relays.standby, self.relays.may_have_standby) = (standby, None, false);
            }
            _ => self.relay_is_started_again(at_ms),
        }
    }

    /// All of a relay's processes die, and one goes on.
    fn relay_is_started_again(&mut self, at_ms: u32) {
        for dies in [Some(self.relays.leads), self.relays.standby].into_iter().flatten() {
            self.kill(dies, at_ms);
        }
        let pause_ms = 100 + self.dice.below(8_000);
        let (seat, clock_ms, gains_ppm) = self.seat();
        let lost_ticks = self.dice.below(30);
        let fault = Fault::Resume { seat, clock_ms, gains_ppm, lost_ticks };
        self.steps.push(Step { at_ms: at_ms + pause_ms, fault });
        self.relays = Relays { leads: seat, ..Relays::new() };
        if self.dice.chance(1, 2) {
            self.standby_enters(at_ms + pause_ms + STEPS_IN_MS);
        }
    }

    /// A relay that died is started again though its standby leads, alone in a spell.
    pub(super) fn relay_comes_late(&mut self, at_ms: u32) -> bool {
        let comes = self.relays_die() && !self.relays.may_have_standby && self.dice.chance(1, 4);
        if comes {
            let (seat, clock_ms, gains_ppm) = self.seat();
            let lost_ticks = self.dice.below(30);
            self.steps.push(Step { at_ms, fault: Fault::Resume { seat, clock_ms, gains_ppm, lost_ticks } });
        }
        comes
    }

    fn standby_enters(&mut self, at_ms: u32) {
        let (seat, clock_ms, gains_ppm) = self.seat();
        self.steps.push(Step { at_ms, fault: Fault::Standby { seat, clock_ms, gains_ppm } });
        self.relays.standby = Some(seat);
    }

    fn kill(&mut self, seat: SeatId, at_ms: u32) {
        let told_ms = if self.dice.chance(1, 2) { 0 } else { self.some_ms() };
        self.steps.push(Step { at_ms, fault: Fault::Kill { seat, told_ms } });
    }

    /// Now and then one of the relay's processes, in the place of a player's.
    pub(super) fn or_relay(&mut self, seat: SeatId, fault: FaultKind) -> SeatId {
        let concerns = matches!(fault, FaultKind::Freeze | FaultKind::Jump | FaultKind::Cut);
        if !concerns || !self.relays_die() || !self.dice.chance(1, 4) {
            return seat;
        }
        self.relays.open |= self.relays.standby.is_some() && fault != FaultKind::Jump;
        match self.relays.standby {
            Some(standby) if self.dice.chance(1, 3) => standby,
            _ => self.relays.leads,
        }
    }

    /// Who is there.
    pub(super) fn relays(&self) -> impl Iterator<Item = SeatId> {
        let dies = self.relays_die();
        [Some(self.relays.leads), self.relays.standby].into_iter().flatten().filter(move |_| dies)
    }
}
