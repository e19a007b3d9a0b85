//! The sessions of each kind, set up for a fleet. They are production code, each wrapped in
//! whatever a test wants to do with it.

use std::collections::{BTreeMap, BTreeSet};

use lockstone_net::memory::{Driver, MemoryNetwork};
use lockstone_net::party::{Party, PartyConfig, PartySettings};
use lockstone_net::relay::{Relay, RelayConfig, RelaySettings, Replica};
use lockstone_net::session::{ConfigError, Event, PlayerError, Session};
use lockstone_net::{Identity, PlayerKey, Rollback, RollbackConfig, RollbackSettings};
use lockstone_sim::{Grid, Rules, Simulation, Tick, World};

use super::fleet::{Fleet, Heard};
use super::hosts::{Hosts, Origin};
use super::schedule::{Fault, HUB, Kind, Schedule, SeatId, has_key};
use super::trace::Trace;
use crate::crowd::{Verified, Verifier};
use crate::default_table;
use crate::game::{Game, Wide};

/// Why a schedule cannot be played.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SoakError {
    /// The game's heroes are none, or too long.
    #[error("the game has no hero that a peer can bring along: {0}")]
    Hero(#[from] PlayerError),
    /// The game knows no hero of its own classes.
    #[error("the game knows no hero of a class that it names")]
    NoHero,
    /// No such session.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The game's world cannot be relayed in parts.
    #[error("this game's world cannot be relayed in parts")]
    NotWide,
}

/// Plays a schedule.
///
/// # Errors
/// [`SoakError`] if the game cannot; of a relay's schedule always: see [`play_wide`].
pub fn play<G: Game>(schedule: &Schedule) -> Result<Trace, SoakError> {
    match schedule.kind {
        Kind::Party => play_party::<G, _>(schedule, |_, session| session),
        Kind::Rollback => play_rollback::<G, _>(schedule, |_, session| session),
        Kind::Relay => Err(SoakError::NotWide),
    }
}

/// Plays a schedule of any kind.
///
/// # Errors
/// [`SoakError`] if the game cannot.
pub fn play_wide<G: Wide>(schedule: &Schedule) -> Result<Trace, SoakError> {
    match schedule.kind {
        Kind::Party | Kind::Rollback => play::<G>(schedule),
        Kind::Relay => play_relay::<G>(schedule),
    }
}

/// Plays a party of what is made of each seat's session.
///
/// # Errors
/// [`SoakError`] if the game cannot.
pub fn play_party<G: Game, T: Session<Sim = G::Sim>>(
    schedule: &Schedule,
    wrap: impl Fn(SeatId, Party<G::Sim>) -> T,
) -> Result<Trace, SoakError> {
    let config = PartyConfig::new(PartySettings { seed: schedule.seed, ..PartySettings::default() })?;
    play_peers::<G, T>(schedule, |seat| {
        let first = schedule.player_of(seat);
        let (identity, name, hero) = newcomer::<G>(first)?;
        let party = Party::new(config.clone(), identity, &name, hero, build::<G>)?;
        Ok(wrap(seat, if has_key(first) { party.with_key(key(first)) } else { party }))
    })
}

/// Plays a rollback session of what is made of each seat's session.
///
/// # Errors
/// [`SoakError`] if the game cannot.
pub fn play_rollback<G: Game, T: Session<Sim = G::Sim>>(
    schedule: &Schedule,
    wrap: impl Fn(SeatId, Rollback<G::Sim>) -> T,
) -> Result<Trace, SoakError> {
    let players = schedule.founders();
    let config = RollbackConfig::new(RollbackSettings { seed: schedule.seed, players, ..RollbackSettings::default() })?;
    play_peers::<G, T>(schedule, |seat| {
        let (identity, name, hero) = newcomer::<G>(seat)?;
        Ok(wrap(seat, Rollback::new(config.clone(), identity, &name, hero, build::<G>)?))
    })
}

/// Plays a session among peers of one kind, of what is made for each seat.
fn play_peers<G: Game, T: Session<Sim = G::Sim>>(
    schedule: &Schedule,
    make: impl FnMut(SeatId) -> Result<T, SoakError>,
) -> Result<Trace, SoakError> {
    let sessions = each_seat(schedule, make)?;
    let driver = Driver::new(MemoryNetwork::new(schedule.seed, schedule.weather));
    Ok(Fleet::<G, T>::new(schedule, driver, sessions, None, &mut |_, _| {}).run())
}

