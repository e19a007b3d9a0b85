//! The exchange with one other player: its packets are checked here before anything of them goes
//! on.

use core::time::Duration;
use std::collections::BTreeMap;

use lockstone_sim::{Checksum, PlayerId, Simulation, Tick, codec};

use super::ggrs::{Handle, Predictor, Slot};
use crate::limits::COMMAND_BYTES_MAX;
use crate::link::PeerId;
use crate::session::{Comparison, DropReason, Exchange, Outbox, Rate};
use crate::stamps::Stamps;
use crate::wire::{Inputs, Name};

/// What a player's packet may claim at most.
pub(super) struct PacketLimits {
    /// The first tick for which we have given no input.
    pub own_end: Tick,
    /// How far its inputs can be ahead of the turns that it knows.
    pub ahead_ticks: u32,
    /// Frame 0.
    pub base: Tick,
    /// Ticks between checksums.
    pub checksum_interval_ticks: u32,
}

pub(super) struct Remote {
    pub peer: PeerId,
    pub player: PlayerId,
    pub name: Name,
    /// When something came of it; in the future as long as it has time to speak first.
    pub heard_at: Duration,
    pub comparison: Comparison,
    /// How much it said lately.
    pub chat: Rate,
    stamps: Stamps,
    /// The first tick of its inputs that has not come.
    pub received: Tick,
    /// Inputs that have come and not gone on.
    inbox: Vec<Slot>,
    /// The first tick of our inputs that it does not have.
    pub acknowledged: Tick,
    /// The first tick whose turn it does not know.
    pub confirmed: Tick,
    behind_ticks: i16,
    /// Its checksums that have not gone on, and the tick of the newest that came.
    checksums: Vec<(Tick, Checksum)>,
    checked: Tick,
}

impl Remote {
    pub fn new(peer: PeerId, player: PlayerId, name: Name, heard_at: Duration, base: Tick, delay_ticks: u32) -> Remote {
        let mut remote = Remote {
            peer,
            player,
            name,
            heard_at,
            comparison: Comparison::default(),
            chat: Rate::default(),
            stamps: Stamps::default(),
            received: base,
            inbox: Vec::new(),
            acknowledged: base,
            confirmed: base,
            behind_ticks: 0,
            checksums: Vec::new(),
            checked: base,
        };
        remote.begin(base, delay_ticks);
        remote
    }

    /// A session begins at a tick: what came before is of another.
    pub fn begin(&mut self, base: Tick, delay_ticks: u32) {
        let first = base.plus(delay_ticks);
        (self.received, self.acknowledged) = (first, first);
        (self.confirmed, self.checked) = (base, base);
        self.inbox.clear();
        self.checksums.clear();
        self.comparison.restart();
    }

    /// Takes a packet.
    ///
    /// # Errors
    /// Why all of it was dropped.
    pub fn take<S: Simulation>(
        &mut self,
        inputs: &Inputs,
        bounds: &PacketLimits,
        now: Duration,
        out: &mut Outbox<S>,
    ) -> Result<(), DropReason> {
        self.stamps.take(inputs.stamp, now).map_err(|_| DropReason::Replayed)?;
        if inputs.received > bounds.own_end || inputs.confirmed > inputs.received {
            return Err(DropReason::ForgedAck);
        }
        if inputs.from > self.received || inputs.end() > inputs.confirmed.plus(bounds.ahead_ticks) {
            return Err(DropReason::TooFarAhead);
        }
        let compared = |tick: Tick| tick.since(bounds.base).is_multiple_of(bounds.checksum_interval_ticks);
        if inputs.checksums.iter().any(|(tick, _)| *tick > inputs.confirmed || !compared(*tick)) {
            return Err(DropReason::Unexpected);
        }
        self.acknowledged = self.acknowledged.max(inputs.received);
        self.confirmed = self.confirmed.max(inputs.confirmed);
        self.behind_ticks = inputs.behind_ticks;
        for input in inputs.inputs.iter().skip(self.received.since(inputs.from) as usize) {
            let sound = |bytes: &[u8]| codec::read::<S::Command>(bytes, COMMAND_BYTES_MAX).is_ok();
            if input.as_ref().is_some_and(|bytes| !sound(bytes)) {
                // It stays in its place: all players pass it over alike.
                out.dropped(DropReason::BadCommand);
            }
            self.inbox.push(Slot::new(input.as_ref()));
        }
        self.received = self.received.max(inputs.end());
        for (tick, checksum) in inputs.checksums.iter().filter(|(tick, _)| *tick > bounds.base) {
            if *tick > self.checked {
                self.checked = *tick;
                self.checksums.push((*tick, *checksum));
            }
        }
        Ok(())
    }

    /// Hands on what has come.
    pub fn feed(&mut self, handle: Handle, base: Tick, predictor: &mut Predictor) {
        let ack_frame = self.acknowledged.since(base) as i32 - 1;
        predictor.inputs(handle, &core::mem::take(&mut self.inbox), ack_frame);
        predictor.quality(handle, self.behind_ticks, self.stamps.rtt().unwrap_or_default());
        for (tick, checksum) in &self.checksums {
            predictor.checksum(handle, tick.since(base), *checksum);
        }
    }

    /// Counts the comparison of its newest checksums with ours.
    pub fn compare<S: Simulation>(&mut self, ours: &BTreeMap<Tick, Checksum>, out: &mut Outbox<S>) {
        for (tick, theirs) in core::mem::take(&mut self.checksums) {
            // ggrs tells a difference.
            let _ = self.comparison.theirs(tick, theirs, ours, out);
        }
    }

    /// What goes into the next packet to it, beside what all get.
    pub fn packet(&mut self, now: Duration) -> Inputs {
        Inputs { stamp: self.stamps.stamp(now), received: self.received, from: self.acknowledged, ..Inputs::default() }
    }

    /// The figures of the exchange.
    pub fn exchange<S: Simulation>(&self, out: &Outbox<S>) -> Exchange {
        self.comparison.exchange(self.peer, self.stamps.rtt(), out)
    }
}
