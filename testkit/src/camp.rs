//! Rules of a few lines for a whole world, with a fault that can be planted: heroes walk where they
//! are told, and warm who is near.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use lockstone::default_table;
use lockstone::sim::{Body, Cause, Dice, Fate, Fx, Grid, GridConfig, Mind, PlayerId, Rules, Tick, Vec2, World};
use serde::{Deserialize, Serialize};

#[derive(Clone, Serialize, Deserialize)]
pub struct Walker {
    goal: Vec2,
    warmth: u32,
}

impl Body for Walker {
    fn is_actor(&self) -> bool {
        true
    }
}

/// A counter outside of the world, which rules must not have: from a tick on, each thought adds
/// one and reads it.
struct Plant {
    from: Tick,
    counter: AtomicU32,
}

#[derive(Default)]
pub struct Camp {
    plant: Option<Plant>,
}

impl Camp {
    /// A world of these rules, with a fault from a tick on.
    pub fn world(seed: u64, plant_from: Option<Tick>) -> World<Camp> {
        let plant = plant_from.map(|from| Plant { from, counter: AtomicU32::new(0) });
        let grid = Grid::new(GridConfig::default()).expect("the defaults are sound");
        World::new(Arc::new(Camp { plant }), grid, default_table(), seed)
    }
}

/// A place that a command can name.
pub fn place(n: u64) -> Vec2 {
    Vec2::new(Fx::int(4 + (n % 24) as i32), Fx::int(4 + (n / 24 % 24) as i32))
}

impl Rules for Camp {
    type Body = Walker;
    type Effect = u32;
    type Command = Vec2;
    type Hero = Vec2;
    type Facts = ();
    type Fact = ();
    type Scratch = ();

    fn entrance(&self, _: PlayerId, hero: &Vec2, _: &()) -> Vec2 {
        *hero
    }

    fn enter(&self, _: PlayerId, hero: &Vec2, dice: &mut Dice) -> Walker {
        Walker { goal: *hero, warmth: dice.below(100) }
    }

    fn command(&self, hero: &mut Walker, goal: &Vec2) {
        hero.goal = *goal;
    }

    fn think(&self, me: &mut Walker, mind: &mut Mind<'_, Self>) {
        mind.walk(mind.pos().toward(me.goal, Fx::ratio(1, 4)));
        mind.actors(Fx::int(2)).for_each(|other| mind.affect(other, 1));
        if let Some(plant) = &self.plant
            && mind.tick() >= plant.from
        {
            me.warmth = me.warmth.wrapping_add(plant.counter.fetch_add(1, Ordering::Relaxed));
        }
    }

    fn apply(&self, target: &mut Walker, warmth: &u32, _: &mut Cause) -> Fate {
        target.warmth = target.warmth.wrapping_add(*warmth);
        Fate::Stay
    }
}
