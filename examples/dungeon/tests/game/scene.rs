//! What a player sees: everyone in the party, by name, and what each blow took.

use std::collections::BTreeSet;

use dungeon::DungeonGame;
use lockstone::game::Game;
use lockstone::sim::PlayerId;
use lockstone::view::smooth::Smooth;
use testkit::delve::Play;

const HEROES: u16 = 4;

#[test]
fn every_hero_is_seen_or_marked_and_all_that_lives_has_a_name_and_an_id() {
    let mut play = Play::bots(1, HEROES);
    for n in 0..60 {
        (0..20).for_each(|_| play.tick());
        let scene = DungeonGame::scene(&play.world, PlayerId(n % HEROES));
        let heroes = scene.figures.iter().filter(|figure| figure.is_hero).count();
        assert_eq!(heroes + scene.marks.len(), usize::from(HEROES), "{:?}", scene.marks);
        let living: Vec<_> = scene.figures.iter().filter(|figure| figure.life.is_some()).collect();
        let ids: BTreeSet<_> = living.iter().filter_map(|figure| figure.id).collect();
        assert_eq!(ids.len(), living.len(), "each has its own");
        assert!(living.iter().all(|figure| figure.title().is_some_and(|title| !title.is_empty())));
        assert_eq!(scene.skills.iter().map(|skill| skill.key).collect::<String>(), "KQ");
        assert!(scene.skills.iter().all(|skill| (0.0..=1.0).contains(&skill.ready)));
    }
}

#[test]
fn what_is_told_of_a_heros_life_is_what_it_lost_and_won() {
    let (mut play, mut smooth) = (Play::bots(1, 1), Smooth::default());
    let of_hero = |play: &Play| (play.hero(0).life, play.hero(0).stats().life);
    let (mut before, mut lost) = (of_hero(&play), 0);
    smooth.push(DungeonGame::scene(&play.world, PlayerId(0)), false);
    for tick in 0..1_500 {
        play.tick();
        smooth.push(DungeonGame::scene(&play.world, PlayerId(0)), false);
        let now = of_hero(&play);
        let shown = smooth.at(0.0).expect("there is a scene");
        let told: i32 = shown.hits.iter().filter(|hit| hit.is_hero && hit.age == 0.0).map(|hit| hit.by).sum();
        let changed = if now.1 == before.1 { now.0 - before.0 } else { 0 };
        assert_eq!(told, changed, "in tick {tick}");
        lost += told.min(0);
        before = now;
    }
    assert!(lost < 0, "it was hit at least once");
}
