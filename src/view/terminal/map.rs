//! The map: a scene as letters, two columns a tile.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

use crate::scene::{Mark, Place, Rgb, Scene};

/// Columns a tile is wide: letters are twice as high as wide.
pub(super) const TILE_COLUMNS: u16 = 2;

/// The tile in the map's upper left corner.
pub(super) fn corner(area: Rect, scene: &Scene) -> Place {
    let (columns, rows) = (f32::from(area.width / TILE_COLUMNS), f32::from(area.height));
    ((scene.center.0 - columns / 2.0).floor(), (scene.center.1 - rows / 2.0).floor())
}

/// The ground, and on it the figures' symbols, those in front last.
pub(super) fn draw_map(buffer: &mut Buffer, area: Rect, corner: Place, scene: &Scene) {
    for row in 0..area.height {
        for column in 0..area.width / TILE_COLUMNS {
            let tile = (corner.0 as i32 + i32::from(column), corner.1 as i32 + i32::from(row));
            let Some(tile) = scene.ground.tile(tile).filter(|tile| tile.light > 0) else { continue };
            let color = shaded(tile.color, tile.light);
            let style =
                if tile.raised { Style::new().fg(color).bg(shaded(tile.color, tile.light / 3)) } else { color.into() };
            let fill = if tile.raised { tile.symbol } else { ' ' };
            put(buffer, area, (column * TILE_COLUMNS, row), tile.symbol, style);
            put(buffer, area, (column * TILE_COLUMNS + 1, row), fill, style);
        }
    }
    for figure in &scene.figures {
        let (x, y) = ((figure.pos.0 - corner.0).floor(), (figure.pos.1 - corner.1).floor());
        let Rgb(r, g, b) = figure.color;
        let style = Style::new().fg(Color::Rgb(r.max(60), g.max(60), b.max(60))).add_modifier(Modifier::BOLD);
        if x >= 0.0 && y >= 0.0 && x < f32::from(area.width / TILE_COLUMNS) && y < f32::from(area.height) {
            put(buffer, area, (x as u16 * TILE_COLUMNS, y as u16), figure.symbol, style);
        }
    }
}

/// What is far away, at the edge in its direction: italic, as nothing in the world is.
pub(super) fn draw_marks(buffer: &mut Buffer, area: Rect, corner: Place, scene: &Scene) {
    let (columns, rows) = (f32::from(area.width / TILE_COLUMNS), f32::from(area.height));
    if columns < 3.0 || rows < 3.0 {
        return;
    }
    let center = (corner.0 + columns / 2.0, corner.1 + rows / 2.0);
    let is_inside =
        |(x, y): Place| (corner.0..corner.0 + columns).contains(&x) && (corner.1..corner.1 + rows).contains(&y);
    for mark in &scene.afar(is_inside) {
        let (x, y) = mark.within(center, (columns / 2.0 - 1.0, rows / 2.0 - 1.0));
        let (column, row) = ((x - corner.0).clamp(0.0, columns - 1.0), (y - corner.1).clamp(0.0, rows - 1.0));
        let style = mark_style(mark).add_modifier(Modifier::REVERSED);
        put(buffer, area, (column as u16 * TILE_COLUMNS, row as u16), mark.symbol, style);
    }
}

/// How a mark is written.
pub(super) fn mark_style(mark: &Mark) -> Style {
    let Rgb(r, g, b) = mark.color;
    Style::new().fg(Color::Rgb(r, g, b)).add_modifier(Modifier::ITALIC)
}

fn put(buffer: &mut Buffer, area: Rect, (column, row): (u16, u16), symbol: char, style: Style) {
    if let Some(cell) = buffer.cell_mut((area.x + column, area.y + row)) {
        cell.set_char(symbol).set_style(style);
    }
}

fn shaded(Rgb(r, g, b): Rgb, light: u8) -> Color {
    let by = |value: u8| (u16::from(value) * (u16::from(light) + 40) / 295) as u8;
    Color::Rgb(by(r), by(g), by(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Drawing, Figure, Ground, GroundTile};

    #[test]
    fn every_figure_is_its_symbol_on_lit_ground_and_a_mark_is_at_the_edge() {
        let tile = |light| GroundTile { symbol: '"', color: Rgb(40, 90, 40), raised: false, light };
        let ground = Ground {
            width: 4,
            tiles: [[0; 4], [255; 4], [255; 4]].concat().into_iter().map(tile).collect(),
            ..Ground::default()
        };
        let figures = [((1.5, 1.5), 'T'), ((1.5, 1.9), 'o'), ((2.5, 2.5), 'T'), ((9.0, 9.0), 'T')];
        let figures = figures.map(|(pos, symbol)| Figure::new(pos, symbol, Drawing::DISC, Rgb(90, 160, 70)));
        let gate = Mark { pos: (60.0, 1.5), symbol: 'G', color: Rgb(200, 200, 200), label: "gate".to_owned() };
        let friend = Figure { is_hero: true, ..Figure::new((2.5, -30.0), '@', Drawing::DISC, Rgb(90, 90, 90)) };
        let figures = figures.into_iter().chain([friend]).collect();
        let scene = Scene { center: (2.0, 1.5), ground, figures, marks: vec![gate], ..Scene::default() };
        let area = Rect::new(0, 0, 8, 3);
        let mut buffer = Buffer::empty(area);
        assert_eq!(corner(area, &scene), (0.0, 0.0));
        draw_map(&mut buffer, area, (0.0, 0.0), &scene);
        draw_marks(&mut buffer, area, (0.0, 0.0), &scene);
        let row = |y| (0..8).map(|x| buffer[(x, y)].symbol()).collect::<String>();
        assert_eq!([row(0), row(1), row(2)], ["        ", "\" o @ G ", "\" \" T \" "]);
    }
}
