//! A world of one's own rules, without a network: sheep graze and wander, a shepherd calls them.
//!
//! `cargo run -p lockstone --example solo` plays the same 200 ticks twice, and shows that
//! both came out equal.

use std::sync::Arc;

use lockstone::sim::{
    Body, CellId, Dice, Fx, Grid, GridConfig, Input, Mind, PlayerId, Rules, Simulation, Turn, Vec2, World,
};
use serde::{Deserialize, Serialize};

/// The game's part of an entity.
#[derive(Clone, Serialize, Deserialize)]
enum Being {
    Shepherd { goal: Vec2, calls: bool },
    Sheep { eaten: u16 },
}

impl Body for Being {
    fn is_actor(&self) -> bool {
        true
    }
}

/// What a player can say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Order {
    Walk(Vec2),
    Call(bool),
}

struct Meadow;

/// How far a call is heard, and how far anything walks in a tick.
const REACH: Fx = Fx::int(6);
const STRIDE: Fx = Fx::ratio(1, 4);

impl Rules for Meadow {
    type Body = Being;
    type Effect = ();
    type Command = Order;
    type Hero = ();
    type Facts = ();
    type Fact = ();
    type Scratch = ();

    fn generate(&self, cell: CellId, dice: &mut Dice, content: &mut Vec<(Vec2, Being)>) {
        let corner = (i32::from(cell.x) * 8, i32::from(cell.y) * 8);
        for _ in 0..dice.below(4) {
            let at = Vec2::new(Fx::int(corner.0 + dice.below(8) as i32), Fx::int(corner.1 + dice.below(8) as i32));
            content.push((at, Being::Sheep { eaten: 0 }));
        }
    }

    fn entrance(&self, _player: PlayerId, _hero: &(), _facts: &()) -> Vec2 {
        Vec2::new(Fx::int(32), Fx::int(32))
    }

    fn enter(&self, player: PlayerId, hero: &(), _dice: &mut Dice) -> Being {
        Being::Shepherd { goal: self.entrance(player, hero, &()), calls: false }
    }

    fn command(&self, hero: &mut Being, order: &Order) {
        if let Being::Shepherd { goal, calls } = hero {
            match order {
                Order::Walk(to) => *goal = *to,
                Order::Call(on) => *calls = *on,
            }
        }
    }

    fn think(&self, me: &mut Being, mind: &mut Mind<'_, Self>) {
        match me {
            Being::Shepherd { goal, .. } => mind.walk(mind.pos().toward(*goal, STRIDE)),
            Being::Sheep { eaten } => {
                let caller = mind.heroes(REACH).find(|seen| matches!(seen.body, Being::Shepherd { calls: true, .. }));
                match caller.map(|caller| caller.pos) {
                    Some(to) if !mind.pos().within(to, Fx::int(2)) => mind.walk(mind.pos().toward(to, STRIDE)),
                    _ => *eaten += mind.dice().below(2) as u16,
                }
            }
        }
    }
}

fn main() {
    let measures = GridConfig { width_cells: 8, height_cells: 8, cell_log2: 3, reach: REACH, stride: STRIDE, light: 3 };
    let shepherd = PlayerId(0);
    let play = || {
        let grid = Grid::new(measures).expect("the measures are sound");
        let mut world = World::new(Arc::new(Meadow), grid, lockstone::default_table(), 7);
        for tick in 0..200 {
            let inputs = match tick {
                0 => vec![Input::Join(shepherd, world.admit(shepherd, ()))],
                10 => vec![Input::Command(shepherd, Order::Call(true))],
                60 => vec![Input::Command(shepherd, Order::Walk(Vec2::new(Fx::int(40), Fx::int(36))))],
                _ => vec![],
            };
            world.step(&Turn { inputs });
        }
        world
    };
    let (mut one, mut other) = (play(), play());
    let at = one.hero(shepherd).expect("the shepherd is there").pos;
    let flock = one.entities(one.grid().cells_around(at, Fx::int(3))).count() - 1;
    println!("tick {}: {flock} sheep came along, checksum {}", one.tick(), one.checksum());
    assert_eq!(one.checksum(), other.checksum(), "the same turns lead to the same world");
}
