//! A bot: plays any hero by the commands that a person has, about one a second.
//!
//! Beside a person it stays with them: `company.rs` says how. Else it explores.
//!
//! It only reads the world, and remembers which rooms were visited. The same world gives the same
//! commands. A part of a world will do: it goes by what is around its hero.

#![deny(clippy::float_arithmetic)]

mod company;

use std::collections::BTreeSet;

use lockstone::game::Bot;
use lockstone::sim::path::Tile;
use lockstone::sim::{Entity, Fx, PlayerId, Simulation, Vec2, World};

use crate::body::Body;
use crate::command::Command;
use crate::hero::{Class, HOME, Hero, Order};
use crate::loot::Ware;
use crate::map::{Map, center_of, tile_of};
use crate::rules::Dungeon;
use crate::way::Wayfinder;

/// How often it looks at the world.
const LOOK_TICKS: u32 = 8;
/// It fights what is so near and in sight.
const FIGHT: Fx = Fx::int(9);
/// It wants loot that is so near.
const LOOT: Fx = Fx::int(8);
/// It drinks when less than so much of its life is left, in percent.
const DRINK_PERCENT: i32 = 45;
/// It retreats when less than so much of its life is left and nothing to drink, in percent.
const RETREAT_PERCENT: i32 = 25;
/// After a fight it rests until so much of its life is back, in percent.
const RESTED_PERCENT: i32 = 70;
/// It buys until it has so many potions.
const STOCK: u8 = 4;
/// A room counts as visited when a hero was so near to its middle.
const VISITED: Fx = Fx::int(5);
/// It goes to no room farther from where its party enters, in tiles: the ordinary dungeon from
/// corner to corner.
const ROAM_TILES: i32 = 272;
/// Of so many rooms it looks which is the nearest by foot.
const CHOICE: usize = 4;
/// A way to a room is worth looking at so many tiles.
const EXPANSIONS_MAX: u32 = 12_000;
/// A room that it cannot get to in so many looks is given up.
const PATIENCE_LOOKS: u32 = 200;

/// Plays one hero.
pub struct DungeonBot {
    player: PlayerId,
    visited: BTreeSet<usize>,
    heading: Option<usize>,
    looks: u32,
}

/// What a bot goes by in one look.
struct View<'w> {
    world: &'w World<Dungeon>,
    me: &'w Entity<Body>,
    hero: &'w Hero,
}

impl DungeonBot {
    /// A bot for a player's hero.
    pub fn new(player: PlayerId) -> DungeonBot {
        DungeonBot { player, visited: BTreeSet::new(), heading: None, looks: 0 }
    }

    /// Whose hero it plays.
    pub fn player(&self) -> PlayerId {
        self.player
    }

    /// The next command, if the hero does not do already what it should.
    pub fn command(&mut self, world: &World<Dungeon>, player: PlayerId) -> Option<Command> {
        if !world.tick().0.wrapping_add(u32::from(self.player.0) * 3).is_multiple_of(LOOK_TICKS) {
            return None;
        }
        let me = world.hero(player)?;
        let hero = me.body.hero()?;
        self.mark_visited(world);
        if !hero.is_alive() {
            self.heading = None;
            return None;
        }
        let view = View { world, me, hero };
        if let Some(person) = view.person() {
            return view.accompany(&person);
        }
        view.survive().or_else(|| view.fight(view.foes().collect())).unwrap_or_else(|| {
            let errand =
                view.improve().or_else(|| view.collect(|_| true)).or_else(|| view.rest()).or_else(|| view.shop());
            errand.unwrap_or_else(|| self.wander(&view))
        })
    }

    /// What anyone of the party has seen.
    fn mark_visited(&mut self, world: &World<Dungeon>) {
        let map = world.rules().map();
        for hero in party(world, self.player) {
            let room = map.room_at(tile_of(hero));
            if center_of(map.rooms()[room].center).within(hero, VISITED) {
                self.visited.insert(room);
            }
        }
    }