/// Plays a relay, every replica's core beside the whole world.
fn play_relay<G: Wide>(schedule: &Schedule) -> Result<Trace, SoakError> {
    let settings = RelaySettings { seed: schedule.seed, emit_trees: true, ..RelaySettings::default() };
    let config = RelayConfig::new(settings)?;
    let sessions = each_seat(schedule, |seat| {
        let first = schedule.player_of(seat);
        let (identity, name, hero) = newcomer::<G>(first)?;
        let replica = Replica::new(config.clone(), identity, &name, hero, build::<G>)?.with_horizon(G::horizon());
        Ok(if has_key(first) { replica.with_key(key(first)) } else { replica })
    })?;
    let identity = G::identity(&default_table());
    let relay = || {
        let relay = Relay::dedicated(config.clone(), identity, build::<G>).with_horizon(G::horizon());
        relay.with_standby(key(HUB).public())
    };
    let make = |origin| match origin {
        Origin::Standby => Relay::standby(config.clone(), identity, key(HUB), build::<G>).with_horizon(G::horizon()),
        Origin::Recorded(session) => relay().continuing(*session),
    };
    let hosts = Hosts { make: &make, build: build::<G>, logs: BTreeMap::new() };
    let mut cores = Cores::new(*build::<G>(schedule.seed).grid());
    let mut listener = |seat, heard: Heard<'_, G::Sim>| cores.hear(schedule, seat, heard);
    let driver = Driver::with_hub(MemoryNetwork::hub(schedule.seed, schedule.weather), relay(), |link| link);
    let mut trace = Fleet::<G, _, _>::new(schedule, driver, sessions, Some(hosts), &mut listener).run();
    trace.cores = Some(cores.told());
    Ok(trace)
}

/// Compares the cores of a relay's replicas with the whole world, whoever leads.
struct Cores {
    grid: Grid,
    verifier: Verifier,
    /// The newest tick of which a relay told, since it was started again.
    newest: Option<Tick>,
    /// Who has begun since then. What the others play is lost.
    begun: BTreeSet<SeatId>,
    /// What was compared before.
    before: Verified,
}

impl Cores {
    fn new(grid: Grid) -> Cores {
        let (newest, begun, before) = (None, BTreeSet::new(), Verified::default());
        Cores { grid, verifier: Verifier::new(grid), newest, begun, before }
    }

    fn hear<R: Rules>(&mut self, schedule: &Schedule, seat: SeatId, heard: Heard<'_, World<R>>) {
        match heard {
            Heard::Resumed => {
                let before = self.verified();
                *self = Cores { before, ..Cores::new(self.grid) };
            }
            Heard::Event(event) if schedule.is_host(seat) => {
                // Relays and their standbys tell the same, one after the other.
                if let Event::Checksum { tick, .. } = event
                    && self.newest.is_none_or(|newest| newest < *tick)
                {
                    self.newest = Some(*tick);
                    self.verifier.hear_relay(event);
                }
            }
            Heard::Event(event) => {
                if let Event::Started { .. } = event {
                    self.begun.insert(seat);
                }
                if self.begun.contains(&seat) {
                    self.verifier.hear_replica(seat.into(), event);
                }
            }
        }
        self.verifier.compare();
    }

    fn verified(&self) -> Verified {
        let (before, now) = (&self.before, &self.verifier.verified);
        Verified {
            cell_ticks: before.cell_ticks + now.cell_ticks,
            differing: before.differing + now.differing,
            unprotected: before.unprotected + now.unprotected,
            beyond: before.beyond + now.beyond,
            first: before.first.or(now.first),
        }
    }

    /// How many cells were compared, and what is wrong with them.
    fn told(&self) -> (u64, Option<String>) {
        let verified = self.verified();
        let differs = verified.first.map(|first| {
            let (tick, cell, seat) = (first.tick, first.cell, first.replica);
            let differing = verified.differing;
            format!(
                "at {tick} cell {cell} of seat {seat} is not as in the whole world, and {differing} cell-ticks in all"
            )
        });
        let beyond = (verified.beyond > 0).then(|| format!("{} cells were known beyond halos", verified.beyond));
        (verified.cell_ticks, differs.or(beyond))
    }
}

fn build<G: Game>(seed: u64) -> G::Sim {
    G::build(seed, default_table())
}

/// What is made of each seat that somebody enters.
fn each_seat<T>(
    schedule: &Schedule,
    mut make: impl FnMut(SeatId) -> Result<T, SoakError>,
) -> Result<BTreeMap<SeatId, T>, SoakError> {
    let seats = schedule.steps.iter().filter_map(|step| match step.fault {
        Fault::Enter { seat, .. } => Some(seat),
        _ => None,
    });
    seats.map(|seat| Ok((seat, make(seat)?))).collect()
}

/// The key of the player of a first seat.
pub fn key(first: SeatId) -> PlayerKey {
    let mut bytes = [0x5e; 32];
    bytes[..2].copy_from_slice(&first.to_le_bytes());
    PlayerKey::from_bytes(bytes)
}

/// Who enters on a seat, if no player comes back there.
fn newcomer<G: Game>(seat: SeatId) -> Result<(Identity, String, <G::Sim as Simulation>::Hero), SoakError> {
    let name = format!("Bot-{seat}");
    let class = G::HEROES.get(usize::from(seat) % G::HEROES.len().max(1));
    let hero = class.and_then(|class| G::hero(class, &name)).ok_or(SoakError::NoHero)?;
    Ok((G::identity(&default_table()), name, hero))
}
