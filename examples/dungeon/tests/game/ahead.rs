//! Bots that play by the predicted world: how often their own heroes are corrected.

use std::time::Duration;

use dungeon::{Dungeon, DungeonBot, DungeonGame};
use lockstone::game::{Game, Layout, Spread, Wide};
use lockstone::net::memory::{Driver, MemoryLink, MemoryNetwork, Seat, Weather};
use lockstone::net::relay::{Relay, RelayConfig, RelaySettings, Replica};
use lockstone::net::session::AheadStats;
use lockstone::net::{Link, Party, PartyConfig, PartySettings, Session};
use lockstone::sim::{Simulation, Tick, World};
use testkit::delve::table;
use testkit::{ms, secs};

const SEED: u64 = 4;
const PLAYERS: usize = 4;
const ROUND_TRIPS_MS: [u64; 3] = [20, 100, 300];
const PLAY_TIME: Duration = secs(300);

type Sim = World<Dungeon>;

/// Visits a seat as any driver does, and looks ahead.
fn looking<T: Session, L: Link>(seat: &mut Seat<T, L>, now: Duration) {
    seat.visit(now);
    seat.session.look_ahead(u32::MAX);
}

/// Plays by bots. Of all their ticks those whose own hero was shown otherwise than it came must be
/// fewer than two of a hundred.
fn play<T, H>(mut driver: Driver<T, MemoryLink, H>, context: &str)
where
    T: Session<Sim = Sim>,
    H: Session<Sim = Sim>,
{
    let mut bots: Vec<Option<(DungeonBot, Tick)>> = driver.seats.iter().map(|_| None).collect();
    driver.seats.iter_mut().for_each(|seat| seat.visit_by = looking);
    let settled = |driver: &Driver<T, MemoryLink, H>| -> Vec<Tick> {
        driver.seats.iter().map(|seat| seat.session.settled()).collect()
    };
    while driver.now() < PLAY_TIME {
        let before = settled(&driver);
        driver.run_while(PLAY_TIME, |driver| settled(driver) == before);
        for (seat, bot) in driver.seats.iter_mut().zip(&mut bots) {
            let (Some(player), Some(world)) = (seat.session.stats().player, seat.session.simulation()) else {
                continue;
            };
            let (bot, saw) = bot.get_or_insert_with(|| (DungeonBot::new(player), Tick(0)));
            if core::mem::replace(saw, world.tick()) == world.tick() {
                continue;
            }
            if let Some(command) = bot.command(world, player) {
                let _ = seat.session.command(command);
            }
        }
    }
    // What a sequencer sees is never wrong, so it does not count.
    let closes = |seat: &Seat<T>| seat.session.stats().players.iter().any(|player| player.own && player.sequencer);
    let replicas: Vec<_> = driver.seats.iter().filter(|seat| !closes(seat)).map(|seat| seat.session.stats()).collect();
    let mut all = AheadStats::default();
    for stats in &replicas {
        let ahead = stats.ahead.expect("it looks ahead");
        println!("{context}: {ahead:?}, {} commands", stats.commands_sent);
        assert!(ahead.ticks > 0 && stats.commands_sent > 100 && stats.desyncs == 0);
        all.compared += ahead.compared;
        all.corrections += ahead.corrections;
    }
    assert!(replicas.len() >= PLAYERS - 1 && all.compared > 15_000, "{context}: {all:?}");
    assert!(all.corrections * 100 < all.compared * 2, "{context}: {all:?}");
}

#[test]
fn in_a_party_own_heroes_are_hardly_ever_corrected() {
    for rtt_ms in ROUND_TRIPS_MS {
        let settings = PartySettings { seed: SEED, players_at_start: PLAYERS, ..PartySettings::default() };
        let config = PartyConfig::new(settings).expect("in range");
        let mut driver = Driver::new(MemoryNetwork::new(SEED, Weather::clear(ms(rtt_ms / 2))));
        for class in DungeonGame::HEROES.iter().cycle().take(PLAYERS) {
            let (identity, hero) = (DungeonGame::identity(&table()), DungeonGame::hero(class, class).expect("a class"));
            let build = |seed| DungeonGame::build(seed, table());
            driver.enter(Party::new(config.clone(), identity, class, hero, build).expect("a name"));
        }
        play(driver, &format!("party, {rtt_ms} ms"));
    }
}

#[test]
fn in_a_relay_session_own_heroes_are_hardly_ever_corrected() {
    let layout = Layout { side_tiles: 576, players: PLAYERS as u16, spread: Spread::Parties };
    let rules = DungeonGame::lay_out(&layout, SEED, &table()).expect("a layout that can be");
    let config = RelayConfig::new(RelaySettings { seed: SEED, ..RelaySettings::default() }).expect("in range");
    for rtt_ms in ROUND_TRIPS_MS {
        let (identity, rules) = (DungeonGame::identity(&table()), rules.clone());
        let build = move |seed| DungeonGame::world(&rules, seed, &table());
        let relay = Relay::dedicated(config.clone(), identity, build.clone());
        let network = MemoryNetwork::hub(SEED, Weather::clear(ms(rtt_ms / 2)));
        let mut driver = Driver::with_hub(network, relay, |link| link);
        for class in DungeonGame::HEROES.iter().cycle().take(PLAYERS) {
            let hero = DungeonGame::hero(class, class).expect("a class");
            driver.enter(Replica::new(config.clone(), identity, class, hero, build.clone()).expect("a name"));
        }
        play(driver, &format!("relay, {rtt_ms} ms"));
    }
}
