//! What travels between peers, counted by what it is for.

use serde::{Deserialize, Serialize};

use crate::wire::Message;

/// Packets and their payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// Payload received.
    pub bytes_in: u64,
    /// Payload sent.
    pub bytes_out: u64,
    /// Packets received.
    pub packets_in: u64,
    /// Packets sent.
    pub packets_out: u64,
}

impl Traffic {
    fn plus(self, other: &Traffic) -> Traffic {
        Traffic {
            bytes_in: self.bytes_in + other.bytes_in,
            bytes_out: self.bytes_out + other.bytes_out,
            packets_in: self.packets_in + other.packets_in,
            packets_out: self.packets_out + other.packets_out,
        }
    }
}

/// What a packet is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrafficClass {
    /// Closed turns, frames of a relay, and inputs of rollback players.
    Turns,
    /// Commands, acknowledgements and checksums of replicas.
    Reports,
    /// Snapshots and loads.
    Loading,
    /// What a relay tells of what lies beyond a player's part of the world.
    Distant,
    /// What players say.
    Chat,
    /// What is exchanged because worlds differ.
    Evidence,
    /// Who leads: votes, and turns that are fetched because of that.
    Election,
    /// Greetings, goodbyes, and what is no message.
    Other,
}

impl TrafficClass {
    /// All of them, in their order.
    pub const ALL: [TrafficClass; 8] = [
        TrafficClass::Turns,
        TrafficClass::Reports,
        TrafficClass::Loading,
        TrafficClass::Distant,
        TrafficClass::Chat,
        TrafficClass::Evidence,
        TrafficClass::Election,
        TrafficClass::Other,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            TrafficClass::Turns => "turns",
            TrafficClass::Reports => "reports",
            TrafficClass::Loading => "loading",
            TrafficClass::Distant => "distant",
            TrafficClass::Chat => "chat",
            TrafficClass::Evidence => "evidence",
            TrafficClass::Election => "election",
            TrafficClass::Other => "other",
        }
    }

    /// That of a message.
    pub(crate) fn of(message: &Message) -> TrafficClass {
        match message {
            Message::Turns(_) | Message::Frames(_) | Message::Inputs(_) => TrafficClass::Turns,
            Message::Report(_) => TrafficClass::Reports,
            Message::Chunk(_) | Message::ChunkAck(_) | Message::Load(_) => TrafficClass::Loading,
            Message::Distant(_) | Message::Nearby(_) => TrafficClass::Distant,
            Message::Say(_) | Message::Said(_) => TrafficClass::Chat,
            Message::Desync(_)
            | Message::CoreTree(_)
            | Message::Survey(_)
            | Message::Parts(_)
            | Message::Repair(_)
            | Message::Inquiry(_)
            | Message::Parcel(_)
            | Message::Attested(_)
            | Message::PassedOn(..) => TrafficClass::Evidence,
            Message::Stand(_)
            | Message::Fetch(_)
            | Message::Fetched(_)
            | Message::Lead(_)
            | Message::TwoVotes(_)
            | Message::Heir(_)
            | Message::VoteOut(_)
            | Message::Odd(_)
            | Message::Fitness(_)
            | Message::Meet(_)
            | Message::Regroup(_) => TrafficClass::Election,
            Message::Hello(_)
            | Message::Refusal(_)
            | Message::Elsewhere(_)
            | Message::Welcome(_)
            | Message::Challenge(_)
            | Message::Proof(_)
            | Message::Vouch(_)
            | Message::Ready
            | Message::Bye(_)
            | Message::Removed(_)
            | Message::Ending
            | Message::Gathering(..)
            | Message::Form(_) => TrafficClass::Other,
        }
    }
}

/// Packets and their payload, by what they are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrafficByClass([Traffic; TrafficClass::ALL.len()]);

impl TrafficByClass {
    /// Of one class.
    pub fn of(&self, class: TrafficClass) -> Traffic {
        self.0[class as usize]
    }

    /// Of all classes.
    pub fn total(&self) -> Traffic {
        self.0.iter().fold(Traffic::default(), Traffic::plus)
    }

    /// Each class of which something travelled.
    pub fn iter(&self) -> impl Iterator<Item = (TrafficClass, Traffic)> + '_ {
        TrafficClass::ALL.into_iter().zip(self.0).filter(|(_, traffic)| *traffic != Traffic::default())
    }

    pub(crate) fn sent(&mut self, class: TrafficClass, bytes: usize) {
        let traffic = &mut self.0[class as usize];
        traffic.packets_out += 1;
        traffic.bytes_out += bytes as u64;
    }

    pub(crate) fn received(&mut self, class: TrafficClass, bytes: usize) {
        let traffic = &mut self.0[class as usize];
        traffic.packets_in += 1;
        traffic.bytes_in += bytes as u64;
    }
}
