//! One inquiry: what this peer sends each witness, and what each has sent.

use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::Arc;

use lockstone_sim::{PlayerId, Simulation};

use super::{Witnesses, say};
use crate::limits::*;
use crate::link::PeerId;
use crate::session::{DropReason, Event, EvidenceError, Outbox};
use crate::transfer::{self, EvidenceSender, Receiver};
use crate::wire::Parcel;

pub(super) struct Inquiry {
    began: Duration,
    bytes_max: usize,
    /// Whether the witnesses get this peer's own.
    may_know: bool,
    own: Own,
    witnesses: BTreeMap<PeerId, Witness>,
    /// Witnesses that cannot be reached.
    missing: Vec<PlayerId>,
    next_chunk_at: Duration,
    /// The witness that was sent the last chunk: they take turns.
    served: Option<PeerId>,
    /// Whether it was told that nothing more comes.
    concluded: bool,
}

/// This peer's own evidence.
#[derive(PartialEq)]
enum Own {
    Awaited,
    /// Announced to all.
    Given(Arc<[u8]>),
    /// The application does not care.
    Withheld,
}

/// Another peer that takes part.
struct Witness {
    player: PlayerId,
    theirs: Theirs,
    ours: Ours,
}

/// A witness's evidence on its way here.
enum Theirs {
    Awaited,
    Coming(Receiver),
    Arrived,
    Missing,
}

/// Our evidence on its way to a witness.
enum Ours {
    /// It was not asked for.
    Awaited,
    Going(EvidenceSender),
    /// It has arrived, or there is none, or nobody to get it.
    Done,
}

impl Inquiry {
    pub fn new(witnesses: Witnesses, bytes_max: usize, now: Duration) -> Inquiry {
        let witness = |(player, peer)| (peer, Witness { player, theirs: Theirs::Awaited, ours: Ours::Awaited });
        Inquiry {
            began: now,
            bytes_max,
            may_know: witnesses.may_know,
            own: Own::Awaited,
            witnesses: witnesses.others.into_iter().map(witness).collect(),
            missing: witnesses.missing,
            next_chunk_at: now,
            served: None,
            concluded: false,
        }
    }

    /// Whether the application has been asked in vain.
    pub fn is_unattended(&self) -> bool {
        self.own == Own::Withheld
    }

    /// Takes this peer's own, and announces it to those who may know it.
    pub fn give<S: Simulation>(&mut self, bytes: Vec<u8>, out: &mut Outbox<S>) -> Result<(), EvidenceError> {
        if self.own != Own::Awaited {
            return Err(EvidenceError::NotWanted);
        }
        if bytes.len() > self.bytes_max {
            return Err(EvidenceError::TooLong { len: bytes.len(), max: self.bytes_max });
        }
        let bytes = if self.may_know { bytes } else { Vec::new() };
        self.announce(&bytes, out);
        self.own = Own::Given(bytes.into());
        Ok(())
    }

    fn announce<S: Simulation>(&mut self, bytes: &[u8], out: &mut Outbox<S>) {
        let announced = Parcel::Announced { bytes: bytes.len() as u32, digest: transfer::digest(bytes) };
        for (peer, witness) in &mut self.witnesses {
            if matches!(witness.ours, Ours::Awaited) {
                say(*peer, announced.clone(), out);
                if bytes.is_empty() {
                    witness.ours = Ours::Done;
                }
            }
        }
    }

    /// Takes a step of a witness. What does not fit is dropped; what breaks its word makes its
    /// evidence missing.
    pub fn handle<S: Simulation>(&mut self, from: PeerId, parcel: Parcel, out: &mut Outbox<S>) {
        let Some(witness) = self.witnesses.get_mut(&from) else { return out.dropped(DropReason::UnknownPeer) };
        match parcel {
            Parcel::Announced { bytes, digest } => witness.announced(from, bytes, digest, self.bytes_max, out),
            Parcel::Chunk(chunk) => witness.chunk(from, &chunk, out),
            Parcel::Received(received) => witness.received(received, &self.own, out),
        }
    }

    /// A witness is gone.
    pub fn lost(&mut self, peer: PeerId) {
        if let Some(witness) = self.witnesses.get_mut(&peer) {
            witness.give_up();
        }
    }

    pub fn give_up(&mut self) {
        self.witnesses.values_mut().for_each(Witness::give_up);
    }

