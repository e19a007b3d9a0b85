//! The play as rules of a Lockstone world.

use std::sync::Arc;

use lockstone_sim::dice::Dice;
use lockstone_sim::world::Snapshot;
use lockstone_sim::{
    Body, Cause, CellId, Entity, EntityId, Fate, Fx, Grid, GridConfig, Input, Mind, PlayerId, Rules, Simulation, Table,
    Turn, Vec2, World,
};

use crate::Contender;
use crate::play::{ARM, HERO_LIFE, HERO_STEP, Kind, MONSTER_LIFE, MONSTER_STEP, Play, SIGHT};

const CELL_LOG2: u8 = 4;

pub struct Ours(World<Field>);

pub struct Field {
    crowd: i32,
    heroes: Vec<((i32, i32), Kind)>,
    /// What each cell holds at the start.
    content: Vec<Vec<(Vec2, Kind)>>,
    width: usize,
}

impl Body for Kind {
    fn is_actor(&self) -> bool {
        !matches!(self, Kind::Object { .. })
    }
}

#[derive(Clone, Debug)]
pub enum Effect {
    Hurt(i32),
    Touch,
}

impl Rules for Field {
    type Body = Kind;
    type Effect = Effect;
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

    fn think(&self, me: &mut Kind, mind: &mut Mind<'_, Self>) {
        match me {
            Kind::Hero { goal, rest, .. } => {
                let to = vec2(*goal);
                if mind.pos().within(to, Fx::from_bits(HERO_STEP)) {
                    *goal = (
                        mind.dice.below(self.crowd as u32 * 4096) as i32,
                        mind.dice.below(self.crowd as u32 * 4096) as i32,
                    );
                }
                mind.walk(mind.pos() + (to - mind.pos()).clamp_length(Fx::from_bits(HERO_STEP)));
                *rest = rest.saturating_sub(1);
                if *rest == 0 {
                    *rest = 20;
                    let foe = mind.actors(Fx::from_bits(ARM)).find(|seen| !seen.id.is_hero());
                    let thing = mind.props(Fx::from_bits(ARM)).next();
                    foe.into_iter().for_each(|foe| mind.affect(foe, Effect::Hurt(9)));
                    thing.into_iter().for_each(|thing| mind.affect(thing, Effect::Touch));
                }
            }
            Kind::Monster { rest, heading, .. } => {
                let prey = nearest(mind);
                let to = prey.map_or(vec2(*heading), |(pos, _)| pos);
                if mind.pos().within(to, Fx::from_bits(MONSTER_STEP)) {
                    *heading = (
                        mind.dice.below(self.crowd as u32 * 4096) as i32,
                        mind.dice.below(self.crowd as u32 * 4096) as i32,
                    );
                }
                mind.walk(mind.pos() + (to - mind.pos()).clamp_length(Fx::from_bits(MONSTER_STEP)));
                *rest = rest.saturating_sub(1);
                if let Some((pos, id)) = prey
                    && *rest == 0
                    && pos.within(mind.pos(), Fx::from_bits(ARM))
                {
                    *rest = 20;
                    mind.find(id).into_iter().for_each(|prey| mind.affect(prey, Effect::Hurt(3)));
                }
            }
            Kind::Object { .. } => {}
        }
    }

    fn apply(&self, target: &mut Kind, effect: &Effect, _cause: &mut Cause) -> Fate {
        match (target, effect) {
            (Kind::Hero { life, .. }, Effect::Hurt(by)) => *life = if *life > *by { *life - by } else { HERO_LIFE },
            (Kind::Monster { life, .. }, Effect::Hurt(by)) => {
                *life = if *life > *by { *life - by } else { MONSTER_LIFE }
            }
            (Kind::Object { touched, .. }, _) => *touched += 1,
            _ => {}
        }
        Fate::Stay
    }

    fn announce(&self, _facts: &mut (), _fact: &()) {}
}

fn nearest(mind: &Mind<'_, Field>) -> Option<(Vec2, EntityId)> {
    let here = mind.pos();
    let nearest = mind.heroes(Fx::from_bits(SIGHT)).min_by_key(|seen| (seen.pos.distance_squared(here), seen.id));
    nearest.map(|seen| (seen.pos, seen.id))
}

fn vec2((x, y): (i32, i32)) -> Vec2 {
    Vec2::new(Fx::from_bits(x), Fx::from_bits(y))
}

impl Contender for Ours {
    type Snapshot = Snapshot<Field>;

    fn new(play: &Play) -> Ours {
        let cells = (play.tiles >> CELL_LOG2) as u16;
        let config = GridConfig {
            width_cells: cells,
            height_cells: cells,
            cell_log2: CELL_LOG2,
            reach: Fx::from_bits(SIGHT),
            stride: Fx::ratio(1, 4),
            light: 255,
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
        let mut world = World::new(Arc::new(field), grid, Table::generate([7; 32]), 1);
        let players = (0..play.heroes as u16).map(PlayerId);
        let inputs = players.map(|player| Input::Join(player, world.admit(player, ()))).collect();
        world.step(&Turn { inputs });
        // Until the light has come everywhere.
        (0..cells).for_each(|_| world.step(&Turn::EMPTY));
        Ours(world)
    }

    fn step(&mut self) {
        self.0.step(&Turn::EMPTY);
    }

    fn snapshot(&mut self) -> Self::Snapshot {
        self.0.snapshot()
    }

    fn restore(&mut self, snapshot: &Self::Snapshot) {
        self.0.restore(snapshot);
    }

    fn retire(&mut self, snapshot: Self::Snapshot) {
        self.0.retire(snapshot);
    }

    fn checksum(&mut self) -> u64 {
        self.0.checksum().0
    }

    fn population(&self) -> usize {
        let count = |entities: &[Entity<Kind>]| entities.len();
        self.0.cells().map(|cell| count(self.0.actors(cell)) + count(self.0.props(cell))).sum()
    }
}
