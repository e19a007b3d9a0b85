//! Our checksums against one peer's: both sides of every exchange do this.

use std::collections::BTreeMap;

use lockstone_sim::{Checksum, Tick};

use super::stats::SyncCheck;
use crate::limits::CHECKSUMS_PER_PACKET_MAX;
use crate::wire::DesyncNotice;

#[derive(Debug, Default)]
pub(super) struct Comparison {
    /// Theirs of ticks that we have not reached.
    waiting: BTreeMap<Tick, Checksum>,
    agreed: Option<Tick>,
    pub compared: u64,
    pub desyncs: u64,
    pub last: Option<SyncCheck>,
    /// A difference was reported; one is enough.
    pub reported: bool,
}

impl Comparison {
    /// Takes one of theirs. Returns whether it was compared, and the difference.
    pub fn theirs(&mut self, tick: Tick, theirs: Checksum, ours: &BTreeMap<Tick, Checksum>) -> Option<DesyncNotice> {
        if let Some(ours) = ours.get(&tick) {
            return self.compare(tick, *ours, theirs);
        }
        let ahead = ours.last_key_value().is_none_or(|(newest, _)| tick > *newest);
        if ahead && self.waiting.len() < CHECKSUMS_PER_PACKET_MAX {
            self.waiting.insert(tick, theirs);
        }
        None
    }

    /// Takes one of ours.
    pub fn ours(&mut self, tick: Tick, ours: Checksum) -> Option<DesyncNotice> {
        let theirs = self.waiting.remove(&tick);
        while self.waiting.first_key_value().is_some_and(|(old, _)| *old < tick) {
            self.waiting.pop_first();
        }
        theirs.and_then(|theirs| self.compare(tick, ours, theirs))
    }

    fn compare(&mut self, tick: Tick, ours: Checksum, theirs: Checksum) -> Option<DesyncNotice> {
        let equal = ours == theirs;
        self.compared += 1;
        if self.last.is_none_or(|last| last.tick <= tick) {
            self.last = Some(SyncCheck { tick, equal });
        }
        if equal {
            self.agreed = self.agreed.max(Some(tick));
            return None;
        }
        self.desyncs += 1;
        Some(DesyncNotice { tick, agreed: self.agreed, ours, theirs })
    }
}
