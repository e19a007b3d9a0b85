//! Lets the standby in, and feeds it: the world, then each turn as it is closed.
//!
//! It must never tell it what no turn says.

use core::time::Duration;
use std::collections::BTreeSet;

use lockstone_sim::{Rules, Simulation, World, codec};

use super::{KEEP_ALIVE, Place};
use crate::key::Claim;
use crate::limits::*;
use crate::link::PeerId;
use crate::relay::host::Host;
use crate::sequencer::{Feed, History};
use crate::session::{DropReason, Io, Offer, Outbox};
use crate::transfer::SnapshotSender;
use crate::wire::*;

/// Between two pieces of the world to a standby, and what it may lag: the standby acknowledges each
/// piece and each packet of turns, and may send no more than any peer.
const CHUNK_INTERVAL: Duration = Duration::from_millis(20);
const CHUNKS_AT_ONCE: Duration = Duration::from_millis(50);
const TURNS_PER_S_MAX: u32 = 40;

/// Who says to be the standby.
pub struct Applicant {
    pub peer: PeerId,
    pub nonce: u64,
    pub hello: Hello,
}

/// The standby.
pub struct Follower {
    pub peer: PeerId,
    pub attempt: u32,
    pub sender: SnapshotSender,
    /// The turns that it has not acknowledged.
    pub turns: History<()>,
    pub feed: Feed,
    pub heard_at: Duration,
    /// When it is sent the next piece of the world.
    pub chunk_at: Duration,
    pub course: Course,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Course {
    Loading,
    InStep,
    /// The replicas are told that it leads if the relay is lost.
    Heir,
}

impl<R: Rules> Host<R> {
    /// Does what is due for the standby, and without it.
    pub fn tend_standby(&mut self, io: &mut Io<World<R>>) {
        let (now, epoch, open, played) = (io.now, self.leader.epoch, self.open(), self.stepper.tick());
        let settings = self.config.settings();
        let hurries = self.succession.hurries;
        let Some(follower) = self.succession.follower() else { return self.tell_before(io) };
        while now >= follower.chunk_at
            && let Some(chunk) = follower.sender.next_chunk()
        {
            follower.chunk_at = follower.chunk_at.max(now.saturating_sub(CHUNKS_AT_ONCE)) + CHUNK_INTERVAL;
            io.out.reliably(epoch, follower.peer, &Message::Chunk(chunk));
        }
        let rests = follower.feed.sent_at().is_some_and(|sent| now < sent + KEEP_ALIVE);
        if follower.feed.due(open, settings.ticks_per_s.div_ceil(TURNS_PER_S_MAX)) || !rests {
            for (channel, turns) in follower.feed.packets(&follower.turns, open, now, 0) {
                io.out.send_turns(epoch, follower.peer, channel, TurnsKind::Frames, &turns);
            }
        }
        let known = follower.feed.known();
        match follower.course {
            Course::Loading if follower.sender.done() && open.since(known) <= settings.ticks_per_s => {
                follower.course = Course::InStep;
            }
            Course::InStep if known >= played || hurries => {
                follower.course = Course::Heir;
                self.name_heir(&mut io.out);
            }
            _ => {}
        }
        self.judge_standby(io);
    }

    /// Gives up a standby that is lost, or an heir that is slow, and takes such an heir back.
    fn judge_standby(&mut self, io: &mut Io<World<R>>) {
        let (now, played, settings) = (io.now, self.stepper.tick(), self.config.settings());
        let has_waited = self.succession.stands_still(now);
        match &mut self.succession.place {
            // Whoever stands takes no turns.
            Place::Dismissed { slow, .. } => {
                if let Some(heir) = slow.take_if(|slow| slow.feed.known() > played) {
                    self.succession.place = Place::Taken(heir);
                    self.name_heir(&mut io.out);
                }
            }
            Place::Taken(follower) if has_waited && follower.course == Course::Heir => {
                self.dismiss(true, &mut io.out);
            }
            Place::Taken(follower) => {
                let is_full = follower.turns.bytes() > HISTORY_BYTES_MAX;
                if now >= follower.heard_at + settings.silence_timeout || is_full || has_waited {
                    let peer = follower.peer;
                    self.remove_standby(peer, &mut io.out);
                }
            }
            Place::Vacant => {}
        }
    }

    /// Tells the replicas who leads on, as that has changed.
    fn name_heir(&mut self, out: &mut Outbox<World<R>>) {
        self.succession.number += 1;
        self.tell_heir(out);
    }

    /// There is no heir any more. It may be only slow.
    fn dismiss(&mut self, is_slow: bool, out: &mut Outbox<World<R>>) {
        let before = core::mem::replace(&mut self.succession.place, Place::Vacant);
        let slow = if let Place::Taken(heir) = before { Some(heir).filter(|_| is_slow) } else { None };
        self.succession.place = Place::Dismissed { slow, knowing: BTreeSet::new() };
        self.name_heir(out);
        self.settle_dismissal(out);
    }

    /// The standby is to load the world anew.
    pub fn remove_standby(&mut self, peer: PeerId, out: &mut Outbox<World<R>>) {
        out.reliably(self.leader.epoch, peer, &Message::Removed(LeaveReason::TooSlow));
        self.lose_standby(peer, out);
    }

