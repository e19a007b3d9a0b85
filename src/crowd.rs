//! A crowd in one process: a relay and its replicas, each played by a bot, over a network in
//! memory, on virtual time.
//!
//! ```text
//! Driver: relay ◄─► replicas ◄─ bots        relay's turns ─► what flooding would cost
//!              └─► trees, by tick ─► verify    relay's cells ─► what state replication would cost
//! ```
//!
//! It answers what a world of so many players costs, before so many come. Everything but the
//! times that it measures depends on the options alone: the same options play the same game. The
//! loop is [`Crowd::run`].

mod alternatives;
mod clocked;
#[cfg(feature = "plots")]
mod plot;
mod process;
mod report;
mod survey;
mod verify;

#[cfg(feature = "plots")]
pub use plot::plot;
pub use process::Carrier;
pub use report::{Class, CrowdReport, Differing, Rate, Size, Spent, Verified};

use std::sync::Arc;
use std::time::Duration;

use lockstone_net::Session;
use lockstone_net::memory::{Driver, MemoryLink, MemoryNetwork, Seat, Weather};
use lockstone_net::relay::{Relay, RelayConfig, Replica};
use lockstone_net::session::{EndReason, Event, Phase, PlayerError};
use lockstone_net::wire::Identity;
use lockstone_sim::{PlayerId, Simulation, Table, Tick};

use crate::game::{Bot, Game, Layout, LayoutError, Wide};
use alternatives::{Alternatives, CELL_KEY_BYTES};
use clocked::{Clocked, Heard};
use report::Reading;
use survey::Survey;
pub(crate) use verify::Verifier;

/// All enter within so much virtual time, however many they are: crowds of different sizes then
/// have played for as long.
const ENTER_TIME: Duration = Duration::from_secs(20);
/// Each player says something once in so many ticks, not all at once.
const TALK_TICKS: u32 = 600;
/// Two players who came one after the other speak so many ticks apart.
const TALK_STAGGER_TICKS: u32 = 37;
/// What it says.
const TALK: &str = "On my way, wait for me at the gate.";
/// Until all are in the world, so long at most after the last has entered.
const GATHER_MAX: Duration = Duration::from_secs(60);

/// What is played.
#[derive(Clone, Debug)]
pub struct CrowdOptions {
    /// The world, and where its players begin. Each of its players is a replica.
    pub layout: Layout,
    /// How long it is played once all are there, in ticks.
    pub ticks: u32,
    /// Of the world, the network and what else is drawn.
    pub seed: u64,
    /// The network between relay and replicas.
    pub weather: Weather,
    /// The relay's settings; their seed and places are set here.
    pub relay: RelayConfig,
    /// So many rings of the halo that keeps a core exact are held back: for showing that `verify`
    /// finds it.
    #[cfg(feature = "checker")]
    pub halo_rings_less: u16,
    /// Whether every replica's core is compared with the relay's world, at every tick.
    pub verify: bool,
    /// Whether all play in the game's own world, as `relay` serves it, and not in one that is laid
    /// out for them.
    pub own_world: bool,
}

/// Why a crowd cannot be played.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CrowdError {
    /// The game has no such world.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The game has no heroes, or their names or encodings are too long.
    #[error("player {0} cannot bring a hero along: {1}")]
    Hero(u16, PlayerError),
    /// Not everyone came into the world.
    #[error(
        "{missing} of {players} players are not in the world {seconds} s after the last came; the first of them is {phase:?}"
    )]
    Gather {
        /// How many are not there.
        missing: usize,
        /// How many should be.
        players: usize,
        /// How long they had.
        seconds: u64,
        /// How far the first of them is.
        phase: Phase,
    },
    /// A replica's session ended.
    #[error("player {player} was lost at {tick}: {reason}")]
    Lost {
        /// Whose.
        player: u16,
        /// When.
        tick: Tick,
        /// Why.
        reason: EndReason,
    },
}

