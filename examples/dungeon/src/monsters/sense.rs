//! How monsters notice, follow and forget heroes.

use lockstone::sim::{Fx, Seen, Vec2};

use super::{Monster, Mood, bite};
use crate::body::{Body, nearest};
use crate::hero::Hero;
use crate::map::{Map, center_of, tile_of};
use crate::measures::REACH;
use crate::rules::DungeonMind;
use crate::walk::chase;

/// A hero is noticed so near, if it is in sight.
pub(super) const SIGHT: Fx = Fx::int(8);
/// A waiting monster looks around only every so many ticks.
const LOOK_TICKS: u32 = 4;
/// A hunter gives up when it has not seen its prey for so long.
const FORGET_TICKS: u8 = 80;
/// Monsters keep so far apart.
const ELBOW: Fx = Fx::ratio(7, 10);
/// How hard they push each other, in tiles a tick.
const PUSH: Fx = Fx::ratio(6, 100);

/// A hunting monster looks for its prey; a waiting one looks for any. The hero it hunts now, if
/// that is within reach.
pub(super) fn prey<'w>(map: &Map, me: &mut Monster, mind: &DungeonMind<'w>) -> Option<Seen<'w, Body>> {
    match me.mood {
        Mood::Hunt { prey, .. } => follow(map, me, mind, mind.find(prey).filter(is_prey)),
        Mood::Alarmed => {
            me.mood = Mood::Idle;
            notice(me, nearest(mind.heroes(REACH), is_prey))
        }
        _ if !looks_around(mind) => None,
        _ => notice(me, nearest(mind.heroes(SIGHT), |hero| is_prey(hero) && map.sees(mind.pos(), hero.pos))),
    }
}

/// Whether a waiting monster looks around in this tick: they take turns.
pub(super) fn looks_around(mind: &DungeonMind<'_>) -> bool {
    mind.tick().0.wrapping_add(mind.me().id.0 as u32).is_multiple_of(LOOK_TICKS)
}

fn is_prey(seen: &Seen<'_, Body>) -> bool {
    seen.body.hero().is_some_and(Hero::is_prey)
}

/// A hero becomes the prey.
fn notice<'w>(me: &mut Monster, hero: Option<Seen<'w, Body>>) -> Option<Seen<'w, Body>> {
    let hero = hero?;
    me.mood = Mood::Hunt { prey: hero.id, place: tile_of(hero.pos).into() };
    me.calm_ticks = 0;
    Some(hero)
}

/// Keeps the place of the prey in mind as long as it is in sight, and forgets it after a while.
fn follow<'w>(
    map: &Map,
    me: &mut Monster,
    mind: &DungeonMind<'w>,
    prey: Option<Seen<'w, Body>>,
) -> Option<Seen<'w, Body>> {
    match prey {
        Some(seen) if map.sees(mind.pos(), seen.pos) => {
            me.mood = Mood::Hunt { prey: seen.id, place: tile_of(seen.pos).into() };
            me.calm_ticks = 0;
        }
        _ => me.calm_ticks = me.calm_ticks.saturating_add(1),
    }
    if me.calm_ticks >= FORGET_TICKS {
        me.calm_ticks = 0;
        me.mood = Mood::Idle;
        return None;
    }
    prey
}

/// Bites the prey if it is in range, else goes to `to`, or to where the prey was seen last.
pub(super) fn close_in(
    map: &Map,
    me: &mut Monster,
    mind: &mut DungeonMind<'_>,
    prey: Option<Seen<'_, Body>>,
    to: Option<Vec2>,
) {
    let Mood::Hunt { place, .. } = me.mood else { return };
    let here = mind.pos();
    let range = me.race.measures().range;
    if let Some(prey) = prey.filter(|prey| here.within(prey.pos, range) && map.sees(here, prey.pos)) {
        if me.rest_ticks == 0 {
            bite(me, mind, prey);
        }
        return stand_apart(map, mind, here);
    }
    let to = to.or(prey.map(|prey| prey.pos)).unwrap_or(center_of(place.into()));
    let next = chase(map, mind.scratch, here, to, me.race.measures().step);
    stand_apart(map, mind, next);
}

/// Goes to `next`, pushed a little by those who stand too near.
pub(super) fn stand_apart(map: &Map, mind: &mut DungeonMind<'_>, next: Vec2) {
    let here = mind.pos();
    let crowd = mind.actors(ELBOW).filter(|seen| seen.body.is_foe());
    let away: Vec2 = crowd.map(|seen| here - seen.pos).sum();
    let pushed = next + away.clamp_length(PUSH);
    let next = if map.passes(here, pushed) { pushed } else { next };
    mind.walk(next);
}
