//! What a hero does in a tick: its orders, and what it does unasked.

use lockstone::sim::{EntityId, Fx, Mind, PlayerId, Seen, Vec2};

use super::{Event, FALLEN_TICKS, Hero, Order, skill};
use crate::body::{Body, Effect, nearest};
use crate::facts::Fact;
use crate::loot::{Loot, Ware};
use crate::map::{Map, Spot, center_of, tile_of};
use crate::monsters::Mood;
use crate::rules::{Dungeon, DungeonMind};
use crate::walk::{Progress, chase};

/// So near things can be taken.
const ARM: Fx = Fx::ratio(6, 5);
/// A hero that has slain its foe goes on to the next one so near.
const NEXT_FOE: Fx = Fx::int(5);
/// Sleepers notice a hero so near.
const STIR: Fx = Fx::int(4);
/// What lies so near to a hero it cannot fail to find.
const SEES_SURELY: Fx = Fx::int(8);
/// So near to the entrance a slain hero returns, and a living one can buy.
pub const HOME: Fx = Fx::int(4);
/// How long a hero waits for its transfer before it asks again.
const ASK_AGAIN_TICKS: u32 = 200;
/// The gold for going through the portal.
const ESCAPE_GOLD: u32 = 500;

/// One tick of a hero.
pub fn think(map: &Map, me: &mut Hero, mind: &mut DungeonMind<'_>) {
    me.rest_ticks = me.rest_ticks.saturating_sub(1);
    me.skill_rest_ticks = me.skill_rest_ticks.saturating_sub(1);
    me.claim_rest_ticks = me.claim_rest_ticks.saturating_sub(1);
    if let Some(event) = me.greeting.take() {
        me.remember(mind.tick(), event);
    }
    if me.fallen.is_some() {
        return lie_slain(map, me, mind);
    }
    if me.is_away() {
        return;
    }
    skill::cast(map, me, mind);
    drop_piece(me, mind);
    buy(map, me, mind);
    let beat = mind.tick().0.wrapping_add(mind.me().id.0 as u32);
    if beat.is_multiple_of(8) {
        stir_sleepers(mind);
        escape(map, me, mind);
    }
    if beat.is_multiple_of(4) {
        gather(me, mind);
    }
    if beat.is_multiple_of(20) && me.life < me.stats().life {
        let most = me.stats().life;
        me.life = me.life.saturating_add(1 + most / 40).min(most);
    }
    follow_order(map, me, mind);
}

/// A slain hero drops a tenth of its gold, lies for a while, and returns at the entrance.
fn lie_slain(map: &Map, me: &mut Hero, mind: &mut DungeonMind<'_>) {
    let Some(since) = me.fallen else { return };
    let lain = mind.tick().since(since);
    if lain == 1 && me.gold >= 10 {
        let price = (me.gold / 10).min(u16::MAX.into());
        me.gold -= price;
        mind.spawn(mind.pos(), Loot::body(Ware::Gold(price as u16)));
    }
    if lain < FALLEN_TICKS {
        return;
    }
    let home = home(map, mind);
    if mind.pos().within(home, HOME) {
        me.fallen = None;
        me.life = me.stats().life;
        me.remember(mind.tick(), Event::Returned);
    } else if (lain - FALLEN_TICKS).is_multiple_of(ASK_AGAIN_TICKS) {
        mind.transfer(home);
    }
}

/// Where the hero's party enters.
fn home(map: &Map, mind: &DungeonMind<'_>) -> Vec2 {
    center_of(map.entrance(mind.me().player.unwrap_or(PlayerId(0))))
}

fn drop_piece(me: &mut Hero, mind: &mut DungeonMind<'_>) {
    let Some(place) = me.dropping.take() else { return };
    if let Some(gear) = me.bag.get_mut(usize::from(place)).and_then(Option::take) {
        mind.spawn(mind.pos(), Loot::body(Ware::Gear(gear)));
    }
}

/// At the entrance gold becomes potions.
fn buy(map: &Map, me: &mut Hero, mind: &mut DungeonMind<'_>) {
    if !core::mem::take(&mut me.buying) {
        return;
    }
    let price = me.potion_price();
    let at_home = mind.pos().within(home(map, mind), HOME);
    if at_home && me.gold >= price && me.has_room_for(&Ware::Potion) {
        me.gold -= price;
        me.potions += 1;
    }
}

fn stir_sleepers(mind: &mut DungeonMind<'_>) {
    for sleeper in mind.props(STIR).filter(|seen| seen.body.is_foe()) {
        mind.affect(sleeper, Effect::Stir);
    }
}

/// Takes gold and potions from the ground in passing.
fn gather(me: &mut Hero, mind: &mut DungeonMind<'_>) {
    if me.claim_rest_ticks > 0 {
        return;
    }
    let wanted = |body: &Body| {
        body.loot().is_some_and(|loot| !matches!(loot.ware, Ware::Gear(_)) && me.has_room_for(&loot.ware))
    };
    let found = mind.props(ARM).find(|seen| wanted(&seen.body));
    if let Some(loot) = found {
        mind.affect(loot, Effect::Claim);
        me.claim_rest_ticks = 3;
    }
}

