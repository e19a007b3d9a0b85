//! The view of a page: the software renderer's picture in a canvas, and beside it what the page
//! writes. It must never draw while nobody sees it.

use std::cell::RefCell;
use std::rc::Rc;

use lockstone::view::frame::Frame;
use lockstone::view::smooth::Smooth;
use lockstone::view::{Action, Status, View};
use wasm_bindgen::{Clamped, JsCast};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, ImageData};

use crate::hands::Hands;
use crate::panel::Panel;

/// Between two looks at what stands beside the picture.
const PANEL_PERIOD_S: f32 = 0.15;

pub(crate) struct Eye {
    canvas: HtmlCanvasElement,
    context: CanvasRenderingContext2d,
    frame: Frame,
    hands: Rc<RefCell<Hands>>,
    time_s: f32,
    panel_at_s: f32,
    /// What was written beside the picture.
    written: String,
}

impl Eye {
    pub fn new(canvas: HtmlCanvasElement, hands: Rc<RefCell<Hands>>) -> Result<Eye, String> {
        let context = canvas.get_context("2d").ok().flatten().and_then(|context| context.dyn_into().ok());
        let context = context.ok_or("This browser gives the page nothing to draw on: try another browser.")?;
        let frame = Frame::of_world(0, 0);
        Ok(Eye { canvas, context, frame, hands, time_s: 0.0, panel_at_s: 0.0, written: String::new() })
    }

    /// Draws a moment of the newest scene, at a time in seconds.
    pub fn draw(&mut self, scenes: &Smooth, moment: f32, status: &Status, time_s: f32) {
        let Hands { size: (width, height), is_calm, .. } = *self.hands.borrow();
        let size = (width as usize, height as usize);
        if size != self.frame.size() {
            self.frame = Frame::of_world(size.0, size.1);
        }
        let (width, height) = self.frame.size();
        let (width, height) = (width as u32, height as u32);
        if (self.canvas.width(), self.canvas.height()) != (width, height) {
            self.canvas.set_width(width);
            self.canvas.set_height(height);
        }
        self.frame.draw(scenes.at(moment).as_ref(), status, if is_calm { 0.0 } else { time_s });
        let image = ImageData::new_with_u8_clamped_array_and_sh(Clamped(self.frame.rgba()), width, height);
        let shown = image.and_then(|image| self.context.put_image_data(&image, 0.0, 0.0));
        if let Err(error) = shown {
            web_sys::console::warn_1(&error);
        }
    }

    fn write(&mut self, scenes: &Smooth, status: &Status) {
        if self.time_s < self.panel_at_s {
            return;
        }
        self.panel_at_s = self.time_s + PANEL_PERIOD_S;
        let panel = Panel::of(scenes.newest(), status).json();
        if panel != self.written {
            self.hands.borrow_mut().panel = Some(panel.clone());
            self.written = panel;
        }
    }
}

impl View for Eye {
    fn show(&mut self, scenes: &Smooth, moment: f32, status: &Status, time_s: f32) {
        self.time_s = time_s;
        self.draw(scenes, moment, status, time_s);
        self.write(scenes, status);
    }

    fn actions(&mut self) -> Vec<Action> {
        self.hands.borrow_mut().actions(self.time_s, |(x, y)| self.frame.tile_at(x, y))
    }

    /// The page shows what is typed by itself.
    fn line(&self) -> Option<&str> {
        None
    }

    fn is_ready(&self) -> bool {
        self.hands.borrow().is_frame
    }
}
