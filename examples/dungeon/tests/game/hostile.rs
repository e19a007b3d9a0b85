//! Nonsense from outside: commands and snapshots that no fair player sends. Nothing panics, nobody
//! gets into a wall.

use dungeon::loot::Slot;
use dungeon::{Body, Command, DungeonGame};
use lockstone::game::Game;
use lockstone::sim::path::Tile;
use lockstone::sim::{Entity, EntityId, Fx, Input, PlayerId, Simulation, Vec2};
use testkit::delve::Play;

/// A plain generator for nonsense (Knuth's MMIX constants).
struct Nonsense(u64);

impl Nonsense {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 32) as u32
    }

    fn command(&mut self, known: &[EntityId]) -> Command {
        let id = match self.next() % 4 {
            0 => EntityId(u64::from(self.next()) << 32),
            _ => known[self.next() as usize % known.len()],
        };
        match self.next() % 11 {
            0 => Command::Walk { x: self.next() as u16, y: self.next() as u16 },
            1 => Command::Walk { x: self.next() as u16 % 192, y: self.next() as u16 % 192 },
            2 => Command::Attack(id),
            3 => Command::PickUp(id),
            4 => Command::skill(Vec2::new(Fx::from_bits(self.next() as i32), Fx::from_bits(self.next() as i32))),
            5 => Command::Drink,
            6 => Command::Wear(self.next() as u8 % 8),
            8 => Command::Buy,
            9 => Command::TakeOff(Slot::ALL[self.next() as usize % 3], self.next() as u8 % 8),
            7 => Command::Drop(self.next() as u8 % 8),
            _ => Command::walk(Tile::new(-(self.next() as i32 & 0xff), 5)),
        }
    }
}

#[test]
fn nonsense_commands_lead_into_no_wall() {
    for seed in 0..4 {
        let mut play = Play::empty(seed);
        (0..3).for_each(|n| play.join(n, DungeonGame::HEROES[usize::from(n)]));
        let mut nonsense = Nonsense(seed);
        for _ in 0..1_500 {
            let known: Vec<EntityId> = play.everything().map(|entity| entity.id).collect();
            let told: Vec<u16> = (0..3).filter(|_| nonsense.next().is_multiple_of(8)).collect();
            let inputs = told.into_iter().map(|n| Input::Command(PlayerId(n), nonsense.command(&known))).collect();
            play.step(inputs);
            let map = play.world.rules().map();
            let walled = |entity: &&Entity<Body>| !map.is_open(entity.pos);
            assert!(play.everything().find(walled).is_none(), "seed {seed}: {:?}", play.everything().find(walled));
        }
    }
}

#[test]
fn damaged_snapshots_are_refused_or_run() {
    let mut play = Play::bots(6, 3);
    (0..400).for_each(|_| play.tick());
    let snapshot = play.world.snapshot();
    let bytes = play.world.encode(&snapshot);
    let (mut nonsense, mut ran) = (Nonsense(1), 0);
    for _ in 0..2_000 {
        let mut damaged = bytes.clone();
        for _ in 0..=nonsense.next() % 3 {
            let place = nonsense.next() as usize % damaged.len();
            damaged[place] = nonsense.next() as u8;
        }
        let Ok(read) = play.world.decode(&damaged) else { continue };
        ran += 1;
        play.world.restore(&read);
        for _ in 0..5 {
            play.tick();
            (0..3).for_each(|n| drop(DungeonGame::scene(&play.world, PlayerId(n))));
        }
    }
    assert!(ran > 100, "only {ran} damaged snapshots could be read, so little was tried");
}
