//! Looks into a difference: plays again what led to it, gives this peer's evidence, and saves what
//! all know.

use std::io::Write;
use std::sync::atomic::Ordering;

use lockstone_sim::{PlayerId, Tick};

use super::{Keeper, Told};
use crate::inspect::Inspect;
use crate::recording::{Recording, Reference, Rerunner, Ring};
use crate::shell::inquiry::{Inquiry, PIECE, State};

/// So many differences of a session are looked into and saved as bundles. A peer can claim one a
/// minute, for as long as the session goes on.
pub(super) const BUNDLES_MAX: u32 = 4;

impl<S: Inspect> Keeper<S> {
    /// Evidence is wanted. With `waits` another's is looked at first.
    pub fn inquire(&mut self, player: PlayerId, bytes_max: usize, waits: bool) {
        if self.inquiries >= BUNDLES_MAX {
            // The others get nothing from here, and need not wait for it.
            self.tell(Told::Evidence(Vec::new()));
            self.tell(Told::PassedOver);
            return;
        }
        self.inquiries += 1;
        self.inquiry = Some(Inquiry::new(player, bytes_max));
        if !waits {
            self.begin(None);
        }
    }

    /// Another's evidence has arrived.
    pub fn hear(&mut self, bytes: Vec<u8>) {
        let waits = self.inquiry.as_ref().is_some_and(|inquiry| matches!(inquiry.state, State::Waits));
        if let Some(parted) = waits.then(|| self.parts_from(&bytes)).flatten() {
            self.begin(Some(parted));
        }
        self.inquiry.iter_mut().for_each(|inquiry| inquiry.bundle.recordings.push(bytes.clone()));
    }

    /// Another's evidence was waited for long enough.
    pub fn wait_no_longer(&mut self) {
        if self.inquiry.as_ref().is_some_and(|inquiry| matches!(inquiry.state, State::Waits)) {
            self.begin(None);
        }
    }

    /// No more comes.
    pub fn complete(&mut self, missing: Vec<PlayerId>) {
        self.wait_no_longer();
        if let Some(inquiry) = &mut self.inquiry {
            (inquiry.bundle.missing, inquiry.is_complete) = (missing, true);
        }
        self.save_bundle();
    }

    /// Begins to play again what led to the difference, or to that from another's recording.
    fn begin(&mut self, parted: Option<Tick>) {
        let rerunner = self.rerunner(parted);
        if let Some(inquiry) = &mut self.inquiry {
            inquiry.begin(rerunner, self.clock);
        }
    }

    /// The tick at which another's recording parts from what is in memory.
    fn parts_from(&self, other: &[u8]) -> Option<Tick> {
        self.held()?.parts_from(&Recording::read(other).ok()?)
    }

    /// What is in memory.
    fn held(&self) -> Option<Recording<S>> {
        Recording::read(&self.witnessed()?.write()).ok()
    }

    /// What is in memory of the history that is looked into.
    fn witnessed(&self) -> Option<&Ring> {
        self.before.as_ref().or(self.ring.as_ref())
    }

    /// The checksum of a tick is wanted, played again from a state of the ticks up to `agreed`.
    pub fn refer(&mut self, tick: Tick, agreed: Option<Tick>) {
        let build = self.build.as_ref();
        let reference = self.held().zip(build).and_then(|(held, build)| Reference::new(held, tick, agreed, build));
        if reference.is_none() {
            self.tell(Told::Reference(tick, None));
        }
        self.reference = reference;
    }

    /// Plays a piece of what decides whose world is right. Returns whether there is more.
    fn play_reference(&mut self) -> bool {
        let Some(reference) = &mut self.reference else { return false };
        let began = (self.clock)();
        while (self.clock)() < began + PIECE {
            if let Some(checksum) = reference.advance() {
                let tick = reference.tick();
                self.reference = None;
                self.tell(Told::Reference(tick, Some(checksum)));
                return false;
            }
        }
        true
    }

    /// Plays again what is in memory, around the tick at which it parted from another's, or
    /// else around the last difference that was told. Nothing if there was none, or if its
    /// ticks are no longer held.
    fn rerunner(&self, parted: Option<Tick>) -> Option<Rerunner<S>> {
        let told = self.desync.map(|desync| (desync.tick, desync.agreed));
        let (tick, agreed) = parted.map(|tick| (tick, tick.0.checked_sub(1).map(Tick))).or(told)?;
        Rerunner::new(self.held()?, tick, agreed, self.build.as_ref()?).ok()
    }

    /// A recording of the last minutes, or of as much of them as fits. Empty if nothing fits.
    fn recent(&self, bytes_max: usize) -> Vec<u8> {
        self.witnessed().and_then(|ring| ring.write_within(bytes_max)).unwrap_or_default()
    }

    /// Gives this peer's evidence: its recording, with what came out of playing it again.
    fn give(&mut self) {
        let Some(inquiry) = &mut self.inquiry else { return };
        let (bytes_max, rerun) = (inquiry.bytes_max, inquiry.give());
        if let Some(rerun) = rerun {
            match &mut self.before {
                Some(before) => before.rerun(rerun),
                None => {
                    self.file(|writer| writer.rerun(&rerun));
                    self.remember(|ring| ring.rerun(rerun));
                }
            }
        }
        let evidence = self.recent(bytes_max);
        self.before = None;
        self.inquiry.iter_mut().for_each(|inquiry| inquiry.bundle.recordings.insert(0, evidence.clone()));
        self.tell(Told::Evidence(evidence));
        self.save_bundle();
    }

    /// Saves what all know, once no more comes and this peer's own is there.
    pub(super) fn save_bundle(&mut self) {
        let is_whole = |inquiry: &mut Inquiry<S>| inquiry.is_complete && matches!(inquiry.state, State::Given);
        let Some(inquiry) = self.inquiry.take_if(is_whole) else { return };
        let (tick, bytes) = (self.ring.as_ref().map_or(Tick(0), Ring::tick), inquiry.bundle.write());
        let written = self.write_anew(self.places("desync", tick, "lksbnd"), |_, mut output| {
            output.write_all(&bytes).and_then(|()| output.flush())
        });
        if let Some((path, ())) = written {
            self.tell(Told::Bundle(path));
        }
    }

    /// Plays a piece of what led to a difference. Returns whether there is more.
    pub fn work(&mut self) -> bool {
        if let Some((clock, worked)) = &self.worked {
            let ns = u64::try_from(clock().as_nanos()).unwrap_or(u64::MAX);
            worked.store(ns, Ordering::Relaxed);
        }
        let refers = self.play_reference();
        let Some(inquiry) = &mut self.inquiry else { return refers };
        if inquiry.advance(self.clock) {
            return true;
        }
        if matches!(inquiry.state, State::Plays { .. } | State::Ready) {
            self.give();
        }
        refers
    }
}
