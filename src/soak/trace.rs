//! What a run came to: what each peer was told, when it played, what its player did. Two runs of
//! one schedule have equal traces.

use std::collections::BTreeMap;
use std::mem::discriminant;

use lockstone_net::memory::Carried;
use lockstone_net::session::{DropReason, EndReason, Event, Phase, Stats};
use lockstone_net::wire::Branch;
use lockstone_sim::{Checksum, Input, PlayerId, Simulation, Tick, Turn, codec};
use xxhash_rust::xxh3::xxh3_64;

use super::schedule::{Kind, SeatId};

/// Between two looks at a peer, in milliseconds.
pub const LOOK_MS: u32 = 50;

/// One run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// The peers, by seat.
    pub lives: BTreeMap<SeatId, Life>,
    /// When the run ended, in milliseconds.
    pub end_ms: u32,
    /// What the network carried.
    pub carried: Carried,
    /// Of a relay's replicas: cells of cores that were compared with the whole world, each at each
    /// tick, and what is wrong with them: the first that differs, or cells beyond halos.
    pub cores: Option<(u64, Option<String>)>,
}

/// One peer's part, from its entry to its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Life {
    /// When it entered.
    pub entered_ms: u32,
    /// When its part was over, if it was before the run.
    pub gone_ms: Option<u32>,
    /// When the room knew: the carrier may take its time.
    pub in_room_until_ms: Option<u32>,
    /// Why its session ended, if it did.
    pub end: Option<EndReason>,
    /// What it played: a world that was loaded anew begins another.
    pub segments: Vec<Segment>,
    /// What its player was seen to do at each look since its entry.
    pub looks: Vec<Look>,
    /// When the first of these was.
    pub looked_at_ms: u32,
    /// Commands that were taken of its player: by when, and a digest of each.
    pub given: Vec<(u32, u64)>,
    /// What its world was seen to ask for, by the tick before which it did: a digest of each
    /// request.
    pub asked: BTreeMap<Tick, Vec<u64>>,
    /// Differences that its session found.
    pub desyncs: u64,
    /// Each of those that it told: when, with whom, and at which tick.
    pub differences: Vec<(u32, PlayerId, Tick)>,
    /// Leaders that it came to distrust, and when.
    pub distrusted: Vec<(u32, PlayerId)>,
    /// Commands that were never acknowledged.
    pub pending: usize,
    /// What it dropped.
    pub drops: Vec<(DropReason, u64)>,
    /// Who led, each time that another did, as it saw it, and since when.
    pub leaders: Vec<(u32, PlayerId)>,
    /// What it did, each time that it began something else, and since when.
    pub phases: Vec<(u32, Phase)>,
}

/// How far a peer was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Whether its hero was in the world, and nothing was undecided.
    pub plays: bool,
    /// The first tick that was not final.
    pub tick: Tick,
}

/// A world from its beginning, from a snapshot, or from where it left another history, until the
/// peer's end or the next of these.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// The peer's player.
    pub player: PlayerId,
    /// Which history it is of.
    pub branch: Branch,
    /// Whether it left the history of the segment before.
    pub leaves: bool,
    /// When the last of it was heard.
    pub until_ms: u32,
    /// The turns that were not empty.
    pub turns: BTreeMap<Tick, Told>,
    /// The checksum of the state before each turn.
    pub checksums: BTreeMap<Tick, Checksum>,
}

/// A turn that was played.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told {
    /// Of all of it.
    pub digest: u64,
    /// Whose hero entered.
    pub joined: Vec<PlayerId>,
    /// Whose player came back.
    pub back: Vec<PlayerId>,
    /// Whose hero is gone.
    pub left: Vec<PlayerId>,
    /// A digest of each command.
    pub commands: Vec<(PlayerId, u64)>,
    /// A digest of each request of the world.
    pub requests: Vec<u64>,
}

/// What a command is known by.
pub(super) fn digest(command: &impl serde::Serialize) -> u64 {
    xxh3_64(&codec::compact(command))
}

