//! What a viewer of recordings marks in the world, and the map of it. Kinds are told apart by their
//! pattern as well as by their colour, for who sees few colours.

use lockstone_sim::{CellId, CellRect};
use tiny_skia::{PathBuilder, Pixmap, Stroke, StrokeDash, Transform};

use super::ink::{Font, fill, paint};
use super::{Camera, Rect};
use crate::scene::{Area, AreaKind, Chart, Place, Rgb};

/// Between the lines of a pattern, in pixels of a picture.
const HATCH: f32 = 24.0;
/// The same on a map, as a part of a cell.
const CHART_HATCH: f32 = 0.5;
/// The stroke around an area in a picture, in pixels.
const EDGE: f32 = 3.0;
/// The pixels that a map leaves free around itself.
const MARGIN: f32 = 3.0;

const DARK: Rgb = Rgb(13, 10, 10);
const LIT: Rgb = Rgb(92, 72, 50);
const UNLIT: Rgb = Rgb(40, 33, 30);
const HERO: Rgb = Rgb(240, 236, 226);

/// From the palette of Okabe and Ito, which stays apart for all eyes.
fn color(kind: AreaKind) -> Rgb {
    match kind {
        AreaKind::Differs => Rgb(86, 180, 233),
        AreaKind::Suspect => Rgb(240, 170, 40),
        AreaKind::Chosen => Rgb(240, 228, 66),
        AreaKind::Cone => Rgb(240, 236, 226),
    }
}

/// Draws the marks over the world.
pub(super) fn draw(pixmap: &mut Pixmap, camera: Camera, areas: &[Area]) {
    for area in areas {
        let ((left, top), (right, bottom)) = (camera.pixel(area.low), camera.pixel(area.high));
        let seen = right > 0.0 && bottom > 0.0 && left < camera.width as f32 && top < camera.height as f32;
        if !seen {
            continue;
        }
        // Within its edges, so that two beside each other stay two.
        let inner = (left + EDGE / 2.0, top + EDGE / 2.0, right - left - EDGE, bottom - top - EDGE);
        mark(pixmap, inner, area.kind, EDGE, HATCH);
        let place = ((left.max(0.0) + 6.0) as i32, (top.max(0.0) + 4.0) as i32);
        Font::bold(color(area.kind)).write_rimmed(pixmap, place, &area.label);
    }
}

/// One mark: a tint and a pattern, and an edge.
fn mark(pixmap: &mut Pixmap, rect: Rect, kind: AreaKind, edge: f32, hatch: f32) {
    let (color, (left, top, width, height)) = (color(kind), rect);
    let lines: &[i32] = match kind {
        AreaKind::Differs => &[1],
        AreaKind::Suspect => &[1, -1],
        AreaKind::Chosen | AreaKind::Cone => &[],
    };
    if kind != AreaKind::Cone {
        fill(pixmap, rect, color, if lines.is_empty() { 60 } else { 34 });
    }
    for &slope in lines {
        self::lines(pixmap, rect, slope, hatch, (edge / 2.0).max(1.0), color);
    }
    let mut path = PathBuilder::new();
    path.push_rect(tiny_skia::Rect::from_xywh(left, top, width.max(1.0), height.max(1.0)).expect("a box of pixels"));
    let dash = (kind == AreaKind::Cone).then(|| StrokeDash::new(vec![edge * 4.0, edge * 3.0], 0.0)).flatten();
    let stroke = |width: f32| Stroke { width, dash: dash.clone(), ..Stroke::default() };
    if let Some(path) = path.finish() {
        // A dark rim, so that it is seen on anything.
        pixmap.stroke_path(&path, &paint(DARK, 200), &stroke(edge * 2.0), Transform::identity(), None);
        pixmap.stroke_path(&path, &paint(color, 255), &stroke(edge), Transform::identity(), None);
    }
}

