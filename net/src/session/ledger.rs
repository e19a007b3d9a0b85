//! What the turns of a session say beside the world: who its members are, whose votes count, how
//! many commands of each were taken, what the simulation asked for, who was put out for good, and
//! which history this is.
//!
//! Every member keeps two, from the same turns. One follows them as they become known, so that the
//! member can lead on. The other follows them as they are played. It goes with the world, to
//! joiners and into recordings, so that a session can go on from there.

use std::collections::BTreeMap;

use lockstone_sim::codec::{self, CodecError};
use lockstone_sim::{PlayerId, Simulation, Tick};
use serde::{Deserialize, Serialize};

use crate::limits::*;
use crate::link::PeerId;
use crate::members::Electorates;
use crate::sequencer::{Request, Requests};
use crate::wire::{Branch, Epoch, LeaveReason, List, PublicKey, RawInput, Vote};

#[derive(Clone, Debug, PartialEq)]
pub struct Ledger {
    pub members: BTreeMap<PlayerId, Member>,
    pub electorates: Electorates,
    /// Which history this is, and at which tick it left another, or was founded.
    pub branch: Branch,
    pub since: Tick,
    /// Nobody had this number or a higher one.
    fresh: u16,
    pub requests: Requests,
    /// The keys of those who were put out for good, the newest last.
    outlawed: Vec<PublicKey>,
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

/// A ledger of so many members at most, serialised. It goes with a world of the same tick.
#[derive(Serialize, Deserialize)]
struct Packed<const MEMBERS_MAX: usize> {
    members: List<(PlayerId, Member), MEMBERS_MAX>,
    electorates: Electorates,
    fresh: u16,
    requests: List<Request, REQUESTS_QUEUED_MAX>,
    branch: Branch,
    since: Tick,
    outlawed: List<PublicKey, OUTLAWED_MAX>,
}

impl Ledger {
    /// Of a session that nobody is in.
    pub fn new() -> Ledger {
        let electorates = Electorates::of_founder(PlayerId(0));
        let (members, requests, outlawed) = (BTreeMap::new(), Requests::default(), Vec::new());
        Ledger { members, electorates, branch: Branch::default(), since: Tick(0), fresh: 0, requests, outlawed }
    }

    /// A player founds the session at a tick as that peer, be it for the second time. Its vote
    /// alone counts, and others may found it again elsewhere, so it is a branch.
    pub fn found(&mut self, player: PlayerId, peer: PeerId, tick: Tick) {
        self.leave_branch(tick, Vote { epoch: Epoch::default(), leader: player }, Some(peer));
        self.note_number(player);
    }

    /// Someone goes on alone.
    fn leave_branch(&mut self, tick: Tick, vote: Vote, peer: Option<PeerId>) {
        self.electorates = Electorates::of_founder(vote.leader);
        (self.branch, self.since) = (self.branch.founded(tick, vote, peer), tick);
    }

    /// It and a snapshot of the world, serialised for a joiner.
    pub fn packed(&self, snapshot: Vec<u8>) -> Vec<u8> {
        codec::compact(&(self.pack::<PLAYERS_MAX>(), snapshot))
    }

    /// Reads it, and the snapshot, from what [`packed`](Ledger::packed) wrote.
    ///
    /// # Errors
    /// [`CodecError`] if the bytes are something else.
    pub fn unpack(bytes: &[u8]) -> Result<(Ledger, Vec<u8>), CodecError> {
        let (packed, snapshot): (Packed<PLAYERS_MAX>, Vec<u8>) = codec::read(bytes, bytes.len())?;
        Ok((packed.into(), snapshot))
    }

    /// It, serialised for a recording.
    pub fn encode(&self) -> Vec<u8> {
        codec::compact(&self.pack::<RELAY_PLAYERS_MAX>())
    }

    /// Reads it from what [`encode`](Ledger::encode) wrote.
    ///
    /// # Errors
    /// [`CodecError`] if the bytes are something else.
    pub fn decode(bytes: &[u8]) -> Result<Ledger, CodecError> {
        codec::read::<Packed<RELAY_PLAYERS_MAX>>(bytes, bytes.len()).map(Ledger::from)
    }

    fn pack<const MEMBERS_MAX: usize>(&self) -> Packed<MEMBERS_MAX> {
        // A leader that lies may have let in more: there is no such session.
        let members = self.members.iter().take(MEMBERS_MAX).map(|(player, member)| (*player, *member));
        Packed {
            members: members.collect::<Vec<_>>().try_into().expect("no more are taken"),
            electorates: self.electorates.clone(),
            fresh: self.fresh,
            requests: self.requests.open().try_into().expect("no more are kept"),
            branch: self.branch,
            since: self.since,
            outlawed: self.outlawed.clone().try_into().expect("no more are kept"),
        }
    }