    /// To the portal if it is open, else to the nearest room that nobody has seen.
    fn wander(&mut self, view: &View<'_>) -> Option<Command> {
        let map = view.world.rules().map();
        let facts = view.world.facts();
        if facts.portal_open(map.nests().len()) && self.may_go(map, map.portal()) {
            let all_out = usize::from(facts.escapes) >= view.world.players().count();
            if !all_out {
                return view.walk(center_of(map.portal()));
            }
        }
        self.looks += 1;
        if self.looks > PATIENCE_LOOKS {
            self.looks = 0;
            self.visited.extend(self.heading.take());
        }
        self.heading = self.heading.filter(|room| !self.visited.contains(room));
        if self.heading.is_none() {
            self.looks = 0;
            self.heading = self.next_room(view, map);
        }
        match self.heading {
            Some(room) => view.walk(center_of(map.rooms()[room].center)),
            None => {
                self.visited.clear();
                None
            }
        }
    }

    /// Whether a tile is not too far from where the party enters.
    fn may_go(&self, map: &Map, tile: Tile) -> bool {
        center_of(tile).within(center_of(map.entrance(self.player)), Fx::int(ROAM_TILES))
    }

    /// The room that is nearest by foot, ways from friends counted in.
    fn next_room(&self, view: &View<'_>, map: &Map) -> Option<usize> {
        let friend = view.nearest_friend();
        let cost = |room: &usize| {
            let center = center_of(map.rooms()[*room].center);
            let apart = friend.map_or(Fx::ZERO, |friend| friend.distance(center));
            view.me.pos.distance(center) + apart * Fx::HALF
        };
        let near = map.rooms_near(map.entrance(self.player), ROAM_TILES);
        let unseen = near.filter(|room| !self.visited.contains(room) && self.may_go(map, map.rooms()[*room].center));
        let mut rooms: Vec<usize> = unseen.collect();
        rooms.sort_by_cached_key(cost);
        rooms.truncate(CHOICE);
        // Its own memory would be needed once in a while only, by each of many bots.
        let mut finder = Wayfinder::default();
        let mut by_foot = |room: &usize| {
            let path = finder.find(map, tile_of(view.me.pos), map.rooms()[*room].center, EXPANSIONS_MAX);
            path.map_or(u32::MAX, |path| path.cost)
        };
        rooms.into_iter().min_by_key(|room| by_foot(room))
    }
}

/// Where the heroes of a player's party are, as far as they are in this part of the world.
fn party(world: &World<Dungeon>, player: PlayerId) -> impl Iterator<Item = Vec2> {
    let map = world.rules().map();
    let together = world.players().filter(move |&other| map.party(other) == map.party(player));
    together.filter_map(|player| world.hero(player)).map(|hero| hero.pos)
}

impl Bot<World<Dungeon>> for DungeonBot {
    fn decide(&mut self, world: &World<Dungeon>, player: PlayerId) -> Option<Command> {
        self.command(world, player)
    }
}

