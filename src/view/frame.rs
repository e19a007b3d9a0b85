//! The picture: a scene by torchlight and the session's panel, in a software frame buffer.
//!
//! The same picture to the bit wherever it is drawn, and no GPU: the window shows it,
//! `--shot` saves it. [`Frame::draw`] is the order of painting. It must never read anything
//! but its arguments.

mod areas;
mod desk;
mod figures;
mod ground;
mod ink;
mod light;
mod map;
mod marks;
mod overlay;
mod panel;

use lockstone_sim::CellId;
use tiny_skia::Pixmap;

use crate::scene::{Chart, Grain, PATTERN_PIXELS, Rgb, Scene};
use crate::view::Status;
use crate::view::dragging::Under;
pub use desk::{Desk, Shown, Spot};
use ground::Textures;
use light::Light;

/// Pixels a tile is wide and high.
pub const TILE: f32 = PATTERN_PIXELS as f32;
/// Pixels that the panel is wide.
pub const PANEL: u32 = 320;
/// Width and height of a picture, or a new window, in pixels.
pub const SIZE: (usize, usize) = (1280, 720);
/// How high raised ground stands, in tiles.
const WALL: f32 = 0.75;

/// A [`Draw`](super::Draw): a scene as a PNG file.
///
/// # Errors
/// What the encoder says.
pub fn picture(scene: Option<&Scene>, status: &Status, time_s: f32) -> Result<Vec<u8>, String> {
    let mut frame = Frame::new(SIZE.0, SIZE.1);
    frame.draw(scene, status, time_s);
    frame.png()
}

/// A box: left, top, width, height, in pixels.
type Rect = (f32, f32, f32, f32);

/// A frame buffer.
pub struct Frame {
    pixmap: Pixmap,
    textures: Textures,
    camera: Camera,
    /// How much of each of the world's pixels is lost, as it is near the edge.
    edges: Vec<u8>,
    has_panel: bool,
    /// Where the mouse is, in pixels.
    pointer: Option<(f32, f32)>,
    /// The lines that can be dragged, from where on down to where they are written, in pixels.
    lines: Vec<(std::ops::Range<i32>, String)>,
    /// The one that is.
    dragged: Option<String>,
}

/// Where the world lies in the picture.
#[derive(Clone, Copy, Debug)]
struct Camera {
    /// The place in the picture's upper left corner, in tiles.
    corner: (f32, f32),
    /// The part of the picture that shows the world, in pixels.
    width: usize,
    height: usize,
}

impl Frame {
    /// The size that a frame gets when it is asked for another: at least 640 x 360, at most
    /// 4096 x 4096 pixels.
    pub fn bounded(width: usize, height: usize) -> (usize, usize) {
        (width.clamp(640, 4_096), height.clamp(360, 4_096))
    }

    /// A black picture of a size in pixels, [bounded](Frame::bounded).
    pub fn new(width: usize, height: usize) -> Frame {
        let (width, height) = Frame::bounded(width, height);
        Frame::with(width, height, true)
    }

    /// A black picture of the world alone, of at least 160 x 160, at most 4096 x 4096 pixels: for
    /// whoever tells elsewhere what the panel does.
    pub fn of_world(width: usize, height: usize) -> Frame {
        let [width, height] = [width, height].map(|pixels| pixels.clamp(160, 4_096));
        Frame::with(width, height, false)
    }

    fn with(width: usize, height: usize, has_panel: bool) -> Frame {
        let pixmap = Pixmap::new(width as u32, height as u32).expect("the size is neither zero nor huge");
        let panel = if has_panel { PANEL as usize } else { 0 };
        let camera = Camera { corner: (0.0, 0.0), width: width - panel, height };
        Frame {
            pixmap,
            textures: Textures::of(Grain::default()),
            camera,
            edges: ground::edges(camera),
            has_panel,
            pointer: None,
            lines: Vec::new(),
            dragged: None,
        }
    }

