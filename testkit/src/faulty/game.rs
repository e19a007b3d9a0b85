//! The game as the shell sees it. `FAULT` in the environment names its fault; child
//! processes inherit it.

use lockstone::game::{Bot, Ear, Game};
use lockstone::scene::{Drawing, Figure, Gauge, Ground, GroundTile, Ink, Part, Pointer, Rgb, Scene};
use lockstone::sim::{EntityId, Fx, PlayerId, Simulation, Table, Tick, Vec2, mix64};
use lockstone::sound::Sound;

use super::{Being, CELL_TILES, Fault, HERO_LIFE, Newcomer, Order, Plant, REACH, SIDE_CELLS, Sim, world_of};

/// The game.
pub struct Faulty;

impl Faulty {
    /// The fault that the environment names.
    ///
    /// # Errors
    /// A sentence with the known ones.
    pub fn fault() -> Result<Fault, String> {
        std::env::var("FAULT").map_or(Ok(Fault::None), |name| name.parse())
    }
}

impl Game for Faulty {
    type Sim = Sim;

    const HEROES: &'static [&'static str] = &["weak", "able", "strong"];

    const NAME: &'static str = "faulty";

    fn rules_digest() -> u64 {
        1
    }

    fn build(seed: u64, table: Table) -> Sim {
        world_of(seed, table, Plant::new(Faulty::fault().unwrap_or_default()))
    }

    fn hero(class: &str, name: &str) -> Option<Newcomer> {
        let strength = Self::HEROES.iter().position(|other| *other == class)?;
        Some(Newcomer { name: name.to_owned(), strength: 3 + strength as u8 })
    }

    fn bot(_: PlayerId) -> impl Bot<Sim> {
        WildsBot
    }

    fn click(_: &Sim, _: PlayerId, at: Vec2, _: Pointer) -> Option<Order> {
        Some(Order::Walk(at))
    }

    fn typed(_: &Sim, _: PlayerId, text: &str) -> Result<Order, String> {
        if text == "rest" { Ok(Order::Rest) } else { Err("only rest can be typed".to_owned()) }
    }

    fn ear(_: PlayerId) -> impl Ear<Sim> {
        Listener
    }

    fn scene(sim: &Sim, player: PlayerId) -> Scene {
        const HALF: i32 = 20;
        let Some(hero) = sim.hero(player) else { return Scene::default() };
        let tiles = |fx: Fx| fx.to_bits() as f32 / 4096.0;
        let corner = (hero.pos.x.floor() - HALF, hero.pos.y.floor() - HALF);
        let grass = GroundTile { symbol: '.', color: Rgb(40, 70, 40), raised: false, light: 255 };
        let width = 2 * HALF as usize;
        let near = sim.entities(sim.grid().cells_around(hero.pos, Fx::int(HALF)));
        let figures = near.map(|entity| {
            sim.rules().plant.drawn(&entity.body, sim.tick());
            let (symbol, drawing, color) = match &entity.body {
                Being::Hero(_) => ('@', WALKER, Rgb(230, 220, 180)),
                Being::Beast(_) => ('w', WALKER, Rgb(160, 110, 80)),
                Being::Stone(_) => ('*', STONE, Rgb(150, 150, 160)),
                Being::Shrine(_) => ('A', Drawing::DISC, Rgb(120, 160, 220)),
            };
            Figure::new((tiles(entity.pos.x), tiles(entity.pos.y)), symbol, drawing, color)
        });
        let gauges = match &hero.body {
            Being::Hero(hero) => {
                vec![Gauge { name: "life", value: hero.life.into(), max: HERO_LIFE.into(), color: Rgb(200, 60, 60) }]
            }
            _ => Vec::new(),
        };
        Scene {
            center: (tiles(hero.pos.x), tiles(hero.pos.y)),
            ground: Ground { corner, width, tiles: vec![grass; width * width], ..Ground::default() },
            figures: figures.collect(),
            gauges,
            ..Scene::default()
        }
    }
}

/// Hears at every tick which one it is, and where its hero stands.
struct Listener;

impl Ear<Sim> for Listener {
    fn hear(&mut self, sim: &Sim, player: PlayerId) -> Vec<Sound> {
        sim.hero(player).map(|hero| told(sim.tick(), hero.pos)).into_iter().collect()
    }
}

/// The sound by which a tick is told, and the place of the hero in it.
pub fn told(tick: Tick, at: Vec2) -> Sound {
    let bits = |fx: Fx| fx.to_bits() as f32;
    Sound { tones: &[], pitch: tick.0 as f32, gain: bits(at.x), pan: bits(at.y) }
}

/// Walks about, and does with what it meets what a player would.
#[derive(Clone)]
pub struct WildsBot;

impl Bot<Sim> for WildsBot {
    fn decide(&mut self, sim: &Sim, player: PlayerId) -> Option<Order> {
        let hero = sim.hero(player)?;
        let Being::Hero(me) = &hero.body else { return None };
        let (tick, key) = (sim.tick().0, mix64(u64::from(sim.tick().0) << 16 | u64::from(player.0)));
        let (order, busy) = match me.order {
            Order::Rest => (me.order, me.life < HERO_LIFE / 2),
            Order::Walk(to) => (me.order, hero.pos != to && !tick.is_multiple_of(16)),
            Order::Strike(at) | Order::Chip(at) => (me.order, is_near(sim, hero.pos, at) && !tick.is_multiple_of(32)),
        };
        if busy || me.life <= 0 {
            return None;
        }
        let next = match key % 4 {
            0 if me.life < HERO_LIFE / 4 => Order::Rest,
            0 | 1 => walk(key),
            2 => nearest(sim, hero.pos, |being| matches!(being, Being::Beast(_))).map_or(walk(key), Order::Strike),
            _ => nearest(sim, hero.pos, |being| matches!(being, Being::Stone(_))).map_or(walk(key), Order::Chip),
        };
        (next != order).then_some(next)
    }
}

fn walk(key: u64) -> Order {
    let side = u64::from(SIDE_CELLS) * CELL_TILES as u64;
    let along = |key: u64| Fx::int((mix64(key) % side) as i32);
    Order::Walk(Vec2::new(along(key), along(key ^ 1)))
}

fn is_near(sim: &Sim, from: Vec2, id: EntityId) -> bool {
    sim.entities(sim.grid().cells_around(from, REACH)).any(|entity| entity.id == id && entity.pos.within(from, REACH))
}

fn nearest(sim: &Sim, from: Vec2, wanted: fn(&Being) -> bool) -> Option<EntityId> {
    let near = sim.entities(sim.grid().cells_around(from, REACH)).filter(|entity| wanted(&entity.body));
    near.min_by_key(|entity| entity.pos.distance_squared(from)).map(|entity| entity.id)
}

/// Something on two legs.
const WALKER: Drawing = Drawing::of(|_, draw| {
    [-0.12, 0.12].into_iter().for_each(|x| draw(Part::Line((x, -0.3), (x, 0.0), 0.1, Ink::Own(0.6))));
    draw(Part::Oval((0.0, -0.5), (0.25, 0.3), Ink::Own(1.0)));
});

/// Something with edges.
const STONE: Drawing = Drawing::of(|_, draw| {
    draw(Part::Polygon(&[(-0.4, 0.0), (-0.2, -0.4), (0.25, -0.35), (0.4, 0.0)], Ink::Own(1.0)));
});

/// Draws what every hero sees, as a view would.
pub fn draw(sim: &Sim) {
    sim.players().for_each(|player| drop(Faulty::scene(sim, player)));
}
