//! Things and beings: shadow, parts, shine, life bar, name.

use tiny_skia::{
    BlendMode, Color, FillRule, GradientStop, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Point,
    RadialGradient, Rect, SpreadMode, Stroke, Transform,
};

use super::ink::{self, Font, paint};
use super::light::Light;
use super::{Camera, TILE, lit};
use crate::scene::{Drawing, Figure, Ink, Life, Part, Rgb};

/// Figures are drawn a little larger than life.
const STATURE: f32 = 1.2;

/// What looks nowhere looks to the front, a little to the right.
const FRONT: f32 = 1.2;

/// How white who was hurt just now is.
const FLASH: f32 = 0.75;

/// From one name to another above it, in pixels.
const NAME_HEIGHT: i32 = 16;

/// More light than this washes a figure's colours out.
const BRIGHTEST: f32 = 1.12;

/// Draws the parts of one figure, with a dark rim each.
struct Pen<'p> {
    pixmap: &'p mut Pixmap,
    transform: Transform,
    light: [f32; 3],
    color: Rgb,
    /// How white it flashes, 0 to 1.
    flash: f32,
}

impl Pen<'_> {
    fn draw(&mut self, part: Part<'_>) {
        let mut path = PathBuilder::new();
        match part {
            Part::Oval((x, y), (rx, ry), ink) => {
                let rect = Rect::from_xywh(x - rx, y - ry, rx * 2.0, ry * 2.0);
                self.fill(rect.and_then(PathBuilder::from_oval), ink);
            }
            Part::Polygon(points, ink) => {
                let Some((first, rest)) = points.split_first() else { return };
                path.move_to(first.0, first.1);
                rest.iter().for_each(|(x, y)| path.line_to(*x, *y));
                path.close();
                self.fill(path.finish(), ink);
            }
            Part::Line(from, to, width, ink) => {
                path.move_to(from.0, from.1);
                path.line_to(to.0, to.1);
                self.stroke(path.finish(), width, ink);
            }
            Part::Curve([from, past, to], width, ink) => {
                path.move_to(from.0, from.1);
                path.quad_to(past.0, past.1, to.0, to.1);
                self.stroke(path.finish(), width, ink);
            }
        }
    }

    fn fill(&mut self, path: Option<Path>, ink: Ink) {
        let Some(path) = path else { return };
        let rim = Stroke { width: 0.05, line_join: LineJoin::Round, ..Stroke::default() };
        self.pixmap.fill_path(&path, &self.paint(ink), FillRule::Winding, self.transform, None);
        self.pixmap.stroke_path(&path, &paint(Rgb(0, 0, 0), 170), &rim, self.transform, None);
    }

    fn stroke(&mut self, path: Option<Path>, width: f32, ink: Ink) {
        let Some(path) = path else { return };
        let stroke =
            |width| Stroke { width, line_cap: LineCap::Round, line_join: LineJoin::Round, ..Stroke::default() };
        self.pixmap.stroke_path(&path, &paint(Rgb(0, 0, 0), 170), &stroke(width + 0.07), self.transform, None);
        self.pixmap.stroke_path(&path, &self.paint(ink), &stroke(width), self.transform, None);
    }

    /// The paint of an ink in this figure's light.
    fn paint(&self, ink: Ink) -> Paint<'static> {
        let color = match ink {
            Ink::Own(shade) => lit(self.color, [shade; 3]),
            Ink::Of(color) => color,
        };
        let Rgb(r, g, b) = lit(color, self.light);
        let [r, g, b] = [r, g, b].map(|value| value + (f32::from(255 - value) * self.flash) as u8);
        paint(Rgb(r, g, b), 255)
    }
}

/// Draws a figure with its shadow, by the light of its place. What stands in the dark is not drawn.
pub(super) fn draw(pixmap: &mut Pixmap, camera: Camera, figure: &Figure, light: &Light) {
    let Drawing { parts, shadow, bright, .. } = figure.drawing;
    let light = if bright { [1.2; 3] } else { light.at(figure.pos).map(|value| value.min(BRIGHTEST)) };
    if light.iter().all(|value| *value < 0.02) || !in_sight(camera, figure) {
        return;
    }
    let (x, y) = camera.pixel(figure.pos);
    let scale = figure.size.clamp(0.1, 6.0) * TILE * STATURE;
    if shadow {
        self::shadow(pixmap, (x, y), scale);
    }
    let transform = Transform::from_row(scale, 0.0, 0.0, scale, x, y);
    let flash = figure.flash.clamp(0.0, 1.0) * FLASH;
    let mut pen = Pen { pixmap, transform, light, color: figure.color, flash };
    parts(figure.facing.unwrap_or(FRONT), &mut |part| pen.draw(part));
}

