//! Another small game with a fault of one's choice: sheep graze and fall asleep, wolves hunt them,
//! shepherds chase wolves, wake sheep and shear them. Its cells, reach and stride are other than
//! those of [`faulty`](crate::faulty). What is shorn is announced, and makes wolves bolder; shorn
//! sheep are taken to the fold, and have a lamb as far away as a thought can see.
//!
//! Each thought that a fault touches is drawn from the world's own dice, and never from a clock: so
//! all that differs between two plays is what the fault reads.

mod game;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::str::FromStr;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use lockstone::default_table;
use lockstone::sim::{
    Angle, Body, Cause, CellId, Dice, EntityId, Fate, Fx, Grid, GridConfig, Input, Mind, PlayerId, Rules, Simulation,
    Table, Tick, Turn, Vec2, World,
};
use serde::{Deserialize, Serialize};

use crate::faulty::{Count, FROM};
pub use game::Meadow;

/// The simulation.
pub type Sim = World<Pasture>;

const REACH: Fx = Fx::int(3);
const STRIDE: Fx = Fx::ratio(1, 4);
const CELL_TILES: i32 = 4;
const SIDE_CELLS: u16 = 12;
/// A sheep grazes so long, and turns around.
const GRAZES_TICKS: u8 = 24;
/// Where shorn sheep are taken.
const FOLD: Vec2 = Vec2::new(Fx::int(26), Fx::int(22));
/// So much wool is worth shearing, until a shepherd is told otherwise.
const LEAST_WOOL: u32 = 90;

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
    /// All wolves of a thread count on one static counter: one in so many howls draws.
    Counter(u64),
    /// A wolf takes the first of a set with a hasher of its own.
    HashOrder,
    /// One wolf in so many goes by something that is drawn anew for every process: this.
    Process { drawn: u64, one_in: u32 },
    /// Whoever draws a sheep leaves a trace in it.
    Scene,
    /// Howls are heard beyond reach, through the rules' back door.
    Reach,
    /// From [`FROM`] on a shepherd's staff is longer than can be.
    Panic,
}

impl FromStr for Wrong {
    type Err = String;

    fn from_str(name: &str) -> Result<Wrong, String> {
        let one_in = 40;
        Ok(match name {
            "none" => Wrong::Nothing,
            "clock" => Wrong::Clock,
            "unsaved" => Wrong::Unsaved,
            "hash-order" => Wrong::HashOrder,
            "panic" => Wrong::Panic,
            "process" => Wrong::Process { drawn: std::process::id().into(), one_in },
            "debug" => Wrong::Process { drawn: cfg!(debug_assertions).into(), one_in },
            "usize" => Wrong::Process { drawn: usize::BITS.into(), one_in },
            _ => {
                let known = "none, clock, unsaved, hash-order, panic, process, debug, usize";
                return Err(format!("FAULT is one of {known}; it is {name:?}"));
            }
        })
    }
}

/// The rules.
pub struct Pasture {
    wrong: Wrong,
    side_cells: u16,
    /// Who howled, by tick: forbidden.
    heard: Mutex<BTreeMap<Tick, BTreeSet<EntityId>>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Being {
    Shepherd {
        goal: Vec2,
        staff: u8,
        least: u32,
    },
    /// Asleep it is a prop: it does nothing until somebody wakes it.
    Sheep {
        heading: Angle,
        wool: u32,
        state: State,
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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    #[default]
    Grazes,
    Sleeps,
    Shorn,
    /// To be taken to the fold.
    Waits,
}

impl Body for Being {
    fn is_actor(&self) -> bool {
        !matches!(self, Being::Sheep { state: State::Sleeps, .. })
    }

    fn debugged(&self) -> Option<String> {
        Some(format!("{self:?}"))
    }
}

impl Being {
    fn sheep(heading: Angle, grazed: u8) -> Being {
        Being::Sheep { heading, wool: 0, state: State::Grazes, glances: Count::default(), grazed }
    }
}

/// What a player says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    Walk(Vec2),
    /// To shear what has at least so much wool.
    Shear(u32),
}

/// What one being does to another.
#[derive(Clone, Copy, Debug)]
pub enum Deed {
    Scare(u8),
    Bite,
    Wake,
    Shear,
}

/// What everyone knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Market {
    sold: u32,
    wool: u64,
}

