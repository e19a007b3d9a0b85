//! The processes of a relay: the one that leads, its standby, and those that are started again.
//!
//! What each of them was told is kept, as a recording has it, so that another can go on from it.
//! Here is nothing of how they decide who leads.

use std::collections::BTreeMap;

use lockstone_net::session::{Continuation, Event};
use lockstone_net::wire::{LeaveReason, PublicKey};
use lockstone_sim::{PlayerId, Simulation, Tick, Turn};

use super::schedule::SeatId;

/// What a relay's process begins with.
pub(super) enum Origin<S: Simulation> {
    /// It follows the relay that there is.
    Standby,
    /// It goes on from what was recorded.
    Recorded(Box<Continuation<S>>),
}

/// What makes the processes of a relay, and what they have recorded.
pub(super) struct Hosts<'h, S: Simulation, H> {
    pub make: &'h dyn Fn(Origin<S>) -> H,
    pub build: fn(u64) -> S,
    pub logs: BTreeMap<SeatId, Log<S>>,
}

/// A turn that was played, who came with it, by which key, and who left, and why.
struct Played<S: Simulation> {
    turn: Turn<S>,
    members: Vec<(PlayerId, Option<PublicKey>)>,
    leavers: Vec<(PlayerId, LeaveReason)>,
}

/// What a process recorded since it loaded its world last.
pub(super) struct Log<S: Simulation> {
    seed: u64,
    start: Tick,
    snapshot: Vec<u8>,
    ledger: Vec<u8>,
    /// Those that were not empty.
    turns: BTreeMap<Tick, Played<S>>,
    /// The tick that would have been next.
    end: Tick,
}

impl<S: Simulation, H> Hosts<'_, S, H> {
    /// A process is told something.
    pub fn hear(&mut self, seat: SeatId, event: &Event<S>) {
        if let Event::Started { seed, tick, snapshot, .. } = event {
            let (start, snapshot) = (*tick, snapshot.clone());
            let log = Log { seed: *seed, start, snapshot, ledger: Vec::new(), turns: BTreeMap::new(), end: start };
            self.logs.insert(seat, log);
        }
        let Some(log) = self.logs.get_mut(&seat) else { return };
        match event {
            Event::Ledger { tick, ledger } if *tick == log.start => log.ledger.clone_from(ledger),
            Event::Turn { tick, turn } => {
                let played = Played { turn: turn.clone(), members: Vec::new(), leavers: Vec::new() };
                log.turns.insert(*tick, played);
            }
            Event::Member { player, key } => {
                let newest = log.turns.values_mut().next_back();
                newest.into_iter().for_each(|played| played.members.push((*player, *key)));
            }
            Event::PlayerLeft { player, reason } => {
                let newest = log.turns.values_mut().next_back();
                newest.into_iter().for_each(|played| played.leavers.push((*player, *reason)));
            }
            Event::Checksum { tick, .. } => log.end = *tick,
            _ => {}
        }
    }

    /// A process that goes on from what another recorded, but for so many of its last ticks.
    pub fn resume(&self, from: SeatId, lost_ticks: u32) -> Option<H> {
        let log = self.logs.get(&from)?;
        let mut world = (self.build)(log.seed);
        world.restore_from(&log.snapshot).ok()?;
        let mut session = Continuation::new(log.seed, world, &log.ledger).ok()?;
        let end = log.end.0.saturating_sub(lost_ticks).max(log.start.0);
        for tick in (log.start.0..end).map(Tick) {
            let Some(Played { turn, members, leavers }) = log.turns.get(&tick) else {
                session.play(&Turn::EMPTY);
                continue;
            };
            session.play(turn);
            members.iter().for_each(|(player, key)| session.member(*player, *key));
            leavers.iter().for_each(|(player, reason)| session.left(*player, *reason));
        }
        Some((self.make)(Origin::Recorded(Box::new(session))))
    }
}
