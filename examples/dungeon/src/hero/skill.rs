//! Blows and skills.

use lockstone::sim::{Angle, Fx, Seen, Vec2};

use super::{Class, Hero};
use crate::body::{Body, Effect};
use crate::map::Map;
use crate::projectile::{Flight, Projectile};
use crate::rules::DungeonMind;

/// How far a whirl goes.
const WHIRL: Fx = Fx::ratio(11, 5);
/// The angle between the arrows of a volley, in 65,536ths of a turn.
const FAN: i32 = 1_400;
/// How far an orb's fire goes.
const ORB: Fx = Fx::ratio(9, 10);
/// How far a great orb's fire goes.
const GREAT_ORB: Fx = Fx::ratio(12, 5);

/// One blow or shot at a foe in range.
pub(super) fn strike(me: &mut Hero, mind: &mut DungeonMind<'_>, foe: Seen<'_, Body>) {
    let stats = me.stats();
    me.rest_ticks = stats.attack_ticks;
    let by = roll(me, mind, 100);
    match me.class {
        Class::Warrior => {
            mind.affect(foe, Effect::Hurt { by, race: None });
            me.life = me.life.saturating_add(stats.leech).min(stats.life);
        }
        Class::Ranger => shoot(mind, foe.pos, 0, Flight::ARROW, by),
        Class::Mage => shoot(mind, foe.pos, 0, Flight::Orb { fire: ORB }, by),
    }
}

/// Whether a blow from here meets who is there: no wall is in its way.
pub(super) fn meets(map: &Map, class: Class, here: Vec2, there: Vec2) -> bool {
    match class {
        Class::Warrior => map.sees(here, there),
        Class::Ranger => Flight::ARROW.reaches(map, here, there),
        Class::Mage => Flight::Orb { fire: ORB }.reaches(map, here, there),
    }
}

/// The skill that was commanded in this tick, if it is ready.
pub(super) fn cast(map: &Map, me: &mut Hero, mind: &mut DungeonMind<'_>) {
    let Some(aim) = me.cast.take() else { return };
    if me.skill_rest_ticks > 0 {
        return;
    }
    me.skill_rest_ticks = me.class.measures().skill_ticks;
    match me.class {
        Class::Warrior => whirl(map, me, mind),
        Class::Ranger => {
            for n in -2..=2 {
                let by = roll(me, mind, 90);
                shoot(mind, aim.place(), n * FAN, Flight::ARROW, by);
            }
        }
        Class::Mage => {
            let by = roll(me, mind, 220);
            shoot(mind, aim.place(), 0, Flight::Orb { fire: GREAT_ORB }, by);
        }
    }
}

fn whirl(map: &Map, me: &mut Hero, mind: &mut DungeonMind<'_>) {
    let here = mind.pos();
    let foes = mind.actors(WHIRL).chain(mind.props(WHIRL));
    for foe in foes.filter(|seen| seen.body.is_foe() && map.sees(here, seen.pos)) {
        let by = roll(me, mind, 160);
        mind.affect(foe, Effect::Hurt { by, race: None });
    }
}

fn shoot(mind: &mut DungeonMind<'_>, at: Vec2, turned: i32, flight: Flight, by: u16) {
    let here = mind.pos();
    let course = Angle((at - here).angle().0.wrapping_add(turned as u16));
    mind.spawn(here, Projectile::body(course, flight, by, None));
}

/// The damage of one blow, in percent of the usual.
fn roll(me: &Hero, mind: &mut DungeonMind<'_>, percent: i32) -> u16 {
    let (least, most) = me.stats().damage;
    (mind.dice().range(least..=most) * percent / 100).clamp(1, u16::MAX.into()) as u16
}
