//! The brood-mother, who spawns broodlings while heroes are near, and the broodlings, who bite.

use lockstone::sim::Fx;
use lockstone::sim::path::Direction;

use super::{Kin, Monster, Mood, Race, sense};
use crate::body::Body;
use crate::map::{Map, center_of, tile_of};
use crate::measures::REACH;
use crate::rules::DungeonMind;

/// A mother stops spawning when so many of her broodlings are within her reach.
pub const BROOD_MAX: usize = 6;
/// How long from broodling to broodling.
const SPAWN_TICKS: u32 = 36;
/// A mother follows nobody farther than this.
const NEST: Fx = Fx::int(3);

pub(super) fn think(map: &Map, me: &mut Monster, mind: &mut DungeonMind<'_>) {
    let prey = sense::prey(map, me, mind);
    sense::close_in(map, me, mind, prey, None);
}

pub(super) fn think_mother(map: &Map, me: &mut Monster, mind: &mut DungeonMind<'_>) {
    let prey = sense::prey(map, me, mind);
    if !matches!(me.mood, Mood::Hunt { .. }) {
        return;
    }
    let beat = mind.tick().0.wrapping_add(mind.me().id.0 as u32);
    if beat.is_multiple_of(SPAWN_TICKS) && brood(mind) < BROOD_MAX {
        spawn(map, me, mind);
    }
    let near = prey.filter(|prey| mind.pos().within(prey.pos, NEST));
    if near.is_some() {
        sense::close_in(map, me, mind, near, None);
    }
}

/// How many of her broodlings live within reach.
fn brood(mind: &DungeonMind<'_>) -> usize {
    let me = mind.me().id;
    let hers = |monster: &Monster| monster.kin == Kin::Mother(me) && !monster.is_slain();
    mind.actors(REACH).filter(|seen| seen.body.monster().is_some_and(hers)).count()
}

fn spawn(map: &Map, me: &Monster, mind: &mut DungeonMind<'_>) {
    let here = tile_of(mind.pos());
    let ways: Vec<Direction> = Direction::ALL.into_iter().filter(|&way| map.tiles().can_step(here, way)).collect();
    let Some(&way) = mind.dice().pick(&ways) else { return };
    let mut broodling = Monster::new(Race::Broodling, me.level);
    broodling.kin = Kin::Mother(mind.me().id);
    broodling.mood = me.mood;
    mind.spawn(center_of(here.step(way)), Body::Monster(broodling));
}
