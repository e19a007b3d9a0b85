//! Two replicas of a relay meet: each simulates the cells around its own hero alone, and where
//! their cores overlap both have the same.
//!
//! `cargo run -p lockstone --example borders` plays a minute of virtual time in a moment.

use std::sync::Arc;
use std::time::Duration;

use lockstone::net::memory::{Driver, MemoryLink, MemoryNetwork, Weather};
use lockstone::net::relay::{Relay, RelayConfig, RelaySettings, Replica};
use lockstone::net::session::Phase;
use lockstone::net::{Identity, Session};
use lockstone::sim::*;
use serde::{Deserialize, Serialize};

/// Heroes walk where they are told; fireflies dance around, and are drawn to heroes
/// within four tiles.
#[derive(Clone, Serialize, Deserialize)]
enum Being {
    Hero(Vec2),
    Firefly,
}

impl Body for Being {
    fn is_actor(&self) -> bool {
        true
    }
}

struct Meadow;

impl Rules for Meadow {
    type Body = Being;
    type Effect = ();
    type Command = Vec2; // "walk there"
    type Hero = Vec2; // where the player enters
    type Facts = ();
    type Fact = ();
    type Scratch = ();

    fn generate(&self, cell: CellId, _: &mut Dice, content: &mut Vec<(Vec2, Being)>) {
        content.push((at(i32::from(cell.x) * 4 + 1, i32::from(cell.y) * 4 + 2), Being::Firefly));
    }

    fn entrance(&self, _: PlayerId, place: &Vec2, _: &()) -> Vec2 {
        *place
    }

    fn enter(&self, _: PlayerId, place: &Vec2, _: &mut Dice) -> Being {
        Being::Hero(*place)
    }

    fn command(&self, hero: &mut Being, goal: &Vec2) {
        *hero = Being::Hero(*goal);
    }

    fn think(&self, me: &mut Being, mind: &mut Mind<'_, Self>) {
        let seen = mind.heroes(Fx::int(4)).nearest(|_| true).map(|hero| hero.pos);
        let angle = mind.dice().angle();
        let dance = mind.pos() + Vec2::from_angle(angle, Fx::HALF);
        mind.walk(match (me, seen) {
            (Being::Hero(goal), _) => *goal,
            (Being::Firefly, seen) => seen.unwrap_or(dance),
        });
    }
}

fn at(x: i32, y: i32) -> Vec2 {
    Vec2::new(Fx::int(x), Fx::int(y))
}

fn build(seed: u64) -> World<Meadow> {
    let (reach, stride) = (Fx::int(4), Fx::ratio(1, 4));
    let measures = GridConfig { width_cells: 64, height_cells: 5, cell_log2: 2, reach, stride, light: 4 };
    World::new(Arc::new(Meadow), Grid::new(measures).expect("sound measures"), lockstone::default_table(), seed)
}

fn main() {
    // Cores stay cut to what is near, however little else is awake: so that there are
    // borders to be seen.
    let settings = RelaySettings { core_actors_max: 0, ..RelaySettings::default() };
    let config = RelayConfig::new(settings).expect("sound settings");
    let identity = Identity { rules: 1, table: lockstone::default_table().digest(), config: 0 };
    let weather = Weather { loss_permille: 50, ..Weather::clear(Duration::from_millis(40)) };
    let relay = Relay::dedicated(config.clone(), identity, build);
    let mut driver = Driver::with_hub(MemoryNetwork::hub(1, weather), relay, |link| link);
    for (name, x) in [("Ada", 24), ("Bram", 231)] {
        driver.enter(Replica::new(config.clone(), identity, name, at(x, 10), build).expect("the names are short"));
    }
    println!("Ada's core is a, Bram's is b, both have x; heroes are A and B. Columns of cells:");
    for second in 1..=60u64 {
        driver.run_until(Duration::from_secs(second));
        for seat in 0..2 {
            let session = &mut driver.seats[seat].session;
            if second == 3 {
                session.command([at(231, 10), at(24, 10)][seat]).expect("they play by now");
            }
        }
        if second % 4 == 0 {
            show(&driver, second);
        }
    }
    for seat in &driver.seats {
        let stats = seat.session.stats();
        assert!(seat.session.phase() == Phase::Playing && stats.checksums_compared > 0 && stats.desyncs == 0);
        println!("{} checksums of its core equal the relay's", stats.checksums_compared);
    }
}

/// A line of the world, and how many of the cells that both replicas simulate are the same on both,
/// if they are at the same tick.
fn show(driver: &Driver<Replica<Meadow>, MemoryLink, Relay<Meadow>>, second: u64) {
    let sessions: Vec<_> = driver.seats.iter().map(|seat| &seat.session).collect();
    let worlds: Vec<_> = sessions.iter().filter_map(|session| session.simulation()).collect();
    let [ada, bram] = worlds[..] else { return };
    let own = |n: usize| Some(ada.grid().cell_of(worlds[n].hero(sessions[n].stats().player?)?.pos));
    let cores = [ada, bram].map(|world| world.area().core_rect().expect("a replica has a part"));
    let column = |x: u16| match [0, 1].map(|n| (cores[n].low.x..=cores[n].high.x).contains(&x)) {
        _ if own(0).is_some_and(|cell| cell.x == x) => 'A',
        _ if own(1).is_some_and(|cell| cell.x == x) => 'B',
        [true, true] => 'x',
        [true, false] => 'a',
        [false, true] => 'b',
        [false, false] => '.',
    };
    let line: String = (0..64).map(column).collect();
    let shared = cores[0].intersection(cores[1]);
    let state = |world: &World<Meadow>, cell| world.cell_state(cell).map(|state| state.encode());
    let equal = shared.iter().filter(|cell| state(ada, *cell) == state(bram, *cell)).count();
    let equal = if ada.tick() == bram.tick() { equal.to_string() } else { "?".to_owned() };
    println!("{second:2} s {line} {equal} of {} shared cells are equal", shared.len());
}
