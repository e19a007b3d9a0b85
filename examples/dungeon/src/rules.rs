//! The dungeon as rules of a Lockstone world: who thinks how, and what reaches whom.
//!
//! Nothing here may depend on anything but the map, the state and the dice.

#![deny(clippy::float_arithmetic)]

use lockstone::sim::path::{FlowField, Tile};
use lockstone::sim::{Cause, CellId, Dice, Fate, Grid, Mind, PlayerId, Rules, Table, Vec2};

use crate::body::{Body, Effect};
use crate::command::{Command, Newcomer};
use crate::facts::{Fact, Facts};
use crate::hero::{AWAY_TICKS, Hero, Order};
use crate::map::{Map, Plan, center_of};
use crate::measures::grid;
use crate::populate::{Place, Stock};
use crate::way::Wayfinder;
use crate::{hero, loot, monsters, populate, projectile};

/// The rules, with the map of a seed.
pub struct Dungeon {
    map: Map,
    grid: Grid,
    stock: Stock,
}

/// The mind of anyone in the dungeon.
pub type DungeonMind<'w> = Mind<'w, Dungeon>;

impl Dungeon {
    /// The ordinary dungeon of a seed.
    pub fn new(seed: u64, table: &Table) -> Dungeon {
        Dungeon::of(&Plan::ORDINARY, Stock::Wild, seed, table)
    }

    /// The dungeon of a plan and a seed.
    ///
    /// # Panics
    /// If there can be no such map: see [`Map::of`].
    pub fn of(plan: &Plan, stock: Stock, seed: u64, table: &Table) -> Dungeon {
        Dungeon { map: Map::of(plan, seed, table), grid: grid(plan.side_tiles), stock }
    }

    /// The measures of its world.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// The ground.
    pub fn map(&self) -> &Map {
        &self.map
    }
}

impl Rules for Dungeon {
    type Body = Body;
    type Effect = Effect;
    type Command = Command;
    type Hero = Newcomer;
    type Facts = Facts;
    type Fact = Fact;
    type Scratch = Scratch;
    const AWAY_TICKS: u32 = AWAY_TICKS;

    fn generate(&self, cell: CellId, dice: &mut Dice, content: &mut Vec<(Vec2, Body)>) {
        let place = Place { map: &self.map, grid: &self.grid, cell };
        populate::populate(&place, self.stock, dice, content);
    }

    fn entrance(&self, player: PlayerId, _hero: &Newcomer, _facts: &Facts) -> Vec2 {
        let n = i32::from(player.0);
        let tile = self.map.entrance(player);
        center_of(Tile::new(tile.x - 1 + n % 3, tile.y - 1 + n / 3 % 3))
    }

    fn enter(&self, _player: PlayerId, hero: &Newcomer, _dice: &mut Dice) -> Body {
        Body::Hero(Hero::new(hero))
    }

    fn command(&self, hero: &mut Body, command: &Command) {
        if let Body::Hero(hero) = hero {
            hero.obey(command);
        }
    }

    fn away(&self, hero: &mut Body) {
        if let Body::Hero(hero) = hero {
            hero.order = Order::Rest;
        }
    }

    fn back(&self, hero: &mut Body) {
        if let Body::Hero(hero) = hero {
            hero.order = Order::Stand;
        }
    }

    fn think(&self, me: &mut Body, mind: &mut DungeonMind<'_>) {
        match me {
            Body::Hero(me) => hero::think(&self.map, me, mind),
            Body::Monster(me) => monsters::think(&self.map, me, mind),
            Body::Projectile(me) => projectile::think(&self.map, me, mind),
            Body::Loot(me) => loot::think(me, mind),
            Body::Chest(me) => loot::think_chest(me, mind),
        }
    }

    fn apply(&self, target: &mut Body, effect: &Effect, cause: &mut Cause) -> Fate {
        match target {
            Body::Hero(hero) => hero.apply(effect, cause),
            Body::Monster(monster) => monster.apply(effect, cause),
            Body::Loot(loot) => loot.apply(effect, cause),
            Body::Chest(chest) => chest.opened |= *effect == Effect::Open,
            Body::Projectile(_) => {}
        }
        Fate::Stay
    }

    fn announce(&self, facts: &mut Facts, fact: &Fact) {
        facts.announce(*fact);
    }
}

/// Memory for finding ways. The flow fields are kept, which changes no result: the same goal on the
/// same map gives the same field.
#[derive(Default)]
pub struct Scratch {
    pub(crate) finder: Wayfinder,
    flows: Vec<FlowField>,
    oldest: usize,
}

/// How many flow fields are kept: more than there are heroes to hunt at a time in one place.
const FLOWS: usize = 8;
/// A hunted hero leads hunters from so far around, in tiles.
const FLOW_RADIUS_TILES: u8 = 14;

impl Scratch {
    /// The field that leads to a tile from all around.
    pub(crate) fn flow(&mut self, map: &Map, goal: Tile) -> &FlowField {
        if let Some(known) = self.flows.iter().position(|flow| flow.goal() == goal) {
            return &self.flows[known];
        }
        if self.flows.len() < FLOWS {
            self.oldest = self.flows.len();
            self.flows.push(FlowField::new());
        } else {
            self.oldest = (self.oldest + 1) % FLOWS;
        }
        let flow = &mut self.flows[self.oldest];
        flow.fill(map.tiles(), goal, FLOW_RADIUS_TILES);
        flow
    }
}