/// Slanted lines within a box.
fn lines(pixmap: &mut Pixmap, (left, top, width, height): Rect, slope: i32, step: f32, thick: f32, color: Rgb) {
    let mut path = PathBuilder::new();
    for n in 1..((width + height) / step).ceil() as i32 {
        // From where a line enters the box to where it leaves it.
        let along = n as f32 * step;
        let (x0, y0) = ((along - height).max(0.0), along.min(height));
        let (x1, y1) = (along.min(width), (along - width).max(0.0));
        let x = |x: f32| if slope > 0 { left + x } else { left + width - x };
        path.move_to(x(x0), top + y0);
        path.line_to(x(x1), top + y1);
    }
    if let Some(path) = path.finish() {
        let stroke = Stroke { width: thick, ..Stroke::default() };
        pixmap.stroke_path(&path, &paint(color, 150), &stroke, Transform::identity(), None);
    }
}

/// Where the cells of a map are in a picture of it, and how large one is, in pixels.
fn laid_out(chart: &Chart, (left, top, width, height): Rect) -> (CellRect, Place, f32) {
    let cells = chart.shown();
    let columns = f32::from(cells.high.x - cells.low.x + 1);
    let rows = f32::from(cells.high.y - cells.low.y + 1);
    let side = ((width - 2.0 * MARGIN) / columns).min((height - 2.0 * MARGIN) / rows).floor().max(2.0);
    let corner = (left + ((width - side * columns) / 2.0).floor(), top + ((height - side * rows) / 2.0).floor());
    (cells, corner, side)
}

/// Draws a map into a box.
pub(super) fn chart(pixmap: &mut Pixmap, rect: Rect, chart: &Chart) {
    let (cells, (left, top), side) = laid_out(chart, rect);
    let place =
        |cell: CellId| (left + f32::from(cell.x - cells.low.x) * side, top + f32::from(cell.y - cells.low.y) * side);
    fill(pixmap, rect, DARK, 255);
    let square = |pixmap: &mut Pixmap, cell: CellId, color: Rgb| {
        let (x, y) = place(cell);
        fill(pixmap, (x, y, side - 1.0, side - 1.0), color, 255);
    };
    cells.iter().for_each(|cell| square(pixmap, cell, UNLIT));
    chart.lit.iter().filter(|cell| cells.contains(**cell)).for_each(|cell| square(pixmap, *cell, LIT));
    let edge = (side / 10.0).clamp(1.0, 3.0);
    for (cell, kind) in chart.marks.iter().filter(|(cell, _)| cells.contains(*cell)) {
        let (x, y) = place(*cell);
        let inner = side - 1.0 - edge;
        mark(pixmap, (x + edge / 2.0, y + edge / 2.0, inner, inner), *kind, edge, (side * CHART_HATCH).max(3.0));
    }
    for cell in chart.heroes.iter().filter(|cell| cells.contains(**cell)) {
        let ((x, y), dot) = (place(*cell), (side * 0.4).max(2.0));
        let at = (side - 1.0 - dot) / 2.0;
        fill(pixmap, (x + at - 1.0, y + at - 1.0, dot + 2.0, dot + 2.0), DARK, 255);
        fill(pixmap, (x + at, y + at, dot, dot), HERO, 255);
    }
    if let Some(cone) = chart.cone.map(|cone| cone.intersection(cells)).filter(|cone| !cone.is_empty()) {
        let ((x0, y0), (x1, y1)) = (place(cone.low), place(cone.high));
        mark(pixmap, (x0, y0, x1 - x0 + side - 1.0, y1 - y0 + side - 1.0), AreaKind::Cone, edge, side);
    }
}

/// The cell of a map at a pixel.
pub(super) fn chart_cell(rect: Rect, chart: &Chart, (x, y): Place) -> Option<CellId> {
    let (cells, (left, top), side) = laid_out(chart, rect);
    let (column, row) = (((x - left) / side).floor(), ((y - top) / side).floor());
    let is_inside = column >= 0.0 && row >= 0.0;
    let cell = is_inside.then(|| CellId::new(cells.low.x + column as u16, cells.low.y + row as u16))?;
    cells.contains(cell).then_some(cell)
}