impl Told {
    fn of<S: Simulation>(turn: &Turn<S>) -> Told {
        let mut told = Told { digest: digest(turn), ..Told::default() };
        for input in &turn.inputs {
            match input {
                Input::Command(player, command) => told.commands.push((*player, digest(command))),
                Input::Join(player, _) => told.joined.push(*player),
                Input::Leave(player) => told.left.push(*player),
                Input::Back(player) => told.back.push(*player),
                Input::Request(request) => told.requests.push(digest(request)),
                Input::Given(_) | Input::Away(_) => {}
            }
        }
        told
    }
}

impl Trace {
    /// Who was there at a time.
    pub fn there_at(&self, at_ms: u32) -> impl Iterator<Item = SeatId> {
        let there = move |life: &Life| life.entered_ms <= at_ms && life.gone_ms.is_none_or(|gone_ms| at_ms <= gone_ms);
        self.lives.iter().filter(move |(_, life)| there(life)).map(|(seat, _)| *seat)
    }

    /// Whose hero was in the world at a time.
    pub fn plays_at(&self, at_ms: u32) -> impl Iterator<Item = SeatId> {
        let plays = move |seat: &SeatId| self.lives[seat].plays_from_ms().is_some_and(|from_ms| from_ms <= at_ms);
        self.there_at(at_ms).filter(plays)
    }

    /// The same by sessions. Whoever enters a room that nobody is left in founds another session.
    /// One of a relay goes on as long as it is started again.
    pub fn sessions(&self, kind: Kind) -> Vec<Trace> {
        if kind == Kind::Relay {
            return vec![self.clone()];
        }
        let mut sessions: Vec<Trace> = Vec::new();
        let mut lives: Vec<_> = self.lives.iter().collect();
        lives.sort_by_key(|(seat, life)| (life.entered_ms, **seat));
        for (seat, life) in lives {
            let is_there = |other: &Life| other.in_room_until_ms.is_none_or(|until_ms| until_ms >= life.entered_ms);
            let goes_on = sessions.last_mut().filter(|session| session.lives.values().any(is_there));
            let session = match goes_on {
                Some(session) => session,
                None => sessions.push_mut(Trace { lives: BTreeMap::new(), ..self.clone() }),
            };
            session.lives.insert(*seat, life.clone());
        }
        sessions
    }

    /// Where another run of the same schedule came out otherwise.
    pub fn parts_from(&self, other: &Trace) -> Option<String> {
        let (carried, theirs) = (self.carried, other.carried);
        let seat = self.lives.keys().find(|seat| self.lives.get(seat) != other.lives.get(seat));
        match seat {
            Some(seat) => Some(format!("played again, seat {seat} came out otherwise")),
            None if carried != theirs => Some(format!("played again, the network carried {theirs:?}, not {carried:?}")),
            None if self != other => Some("played again, it came out otherwise".to_owned()),
            None => None,
        }
    }
}

impl Life {
    /// A peer that enters.
    pub(super) fn new(entered_ms: u32) -> Life {
        Life { entered_ms, ..Life::default() }
    }

