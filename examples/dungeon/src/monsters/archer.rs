//! The archer: shoots from afar, gives way when a hero comes near, and fights only in a corner.

use lockstone::sim::{Fx, Seen, Vec2};

use super::{Monster, sense};
use crate::body::Body;
use crate::map::Map;
use crate::projectile::{Flight, Projectile};
use crate::rules::DungeonMind;

/// Nearer than this it gives way.
const TOO_NEAR: Fx = Fx::ratio(9, 2);
/// Its arrows are slow: one can step aside.
const ARROW: Flight = Flight::Arrow { step: Fx::ratio(2, 5) };

pub(super) fn think(map: &Map, me: &mut Monster, mind: &mut DungeonMind<'_>) {
    let prey = sense::prey(map, me, mind);
    let here = mind.pos();
    let in_range =
        prey.filter(|prey| here.within(prey.pos, me.race.measures().range) && ARROW.reaches(map, here, prey.pos));
    let Some(prey) = in_range else {
        return sense::close_in(map, me, mind, None, prey.map(|prey| prey.pos));
    };
    if me.rest_ticks == 0 {
        shoot(me, mind, prey);
    }
    if here.within(prey.pos, TOO_NEAR) {
        let away = (here - prey.pos).normalized() * me.race.measures().step;
        let next = map.slide(here, here + away);
        sense::stand_apart(map, mind, next);
    }
}

fn shoot(me: &mut Monster, mind: &mut DungeonMind<'_>, prey: Seen<'_, Body>) {
    me.rest_ticks = me.race.measures().attack_ticks;
    let by = me.roll_damage(mind);
    let course: Vec2 = prey.pos - mind.pos();
    mind.spawn(mind.pos(), Projectile::body(course.angle(), ARROW, by, Some(me.race)));
}