/// Through the open portal, back to the entrance, richer.
fn escape(map: &Map, me: &mut Hero, mind: &mut DungeonMind<'_>) {
    let there = mind.pos().within(center_of(map.portal()), Fx::ONE);
    if there && mind.facts().portal_open(map.nests().len()) {
        me.earn(ESCAPE_GOLD);
        let home = home(map, mind);
        me.order = Order::Walk(tile_of(home).into());
        me.remember(mind.tick(), Event::Escaped);
        mind.announce(Fact::Escaped);
        mind.transfer(home);
    }
}

fn follow_order(map: &Map, me: &mut Hero, mind: &mut DungeonMind<'_>) {
    match me.order {
        Order::Rest => {}
        Order::Stand => {
            if me.rest_ticks == 0
                && let Some(foe) = assailant(map, me, mind)
            {
                engage(map, me, mind, foe);
            }
        }
        Order::Walk(goal) => {
            let (here, there, step) = (mind.pos(), center_of(goal.into()), me.step());
            let progress = me.route.advance(map, &mut mind.scratch.finder, here, there, step);
            if matches!(progress, Progress::Arrived(_)) {
                me.order = Order::Stand;
            }
            mind.walk(progress.pos());
        }
        Order::Fight(foe) => {
            let lives = mind.find(foe).is_some_and(|seen| seen.body.is_foe());
            match if lives { Some(foe) } else { nearest_foe(map, mind, NEXT_FOE) } {
                Some(foe) => engage(map, me, mind, foe),
                None => me.order = Order::Stand,
            }
        }
        Order::Take(thing, place) => take(map, me, mind, thing, place),
    }
}

/// Strikes if the foe is in range, else goes nearer.
fn engage(map: &Map, me: &mut Hero, mind: &mut DungeonMind<'_>, foe: EntityId) {
    let Some(seen) = mind.find(foe) else { return };
    let (here, there) = (mind.pos(), seen.pos);
    if here.within(there, me.class.measures().range) && skill::meets(map, me.class, here, there) {
        if me.rest_ticks == 0 {
            skill::strike(me, mind, seen);
        }
    } else if me.order != Order::Stand {
        go(map, me, mind, there);
    }
    if me.order != Order::Stand {
        me.order = Order::Fight(foe);
    }
}

/// Goes to a piece of loot or a chest, and claims or opens it.
fn take(map: &Map, me: &mut Hero, mind: &mut DungeonMind<'_>, thing: EntityId, place: Option<Spot>) {
    let here = mind.pos();
    let seen = mind.find(thing);
    // The way there may lead out of reach: so the place is kept in mind.
    let place = seen.map(|seen| Spot::from(tile_of(seen.pos))).or(place);
    let Some(spot) = place.filter(|_| !matches!(seen, Some(seen) if here.within(seen.pos, ARM))) else {
        return grasp(me, mind, seen);
    };
    let gone = seen.is_none() && here.within(center_of(spot.into()), SEES_SURELY);
    let step = me.step();
    let progress = me.route.advance(map, &mut mind.scratch.finder, here, center_of(spot.into()), step);
    let stuck = matches!(progress, Progress::Arrived(_));
    me.order = if gone || stuck { Order::Stand } else { Order::Take(thing, place) };
    mind.walk(progress.pos());
}

/// Claims or opens what is at hand.
fn grasp(me: &mut Hero, mind: &mut DungeonMind<'_>, seen: Option<Seen<'_, Body>>) {
    let Some(seen) = seen else {
        me.order = Order::Stand;
        return;
    };
    match &seen.body {
        Body::Loot(loot) if me.has_room_for(&loot.ware) => {
            // The order stands until the thing is gone, to this hero or to a faster one.
            if me.claim_rest_ticks == 0 {
                mind.affect(seen, Effect::Claim);
                me.claim_rest_ticks = 3;
            }
        }
        Body::Chest(_) => mind.affect(seen, Effect::Open),
        _ => me.order = Order::Stand,
    }
}

fn go(map: &Map, me: &Hero, mind: &mut DungeonMind<'_>, to: Vec2) {
    let here = mind.pos();
    let next = chase(map, mind.scratch, here, to, me.step());
    mind.walk(next);
}

/// Whom a hero that stands strikes at: what comes near, and what hunts from as far as it strikes.
fn assailant(map: &Map, me: &Hero, mind: &Mind<'_, Dungeon>) -> Option<EntityId> {
    let (here, id, range) = (mind.pos(), mind.me().id, me.class.measures().range);
    let hunts =
        |body: &Body| body.monster().is_some_and(|foe| matches!(foe.mood, Mood::Hunt { prey, .. } if prey == id));
    let comes = |seen: &Seen<'_, Body>| hunts(&seen.body) || here.within(seen.pos, NEXT_FOE);
    let strikes_at = |seen: &Seen<'_, Body>| seen.body.is_foe() && comes(seen) && map.sees(here, seen.pos);
    nearest(mind.actors(range), strikes_at).map(|foe| foe.id)
}

fn nearest_foe(map: &Map, mind: &Mind<'_, Dungeon>, radius: Fx) -> Option<EntityId> {
    nearest(mind.actors(radius), |seen| seen.body.is_foe() && map.sees(mind.pos(), seen.pos)).map(|foe| foe.id)
}
