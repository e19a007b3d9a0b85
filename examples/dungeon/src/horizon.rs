//! What is seen from afar in a dungeon that is relayed: the own party on its ways, and what stands
//! between it and the way out.

use lockstone::net::relay::{Horizon, Landmark, Route, Walk};
use lockstone::scene::{Mark, Rgb};
use lockstone::sim::{Entity, Fx, PlayerId, Vec2, World};

use crate::body::Body;
use crate::facts::Fact;
use crate::hero::Order;
use crate::map::center_of;
use crate::rules::Dungeon;
use crate::walk;

/// The warden's landmark. Those below are nests'.
const WARDEN: u16 = 1_000;
/// The open portal's landmark.
const PORTAL: u16 = 1_001;
/// No hero goes farther in a tick, in tiles.
const STEP_MAX: Fx = Fx::ratio(2, 5);

/// What players see from afar.
pub struct DungeonHorizon;

impl Horizon<Dungeon> for DungeonHorizon {
    fn party(&self, rules: &Dungeon, player: PlayerId) -> Option<u32> {
        Some(rules.map().party(player).into())
    }

    fn route(&self, _rules: &Dungeon, entity: &Entity<Body>) -> Option<Route> {
        let hero = entity.body.hero().filter(|hero| hero.is_alive())?;
        let (Order::Walk(goal) | Order::Take(_, Some(goal))) = hero.order else { return None };
        Some(Route { end: center_of(goal.into()), step: hero.step(), state: hero.search_rest_before().into() })
    }

    fn set_out(&self, from: Vec2, route: &Route) -> Walk<Dungeon> {
        let Route { end, step, state } = *route;
        let step = step.clamp(Fx::ZERO, STEP_MAX);
        let (mut pos, mut way) = (from, walk::Route::resting(state.min(u8::MAX.into()) as u8));
        Box::new(move |rules, scratch| {
            pos = way.advance(rules.map(), &mut scratch.finder, pos, end, step).pos();
            pos
        })
    }

    fn landmarks(&self, world: &World<Dungeon>) -> Vec<Landmark> {
        let (map, facts) = (world.rules().map(), world.facts());
        let landmark = |number, tile| Landmark { number, at: center_of(tile), state: 0 };
        let nests = (0..).zip(map.nests()).filter(|(n, _)| !facts.holds(Fact::NestSlain(*n)));
        let nests = nests.map(|(n, tile)| landmark(n.into(), *tile));
        let warden = (!facts.warden_slain).then(|| landmark(WARDEN, map.portal()));
        let portal = facts.portal_open(map.nests().len()).then(|| landmark(PORTAL, map.portal()));
        nests.chain(warden).chain(portal).collect()
    }
}

/// How a landmark is shown.
pub(crate) fn mark(landmark: &Landmark) -> Mark {
    let (symbol, color, label) = match landmark.number {
        WARDEN => ('W', Rgb(220, 90, 40), "warden"),
        PORTAL => ('O', Rgb(120, 220, 255), "portal"),
        _ => ('B', Rgb(190, 90, 150), "brood-mother"),
    };
    Mark { pos: crate::scene::point(landmark.at), symbol, color, label: label.into() }
}
