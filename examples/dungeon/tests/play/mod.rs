//! Plays the dungeon without a network: bots' commands and the world's own requests enter the next turns.

#![allow(dead_code, reason = "each test uses a part of it")]

use dungeon::{Command, Dungeon, DungeonBot, DungeonGame};
use lockstone::game::Game;
use lockstone::sim::codec::compact;
use lockstone::sim::world::Thinking;
use lockstone::sim::{Entity, Input, PlayerId, Simulation, Table, Turn, World};

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

    pub fn empty(seed: u64) -> Play {
        let world = DungeonGame::build(seed, table());
        Play { world, bots: Vec::new(), commands: 0, command_bytes: 0, reversed: false, requests: Vec::new() }
    }

    /// Steps once, with a hero entering.
    pub fn join(&mut self, player: u16, class: &str) {
        let hero = DungeonGame::hero(class, &format!("{class} {player}")).expect("a class of the game");
        let join = self.world.admit(PlayerId(player), hero);
        self.step(vec![Input::Join(PlayerId(player), join)]);
    }

    /// One tick of the bots' play.
    pub fn tick(&mut self) {
        let turn = self.decide();
        self.step(turn);
    }

    /// What the bots want now.
    pub fn decide(&mut self) -> Vec<Input<World<Dungeon>>> {
        let mut inputs = Vec::new();
        for (n, bot) in self.bots.iter_mut().enumerate() {
            let player = PlayerId(n as u16);
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
    pub fn step(&mut self, mut inputs: Vec<Input<World<Dungeon>>>) {
        let now = self.world.tick().0;
        inputs.extend(self.requests.extract_if(.., |(due, _)| *due <= now).map(|(_, request)| Input::Request(request)));
        let turn = Turn { inputs };
        if self.reversed {
            self.world.step_with(&turn, |thinking: &Thinking<'_, Dungeon>| {
                (0..thinking.len())
                    .rev()
                    .map(|n| {
                        let mut thoughts = Default::default();
                        thinking.think(n, &mut thoughts);
                        thoughts
                    })
                    .collect()
            });
        } else {
            self.world.step(&turn);
        }
        self.requests.extend(self.world.requests().iter().map(|request| (now + DELAY_TICKS, request.clone())));
    }

    pub fn hero(&self, player: u16) -> &dungeon::hero::Hero {
        self.entity(player).body.hero().expect("a player's entity is a hero")
    }

    pub fn entity(&self, player: u16) -> &Entity<dungeon::Body> {
        self.world.hero(PlayerId(player)).expect("the hero has entered")
    }

    pub fn everything(&self) -> impl Iterator<Item = &Entity<dungeon::Body>> {
        self.world.cells().flat_map(|cell| self.world.actors(cell).iter().chain(self.world.props(cell)))
    }
}
