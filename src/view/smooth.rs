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
