//! Moves figures smoothly between two ticks. For the eye alone: the world knows nothing of it.
//!
//! Scenes carry no identities, so a figure is taken for the nearest one of the same looks in the scene before.

use crate::scene::{Figure, Scene};

/// Farther than this, in tiles, nothing walks in one tick: it is shown where it is.
const JUMP: f32 = 1.5;

/// The last two scenes.
#[derive(Default)]
pub struct Smooth {
    scene: Option<Scene>,
    /// Where each figure of the scene comes from.
    from: Vec<(f32, f32)>,
    center_from: (f32, f32),
}

impl Smooth {
    /// Takes the scene of a new tick.
    pub fn push(&mut self, scene: Scene) {
        let before = self.scene.take().unwrap_or_default();
        self.from = scene.figures.iter().map(|figure| origin(figure, &before.figures)).collect();
        self.center_from = if near(before.center, scene.center) { before.center } else { scene.center };
        self.scene = Some(scene);
    }

    /// The scene at a moment between the tick before (0) and the newest one (1).
    pub fn at(&self, moment: f32) -> Option<Scene> {
        let moment = moment.clamp(0.0, 1.0);
        let mut scene = self.scene.clone()?;
        for (figure, from) in scene.figures.iter_mut().zip(&self.from) {
            figure.pos = between(*from, figure.pos, moment);
        }
        scene.center = between(self.center_from, scene.center, moment);
        Some(scene)
    }

    /// The newest scene as it is.
    pub fn newest(&self) -> Option<&Scene> {
        self.scene.as_ref()
    }
}

fn origin(figure: &Figure, before: &[Figure]) -> (f32, f32) {
    let alike = |other: &&Figure| {
        (other.shape, other.symbol, other.color, &other.label)
            == (figure.shape, figure.symbol, figure.color, &figure.label)
    };
    let nearest = before
        .iter()
        .filter(alike)
        .map(|other| other.pos)
        .min_by(|a, b| f32::total_cmp(&distance_squared(*a, figure.pos), &distance_squared(*b, figure.pos)));
    nearest.filter(|from| near(*from, figure.pos)).unwrap_or(figure.pos)
}

fn near(a: (f32, f32), b: (f32, f32)) -> bool {
    distance_squared(a, b) <= JUMP * JUMP
}

fn distance_squared(a: (f32, f32), b: (f32, f32)) -> f32 {
    (a.0 - b.0).powi(2) + (a.1 - b.1).powi(2)
}

fn between(a: (f32, f32), b: (f32, f32), moment: f32) -> (f32, f32) {
    (a.0 + (b.0 - a.0) * moment, a.1 + (b.1 - a.1) * moment)
}
