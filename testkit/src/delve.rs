//! Plays the dungeon without a network: bots' commands and the world's own requests
//! enter the next turns.

use dungeon::command::Newcomer;
use dungeon::facts::Facts;
use dungeon::hero::Hero;
use dungeon::map::center_of;
use dungeon::{Body, Command, Dungeon, DungeonBot, DungeonGame};
use lockstone::check::{Inspect, Way};
use lockstone::game::{Game, Layout, Wide};
use lockstone::sim::codec::compact;
use lockstone::sim::path::Tile;
use lockstone::sim::{CellId, Entity, EntityId, Fx, Input, PlayerId, Simulation, Table, Tick, Turn, Vec2, World};

/// How many ticks a request takes to come back.
const DELAY_TICKS: u32 = 3;

pub struct Play {
    pub world: World<Dungeon>,
    pub bots: Vec<DungeonBot>,
    pub commands: usize,
    pub command_bytes: usize,
    /// Whether cells think in reverse order.
    pub reversed: bool,
    requests: Vec<(u32, <World<Dungeon> as Simulation>::Request)>,
}

pub fn table() -> Table {
    Table::generate([5; 32])
}

impl Play {
    /// A game of so many bots, of all classes in turn.
    pub fn bots(seed: u64, heroes: u16) -> Play {
        let mut play = Play::empty(seed);
        for n in 0..heroes {
            play.join(n, DungeonGame::HEROES[usize::from(n) % 3]);
            play.bots.push(DungeonBot::new(PlayerId(n)));
        }
        play
    }

    /// A crowd of bots where a layout puts them, all of whom join in one turn.
    pub fn crowd(layout: &Layout, seed: u64) -> Play {
        let rules = DungeonGame::lay_out(layout, seed, &table()).expect("a layout that can be");
        let mut play = Play::of(DungeonGame::world(&rules, seed, &table()));
        let joins = (0..layout.players).map(PlayerId).map(|player| {
            let class = DungeonGame::HEROES[usize::from(player.0) % 3];
            let hero = DungeonGame::hero(class, &player.to_string()).expect("a class of the game");
            Input::Join(player, play.world.admit(player, hero))
        });
        let joins = joins.collect();
        play.bots.extend((0..layout.players).map(|n| DungeonBot::new(PlayerId(n))));
        play.step(joins);
        play
    }

    pub fn empty(seed: u64) -> Play {
        Play::of(DungeonGame::build(seed, table()))
    }

    fn of(world: World<Dungeon>) -> Play {
        Play { world, bots: Vec::new(), commands: 0, command_bytes: 0, reversed: false, requests: Vec::new() }
    }

    /// Steps once, with a hero entering.
    pub fn join(&mut self, player: u16, class: &str) {
        let hero = DungeonGame::hero(class, &format!("{class} {player}")).expect("a class of the game");
        self.enter(player, hero);
    }

    /// Steps once, with this hero entering.
    pub fn enter(&mut self, player: u16, hero: Newcomer) {
        let join = self.world.admit(PlayerId(player), hero);
        self.step(vec![Input::Join(PlayerId(player), join)]);
    }

    /// Steps once, with a person's hero entering.
    pub fn join_person(&mut self, player: u16, class: &str) {
        let hero = DungeonGame::hero(class, &format!("{class} {player}")).expect("a class of the game");
        self.enter(player, DungeonGame::led_by_person(hero));
    }

    /// A bot's ranger enters as player 1.
    pub fn accompany(&mut self) {
        self.join(1, "ranger");
        self.bots.push(DungeonBot::new(PlayerId(1)));
    }

    /// One tick of the bots' play.
    pub fn tick(&mut self) {
        let inputs = self.decide();
        self.step(inputs);
    }

    /// What the bots want now.
    pub fn decide(&mut self) -> Vec<Input<World<Dungeon>>> {
        let mut inputs = Vec::new();
        for bot in &mut self.bots {
            let player = bot.player();
            if let Some(command) = bot.command(&self.world, player) {
                self.commands += 1;
                self.command_bytes += compact(&command).len();
                inputs.push(Input::Command(player, command));
            }
        }
        inputs
    }

    pub fn command(&mut self, player: u16, command: Command) {
        self.step(vec![Input::Command(PlayerId(player), command)]);
    }

    /// One tick with these inputs, and the requests that are due.
    pub fn step(&mut self, inputs: Vec<Input<World<Dungeon>>>) {
        self.turn(inputs);
    }

