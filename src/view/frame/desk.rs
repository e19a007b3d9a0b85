//! The picture of a viewer of recordings: worlds side by side, what is told of them beside, and
//! below a bar on which any tick can be chosen.
//!
//! It must never read anything but its arguments.

use tiny_skia::{Pixmap, PixmapPaint, Transform};

use super::ink::{self, Font};
use super::{Frame, PANEL, Rect, areas, panel};
use crate::scene::{Chart, Place, Rgb, Scene};
use crate::view::{Row, Status};
use lockstone_sim::CellId;

/// Pixels that the bar is high, and a world's title.
const BAR: usize = 44;
const TITLE: usize = 24;
/// Between two worlds, in pixels.
const GAP: usize = 2;
/// The bar's ends are so far from the picture's, in pixels.
const MARGIN: f32 = 16.0;

const SLAB: Rgb = Rgb(22, 18, 17);
const PAPER: Rgb = Rgb(212, 200, 176);
const EMBER: Rgb = Rgb(232, 150, 62);

/// What is shown.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// The game's name.
    pub game: String,
    /// One world, or two side by side, each with a line of title.
    pub worlds: Vec<(Scene, String)>,
    /// Whether the panel tells of the hero too.
    pub tells_hero: bool,
    /// What is told in the panel, what matters most first.
    pub rows: Vec<Row>,
    /// The map of cells, if there is one.
    pub chart: Option<Chart>,
    /// How far the shown tick is on the bar, 0 to 1; and what stands beside it.
    pub place: (f32, String),
    /// The time in seconds, by which torches flicker.
    pub time_s: f32,
}

/// What is at a pixel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spot {
    /// A place in a world, in tiles: of the first or the second one.
    World(usize, Place),
    /// A cell of the map.
    Cell(CellId),
    /// A place on the bar, 0 to 1.
    Bar(f32),
}

/// A frame buffer of a viewer.
pub struct Desk {
    pixmap: Pixmap,
    frames: Vec<Frame>,
    /// The map, and where it is.
    map: Option<(Chart, Rect)>,
}

impl Desk {
    /// A black picture of a size in pixels, [bounded](Frame::bounded).
    pub fn new(width: usize, height: usize) -> Desk {
        let (width, height) = Frame::bounded(width, height);
        let pixmap = Pixmap::new(width as u32, height as u32).expect("the size is neither zero nor huge");
        Desk { pixmap, frames: Vec::new(), map: None }
    }

    /// Width and height in pixels.
    pub fn size(&self) -> (usize, usize) {
        (self.pixmap.width() as usize, self.pixmap.height() as usize)
    }

    /// Draws everything anew.
    pub fn draw(&mut self, shown: &Shown) {
        let (width, height) = self.size();
        let worlds = shown.worlds.len().max(1);
        let each = (width - PANEL as usize - GAP * (worlds - 1)) / worlds;
        if self.frames.len() != worlds {
            let frame = || Frame::of_world(each, height - BAR - TITLE);
            self.frames = std::iter::repeat_with(frame).take(worlds).collect();
        }
        ink::fill(&mut self.pixmap, (0.0, 0.0, width as f32, height as f32), Rgb(8, 6, 6), 255);
        for (n, (frame, (scene, title))) in self.frames.iter_mut().zip(&shown.worlds).enumerate() {
            let left = n * (each + GAP);
            frame.draw(Some(scene), &Status::default(), shown.time_s);
            let (pixels, paint) = (frame.pixmap.as_ref(), PixmapPaint::default());
            self.pixmap.draw_pixmap(left as i32, TITLE as i32, pixels, &paint, Transform::identity(), None);
            ink::fill(&mut self.pixmap, (left as f32, 0.0, each as f32, TITLE as f32), SLAB, 255);
            let font = Font::small(PAPER);
            let lines = font.wrap(title, each as i32 - 16);
            font.write(&mut self.pixmap, (left as i32 + 8, 4), &lines[0]);
        }
        self.draw_bar(&shown.place);
        let scene = shown.worlds.first().map(|(scene, _)| scene).filter(|_| shown.tells_hero);
        let map = panel::told(&mut self.pixmap, &shown.game, scene, shown.rows.clone(), shown.chart.is_some());
        self.map = shown.chart.clone().zip(map);
        if let Some((chart, rect)) = &self.map {
            areas::chart(&mut self.pixmap, *rect, chart);
        }
    }

    fn draw_bar(&mut self, (share, told): &(f32, String)) {
        let (left, top, width, height) = self.bar();
        let pixmap = &mut self.pixmap;
        ink::fill(pixmap, (0.0, top, left + width + MARGIN, height), SLAB, 255);
        let line = (left, top + 28.0, width, 6.0);
        ink::bar(pixmap, line, *share, EMBER);
        let knob = left + width * share.clamp(0.0, 1.0);
        ink::fill(pixmap, (knob - 4.0, top + 23.0, 8.0, 16.0), PAPER, 255);
        Font::small(PAPER).write(pixmap, (left as i32, top as i32 + 3), told);
    }

    /// The bar's line is as wide as this box, which is as high as all of the bar.
    fn bar(&self) -> Rect {
        let (width, height) = self.size();
        (MARGIN, (height - BAR) as f32, (width - PANEL as usize) as f32 - 2.0 * MARGIN, BAR as f32)
    }

    /// What is at a pixel.
    pub fn spot(&self, (x, y): (f32, f32)) -> Option<Spot> {
        let (left, top, width, _) = self.bar();
        if y >= top && x < left + width + MARGIN {
            return Some(Spot::Bar(((x - left) / width).clamp(0.0, 1.0)));
        }
        if let Some((chart, rect)) = &self.map
            && let Some(cell) = areas::chart_cell(*rect, chart, (x, y))
        {
            return Some(Spot::Cell(cell));
        }
        let mut from = 0.0;
        for (n, frame) in self.frames.iter().enumerate() {
            let wide = frame.size().0 as f32;
            if (from..from + wide).contains(&x) && y >= TITLE as f32 {
                return frame.tile_at(x - from, y - TITLE as f32).map(|place| Spot::World(n, place));
            }
            from += wide + GAP as f32;
        }
        None
    }

    /// The pixels, row by row, as `0RGB`.
    pub fn pixels(&self) -> impl Iterator<Item = u32> {
        super::pixels(&self.pixmap)
    }

    /// The picture as a PNG file.
    ///
    /// # Errors
    /// What the encoder says.
    pub fn png(&self) -> Result<Vec<u8>, String> {
        self.pixmap.encode_png().map_err(|error| error.to_string())
    }
}