    /// Width and height in pixels.
    pub fn size(&self) -> (usize, usize) {
        (self.pixmap.width() as usize, self.pixmap.height() as usize)
    }

    /// Draws a map of cells into the whole picture, in place of the world.
    pub fn draw_chart(&mut self, chart: &Chart) {
        let (width, height) = self.size();
        areas::chart(&mut self.pixmap, (0.0, 0.0, width as f32, height as f32), chart);
    }

    /// The cell of that map at a pixel.
    pub fn chart_cell(&self, chart: &Chart, at: (f32, f32)) -> Option<CellId> {
        let (width, height) = self.size();
        areas::chart_cell((0.0, 0.0, width as f32, height as f32), chart, at)
    }

    /// Where the mouse is from now on, in pixels: the next picture says what is there.
    pub fn point(&mut self, at: Option<(f32, f32)>) {
        self.pointer = at;
    }

    /// Draws everything anew. `time_s` lets torches flicker.
    pub fn draw(&mut self, scene: Option<&Scene>, status: &Status, time_s: f32) {
        if let Some(scene) = scene {
            self.draw_world(scene, time_s);
            self.draw_overlays(scene);
            if status.typed.is_none() || !self.has_panel {
                overlay::skills(&mut self.pixmap, self.camera, &scene.skills);
            }
        } else {
            self.pixmap.data_mut().as_chunks_mut().0.fill(ground::DARKNESS);
            if self.has_panel {
                panel::curtain(&mut self.pixmap, self.camera, status);
            }
        }
        if self.has_panel {
            let (pointed, lists) = (self.pointed_line(), scene.is_some_and(|scene| scene.lists));
            let places = panel::draw(&mut self.pixmap, scene, status, pointed.as_deref().filter(|_| lists));
            let notes = scene.filter(|_| lists).map_or(&[][..], |scene| &scene.notes);
            self.lines = places.into_iter().zip(notes.iter().cloned()).collect();
            if let Some((line, at)) = self.dragged.as_ref().zip(self.pointer) {
                overlay::dragged(&mut self.pixmap, at, line);
            }
        }
    }

    /// What can be dragged, or dragged onto, at a pixel: a line of the list, if one is shown, or
    /// the world.
    pub fn under(&self, at: (f32, f32)) -> Option<Under> {
        if self.camera.shows(at) {
            return Some(Under::World);
        }
        let is_there = |(place, _): &&(std::ops::Range<i32>, String)| place.contains(&(at.1 as i32));
        let is_panel = self.has_panel && at.0 >= self.camera.width as f32;
        let line = self.lines.iter().filter(|_| is_panel).find(is_there);
        line.map(|(_, line)| Under::Line(line.clone()))
    }

    fn pointed_line(&self) -> Option<String> {
        match self.pointer.and_then(|at| self.under(at))? {
            Under::Line(line) => Some(line),
            Under::World => None,
        }
    }

    /// Which line is dragged from now on: the next picture shows it where the mouse is.
    pub fn drag(&mut self, line: Option<&str>) {
        self.dragged = line.map(str::to_owned);
    }

    fn draw_world(&mut self, scene: &Scene, time_s: f32) {
        self.camera.look_at(scene.center);
        self.textures.follow(scene.ground.grain);
        let light = Light::of(scene, self.camera, time_s);
        ground::floor(&mut self.pixmap, self.camera, scene, &light, &self.textures);
        let mut order: Vec<_> = scene.figures.iter().collect();
        order.sort_by(|a, b| f32::total_cmp(&a.pos.1, &b.pos.1));
        let mut order = order.into_iter().peekable();
        for row in self.camera.rows() {
            // What stands north of this row's walls is hidden by them.
            while let Some(figure) = order.next_if(|figure| figure.pos.1 < row as f32) {
                figures::draw(&mut self.pixmap, self.camera, figure, &light);
            }
            ground::walls(&mut self.pixmap, self.camera, scene, row, &light, &self.textures);
        }
        order.for_each(|figure| figures::draw(&mut self.pixmap, self.camera, figure, &light));
        scene.figures.iter().for_each(|figure| figures::shine(&mut self.pixmap, self.camera, figure, time_s));
        let mut names = figures::Names::default();
        scene.figures.iter().for_each(|figure| figures::caption(&mut self.pixmap, self.camera, figure, &mut names));
        ground::dim_edges(&mut self.pixmap, self.camera, &self.edges);
    }

