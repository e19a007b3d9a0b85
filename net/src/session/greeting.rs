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

pub struct Greeting {
    hello: Hello,
    /// The peers that have not answered, and when each was greeted last.
    unanswered: BTreeMap<PeerId, Duration>,
    /// When it began, or came a step nearer.
    pub since: Duration,
    timeout: Duration,
    /// Whether it was in the session before.
    returns: bool,
    /// The sequencer that this peer followed last: elected by a quorum, as far as it knew.
    followed: Option<PeerId>,
    /// Who the session's sequencer is, as other peers told.
    elsewhere: BTreeMap<PeerId, PeerId>,
    /// All that ever were named so.
    named: BTreeSet<PeerId>,
    /// Those who look for it as well.
    joiners: BTreeSet<PeerId>,
    /// What peers said of whom nobody knows yet that they are the sequencer, from a welcome on.
    held: Vec<(PeerId, Epoch, Message)>,
}

/// Messages that are held back: a welcome, and what may follow it at once.
const HELD_MAX: usize = 64;

impl Greeting {
    pub fn new(hello: Hello, timeout: Duration, now: Duration) -> Self {
        Greeting {
            hello,
            unanswered: BTreeMap::new(),
            since: now,
            timeout,
            returns: false,
            followed: None,
            elsewhere: BTreeMap::new(),
            named: BTreeSet::new(),
            joiners: BTreeSet::new(),
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

    /// Which one of this peer's it is: answers to another do not count.
    pub fn attempt(&self) -> u32 {
        self.hello.attempt
    }

    /// A peer can be spoken to.
    pub fn connected<S: Simulation>(&mut self, peer: PeerId, now: Duration, out: &mut Outbox<S>) {
        self.unanswered.insert(peer, now);
        say(&self.hello, peer, out);
    }

    /// A peer has answered, or is gone.
    pub fn answered(&mut self, peer: PeerId) {
        self.unanswered.remove(&peer);
        self.joiners.remove(&peer);
    }

    /// A peer has answered that another is the session's sequencer. That may change: it is asked
    /// again after a while. Who became the sequencer meanwhile has as long to answer as the first.
    pub fn sent_on(&mut self, from: PeerId, sequencer: PeerId, now: Duration) {
        self.elsewhere.insert(from, sequencer);
        if self.named.insert(sequencer) {
            self.since = now;
        }
        self.joiners.remove(&from);
    }

    /// A peer looks for the session as well.
    pub fn greeted(&mut self, from: PeerId) {
        self.joiners.insert(from);
    }

    /// Whether most of the peers that are connected name a peer, itself included, or this peer
    /// followed it. Those who look for the session themselves do not count.
    pub fn names(&self, sequencer: PeerId, connected: impl Iterator<Item = PeerId>) -> bool {
        let others = self.elsewhere.iter().filter(|(from, named)| **named == sequencer && **from != sequencer);
        let asked = connected.filter(|peer| *peer == sequencer || !self.joiners.contains(peer));
        self.followed == Some(sequencer) || 2 * (others.count() + 1) > asked.count()
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
    pub fn release(&mut self, connected: impl Iterator<Item = PeerId> + Clone) -> Vec<(PeerId, Epoch, Message)> {
        let named = self.held.iter().map(|(peer, ..)| *peer).find(|peer| self.names(*peer, connected.clone()));
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
            return out.end(match self.elsewhere.values().next() {
                Some(sequencer) => EndReason::Unreachable(*sequencer),
                None if self.returns => EndReason::SequencerLost { silent: true },
                None => EndReason::NoSession,
            });
        }
        for (peer, said) in &mut self.unanswered {
            if now >= *said + HELLO_INTERVAL {
                *said = now;
                say(&self.hello, *peer, out);
            }
        }
    }

    /// When [`advance`](Greeting::advance) has something to do.
    pub fn wake_at(&self) -> Duration {
        let again = self.unanswered.values().map(|said| *said + HELLO_INTERVAL);
        again.fold(self.since + self.timeout, Duration::min)
    }
}

fn say<S: Simulation>(hello: &Hello, peer: PeerId, out: &mut Outbox<S>) {
    out.reliably(Epoch::default(), peer, &Message::Hello(hello.clone()));
}
