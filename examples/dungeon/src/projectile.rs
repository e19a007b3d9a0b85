//! Arrows and orbs: they fly straight, hit the first foe they meet, and stop at walls.

#![deny(clippy::float_arithmetic)]

use lockstone::sim::{Angle, Fx, Vec2};
use serde::{Deserialize, Serialize};

use crate::body::{Body, Effect, nearest};
use crate::hero::Hero;
use crate::map::Map;
use crate::monsters::Race;
use crate::rules::DungeonMind;

/// How far an arrow flies in a tick, in tiles.
const ARROW_STEP: Fx = Fx::ratio(3, 5);
/// How far an orb flies in a tick, in tiles.
const ORB_STEP: Fx = Fx::ratio(9, 20);
/// How near to its course a foe is hit.
const GIRTH: Fx = Fx::ratio(11, 20);
/// How long anything flies.
const FLIGHT_TICKS: u8 = 28;

/// An arrow or an orb in flight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Projectile {
    /// Where it flies.
    pub course: Angle,
    /// What it is.
    pub flight: Flight,
    /// The damage that it does, before armour.
    pub by: u16,
    /// Who shot it; `None` for a hero.
    pub race: Option<Race>,
    /// How long it still flies.
    pub ticks: u8,
}

/// What flies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Flight {
    /// Hits one.
    Arrow {
        /// How far it flies in a tick, in tiles.
        step: Fx,
    },
    /// Bursts into fire.
    Orb {
        /// How far the fire goes, in tiles.
        fire: Fx,
    },
}

impl Flight {
    /// A hero's arrow.
    pub const ARROW: Flight = Flight::Arrow { step: ARROW_STEP };

    /// How far it flies in a tick, in tiles.
    pub const fn step(self) -> Fx {
        match self {
            Flight::Arrow { step } => step,
            Flight::Orb { .. } => ORB_STEP,
        }
    }

    /// Whether it would fly from one place to the other without meeting a wall. A line of sight
    /// from tile to tile does not tell: who stands at a corner sees past it and shoots into it.
    pub(crate) fn reaches(self, map: &Map, from: Vec2, to: Vec2) -> bool {
        let stride = Vec2::from_angle((to - from).angle(), self.step());
        let mut at = from;
        for _ in 0..FLIGHT_TICKS {
            if at.within(to, GIRTH) {
                return true;
            }
            if !map.passes(at, at + stride) {
                return false;
            }
            at += stride;
        }
        false
    }
}

impl Projectile {
    /// One that is just let go.
    pub fn body(course: Angle, flight: Flight, by: u16, race: Option<Race>) -> Body {
        Body::Projectile(Projectile { course, flight, by, race, ticks: FLIGHT_TICKS })
    }

    fn may_hit(&self, body: &Body) -> bool {
        match self.race {
            None => body.is_foe(),
            Some(_) => body.hero().is_some_and(Hero::is_prey),
        }
    }
}

/// One tick of flight.
pub(crate) fn think(map: &Map, me: &mut Projectile, mind: &mut DungeonMind<'_>) {
    let (here, next) = (mind.pos(), mind.pos() + Vec2::from_angle(me.course, me.flight.step()));
    if hit(map, me, mind, here) {
        return mind.vanish();
    }
    me.ticks = me.ticks.saturating_sub(1);
    if me.ticks == 0 || !map.passes(here, next) {
        burn(map, me, mind, here);
        return mind.vanish();
    }
    mind.walk(next);
}

/// Hits what is near; an orb burns all around.
fn hit(map: &Map, me: &Projectile, mind: &mut DungeonMind<'_>, here: Vec2) -> bool {
    let near = mind.actors(GIRTH).chain(mind.props(GIRTH));
    let Some(first) = nearest(near, |seen| me.may_hit(&seen.body)) else { return false };
    match me.flight {
        Flight::Arrow { .. } => mind.affect(first, Effect::Hurt { by: me.by, race: me.race }),
        Flight::Orb { .. } => burn(map, me, mind, here),
    }
    true
}

fn burn(map: &Map, me: &Projectile, mind: &mut DungeonMind<'_>, here: Vec2) {
    let Flight::Orb { fire } = me.flight else { return };
    let near = mind.actors(fire).chain(mind.props(fire));
    for foe in near.filter(|seen| me.may_hit(&seen.body) && map.sees(here, seen.pos)) {
        mind.affect(foe, Effect::Hurt { by: me.by, race: me.race });
    }
}
