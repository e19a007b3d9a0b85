//! A relay session of storm worlds, watched by a world of its own that is stepped by the relay's
//! turns: what every replica must equal.

use core::time::Duration;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use lockstone_net::memory::{Driver, MemoryNetwork, Seat, Weather};
use lockstone_net::relay::{Relay, RelayConfig, RelaySettings, Replica};
use lockstone_net::session::{Event, Session, Stats, Transmit};
use lockstone_net::{PeerId, PlayerKey};
use lockstone_sim::world::CellState;
use lockstone_sim::{CellId, Fx, PlayerId, Simulation, Tick, Turn, Vec2, codec};

use crate::sessions::log::Log;
use crate::sessions::tap::Tap;
use crate::sessions::*;
use crate::storm::{self, Storm, StormWorld};

/// A relay of storms and its replicas, whose packets pass through hands.
pub type Room = Driver<Replica<Storm>, Tap, Relay<Storm>>;
/// A replica and its end of the network.
pub type Place = Seat<Replica<Storm>, Tap>;

/// A wide world, in which areas move.
pub const STORM: storm::Weather =
    storm::Weather { seed: 5, cells: 40, cell_log2: 3, reach: Fx::int(6), stride: Fx::ONE, light: 3, players: 40 };

/// Settings that are in range.
pub fn config(settings: RelaySettings) -> RelayConfig {
    RelayConfig::new(settings).expect("the settings are in range")
}

/// A relay of a storm.
pub fn relay(storm: storm::Weather, config: RelayConfig) -> Relay<Storm> {
    Relay::dedicated(config, IDENTITY, move |_| storm.world())
}

/// By which a relay knows its standby.
pub fn standby_key() -> PlayerKey {
    PlayerKey::from_bytes([255; 32])
}

/// One of its replicas.
pub fn replica(storm: storm::Weather, config: RelayConfig, name: &str) -> Replica<Storm> {
    Replica::new(config, IDENTITY, name, (), move |_| storm.world()).expect("the name is fine")
}

/// What the relay sent, in order.
pub type Sent = Rc<RefCell<Vec<Transmit>>>;

/// The whole world at one tick.
pub struct Moment {
    pub cells: BTreeMap<CellId, CellState<Storm>>,
    pub heroes: BTreeMap<PlayerId, Vec2>,
}

