//! One peer's part in the exchange of evidence: once worlds differ, each player's peer sends each
//! other's what its application gives.
//!
//! The bytes are not looked into. A peer that finds a difference calls an inquiry. The session's
//! kind checks its sender. There is one at a time and one a minute, whoever calls, and of each
//! witness one parcel: nobody can make others send again and again. A peer sends only to a peer
//! that asks, and only witnesses are asked. A relay's evidence is the whole world, so it keeps
//! that: a replica may know of the world what the replica has recorded itself.
//!
//! A peer that is [out of step](super::outbox::Standing) no longer plays, and its session ends once
//! evidence is exchanged. The loop is [`Evidence::advance`]; it comes after that of the game.

mod inquiry;

use core::time::Duration;
use std::collections::BTreeMap;

use lockstone_sim::{PlayerId, Simulation};

use super::event::{EndReason, Event, EvidenceError};
use super::{DropReason, Outbox, Standing};
use crate::limits::*;
use crate::link::PeerId;
use crate::wire::{Epoch, Message, Parcel};
use inquiry::Inquiry;

#[derive(Default)]
pub struct Evidence {
    inquiry: Option<Inquiry>,
    /// When the last inquiry began.
    begun: Option<Duration>,
    /// What connected peers announced before this one was called, and when: one may hear of an
    /// inquiry before others do.
    early: BTreeMap<PeerId, (Parcel, Duration)>,
}

/// The peers that take part in an inquiry.
pub struct Witnesses {
    /// All but this peer that can be reached.
    pub others: Vec<(PlayerId, PeerId)>,
    /// Those that cannot.
    pub missing: Vec<PlayerId>,
    /// How many share the bundle.
    pub players: usize,
    /// Whether they may know what this peer knows. Else it keeps its own evidence to itself.
    pub may_know: bool,
}

impl Witnesses {
    /// Others that can all be reached, and may know what this peer knows.
    pub fn of(others: Vec<(PlayerId, PeerId)>, players: usize) -> Witnesses {
        Witnesses { others, missing: Vec::new(), players, may_know: true }
    }
}

impl Evidence {
    /// Begins an inquiry, unless the last one began less than `interval` ago. Returns whether it
    /// did.
    pub fn begin<S: Simulation>(
        &mut self,
        interval: Duration,
        witnesses: Witnesses,
        now: Duration,
        out: &mut Outbox<S>,
    ) -> bool {
        if self.begun.is_some_and(|begun| now < begun + interval) {
            return false;
        }
        self.close(out);
        self.begun = Some(now);
        let bytes_max = evidence_bytes_max(witnesses.players);
        out.events.push_back(Event::EvidenceWanted { bytes_max });
        self.inquiry = Some(Inquiry::new(witnesses, bytes_max, now));
        self.expire(now, out);
        for (peer, (announced, _)) in core::mem::take(&mut self.early) {
            self.handle(peer, announced, now, out);
        }
        self.conclude(out);
        true
    }

    pub fn under_way(&self) -> bool {
        self.inquiry.is_some()
    }

    /// Takes this peer's own.
    pub fn give<S: Simulation>(&mut self, bytes: Vec<u8>, out: &mut Outbox<S>) -> Result<(), EvidenceError> {
        self.inquiry.as_mut().ok_or(EvidenceError::NotWanted)?.give(bytes, out)?;
        self.conclude(out);
        Ok(())
    }

    /// Takes a step of another peer's, or of ours to it.
    pub fn handle<S: Simulation>(&mut self, from: PeerId, parcel: Parcel, now: Duration, out: &mut Outbox<S>) {
        match (&mut self.inquiry, &parcel) {
            (Some(inquiry), _) => {
                inquiry.handle(from, parcel, out);
                self.conclude(out);
            }
            (None, Parcel::Announced { .. }) => {
                if self.early.insert(from, (parcel, now)).is_some() {
                    out.dropped(DropReason::Unexpected);
                }
            }
            (None, _) => out.dropped(DropReason::Unexpected),
        }
    }

    /// A peer is gone: nothing more will come from it, and nothing gets there.
    pub fn lost<S: Simulation>(&mut self, peer: PeerId, out: &mut Outbox<S>) {
        self.early.remove(&peer);
        if let Some(inquiry) = &mut self.inquiry {
            inquiry.lost(peer);
            self.conclude(out);
        }
    }

    /// This peer was removed as being out of step. The peer that removed it has called before, if
    /// it calls at all.
    pub fn put_out<S: Simulation>(&mut self, now: Duration, out: &mut Outbox<S>) {
        out.fall_out_of_step(now);
        if !self.under_way() {
            out.end(EndReason::Desync);
        }
    }

    /// Sends what is due, and ends what has taken too long.
    pub fn advance<S: Simulation>(&mut self, now: Duration, out: &mut Outbox<S>) {
        self.expire(now, out);
        if let Some(inquiry) = &mut self.inquiry {
            inquiry.advance(now, out);
            self.conclude(out);
        }
        if now >= self.stays_until(&out.standing) {
            out.end(EndReason::Desync);
        }
    }

    /// When [`advance`](Evidence::advance) has something to do.
    pub fn wake_at(&self, standing: &Standing) -> Duration {
        self.inquiry.as_ref().map_or(Duration::MAX, Inquiry::wake_at).min(self.stays_until(standing))
    }

    /// No more will come: tells so, if it was not told.
    pub fn close<S: Simulation>(&mut self, out: &mut Outbox<S>) {
        if let Some(inquiry) = &mut self.inquiry {
            inquiry.give_up();
            self.conclude(out);
        }
    }

    /// Until when a peer stays that is out of step.
    fn stays_until(&self, standing: &Standing) -> Duration {
        let Standing::OutOfStep { since } = *standing else { return Duration::MAX };
        match (&self.inquiry, self.begun) {
            (Some(inquiry), _) if inquiry.is_unattended() => since,
            (Some(_), _) => Duration::MAX,
            // None can begin again so soon.
            (None, Some(begun)) if since < begun + INQUIRY_ANSWER_INTERVAL => since,
            (None, _) => since + INQUIRY_CALL_TIME,
        }
    }

    fn conclude<S: Simulation>(&mut self, out: &mut Outbox<S>) {
        self.inquiry.take_if(|inquiry| inquiry.concludes(out));
    }

    /// What was announced, and not asked for since, is dropped.
    fn expire<S: Simulation>(&mut self, now: Duration, out: &mut Outbox<S>) {
        let before = self.early.len();
        self.early.retain(|_, (_, at)| now < *at + INQUIRY_TIME);
        out.stats.drops.add(DropReason::Unexpected, (before - self.early.len()) as u64);
    }
}

/// What is said of evidence counts in any epoch, and says 0.
fn say<S: Simulation>(to: PeerId, parcel: Parcel, out: &mut Outbox<S>) {
    out.reliably(Epoch::default(), to, &Message::Parcel(parcel));
}
