//! The play that both ways run: heroes wander and fight, monsters hunt what they see, objects lie about.

use serde::{Deserialize, Serialize};

/// How much of everything, and where.
pub struct Play {
    pub name: &'static str,
    pub heroes: usize,
    pub monsters: usize,
    pub objects: usize,
    /// The world is this many tiles wide and high.
    pub tiles: i32,
    /// Heroes and monsters keep to a square of this many tiles.
    pub crowd: i32,
}

/// What an entity is, in both ways.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Kind {
    Hero { life: i32, goal: (i32, i32), rest: u16, kills: u32 },
    Monster { life: i32, rest: u16, heading: (i32, i32) },
    Object { kind: u16, amount: u32, touched: u32 },
}

/// Positions are in 4096ths of a tile.
pub const TILE: i32 = 4096;
pub const HERO_STEP: i32 = TILE / 5;
pub const MONSTER_STEP: i32 = TILE / 7;
pub const SIGHT: i32 = 6 * TILE;
pub const ARM: i32 = TILE;
pub const HERO_LIFE: i32 = 100;
pub const MONSTER_LIFE: i32 = 40;

/// A simple generator for placing things; the worlds themselves draw from their own source.
pub struct Places(pub u64);

impl Places {
    pub fn next(&mut self, below: i32) -> i32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % below as u64) as i32
    }

    pub fn place(&mut self, tiles: i32) -> (i32, i32) {
        (self.next(tiles * TILE), self.next(tiles * TILE))
    }
}

impl Play {
    /// Everything there is at the start: its kind and its place, heroes first.
    pub fn start(&self) -> Vec<((i32, i32), Kind)> {
        let mut places = Places(42);
        let mut all = Vec::new();
        for _ in 0..self.heroes {
            let (at, goal) = (places.place(self.crowd), places.place(self.crowd));
            all.push((at, Kind::Hero { life: HERO_LIFE, goal, rest: places.next(20) as u16, kills: 0 }));
        }
        for _ in 0..self.monsters {
            let (at, heading) = (places.place(self.crowd), places.place(self.crowd));
            all.push((at, Kind::Monster { life: MONSTER_LIFE, rest: places.next(20) as u16, heading }));
        }
        for n in 0..self.objects {
            all.push((places.place(self.tiles), Kind::Object { kind: n as u16 % 7, amount: 1, touched: 0 }));
        }
        all
    }
}
