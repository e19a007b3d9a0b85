//! What a mind sees, compared with a plain look at everything: who is near, in which order,
//! and who is nearest.

use std::sync::Arc;

use lockstone_sim::{
    Body, CellId, CellRect, Dice, Entity, EntityId, Fx, Grid, GridConfig, Input, Mind, PlayerId, Rules, Seen,
    Simulation, Table, Turn, Vec2, World,
};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

/// A thing that looks around, or stands still.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Thing {
    thinks: bool,
    radius: Fx,
    /// Who was near: all actors, the heroes, the props.
    near: [Vec<(EntityId, i64)>; 3],
    /// Who was nearest among those with an even id, of each.
    nearest: [Option<EntityId>; 3],
    /// The same when the nearest is asked for behind the first.
    nearest_behind_first: [Option<EntityId>; 3],
}

impl Body for Thing {
    fn is_actor(&self) -> bool {
        self.thinks
    }
}

struct Lookout {
    cell_tiles: i32,
    crowd: u32,
}

impl Rules for Lookout {
    type Body = Thing;
    type Effect = ();
    /// How far the hero looks from now on.
    type Command = Fx;
    type Hero = Vec2;
    type Facts = ();
    type Fact = ();
    type Scratch = ();

    fn generate(&self, cell: CellId, dice: &mut Dice, content: &mut Vec<(Vec2, Thing)>) {
        for _ in 0..dice.below(self.crowd) {
            // Borders and corners of the cell more often than chance would have it, and
            // several at one place.
            let steps = self.cell_tiles * 4096;
            let along = |n: u16, dice: &mut Dice| {
                let offsets = [0, steps - 1, steps / 2, dice.range(0..=steps - 1)];
                Fx::from_bits(i32::from(n) * steps + offsets[dice.below(4) as usize])
            };
            let pos = Vec2::new(along(cell.x, dice), along(cell.y, dice));
            content.push((pos, Thing { thinks: dice.chance(1, 2), ..Thing::default() }));
        }
    }

    fn entrance(&self, _player: PlayerId, hero: &Vec2, _facts: &()) -> Vec2 {
        *hero
    }

    fn enter(&self, _player: PlayerId, _hero: &Vec2, _dice: &mut Dice) -> Thing {
        Thing::default()
    }

    fn command(&self, hero: &mut Thing, radius: &Fx) {
        hero.radius = *radius;
    }

