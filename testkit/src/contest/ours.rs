//! The play as rules of a Lockstone world.

use std::sync::Arc;

use lockstone_sim::dice::Dice;
use lockstone_sim::{
    Body, Cause, CellId, Fate, Fx, Grid, GridConfig, Input, Mind, PlayerId, Rules, Simulation, Table, Turn, Vec2, World,
};

use super::play::{ARM, Being, HERO_STEP, Kind, MONSTER_STEP, Play, SIGHT};

const CELL_LOG2: u8 = 4;

pub struct Field {
    crowd: i32,
    heroes: Vec<((i32, i32), Kind)>,
    /// What each cell holds at the start.
    content: Vec<Vec<(Vec2, Kind)>>,
    width: usize,
}

impl Body for Kind {
    #[inline]
    fn is_actor(&self) -> bool {
        !matches!(self, Kind::Object { .. })
    }
}

/// Inlined as a game's rules are, which stand where their world's loop is compiled.
impl Rules for Field {
    type Body = Kind;
    /// How much it hurts, if anything can be hurt.
    type Effect = i32;
    type Command = ();
    type Hero = ();
    type Facts = ();
    type Fact = ();
    type Scratch = ();

    fn generate(&self, cell: CellId, _dice: &mut Dice, content: &mut Vec<(Vec2, Kind)>) {
        content.extend(self.content[usize::from(cell.y) * self.width + usize::from(cell.x)].iter().cloned());
    }

    fn entrance(&self, player: PlayerId, _hero: &(), _facts: &()) -> Vec2 {
        vec2(self.heroes[usize::from(player.0)].0)
    }

    fn enter(&self, player: PlayerId, _hero: &(), _dice: &mut Dice) -> Kind {
        self.heroes[usize::from(player.0)].1.clone()
    }

    fn command(&self, _hero: &mut Kind, _command: &()) {}

    #[inline]
    fn think(&self, me: &mut Kind, mind: &mut Mind<'_, Self>) {
        match me {
            Kind::Hero { being, .. } => {
                walk(being, mind, vec2(being.goal), HERO_STEP, self.crowd);
                if being.rest == 0 {
                    being.rest = 20;
                    let foe = mind.actors(Fx::from_bits(ARM)).find(|seen| !seen.id.is_hero());
                    let thing = mind.props(Fx::from_bits(ARM)).next();
                    foe.into_iter().for_each(|foe| mind.affect(foe, 9));
                    thing.into_iter().for_each(|thing| mind.affect(thing, 0));
                }
            }
            Kind::Monster { being, .. } => {
                let here = mind.pos();
                let prey = mind.heroes(Fx::from_bits(SIGHT)).nearest(|_| true);
                walk(being, mind, prey.map_or(vec2(being.goal), |prey| prey.pos), MONSTER_STEP, self.crowd);
                if let Some(prey) = prey
                    && being.rest == 0
                    && prey.pos.within(here, Fx::from_bits(ARM))
                {
                    being.rest = 20;
                    mind.affect(prey, 3);
                }
            }
            Kind::Object { .. } => {}
        }
    }

    #[inline]
    fn apply(&self, target: &mut Kind, by: &i32, _cause: &mut Cause) -> Fate {
        match target {
            Kind::Hero { being, .. } | Kind::Monster { being, .. } => being.hurt(*by),
            Kind::Object { touched, .. } => *touched += 1,
        }
        Fate::Stay
    }
}

/// Walks to a place, and finds a new goal on arrival.
fn walk(being: &mut Being, mind: &mut Mind<'_, Field>, to: Vec2, step: i32, crowd: i32) {
    if mind.pos().within(to, Fx::from_bits(step)) {
        let mut along = || mind.dice().below(crowd as u32 * 4096) as i32;
        being.goal = (along(), along());
    }
    mind.walk(mind.pos().toward(to, Fx::from_bits(step)));
    being.rest = being.rest.saturating_sub(1);
}

fn vec2((x, y): (i32, i32)) -> Vec2 {
    Vec2::new(Fx::from_bits(x), Fx::from_bits(y))
}

/// The world of a play, in which the first so many heroes are not yet.
pub fn world(play: &Play, absent: u16) -> World<Field> {
    let mut world = unlit_world(play, 255);
    let players = (absent..play.heroes as u16).map(PlayerId);
    let inputs = players.map(|player| Input::Join(player, world.admit(player, ()))).collect();
    world.step(&Turn { inputs });
    // Until the light has come everywhere.
    (0..world.grid().config().width_cells).for_each(|_| world.step(&Turn::EMPTY));
    world
}

/// The world of a play before its first tick.
pub fn unlit_world(play: &Play, light: u8) -> World<Field> {
    let cells = (play.tiles >> CELL_LOG2) as u16;
    let config = GridConfig {
        width_cells: cells,
        height_cells: cells,
        cell_log2: CELL_LOG2,
        reach: Fx::from_bits(SIGHT),
        stride: Fx::ratio(1, 4),
        light,
    };
    let grid = Grid::new(config).expect("the measures are sound");
    let (mut heroes, mut content) = (Vec::new(), vec![Vec::new(); grid.cells()]);
    for (at, kind) in play.start() {
        let cell = grid.cell_of(vec2(at));
        match kind {
            Kind::Hero { .. } => heroes.push((at, kind)),
            _ => content[usize::from(cell.y) * usize::from(cells) + usize::from(cell.x)].push((vec2(at), kind)),
        }
    }
    let field = Field { crowd: play.crowd, heroes, content, width: usize::from(cells) };
    World::new(Arc::new(field), grid, Table::generate([7; 32]), 1)
}

/// How many entities there are.
pub fn population(world: &World<Field>) -> usize {
    world.cells().map(|cell| world.actors(cell).len() + world.props(cell).len()).sum()
}
