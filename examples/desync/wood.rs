//! The game: wolves wander and bite. Its bug is `rest`, which decides when a wolf turns around: no
//! snapshot holds it.

use std::sync::Arc;

use lockstone::default_table;
use lockstone::sim::*;
use serde::{Deserialize, Serialize};

/// The simulation.
pub type Sim = World<Wood>;

/// A wolf turns around every so many ticks.
const REST_TICKS: u8 = 32;

/// Who lives there.
#[derive(Clone, Serialize, Deserialize)]
pub enum Being {
    Hero {
        goal: Vec2,
        life: i32,
    },
    Wolf {
        heading: Angle,
        #[serde(skip)]
        rest: u8,
    },
}

impl Body for Being {
    fn is_actor(&self) -> bool {
        true
    }
}

/// The rules.
pub struct Wood;

impl Rules for Wood {
    type Body = Being;
    type Command = Vec2;
    type Hero = ();
    type Effect = i32;
    type Facts = ();
    type Fact = ();
    type Scratch = ();

    fn generate(&self, cell: CellId, dice: &mut Dice, content: &mut Vec<(Vec2, Being)>) {
        let at = Vec2::new(Fx::int(i32::from(cell.x) * 8 + 4), Fx::int(i32::from(cell.y) * 8 + 4));
        content.push((at, Being::Wolf { heading: dice.angle(), rest: dice.below(REST_TICKS.into()) as u8 }));
    }

    fn entrance(&self, player: PlayerId, _: &(), _: &()) -> Vec2 {
        place(player.0)
    }

    fn enter(&self, player: PlayerId, _: &(), _: &mut Dice) -> Being {
        Being::Hero { goal: place(player.0), life: 100 }
    }

    fn command(&self, hero: &mut Being, to: &Vec2) {
        if let Being::Hero { goal, .. } = hero {
            *goal = *to;
        }
    }

    fn think(&self, me: &mut Being, mind: &mut Mind<'_, Self>) {
        match me {
            Being::Hero { goal, .. } => mind.walk(mind.pos().toward(*goal, Fx::ratio(1, 4))),
            Being::Wolf { heading, rest } => {
                *rest = (*rest + 1) % REST_TICKS;
                if *rest == 0 {
                    *heading = mind.dice().angle();
                }
                if let Some(hero) = mind.heroes(Fx::int(2)).nearest(|_| true) {
                    let bite = mind.dice().range(1..=3);
                    mind.affect(hero, bite);
                }
                mind.walk(mind.pos() + Vec2::from_angle(*heading, Fx::ratio(1, 8)));
            }
        }
    }

    fn apply(&self, target: &mut Being, bite: &i32, _: &mut Cause) -> Fate {
        if let Being::Hero { life, .. } = target {
            *life -= bite;
        }
        Fate::Stay
    }
}

/// The world before its first tick.
pub fn world(seed: u64) -> Sim {
    let grid = GridConfig { width_cells: 8, height_cells: 8, ..GridConfig::default() };
    World::new(Arc::new(Wood), Grid::new(grid).expect("the measures are sound"), default_table(), seed)
}

/// A place that a command can name.
pub fn place(n: u16) -> Vec2 {
    let along = |n: u16| Fx::int(8 + i32::from(n * 5 % 48));
    Vec2::new(along(n), along(n / 2))
}