    fn draw_overlays(&mut self, scene: &Scene) {
        let (pixmap, camera) = (&mut self.pixmap, self.camera);
        areas::draw(pixmap, camera, &scene.areas);
        scene.hits.iter().for_each(|hit| overlay::hit(pixmap, camera, hit));
        let marks = scene.afar(|pos| camera.shows(camera.pixel(pos)));
        marks::draw(pixmap, camera, &marks, scene.center);
        map::draw(pixmap, camera, scene);
        let pointed = self.pointer.and_then(|(x, y)| self.tile_at(x, y)).and_then(|at| overlay::pointed(scene, at));
        pointed.into_iter().for_each(|figure| overlay::target(&mut self.pixmap, camera, figure));
    }

    /// The place in the world under a pixel, in tiles; `None` on the panel.
    pub fn tile_at(&self, x: f32, y: f32) -> Option<(f32, f32)> {
        self.camera.shows((x, y)).then(|| (self.camera.corner.0 + x / TILE, self.camera.corner.1 + y / TILE))
    }

    /// The pixels, row by row, as `0RGB`.
    pub fn pixels(&self) -> impl Iterator<Item = u32> {
        pixels(&self.pixmap)
    }

    /// The same, as the bytes red, green, blue, 255.
    pub fn rgba(&self) -> &[u8] {
        self.pixmap.data()
    }

    /// The picture as a PNG file.
    ///
    /// # Errors
    /// What the encoder says.
    pub fn png(&self) -> Result<Vec<u8>, String> {
        self.pixmap.encode_png().map_err(|error| error.to_string())
    }
}

impl Camera {
    fn look_at(&mut self, center: (f32, f32)) {
        // To whole pixels, so that stones do not shimmer when the hero walks.
        let corner = |center: f32, pixels: usize| ((center * TILE).round() - (pixels / 2) as f32) / TILE;
        self.corner = (corner(center.0, self.width), corner(center.1, self.height));
    }

    /// The pixel of a place, in tiles.
    fn pixel(self, (x, y): (f32, f32)) -> (f32, f32) {
        ((x - self.corner.0) * TILE, (y - self.corner.1) * TILE)
    }

    /// Whether a pixel is in the part of the picture that shows the world.
    fn shows(self, (x, y): (f32, f32)) -> bool {
        x >= 0.0 && y >= 0.0 && x < self.width as f32 && y < self.height as f32
    }

    /// The rows of tiles that can be seen, with one more below for what stands up.
    fn rows(self) -> std::ops::RangeInclusive<i32> {
        let top = self.corner.1.floor() as i32;
        top..=top + (self.height as f32 / TILE).ceil() as i32 + 1
    }

    fn columns(self) -> std::ops::RangeInclusive<i32> {
        let left = self.corner.0.floor() as i32;
        left..=left + (self.width as f32 / TILE).ceil() as i32
    }
}

fn pixels(pixmap: &Pixmap) -> impl Iterator<Item = u32> {
    pixmap.data().as_chunks::<4>().0.iter().map(|&[r, g, b, _]| u32::from_be_bytes([0, r, g, b]))
}

/// A colour by some light.
fn lit(Rgb(r, g, b): Rgb, light: [f32; 3]) -> Rgb {
    let by = |value: u8, light: f32| (f32::from(value) * light).min(255.0) as u8;
    Rgb(by(r, light[0]), by(g, light[1]), by(b, light[2]))
}
