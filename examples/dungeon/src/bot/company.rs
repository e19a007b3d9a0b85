//! How a bot keeps a person company: it follows, and lets them go first, fight and choose.
//!
//! It must never decide where to go, nor begin a fight: it fights what hunts it, and what that hero
//! fights or cannot bear any more.

use lockstone::sim::path::Tile;
use lockstone::sim::{Entity, Fx};

use super::{STOCK, View};
use crate::body::Body;
use crate::command::Command;
use crate::hero::{HOME, Hero, Order};
use crate::map::tile_of;
use crate::monsters::Mood;

/// It sets out when they are farther away.
const FAR: Fx = Fx::int(4);
/// It stops when they are so near.
const NEAR: Fx = Fx::int(2);
/// It lets everything be when they are farther away.
const LOST: Fx = Fx::int(12);
/// It walks on to where they were, unless they are so far from there.
const MOVED_TILES: i32 = 2;
/// It takes only what they have left behind so far.
const LEFT: Fx = Fx::int(6);
/// It helps whoever is hunted when less than so much of their life is left, in percent.
const HELP_PERCENT: i32 = 60;

/// The hero that it accompanies.
pub(super) struct Person<'w> {
    entity: &'w Entity<Body>,
    hero: &'w Hero,
}

// Of these, `Some(None)` means: all is well as it is, look no further.
impl View<'_> {
    /// The nearest of its party whom a person plays.
    pub(super) fn person(&self) -> Option<Person<'_>> {
        let map = self.world.rules().map();
        let me = self.me.player?;
        let others = self.world.players().filter(|&player| player != me && map.party(player) == map.party(me));
        let persons = others.filter_map(|player| {
            let entity = self.world.hero(player)?;
            let hero = entity.body.hero().filter(|hero| hero.person && !hero.is_away())?;
            Some(Person { entity, hero })
        });
        persons.min_by_key(|person| (person.entity.pos.distance_squared(self.me.pos), person.entity.id))
    }

    /// What it does beside them.
    pub(super) fn accompany(&self, person: &Person<'_>) -> Option<Command> {
        let lost = !self.me.pos.within(person.entity.pos, LOST);
        let fights = if lost { None } else { self.fight(self.targets(person)) };
        let errand = self.survive().or(fights).or_else(|| self.improve()).or_else(|| self.follow(person));
        errand.or_else(|| self.glean(person)).or_else(|| self.stock_up()).unwrap_or(None)
    }

    /// What hunts it, and what they fight or suffer from.
    fn targets(&self, person: &Person<'_>) -> Vec<&Entity<Body>> {
        let Person { entity, hero } = *person;
        let suffers = hero.life.saturating_mul(100) < hero.stats().life.saturating_mul(HELP_PERCENT);
        let helps = suffers || hero.rest_ticks > 0;
        let is_target = |foe: &&Entity<Body>| {
            let hunts = |id| {
                let mood = foe.body.monster().map(|monster| monster.mood);
                matches!(mood, Some(Mood::Hunt { prey, .. }) if prey == id)
            };
            hunts(self.me.id) || hero.order == Order::Fight(foe.id) || (helps && hunts(entity.id))
        };
        self.foes().filter(is_target).collect()
    }

    /// Comes along, and stands still beside them.
    fn follow(&self, person: &Person<'_>) -> Option<Option<Command>> {
        let (here, there) = (self.me.pos, person.entity.pos);
        let goal: Option<Tile> = match self.hero.order {
            Order::Walk(goal) => Some(goal.into()),
            Order::Stand => None,
            Order::Take(..) if here.within(there, LOST) => return None,
            // What it fought is none of theirs.
            Order::Take(..) | Order::Fight(_) | Order::Rest => return Some(Some(Command::Stop)),
        };
        if here.within(there, if goal.is_some() { NEAR } else { FAR }) {
            return goal.map(|_| Some(Command::Stop));
        }
        let tile = tile_of(there);
        let is_on_its_way =
            goal.is_some_and(|goal| (goal.x - tile.x).abs().max((goal.y - tile.y).abs()) <= MOVED_TILES);
        Some((!is_on_its_way).then(|| Command::walk(tile)))
    }

    /// Takes what they have left.
    fn glean(&self, person: &Person<'_>) -> Option<Option<Command>> {
        let is_left =
            |thing: &Entity<Body>| !matches!(thing.body, Body::Chest(_)) && !thing.pos.within(person.entity.pos, LEFT);
        self.collect(is_left)
    }

    /// Buys potions where they are bought, if they wait there.
    fn stock_up(&self) -> Option<Option<Command>> {
        let can = self.hero.potions < STOCK && self.hero.gold >= self.hero.potion_price();
        (can && self.me.pos.within(self.home(), HOME)).then_some(Some(Command::Buy))
    }
}
