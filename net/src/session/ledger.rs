//! What the closed turns of a session say beside the world: who its members are, whose votes count,
//! how many commands of each were taken, and what the simulation asked for.
//!
//! Every member keeps one, from the same turns, so that each can lead on. It follows the turns as
//! they become known, not as they are played.

use std::collections::BTreeMap;

use lockstone_sim::codec::{self, CodecError};
use lockstone_sim::{PlayerId, Tick};
use serde::{Deserialize, Serialize};

use crate::limits::*;
use crate::link::PeerId;
use crate::members::Electorates;
use crate::sequencer::{Request, Requests};
use crate::wire::{List, PublicKey, RawInput};

#[derive(Clone, Debug, PartialEq)]
pub struct Ledger {
    /// The first tick whose turn is not in it.
    end: Tick,
    pub members: BTreeMap<PlayerId, Member>,
    pub electorates: Electorates,
    /// The highest number that a player had.
    newest: PlayerId,
    pub requests: Requests,
    /// Turns before this tick do not change what is asked for: it was told as of its end.
    requests_end: Tick,
}

/// A player of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Who plays it, or did before it was away.
    pub peer: PeerId,
    /// By which key it is known again.
    pub key: Option<PublicKey>,
    /// Since which tick it has been away.
    pub away: Option<Tick>,
    /// How many of its commands are in closed turns.
    pub commands: u32,
}

/// A ledger as joiners are sent it. It goes with a world of an older tick: what that world will ask
/// for on the way to the ledger's end is no part of it.
#[derive(Serialize, Deserialize)]
struct Packed {
    end: Tick,
    members: List<(PlayerId, Member), PLAYERS_MAX>,
    electorates: Electorates,
    newest: PlayerId,
    requests: List<Request, REQUESTS_QUEUED_MAX>,
}

impl Ledger {
    /// Of a session that a player founds.
    pub fn of_founder(player: PlayerId, first: Tick) -> Ledger {
        Ledger {
            end: first,
            members: BTreeMap::new(),
            electorates: Electorates::of_founder(player),
            newest: player,
            requests: Requests::default(),
            requests_end: first,
        }
    }

    /// It and a snapshot, serialised.
    pub fn packed(&self, snapshot: Vec<u8>) -> Vec<u8> {
        let members: Vec<_> = self.members.iter().map(|(player, member)| (*player, *member)).collect();
        let packed = Packed {
            end: self.end,
            members: members.try_into().expect("no more are let in"),
            electorates: self.electorates.clone(),
            newest: self.newest,
            requests: self.requests.open().try_into().expect("no more are kept"),
        };
        codec::compact(&(packed, snapshot))
    }

    /// Reads it, and the snapshot, from what [`packed`](Ledger::packed) wrote.
    ///
    /// # Errors
    /// [`CodecError`] if the bytes are something else.
    pub fn unpack(bytes: &[u8]) -> Result<(Ledger, Vec<u8>), CodecError> {
        let (packed, snapshot): (Packed, Vec<u8>) = codec::read(bytes, bytes.len())?;
        let ledger = Ledger {
            end: packed.end,
            members: packed.members.into_vec().into_iter().collect(),
            electorates: packed.electorates,
            newest: packed.newest,
            requests: Requests::new(packed.requests.into_vec()),
            requests_end: packed.end,
        };
        Ok((ledger, snapshot))
    }

    /// The turn of a tick is closed.
    pub fn closed(&mut self, tick: Tick, turn: &[RawInput]) {
        if tick < self.end {
            return;
        }
        self.end = tick.next();
        for input in turn {
            match input {
                RawInput::Member(player, peer, key) => {
                    let member = Member { peer: *peer, key: *key, away: None, commands: self.commands(*player) };
                    self.members.insert(*player, member);
                    self.newest = self.newest.max(*player);
                }
                RawInput::Leave(player, _) => drop(self.members.remove(player)),
                RawInput::Away(player, _) => {
                    self.members.entry(*player).and_modify(|member| member.away = Some(tick));
                }
                RawInput::Command(player, _) => {
                    if let Some(member) = self.members.get_mut(player) {
                        member.commands += 1;
                    }
                }
                RawInput::Request(_) if tick < self.requests_end => {}
                RawInput::Request(_) => self.requests.closed(input),
                RawInput::Electorate(next) => self.electorates.change(next.clone()),
                RawInput::Settled => self.electorates.settle(),
                RawInput::Join(..) | RawInput::Back(..) => {}
            }
        }
    }

    /// What is asked for and in no turn before `end` is known to another, whose word counts.
    /// `turns` are those that are known here from `end` on.
    pub fn resume_requests<'a>(&mut self, open: Vec<Request>, end: Tick, turns: impl Iterator<Item = &'a [RawInput]>) {
        (self.requests, self.requests_end) = (Requests::new(open), end);
        turns.flatten().for_each(|input| self.requests.closed(input));
    }

    /// How many commands of a player are in closed turns.
    pub fn commands(&self, player: PlayerId) -> u32 {
        self.members.get(&player).map_or(0, |member| member.commands)
    }

    /// The number of the next player.
    pub fn next_player(&self) -> u16 {
        self.newest.0.saturating_add(1)
    }

    /// The members who are here.
    pub fn present(&self) -> impl Iterator<Item = (PlayerId, &Member)> {
        self.members.iter().filter(|(_, member)| member.away.is_none()).map(|(player, member)| (*player, member))
    }

    /// The members who are away, and since when.
    pub fn away(&self) -> impl Iterator<Item = (PlayerId, Tick)> {
        self.members.iter().filter_map(|(player, member)| Some((*player, member.away?)))
    }

    /// The player of a peer that is here.
    pub fn player(&self, peer: PeerId) -> Option<PlayerId> {
        self.present().find(|(_, member)| member.peer == peer).map(|(player, _)| player)
    }
}
