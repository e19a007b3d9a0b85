//! A relay session of storm worlds, watched by a world of its own that is stepped by the relay's turns: what every replica must equal.

use core::time::Duration;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use lockstone_net::PeerId;
use lockstone_net::memory::{Driver, MemoryNetwork, Seat, Weather};
use lockstone_net::relay::{Relay, RelayConfig, RelaySettings, Replica};
use lockstone_net::session::{Event, Phase, Session, Transmit};
use lockstone_sim::world::CellState;
use lockstone_sim::{CellId, PlayerId, Simulation, Tick, Turn, Vec2};

use crate::freezer::{Freezer, Switch};
use crate::storm::{self, Storm, StormWorld};
use crate::support::tap::{Hand, Tap};
use crate::support::*;

pub type Peer = Box<dyn Session<Sim = StormWorld>>;

/// What the relay sent, in order.
pub type Sent = Rc<RefCell<Vec<Transmit>>>;

/// What happens to a packet that is about to leave a replica.
pub type Replies = Rc<RefCell<BTreeMap<PeerId, Hand>>>;

/// The whole world at one tick.
pub struct Moment {
    pub cells: BTreeMap<CellId, CellState<Storm>>,
    pub heroes: BTreeMap<PlayerId, Vec2>,
}

/// A relay, its replicas, and what the world was at each tick.
pub struct Scene {
    pub driver: Driver<Peer>,
    pub dice: Dice,
    pub sent: Sent,
    /// What happens to packets of the relay after that.
    pub hand: Rc<RefCell<Hand>>,
    /// What happens to packets of replicas.
    pub replies: Replies,
    /// A seat that may differ.
    pub odd: Option<usize>,
    /// Nobody is compared.
    pub blind: bool,
    pub weather: storm::Weather,
    settings: RelaySettings,
    world: StormWorld,
    turns: BTreeMap<Tick, Turn<StormWorld>>,
    pub moments: BTreeMap<Tick, Moment>,
    /// How far each replica has been compared.
    seen: BTreeMap<PeerId, Tick>,
    pub cells_compared: u64,
    pub ticks_compared: u64,
    /// What the relay told beside turns.
    pub told: Vec<Event<StormWorld>>,
    pub names: u32,
    /// The switches by which replicas stand still.
    pub frozen: BTreeMap<PeerId, Switch>,
}

impl Scene {
    pub fn new(seed: u64, storm: storm::Weather, settings: RelaySettings, weather: Weather) -> Scene {
        Scene::lacking(0, seed, storm, settings, weather)
    }

    /// A scene whose relay holds so many rings of halo back.
    pub fn lacking(
        halo_rings: u16,
        seed: u64,
        storm: storm::Weather,
        settings: RelaySettings,
        weather: Weather,
    ) -> Scene {
        let settings = RelaySettings { seed: storm.seed, ..settings };
        let mut driver: Driver<Peer> = Driver::new(MemoryNetwork::hub(seed, weather));
        let config = RelayConfig::new(settings.clone()).expect("the settings are in range");
        let config = config.with_halo_rings_less(halo_rings);
        let (sent, relay) = (Sent::default(), Relay::dedicated(config, IDENTITY, build(storm)));
        let (kept, hand) = (sent.clone(), Rc::new(RefCell::new(Box::new(Some) as Hand)));
        let passed = hand.clone();
        driver.enter(Box::new(Tap::new(relay, move |packet: Transmit| {
            kept.borrow_mut().push(packet.clone());
            passed.borrow_mut()(packet)
        })));
        Scene {
            driver,
            dice: Dice(seed),
            sent,
            hand,
            replies: Rc::default(),
            odd: None,
            blind: false,
            weather: storm,
            settings,
            world: storm.world(),
            turns: BTreeMap::new(),
            moments: BTreeMap::new(),
            seen: BTreeMap::new(),
            cells_compared: 0,
            ticks_compared: 0,
            told: Vec::new(),
            names: 0,
            frozen: BTreeMap::new(),
        }
    }

    /// A replica enters. Returns its seat.
    pub fn enter(&mut self) -> usize {
        let config = RelayConfig::new(self.settings.clone()).expect("the settings are in range");
        self.names += 1;
        let replica = Replica::new(config, IDENTITY, &format!("player {}", self.names), (), build(self.weather));
        let (replica, frozen) = (replica.expect("the name is fine"), Switch::default());
        let (replies, me) = (self.replies.clone(), Rc::new(Cell::new(None)));
        let entered = me.clone();
        let tap = Tap::new(Freezer::new(replica, frozen.clone()), move |packet| {
            let mut replies = replies.borrow_mut();
            let reply = me.get().and_then(|me| replies.get_mut(&me));
            match reply {
                Some(reply) => reply(packet),
                None => Some(packet),
            }
        });
        let seat = self.driver.enter(Box::new(tap));
        entered.set(Some(self.driver.peer(seat)));
        self.frozen.insert(self.driver.peer(seat), frozen);
        seat
    }

