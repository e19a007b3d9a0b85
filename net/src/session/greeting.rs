//! A joiner's hello to each peer it meets, said again until it is answered.
//!
//! It is the first thing that two peers say to each other, and what a peer is told before its own
//! end of the connection is open may be lost, on the reliable channel too. A peer that hears a
//! hello twice lets one player in.

use core::time::Duration;
use std::collections::BTreeMap;

use lockstone_sim::Simulation;

use super::Outbox;
use crate::link::PeerId;
use crate::wire::{Epoch, Hello, Message};

/// Between two hellos to a peer. An answer comes well within, if the first arrived.
const HELLO_INTERVAL: Duration = Duration::from_secs(1);

pub struct Greeting {
    hello: Hello,
    /// The peers that have not answered, and when each was greeted last.
    unanswered: BTreeMap<PeerId, Duration>,
}

impl Greeting {
    pub fn new(hello: Hello) -> Self {
        Greeting { hello, unanswered: BTreeMap::new() }
    }

    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// A peer can be spoken to.
    pub fn connected<S: Simulation>(&mut self, peer: PeerId, now: Duration, out: &mut Outbox<S>) {
        self.unanswered.insert(peer, now);
        say(&self.hello, peer, out);
    }

    /// A peer has answered, or is gone.
    pub fn answered(&mut self, peer: PeerId) {
        self.unanswered.remove(&peer);
    }

    /// Says hello again to those whose answer is overdue.
    pub fn advance<S: Simulation>(&mut self, now: Duration, out: &mut Outbox<S>) {
        for (peer, said) in &mut self.unanswered {
            if now >= *said + HELLO_INTERVAL {
                *said = now;
                say(&self.hello, *peer, out);
            }
        }
    }

    /// When [`advance`](Greeting::advance) has something to do.
    pub fn wake_at(&self) -> Duration {
        self.unanswered.values().min().map_or(Duration::MAX, |said| *said + HELLO_INTERVAL)
    }
}

fn say<S: Simulation>(hello: &Hello, peer: PeerId, out: &mut Outbox<S>) {
    out.reliably(Epoch::default(), peer, &Message::Hello(hello.clone()));
}