    /// Takes what its session told.
    pub(super) fn hear<S: Simulation>(&mut self, event: &Event<S>, now_ms: u32) {
        match event {
            Event::Started { player, .. } => {
                let (turns, checksums) = (BTreeMap::new(), BTreeMap::new());
                let (player, branch, leaves) = (*player, Branch::default(), false);
                self.segments.push(Segment { player, branch, leaves, until_ms: now_ms, turns, checksums });
            }
            Event::Branch { branch, leader } => {
                let Some(segment) = self.segments.last_mut() else { return };
                if leader.is_none() {
                    segment.branch = *branch;
                } else {
                    // With the turn that was told last.
                    let turns = segment.turns.pop_last().into_iter().collect();
                    let checksums = segment.checksums.last_key_value().map(|(tick, sum)| (*tick, *sum));
                    let checksums = checksums.into_iter().collect();
                    let next = Segment { branch: *branch, leaves: true, turns, checksums, ..*segment };
                    self.segments.push(next);
                }
            }
            Event::Turn { tick, turn } => {
                let told = Told::of(turn);
                self.segments.last_mut().map(|segment| segment.turns.insert(*tick, told));
            }
            Event::Checksum { tick, checksum, .. } => {
                if let Some(segment) = self.segments.last_mut() {
                    segment.checksums.insert(*tick, *checksum);
                    segment.until_ms = now_ms;
                }
            }
            Event::Desync { player, tick, .. } => self.differences.push((now_ms, *player, *tick)),
            Event::Distrusted { player, .. } => self.distrusted.push((now_ms, *player)),
            Event::Ended { reason, .. } => self.end = Some(reason.clone()),
            _ => {}
        }
    }

    /// Takes its figures.
    pub(super) fn look_at(&mut self, stats: &Stats, now_ms: u32) {
        self.desyncs = self.desyncs.max(stats.desyncs);
        self.pending = stats.commands_pending;
        self.drops = stats.drops.iter().collect();
        if let Some(leader) = stats.sequencer()
            && self.leaders.last().is_none_or(|(_, last)| *last != leader)
        {
            self.leaders.push((now_ms, leader));
        }
    }

    /// Takes how far it is.
    pub(super) fn saw(&mut self, phase: Phase, tick: Tick, now_ms: u32) {
        if self.looks.is_empty() {
            self.looked_at_ms = now_ms;
        }
        self.looks.push(Look { plays: phase == Phase::Playing, tick });
        let same = |(_, last): &(u32, Phase)| discriminant(last) == discriminant(&phase);
        if !self.phases.last().is_some_and(same) {
            self.phases.push((now_ms, phase));
        }
    }

    /// Takes what its world asks for. It may be a part that asks for less.
    pub(super) fn asks<S: Simulation>(&mut self, world: &S) {
        let requests: Vec<_> = world.requests().iter().map(digest).collect();
        // If it was farther before, that was in turns that it discarded.
        self.asked.split_off(&world.tick());
        if !requests.is_empty() {
            self.asked.insert(world.tick(), requests);
        }
    }

    /// How it was at a time.
    pub fn look(&self, at_ms: u32) -> Option<Look> {
        let since = at_ms.checked_sub(self.looked_at_ms)?;
        self.looks.get((since / LOOK_MS) as usize).copied()
    }

    /// When it was first seen beyond a tick.
    pub fn past_ms(&self, tick: Tick) -> Option<u32> {
        let first = self.looks.iter().position(|look| look.tick > tick)?;
        Some(self.looked_at_ms + first as u32 * LOOK_MS)
    }

    /// Its player, once it has one.
    pub fn player(&self) -> Option<PlayerId> {
        self.segments.last().map(|segment| segment.player)
    }

    /// When its hero was first seen in the world.
    pub fn plays_from_ms(&self) -> Option<u32> {
        let first = self.looks.iter().position(|look| look.plays)?;
        Some(self.looked_at_ms + first as u32 * LOOK_MS)
    }

    /// Whether it is there at the end of the run.
    pub fn lives(&self) -> bool {
        self.gone_ms.is_none()
    }
}

impl Segment {
    /// What is in it before a tick, with the state that was come to, and what from then on.
    pub(super) fn split(&self, at: Tick) -> (Segment, Segment) {
        let mut before = self.clone();
        let (turns, checksums) = (before.turns.split_off(&at), before.checksums.split_off(&at));
        before.checksums.extend(checksums.get_key_value(&at));
        (before, Segment { turns, checksums, ..*self })
    }

    /// The first tick that is in it, and the last.
    pub fn span(&self) -> Option<(Tick, Tick)> {
        Some((*self.checksums.first_key_value()?.0, *self.checksums.last_key_value()?.0))
    }
}
