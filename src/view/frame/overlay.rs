//! What is told over the world: life that was lost and won, what is pointed at, what can be done.

use tiny_skia::Pixmap;

use super::figures::life_color;
use super::ink::{self, Font, fill};
use super::{Camera, TILE};
use crate::scene::{Figure, Hit, Place, Rgb, Scene, Skill};

const PAPER: Rgb = Rgb(232, 222, 202);
const EMBER: Rgb = Rgb(232, 150, 62);
const FAINT: Rgb = Rgb(142, 130, 112);
/// How far a number floats up, in tiles.
const RISE: f32 = 0.9;
/// A pointer so near to a figure's middle means it, in tiles of a figure of one tile.
const NEAR: f32 = 0.7;
/// Width and height of what is said of a skill, and the gap to the next one, in pixels.
const SKILL: (i32, i32, i32) = (92, 40, 8);

/// A number that floats up from who lost, or won, life.
pub(super) fn hit(pixmap: &mut Pixmap, camera: Camera, hit: &Hit) {
    let (x, y) = camera.pixel(hit.pos);
    let color = match hit.by {
        1.. => Rgb(120, 220, 100),
        _ if hit.is_hero => Rgb(255, 96, 72),
        _ => Rgb(255, 222, 140),
    };
    // It fades at the end, towards black, as its rim is.
    let fade = ((1.0 - hit.age) * 3.0).clamp(0.0, 1.0);
    let font = Font::bold(super::lit(color, [fade; 3]));
    let text = if hit.by > 0 { format!("+{}", hit.by) } else { hit.by.unsigned_abs().to_string() };
    // Beside the figure, whose name may be over it. Fast at first.
    let up = hit.size * TILE * 0.4 + (1.0 - (1.0 - hit.age).powi(2)) * RISE * TILE;
    let place = ((x + hit.size * TILE * 0.5) as i32, (y - up) as i32 - 16);
    if fade > 0.2 {
        font.write_rimmed(pixmap, place, &text);
    }
}

/// The figure at a place: the nearest that has a name.
pub(super) fn pointed(scene: &Scene, (x, y): Place) -> Option<&Figure> {
    let away = |figure: &Figure| {
        // Its middle is over its foot.
        let middle = figure.pos.1 - figure.size * 0.4;
        (figure.pos.0 - x).hypot(middle - y) / figure.size.max(0.6)
    };
    let named = scene.figures.iter().filter(|figure| figure.title().is_some());
    let near = named.map(|figure| (away(figure), figure)).filter(|(away, _)| *away < NEAR);
    near.min_by(|(a, _), (b, _)| f32::total_cmp(a, b)).map(|(_, figure)| figure)
}

/// A line that is dragged, beside the mouse.
pub(super) fn dragged(pixmap: &mut Pixmap, (x, y): (f32, f32), line: &str) {
    let font = Font::bold(EMBER);
    let text = &font.wrap(line, 240)[0];
    // Where it is seen, however near to the edge the mouse is.
    let left = (x as i32 + 12).min(pixmap.width() as i32 - font.width(text) - 8);
    fill(pixmap, (left as f32 - 4.0, y - 4.0, font.width(text) as f32 + 8.0, 22.0), Rgb(0, 0, 0), 200);
    font.write(pixmap, (left, y as i32 - 2), text);
}

/// What a figure is called and how much life it has, at the picture's upper edge.
pub(super) fn target(pixmap: &mut Pixmap, camera: Camera, figure: &Figure) {
    let Some(title) = figure.title() else { return };
    let font = Font::bold(super::lit(figure.color, [1.3; 3]));
    let width = (font.width(title) + 24).max(180);
    let (x, y) = (camera.width as i32 / 2, 12);
    let (left, height) = ((x - width / 2) as f32, if figure.life.is_some() { 44.0 } else { 26.0 });
    fill(pixmap, (left, y as f32, width as f32, height), Rgb(0, 0, 0), 150);
    font.write_rimmed(pixmap, (x - font.width(title) / 2, y + 5), title);
    if let Some(life) = figure.life {
        let (small, text) = (Font::small(PAPER), format!("{} / {}", life.left, life.max));
        let place = (left + 8.0, y as f32 + 25.0, width as f32 - 16.0, 12.0);
        ink::bar(pixmap, place, life.share(), life_color(life.share()));
        small.write_rimmed(pixmap, (x - small.width(&text) / 2, y + 23), &text);
    }
}

/// What can be done by a key, and whether it is ready, at the picture's lower edge.
pub(super) fn skills(pixmap: &mut Pixmap, camera: Camera, skills: &[Skill]) {
    let (width, height, gap) = SKILL;
    let all = skills.len() as i32 * (width + gap) - gap;
    let (left, top) = ((camera.width as i32 - all) / 2, camera.height as i32 - height - 12);
    if left < 0 {
        return;
    }
    for (skill, n) in skills.iter().zip(0..) {
        let (x, is_ready) = (left + n * (width + gap), skill.ready >= 1.0);
        fill(pixmap, (x as f32, top as f32, width as f32, height as f32), Rgb(0, 0, 0), 150);
        let (ink, key) = if is_ready { (PAPER, EMBER) } else { (FAINT, FAINT) };
        Font::bold(key).write_rimmed(pixmap, (x + 8, top + 4), &skill.key.to_string());
        let count = skill.count.map(|count| count.to_string()).unwrap_or_default();
        let (bold, small) = (Font::bold(ink), Font::small(ink));
        bold.write_rimmed(pixmap, (x + width - 8 - bold.width(&count), top + 4), &count);
        small.write(pixmap, (x + 20, top + 4), skill.name);
        let bar = ((x + 6) as f32, (top + height - 12) as f32, (width - 12) as f32, 5.0);
        ink::bar(pixmap, bar, skill.ready, if is_ready { EMBER } else { Rgb(110, 120, 150) });
    }
}
