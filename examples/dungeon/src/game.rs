//! The dungeon as the shell sees it.

use std::sync::Arc;

use lockstone::character::Character;
use lockstone::game::{Bot, Ear, Game, Layout, LayoutError, Spread, Wide};
use lockstone::net::relay::{Horizon, Landmark};
use lockstone::scene::{Mark, Pointer, Scene};
use lockstone::sim::path::TileGrid;
use lockstone::sim::{Grid, PlayerId, Table, Vec2, World, mix64};

use crate::bot::DungeonBot;
use crate::command::{Command, Name, Newcomer};
use crate::ear::DungeonEar;
use crate::hero::{Class, Kept};
use crate::horizon::DungeonHorizon;
use crate::map::Plan;
use crate::measures::{BLOCK_TILES, CELL_TILES, grid};
use crate::populate::Stock;
use crate::rules::Dungeon;
use crate::{horizon, input, scene};

/// The game that the shell plays.
pub struct DungeonGame;

impl Game for DungeonGame {
    type Sim = World<Dungeon>;

    const HEROES: &'static [&'static str] = &["warrior", "ranger", "mage"];

    const NAME: &'static str = "dungeon";

    const ABOUT: &'static str = "A co-op dungeon: heroes, monsters and loot, with friends who drop in and out";

    const VERSION: &'static str = env!("CARGO_PKG_VERSION");

    const KEEPS: bool = true;

    const KEYS: &'static str =
        "Click walks, strikes and takes, right click or K skill, P take, Q drink, B buy, I inventory, 1 to 4 wear";

    fn rules_digest() -> u64 {
        let config = *grid(BLOCK_TILES).config();
        let sources = u64::from_str_radix(env!("LOCKSTONE_RULES"), 16).expect("the build script wrote it");
        let measures = [
            sources,
            config.width_cells.into(),
            config.height_cells.into(),
            config.cell_log2.into(),
            config.reach.to_bits().cast_unsigned().into(),
            config.stride.to_bits().cast_unsigned().into(),
            config.light.into(),
        ];
        let name = Self::NAME.bytes().map(u64::from);
        name.chain(measures).fold(0, |digest, value| mix64(mix64(digest) ^ value.wrapping_add(1)))
    }

    fn build(seed: u64, table: Table) -> World<Dungeon> {
        let rules = Arc::new(Dungeon::new(seed, &table));
        let grid = rules.grid();
        World::new(rules, grid, table, seed)
    }

    fn hero(class: &str, name: &str) -> Option<Newcomer> {
        Some(Newcomer { class: Class::named(class)?, name: Name::new(name), person: false, kept: None })
    }

    fn led_by_person(hero: Newcomer) -> Newcomer {
        Newcomer { person: true, ..hero }
    }

    fn keep(world: &World<Dungeon>, player: PlayerId) -> Option<Character<Newcomer>> {
        let hero = world.hero(player)?.body.hero()?;
        let kept = Kept::of(hero);
        let class = hero.class.measures().name;
        Some(Character {
            hero: Newcomer { class: hero.class, name: hero.name, person: hero.person, kept: Some(kept) },
            class: class.to_owned(),
            title: format!("{class} of level {}", kept.level),
            progress: kept.experience_in_all(),
        })
    }

    fn bring(newcomer: Newcomer, kept: &Newcomer) -> Result<Newcomer, String> {
        if newcomer.class != kept.class {
            return Err(format!("it is a {}", kept.class.measures().name));
        }
        match kept.kept.and_then(|kept| kept.flaw()) {
            Some(flaw) => Err(flaw.to_string()),
            None => Ok(Newcomer { kept: kept.kept, ..newcomer }),
        }
    }

    fn bot(player: PlayerId) -> impl Bot<World<Dungeon>> {
        DungeonBot::new(player)
    }

    fn click(world: &World<Dungeon>, player: PlayerId, at: Vec2, pointer: Pointer) -> Option<Command> {
        input::click(world, player, at, pointer)
    }

    fn typed(world: &World<Dungeon>, player: PlayerId, text: &str) -> Result<Command, String> {
        input::typed(world, player, text)
    }

    fn scene(world: &World<Dungeon>, player: PlayerId) -> Scene {
        scene::scene(world, player)
    }

    fn ear(_player: PlayerId) -> impl Ear<World<Dungeon>> {
        DungeonEar::default()
    }

    fn inventory(world: &World<Dungeon>, player: PlayerId) -> Option<Vec<String>> {
        scene::inventory(world, player)
    }

    fn drag(world: &World<Dungeon>, player: PlayerId, from: &str, to: Option<&str>) -> Option<Command> {
        input::drag(world, player, from, to)
    }

    fn landmark(_world: &World<Dungeon>, landmark: &Landmark) -> Option<Mark> {
        Some(horizon::mark(landmark))
    }
}

/// The widest battlefield, in tiles: it is made in one piece.
const BATTLE_TILES_MAX: u32 = 1024;

impl Wide for DungeonGame {
    type Rules = Dungeon;

    fn lay_out(layout: &Layout, seed: u64, table: &Table) -> Result<Arc<Dungeon>, LayoutError> {
        let is_field = layout.spread == Spread::Hotspot;
        let most = if is_field { BATTLE_TILES_MAX } else { TileGrid::SIDE_MAX.unsigned_abs() };
        let side_tiles = layout.side_tiles.next_multiple_of(CELL_TILES.unsigned_abs());
        if !(64..=most).contains(&side_tiles) {
            return Err(LayoutError::Side { side_tiles: layout.side_tiles, least: 64, most });
        }
        let stock = if is_field { Stock::Battle } else { Stock::Wild };
        let party = layout.spread.party();
        let entrances = Some(layout.players.div_ceil(party).max(1));
        let plan = Plan { side_tiles: side_tiles as i32, is_field, entrances, party };
        Ok(Arc::new(Dungeon::of(&plan, stock, seed, table)))
    }

    fn grid(rules: &Dungeon) -> Grid {
        rules.grid()
    }

    fn horizon() -> Box<dyn Horizon<Dungeon>> {
        Box::new(DungeonHorizon)
    }
}
