//! A game of a page, with a fault of one's choice: heroes chip stones and strike beasts, beasts
//! wander and bite.
//!
//! Without a fault it is as sound as a game can be. With one it is sound until tick [`FROM`], and
//! goes wrong rarely: see [`Fault`].

mod being;
mod fault;
mod game;

use std::sync::Arc;

pub use being::{Beast, Being, Count, Hero, Kind, Shrine, Stone};
pub use fault::{FROM, Fault, Plant, hush};
pub use game::{Faulty, WildsBot, draw, told};

use lockstone::default_table;
use lockstone::game::Bot;
use lockstone::sim::{
    CellId, Dice, EntityId, Fate, Fx, Grid, GridConfig, Input, Mind, PlayerId, Rules, Simulation, Table, Tick, Turn,
    Vec2, World,
};
use serde::{Deserialize, Serialize};

/// How far anything is seen, and how far anything walks in a tick.
pub const REACH: Fx = Fx::int(6);
pub const STRIDE: Fx = Fx::ratio(1, 2);
/// How near one must be to bite, strike or chip.
pub const TOUCH: Fx = Fx::int(1);
/// A cell's side in tiles, and the world's in cells.
pub const CELL_TILES: i32 = 8;
pub const SIDE_CELLS: u16 = 16;

const HERO_LIFE: i16 = 200;
/// A cell is crowded from so many beasts on.
const CROWD: usize = 8;

/// The simulation.
pub type Sim = World<Wilds>;

/// The rules.
pub struct Wilds {
    pub plant: Plant,
}

/// What one being does to another.
#[derive(Clone, Debug)]
pub enum Deed {
    Bite(i16),
    Strike { damage: u8 },
    Chip { by: PlayerId },
}

/// What a player can say.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Order {
    Walk(Vec2),
    Strike(EntityId),
    Chip(EntityId),
    Rest,
}

/// A player's wish to enter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Newcomer {
    pub name: String,
    pub strength: u8,
}

/// What everyone knows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    pub cairns: u32,
    pub newest: Option<Cairn>,
}

/// Somebody has gathered many stones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cairn {
    pub by: PlayerId,
    pub since: Tick,
}

/// A world before its first tick.
pub fn world(seed: u64, fault: Fault) -> Sim {
    world_of(seed, default_table(), Plant::new(fault))
}

/// One with a table of its own.
pub fn world_of(seed: u64, table: Table, plant: Plant) -> Sim {
    let (width_cells, height_cells) = (SIDE_CELLS, SIDE_CELLS);
    let config = GridConfig { width_cells, height_cells, cell_log2: 3, reach: REACH, stride: STRIDE, light: 3 };
    World::new(Arc::new(Wilds { plant }), Grid::new(config).expect("the measures are sound"), table, seed)
}

/// So many bots play so many ticks without a fault. Their turns, one a tick; all enter at tick 0.
pub fn turns(seed: u64, heroes: u16, ticks: u32) -> Vec<Turn<Sim>> {
    let mut party = Party::new(seed, Fault::None, heroes);
    (0..ticks).map(|_| party.tick()).collect()
}

/// A world in which bots play.
pub struct Party {
    pub world: Sim,
    bots: Vec<WildsBot>,
    next: Vec<Input<Sim>>,
}

impl Party {
    pub fn new(seed: u64, fault: Fault, heroes: u16) -> Party {
        let world = world(seed, fault);
        let newcomer = |n: u16| Newcomer { name: format!("Bot-{n}"), strength: 3 + (n % 4) as u8 };
        let join = |n: u16| Input::Join(PlayerId(n), world.admit(PlayerId(n), newcomer(n)));
        let next = (0..heroes).map(join).collect();
        Party { world, bots: vec![WildsBot; heroes.into()], next }
    }

    /// Plays one tick. Returns its turn.
    pub fn tick(&mut self) -> Turn<Sim> {
        let turn = Turn { inputs: std::mem::take(&mut self.next) };
        self.world.step(&turn);
        self.next.extend(self.world.requests().iter().cloned().map(Input::Request));
        for (player, bot) in (0..).map(PlayerId).zip(&mut self.bots) {
            let order = bot.decide(&self.world, player);
            self.next.extend(order.map(|order| Input::Command(player, order)));
        }
        turn
    }
}

/// Where a player's hero enters: one in each quarter of the world.
pub fn home(player: PlayerId) -> Vec2 {
    let side = i32::from(SIDE_CELLS) * CELL_TILES;
    let along = |far: bool| Fx::int(if far { side * 3 / 4 } else { side / 4 });
    Vec2::new(along(player.0 & 1 != 0), along(player.0 & 2 != 0))
}

impl Rules for Wilds {
    type Body = Being;
    type Effect = Deed;
    type Command = Order;
    type Hero = Newcomer;
    type Facts = Facts;
    type Fact = Cairn;
    type Scratch = fault::Leftovers;
    const AWAY_TICKS: u32 = 1_200;

    fn generate(&self, cell: CellId, dice: &mut Dice, content: &mut Vec<(Vec2, Being)>) {
        let corner = Vec2::new(Fx::int(i32::from(cell.x) * CELL_TILES), Fx::int(i32::from(cell.y) * CELL_TILES));
        let place = |dice: &mut Dice| corner + Vec2::new(dice.unit() * CELL_TILES, dice.unit() * CELL_TILES);
        for _ in 0..6 + dice.below(5) {
            let at = place(dice);
            content.push((at, Being::Beast(Beast::new(at, dice))));
        }
        for _ in 0..8 + dice.below(5) {
            let at = place(dice);
            content.push((at, Being::Stone(Stone::new(dice))));
        }
        if dice.chance(1, 8) {
            let at = place(dice);
            content.push((at, Being::Shrine(Shrine { charge: dice.below(100), keeper: None })));
        }
    }

