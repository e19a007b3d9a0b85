//! Serialised dungeons, and any turns played on them. Bots look at what comes out, and so do the
//! views: the rules and everything that reads the world must bear values that no game ever had.

use core::cell::RefCell;

use dungeon::{Dungeon, DungeonGame};
use lockstone::default_table;
use lockstone::game::{Bot, Game};
use lockstone_sim::{Input, PlayerId, Simulation, Turn, World};

use crate::{slices, turns};

const SEED: u64 = 1;
const TURNS_MAX: usize = 16;

thread_local! {
    /// A map takes longer to make than a check.
    static WORLD: RefCell<World<Dungeon>> = RefCell::new(DungeonGame::build(SEED, default_table()));
}

/// Reads any snapshot, and plays the turns that follow it, three at least.
pub fn check(bytes: &[u8]) -> bool {
    let (snapshot, rest) = slices::split(bytes);
    WORLD.with_borrow_mut(|world| {
        let Ok(read) = world.decode(snapshot) else { return false };
        let written = world.encode(&read);
        assert!(written.len() <= snapshot.len(), "integers can be written longer than needed, never shorter");
        world.restore(&read);
        let mut turns: Vec<_> = slices::all(rest).take(TURNS_MAX).map(turns::read).collect();
        turns.resize(turns.len().max(3), Turn::EMPTY);
        for turn in &turns {
            world.step(turn);
            world.checksum();
            look(world);
        }
        let after = world.checksum();
        let again = world.decode(&written).expect("own bytes decode");
        world.restore(&again);
        turns.iter().for_each(|turn| world.step(turn));
        assert_eq!(world.checksum(), after);
        true
    })
}

/// Everyone's bot and view.
fn look(world: &World<Dungeon>) {
    for player in world.players().take(4).collect::<Vec<_>>() {
        DungeonGame::bot(player).decide(world, player);
        DungeonGame::scene(world, player);
    }
}

/// Bots' play, cut into parts: a snapshot of few cells and what the bots did next.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut world = DungeonGame::build(SEED, default_table());
    let mut bots: Vec<_> = (0..3).map(|n| DungeonGame::bot(PlayerId(n))).collect();
    let mut play = |world: &mut World<Dungeon>| {
        let turn = Turn { inputs: decide(world, &mut bots) };
        world.step(&turn);
        turns::write(&turn)
    };
    let mut seeds = Vec::new();
    for ticks in [0, 3, 60, 400] {
        (0..ticks).for_each(|_| drop(play(&mut world)));
        let snapshot = world.snapshot();
        let mut slices = vec![world.encode(&snapshot)];
        slices.extend((0..12).map(|_| play(&mut world)));
        seeds.push(slices::join(slices.iter().map(Vec::as_slice)));
    }
    seeds
}

fn decide(world: &World<Dungeon>, bots: &mut [impl Bot<World<Dungeon>>]) -> Vec<Input<World<Dungeon>>> {
    let mut inputs = Vec::new();
    for (n, bot) in bots.iter_mut().enumerate() {
        let player = PlayerId(n as u16);
        if world.hero(player).is_none() {
            let hero = DungeonGame::hero(DungeonGame::HEROES[n], "Ada").expect("a class of the game");
            inputs.push(Input::Join(player, world.admit(player, hero)));
        } else if let Some(command) = bot.decide(world, player) {
            inputs.push(Input::Command(player, command));
        }
    }
    inputs.extend(world.requests().iter().cloned().map(Input::Request));
    inputs
}
