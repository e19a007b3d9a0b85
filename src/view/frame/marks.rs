//! What is far away: a hollow diamond at its place, or an arrow at the picture's edge, unlike
//! anything that stands in the world.

use tiny_skia::{FillRule, PathBuilder, Pixmap, Stroke, Transform};

use super::ink::{Font, paint};
use super::{Camera, TILE};
use crate::scene::{Mark, Place, Rgb};

/// How far a diamond's corners are from its middle, in pixels.
const SIZE: f32 = 8.0;
/// How far it stays from the edges to the side, and from those above and below, where other things
/// are told, in tiles.
const MARGIN: (f32, f32) = (0.9, 2.2);
/// How far from a mark's middle its title is, in pixels.
const REACH: i32 = 11;
/// Height of a line of text, in pixels.
const LINE: i32 = 16;

/// Corners ahead and aside of the middle.
const DIAMOND: [(f32, f32); 4] = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)];
const ARROW: [(f32, f32); 4] = [(1.3, 0.0), (-0.8, 0.9), (-0.3, 0.0), (-0.8, -0.9)];

/// The way from one place to another, one tile far.
fn direction(from: Place, to: Place) -> Place {
    let (x, y) = (to.0 - from.0, to.1 - from.1);
    let far = x.hypot(y).max(f32::MIN_POSITIVE);
    (x / far, y / far)
}

/// Draws marks at their places, or at the edge in their direction, with how far away each is in
/// tiles.
pub(super) fn draw(pixmap: &mut Pixmap, camera: Camera, marks: &[Mark], center: Place) {
    let reach = |pixels: usize, margin: f32| pixels as f32 / TILE / 2.0 - margin;
    let reach = (reach(camera.width, MARGIN.0), reach(camera.height, MARGIN.1));
    let mut titles: Vec<(i32, i32)> = Vec::new();
    for mark in marks {
        let at = mark.within(center, reach);
        let (x, y) = camera.pixel(at);
        let direction = (at != mark.pos).then(|| direction(center, mark.pos));
        sign(pixmap, (x, y), direction, mark.color);
        let (font, title) = (Font::small(mark.color), mark.title(center));
        let width = font.width(&title);
        let left = (x as i32 - width / 2).clamp(4, (camera.width as i32 - width - 4).max(4));
        // Those that lie in one direction are told one above the other.
        let [below, above] = [y as i32 + REACH, y as i32 - REACH - LINE];
        let is_free =
            |top: &i32| titles.iter().all(|title| (title.0 - left).abs() >= width || (title.1 - top).abs() >= LINE);
        let mut tops = [below].into_iter().chain((0..).map(|n| above - n * LINE));
        let top = tops.find(is_free).unwrap_or(below);
        titles.push((left, top));
        font.write_rimmed(pixmap, (left, top), &title);
    }
}

/// A hollow diamond, or an arrow into a direction.
fn sign(pixmap: &mut Pixmap, (x, y): (f32, f32), direction: Option<Place>, color: Rgb) {
    let corners = if direction.is_some() { ARROW } else { DIAMOND };
    let (along, across) = direction.unwrap_or((1.0, 0.0));
    let corner = |(ahead, aside): (f32, f32)| {
        (x + (ahead * along - aside * across) * SIZE, y + (ahead * across + aside * along) * SIZE)
    };
    let [first, rest @ ..] = corners.map(corner);
    let mut path = PathBuilder::new();
    path.move_to(first.0, first.1);
    rest.into_iter().for_each(|(x, y)| path.line_to(x, y));
    path.close();
    if let Some(path) = path.finish() {
        let stroke = Stroke { width: 2.0, ..Stroke::default() };
        pixmap.fill_path(&path, &paint(Rgb(0, 0, 0), 150), FillRule::Winding, Transform::identity(), None);
        pixmap.stroke_path(&path, &paint(color, 255), &stroke, Transform::identity(), None);
    }
}
