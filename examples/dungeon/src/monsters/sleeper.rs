//! The sleeper: a prop that costs nothing until a hero comes near or hurts it. When nobody is left
//! it falls asleep again.

use super::{Monster, Mood, sense};
use crate::map::Map;
use crate::rules::DungeonMind;

/// How long it stays awake alone.
const TIRED_TICKS: u8 = 200;

pub(super) fn think(map: &Map, me: &mut Monster, mind: &mut DungeonMind<'_>) {
    let prey = sense::prey(map, me, mind);
    if me.mood != Mood::Idle {
        return sense::close_in(map, me, mind, prey, None);
    }
    me.calm_ticks = me.calm_ticks.saturating_add(1);
    if me.calm_ticks >= TIRED_TICKS {
        me.mood = Mood::Asleep;
        me.life = me.life_max();
        me.calm_ticks = 0;
    }
}
