//! Moves figures smoothly between two ticks, and lets them glide where a rollback corrected the
//! past. For the eye alone: the world knows nothing of it.
//!
//! Scenes carry no identities, so a figure is taken for the nearest one of the same looks in
//! the scene before.

use crate::scene::{Figure, Place, Scene};

/// Farther than this, in tiles, nothing walks in one tick: it is shown where it is.
const JUMP: f32 = 1.5;
/// As far a correction can put a figure that is known by its name: 8 ticks of walking back, and as
/// many of walking elsewhere.
const CORRECTION: f32 = 4.0;
/// So many ticks a figure glides to where a correction has put it: 200 ms at 20 ticks a second.
const GLIDE_TICKS: u8 = 4;

/// The newest scene, and how its figures came there.
#[derive(Default)]
pub struct Smooth {
    scene: Option<Scene>,
    /// Each figure's way to where it is.
    ways: Vec<Way>,
    center: Way,
}

/// How a figure came to where it is.
#[derive(Clone, Copy, Debug, Default)]
struct Way {
    /// Where it was shown at the end of the tick before.
    from: Place,
    /// How far off its place it is shown at the end of this tick.
    off: Place,
    /// So many ticks it still glides.
    glides_ticks: u8,
    /// How far it usually goes in a tick.
    usual: f32,
}

impl Smooth {
    /// Takes the scene of a new tick. `corrected` says that the past was corrected
    /// since the last one.
    pub fn push(&mut self, scene: Scene, corrected: bool) {
        let before = self.scene.take().unwrap_or_default();
        let ways = scene.figures.iter().map(|figure| {
            let far = if corrected && figure.label.is_some() { CORRECTION } else { JUMP };
            match origin(figure, &before.figures) {
                Some(n) => self.ways[n].go(before.figures[n].pos, figure.pos, corrected, far),
                None => Way::at(figure.pos),
            }
        });
        self.ways = ways.collect();
        let far = if corrected { CORRECTION } else { JUMP };
        self.center = self.center.go(before.center, scene.center, corrected, far);
        self.scene = Some(scene);
    }

    /// The scene at a moment between the tick before (0) and the newest one (1).
    pub fn at(&self, moment: f32) -> Option<Scene> {
        let moment = moment.clamp(0.0, 1.0);
        let mut scene = self.scene.clone()?;
        for (figure, way) in scene.figures.iter_mut().zip(&self.ways) {
            figure.pos = way.shown(figure.pos, moment);
        }
        scene.center = self.center.shown(scene.center, moment);
        Some(scene)
    }

    /// The newest scene as it is.
    pub fn newest(&self) -> Option<&Scene> {
        self.scene.as_ref()
    }
}

impl Way {
    /// Has come from nowhere.
    fn at(place: Place) -> Way {
        Way { from: place, ..Way::default() }
    }

    /// Goes on by a tick's movement, if that is not too far. Of a corrected one, what exceeds the
    /// usual way is not shown at once: it becomes an offset, which fades evenly.
    fn go(self, from: Place, to: Place, corrected: bool, far: f32) -> Way {
        let moved = distance(from, to);
        if moved > far {
            return Way::at(to);
        }
        let shown = add(from, self.off);
        if !corrected || moved <= self.usual {
            return Way { from: shown, usual: moved, ..self }.fade();
        }
        let excess = (moved - self.usual) / moved;
        let off = add(self.off, ((from.0 - to.0) * excess, (from.1 - to.1) * excess));
        // Whether the figure goes so far from now on, or has only been put there, the next ticks
        // tell: half of it is believed.
        Way { from: shown, off, glides_ticks: GLIDE_TICKS, usual: (self.usual + moved) / 2.0 }.fade()
    }

    fn fade(self) -> Way {
        let (left, ticks) = (self.glides_ticks.saturating_sub(1), self.glides_ticks.max(1));
        let share = f32::from(left) / f32::from(ticks);
        Way { off: (self.off.0 * share, self.off.1 * share), glides_ticks: left, ..self }
    }

    /// Where it is shown, on its way to its place.
    fn shown(&self, place: Place, moment: f32) -> Place {
        let to = add(place, self.off);
        (self.from.0 + (to.0 - self.from.0) * moment, self.from.1 + (to.1 - self.from.1) * moment)
    }
}

/// Which figure of the scene before this one was: the nearest of the same looks.
fn origin(figure: &Figure, before: &[Figure]) -> Option<usize> {
    let looks = |of: &Figure| (of.symbol, of.color);
    let alike =
        before.iter().enumerate().filter(|(_, other)| looks(other) == looks(figure) && other.label == figure.label);
    let apart = alike.map(|(n, other)| (n, distance(other.pos, figure.pos)));
    apart.min_by(|(_, a), (_, b)| f32::total_cmp(a, b)).map(|(n, _)| n)
}

fn distance(a: Place, b: Place) -> f32 {
    (a.0 - b.0).hypot(a.1 - b.1)
}

fn add(a: Place, b: Place) -> Place {
    (a.0 + b.0, a.1 + b.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Drawing, Rgb};

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
        (1..=5u8)
            .for_each(|n| assert!((tick(&mut smooth, f32::from(n) * STEP, false) - f32::from(n) * STEP).abs() < 1e-5));
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
        assert!(
            (tick(&mut smooth, next, true) - next).abs() < 1e-5,
            "the past of others was corrected, not this one's"
        );
    }

    #[test]
    fn what_goes_farther_than_anything_walks_is_shown_where_it_is() {
        let mut smooth = walking();
        assert_eq!(tick(&mut smooth, 30.0, true), 30.0);
        assert_eq!(smooth.at(0.0).unwrap().center, (30.0, 0.0));
    }
}
