//! Another small game with a fault of one's choice: sheep graze, wolves hunt them, shepherds chase
//! wolves. Its cells, reach and stride are other than those of [`faulty`](crate::faulty).
//!
//! Each thought that a fault touches is drawn from the world's own dice, and never from a clock: so
//! all that differs between two plays is what the fault reads.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use lockstone::default_table;
use lockstone::sim::{
    Angle, Body, Cause, CellId, Dice, Fate, Fx, Grid, GridConfig, Input, Mind, PlayerId, Rules, Simulation, Table,
    Turn, Vec2, World,
};
use serde::{Deserialize, Serialize};

use crate::faulty::Count;

/// The simulation.
pub type Sim = World<Pasture>;

const REACH: Fx = Fx::int(3);
const STRIDE: Fx = Fx::ratio(1, 4);
const CELL_TILES: i32 = 4;
const SIDE_CELLS: u16 = 12;
/// A sheep grazes so long, and turns around.
const GRAZES_TICKS: u8 = 24;

/// What is wrong with the game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wrong {
    /// Nothing.
    #[default]
    Nothing,
    /// A wolf reads the clock.
    Clock,
    /// How long a sheep has grazed is in no snapshot.
    Unsaved,
    /// All wolves of a process count on one static counter: one in so many howls draws.
    Counter(u64),
    /// A wolf takes the first of a set with a hasher of its own.
    HashOrder,
    /// One wolf in so many goes by something that is drawn anew for every process: this.
    Process { drawn: u64, one_in: u32 },
    /// Whoever draws a sheep leaves a trace in it.
    Scene,
}

/// The rules.
pub struct Pasture {
    wrong: Wrong,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Being {
    Shepherd {
        goal: Vec2,
        staff: u8,
    },
    Sheep {
        heading: Angle,
        wool: u32,
        glances: Count,
        /// Saved by nobody; without [`Wrong::Unsaved`] of no effect.
        #[serde(skip)]
        grazed: u8,
    },
    Wolf {
        heading: Angle,
        hunger: i32,
    },
}

impl Body for Being {
    fn is_actor(&self) -> bool {
        true
    }
}

/// How often a wolf has howled in this process.
static HOWLS: AtomicU64 = AtomicU64::new(0);

impl Rules for Pasture {
    type Body = Being;
    type Command = Vec2;
    type Hero = ();
    type Effect = i32;
    type Facts = ();
    type Fact = ();
    type Scratch = ();

    fn generate(&self, cell: CellId, dice: &mut Dice, content: &mut Vec<(Vec2, Being)>) {
        let along = |n: u16, dice: &mut Dice| Fx::int(i32::from(n) * CELL_TILES) + dice.unit() * CELL_TILES;
        for n in 0..4 {
            let at = Vec2::new(along(cell.x, dice), along(cell.y, dice));
            let heading = dice.angle();
            let grazed = dice.below(GRAZES_TICKS.into()) as u8;
            content.push(match n {
                0 => (at, Being::Wolf { heading, hunger: dice.range(0..=9) }),
                _ => (at, Being::Sheep { heading, wool: 0, glances: Count::default(), grazed }),
            });
        }
    }

    fn entrance(&self, player: PlayerId, _: &(), _: &()) -> Vec2 {
        place(player.0.into())
    }

    fn enter(&self, player: PlayerId, _: &(), _: &mut Dice) -> Being {
        Being::Shepherd { goal: place(player.0.into()), staff: 3 }
    }

    fn command(&self, hero: &mut Being, to: &Vec2) {
        if let Being::Shepherd { goal, .. } = hero {
            *goal = *to;
        }
    }