/// A relay, its replicas, and what the world was at each tick.
pub struct Scene {
    pub driver: Room,
    pub dice: Dice,
    pub sent: Sent,
    /// A seat that may differ.
    pub odd: Option<usize>,
    /// Nobody is compared.
    pub blind: bool,
    pub weather: storm::Weather,
    config: RelayConfig,
    world: StormWorld,
    turns: BTreeMap<Tick, Turn<StormWorld>>,
    pub moments: BTreeMap<Tick, Moment>,
    /// How far each replica has been compared.
    seen: BTreeMap<PeerId, Tick>,
    pub cells_compared: u64,
    pub ticks_compared: u64,
    /// What the relay recorded.
    pub log: Log<StormWorld>,
    /// Whether who enters has a key of its own.
    pub keyed: bool,
    /// What the relay told beside turns.
    pub told: Vec<Event<StormWorld>>,
    /// What the standby told, and what it sent.
    standby: (Vec<Event<StormWorld>>, Sent),
    entered: usize,
    /// The numbers of the replicas' seats that are taken: nobody else will ever have them.
    numbers: Vec<usize>,
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
        let config = config(RelaySettings { seed: storm.seed, ..settings });
        let relay = relay(storm, config.clone()).with_halo_rings_less(halo_rings);
        Scene::of(relay, config, seed, storm, weather)
    }

    /// A scene whose relay may have a standby.
    pub fn with_standby(seed: u64, storm: storm::Weather, settings: RelaySettings, weather: Weather) -> Scene {
        Scene::with_standby_of(seed, storm, settings, weather, |relay| relay)
    }

    /// The same, of a relay of a special kind.
    pub fn with_standby_of(
        seed: u64,
        storm: storm::Weather,
        settings: RelaySettings,
        weather: Weather,
        special: impl FnOnce(Relay<Storm>) -> Relay<Storm>,
    ) -> Scene {
        let config = config(RelaySettings { seed: storm.seed, ..settings });
        let relay = special(relay(storm, config.clone()).with_standby(standby_key().public()));
        let mut scene = Scene::of(relay, config, seed, storm, weather);
        scene.enter_standby();
        scene
    }

    fn of(relay: Relay<Storm>, config: RelayConfig, seed: u64, storm: storm::Weather, weather: Weather) -> Scene {
        let sent = Sent::default();
        let kept = sent.clone();
        let network = MemoryNetwork::hub(seed, weather);
        let driver = Room::with_hub(network, relay, |link| {
            Tap::new(link, move |packet: Transmit| {
                kept.borrow_mut().push(packet.clone());
                Some(packet)
            })
        });
        Scene {
            driver,
            dice: Dice(seed),
            sent,
            odd: None,
            blind: false,
            weather: storm,
            config,
            world: storm.world(),
            turns: BTreeMap::new(),
            moments: BTreeMap::new(),
            seen: BTreeMap::new(),
            cells_compared: 0,
            ticks_compared: 0,
            log: Log::default(),
            keyed: false,
            told: Vec::new(),
            standby: Default::default(),
            entered: 0,
            numbers: Vec::new(),
        }
    }

    /// A replica enters. Returns its seat: the relay's is 0.
    pub fn enter(&mut self) -> usize {
        self.enter_again((self.entered as u8).wrapping_add(1))
    }

    /// A replica enters with the key of one that did before, if they have keys.
    pub fn enter_again(&mut self, key: u8) -> usize {
        self.entered += 1;
        let replica = replica(self.weather, self.config.clone(), &format!("player {key}"));
        let replica = if self.keyed { replica.with_key(PlayerKey::from_bytes([key; 32])) } else { replica };
        self.driver.enter_by(replica, Tap::idle);
        self.numbers.push(self.entered);
        self.entered
    }

    /// What happens from now on to the packets that a seat sends: 0 is the relay's, of which then
    /// none is kept.
    pub fn meddle(&mut self, seat: usize, hand: impl FnMut(Transmit) -> Option<Transmit> + 'static) {
        let link = if seat == 0 { &mut self.driver.hub_mut().link } else { &mut self.seat_mut(seat).link };
        link.set(hand);
    }

    /// The relay's process is gone. Nobody is compared until it is back.
    pub fn kill_relay(&mut self) {
        let relay = self.peer(0);
        self.driver.network.drop_peer(relay);
        self.driver.hub_mut().freeze(Duration::MAX);
        self.blind = true;
    }

    /// A relay goes on from what was recorded before a tick. Returns what was lost.
    pub fn resume_relay(&mut self, cut: Tick) -> BTreeMap<Tick, Turn<StormWorld>> {
        let storm = self.weather;
        let session = self.log.at(cut, |_| storm.world());
        self.world = self.log.world(cut, |_| storm.world());
        let lost = self.log.turns.split_off(&cut);
        self.turns.clear();
        self.moments.clear();
        self.seen.clear();
        let relay = relay(storm, self.config.clone()).continuing(session);
        let kept = self.sent.clone();
        self.driver.replace_hub(relay, |link| {
            Tap::new(link, move |packet: Transmit| {
                kept.borrow_mut().push(packet.clone());
                Some(packet)
            })
        });
        self.blind = false;
        lost
    }

    /// A standby enters, in the place of one that did before.
    pub fn enter_standby(&mut self) {
        self.enter_standby_by(standby_key());
    }

    /// The same with that key.
    pub fn enter_standby_by(&mut self, key: PlayerKey) {
        let (storm, config) = (self.weather, self.config.clone());
        let standby = Relay::standby(config, IDENTITY, key, move |_| storm.world());
        self.standby = Default::default();
        let kept = self.standby.1.clone();
        self.driver.enter_beside_hub(standby, |link| {
            Tap::new(link, move |packet: Transmit| {
                kept.borrow_mut().push(packet.clone());
                Some(packet)
            })
        });
    }

    /// The old relay's process is back, as another leads, and goes on from its recording.
    pub fn resume_late_relay(&mut self, log: &Log<StormWorld>, cut: Tick) {
        let storm = self.weather;
        let session = log.at(cut, |_| storm.world());
        let late = relay(storm, self.config.clone()).continuing(session).with_standby(standby_key().public());
        // It has the hub's place in the network, which is beside the new relay's here.
        self.driver.swap_hubs();
        self.driver.replace_hub(late, Tap::idle);
        self.driver.swap_hubs();
    }

    /// Whether the standby leads.
    pub fn standby_leads(&self) -> bool {
        let standby = self.driver.beside_hub();
        standby.is_some_and(|standby| standby.session.stats().relay.is_some())
    }

    /// The standby, which leads, takes the relay's place: everyone is compared with its world from
    /// now on. Of what both have played all is the same. Returns what the old relay recorded.
    pub fn follow_standby(&mut self) -> Log<StormWorld> {
        self.watch();
        let (events, sent) = core::mem::take(&mut self.standby);
        let log = Log::of(&events);
        assert!(self.log.end <= log.end, "the relay played until {}, its standby until {}", self.log.end, log.end);
        let inputs = |turn: &Turn<StormWorld>| codec::compact(&turn.inputs);
        for (tick, turn) in self.log.turns.range(log.start..) {
            assert_eq!(Some(inputs(turn)), log.turns.get(tick).map(inputs), "two histories at {tick}");
        }
        self.turns = log.turns.range(self.world.tick()..).map(|(tick, turn)| (*tick, turn.clone())).collect();
        self.sent = sent;
        self.driver.swap_hubs();
        self.blind = false;
        core::mem::replace(&mut self.log, log)
    }

    /// Who sits on a replica's seat.
    pub fn seat(&self, seat: usize) -> &Place {
        &self.driver.seats[self.index(seat)]
    }

    /// Who sits on a replica's seat, to do something with.
    pub fn seat_mut(&mut self, seat: usize) -> &mut Place {
        let index = self.index(seat);
        &mut self.driver.seats[index]
    }

    fn index(&self, seat: usize) -> usize {
        self.numbers.iter().position(|number| *number == seat).expect("it is there")
    }

    /// The replicas that are there, with their seats.
    pub fn seats(&self) -> impl Iterator<Item = (usize, &Place)> {
        self.numbers.iter().copied().zip(&self.driver.seats)
    }

    /// The numbers of their seats.
    pub fn numbers(&self) -> Vec<usize> {
        self.numbers.clone()
    }

    /// A replica's link is gone.
    pub fn remove(&mut self, seat: usize) {
        let index = self.index(seat);
        self.numbers.remove(index);
        self.driver.seats.remove(index);
    }

    /// Who sits on a seat, to the network: 0 is the relay's.
    pub fn peer(&self, seat: usize) -> PeerId {
        if seat == 0 { self.driver.hub().peer } else { self.seat(seat).peer }
    }

    /// The relay.
    pub fn relay(&self) -> &Relay<Storm> {
        &self.driver.hub().session
    }

    /// The relay's figures.
    pub fn stats(&self) -> Stats {
        self.relay().stats()
    }

    /// So many replicas enter.
    pub fn enter_many(&mut self, replicas: usize) {
        for _ in 0..replicas {
            self.enter();
        }
    }

    /// Runs until a time, and compares every replica with the whole world at every tick that it has
    /// played.
    pub fn run_until(&mut self, end: Duration) {
        while self.driver.now() < end {
            let mut before = None;
            let until = self.driver.now() + ms(10);
            self.driver.run_while(until.min(end), |driver| {
                let tick = |world: Option<&StormWorld>| world.map(Simulation::tick);
                let replicas = driver.seats.iter().map(|seat| tick(seat.session.confirmed()));
                let ticks: Vec<_> = replicas.chain([tick(driver.hub().session.confirmed())]).collect();
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
            for seat in self.numbers() {
                if self.dice.roll(1_000) < permille {
                    self.wander(seat);
                }
            }
        }
    }

    /// A hero is sent somewhere.
    pub fn wander(&mut self, seat: usize) {
        let mut along = || self.dice.roll(self.weather.tiles().into()) as u16;
        let to = (along(), along());
        let _ = self.seat_mut(seat).session.command(to);
    }

    fn watch(&mut self) {
        self.standby.0.extend(self.driver.beside_hub_mut().iter_mut().flat_map(|standby| standby.events.drain(..)));
        let relay = self.driver.hub_mut();
        for event in relay.events.drain(..) {
            self.log.hear(&event);
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
        for (n, seat) in self.numbers.iter().copied().zip(&self.driver.seats) {
            let Some(world) = seat.session.confirmed().filter(|_| !self.blind && self.odd != Some(n)) else {
                continue;
            };
            let (peer, tick) = (seat.peer, world.tick());
            if self.seen.insert(peer, tick) != Some(tick) {
                self.ticks_compared += 1;
                let moment = &self.moments[&tick];
                self.cells_compared += moment.compare(world, n);
            }
        }
    }

    /// How many replicas play.
    pub fn playing(&self) -> usize {
        self.seats().filter(|(_, seat)| playing(&seat.session)).count()
    }
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
            let role = part.area().zone(*cell);
            assert!(ours == theirs.as_ref(), "seat {seat}, {role:?} {cell} at {tick}: another state");
        }
        for cell in part.cells() {
            assert!(known.contains(&cell), "seat {seat} knows {cell} at {tick}");
        }
        part.area().core().count() as u64
    }
}
