//! Rules of wanderers: they walk bent ways, run ever faster, stand, and go through portals. And
//! what is seen of them from afar.

use std::sync::Arc;

use lockstone_net::relay::{Horizon, Landmark, Route, Walk};
use lockstone_sim::{Body, Dice, Entity, Fx, Grid, GridConfig, Mind, PlayerId, Rules, Table, Vec2, World};
use serde::{Deserialize, Serialize};

pub const CELLS: u16 = 200;
pub const STEP: Fx = Fx::ratio(1, 4);
/// The fastest, in tiles a tick.
const FAST: Fx = Fx::ratio(3, 4);

pub struct Ramble;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Mode {
    Stand,
    /// First along x, then along y.
    Walk(Vec2),
    /// To the east, ever faster.
    Run(Fx),
    /// Once around a small circle and again: no route.
    Dance,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Command {
    Stand,
    Walk(u16, u16),
    Run,
    Dance,
    Announce,
    Portal(u16, u16),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wanderer {
    pub mode: Mode,
    announces: bool,
    portal: Option<Vec2>,
}

impl Body for Wanderer {
    fn is_actor(&self) -> bool {
        true
    }
}

impl Rules for Ramble {
    type Body = Wanderer;
    type Effect = ();
    type Command = Command;
    type Hero = ();
    type Facts = u32;
    type Fact = u32;
    type Scratch = ();

    /// Parties of four, 240 tiles from each other; each of a party 90 tiles from the next.
    fn entrance(&self, player: PlayerId, (): &(), _: &u32) -> Vec2 {
        let n = i32::from(player.0.saturating_sub(1));
        Vec2::new(Fx::int(100 + n % 4 * 90), Fx::int(100 + n / 4 * 240))
    }

    fn enter(&self, _: PlayerId, (): &(), _: &mut Dice) -> Wanderer {
        Wanderer { mode: Mode::Stand, announces: false, portal: None }
    }

    fn command(&self, me: &mut Wanderer, command: &Command) {
        match *command {
            Command::Stand => me.mode = Mode::Stand,
            Command::Walk(x, y) => me.mode = Mode::Walk(place(x, y)),
            Command::Run => me.mode = Mode::Run(Fx::ZERO),
            Command::Dance => me.mode = Mode::Dance,
            Command::Announce => me.announces = true,
            Command::Portal(x, y) => me.portal = Some(place(x, y)),
        }
    }

    fn think(&self, me: &mut Wanderer, mind: &mut Mind<'_, Self>) {
        if core::mem::take(&mut me.announces) {
            mind.announce(1);
        }
        if let Some(to) = me.portal.take() {
            mind.transfer(to);
        }
        match &mut me.mode {
            Mode::Stand => {}
            Mode::Walk(to) => {
                let next = bent(mind.pos(), *to, STEP);
                if next == *to {
                    me.mode = Mode::Stand;
                }
                mind.walk(next);
            }
            Mode::Run(speed) => {
                *speed = (*speed + Fx::ratio(1, 100)).min(FAST);
                mind.walk(mind.pos() + Vec2::new(*speed, Fx::ZERO));
            }
            Mode::Dance => {
                let turn = [(1, 0), (0, 1), (-1, 0), (0, -1)][mind.tick().0 as usize / 5 % 4];
                mind.walk(mind.pos() + Vec2::new(Fx::ratio(turn.0, 3), Fx::ratio(turn.1, 3)));
            }
        }
    }

    fn announce(&self, facts: &mut u32, fact: &u32) {
        *facts += fact;
    }
}

/// What is seen from afar of wanderers.
pub struct Afar;

impl Horizon<Ramble> for Afar {
    fn party(&self, _: &Ramble, player: PlayerId) -> Option<u32> {
        Some(u32::from(player.0 - 1) / 4)
    }

    fn route(&self, _: &Ramble, hero: &Entity<Wanderer>) -> Option<Route> {
        match hero.body.mode {
            Mode::Walk(end) => Some(Route { end, step: STEP, state: 0 }),
            _ => None,
        }
    }

    fn set_out(&self, from: Vec2, route: &Route) -> Walk<Ramble> {
        let Route { end, step, .. } = *route;
        let mut at = from;
        Box::new(move |_, ()| {
            at = bent(at, end, step);
            at
        })
    }

    fn landmarks(&self, world: &World<Ramble>) -> Vec<Landmark> {
        let at = |x: u16| place(x, 7);
        let facts = *world.facts() as u8;
        let boss = (facts < 2).then(|| Landmark { number: 0, at: at(3), state: 0 });
        boss.into_iter().chain([Landmark { number: 9, at: at(11), state: facts }]).collect()
    }
}

fn place(x: u16, y: u16) -> Vec2 {
    Vec2::new(Fx::int(x.into()), Fx::int(y.into()))
}

/// A step of a way with one bend.
fn bent(at: Vec2, to: Vec2, step: Fx) -> Vec2 {
    let aim = if at.x == to.x { to } else { Vec2::new(to.x, at.y) };
    at.toward(aim, step)
}

pub fn world() -> World<Ramble> {
    let config = GridConfig {
        width_cells: CELLS,
        height_cells: CELLS,
        cell_log2: 3,
        reach: Fx::int(4),
        stride: Fx::ONE,
        light: 2,
    };
    let grid = Grid::new(config).expect("the measures are sound");
    World::new(Arc::new(Ramble), grid, Table::generate([3; 32]), 1)
}
