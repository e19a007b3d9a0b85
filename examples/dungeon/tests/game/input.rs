//! Clicks, typed lines and the picture: what a person has to do with the dungeon.

use dungeon::loot::{Chest, Loot, Slot, Ware};
use dungeon::map::tile_of;
use dungeon::monsters::{Monster, Race};
use dungeon::{Body, Command, DungeonGame};
use lockstone::game::Game;
use lockstone::scene::Pointer;
use lockstone::sim::codec::compact;
use lockstone::sim::path::Tile;
use lockstone::sim::{EntityId, Fx, PlayerId, Simulation, Vec2};
use lockstone::view::Action;
use lockstone::view::typing::{Key, Typing};
use testkit::delve::{Play, Stage};

const ME: PlayerId = PlayerId(0);

/// A warrior with a hunter to the east, a chest to the west and gold to the south.
fn scenery() -> (Play, [EntityId; 3]) {
    let (mut play, mut stage) = Stage::new();
    stage.hero(0, "warrior", 0, 0, |_| {});
    let hunter = stage.put(4, 0, Body::Monster(Monster::new(Race::Hunter, 1)));
    let chest = stage.put(-5, 0, Body::Chest(Chest { level: 1, opened: false }));
    let gold = stage.put(0, 6, Loot::body(Ware::Gold(5)));
    stage.set(&mut play);
    (play, [hunter, chest, gold])
}

#[test]
fn a_click_means_what_lies_there() {
    let (play, [hunter, chest, gold]) = scenery();
    let here = play.entity(0).pos;
    let click = |east: i32, south: i32| {
        let at = here + Vec2::new(Fx::int(east), Fx::int(south));
        DungeonGame::click(&play.world, ME, at, Pointer::Primary)
    };
    assert_eq!(click(4, 0), Some(Command::Attack(hunter)));
    assert_eq!(click(-5, 0), Some(Command::PickUp(chest)));
    assert_eq!(click(0, 6), Some(Command::PickUp(gold)));
    let tile = tile_of(here);
    assert_eq!(click(2, 3), Some(Command::walk(Tile::new(tile.x + 2, tile.y + 3))));
    let skill = DungeonGame::click(&play.world, ME, here, Pointer::Secondary);
    assert!(matches!(skill, Some(Command::Skill(aim)) if aim.place().within(here, Fx::HALF)));
    assert_eq!(DungeonGame::click(&play.world, PlayerId(9), here, Pointer::Primary), None);
}

#[test]
fn typed_lines_are_commands() {
    let (play, [hunter, chest, _]) = scenery();
    let Tile { x, y } = tile_of(play.entity(0).pos);
    let typed = |text: &str| DungeonGame::typed(&play.world, ME, text);
    assert_eq!(typed("96 40"), Ok(Command::walk(Tile::new(96, 40))));
    assert_eq!(typed("n 5"), Ok(Command::walk(Tile::new(x, y - 5))));
    assert_eq!(typed(" SouthEast "), Ok(Command::walk(Tile::new(x + 4, y + 4))));
    assert_eq!(typed("attack"), Ok(Command::Attack(hunter)));
    assert_eq!(typed("pick"), Ok(Command::PickUp(chest)));
    assert_eq!(typed("drink"), Ok(Command::Drink));
    assert_eq!(typed("wear 2"), Ok(Command::Wear(1)));
    assert_eq!(typed("off charm"), Ok(Command::TakeOff(Slot::Charm, 0)));
    assert_eq!(typed("stop"), Ok(Command::Stop));
    assert!(matches!(typed("skill"), Ok(Command::Skill(_))));
    for vague in ["help", "wear 0", "off hat", "n many"] {
        assert!(typed(vague).is_err_and(|help| help.contains("attack")), "{vague:?}");
    }
    for nonsense in ["", "x", "dance wildly", "1 2 3"] {
        assert_eq!(typed(nonsense), Err("That is no command: /help lists them.".to_owned()), "{nonsense:?}");
    }
    assert!(DungeonGame::typed(&play.world, PlayerId(9), "stop").is_err());
}

#[test]
fn commands_are_small() {
    assert_eq!(compact(&Command::walk(Tile::new(180, 20))).len(), 3);
    assert_eq!(compact(&Command::Drink).len(), 1);
    assert!(compact(&Command::skill(Vec2::new(Fx::int(190), Fx::int(190)))).len() <= 7);
    assert!(compact(&Command::Attack(EntityId(u64::MAX))).len() <= 10);
}