thread_local! {
    /// How often a wolf has howled in this thread: tests play beside each other.
    static HOWLS: Cell<u64> = const { Cell::new(0) };
}

impl Rules for Pasture {
    type Body = Being;
    type Command = Order;
    type Hero = ();
    type Effect = Deed;
    type Facts = Market;
    /// So much wool was sold.
    type Fact = u32;
    type Scratch = ();

    fn generate(&self, cell: CellId, dice: &mut Dice, content: &mut Vec<(Vec2, Being)>) {
        let along = |n: u16, dice: &mut Dice| Fx::int(i32::from(n) * CELL_TILES) + dice.unit() * CELL_TILES;
        for n in 0..4 {
            let at = Vec2::new(along(cell.x, dice), along(cell.y, dice));
            let heading = dice.angle();
            let grazed = dice.below(GRAZES_TICKS.into()) as u8;
            content.push(match n {
                0 => (at, Being::Wolf { heading, hunger: dice.range(0..=9) }),
                _ => (at, Being::sheep(heading, grazed)),
            });
        }
    }

    fn entrance(&self, player: PlayerId, _: &(), _: &Market) -> Vec2 {
        place(player.0.into())
    }

    fn enter(&self, player: PlayerId, _: &(), _: &mut Dice) -> Being {
        Being::Shepherd { goal: place(player.0.into()), staff: 3, least: LEAST_WOOL }
    }

    fn command(&self, hero: &mut Being, order: &Order) {
        if let Being::Shepherd { goal, least, .. } = hero {
            match order {
                Order::Walk(to) => *goal = *to,
                Order::Shear(wool) => *least = (*wool).max(1),
            }
        }
    }

    fn announce(&self, market: &mut Market, wool: &u32) {
        market.sold += 1;
        market.wool = market.wool.wrapping_add(u64::from(*wool));
    }

    fn think(&self, me: &mut Being, mind: &mut Mind<'_, Self>) {
        match me {
            Being::Shepherd { goal, staff, least } => {
                if self.wrong == Wrong::Panic && mind.tick() >= FROM {
                    *staff = staff.checked_add(u8::MAX).expect("a staff is not that long");
                }
                if let Some(wolf) = mind.actors(REACH).nearest(|other| matches!(other.body, Being::Wolf { .. })) {
                    mind.affect(wolf, Deed::Scare(*staff));
                }
                if let Some(sheep) = mind.props(REACH).nearest(|_| true) {
                    mind.affect(sheep, Deed::Wake);
                }
                let is_worth = |other: &Being| matches!(other, Being::Sheep { wool, .. } if wool >= least);
                if let Some(sheep) = mind.actors(STRIDE * 4).nearest(|other| is_worth(&other.body)) {
                    mind.affect(sheep, Deed::Shear);
                }
                mind.walk(mind.pos().toward(*goal, STRIDE));
            }
            Being::Sheep { state: State::Sleeps, .. } => {}
            Being::Sheep { heading, wool, state, .. } if *state == State::Shorn => {
                mind.announce(core::mem::take(wool));
                mind.transfer(FOLD);
                mind.spawn(mind.pos() + Vec2::new(REACH, Fx::ZERO), Being::sheep(*heading, 0));
                *state = State::Waits;
            }
            Being::Sheep { state, .. } if *state == State::Waits => {
                if mind.pos().within(FOLD, STRIDE) {
                    *state = State::Grazes;
                }
            }
            Being::Sheep { heading, wool, state, glances, grazed } => {
                *wool = wool.wrapping_add(1 + glances.get());
                *grazed = (*grazed + 1) % GRAZES_TICKS;
                let turns = match self.wrong {
                    Wrong::Unsaved => *grazed == 0,
                    _ => mind.dice().chance(1, GRAZES_TICKS.into()),
                };
                if turns {
                    *heading = mind.dice().angle();
                }
                if mind.dice().chance(1, 256) {
                    *state = State::Sleeps;
                }
                mind.walk(mind.pos() + Vec2::from_angle(*heading, STRIDE / Fx::int(4)));
            }
            Being::Wolf { heading, hunger } => {
                let bold = (mind.facts().sold % 4) as i32;
                *hunger = (*hunger + 1 + bold).clamp(0, 1_000) + self.howl(mind);
                if mind.dice().chance(1, 16) {
                    *heading = mind.dice().angle();
                }
                if let Some(sheep) = mind.actors(STRIDE).nearest(|other| matches!(other.body, Being::Sheep { .. })) {
                    mind.affect(sheep, Deed::Bite);
                    *hunger = 0;
                }
                mind.walk(mind.pos() + Vec2::from_angle(*heading, STRIDE / Fx::int(2)));
            }
        }
    }

