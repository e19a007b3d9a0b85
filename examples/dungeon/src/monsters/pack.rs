//! The pack hunter: who sees a hero calls the pack, and they come from all sides.

use lockstone::sim::{Angle, Fx, Seen, Vec2};

use super::{Monster, Mood, Race, sense};
use crate::body::{Body, Effect};
use crate::map::Map;
use crate::measures::REACH;
use crate::rules::DungeonMind;

/// How long from call to call.
const CALL_TICKS: u32 = 20;
/// Each hunter makes for its own place around the prey, so far from it.
const CIRCLE: Fx = Fx::ONE;

pub(super) fn think(map: &Map, me: &mut Monster, mind: &mut DungeonMind<'_>) {
    let was_idle = !matches!(me.mood, Mood::Hunt { .. });
    let prey = sense::prey(map, me, mind);
    if let Mood::Hunt { prey, place } = me.mood
        && me.calm_ticks == 0
        && (was_idle || mind.tick().0.wrapping_add(mind.me().id.0 as u32).is_multiple_of(CALL_TICKS))
    {
        let pack = |seen: &Seen<'_, Body>| {
            seen.body.monster().is_some_and(|other| other.race == Race::Hunter && other.mood == Mood::Idle)
        };
        for other in mind.actors(REACH).filter(pack) {
            mind.affect(other, Effect::Call { prey, place });
        }
    }
    let flank = prey.map(|prey| around(map, mind, prey.pos));
    sense::close_in(map, me, mind, prey, flank);
}

/// The hunter's own side of the prey: each id has one.
fn around(map: &Map, mind: &DungeonMind<'_>, prey: Vec2) -> Vec2 {
    let flank = prey + Vec2::from_angle(Angle(mind.me().id.0 as u16), CIRCLE);
    if map.sees(prey, flank) { flank } else { prey }
}
