//! How those fare who never played before: two ways of playing badly, alone and beside a bot.
//! `cargo test --release -p dungeon --test game beginner:: -- --ignored --nocapture` prints more.

#![allow(clippy::disallowed_types, reason = "it prints means")]

use dungeon::hero::Order;
use dungeon::map::{center_of, tile_of};
use dungeon::measures::TICKS_PER_SECOND;
use dungeon::monsters::Mood;
use dungeon::{Body, Command};
use lockstone::sim::{Entity, Fx, PlayerId, Simulation};
use testkit::delve::Play;

/// How a beginner plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// Walks from room to room, strikes only by standing, and drinks late.
    Strolls,
    /// Also clicks on what attacks, slowly.
    Clicks,
}

/// Looks at the screen this often: a second and a half.
const LOOK_TICKS: u32 = 30;
/// It drinks when less than so much of its life is left, in percent.
const DRINK_PERCENT: i32 = 30;
/// What is so near to a room's middle is in the room.
const IN_ROOM: Fx = Fx::int(4);
/// A room that it does not get to in so many looks it forgets.
const PATIENCE_LOOKS: u32 = 30;

/// A person's hands, of player 0.
struct Beginner {
    manner: Manner,
    /// The rooms that it has not seen, the nearest to the entrance last.
    rooms: Vec<usize>,
    looks: u32,
}

impl Beginner {
    fn new(play: &Play, manner: Manner) -> Beginner {
        let map = play.world.rules().map();
        let home = center_of(map.entrance(PlayerId(0)));
        let mut rooms: Vec<usize> = (0..map.rooms().len()).collect();
        let away = |room: &usize| center_of(map.rooms()[*room].center).distance_squared(home);
        rooms.sort_by_key(|room| std::cmp::Reverse(away(room)));
        Beginner { manner, rooms, looks: 0 }
    }

    fn command(&mut self, play: &Play) -> Option<Command> {
        let (me, hero) = (play.entity(0), play.hero(0));
        if !play.world.tick().0.is_multiple_of(LOOK_TICKS) || !hero.is_alive() {
            return None;
        }
        if hero.life * 100 < hero.stats().life * DRINK_PERCENT && hero.potions > 0 {
            return Some(Command::Drink);
        }
        if let Some(foe) = hunter_of(play, me) {
            let fights = matches!(hero.order, Order::Fight(_));
            return match self.manner {
                Manner::Strolls => (hero.order != Order::Stand).then_some(Command::Stop),
                Manner::Clicks => (!fights).then_some(Command::Attack(foe.id)),
            };
        }
        self.stroll(play, me)
    }

    fn stroll(&mut self, play: &Play, me: &Entity<Body>) -> Option<Command> {
        let center = play.world.rules().map().rooms()[*self.rooms.last()?].center;
        self.looks += 1;
        if me.pos.within(center_of(center), IN_ROOM) || self.looks > PATIENCE_LOOKS {
            self.looks = 0;
            self.rooms.pop();
        }
        let walks = play.hero(0).order == Order::Walk(center.into());
        (!walks && tile_of(me.pos) != center).then(|| Command::walk(center))
    }
}

/// The nearest that hunts it, and is on the screen.
fn hunter_of<'p>(play: &'p Play, me: &Entity<Body>) -> Option<&'p Entity<Body>> {
    let hunts = |body: &Body| {
        body.monster()
            .is_some_and(|foe| matches!(foe.mood, Mood::Hunt { prey, .. } if prey == me.id) && !foe.is_slain())
    };
    let near = play.everything().filter(|entity| entity.pos.within(me.pos, Fx::int(9)) && hunts(&entity.body));
    near.min_by_key(|foe| (foe.pos.distance_squared(me.pos), foe.id))
}

/// How a game of a beginner went.
struct Told {
    /// When it was slain, in seconds.
    deaths_s: Vec<u32>,
    level: u8,
}

fn game(seed: u64, class: &str, manner: Manner, company: bool, minutes: u32) -> Told {
    let mut play = Play::empty(seed);
    play.join_person(0, class);
    if company {
        play.accompany();
    }
    let mut beginner = Beginner::new(&play, manner);
    let mut told = Told { deaths_s: Vec::new(), level: 1 };
    let mut lives = true;
    for _ in 0..minutes * 60 * TICKS_PER_SECOND {
        let command = beginner.command(&play);
        let mut inputs = play.decide();
        inputs.extend(command.map(|command| lockstone::sim::Input::Command(PlayerId(0), command)));
        play.step(inputs);
        if std::mem::replace(&mut lives, play.hero(0).is_alive()) && !lives {
            told.deaths_s.push(play.world.tick().0 / TICKS_PER_SECOND);
        }
    }
    told.level = play.hero(0).level;
    told
}

/// Of many games: how many were without a death for so long, in seconds, in percent.
fn survive(games: &[Told], seconds: u32) -> usize {
    let alive = games.iter().filter(|told| told.deaths_s.first().is_none_or(|&first| first > seconds));
    alive.count() * 100 / games.len()
}

#[test]
fn most_beginners_live_to_learn_how_it_is_played() {
    for class in ["warrior", "ranger", "mage"] {
        let games: Vec<Told> = (1..=20).map(|seed| game(seed, class, Manner::Clicks, true, 2)).collect();
        let deaths: Vec<_> = games.iter().map(|told| &told.deaths_s).collect();
        assert!(survive(&games, 60) >= 90 && survive(&games, 120) >= 80, "{class}: {deaths:?}");
    }
}

#[test]
#[ignore = "measures; prints"]
fn how_beginners_fare() {
    for company in [false, true] {
        for manner in [Manner::Strolls, Manner::Clicks] {
            for class in ["warrior", "ranger", "mage"] {
                let games: Vec<Told> = (1..=20).map(|seed| game(seed, class, manner, company, 5)).collect();
                let deaths: usize = games.iter().map(|told| told.deaths_s.len()).sum();
                let level: u32 = games.iter().map(|told| u32::from(told.level)).sum();
                println!(
                    "{manner:?}, {class}, {}: unhurt to 1 min {} %, 2 min {} %, 3 min {} %, 5 min {} %; \
                     {:.1} deaths and level {:.1} in 5 min",
                    if company { "with a bot" } else { "alone" },
                    survive(&games, 60),
                    survive(&games, 120),
                    survive(&games, 180),
                    survive(&games, 300),
                    deaths as f64 / games.len() as f64,
                    f64::from(level) / games.len() as f64,
                );
            }
        }
    }
}
