//! Moves figures smoothly between two ticks, and lets them glide where a rollback corrected the
//! past. For the eye alone: the world knows nothing of it.
//!
//! A figure is known again by its id. One without is taken for the nearest one of the same looks in
//! the scene before. What a figure lost of its life from one scene to the next is told for a while.

use crate::scene::{Figure, Hit, Place, Scene};

/// Farther than this, in tiles, nothing walks in one tick: it is shown where it is.
const JUMP: f32 = 1.5;
/// As far a correction can put a figure that is known by its name: 8 ticks of walking back, and as
/// many of walking elsewhere.
const CORRECTION: f32 = 4.0;
/// So many ticks a figure glides to where a correction has put it: 200 ms at 20 ticks a second.
const GLIDE_TICKS: u8 = 4;

/// So many ticks a lost or won piece of life is told.
const TOLD_TICKS: u8 = 16;
/// So many ticks who was hurt flashes.
const FLASH_TICKS: u8 = 4;

/// The newest scene, and how its figures came there.
#[derive(Default)]
pub struct Smooth {
    scene: Option<Scene>,
    /// Each figure's way to where it is.
    ways: Vec<Way>,
    center: Way,
    /// What lives lost and won lately, with how many ticks ago.
    hits: Vec<(Hit, u8)>,
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
    /// So many ticks it still flashes.
    flash_ticks: u8,
}

impl Smooth {
    /// Takes the scene of a new tick. `corrected` says that the past was corrected
    /// since the last one.
    pub fn push(&mut self, scene: Scene, corrected: bool) {
        let before = self.scene.take().unwrap_or_default();
        self.hits.iter_mut().for_each(|(_, age_ticks)| *age_ticks += 1);
        self.hits.retain(|(_, age_ticks)| *age_ticks < TOLD_TICKS);
        let ways = scene.figures.iter().map(|figure| {
            let far = if corrected && figure.label.is_some() { CORRECTION } else { JUMP };
            let Some(n) = origin(figure, &before.figures) else { return Way::at(figure.pos) };
            let was = &before.figures[n];
            let way = self.ways[n].go(was.pos, figure.pos, corrected, far);
            let hit = hit(was, figure);
            self.hits.extend(hit.map(|hit| (hit, 0)));
            let is_hurt = hit.is_some_and(|hit| hit.by < 0);
            let flash_ticks = if is_hurt { FLASH_TICKS } else { way.flash_ticks.saturating_sub(1) };
            Way { flash_ticks, ..way }
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
            figure.flash = ((f32::from(way.flash_ticks) - moment) / f32::from(FLASH_TICKS)).max(0.0);
        }
        let aged = |(hit, ticks): &(Hit, u8)| Hit { age: (f32::from(*ticks) + moment) / f32::from(TOLD_TICKS), ..*hit };
        scene.hits = self.hits.iter().map(aged).collect();
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
        Way { from: shown, off, glides_ticks: GLIDE_TICKS, usual: (self.usual + moved) / 2.0, ..self }.fade()
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

/// What a figure lost or won of its life. One that is known by its looks alone may be another.
fn hit(was: &Figure, figure: &Figure) -> Option<Hit> {
    let (before, life) = (was.life?, figure.life?);
    let by = life.left.saturating_sub(before.left);
    // Who grew stronger was not healed.
    let counts = figure.id.is_some() && by != 0 && life.max == before.max;
    counts.then_some(Hit { pos: figure.pos, size: figure.size, by, is_hero: figure.is_hero, age: 0.0 })
}

/// Which figure of the scene before this one was: that of its id, or the nearest of the same looks.
fn origin(figure: &Figure, before: &[Figure]) -> Option<usize> {
    if figure.id.is_some() {
        return before.iter().position(|other| other.id == figure.id);
    }
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