    fn apply(&self, target: &mut Being, deed: &Deed, _: &mut Cause) -> Fate {
        match (target, deed) {
            (Being::Sheep { wool, .. }, Deed::Bite) => *wool /= 2,
            (Being::Sheep { state, .. }, Deed::Wake) if *state == State::Sleeps => *state = State::Grazes,
            (Being::Sheep { state, .. }, Deed::Shear) if *state == State::Grazes => *state = State::Shorn,
            (Being::Wolf { hunger, .. }, Deed::Scare(staff)) => *hunger -= i32::from(*staff),
            _ => {}
        }
        Fate::Stay
    }
}

impl Pasture {
    fn of(wrong: Wrong, side_cells: u16) -> Pasture {
        Pasture { wrong, side_cells, heard: Mutex::default() }
    }

    fn grid(&self) -> Grid {
        let (width_cells, height_cells) = (self.side_cells, self.side_cells);
        let config = GridConfig { width_cells, height_cells, cell_log2: 2, reach: REACH, stride: STRIDE, light: 4 };
        Grid::new(config).expect("the measures are sound")
    }

    /// What a howl adds to a wolf's hunger: nothing in a sound game.
    fn howl(&self, mind: &mut Mind<'_, Self>) -> i32 {
        match self.wrong {
            Wrong::Clock if mind.dice().chance(1, 64) => {
                let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
                since.map_or(0, |since| (since.subsec_nanos() % 997) as i32)
            }
            Wrong::Counter(one_in) if HOWLS.replace(HOWLS.get() + 1).is_multiple_of(one_in) => {
                mind.dice().range(1..=900) // the counter's draw
            }
            Wrong::HashOrder if mind.dice().chance(1, 64) => {
                let prices: HashSet<i32> = (0..500).collect();
                prices.into_iter().next().unwrap_or(0)
            }
            Wrong::Reach => {
                let (id, tick, mut heard) = (mind.me().id, mind.tick(), self.heard.lock().expect("nobody panics here"));
                if mind.dice().chance(1, 8) {
                    heard.entry(tick).or_default().insert(id);
                }
                let before = tick.0.checked_sub(1).and_then(|tick| heard.get(&Tick(tick))).map_or(0, BTreeSet::len);
                if mind.dice().chance(1, 64) { before as i32 } else { 0 }
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
    let rules = Pasture::of(wrong, SIDE_CELLS);
    let grid = rules.grid();
    World::new(Arc::new(rules), grid, table, seed)
}

/// Two shepherds enter at tick 0, and walk about. What beings ask for comes in the turn after.
pub fn turns(seed: u64, ticks: u32) -> Vec<Turn<Sim>> {
    let mut world = world(seed, Wrong::Nothing);
    let mut turn = |tick: u32| {
        let mut inputs: Vec<_> = world.requests().iter().cloned().map(Input::Request).collect();
        let said = |n: u16| match tick / 15 % 4 {
            3 => Order::Shear(40 + tick % 60),
            _ => Order::Walk(place(tick + u32::from(n))),
        };
        match tick {
            0 => inputs.extend([0, 1].map(|n| Input::Join(PlayerId(n), world.admit(PlayerId(n), ())))),
            _ if tick.is_multiple_of(15) => inputs.extend([0, 1].map(|n| Input::Command(PlayerId(n), said(n)))),
            _ => {}
        }
        let turn = Turn { inputs };
        world.step(&turn);
        turn
    };
    (0..ticks).map(&mut turn).collect()
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