// Of these, `Some(None)` means: all is well as it is, look no further.
impl View<'_> {
    /// Drinks, or gives way.
    fn survive(&self) -> Option<Option<Command>> {
        let percent = self.life_percent();
        if percent < DRINK_PERCENT && self.hero.potions > 0 {
            return Some(Some(Command::Drink));
        }
        if percent >= RETREAT_PERCENT {
            return None;
        }
        let foe = self.foes().next()?;
        let home = self.home();
        let away = self.me.pos.distance_squared(home) > foe.pos.distance_squared(home);
        (!away).then(|| self.walk(home))
    }

    /// Uses the skill against several, else attacks what is nearest.
    fn fight(&self, foes: Vec<&Entity<Body>>) -> Option<Option<Command>> {
        let target = foes.first()?;
        if self.hero.skill_rest_ticks == 0 && self.is_skill_worth_it(&foes) {
            return Some(Some(Command::skill(target.pos)));
        }
        if let Order::Fight(foe) = self.hero.order
            && foes.iter().any(|seen| seen.id == foe)
        {
            return Some(None);
        }
        Some(Some(Command::Attack(target.id)))
    }

    fn is_skill_worth_it(&self, foes: &[&Entity<Body>]) -> bool {
        let radius = if self.hero.class == Class::Warrior { Fx::int(2) } else { Fx::int(7) };
        let near = foes.iter().filter(|foe| foe.pos.within(self.me.pos, radius));
        near.clone().count() >= 2 || near.clone().any(|foe| foe.body.monster().is_some_and(|foe| foe.life > 60))
    }

    /// Wears what is better, drops what is not.
    fn improve(&self) -> Option<Option<Command>> {
        let better = |place: &usize| {
            self.hero.bag[*place]
                .is_some_and(|gear| self.hero.worn[gear.slot as usize].is_none_or(|worn| gear.worth() > worn.worth()))
        };
        if let Some(place) = (0..self.hero.bag.len()).find(better) {
            return Some(Some(Command::Wear(place as u8)));
        }
        let full = self.hero.bag.iter().all(Option::is_some);
        full.then_some(Some(Command::Drop(0)))
    }

    /// Stands still until it is better.
    fn rest(&self) -> Option<Option<Command>> {
        let tired = self.life_percent() < RESTED_PERCENT;
        tired.then(|| (self.hero.order != Order::Stand).then_some(Command::Stop))
    }

    /// Goes home for potions when it has none left and can afford some.
    fn shop(&self) -> Option<Option<Command>> {
        let home = self.home();
        let (price, at_home) = (self.hero.potion_price(), self.me.pos.within(home, HOME));
        if at_home && self.hero.potions < STOCK && self.hero.gold >= price {
            return Some(Some(Command::Buy));
        }
        let worth_it = self.hero.potions == 0 && self.hero.gold >= 2 * price && !at_home;
        worth_it.then(|| self.walk(home))
    }

    fn life_percent(&self) -> i32 {
        self.hero.life.saturating_mul(100) / self.hero.stats().life.max(1)
    }

    /// Takes what is worth it, of what may be taken.
    fn collect(&self, may: impl Fn(&Entity<Body>) -> bool) -> Option<Option<Command>> {
        let wanted = |body: &Body| match body {
            Body::Chest(_) => true,
            Body::Loot(loot) => self.wants(&loot.ware),
            _ => false,
        };
        if let Order::Take(..) = self.hero.order {
            return Some(None);
        }
        let (map, here) = (self.world.rules().map(), self.me.pos);
        let things = self.near(LOOT).filter(|entity| wanted(&entity.body) && map.sees(here, entity.pos) && may(entity));
        let thing = things.min_by_key(|entity| (entity.pos.distance_squared(here), entity.id))?;
        Some(Some(Command::PickUp(thing.id)))
    }

    fn wants(&self, ware: &Ware) -> bool {
        self.hero.has_room_for(ware)
            && match ware {
                Ware::Gear(gear) => self.hero.worn[gear.slot as usize].is_none_or(|worn| gear.worth() > worn.worth()),
                Ware::Gold(_) | Ware::Potion => true,
            }
    }

    /// Walks there, unless it does already.
    fn walk(&self, to: Vec2) -> Option<Command> {
        let tile = tile_of(to);
        let going = self.hero.order == Order::Walk(tile.into());
        (!going).then_some(Command::walk(tile))
    }

    /// What can be fought, the nearest first.
    fn foes(&self) -> impl Iterator<Item = &Entity<Body>> {
        let (map, here) = (self.world.rules().map(), self.me.pos);
        let foes = self.near(FIGHT).filter(|entity| entity.body.is_foe() && map.sees(here, entity.pos));
        let mut foes: Vec<_> = foes.collect();
        foes.sort_by_key(|foe| (foe.pos.distance_squared(here), foe.id));
        foes.into_iter()
    }

    fn near(&self, radius: Fx) -> impl Iterator<Item = &Entity<Body>> {
        let around = self.world.entities(self.world.grid().cells_around(self.me.pos, radius));
        around.filter(move |entity| entity.pos.within(self.me.pos, radius))
    }

    fn nearest_friend(&self) -> Option<Vec2> {
        let map = self.world.rules().map();
        let me = self.me.player?;
        let friends = self.world.players().filter(|&player| player != me && map.party(player) == map.party(me));
        let friends = friends.filter_map(|player| self.world.hero(player)).map(|friend| friend.pos);
        friends.min_by_key(|friend| friend.distance_squared(self.me.pos))
    }

    /// Where its party enters.
    fn home(&self) -> Vec2 {
        let map = self.world.rules().map();
        center_of(map.entrance(self.me.player.unwrap_or(PlayerId(0))))
    }
}
