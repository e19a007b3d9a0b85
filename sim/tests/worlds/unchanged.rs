//! Who waits: a cell in which nobody changed is left as it is, and nothing is missed by that.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use lockstone_sim::{
    Body, Cause, CellId, Checksum, Dice, Fate, Fx, Grid, GridConfig, Input, Mind, PlayerId, Rules, Simulation, Table,
    Tick, Turn, Vec2, World,
};
use serde::{Deserialize, Serialize};

/// Sentries mostly wait. They tell that they are unchanged, or do not.
struct Watch<const TELLS: bool>;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Sentry<const TELLS: bool> {
    wounds: u32,
    asleep: bool,
}

impl<const TELLS: bool> Body for Sentry<TELLS> {
    fn is_actor(&self) -> bool {
        !self.asleep
    }

    fn is_unchanged(&self, before: &Self) -> bool {
        TELLS && self == before
    }
}

#[derive(Clone, Debug)]
enum Deed {
    Hit,
    Wake,
}

impl<const TELLS: bool> Rules for Watch<TELLS> {
    type Body = Sentry<TELLS>;
    type Effect = Deed;
    type Command = u32;
    type Hero = Vec2;
    type Facts = ();
    type Fact = ();
    type Scratch = ();

    fn generate(&self, cell: CellId, dice: &mut Dice, content: &mut Vec<(Vec2, Self::Body)>) {
        for _ in 0..dice.below(5) {
            let mut along = |n: u16| Fx::int(i32::from(n) * 8) + dice.unit() * 8;
            let at = Vec2::new(along(cell.x), along(cell.y));
            content.push((at, Sentry { wounds: 0, asleep: dice.chance(1, 3) }));
        }
    }

    fn entrance(&self, _: PlayerId, hero: &Vec2, (): &()) -> Vec2 {
        *hero
    }

    fn enter(&self, _: PlayerId, _: &Vec2, _: &mut Dice) -> Self::Body {
        Sentry::default()
    }

    fn command(&self, hero: &mut Self::Body, wounds: &u32) {
        hero.wounds = *wounds;
    }

    /// Most of what one does leaves oneself unchanged.
    fn think(&self, me: &mut Self::Body, mind: &mut Mind<'_, Self>) {
        let is_hero = mind.me().player.is_some();
        match mind.dice().below(240) {
            0..6 => {
                let angle = mind.dice().angle();
                mind.walk(mind.pos() + Vec2::from_angle(angle, Fx::ONE));
            }
            6..10 => {
                let near = mind.actors(Fx::MAX).nearest(|_| true);
                near.into_iter().for_each(|near| mind.affect(near, Deed::Hit));
            }
            10..14 => mind.props(Fx::MAX).for_each(|seen| mind.affect(seen, Deed::Wake)),
            14..16 => drop(mind.spawn(mind.pos(), Sentry { wounds: me.wounds + 1, asleep: false })),
            16 if !is_hero => mind.vanish(),
            17..19 if !is_hero => me.asleep = true,
            19 => me.wounds += 1,
            _ => {}
        }
    }

    fn apply(&self, target: &mut Self::Body, deed: &Deed, _: &mut Cause) -> Fate {
        match deed {
            Deed::Hit => target.wounds += 1,
            Deed::Wake => target.asleep = false,
        }
        if target.wounds > 9 { Fate::Gone } else { Fate::Stay }
    }
}

fn build<R: Rules>(rules: R, seed: u64) -> World<R> {
    let config = GridConfig { width_cells: 12, height_cells: 12, light: 3, ..GridConfig::default() };
    World::new(Arc::new(rules), Grid::new(config).expect("the measures are sound"), Table::generate([3; 32]), seed)
}

/// What a tick leaves: the checksums of all cells, the world's, and the cells that were touched.
type Left = (BTreeMap<CellId, Checksum>, Checksum, Vec<CellId>);

