//! What a session told one of its peers, as a recording has it: what another session goes on from.

use std::collections::BTreeMap;

use lockstone_net::session::{Continuation, Event};
use lockstone_net::wire::PublicKey;
use lockstone_sim::{PlayerId, Simulation, Tick, Turn};

/// Since a peer loaded its world last.
pub struct Log<S: Simulation> {
    seed: u64,
    /// The tick of the world with which it begins.
    pub start: Tick,
    snapshot: Vec<u8>,
    ledger: Option<Vec<u8>>,
    pub turns: BTreeMap<Tick, Turn<S>>,
    /// Who came with the turn of a tick, and by which key they are known.
    members: BTreeMap<Tick, Vec<(PlayerId, Option<PublicKey>)>>,
    /// The tick that would have been next.
    pub end: Tick,
    newest: Tick,
}

impl<S: Simulation> Default for Log<S> {
    fn default() -> Self {
        Log {
            seed: 0,
            start: Tick(0),
            snapshot: Vec::new(),
            ledger: None,
            turns: BTreeMap::new(),
            members: BTreeMap::new(),
            end: Tick(0),
            newest: Tick(0),
        }
    }
}

impl<S: Simulation> Log<S> {
    /// Of a peer that was in the session.
    pub fn of(events: &[Event<S>]) -> Log<S> {
        let mut log = Log::default();
        events.iter().for_each(|event| log.hear(event));
        log
    }

    /// The peer is told something.
    pub fn hear(&mut self, event: &Event<S>) {
        match event {
            Event::Started { seed, tick, snapshot, .. } => {
                let (start, snapshot) = (*tick, snapshot.clone());
                *self = Log { seed: *seed, start, snapshot, end: start, newest: start, ..Log::default() };
            }
            Event::Ledger { tick, ledger } if *tick == self.start => self.ledger = Some(ledger.clone()),
            Event::Turn { tick, turn } => {
                self.newest = *tick;
                self.turns.insert(*tick, turn.clone());
            }
            Event::Member { player, key } => self.members.entry(self.newest).or_default().push((*player, *key)),
            Event::Checksum { tick, .. } => self.end = *tick,
            _ => {}
        }
    }

    /// The session at a tick, in a world that `build` makes of a seed.
    pub fn at(&self, end: Tick, build: impl FnOnce(u64) -> S) -> Continuation<S> {
        let mut session = self.begin(build);
        for tick in (self.start.0..end.0).map(Tick) {
            session.play(self.turns.get(&tick).unwrap_or(&Turn::EMPTY));
            let members = self.members.get(&tick).into_iter().flatten();
            members.for_each(|(player, key)| session.member(*player, *key));
        }
        session
    }

    /// The world of a tick.
    pub fn world(&self, end: Tick, build: impl Fn(u64) -> S) -> S {
        let (mut world, snapshot) = (build(self.seed), self.at(end, &build).simulation().encoded());
        world.restore_from(&snapshot).expect("it was just encoded");
        world
    }

    /// The world of a tick, but all that goes with it as it was at the start: no way to go on.
    pub fn world_at(&self, end: Tick, build: impl Fn(u64) -> S) -> Continuation<S> {
        Continuation::new(self.seed, self.world(end, build), self.ledger()).expect("it was told")
    }

    fn ledger(&self) -> &[u8] {
        self.ledger.as_ref().expect("it has begun")
    }

    fn begin(&self, build: impl FnOnce(u64) -> S) -> Continuation<S> {
        let mut world = build(self.seed);
        world.restore_from(&self.snapshot).expect("it was told");
        Continuation::new(self.seed, world, self.ledger()).expect("it was told")
    }
}
