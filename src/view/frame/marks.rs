//! What is far away: a hollow diamond at the picture's edge, unlike anything that
//! stands in the world.

use tiny_skia::{FillRule, PathBuilder, Pixmap, Stroke, Transform};

use super::ink::{Font, paint};
use super::{Camera, TILE};
use crate::scene::{Mark, Rgb};

/// How far a diamond's corners are from its middle, in pixels.
const SIZE: f32 = 8.0;
/// How far it stays from the edge, in tiles.
const MARGIN: f32 = 0.9;

/// Draws a mark at its place, or at the edge in its direction, with how far away it is in tiles.
pub(super) fn draw(pixmap: &mut Pixmap, camera: Camera, mark: &Mark, center: (f32, f32)) {
    let reach = |pixels: usize| pixels as f32 / TILE / 2.0 - MARGIN;
    let (x, y) = camera.pixel(mark.within(center, (reach(camera.width), reach(camera.height))));
    let mut path = PathBuilder::new();
    path.move_to(x, y - SIZE);
    [(x + SIZE, y), (x, y + SIZE), (x - SIZE, y)].into_iter().for_each(|(x, y)| path.line_to(x, y));
    path.close();
    if let Some(path) = path.finish() {
        let stroke = Stroke { width: 2.0, ..Stroke::default() };
        pixmap.fill_path(&path, &paint(Rgb(0, 0, 0), 150), FillRule::Winding, Transform::identity(), None);
        pixmap.stroke_path(&path, &paint(mark.color, 255), &stroke, Transform::identity(), None);
    }
    let (font, title) = (Font::small(mark.color), mark.title(center));
    let width = font.width(&title);
    let left = (x as i32 - width / 2).clamp(4, (camera.width as i32 - width - 4).max(4));
    let below = if y + 28.0 < camera.height as f32 { y + SIZE + 2.0 } else { y - SIZE - 20.0 };
    font.write_rimmed(pixmap, (left, below as i32), &title);
}
