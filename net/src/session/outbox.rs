//! What a session gives out: packets to send, events to read, figures, and how it stands.

use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};

use lockstone_sim::Simulation;

use super::event::{EndReason, Event, SayError, Transmit};
use super::ingress::Rate;
use super::stats::{DropReason, Stats};
use super::traffic::{TrafficByClass, TrafficClass};
use crate::limits::CHAT_LINES_PER_S;
use crate::link::{Channel, PeerId};
use crate::wire::{self, ChatLine, Encoded, Epoch, Message, Said, Turns, TurnsKind};

pub struct Outbox<S: Simulation> {
    pub transmits: VecDeque<Transmit>,
    pub events: VecDeque<Event<S>>,
    pub standing: Standing,
    /// What is counted here, whatever the role.
    pub stats: Stats,
    peers: BTreeMap<PeerId, TrafficByClass>,
    /// How much this peer's player said lately.
    chat: Rate,
}

/// How a session stands for this peer.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    InStep,
    /// Its world fell out of step: it plays no more, and stays until evidence is exchanged.
    OutOfStep {
        since: Duration,
    },
    /// It is over, which is still to be told.
    Ending(EndReason),
    Over(EndReason),
}

impl Standing {
    pub fn is_in_step(&self) -> bool {
        *self == Standing::InStep
    }

    /// Why it is over, if it is.
    pub fn end(&self) -> Option<&EndReason> {
        match self {
            Standing::InStep | Standing::OutOfStep { .. } => None,
            Standing::Ending(reason) | Standing::Over(reason) => Some(reason),
        }
    }
}

impl<S: Simulation> Outbox<S> {
    pub fn new() -> Self {
        Outbox {
            transmits: VecDeque::new(),
            events: VecDeque::new(),
            standing: Standing::InStep,
            stats: Stats::default(),
            peers: BTreeMap::new(),
            chat: Rate::default(),
        }
    }

    /// Returns how many bytes that are.
    pub fn send(&mut self, epoch: Epoch, to: PeerId, channel: Channel, message: &Message) -> usize {
        self.transmit(to, channel, TrafficClass::of(message), wire::encode(epoch, message))
    }

    /// The same of closed turns or frames, which are encoded already.
    pub fn send_turns(
        &mut self,
        epoch: Epoch,
        to: PeerId,
        channel: Channel,
        kind: TurnsKind,
        turns: &Turns<Encoded>,
    ) -> usize {
        self.transmit(to, channel, TrafficClass::Turns, wire::encode_turns(epoch, kind, turns))
    }

    fn transmit(&mut self, to: PeerId, channel: Channel, class: TrafficClass, bytes: Vec<u8>) -> usize {
        for traffic in [&mut self.stats.traffic_by_class, self.peers.entry(to).or_default()] {
            traffic.sent(class, bytes.len());
        }
        let len = bytes.len();
        self.transmits.push_back(Transmit { to, channel, bytes });
        len
    }

    pub fn reliably(&mut self, epoch: Epoch, to: PeerId, message: &Message) {
        self.send(epoch, to, Channel::Reliable, message);
    }

    pub fn received(&mut self, from: PeerId, class: TrafficClass, bytes: usize) {
        for traffic in [&mut self.stats.traffic_by_class, self.peers.entry(from).or_default()] {
            traffic.received(class, bytes);
        }
    }

    pub fn traffic(&self, peer: PeerId) -> TrafficByClass {
        self.peers.get(&peer).copied().unwrap_or_default()
    }

    pub fn forget(&mut self, peer: PeerId) {
        self.peers.remove(&peer);
    }

    pub fn dropped(&mut self, reason: DropReason) {
        self.stats.drops.add(reason, 1);
    }

    /// Checks what this peer's player is about to say.
    pub fn line(&mut self, text: &str, now: Duration) -> Result<ChatLine, SayError> {
        let line = ChatLine::new(text).ok_or(SayError::Text)?;
        if self.chat.admits(1, CHAT_LINES_PER_S, now) { Ok(line) } else { Err(SayError::TooOften) }
    }

    /// Tells what a player said.
    pub fn said(&mut self, said: &Said) {
        let (name, text) = (said.name.as_str().to_owned(), said.line.as_str().to_owned());
        self.events.push_back(Event::Said { player: said.player, name, text });
    }

    /// The session is over for this peer; the first reason counts.
    pub fn end(&mut self, reason: EndReason) {
        if self.standing.end().is_none() {
            self.standing = Standing::Ending(reason);
        }
    }

    /// This peer's world is out of step: it stays until evidence is exchanged, or until it is clear
    /// that nobody calls for any.
    pub fn fall_out_of_step(&mut self, now: Duration) {
        if self.standing.is_in_step() {
            self.standing = Standing::OutOfStep { since: now };
        }
    }
}
