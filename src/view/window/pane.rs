//! A window of the system: shows pixels, and tells what keys and the mouse did. What they mean is
//! said elsewhere.

#[cfg(target_os = "linux")]
mod buttons;

use std::cell::RefCell;
use std::rc::Rc;

use minifb::{InputCallback, Key, MouseButton, MouseMode, Window, WindowOptions};

use super::WindowError;
use crate::scene::Pointer;
use crate::view::frame::SIZE;
use crate::view::held::Press;

/// The buttons that count, with their numbers.
const BUTTONS: [(u32, MouseButton, Pointer); 2] =
    [(1, MouseButton::Left, Pointer::Primary), (3, MouseButton::Right, Pointer::Secondary)];

/// A window.
pub(super) struct Pane {
    window: Window,
    buffer: Vec<u32>,
    heard: Rc<RefCell<Heard>>,
    #[cfg(target_os = "linux")]
    buttons: Option<buttons::Buttons>,
    /// The buttons that are down, where nothing tells what each of them did.
    down: [bool; BUTTONS.len()],
}

/// What the keyboard told since the last picture.
#[derive(Default)]
pub(super) struct Heard {
    /// Letters as its layout makes them, and the signs that stand for Enter, Backspace, Escape and
    /// Tab, in the order of pressing.
    pub chars: Vec<char>,
    /// Keys that went down.
    pub keys: Vec<Key>,
}

struct Listener(Rc<RefCell<Heard>>);

impl InputCallback for Listener {
    fn add_char(&mut self, code: u32) {
        self.0.borrow_mut().chars.extend(char::from_u32(code));
    }

    fn set_key_state(&mut self, key: Key, is_down: bool) {
        self.0.borrow_mut().keys.extend(is_down.then_some(key));
    }
}

impl Pane {
    /// Opens a window.
    ///
    /// # Errors
    /// [`WindowError`] if there is no display, or the system's window library is missing.
    pub fn open(title: &str) -> Result<Pane, WindowError> {
        let options = WindowOptions { resize: true, ..WindowOptions::default() };
        let mut window = Window::new(title, SIZE.0, SIZE.1, options).map_err(|error| WindowError(error.to_string()))?;
        // It would sleep.
        window.set_target_fps(0);
        #[cfg(target_os = "linux")]
        let buttons = buttons::Buttons::of(window.get_window_handle().addr() as u32);
        let heard = Rc::<RefCell<Heard>>::default();
        window.set_input_callback(Box::new(Listener(Rc::clone(&heard))));
        Ok(Pane {
            window,
            buffer: Vec::new(),
            heard,
            #[cfg(target_os = "linux")]
            buttons: buttons.inspect_err(|error| tracing::warn!("short clicks may be missed: {error}")).ok(),
            down: Default::default(),
        })
    }

    /// Width and height in pixels.
    pub fn size(&self) -> (usize, usize) {
        self.window.get_size()
    }

    /// Whether nobody closed it.
    pub fn is_open(&self) -> bool {
        self.window.is_open()
    }

    /// Shows a picture, row by row, as `0RGB`.
    pub fn show(&mut self, (width, height): (usize, usize), pixels: impl Iterator<Item = u32>) {
        self.buffer.clear();
        self.buffer.extend(pixels);
        if let Err(error) = self.window.update_with_buffer(&self.buffer, width, height) {
            tracing::warn!("the window could not be drawn: {error}");
        }
    }

    /// Hears what was done, and shows what it showed.
    #[cfg(feature = "checker")]
    pub fn listen(&mut self) {
        self.window.update();
    }

    /// Where the mouse is, in pixels, if it is on the window.
    pub fn mouse(&self) -> Option<(f32, f32)> {
        self.window.get_mouse_pos(MouseMode::Discard)
    }

    /// What the keyboard told since the last time.
    pub fn heard(&self) -> Heard {
        self.heard.take()
    }

    /// Whether a key is held down.
    pub fn is_down(&self, key: Key) -> bool {
        self.window.is_key_down(key)
    }

    /// What the buttons did since the last time; where nothing tells that, what is another now.
    pub fn presses(&mut self) -> Vec<Press> {
        #[cfg(target_os = "linux")]
        if let Some(buttons) = &self.buttons {
            return buttons.poll();
        }
        let Some(at) = self.window.get_mouse_pos(MouseMode::Clamp) else { return Vec::new() };
        let changed = BUTTONS.into_iter().zip(&mut self.down).filter_map(|((_, name, pointer), down)| {
            let is_down = self.window.get_mouse_down(name);
            (std::mem::replace(down, is_down) != is_down).then_some(Press { is_down, pointer, at })
        });
        changed.collect()
    }
}
