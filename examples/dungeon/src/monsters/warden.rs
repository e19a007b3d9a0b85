//! The warden: sleeps before the portal, and awake throws rings of fire.

use lockstone::sim::{Angle, Fx};

use super::{Monster, Mood, sense};
use crate::map::Map;
use crate::projectile::{Flight, Projectile};
use crate::rules::DungeonMind;

/// How long from ring to ring.
const RING_TICKS: u32 = 70;
/// How many orbs a ring has.
const RING_ORBS: u16 = 10;
/// How far an orb's fire goes.
const FIRE: Fx = Fx::ratio(7, 10);

pub(super) fn think(map: &Map, me: &mut Monster, mind: &mut DungeonMind<'_>) {
    let prey = sense::prey(map, me, mind);
    if !matches!(me.mood, Mood::Hunt { .. }) {
        return;
    }
    if mind.tick().0.is_multiple_of(RING_TICKS) {
        ring_of_fire(me, mind);
    }
    sense::close_in(map, me, mind, prey, None);
}

/// Orbs in all directions, every other time turned by half a gap.
fn ring_of_fire(me: &Monster, mind: &mut DungeonMind<'_>) {
    let gap = u16::MAX / RING_ORBS;
    let turned = if (mind.tick().0 / RING_TICKS).is_multiple_of(2) { 0 } else { gap / 2 };
    let here = mind.pos();
    for n in 0..RING_ORBS {
        let by = me.roll_damage(mind) / 2;
        mind.spawn(here, Projectile::body(Angle(n * gap + turned), Flight::Orb { fire: FIRE }, by, Some(me.race)));
    }
}