    /// The standby is lost.
    pub fn lose_standby(&mut self, peer: PeerId, out: &mut Outbox<World<R>>) {
        self.succession.applicant.take_if(|applicant| applicant.peer == peer);
        match &mut self.succession.place {
            Place::Taken(follower) if follower.peer == peer && follower.course == Course::Heir => {
                self.dismiss(false, out);
            }
            Place::Taken(follower) if follower.peer == peer => self.succession.place = Place::Vacant,
            Place::Dismissed { slow, .. } => drop(slow.take_if(|slow| slow.peer == peer)),
            Place::Taken(_) | Place::Vacant => {}
        }
    }

    /// Whether a hello is the standby's, as far as it says so. Then it is asked to prove it.
    pub fn asks_standby(&mut self, peer: PeerId, hello: &Hello, io: &mut Io<World<R>>) -> bool {
        if self.succession.key.is_none() || hello.key != self.succession.key {
            return false;
        }
        let differences = self.entrant.terms.differences(hello.protocol, &hello.terms);
        if !differences.is_empty() {
            let refusal = Refusal::Different(differences.try_into().expect("one of each kind"));
            self.guests.refuse(peer, hello.name.as_str(), refusal, &mut io.out);
            return true;
        }
        let nonce = match &self.succession.applicant {
            Some(applicant) if applicant.peer == peer => applicant.nonce,
            _ => io.now.as_nanos() as u64 ^ peer.0 as u64,
        };
        self.succession.applicant = Some(Applicant { peer, nonce, hello: hello.clone() });
        io.out.reliably(self.leader.epoch, peer, &Message::Challenge(nonce));
        true
    }

    /// Takes a proof, if it is the standby's.
    pub fn proves_standby(&mut self, peer: PeerId, proof: &Proof, io: &mut Io<World<R>>) -> bool {
        let Some(applicant) = self.succession.applicant.take_if(|applicant| applicant.peer == peer) else {
            return false;
        };
        let (epoch, host, nonce) = (self.leader.epoch, self.leader.peer, applicant.nonce);
        let claim = Claim { epoch, host, joiner: peer, nonce, binding: io.bindings.of(peer) };
        if !self.succession.key.is_some_and(|key| key.signed(&claim, proof)) {
            self.guests.refuse(peer, applicant.hello.name.as_str(), Refusal::Key, &mut io.out);
        } else if applicant.hello.promised > self.leader.epoch {
            self.give_up(io);
        } else {
            self.take_standby(peer, applicant.hello.attempt, io);
        }
        true
    }

    /// Sends the standby the whole world, unless there is one, or was just now: it asks again.
    fn take_standby(&mut self, peer: PeerId, attempt: u32, io: &mut Io<World<R>>) {
        if self.succession.follower().is_some_and(|follower| follower.peer == peer && follower.attempt != attempt) {
            self.lose_standby(peer, &mut io.out);
        }
        let Place::Vacant = self.succession.place else { return };
        if io.now < self.succession.alone_until {
            return;
        }
        let stepper = &mut self.stepper;
        let snapshot = stepper.simulation.encoded();
        let ledger = stepper.ledger.as_ref().expect("it plays the whole world").encode();
        let offer = Offer::new(stepper, codec::compact(&(ledger, snapshot)), List::default());
        if offer.is_too_large() {
            return self.guests.refuse(peer, "", Refusal::World, &mut io.out);
        }
        let sender = offer.make(self.leader, peer, attempt, (stepper.player, Some(0)), &mut io.out);
        self.succession.place = Place::Taken(Box::new(Follower {
            peer,
            attempt,
            sender,
            turns: History::starting_at(offer.tick()),
            feed: Feed::new(offer.tick()),
            heard_at: io.now,
            chunk_at: io.now,
            course: Course::Loading,
        }));
    }

    /// Takes a message of the standby. Returns it if it is none.
    pub fn of_standby(
        &mut self,
        from: PeerId,
        epoch: Epoch,
        message: Message,
        io: &mut Io<World<R>>,
    ) -> Option<Message> {
        if let Message::Challenge(nonce) = message {
            self.prove_standby(from, epoch, nonce, io);
            return None;
        }
        // An heir that was taken for slow may lead by now, and proves it as any applicant.
        if !self.succession.is_standby(from) || matches!(message, Message::Hello(_) | Message::Proof(_)) {
            return Some(message);
        }
        let open = self.open();
        let follower = self.succession.follower()?;
        follower.heard_at = io.now;
        match message {
            Message::ChunkAck(received) => {
                if follower.sender.acknowledge(received).is_err() {
                    io.out.dropped(DropReason::ForgedAck);
                }
            }
            Message::Report(report) => match follower.feed.take(&report, open, io.now) {
                Ok(()) => follower.turns.forget(follower.feed.known()),
                Err(reason) => io.out.dropped(reason),
            },
            Message::Bye(_) => self.lose_standby(from, &mut io.out),
            _ => io.out.dropped(DropReason::Unexpected),
        }
        None
    }
}
