//! The software renderer's picture in a canvas.

#[cfg(feature = "view")]
use lockstone::scene::Chart;
use lockstone::scene::Scene;
#[cfg(feature = "view")]
use lockstone::sim::CellId;
use lockstone::view::Status;
use lockstone::view::frame::Frame;
use wasm_bindgen::{Clamped, JsCast};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, ImageData};

pub(crate) struct Picture {
    canvas: HtmlCanvasElement,
    context: CanvasRenderingContext2d,
    frame: Frame,
}

impl Picture {
    pub fn new(canvas: HtmlCanvasElement) -> Result<Picture, String> {
        let context = canvas.get_context("2d").ok().flatten().and_then(|context| context.dyn_into().ok());
        let context = context.ok_or("This browser gives the page nothing to draw on: try another browser.")?;
        Ok(Picture { canvas, context, frame: Frame::of_world(0, 0) })
    }

    /// Draws a scene at a time in seconds, so many pixels wide and high.
    pub fn draw(&mut self, size: (u32, u32), mut scene: Option<Scene>, status: &Status, time_s: f32) {
        self.fit(size);
        // The page has buttons for them.
        scene.iter_mut().for_each(|scene| scene.skills.clear());
        self.frame.draw(scene.as_ref(), status, time_s);
        self.put();
    }

    /// Draws a map of cells, so many pixels wide and high.
    #[cfg(feature = "view")]
    pub fn draw_chart(&mut self, size: (u32, u32), chart: &Chart) {
        self.fit(size);
        self.frame.draw_chart(chart);
        self.put();
    }

    /// Which cell is at a pixel of that map.
    #[cfg(feature = "view")]
    pub fn chart_cell(&self, chart: &Chart, at: (f32, f32)) -> Option<CellId> {
        self.frame.chart_cell(chart, at)
    }

    fn fit(&mut self, size: (u32, u32)) {
        let size = (size.0 as usize, size.1 as usize);
        if size != self.frame.size() {
            self.frame = Frame::of_world(size.0, size.1);
        }
        let (width, height) = self.frame.size();
        let (width, height) = (width as u32, height as u32);
        if (self.canvas.width(), self.canvas.height()) != (width, height) {
            self.canvas.set_width(width);
            self.canvas.set_height(height);
        }
    }

    fn put(&self) {
        let (width, height) = self.frame.size();
        let (width, height) = (width as u32, height as u32);
        let image = ImageData::new_with_u8_clamped_array_and_sh(Clamped(self.frame.rgba()), width, height);
        let shown = image.and_then(|image| self.context.put_image_data(&image, 0.0, 0.0));
        if let Err(error) = shown {
            web_sys::console::warn_1(&error);
        }
    }

    /// Where the mouse is, in pixels of it.
    #[cfg(feature = "play")]
    pub fn point(&mut self, at: Option<(f32, f32)>) {
        self.frame.point(at);
    }

    /// Which tile is at a pixel of it.
    pub fn tile_at(&self, (x, y): (f32, f32)) -> Option<(f32, f32)> {
        self.frame.tile_at(x, y)
    }
}
