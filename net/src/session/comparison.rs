//! Our checksums against one peer's: both sides of every exchange do this.

use std::collections::BTreeMap;

use lockstone_sim::{Checksum, Simulation, Tick};

use super::{Exchange, Outbox, SyncCheck};
use crate::limits::CHECKSUMS_PER_PACKET_MAX;
use crate::link::PeerId;
use crate::stamps::Stamps;
use crate::wire::DesyncNotice;

#[derive(Debug, Default)]
pub struct Comparison {
    /// Theirs of ticks that we have not reached.
    waiting: BTreeMap<Tick, Checksum>,
    agreed: Option<Tick>,
    compared: u64,
    desyncs: u64,
    /// How many of them are not known to be real.
    open: u64,
    /// Whether this world is right, and theirs is not put right yet.
    is_acquitted: bool,
    /// Differences with who led before, up to a tick: whose fault they were is not known.
    inherited: Option<(Tick, u64)>,
    last: Option<SyncCheck>,
    reported: bool,
}

impl Comparison {
    /// Takes one of theirs. Returns the difference, if there is one.
    pub fn theirs<S: Simulation>(
        &mut self,
        tick: Tick,
        theirs: Checksum,
        ours: &BTreeMap<Tick, Checksum>,
        out: &mut Outbox<S>,
    ) -> Option<DesyncNotice> {
        if let Some(ours) = ours.get(&tick) {
            return self.compare(tick, *ours, theirs, out);
        }
        let ahead = ours.last_key_value().is_none_or(|(newest, _)| tick > *newest);
        if ahead && self.waiting.len() < CHECKSUMS_PER_PACKET_MAX {
            self.waiting.insert(tick, theirs);
        }
        None
    }

    /// Takes one of ours. Returns the difference, if there is one.
    pub fn ours<S: Simulation>(&mut self, tick: Tick, ours: Checksum, out: &mut Outbox<S>) -> Option<DesyncNotice> {
        let theirs = self.waiting.remove(&tick);
        while self.waiting.first_key_value().is_some_and(|(old, _)| *old < tick) {
            self.waiting.pop_first();
        }
        theirs.and_then(|theirs| self.compare(tick, ours, theirs, out))
    }

    /// The figures of the exchange with a peer.
    pub fn exchange<S: Simulation>(&self, peer: PeerId, stamps: &Stamps, out: &Outbox<S>) -> Exchange {
        Exchange {
            peer,
            round_trip: stamps.round_trip(),
            loss: stamps.loss(),
            traffic: out.traffic(peer),
            checksums_compared: self.compared,
            desyncs: self.desyncs,
            last_check: self.last,
        }
    }

    /// Forgets what waits: it was of a history that is no more.
    #[cfg(feature = "rollback")]
    pub fn restart(&mut self) {
        self.waiting.clear();
    }

    /// The newest tick before another at which both were equal.
    #[cfg(feature = "rollback")]
    pub fn agreed_before(&self, tick: Tick) -> Option<Tick> {
        self.agreed.filter(|agreed| *agreed < tick)
    }

    /// Counts a difference, found by a comparison here or told by the other side. Returns whether
    /// it is the first: one is reported.
    pub fn differs<S: Simulation>(&mut self, found_here: bool, out: &mut Outbox<S>) -> bool {
        let first = !core::mem::replace(&mut self.reported, true);
        // What the other side tells is mostly what was, or will be, found here too.
        if found_here || first {
            self.desyncs += 1;
            self.open += 1;
            out.stats.desyncs += 1;
            out.stats.acquitted += u64::from(self.is_acquitted);
        }
        first
    }

    /// What the other side's world was until a tick, says no more: it is put right. Another
    /// difference is reported again.
    pub fn put_right(&mut self, until: Tick) {
        self.waiting.retain(|tick, _| *tick > until);
        (self.reported, self.open, self.is_acquitted, self.inherited) = (false, 0, false, None);
    }

    /// Another leads on, as most want it: its world is compared from now on.
    pub fn follow_anew(&mut self) {
        let before = core::mem::take(self);
        self.inherited = before
            .last
            .filter(|_| before.open > 0 && !before.is_acquitted)
            .map(|last| (last.tick, before.open))
            .or(before.inherited);
    }

    /// This world is right: what differs of late, and until theirs is put right, is no fault of it.
    pub fn acquit<S: Simulation>(&mut self, out: &mut Outbox<S>) {
        if !core::mem::replace(&mut self.is_acquitted, true) {
            out.stats.acquitted += self.open;
        }
        self.clear(out);
    }

    /// What differed from who led before was no fault of this world.
    fn clear<S: Simulation>(&mut self, out: &mut Outbox<S>) {
        out.stats.acquitted += self.inherited.take().map_or(0, |(_, differences)| differences);
    }

    /// What was counted of late was no difference: the other side lied about a world that is right.
    pub fn lied<S: Simulation>(&mut self, out: &mut Outbox<S>) {
        let open = core::mem::take(&mut self.open);
        self.desyncs -= open;
        out.stats.desyncs -= open;
        if self.is_acquitted {
            out.stats.acquitted -= open;
        }
        self.clear(out);
    }

    fn compare<S: Simulation>(
        &mut self,
        tick: Tick,
        ours: Checksum,
        theirs: Checksum,
        out: &mut Outbox<S>,
    ) -> Option<DesyncNotice> {
        let equal = ours == theirs;
        self.compared += 1;
        out.stats.checksums_compared += 1;
        if self.last.is_none_or(|last| last.tick <= tick) {
            self.last = Some(SyncCheck { tick, equal });
        }
        if equal {
            self.agreed = self.agreed.max(Some(tick));
            if self.inherited.is_some_and(|(until, _)| until <= tick) {
                self.clear(out);
            }
            return None;
        }
        Some(DesyncNotice { tick, agreed: self.agreed, ours, theirs })
    }
}