    /// The same. Returns its turn.
    pub fn turn(&mut self, mut inputs: Vec<Input<World<Dungeon>>>) -> Turn<World<Dungeon>> {
        let now = self.world.tick().0;
        inputs.extend(self.requests.extract_if(.., |(due, _)| *due <= now).map(|(_, request)| Input::Request(request)));
        let turn = Turn { inputs };
        if !(self.reversed && self.world.step_in(&turn, Way::Backwards, None)) {
            self.world.step(&turn);
        }
        self.requests.extend(self.world.requests().iter().map(|request| (now + DELAY_TICKS, request.clone())));
        turn
    }

    pub fn hero(&self, player: u16) -> &Hero {
        self.entity(player).body.hero().expect("a player's entity is a hero")
    }

    pub fn entity(&self, player: u16) -> &Entity<Body> {
        self.world.hero(PlayerId(player)).expect("the hero has entered")
    }

    pub fn find(&self, id: EntityId) -> Option<&Entity<Body>> {
        self.everything().find(|entity| entity.id == id)
    }

    pub fn everything(&self) -> impl Iterator<Item = &Entity<Body>> {
        self.world.cells().flat_map(|cell| self.world.actors(cell).iter().chain(self.world.props(cell)))
    }
}

/// A wide open place and what stands there: for tests of one being at a time. Everywhere else
/// there is nothing.
pub struct Stage {
    middle: Vec2,
    entities: Vec<Entity<Body>>,
}

impl Stage {
    /// How far the ground is open around the middle, in tiles.
    pub const OPEN_TILES: i32 = 7;

    pub fn new() -> (Play, Stage) {
        let wide = |seed: u64| {
            let play = Play::empty(seed);
            let map = play.world.rules().map();
            let rooms = map.rooms().iter().map(|room| room.center);
            let middle = rooms.filter(|&at| at != map.entrance(PlayerId(0))).find(|&at| {
                let near = -Self::OPEN_TILES..=Self::OPEN_TILES;
                let mut around = near.clone().flat_map(|dy| near.clone().map(move |dx| (dx, dy)));
                around.all(|(dx, dy)| map.tiles().is_open(Tile::new(at.x + dx, at.y + dy)))
            })?;
            Some((play, Stage::around(center_of(middle))))
        };
        (0..).find_map(wide).expect("some map has a wide hall")
    }

    pub fn around(middle: Vec2) -> Stage {
        Stage { middle, entities: Vec::new() }
    }

    /// So many tiles east and south of the middle.
    pub fn at(&self, east: i32, south: i32) -> Vec2 {
        self.middle + Vec2::new(Fx::int(east), Fx::int(south))
    }

    pub fn hero(
        &mut self,
        player: u16,
        class: &str,
        east: i32,
        south: i32,
        change: impl FnOnce(&mut Hero),
    ) -> EntityId {
        let mut hero = Hero::new(&DungeonGame::hero(class, class).expect("a class of the game"));
        change(&mut hero);
        let (player, id) = (PlayerId(player), EntityId::hero(PlayerId(player), Tick(0)));
        let body = Body::Hero(hero);
        self.entities.push(Entity { id, pos: self.at(east, south), player: Some(player), body });
        id
    }

    pub fn put(&mut self, east: i32, south: i32, body: Body) -> EntityId {
        let id = EntityId::spawned(77, Tick(0), self.entities.len() as u32);
        self.entities.push(Entity { id, pos: self.at(east, south), player: None, body });
        id
    }

    /// Makes it the state of the world: as a snapshot in which every cell is stored, so that
    /// none is generated.
    pub fn set(mut self, play: &mut Play) {
        let grid = *play.world.grid();
        self.entities.sort_by_key(|entity| (!lockstone::sim::Body::is_actor(&entity.body), entity.id));
        let whole = grid.block(CellId::new(0, 0), grid.config().width_cells);
        let cells: Vec<(CellId, u8, Vec<&Entity<Body>>)> = whole
            .iter()
            .map(|cell| {
                let here = self.entities.iter().filter(|entity| grid.cell_of(entity.pos) == cell);
                (cell, grid.config().light, here.collect())
            })
            .collect();
        let bytes = compact(&(Tick(1), Facts::default(), None::<()>, cells));
        let snapshot = play.world.decode(&bytes).expect("a snapshot as the engine writes it");
        play.world.restore(&snapshot);
    }
}