fn in_sight(camera: Camera, figure: &Figure) -> bool {
    let (x, y) = camera.pixel(figure.pos);
    let margin = TILE * 3.0;
    x > -margin && y > -margin && x < camera.width as f32 + margin && y < camera.height as f32 + margin
}

fn shadow(pixmap: &mut Pixmap, (x, y): (f32, f32), scale: f32) {
    let rect = Rect::from_xywh(x - scale * 0.40, y - scale * 0.14, scale * 0.8, scale * 0.30);
    if let Some(path) = rect.and_then(PathBuilder::from_oval) {
        pixmap.fill_path(&path, &paint(Rgb(0, 0, 0), 110), FillRule::Winding, Transform::identity(), None);
    }
}

/// The shine around what glows of itself.
pub(super) fn shine(pixmap: &mut Pixmap, camera: Camera, figure: &Figure, time_s: f32) {
    let Some((strength, tiles)) = figure.drawing.shine else { return };
    if !in_sight(camera, figure) {
        return;
    }
    let (x, y) = camera.pixel(figure.pos);
    let y = y - figure.size * TILE * 0.35;
    let pulse = 1.0 + 0.12 * (time_s * 5.0 + figure.pos.0).sin();
    let radius = tiles * TILE * pulse * figure.size.clamp(0.5, 3.0);
    let Rgb(r, g, b) = figure.color;
    let stop = |at, alpha: f32| GradientStop::new(at, Color::from_rgba8(r, g, b, (alpha * 255.0) as u8));
    let stops = vec![stop(0.0, strength), stop(0.4, strength * 0.3), stop(1.0, 0.0)];
    let center = Point::from_xy(x, y);
    let shader = RadialGradient::new(center, 0.0, center, radius, stops, SpreadMode::Pad, Transform::identity());
    if let (Some(shader), Some(rect)) = (shader, Rect::from_xywh(x - radius, y - radius, radius * 2.0, radius * 2.0)) {
        let paint = Paint { shader, blend_mode: BlendMode::Plus, ..Paint::default() };
        pixmap.fill_rect(rect, &paint, Transform::identity(), None);
    }
}

/// The colour of so much life.
pub(super) fn life_color(share: f32) -> Rgb {
    if share > 0.5 {
        Rgb(96, 190, 80)
    } else if share > 0.25 {
        Rgb(222, 170, 50)
    } else {
        Rgb(208, 52, 40)
    }
}

/// The names that are written, each by its left upper corner and its width: one that would lie over
/// another stands above it.
#[derive(Default)]
pub(super) struct Names(Vec<(i32, i32, i32)>);

impl Names {
    /// Finds a place for one that is to stand here. Returns how high it stands.
    fn place(&mut self, x: i32, mut y: i32, width: i32) -> i32 {
        let is_under = |y: i32, &(left, top, wide): &(i32, i32, i32)| {
            (y - top).abs() < NAME_HEIGHT && x < left + wide && left < x + width
        };
        while let Some(&(_, top, _)) = self.0.iter().find(|name| is_under(y, name)) {
            y = top - NAME_HEIGHT;
        }
        self.0.push((x, y, width));
        y
    }
}

/// The life bar and the name over a figure.
pub(super) fn caption(pixmap: &mut Pixmap, camera: Camera, figure: &Figure, names: &mut Names) {
    if !in_sight(camera, figure) {
        return;
    }
    let (x, y) = camera.pixel(figure.pos);
    let top = y - figure.size * TILE * STATURE * 1.05;
    if let Some(life) = figure.life.filter(|life| (1..life.max).contains(&life.left)).map(Life::share) {
        let width = (figure.size * TILE * 0.8).max(18.0).round();
        let place = ((x - width / 2.0).round(), (top - 6.0).round(), width, 4.0);
        ink::bar(pixmap, place, life, life_color(life));
    }
    if let Some(label) = &figure.label {
        let font = Font::bold(lit(figure.color, [1.3; 3]));
        let (width, y) = (font.width(label), top as i32 - 25);
        let x = x as i32 - width / 2;
        font.write_rimmed(pixmap, (x, names.place(x, y, width)), label);
    }
}