type Build<G> = Arc<dyn Fn(u64) -> <G as Game>::Sim + Send + Sync>;
type RelayOf<G> = Relay<<G as Wide>::Rules>;
type ReplicaOf<G> = Replica<<G as Wide>::Rules>;

/// A crowd that plays.
pub struct Crowd<G: Wide> {
    options: CrowdOptions,
    driver: Driver<ReplicaOf<G>, Clocked<MemoryLink>, RelayOf<G>>,
    identity: Identity,
    /// When all were there.
    gathered: Duration,
    /// Makes the relay as it was at the start.
    relay: Box<dyn Fn() -> RelayOf<G>>,
    bots: Vec<BotSeat<G>>,
    alternatives: Alternatives<G::Rules>,
    survey: Survey,
    verifier: Option<Verifier>,
}

struct BotSeat<G: Wide> {
    seat: usize,
    player: PlayerId,
    bot: Option<Box<dyn Bot<G::Sim>>>,
    saw: Tick,
}

impl<G: Wide> Crowd<G> {
    /// A relay without players yet.
    ///
    /// # Errors
    /// [`CrowdError`] if the game has no such world or heroes.
    pub fn new(options: CrowdOptions, table: &Table) -> Result<Crowd<G>, CrowdError> {
        let build = build::<G>(&options, table)?;
        let grid = *build(options.seed).grid();
        let network = MemoryNetwork::hub(options.seed, options.weather);
        // All are this very program.
        let identity = G::identity(table);
        let relay = {
            let (config, build) = (options.relay.clone(), build.clone());
            #[cfg(feature = "checker")]
            let halo_rings_less = options.halo_rings_less;
            move || {
                let build = build.clone();
                let relay = Relay::dedicated(config.clone(), identity, move |seed| build(seed));
                #[cfg(feature = "checker")]
                let relay = relay.with_halo_rings_less(halo_rings_less);
                relay.with_horizon(G::horizon())
            }
        };
        let mut driver = Driver::with_hub(network, relay(), |link| Clocked::new(link).remembering());
        driver.hub_mut().visit_by = clocked::visit;
        let heroes = G::HEROES.iter().cycle();
        let mut crowd = Crowd {
            alternatives: Alternatives::new(&options.relay),
            survey: Survey::default(),
            verifier: options.verify.then(|| Verifier::new(grid)),
            driver,
            relay: Box::new(relay),
            bots: Vec::new(),
            identity,
            gathered: Duration::ZERO,
            options,
        };
        for (n, class) in (0..crowd.options.layout.players).zip(heroes) {
            let name = format!("Bot-{}", n + 1);
            let Some(hero) = G::hero(class, &name) else { continue };
            let build = build.clone();
            let replica = Replica::new(crowd.options.relay.clone(), identity, &name, hero, move |seed| build(seed));
            let replica = replica.map_err(|error| CrowdError::Hero(n, error))?.with_horizon(G::horizon());
            crowd.driver.run_until(ENTER_TIME * u32::from(n) / u32::from(crowd.options.layout.players));
            let seat = crowd.driver.enter_by(replica, Clocked::new);
            crowd.driver.seats[seat].visit_by = clocked::visit;
            crowd.bots.push(BotSeat { seat, player: PlayerId(0), bot: None, saw: Tick(0) });
            crowd.attend()?;
        }
        Ok(crowd)
    }
}

impl<G: Wide> Crowd<G> {
    /// Plays, and tells what it cost. `watch` is told of each tick that was played, the gathering
    /// not counted.
    ///
    /// # Errors
    /// [`CrowdError`] if someone does not come into the world, or is lost.
    pub fn run(&mut self, mut watch: impl FnMut(u32)) -> Result<CrowdReport, CrowdError> {
        self.gather()?;
        self.gathered = self.driver.now();
        let before = self.reading();
        let (start, period) = (self.driver.now(), self.options.relay.period());
        for tick in 1..=self.options.ticks {
            self.driver.run_until(start + period * tick);
            self.attend()?;
            self.look();
            watch(tick);
        }
        let after = self.reading();
        Ok(self.report(&before, &after))
    }

