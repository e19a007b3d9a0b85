//! What has no place in a simulated state is refused as the world is built, and not in the middle
//! of the game.
#![allow(clippy::disallowed_types, reason = "named to be refused")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::marker::PhantomData;
use std::num::NonZeroU8;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use lockstone_sim::{Body, Cause, Dice, Fate, Grid, GridConfig, Mind, PlayerId, Rules, Table, Vec2, World};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Rules with a body and facts of one's choice.
struct Of<B, F>(PhantomData<fn() -> (B, F)>);

#[derive(Clone, Serialize, Deserialize)]
enum Being<T> {
    Rock,
    Wolf { heading: NonZeroU8, bag: Vec<Option<Item<T>>> },
    Den(Box<Being<T>>, Mood<T>),
}

#[derive(Clone, Serialize, Deserialize)]
enum Mood<T> {
    Calm,
    Angry(Box<Mood<T>>, T),
}

#[derive(Clone, Serialize, Deserialize)]
struct Item<T> {
    name: String,
    /// A whole grid of it, within itself.
    within: Vec<Item<T>>,
    weight: [T; 2],
}

impl<T> Body for Being<T>
where
    T: Clone + Send + Sync + Serialize + DeserializeOwned + 'static,
{
    fn is_actor(&self) -> bool {
        true
    }
}

impl<B: Body, F> Rules for Of<B, F>
where
    F: Clone + Debug + PartialEq + Default + Send + Sync + Serialize + DeserializeOwned + 'static,
{
    type Body = B;
    type Command = ();
    type Hero = ();
    type Effect = ();
    type Facts = F;
    type Fact = ();
    type Scratch = ();

    fn entrance(&self, _: PlayerId, _: &(), _: &F) -> Vec2 {
        Vec2::ZERO
    }

    fn enter(&self, _: PlayerId, _: &(), _: &mut Dice) -> B {
        unreachable!("nobody enters")
    }

    fn command(&self, _: &mut B, _: &()) {}

    fn think(&self, _: &mut B, _: &mut Mind<'_, Self>) {}

    fn apply(&self, _: &mut B, _: &(), _: &mut Cause) -> Fate {
        Fate::Stay
    }
}

/// What is said as a world of such rules is built.
fn said<R: Rules>(rules: R) -> Option<String> {
    let grid = Grid::new(GridConfig::default()).expect("the measures are sound");
    let build = || World::new(Arc::new(rules), grid, Table::generate([0; 32]), 1);
    let panicked = catch_unwind(AssertUnwindSafe(build)).err()?;
    Some(panicked.downcast_ref::<String>().expect("a sentence").clone())
}

fn of_body<T: Clone + Send + Sync + Serialize + DeserializeOwned + 'static>() -> Option<String> {
    said(Of::<Being<T>, ()>(PhantomData))
}

fn of_facts<F>() -> Option<String>
where
    F: Clone + Debug + PartialEq + Default + Send + Sync + Serialize + DeserializeOwned + 'static,
{
    said(Of::<Being<u64>, F>(PhantomData))
}

#[test]
fn a_float_a_map_a_set_or_a_usize_panics_in_the_middle_of_the_game() {
    let of = |sentence: Option<String>, words: [&str; 3]| {
        let sentence = sentence.expect("it is refused");
        println!("{sentence}");
        assert!(words.iter().all(|word| sentence.contains(word)) && !sentence.contains(". "), "{sentence}");
    };
    for (sentence, word) in [
        (of_body::<f32>(), "float (f32)"),
        (of_body::<f64>(), "float (f64)"),
        (of_body::<BTreeMap<u8, u8>>(), "map ("),
        (of_body::<BTreeSet<u8>>(), "set ("),
        (of_body::<usize>(), "usize (usize)"),
        (of_body::<isize>(), "usize (isize)"),
    ] {
        of(sentence, ["Being<", "weight.0 is a", word]);
    }
    of(of_facts::<(u8, f32)>(), ["(u8, f32)", "1 is a", "float (f32)"]);
    of(of_facts::<usize>(), ["usize", "it is a", "usize (usize)"]);
}

#[test]
fn what_is_the_same_everywhere_is_not_refused() {
    assert_eq!(of_body::<u64>(), None);
    assert_eq!(of_body::<Option<(Vec<bool>, [i128; 3], String, char)>>(), None);
    assert_eq!(of_facts::<Vec<(u32, Vec2)>>(), None);
}

/// Every variant is met, however deep, and one that refuses a made-up value hides no other.
#[test]
fn a_float_behind_a_value_that_cannot_be_made_up_is_found() {
    #[derive(Clone, Serialize, Deserialize)]
    #[serde(try_from = "u8")]
    struct Even(u8);
    impl TryFrom<u8> for Even {
        type Error = &'static str;
        fn try_from(number: u8) -> Result<Even, &'static str> {
            if number.is_multiple_of(2) { Ok(Even(number)) } else { Err("it is odd") }
        }
    }
    impl From<Even> for u8 {
        fn from(even: Even) -> u8 {
            even.0
        }
    }
    #[derive(Clone, Serialize, Deserialize)]
    enum Deep {
        Refused(Even),
        Plain(u8),
        Found(Box<Deep>, Mood<f32>),
    }
    #[derive(Clone, Serialize, Deserialize)]
    struct Cave(Deep, u8);
    impl Body for Cave {
        fn is_actor(&self) -> bool {
            true
        }
    }
    let sentence = said(Of::<Cave, ()>(PhantomData)).expect("it is refused");
    assert!(sentence.contains("0.Found.1.Angry.1 is a float (f32)"), "{sentence}");
}