    /// The turn of a tick is closed.
    pub fn closed(&mut self, tick: Tick, turn: &[RawInput]) {
        for input in turn {
            match input {
                RawInput::Member(player, peer, key) => {
                    let member = Member { peer: *peer, key: *key, away: None, commands: self.commands(*player) };
                    self.members.insert(*player, member);
                    self.note_number(*player);
                }
                RawInput::Leave(player, reason) => {
                    let key = self.members.remove(player).and_then(|member| member.key);
                    key.filter(|_| reason.outlaws()).into_iter().for_each(|key| self.outlaw(key));
                }
                RawInput::Away(player, _) => {
                    self.members.entry(*player).and_modify(|member| member.away = Some(tick));
                }
                RawInput::Command(player, _) => {
                    if let Some(member) = self.members.get_mut(player) {
                        member.commands = member.commands.saturating_add(1);
                    }
                }
                RawInput::Request(_) => self.requests.closed(input),
                RawInput::Electorate(next) => self.electorates.change(next.clone()),
                RawInput::Settled => self.electorates.settle(),
                RawInput::Branch(vote) => {
                    let peer = self.members.get(&vote.leader).map(|member| member.peer);
                    self.leave_branch(tick, *vote, peer);
                }
                RawInput::Join(..) | RawInput::Back(..) => {}
            }
        }
    }

    /// The turn of a tick was played. Returns how many requests are dropped.
    pub fn played<S: Simulation>(&mut self, tick: Tick, turn: &[RawInput], simulation: &S) -> u64 {
        self.closed(tick, turn);
        self.requests.asked(simulation)
    }

    /// What was asked for before a tick, and is in no turn before it, is known to another, whose
    /// word counts. `turns` are those that are known here from that tick on.
    pub fn resume_requests<'a>(&mut self, open: Vec<Request>, turns: impl Iterator<Item = &'a [RawInput]>) {
        self.requests = Requests::new(open);
        turns.flatten().for_each(|input| self.requests.closed(input));
    }

    /// Nobody is let in by that key any more.
    pub fn outlaw(&mut self, key: PublicKey) {
        self.outlawed.push(key);
        self.outlawed.drain(..self.outlawed.len().saturating_sub(OUTLAWED_MAX));
    }

    /// Whether who has that key was put out for good.
    pub fn is_outlawed(&self, key: Option<PublicKey>) -> bool {
        key.is_some_and(|key| self.outlawed.contains(&key))
    }

    /// How many commands of a player are in closed turns.
    pub fn commands(&self, player: PlayerId) -> u32 {
        self.members.get(&player).map_or(0, |member| member.commands)
    }

    fn note_number(&mut self, player: PlayerId) {
        self.fresh = self.fresh.max(player.0.saturating_add(1));
    }

    /// The lowest number that nobody had, nor any higher one.
    pub fn fresh(&self) -> u16 {
        self.fresh
    }

    /// A number for another player: one that nobody had yet, if there is one.
    pub fn number(&self) -> Option<PlayerId> {
        let fresh = Some(PlayerId(self.fresh)).filter(|player| player.0 < u16::MAX);
        fresh.or_else(|| self.freed().next())
    }

    /// The numbers that were given and are nobody's now.
    pub fn freed(&self) -> impl Iterator<Item = PlayerId> {
        (1..self.fresh).map(PlayerId).filter(|player| !self.members.contains_key(player))
    }

    /// What a turn says of a player that is gone: that it is away, if it may come back and the
    /// simulation keeps its hero so long, else that it leaves. Without a key it is known again by
    /// its connection alone.
    pub fn departure(
        &self,
        player: PlayerId,
        key: Option<PublicKey>,
        reason: LeaveReason,
        away_ticks: u32,
    ) -> RawInput {
        let returns = reason.may_return() && (reason != LeaveReason::Lost || key.is_some());
        match returns && away_ticks > 0 && self.members.contains_key(&player) {
            true => RawInput::Away(player, reason),
            false => RawInput::Leave(player, reason),
        }
    }

    /// The members who were away for too long at a tick, of those who are not on their way in.
    pub fn overdue(&self, tick: Tick, away_ticks: u32, is_absent: impl Fn(PlayerId) -> bool) -> Vec<PlayerId> {
        let away = self.away().filter(|(_, since)| tick.since(*since) >= away_ticks);
        away.map(|(player, _)| player).filter(|player| is_absent(*player)).collect()
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

    /// The member that a peer may be, of those who are neither here nor on their way in: the one
    /// that has the peer's key; without one, the one that it was on the same connection.
    pub fn absent(
        &self,
        peer: PeerId,
        key: Option<PublicKey>,
        is_absent: impl Fn(PlayerId) -> bool,
    ) -> Option<PlayerId> {
        let is_theirs = |member: &Member| if key.is_some() { member.key == key } else { member.peer == peer };
        let mut members = self.members.iter();
        members.find(|(player, member)| is_absent(**player) && is_theirs(member)).map(|(player, _)| *player)
    }
}

impl<const MEMBERS_MAX: usize> From<Packed<MEMBERS_MAX>> for Ledger {
    fn from(packed: Packed<MEMBERS_MAX>) -> Ledger {
        let Packed { members, electorates, fresh, requests, branch, since, outlawed } = packed;
        let (members, requests) = (members.into_vec().into_iter().collect(), Requests::new(requests.into_vec()));
        Ledger { members, electorates, branch, since, fresh, requests, outlawed: outlawed.into_vec() }
    }
}
