//! Figures move smoothly between two ticks, and glide where a rollback corrected the past.

use lockstone::scene::{Drawing, Figure, Life, Rgb, Scene};
use lockstone::view::smooth::Smooth;

/// What a correction may put a figure away and it still glides there, in tiles.
const CORRECTION: f32 = 4.0;
/// For how long it glides.
const GLIDE_TICKS: u8 = 4;
const STEP: f32 = 0.2;

/// A scene of one figure, with the picture's middle on it.
fn scene(x: f32) -> Scene {
    let plain = Figure::new((x, 0.0), '@', Drawing::DISC, Rgb(1, 2, 3));
    let figure = Figure { label: Some("Ada".to_owned()), ..plain };
    Scene { center: (x, 0.0), figures: vec![figure], ..Scene::default() }
}

/// Takes a tick. Returns where the figure is shown at the end of it.
fn tick(smooth: &mut Smooth, x: f32, corrected: bool) -> f32 {
    let before = smooth.at(1.0).map(|scene| scene.figures[0].pos.0);
    smooth.push(scene(x), corrected);
    let (start, end) = (smooth.at(0.0).unwrap(), smooth.at(1.0).unwrap());
    if let Some(before) = before.filter(|before| (before - x).abs() <= CORRECTION) {
        assert!((start.figures[0].pos.0 - before).abs() < 1e-5, "a tick begins where the last one ended");
    }
    assert!((end.center.0 - end.figures[0].pos.0).abs() < 1e-5, "the picture's middle goes with its hero");
    assert_eq!(smooth.newest().unwrap().figures[0].pos.0, x, "the newest scene is as it was given");
    end.figures[0].pos.0
}

/// A figure that walks, at its fifth step.
fn walking() -> Smooth {
    let mut smooth = Smooth::default();
    (1..=5u8).for_each(|n| assert!((tick(&mut smooth, f32::from(n) * STEP, false) - f32::from(n) * STEP).abs() < 1e-5));
    smooth
}

#[test]
fn a_correction_glides_a_part_each_tick_and_is_gone_after_the_last() {
    for jump in [0.9, -0.7, -3.5] {
        let mut smooth = walking();
        let (mut place, mut shown) = (5.0 * STEP, 5.0 * STEP);
        for n in 1..=GLIDE_TICKS + 2 {
            place += if n == 1 { jump } else { STEP };
            let now = tick(&mut smooth, place, n == 1);
            let part = (jump.abs() - STEP) / f32::from(GLIDE_TICKS);
            assert!((now - shown).abs() <= STEP + part + 1e-5, "{jump}: from {shown} to {now} in tick {n}");
            assert_eq!((now - place).abs() < 1e-5, n >= GLIDE_TICKS, "{jump}: {now} for {place} after {n} ticks");
            shown = now;
        }
    }
}

#[test]
fn corrections_in_every_tick_never_leave_a_walker_far_behind() {
    let mut smooth = Smooth::default();
    for n in 0..40u8 {
        let place = f32::from(n) * STEP;
        let behind = place - tick(&mut smooth, place, true);
        assert!((0.0..1.5 * STEP).contains(&(behind + 1e-5)), "{behind} behind in tick {n}");
        assert!(n < 20 || behind < 0.01, "{behind} behind in tick {n}");
    }
}

#[test]
fn without_a_correction_a_leap_is_shown_at_once_and_what_walks_on_is_never_held_back() {
    let mut smooth = walking();
    assert_eq!(tick(&mut smooth, 2.0, false), 2.0);
    let mut smooth = walking();
    let next = 6.0 * STEP;
    assert!((tick(&mut smooth, next, true) - next).abs() < 1e-5, "the past of others was corrected, not this one's");
}

#[test]
fn what_goes_farther_than_anything_walks_is_shown_where_it_is() {
    let mut smooth = walking();
    assert_eq!(tick(&mut smooth, 30.0, true), 30.0);
    assert_eq!(smooth.at(0.0).unwrap().center, (30.0, 0.0));
}

/// A being with an id, or without, that has so much life left of 30.
fn being(id: Option<u64>, x: f32, left: i32, symbol: char) -> Figure {
    let plain = Figure::new((x, 0.0), symbol, Drawing::DISC, Rgb(1, 2, 3));
    Figure { id, life: Some(Life { left, max: 30 }), ..plain }
}

/// What is told of lives at the end of a tick in which these are there.
fn hits(smooth: &mut Smooth, figures: Vec<Figure>) -> Vec<i32> {
    smooth.push(Scene { figures, ..Scene::default() }, false);
    smooth.at(1.0).unwrap().hits.iter().map(|hit| hit.by).collect()
}

#[test]
fn what_a_being_loses_is_told_for_a_while_even_if_it_falls_and_others_stand_where_it_stood() {
    let (mut smooth, both) = (Smooth::default(), |a, b| vec![being(Some(1), 0.0, a, 'h'), being(Some(2), 0.1, b, 'h')]);
    assert!(hits(&mut smooth, both(30, 20)).is_empty(), "one that comes with wounds was not hurt here");
    assert_eq!(hits(&mut smooth, both(18, 20)), [-12]);
    let flashes = smooth.at(0.0).unwrap().figures.iter().map(|figure| figure.flash > 0.5).collect::<Vec<_>>();
    assert_eq!(flashes, [true, false]);
    assert_eq!(hits(&mut smooth, both(18, 25)), [-12, 5]);
    // They change places, and one falls: its looks are others.
    let fallen = vec![being(Some(2), 0.0, 25, 'h'), being(Some(1), 0.1, 0, '%')];
    assert_eq!(hits(&mut smooth, fallen.clone()), [-12, 5, -18]);
    let ticks = (0..100).take_while(|_| !hits(&mut smooth, fallen.clone()).is_empty()).count();
    assert!((8..30).contains(&ticks), "forgotten after {ticks} ticks");
    assert!(smooth.at(0.0).unwrap().figures.iter().all(|figure| figure.flash == 0.0));
}

#[test]
fn of_who_is_known_by_its_looks_alone_nothing_is_told() {
    let mut smooth = Smooth::default();
    assert!(hits(&mut smooth, vec![being(None, 0.0, 30, 'h')]).is_empty());
    assert!(hits(&mut smooth, vec![being(None, 0.0, 10, 'h')]).is_empty());
}