    fn think(&self, me: &mut Being, mind: &mut Mind<'_, Self>) {
        match me {
            Being::Shepherd { goal, staff } => {
                if let Some(wolf) = mind.actors(REACH).nearest(|other| matches!(other.body, Being::Wolf { .. })) {
                    mind.affect(wolf, -i32::from(*staff));
                }
                mind.walk(mind.pos().toward(*goal, STRIDE));
            }
            Being::Sheep { heading, wool, glances, grazed } => {
                *wool = wool.wrapping_add(1 + glances.get());
                *grazed = (*grazed + 1) % GRAZES_TICKS;
                let turns = match self.wrong {
                    Wrong::Unsaved => *grazed == 0,
                    _ => mind.dice().chance(1, GRAZES_TICKS.into()),
                };
                if turns {
                    *heading = mind.dice().angle();
                }
                mind.walk(mind.pos() + Vec2::from_angle(*heading, STRIDE / Fx::int(4)));
            }
            Being::Wolf { heading, hunger } => {
                *hunger = (*hunger + 1).clamp(0, 1_000) + self.howl(mind);
                if mind.dice().chance(1, 16) {
                    *heading = mind.dice().angle();
                }
                if let Some(sheep) = mind.actors(STRIDE).nearest(|other| matches!(other.body, Being::Sheep { .. })) {
                    mind.affect(sheep, 1);
                    *hunger = 0;
                }
                mind.walk(mind.pos() + Vec2::from_angle(*heading, STRIDE / Fx::int(2)));
            }
        }
    }

    fn apply(&self, target: &mut Being, by: &i32, _: &mut Cause) -> Fate {
        match target {
            Being::Sheep { wool, .. } => *wool /= 2,
            Being::Wolf { hunger, .. } => *hunger += by,
            Being::Shepherd { .. } => {}
        }
        Fate::Stay
    }
}

impl Pasture {
    /// What a howl adds to a wolf's hunger: nothing in a sound game.
    fn howl(&self, mind: &mut Mind<'_, Self>) -> i32 {
        match self.wrong {
            Wrong::Clock if mind.dice().chance(1, 64) => {
                let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
                since.map_or(0, |since| (since.subsec_nanos() % 997) as i32)
            }
            Wrong::Counter(one_in) if HOWLS.fetch_add(1, Ordering::Relaxed).is_multiple_of(one_in) => {
                mind.dice().range(1..=900) // the counter's draw
            }
            Wrong::HashOrder if mind.dice().chance(1, 64) => {
                let prices: HashSet<i32> = (0..500).collect();
                prices.into_iter().next().unwrap_or(0)
            }
            Wrong::Process { drawn, one_in } if mind.dice().chance(1, one_in) => 1 + (drawn % 9) as i32,
            _ => 0,
        }
    }
}

/// The world before its first tick.
pub fn world(seed: u64, wrong: Wrong) -> Sim {
    world_of(seed, default_table(), wrong)
}

/// One with a table of its own.
pub fn world_of(seed: u64, table: Table, wrong: Wrong) -> Sim {
    let (width_cells, height_cells) = (SIDE_CELLS, SIDE_CELLS);
    let config = GridConfig { width_cells, height_cells, cell_log2: 2, reach: REACH, stride: STRIDE, light: 4 };
    World::new(Arc::new(Pasture { wrong }), Grid::new(config).expect("the measures are sound"), table, seed)
}

/// Two shepherds enter at tick 0, and walk about.
pub fn turns(ticks: u32) -> Vec<Turn<Sim>> {
    let world = world(0, Wrong::Nothing);
    let said = |tick: u32| match tick {
        0 => [0, 1].map(|n| Input::Join(PlayerId(n), world.admit(PlayerId(n), ()))).into(),
        _ if tick.is_multiple_of(15) => [0, 1].map(|n| Input::Command(PlayerId(n), place(tick + u32::from(n)))).into(),
        _ => Vec::new(),
    };
    (0..ticks).map(|tick| Turn { inputs: said(tick) }).collect()
}

/// Draws what a view shows: all sheep, as often as there are pictures to a tick.
pub fn draw(world: &Sim, pictures: u32) {
    let beings = world.cells().flat_map(|cell| world.actors(cell));
    for being in beings {
        if let (Wrong::Scene, Being::Sheep { wool, glances, .. }) = (world.rules().wrong, &being.body)
            && wool.is_multiple_of(64)
        {
            glances.add(pictures);
        }
    }
}

/// A place that a command can name.
fn place(n: u32) -> Vec2 {
    let along = |n: u32| Fx::int(4 + (n * 7 % 40) as i32);
    Vec2::new(along(n), along(n / 2))
}