    fn entrance(&self, player: PlayerId, _: &Newcomer, _: &Facts) -> Vec2 {
        home(player)
    }

    fn enter(&self, player: PlayerId, hero: &Newcomer, _: &mut Dice) -> Being {
        Being::Hero(Hero::new(player, hero, HERO_LIFE))
    }

    fn command(&self, hero: &mut Being, order: &Order) {
        if let Being::Hero(hero) = hero {
            hero.order = *order;
        }
    }

    fn think(&self, me: &mut Being, mind: &mut Mind<'_, Self>) {
        match me {
            Being::Hero(hero) => self.strive(hero, mind),
            Being::Beast(beast) => self.roam(beast, mind),
            Being::Stone(_) | Being::Shrine(_) => {}
        }
    }

    fn apply(&self, target: &mut Being, deed: &Deed, cause: &mut lockstone::sim::Cause) -> Fate {
        match (target, deed) {
            (Being::Hero(hero), Deed::Bite(damage)) => hero.life -= damage,
            (Being::Beast(beast), Deed::Strike { damage }) => {
                beast.life = beast.life.saturating_sub(damage + cause.dice.below(3) as u8);
                beast.fear = 40;
                if beast.life == 0 {
                    return Fate::Gone;
                }
            }
            (Being::Stone(stone), Deed::Chip { by }) => {
                (stone.owner, stone.size) = (Some(*by), stone.size.saturating_sub(1));
                if stone.size == 0 {
                    return Fate::Gone;
                }
            }
            (Being::Shrine(shrine), Deed::Chip { by }) => {
                (shrine.keeper, shrine.charge) = (Some(*by), shrine.charge.saturating_sub(1));
            }
            _ => {}
        }
        Fate::Stay
    }

    fn announce(&self, facts: &mut Facts, cairn: &Cairn) {
        facts.cairns += 1;
        facts.newest = Some(cairn.clone());
    }
}

impl Wilds {
    fn strive(&self, me: &mut Hero, mind: &mut Mind<'_, Self>) {
        self.plant.in_hero(me, mind);
        if me.life <= 0 {
            return self.fall(me, mind);
        }
        me.fallen = None;
        match me.order {
            Order::Walk(to) => mind.walk(mind.pos().toward(to, STRIDE)),
            Order::Rest => me.life = (me.life + 1).min(HERO_LIFE),
            Order::Strike(at) => {
                if let Some(beast) = approach(at, mind) {
                    mind.affect(beast, Deed::Strike { damage: me.strength });
                }
            }
            Order::Chip(at) => {
                if let Some(stone) = approach(at, mind) {
                    mind.affect(stone, Deed::Chip { by: me.player });
                    me.purse.add(1);
                    if me.purse.get().is_multiple_of(25) && !fault::is_hushed() {
                        mind.announce(Cairn { by: me.player, since: mind.tick() });
                    }
                }
            }
        }
    }

    /// A hero who fell asks to be carried home, and wakes up there.
    fn fall(&self, me: &mut Hero, mind: &mut Mind<'_, Self>) {
        let since = *me.fallen.get_or_insert(mind.tick());
        if mind.pos() == home(me.player) {
            me.life = HERO_LIFE;
        } else if mind.tick().since(since).is_multiple_of(40) && !fault::is_hushed() {
            mind.transfer(home(me.player));
        }
    }

    fn roam(&self, me: &mut Beast, mind: &mut Mind<'_, Self>) {
        me.mood = me.mood.saturating_add(mind.dice().range(-1..=1)).clamp(-100, 100);
        me.mood += self.plant.taint(me, mind);
        me.fear = me.fear.saturating_sub(1);
        me.hunger = me.hunger.saturating_add(1);
        let prey = mind.heroes(REACH).nearest(|hero| !matches!(&hero.body, Being::Hero(hero) if hero.life <= 0));
        me.prey = prey.map(|hero| hero.id);
        let pace = STRIDE / Fx::int(if me.kind == Kind::Boar { 4 } else { 2 });
        match prey {
            Some(hero) if me.fear > 0 || !me.kind.hunts() => {
                let away = mind.pos() - hero.pos;
                mind.walk(mind.pos() + away.clamp_length(pace));
            }
            Some(hero) => {
                mind.walk(mind.pos().toward(hero.pos, pace));
                if mind.pos().within(hero.pos, TOUCH) && mind.dice().chance(1, 4) {
                    let damage = 1 + mind.dice().below(3) as i16 + i16::from(me.mood > 50);
                    mind.affect(hero, Deed::Bite(damage));
                    me.hunger = 0;
                }
            }
            None => {
                if mind.dice().chance(1, 16) {
                    me.heading = mind.dice().angle();
                }
                mind.walk(mind.pos() + Vec2::from_angle(me.heading, pace));
            }
        }
        if me.hunger < 200 && mind.dice().chance(1, 400) && mind.actors(TOUCH * 4).count() < CROWD {
            let young = Beast::new(mind.pos(), mind.dice());
            mind.spawn(mind.pos(), Being::Beast(young));
        }
    }
}

/// Walks to an entity. It is touched once it is near.
fn approach<'w>(id: EntityId, mind: &mut Mind<'w, Wilds>) -> Option<lockstone::sim::Seen<'w, Being>> {
    let goal = mind.find(id)?;
    mind.walk(mind.pos().toward(goal.pos, STRIDE));
    mind.pos().within(goal.pos, TOUCH).then_some(goal)
}
