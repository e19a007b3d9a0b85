//! What leaves a session: packets, events and counts. All its roles write here; nothing is read back.

use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};

use lockstone_sim::{Simulation, Tick};

use super::door::Rate;
use super::event::{EndReason, Event, SayError, Transmit};
use super::evidence::Evidence;
use super::stats::{DropReason, Drops, Traffic};
use crate::limits::CHAT_LINES_PER_S;
use crate::link::{Channel, PeerId};
use crate::wire::{self, ChatLine, Epoch, Message, Said};

pub(crate) struct Out<S: Simulation> {
    pub transmits: VecDeque<Transmit>,
    pub events: VecDeque<Event<S>>,
    pub ended: Option<EndReason>,
    pub drops: Drops,
    pub total: Traffic,
    pub checksums_compared: u64,
    pub desyncs: u64,
    peers: BTreeMap<PeerId, Traffic>,
    /// How much this peer's player said lately.
    chat: Rate,
    end_told: bool,
}

impl<S: Simulation> Out<S> {
    pub fn new() -> Self {
        Out {
            transmits: VecDeque::new(),
            events: VecDeque::new(),
            ended: None,
            drops: Drops::default(),
            total: Traffic::default(),
            checksums_compared: 0,
            desyncs: 0,
            peers: BTreeMap::new(),
            chat: Rate::default(),
            end_told: false,
        }
    }

    /// Returns how many bytes that are.
    pub fn send(&mut self, epoch: Epoch, to: PeerId, channel: Channel, message: &Message) -> usize {
        let bytes = wire::encode(epoch, message);
        for traffic in [&mut self.total, self.peers.entry(to).or_default()] {
            traffic.packets_out += 1;
            traffic.bytes_out += bytes.len() as u64;
        }
        let len = bytes.len();
        self.transmits.push_back(Transmit { to, channel, bytes });
        len
    }

    pub fn reliably(&mut self, epoch: Epoch, to: PeerId, message: &Message) {
        self.send(epoch, to, Channel::Reliable, message);
    }

    pub fn received(&mut self, from: PeerId, bytes: usize) {
        for traffic in [&mut self.total, self.peers.entry(from).or_default()] {
            traffic.packets_in += 1;
            traffic.bytes_in += bytes as u64;
        }
    }

    pub fn traffic(&self, peer: PeerId) -> Traffic {
        self.peers.get(&peer).copied().unwrap_or_default()
    }

    pub fn forget(&mut self, peer: PeerId) {
        self.peers.remove(&peer);
    }

    pub fn dropped(&mut self, reason: DropReason) {
        self.drops.add(reason, 1);
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
        self.ended.get_or_insert(reason);
    }

    /// Tells the end, once, as the last event. `tick` would have been next. Evidence that is on its way will not arrive.
    pub fn tell_end(&mut self, tick: Tick, evidence: Option<&mut Evidence>) {
        if let Some(reason) = self.ended.clone().filter(|_| !self.end_told) {
            self.end_told = true;
            if let Some(evidence) = evidence {
                evidence.close(self);
            }
            self.events.push_back(Event::Ended { tick, reason });
        }
    }
}
