//! The play that both ways run: heroes wander and fight, monsters hunt what they see,
//! objects lie about.

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

/// The benchmark world.
pub const SPREAD: Play =
    Play { name: "spread over 256 x 256 tiles", heroes: 300, monsters: 500, objects: 10_000, tiles: 256, crowd: 256 };

/// The same with everyone in one place.
pub const CROWDED: Play = Play { name: "crowded into 40 x 40 tiles", crowd: 40, ..SPREAD };

/// What an entity is, in both ways: about what a game of the Diablo kind keeps of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Kind {
    Hero { being: Being, experience: u32, gold: u32, skills: [u8; 4], worn: [u16; 8] },
    Monster { being: Being, home: (i32, i32), alarm: u16 },
    Object { item: Item, touched: u32 },
}

/// An item that lies about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Item {
    pub kind: u16,
    pub rarity: u8,
    pub level: u8,
    pub quality: u16,
    pub durability: (u16, u16),
    pub seed: u32,
    pub owner: u64,
    pub dropped: u32,
    pub affixes: [(u16, i16); 6],
    pub sockets: [u32; 4],
}

/// What heroes and monsters have in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Being {
    pub life: i32,
    pub life_max: i32,
    pub mana: i32,
    pub facing: u16,
    pub level: u16,
    pub armour: u16,
    pub strength: u16,
    pub goal: (i32, i32),
    pub rest: u16,
    pub slowed: u16,
}

impl Being {
    fn new(life: i32, goal: (i32, i32), rest: u16) -> Being {
        Being {
            life,
            life_max: life,
            mana: 60,
            facing: 17_000,
            level: 7,
            armour: 300,
            strength: 45,
            goal,
            rest,
            slowed: 0,
        }
    }

    pub fn hurt(&mut self, by: i32) {
        self.life = if self.life > by { self.life - by } else { self.life_max };
    }
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
            let being = Being::new(HERO_LIFE, goal, places.next(20) as u16);
            let worn = std::array::from_fn(|_| places.next(2000) as u16);
            all.push((at, Kind::Hero { being, experience: 70_000, gold: 1_234, skills: [3, 1, 4, 1], worn }));
        }
        for _ in 0..self.monsters {
            let (at, goal) = (places.place(self.crowd), places.place(self.crowd));
            let being = Being::new(MONSTER_LIFE, goal, places.next(20) as u16);
            all.push((at, Kind::Monster { being, home: at, alarm: 0 }));
        }
        for n in 0..self.objects {
            let item = Item {
                kind: n as u16 % 700,
                rarity: 2,
                level: 9,
                quality: 400,
                durability: (277, 300),
                seed: places.next(i32::MAX) as u32,
                owner: u64::MAX - n as u64,
                dropped: 70_000,
                affixes: std::array::from_fn(|_| (places.next(500) as u16, places.next(2000) as i16 - 500)),
                sockets: std::array::from_fn(|_| places.next(i32::MAX) as u32),
            };
            all.push((places.place(self.tiles), Kind::Object { item, touched: 0 }));
        }
        all
    }
}
