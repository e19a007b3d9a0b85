//! A party that is seen from afar on the dungeon's own ways: found by each replica for itself, from
//! the end point and the start.

use std::collections::BTreeMap;
use std::time::Duration;

use dungeon::hero::Order;
use dungeon::map::tile_of;
use dungeon::{Command, DungeonGame};
use lockstone::game::{Game, Layout, Spread, Wide};
use lockstone::net::Session;
use lockstone::net::memory::{Driver, MemoryLink, MemoryNetwork, Weather};
use lockstone::net::relay::{Relay, RelayConfig, RelaySettings, Replica};
use lockstone::sim::path::Tile;
use lockstone::sim::{PlayerId, Simulation, Tick};
use testkit::delve::table;

const SEED: u64 = 4;
/// By so many ticks everyone knows a route.
const KNOWN_TICKS: u32 = 60;

/// Where a hero was at a tick, and since when it had its order.
type Places = BTreeMap<Tick, BTreeMap<PlayerId, (Tile, Order, u32)>>;

#[test]
fn heroes_on_their_ways_are_seen_on_their_tiles() {
    let layout = Layout { side_tiles: 576, players: 4, spread: Spread::Parties };
    let rules = DungeonGame::lay_out(&layout, SEED, &table()).expect("a layout that can be");
    let config = RelayConfig::new(RelaySettings { seed: SEED, ..RelaySettings::default() }).expect("in range");
    let weather = Weather {
        jitter: Duration::from_millis(60),
        loss_permille: 200,
        duplicate_permille: 50,
        reorder_permille: 100,
        ..Weather::clear(Duration::from_millis(150))
    };
    let identity = DungeonGame::identity(&table());
    let build = {
        let rules = rules.clone();
        move |seed| DungeonGame::world(&rules, seed, &table())
    };
    let relay = Relay::dedicated(config.clone(), identity, build.clone()).with_horizon(DungeonGame::horizon());
    let mut driver = Driver::with_hub(MemoryNetwork::hub(SEED, weather), relay, |link| link);
    for (n, class) in ["warrior", "ranger", "mage"].into_iter().enumerate() {
        let hero = DungeonGame::hero(class, class).expect("a class");
        let replica = Replica::new(config.clone(), identity, class, hero, build.clone()).expect("a name");
        driver.enter(replica.with_horizon(DungeonGame::horizon()));
        driver.run_until(Duration::from_secs(n as u64 + 1));
    }
    let rooms: Vec<Tile> = rules.map().rooms().iter().map(|room| room.center).collect();
    let mut places = Places::new();
    let (mut walking, mut off) = (0, 0);
    for beat in 0..18_000_u64 {
        driver.run_until(Duration::from_secs(8) + Duration::from_millis(10) * beat as u32);
        // Every hero to a room of its own, and to another one after a while.
        if beat % 1_500 == 0 {
            for seat in 0..3 {
                let room = rooms[(beat as usize / 1_500 * 7 + seat * 29) % rooms.len()];
                let _ = driver.seats[seat].session.command(Command::walk(room));
            }
        }
        note(&mut places, &driver);
        for seat in &driver.seats {
            let Some(now) = seat.session.simulation().and_then(|world| places.get(&world.tick())) else { continue };
            for companion in seat.session.distant().companions {
                let Some((tile, Order::Walk(_), ticks)) = now.get(&companion.player) else { continue };
                if *ticks > KNOWN_TICKS {
                    walking += 1;
                    off += u32::from(tile_of(companion.at) != *tile);
                }
            }
        }
    }
    let sent = driver.hub().session.stats().relay.expect("a relay").distant;
    println!(
        "seed {SEED}: {off} of {walking} looks at a walking hero were off its tile; {} B/s a player",
        sent.bytes / 180 / 3
    );
    assert!(walking > 10_000, "{walking}");
    assert!(off * 100 <= walking, "{off} of {walking}");
}

fn note(places: &mut Places, driver: &Driver<Replica<dungeon::Dungeon>, MemoryLink, Relay<dungeon::Dungeon>>) {
    let Some(world) = driver.hub().session.simulation() else { return };
    let before = places.last_key_value().map(|(tick, heroes)| (*tick, heroes.clone()));
    if before.as_ref().is_some_and(|(tick, _)| *tick == world.tick()) {
        return;
    }
    let heroes = world.players().filter_map(|player| {
        let entity = world.hero(player)?;
        let order = entity.body.hero()?.order;
        let same =
            before.as_ref().and_then(|(_, heroes)| heroes.get(&player)).filter(|(_, before, _)| *before == order);
        Some((player, (tile_of(entity.pos), order, same.map_or(0, |(.., ticks)| ticks + 1))))
    });
    places.insert(world.tick(), heroes.collect());
}