    /// Counts what can be counted after a tick.
    fn look(&mut self) {
        let Some(whole) = self.driver.hub().session.simulation() else { return };
        self.survey.look_at_whole(whole);
        for (n, seat) in self.driver.seats.iter().enumerate() {
            let Some(part) = seat.session.confirmed() else { continue };
            self.survey.look_at_part(part);
            self.alternatives.part(n, part, whole);
        }
        self.alternatives.tick(whole);
    }

    /// What has been counted so far.
    fn reading(&mut self) -> Reading {
        let (network, hub) = (&self.driver.network, self.driver.hub().peer);
        let ways = self.driver.seats.iter().map(|seat| {
            let peer = seat.peer;
            (network.carried(hub, peer), network.carried(peer, hub))
        });
        Reading {
            relay: self.driver.hub().session.stats().relay.unwrap_or_default(),
            ways: ways.collect(),
            relay_ticks: self.driver.hub().link.ticks_ns.len(),
            replica_ticks: self.driver.seats.iter().map(|seat| seat.link.ticks_ns.len()).collect(),
            commands: self.alternatives.commands,
            flooded_bytes: self.alternatives.flooded_bytes,
            full_bytes: self.alternatives.full_bytes,
            cells_loaded: self.alternatives.cells_loaded,
            packets: self.alternatives.packets,
        }
    }

    fn report(&self, before: &Reading, after: &Reading) -> CrowdReport {
        let (layout, ticks_per_s) = (&self.options.layout, self.options.relay.settings().ticks_per_s);
        let (players, seconds) = (f64::from(layout.players), f64::from(self.options.ticks) / f64::from(ticks_per_s));
        let each = |now: u64, then: u64| (now - then) as f64 / seconds / players;
        let (down, up) = after.rates_since(before, seconds);
        let mean = |rates: &[Rate]| {
            Rate::new(
                rates.iter().map(|rate| rate.payload).sum(),
                rates.iter().map(|rate| rate.packets).sum(),
                rates.len().max(1) as f64,
            )
        };
        let most = down.iter().copied().max_by(|a, b| a.bytes.total_cmp(&b.bytes)).unwrap_or_default();
        let packets = (after.packets - before.packets) as f64;
        let flooded = (after.flooded_bytes - before.flooded_bytes) as f64;
        let replicated = self.alternatives.replicated_bytes_a_packet() * packets / players;
        let classes = after.levels_since(before).map(|(name, level)| Class {
            name,
            payload: each(level.bytes, 0),
            cut: each(level.cut_bytes, 0),
        });
        let replicas = self.driver.seats.iter().zip(&before.replica_ticks);
        CrowdReport {
            players: layout.players,
            spread: if self.options.own_world { "own world" } else { layout.spread.name() },
            side_tiles: layout.side_tiles,
            seconds,
            seed: self.options.seed,
            commands: each(after.commands, before.commands),
            down: mean(&down),
            down_max: most,
            up: mean(&up),
            classes: classes.to_vec(),
            flooding: Rate::new(flooded, packets, seconds),
            replication: Rate::new(replicated, packets, seconds),
            full_loads: each(after.full_bytes, before.full_bytes),
            cell_keys: CELL_KEY_BYTES as f64 * each(after.cells_loaded, before.cells_loaded),
            relay: Spent::of(self.driver.hub().link.ticks_ns[before.relay_ticks..].to_vec()),
            relay_alone: Spent::of(self.relay_alone().link.ticks_ns[before.relay_ticks..].to_vec()),
            process: None,
            replica: Spent::of(replicas.flat_map(|(seat, from)| seat.link.ticks_ns[*from..].to_vec()).collect()),
            lit_cells: self.survey.lit_cells.size(),
            relay_actors: self.survey.relay_actors.size(),
            core_cells: self.survey.core_cells.size(),
            replica_actors: self.survey.replica_actors.size(),
            enters: (after.relay.heroes_entered - before.relay.heroes_entered) as f64 / seconds,
            leaves: (after.relay.heroes_left - before.relay.heroes_left) as f64 / seconds,
            verified: self.verifier.as_ref().map(|verifier| verifier.verified.clone()),
        }
    }

