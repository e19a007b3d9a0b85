//! The dungeon as the shell sees it.

use std::sync::Arc;

use lockstone::game::{Bot, Game};
use lockstone::scene::{Pointer, Scene};
use lockstone::sim::{PlayerId, Table, Vec2, World, mix64};

use crate::bot::DungeonBot;
use crate::command::{Command, Name, Newcomer};
use crate::hero::Class;
use crate::measures::{RULES_VERSION, grid};
use crate::rules::Dungeon;
use crate::{input, scene};

/// The game that the shell plays.
pub struct DungeonGame;

impl Game for DungeonGame {
    type Sim = World<Dungeon>;

    const HEROES: &'static [&'static str] = &["warrior", "ranger", "mage"];

    const NAME: &'static str = "dungeon";

    fn rules_digest() -> u64 {
        let config = *grid().config();
        let measures = [
            RULES_VERSION.into(),
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
        World::new(rules, grid(), table, seed)
    }

    fn hero(class: &str, name: &str) -> Option<Newcomer> {
        Some(Newcomer { class: Class::named(class)?, name: Name::new(name) })
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
}