    /// So many replicas enter.
    pub fn enter_many(&mut self, replicas: usize) {
        for _ in 0..replicas {
            self.enter();
        }
    }

    /// Runs until a time, and compares every replica with the whole world at every tick that it has played.
    pub fn run_until(&mut self, end: Duration) {
        while self.driver.now() < end {
            let mut before = None;
            let until = self.driver.now() + ms(10);
            self.driver.run_while(until.min(end), |driver| {
                let tick = |seat: &Seat<Peer>| seat.session.simulation().map(Simulation::tick);
                let ticks: Vec<_> = driver.seats.iter().map(tick).collect();
                let go_on = before.as_ref().is_none_or(|before| *before == ticks);
                before.get_or_insert(ticks);
                go_on
            });
            self.watch();
        }
    }

    /// Lets players do something, so many of 1,000 in each tick, for a time.
    pub fn play(&mut self, time: Duration, permille: u64) {
        let end = self.driver.now() + time;
        while self.driver.now() < end {
            let until = self.driver.now() + ms(50);
            self.run_until(until);
            for seat in 1..self.driver.seats.len() {
                if self.dice.roll(1_000) < permille {
                    let tiles = u64::from(self.weather.cells) << self.weather.cell_log2;
                    let to = (self.dice.roll(tiles) as u16, self.dice.roll(tiles) as u16);
                    let _ = self.driver.seats[seat].session.command(to);
                }
            }
        }
    }

    /// Every hero is told to stay where it is.
    pub fn halt(&mut self) {
        for seat in &mut self.driver.seats[1..] {
            let player = seat.session.stats().player.expect("it was let in");
            let Some(hero) = seat.session.simulation().and_then(|world| world.hero(player)) else { continue };
            let tile = |along: lockstone_sim::Fx| (along.to_bits() >> 12) as u16;
            let _ = seat.session.command((tile(hero.pos.x), tile(hero.pos.y)));
        }
        let until = self.driver.now() + secs(1);
        self.run_until(until);
    }

    fn watch(&mut self) {
        let relay = &mut self.driver.seats[0];
        for event in relay.events.drain(..) {
            match event {
                Event::Turn { tick, turn } => {
                    self.turns.insert(tick, turn);
                }
                Event::Checksum { .. } => {}
                Event::Desync { player, tick, .. } if self.odd.is_none() && !self.blind => {
                    panic!("{player} differs at {tick}")
                }
                other => self.told.push(other),
            }
        }
        let open = relay.session.stats().tick;
        if self.moments.is_empty() {
            self.moments.insert(self.world.tick(), Moment::of(&self.world));
        }
        while self.world.tick() < open {
            self.world.step(&self.turns.remove(&self.world.tick()).unwrap_or_default());
            self.moments.insert(self.world.tick(), Moment::of(&self.world));
        }
        for (n, seat) in self.driver.seats.iter().enumerate().skip(1) {
            let Some(world) = seat.session.simulation().filter(|_| !self.blind && self.odd != Some(n)) else {
                continue;
            };
            let (peer, tick) = (seat.link.peer(), world.tick());
            if self.seen.insert(peer, tick) != Some(tick) {
                self.ticks_compared += 1;
                let moment = &self.moments[&tick];
                self.cells_compared += moment.compare(world, n);
            }
        }
    }

    /// How many replicas play.
    pub fn playing(&self) -> usize {
        self.driver.seats.iter().skip(1).filter(|seat| plays(&seat.session)).count()
    }
}

pub fn plays(session: &Peer) -> bool {
    session.phase() == Phase::Playing && session.stats().players.iter().any(|player| player.own)
}

fn build(weather: storm::Weather) -> impl Fn(u64) -> StormWorld + 'static {
    move |_| weather.world()
}

impl Moment {
    fn of(world: &StormWorld) -> Moment {
        let cells = world.cells().filter_map(|cell| Some((cell, world.cell_state(cell)?))).collect();
        let heroes = world.players().filter_map(|player| Some((player, world.hero(player)?.pos))).collect();
        Moment { cells, heroes }
    }

    /// All that a replica knows is as it is. Returns how many cells of its core were compared.
    fn compare(&self, part: &StormWorld, seat: usize) -> u64 {
        let tick = part.tick();
        let known: BTreeSet<CellId> = part.area().core().chain(part.area().halo()).collect();
        for cell in &known {
            let (ours, theirs) = (self.cells.get(cell), part.cell_state(*cell));
            let role = part.area().role(*cell);
            assert!(ours == theirs.as_ref(), "seat {seat}, {role:?} {cell} at {tick}: another state");
        }
        for cell in part.cells() {
            assert!(known.contains(&cell), "seat {seat} knows {cell} at {tick}");
        }
        part.area().core().count() as u64
    }
}