    /// The relay once more, hearing what it heard, without the replicas in between.
    fn relay_alone(&self) -> Seat<RelayOf<G>, Clocked<Heard>> {
        let relay = self.driver.hub();
        let again = relay.link.again((self.relay)(), relay.peer);
        assert_eq!(again.session.stats(), relay.session.stats(), "a relay that hears the same does the same");
        again
    }

    /// Waits until every hero is in its replica's world.
    fn gather(&mut self) -> Result<(), CrowdError> {
        let (since, period) = (self.driver.now(), self.options.relay.period());
        let mut now = since;
        loop {
            let outside = |bot: &&BotSeat<G>| self.driver.seats[bot.seat].session.phase() != Phase::Playing;
            let Some(first) = self.bots.iter().find(outside) else { return Ok(()) };
            if now >= since + GATHER_MAX {
                let phase = self.driver.seats[first.seat].session.phase();
                let (missing, players) = (self.bots.iter().filter(outside).count(), self.bots.len());
                return Err(CrowdError::Gather { missing, players, seconds: GATHER_MAX.as_secs(), phase });
            }
            now += period;
            self.driver.run_until(now);
            self.attend()?;
        }
    }

    /// Hears what happened, and lets bots play.
    fn attend(&mut self) -> Result<(), CrowdError> {
        let Crowd { driver, verifier, alternatives, bots, .. } = self;
        let events: Vec<_> = driver.hub_mut().events.drain(..).collect();
        for event in &events {
            if let Event::Turn { tick, turn } = event {
                alternatives.turn(*tick, turn);
            }
            verifier.iter_mut().for_each(|verifier| verifier.hear_relay(event));
        }
        for (n, bot) in bots.iter_mut().enumerate() {
            let seat = &mut driver.seats[bot.seat];
            for event in seat.events.drain(..) {
                match &event {
                    Event::Started { player, .. } => bot.player = *player,
                    Event::Ended { tick, reason } => {
                        return Err(CrowdError::Lost { player: n as u16, tick: *tick, reason: reason.clone() });
                    }
                    _ => {}
                }
                verifier.iter_mut().for_each(|verifier| verifier.hear_replica(n, &event));
            }
            bot.play(&mut seat.session);
        }
        verifier.iter_mut().for_each(Verifier::compare);
        Ok(())
    }
}

/// Makes the world of a seed.
fn build<G: Wide>(options: &CrowdOptions, table: &Table) -> Result<Build<G>, LayoutError> {
    let table = table.clone();
    if options.own_world {
        return Ok(Arc::new(move |seed| G::build(seed, table.clone())));
    }
    let rules = G::lay_out(&options.layout, options.seed, &table)?;
    Ok(Arc::new(move |seed| G::world(&rules, seed, &table)))
}

impl<G: Wide> BotSeat<G> {
    /// Looks at its replica's world after a tick, and gives a command or none.
    fn play(&mut self, session: &mut ReplicaOf<G>) {
        if session.phase() != Phase::Playing {
            return;
        }
        let Some(sim) = session.simulation().filter(|sim| sim.tick() != self.saw) else { return };
        self.saw = sim.tick();
        let player = self.player;
        let bot = self.bot.get_or_insert_with(|| Box::new(G::bot(player)));
        if let Some(command) = bot.decide(sim, player) {
            // One that is not taken now is decided upon again.
            let _ = session.command(command);
        }
        if self.saw.plus(TALK_STAGGER_TICKS * u32::from(player.0)).0.is_multiple_of(TALK_TICKS) {
            // Nobody misses it.
            let _ = session.say(TALK);
        }
    }
}