#[test]
fn classes_have_names() {
    assert!(DungeonGame::HEROES.iter().all(|class| DungeonGame::hero(class, "Ada").is_some()));
    assert!(DungeonGame::hero("baker", "Ada").is_none());
    let long = DungeonGame::hero("mage", "  Élisabeth \u{7} the Long-winded").expect("a class");
    assert_eq!(long.name.text(), "Élisabeth");
}

#[test]
fn the_picture_shows_what_is_in_sight() {
    let (mut play, _) = scenery();
    let before = play.world.checksum();
    let scene = DungeonGame::scene(&play.world, ME);
    let shows = |symbol: char| scene.figures.iter().any(|figure| figure.symbol == symbol);
    assert!(['@', 'h', '=', '$'].into_iter().all(shows), "hero, hunter, chest and gold");
    assert!(scene.ground.tiles.iter().any(|tile| tile.light > 200 && !tile.raised));
    assert!(scene.ground.tiles.iter().any(|tile| tile.light > 60 && tile.raised), "walls in sight");
    assert!(scene.ground.tiles.iter().any(|tile| tile.light < 60), "and dark beyond");
    assert_eq!(scene.ground.tiles.len() % scene.ground.width, 0);
    assert_eq!(scene.gauges[0].value, play.hero(0).life);
    assert!(scene.notes.iter().any(|note| note.contains("brood-mothers")));
    assert_eq!(play.world.checksum(), before);
    // A player without a hero yet looks at the entrance.
    let outside = DungeonGame::scene(&play.world, PlayerId(9));
    assert!(outside.gauges.is_empty() && !outside.ground.tiles.is_empty());
}

#[test]
fn walks_end_where_they_should() {
    let (mut play, mut stage) = Stage::new();
    stage.hero(0, "ranger", 0, 0, |_| {});
    stage.set(&mut play);
    let map = play.world.rules().map().clone();
    // To every room in turn, and to a wall: as near as there is a way.
    for goal in map.rooms().iter().map(|room| room.center).step_by(7) {
        play.command(0, Command::walk(goal));
        let walked = (0..6_000).find(|_| {
            play.step(Vec::new());
            tile_of(play.entity(0).pos) == goal
        });
        assert!(walked.is_some(), "it stands at {} on the way to {goal}", play.entity(0).pos);
    }
    play.command(0, Command::walk(Tile::new(0, 0)));
    let stood = (0..8_000).find(|_| {
        play.step(Vec::new());
        play.hero(0).order == dungeon::hero::Order::Stand
    });
    assert!(stood.is_some(), "it gives up at {}", play.entity(0).pos);
}

#[test]
fn enter_says_a_line_and_a_slash_begins_a_command() {
    let mut typing = Typing::default();
    let mut press = |keys: &[Key]| keys.iter().filter_map(|key| typing.press(*key)).collect::<Vec<_>>();
    let word = |word: &str| word.chars().map(Key::Char).collect::<Vec<_>>();
    let line = |first: Key, text: &str| [vec![first], word(text), vec![Key::Enter]].concat();
    assert_eq!(press(&line(Key::Enter, "wait for me ")), [Action::Say("wait for me".into())]);
    assert_eq!(press(&line(Key::Char('/'), "wear 2")), [Action::Type("wear 2".into())]);
    assert_eq!(press(&[Key::Tab]), [Action::Figures]);
    assert_eq!(press(&line(Key::Char('/'), "stats")), [Action::Figures]);
    assert_eq!(press(&line(Key::Char('/'), "sound")), [Action::Sound]);
    assert_eq!(press(&[Key::Enter, Key::Tab, Key::Char('s'), Key::Enter]), [Action::Say("s".into())]);
    assert_eq!(press(&line(Key::Enter, "/drink")), [Action::Type("drink".into())]);
    for nothing in ["", "  ", "/", "/ "] {
        assert_eq!(press(&line(Key::Enter, nothing)), [], "{nothing:?}");
    }
    assert_eq!(press(&[Key::Char('/'), Key::Backspace, Key::Backspace, Key::Char('w')]), [Action::Walk((0, -1))]);
    assert_eq!(press(&[Key::Enter, Key::Char('w'), Key::Escape, Key::Char('k')]), [Action::Type("k".into())]);
}
