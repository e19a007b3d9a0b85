//! How a joiner looks for its session: it says hello to each peer it meets, again until that is
//! answered, and gives up after a while.
//!
//! It is the first thing that two peers say to each other, and what a peer is told before its own
//! end of the connection is open may be lost, on the reliable channel too. A peer that hears a
//! hello twice lets one player in.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use lockstone_sim::Simulation;

use super::{EndReason, Event, Outbox};
use crate::link::PeerId;
use crate::wire::{Epoch, Hello, Message, Refusal};

/// Between two hellos to a peer. An answer comes well within, if the first arrived.
const HELLO_INTERVAL: Duration = Duration::from_secs(1);
/// Who says nothing for so long cannot be reached, and has no part in who is believed.
const ANSWERS_WITHIN: Duration = Duration::from_secs(3);

pub struct Greeting {
    hello: Hello,
    /// The peers that are connected.
    peers: BTreeMap<PeerId, Greeted>,
    /// When it began, or came a step nearer.
    pub since: Duration,
    timeout: Duration,
    /// Whether it was in the session before.
    returns: bool,
    /// The sequencer that this peer followed last: elected by a quorum, as far as it knew.
    followed: Option<PeerId>,
    /// All that ever were said to be the session's sequencer.
    named: BTreeSet<PeerId>,
    /// What peers said of whom nobody knows yet that they are the sequencer, from a welcome on.
    held: Vec<(PeerId, Epoch, Message)>,
}

struct Greeted {
    /// When it was said hello to last.
    at: Duration,
    /// When it said something last, or came.
    heard_at: Duration,
    answer: Option<Answer>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// That peer is the session's sequencer.
    Elsewhere(PeerId),
    /// It looks for the session as well.
    Joins,
}

/// Messages that are held back: a welcome, and what may follow it at once.
const HELD_MAX: usize = 64;

impl Greeting {
    pub fn new(hello: Hello, timeout: Duration, now: Duration) -> Self {
        Greeting {
            hello,
            peers: BTreeMap::new(),
            since: now,
            timeout,
            returns: false,
            followed: None,
            named: BTreeSet::new(),
            held: Vec::new(),
        }
    }

    /// Of a peer that lost its session, in which it followed one.
    pub fn returning(hello: Hello, followed: Option<PeerId>, timeout: Duration, now: Duration) -> Self {
        Greeting { returns: true, followed, ..Greeting::new(hello, timeout, now) }
    }

    /// The sequencer that this peer followed last.
    pub fn followed(&self) -> Option<PeerId> {
        self.followed
    }

    /// Another peer leads the session, for sure.
    pub fn follow(&mut self, leader: PeerId) {
        self.followed = Some(leader);
    }

    /// Which one of this peer's it is: answers to another do not count.
    pub fn attempt(&self) -> u32 {
        self.hello.attempt
    }

    /// A peer can be spoken to.
    pub fn connected<S: Simulation>(&mut self, peer: PeerId, now: Duration, out: &mut Outbox<S>) {
        self.peers.insert(peer, Greeted { at: now, heard_at: now, answer: None });
        say(&self.hello, peer, out);
    }

    /// The carrier lost a peer.
    pub fn disconnected(&mut self, peer: PeerId) {
        self.peers.remove(&peer);
    }

    /// A peer has answered that another is the session's sequencer. That may change: it is asked
    /// again after a while. Who became the sequencer meanwhile has as long to answer as the first.
    pub fn sent_on(&mut self, from: PeerId, sequencer: PeerId, now: Duration) {
        if self.named.insert(sequencer) {
            self.since = now;
        }
        self.answered(from, Answer::Elsewhere(sequencer));
    }

    /// A peer looks for the session as well.
    pub fn greeted(&mut self, from: PeerId) {
        self.answered(from, Answer::Joins);
    }

    fn answered(&mut self, from: PeerId, answer: Answer) {
        if let Some(greeted) = self.peers.get_mut(&from) {
            greeted.answer = Some(answer);
        }
    }