    fn think(&self, me: &mut Thing, mind: &mut Mind<'_, Self>) {
        let look = || [mind.actors(me.radius), mind.heroes(me.radius), mind.props(me.radius)];
        me.near = look().map(|near| near.map(|seen| (seen.id, seen.distance_squared())).collect());
        me.nearest = look().map(|near| near.nearest(even).map(|seen| seen.id));
        me.nearest_behind_first = look().map(|mut near| {
            near.next();
            near.nearest(even).map(|seen| seen.id)
        });
        // Whoever is near is found by id, and nobody else.
        let ids = look().map(|near| near.map(|seen: Seen<'_, Thing>| seen.id).collect::<Vec<_>>()).concat();
        assert!(ids.iter().all(|&id| mind.find(id).is_some_and(|seen| seen.id == id)));
    }
}

fn even(thing: &Entity<Thing>) -> bool {
    thing.id.0.is_multiple_of(2)
}

/// A world of any measures, with heroes here and there.
#[derive(Clone, Debug)]
struct Scene {
    config: GridConfig,
    seed: u64,
    crowd: u32,
    heroes: Vec<Vec2>,
}

fn scenes() -> impl Strategy<Value = Scene> {
    let measures = (1..=4_u8, 1..=12_u16, 1..=12_u16, 2..=6_u8);
    let reach = prop_oneof![1..=40_000_i32, Just(4096), Just(8192), Just(16 * 4096), Just(i32::MAX)];
    let place = (0..(12 << 16), 0..(12 << 16)).prop_map(|(x, y)| Vec2::new(Fx::from_bits(x), Fx::from_bits(y)));
    let heroes = prop::collection::vec(prop_oneof![4 => place, 1 => Just(Vec2::new(Fx::MAX, Fx::MAX))], 1..6);
    (measures, reach, any::<u64>(), 2..12_u32, heroes).prop_map(
        |((cell_log2, width_cells, height_cells, light), reach, seed, crowd, heroes)| {
            let reach = Fx::from_bits(reach);
            let config = GridConfig { width_cells, height_cells, cell_log2, reach, stride: Fx::HALF, light };
            Scene { config, seed, crowd, heroes }
        },
    )
}

fn radii() -> impl Strategy<Value = Fx> {
    let bits = prop_oneof![
        any::<i32>(),
        -40_000..=40_000_i32,
        prop::sample::select(vec![0, 1, -1, 4096, 8192, i32::MAX, i32::MIN]),
    ];
    bits.prop_map(Fx::from_bits)
}

fn world(scene: &Scene) -> World<Lookout> {
    let grid = Grid::new(scene.config).expect("the measures are sound");
    let rules = Lookout { cell_tiles: grid.cell_tiles(), crowd: scene.crowd };
    let mut world = World::new(Arc::new(rules), grid, Table::generate([9; 32]), scene.seed);
    let join = |(n, at): (usize, &Vec2)| Input::Join(PlayerId(n as u16), world.admit(PlayerId(n as u16), *at));
    let inputs = scene.heroes.iter().enumerate().map(join).collect();
    world.step(&Turn { inputs });
    (0..4).for_each(|_| world.step(&Turn::EMPTY));
    world
}

/// Everyone within a radius of an entity but itself, in the promised order: cell by
/// cell, by id in each.
fn plain_look(world: &World<Lookout>, me: &Entity<Thing>, wanted: usize, radius: Fx) -> Vec<(EntityId, i64)> {
    let GridConfig { width_cells, height_cells, reach, .. } = *world.grid().config();
    let all = CellRect { low: CellId::new(0, 0), high: CellId::new(width_cells - 1, height_cells - 1) };
    let lit = all.iter().filter(|&cell| world.light(cell) > 0);
    let things = lit.flat_map(|cell| if wanted == 2 { world.props(cell) } else { world.actors(cell) });
    things
        .filter(|thing| thing.id != me.id && (wanted != 1 || thing.player.is_some()))
        .filter(|thing| thing.pos.within(me.pos, radius.min(reach)))
        .map(|thing| (thing.id, thing.pos.distance_squared(me.pos)))
        .collect()
}

fn plain_nearest(near: &[(EntityId, i64)]) -> Option<EntityId> {
    near.iter().filter(|(id, _)| id.0.is_multiple_of(2)).min_by_key(|(_, distance)| *distance).map(|(id, _)| *id)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn minds_see_what_a_plain_look_at_everything_gives(scene in scenes(), radius in radii()) {
        let mut world = world(&scene);
        let before: Vec<_> = world.players().map(|p| world.hero(p).expect("all are there").clone()).collect();
        let expected: Vec<_> =
            before.iter().map(|me| [0, 1, 2].map(|wanted| plain_look(&world, me, wanted, radius))).collect();
        let inputs = before.iter().filter_map(|me| Some(Input::Command(me.player?, radius))).collect();
        world.step(&Turn { inputs });
        for (me, near) in before.iter().zip(expected) {
            let hero = &world.hero(me.player.expect("a hero")).expect("all are there").body;
            prop_assert_eq!(&hero.near, &near);
            prop_assert_eq!(&hero.nearest, &near.each_ref().map(|near| plain_nearest(near)));
            let behind_first = near.each_ref().map(|near| plain_nearest(near.get(1..).unwrap_or(&[])));
            prop_assert_eq!(&hero.nearest_behind_first, &behind_first);
        }
    }
}

#[test]
fn a_negative_radius_sees_nobody_least_of_all_beyond_reach() {
    let config =
        GridConfig { width_cells: 8, height_cells: 8, cell_log2: 3, reach: Fx::int(5), ..GridConfig::default() };
    let at = |n: i32| Vec2::new(Fx::int(n), Fx::int(n));
    let mut world = world(&Scene { config, seed: 1, crowd: 1, heroes: vec![at(0), at(8)] });
    world.step(&Turn { inputs: vec![Input::Command(PlayerId(0), Fx::int(-12))] });
    let hero = &world.hero(PlayerId(0)).expect("the hero is there").body;
    assert_eq!((&hero.near, hero.nearest), (&[vec![], vec![], vec![]], [None; 3]));
}