/// The same play for any rules that take the same commands: with a rollback now and then, and a
/// look at the checksum not in every tick.
fn play<const TELLS: bool>(seed: u64) -> Vec<Left> {
    let mut world = build(Watch::<TELLS>, seed);
    let mut dice = Table::generate([4; 32]).dice(seed, Tick(0));
    let (mut left, mut saved) = (Vec::new(), None);
    for tick in 0..240_u32 {
        let player = PlayerId(dice.below(3) as u16);
        let at = Vec2::new(Fx::int(dice.range(8..=88)), Fx::int(dice.range(8..=88)));
        let input = match dice.below(40) {
            _ if tick < 3 => Some(Input::Join(PlayerId(tick as u16), world.admit(PlayerId(tick as u16), at))),
            0 => Some(Input::Join(player, world.admit(player, at))),
            1 => Some(Input::Leave(player)),
            2..8 => Some(Input::Command(player, dice.below(4))),
            _ => None,
        };
        world.step(&Turn { inputs: input.into_iter().collect() });
        let mut touched = world.touched().to_vec();
        touched.sort();
        if dice.chance(2, 3) {
            left.push((world.tree().into_iter().collect(), world.checksum(), touched));
        }
        match dice.below(12) {
            0 if tick > 3 => saved = Some(world.snapshot()),
            1 => saved.iter().for_each(|saved| world.restore(saved)),
            _ => {}
        }
    }
    left
}

#[test]
fn a_cell_in_which_nobody_changed_is_left_as_it_is_and_nothing_is_missed() {
    let (mut some, mut all) = (0, 0);
    for seed in 0..24 {
        let (told, untold) = (play::<true>(seed), play::<false>(seed));
        for (n, (left, left_by_all)) in told.iter().zip(&untold).enumerate() {
            let ((cells, root, touched), (cells_of_all, root_of_all, all_touched)) = (left, left_by_all);
            assert_eq!((cells, root), (cells_of_all, root_of_all), "seed {seed}, look {n}");
            assert!(touched.iter().all(|cell| all_touched.contains(cell)), "seed {seed}, look {n}");
            (some, all) = (some + touched.len(), all + all_touched.len());
        }
    }
    println!("{some} cells touched, {all} of those who do not tell");
    assert!(some > 1_000 && some * 2 < all, "{some} of {all}");
}

/// Only a debug build looks, as to encode what is unchanged would cost what is to be saved.
#[cfg(debug_assertions)]
#[test]
fn a_body_that_counts_as_unchanged_but_is_not_panics() {
    #[derive(Clone, Serialize, Deserialize)]
    struct Liar(u32);
    impl Body for Liar {
        fn is_actor(&self) -> bool {
            true
        }
        fn is_unchanged(&self, _: &Self) -> bool {
            true
        }
    }
    struct Lies;
    impl Rules for Lies {
        type Body = Liar;
        type Effect = ();
        type Command = ();
        type Hero = ();
        type Facts = ();
        type Fact = ();
        type Scratch = ();

        fn entrance(&self, _: PlayerId, (): &(), (): &()) -> Vec2 {
            Vec2::ZERO
        }

        fn enter(&self, _: PlayerId, (): &(), _: &mut Dice) -> Liar {
            Liar(0)
        }

        fn command(&self, _: &mut Liar, (): &()) {}

        fn think(&self, me: &mut Liar, mind: &mut Mind<'_, Self>) {
            me.0 = mind.tick().0;
        }

        fn apply(&self, _: &mut Liar, (): &(), _: &mut Cause) -> Fate {
            Fate::Stay
        }
    }
    let mut world = build(Lies, 1);
    world.step(&Turn { inputs: vec![Input::Join(PlayerId(0), world.admit(PlayerId(0), ()))] });
    let lie = catch_unwind(AssertUnwindSafe(|| world.step(&Turn::EMPTY))).expect_err("a lie is found");
    let sentence = lie.downcast_ref::<String>().expect("a sentence");
    assert!(sentence.contains("Liar` counts as unchanged, but is encoded as another"), "{sentence}");
}