    /// A peer has said something.
    pub fn heard(&mut self, from: PeerId, now: Duration) {
        if let Some(greeted) = self.peers.get_mut(&from) {
            greeted.heard_at = now;
        }
    }

    /// Whether most of the peers that can be reached name a peer, itself included, or this peer
    /// followed it. Those who look for the session themselves do not count.
    pub fn names(&self, sequencer: PeerId, now: Duration) -> bool {
        let counts = |(peer, greeted): &(&PeerId, &Greeted)| {
            let is_heard = now < greeted.heard_at + ANSWERS_WITHIN && greeted.answer != Some(Answer::Joins);
            **peer == sequencer || is_heard
        };
        let asked: Vec<_> = self.peers.iter().filter(counts).collect();
        let names = |(peer, greeted): &&(&PeerId, &Greeted)| {
            **peer == sequencer || greeted.answer == Some(Answer::Elsewhere(sequencer))
        };
        self.followed == Some(sequencer) || 2 * asked.iter().filter(names).count() > asked.len()
    }

    /// Keeps what a peer says until others name it: its answer, and what follows. Returns whether
    /// it was that, and there was room.
    pub fn hold(&mut self, from: PeerId, epoch: Epoch, message: Message) -> bool {
        let answers = match &message {
            Message::Welcome(welcome) => {
                // What it said before is of a welcome that counts no more.
                self.held.retain(|(peer, ..)| *peer != from);
                welcome.attempt == self.attempt()
            }
            message => matches!(message, Message::Refusal(_)),
        };
        let welcomes = answers || self.held.iter().any(|(peer, ..)| *peer == from);
        let held = welcomes && self.held.len() < HELD_MAX;
        if held {
            self.held.push((from, epoch, message));
        }
        held
    }

    /// What was kept of a peer that is named now.
    pub fn release(&mut self, now: Duration) -> Vec<(PeerId, Epoch, Message)> {
        let named = self.held.iter().map(|(peer, ..)| *peer).find(|peer| self.names(*peer, now));
        let held = core::mem::take(&mut self.held);
        let (released, held) = held.into_iter().partition(|(peer, ..)| Some(*peer) == named);
        self.held = held;
        released
    }

    /// This peer is not let in.
    pub fn refused<S: Simulation>(&self, by: PeerId, refusal: Refusal, out: &mut Outbox<S>) {
        let name = self.hello.name.as_str().to_owned();
        out.events.push_back(Event::Refused { peer: by, name, refusal: refusal.clone() });
        out.end(EndReason::Refused(refusal));
    }

    /// Says hello again to those whose answer is overdue, and gives up after a while.
    pub fn advance<S: Simulation>(&mut self, now: Duration, out: &mut Outbox<S>) {
        if now >= self.since + self.timeout {
            let sent_on = self.peers.values().find_map(|peer| match peer.answer? {
                Answer::Elsewhere(sequencer) => Some(sequencer),
                Answer::Joins => None,
            });
            return out.end(match sent_on {
                Some(sequencer) => EndReason::Unreachable(sequencer),
                None if self.returns => EndReason::SequencerLost { silent: true },
                None => EndReason::NoSession,
            });
        }
        for (peer, greeted) in &mut self.peers {
            if now >= greeted.at + HELLO_INTERVAL {
                greeted.at = now;
                say(&self.hello, *peer, out);
            }
        }
    }

    /// When [`advance`](Greeting::advance) has something to do.
    pub fn wake_at(&self) -> Duration {
        let again = self.peers.values().map(|greeted| greeted.at + HELLO_INTERVAL);
        again.fold(self.since + self.timeout, Duration::min)
    }
}

fn say<S: Simulation>(hello: &Hello, peer: PeerId, out: &mut Outbox<S>) {
    out.reliably(Epoch::default(), peer, &Message::Hello(hello.clone()));
}