    /// Sends the next chunk, and ends what has taken too long.
    pub fn advance<S: Simulation>(&mut self, now: Duration, out: &mut Outbox<S>) {
        if now >= self.began + INQUIRY_TIME {
            return self.give_up();
        }
        if now >= self.give_until() {
            self.own = Own::Withheld;
            self.announce(&[], out);
        }
        if now >= self.next_chunk_at
            && let Some(peer) = self.next_served()
            && let Some(Witness { ours: Ours::Going(sender), .. }) = self.witnesses.get_mut(&peer)
            && let Some(chunk) = sender.next_chunk()
        {
            say(peer, Parcel::Chunk(chunk), out);
            self.served = Some(peer);
            self.next_chunk_at = now + EVIDENCE_CHUNK_INTERVAL;
        }
    }

    /// When [`advance`](Inquiry::advance) has something to do.
    pub fn wake_at(&self) -> Duration {
        let chunk = self.next_served().map_or(Duration::MAX, |_| self.next_chunk_at);
        chunk.min(self.give_until()).min(self.began + INQUIRY_TIME)
    }

    fn give_until(&self) -> Duration {
        if self.own == Own::Awaited { self.began + EVIDENCE_GIVE_TIME } else { Duration::MAX }
    }

    /// Whose turn it is to be sent a chunk, of those who wait for one.
    fn next_served(&self) -> Option<PeerId> {
        let waits = |witness: &Witness| matches!(&witness.ours, Ours::Going(sender) if sender.ready());
        let mut waiting = self.witnesses.iter().filter(|(_, witness)| waits(witness)).map(|(peer, _)| *peer);
        let first = waiting.next()?;
        // From the first again after the last.
        Some([first].into_iter().chain(waiting).find(|peer| Some(*peer) > self.served).unwrap_or(first))
    }

    /// Tells when nothing more comes. Returns whether nothing more goes either.
    pub fn concludes<S: Simulation>(&mut self, out: &mut Outbox<S>) -> bool {
        let decided = |witness: &Witness| matches!(witness.theirs, Theirs::Arrived | Theirs::Missing);
        if !self.witnesses.values().all(decided) {
            return false;
        }
        if !core::mem::replace(&mut self.concluded, true) {
            let not_come = self.witnesses.values().filter(|witness| matches!(witness.theirs, Theirs::Missing));
            self.missing.extend(not_come.map(|witness| witness.player));
            self.missing.sort();
            out.events.push_back(Event::EvidenceComplete { missing: core::mem::take(&mut self.missing) });
        }
        self.witnesses.values().all(|witness| matches!(witness.ours, Ours::Done))
    }
}

impl Witness {
    /// It has evidence: asks for it, once.
    fn announced<S: Simulation>(
        &mut self,
        from: PeerId,
        bytes: u32,
        digest: u128,
        bytes_max: usize,
        out: &mut Outbox<S>,
    ) {
        match self.theirs {
            Theirs::Awaited if bytes == 0 => self.theirs = Theirs::Missing,
            Theirs::Awaited if bytes as usize > bytes_max => self.breaks_its_word(out),
            Theirs::Awaited => {
                self.theirs = Theirs::Coming(Receiver::new(bytes, digest));
                say(from, Parcel::Received(0), out);
            }
            _ => out.dropped(DropReason::Unexpected),
        }
    }

    fn chunk<S: Simulation>(&mut self, from: PeerId, chunk: &[u8], out: &mut Outbox<S>) {
        let Theirs::Coming(receiver) = &mut self.theirs else { return out.dropped(DropReason::Unexpected) };
        let Ok(received) = receiver.take(chunk) else { return self.breaks_its_word(out) };
        match receiver.finish() {
            Ok(whole) => {
                say(from, Parcel::Received(received), out);
                if let Some(bytes) = whole {
                    self.theirs = Theirs::Arrived;
                    out.events.push_back(Event::Evidence { player: self.player, bytes });
                }
            }
            Err(_) => self.breaks_its_word(out),
        }
    }

    fn breaks_its_word<S: Simulation>(&mut self, out: &mut Outbox<S>) {
        self.theirs = Theirs::Missing;
        out.dropped(DropReason::BadEvidence);
    }

    /// It asks for ours, or has got more of it.
    fn received<S: Simulation>(&mut self, received: u32, own: &Own, out: &mut Outbox<S>) {
        match (&mut self.ours, own) {
            (Ours::Awaited, Own::Given(bytes)) if received == 0 => {
                self.ours = Ours::Going(EvidenceSender::new(bytes.clone()));
            }
            (Ours::Going(sender), _) => match sender.acknowledge(received) {
                Ok(()) if sender.done() => self.ours = Ours::Done,
                Ok(()) => {}
                Err(_) => out.dropped(DropReason::ForgedAck),
            },
            _ => out.dropped(DropReason::ForgedAck),
        }
    }

    fn give_up(&mut self) {
        self.ours = Ours::Done;
        if !matches!(self.theirs, Theirs::Arrived) {
            self.theirs = Theirs::Missing;
        }
    }
}
