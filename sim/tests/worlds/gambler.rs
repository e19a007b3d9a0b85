//! Rules whose draws and effects are a plan: so a fault can be planted anywhere in it, and its
//! lines are known.

use std::sync::Arc;

use lockstone_sim::journal::Journal;
use lockstone_sim::{
    Body, Cause, Dice, Fate, Fx, Grid, GridConfig, Input, Mind, PlayerId, Rules, Simulation, Table, Tick, Turn, Vec2,
    World,
};
use serde::{Deserialize, Serialize};

pub struct Gambler {
    plan: Vec<Act>,
}

/// What the first hero does in tick 2.
#[derive(Clone, Copy)]
pub enum Act {
    /// Draws for a consumer.
    Draw(usize),
    /// Hits everyone else.
    Hit(u32),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Purse(u64);

impl Body for Purse {
    fn is_actor(&self) -> bool {
        true
    }
}

impl Rules for Gambler {
    type Body = Purse;
    type Effect = u32;
    type Command = ();
    type Hero = ();
    type Facts = ();
    type Fact = ();
    type Scratch = ();

    fn entrance(&self, player: PlayerId, _: &(), _: &()) -> Vec2 {
        Vec2::new(Fx::int(8 + i32::from(player.0)), Fx::int(8))
    }

    fn enter(&self, _: PlayerId, _: &(), _: &mut Dice) -> Purse {
        Purse(0)
    }

    fn command(&self, _: &mut Purse, (): &()) {}

    fn think(&self, me: &mut Purse, mind: &mut Mind<'_, Self>) {
        if mind.me().player != Some(PlayerId(0)) || mind.tick() < Tick(2) {
            return;
        }
        for act in &self.plan {
            match *act {
                // What is done with a draw does not tell on the state: a journal must
                // find it by itself.
                Act::Draw(which) => _ = draw(which, mind.dice()),
                Act::Hit(by) => mind.actors(Fx::int(2)).for_each(|other| mind.affect(other, by)),
            }
        }
        me.0 += 1;
    }

    fn apply(&self, target: &mut Purse, by: &u32, _: &mut Cause) -> Fate {
        target.0 += u64::from(*by);
        Fate::Stay
    }
}

const FIRST_LINE: u32 = line!() + 4;

fn draw(which: usize, dice: &mut Dice) -> u32 {
    match which {
        0 => dice.below(6),
        1 => dice.chance(1, 3).into(),
        2 => dice.range(-5..=5).unsigned_abs(),
        3 => dice.angle().0.into(),
        4 => dice.below(6) + 1,
        5 => dice.next_u32(),
        6 => dice.unit().to_bits().unsigned_abs(),
        _ => *dice.pick(&[1, 2, 3]).expect("there are three"),
    }
}

/// The line in which a consumer draws.
pub fn line_of(which: usize) -> u32 {
    FIRST_LINE + which as u32
}

impl Gambler {
    pub const CONSUMERS: u32 = 8;
}

/// The journal of tick 2, in which the first of two heroes follows a plan.
pub fn solo(table: &Table, seed: u64, plan: Vec<Act>) -> Journal {
    let grid = Grid::new(GridConfig::default()).expect("the defaults are sound");
    let mut world = World::new(Arc::new(Gambler { plan }), grid, table.clone(), seed);
    let join = |world: &World<Gambler>, player| Input::Join(player, world.admit(player, ()));
    let inputs = vec![join(&world, PlayerId(0)), join(&world, PlayerId(1))];
    world.step(&Turn { inputs });
    world.step(&Turn::EMPTY);
    let mut journal = Journal::default();
    world.step_noted(&Turn::EMPTY, &mut journal);
    journal
}
