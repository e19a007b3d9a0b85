//! The window: shows the frame, hears mouse and keys. It must never keep the session waiting.

use std::cell::RefCell;
use std::rc::Rc;

use lockstone_net::text::is_code;
use minifb::{InputCallback, MouseButton, MouseMode, Window, WindowOptions};

use super::frame::Frame;
use super::frame::SIZE;
use super::smooth::Smooth;
use super::typing::{Key, Typing};
use super::{Action, Status, View};
use crate::scene::Pointer;

/// While a button or a walking key is held, it counts again this often.
const REPEAT_S: f32 = 0.2;

/// Why there is no window.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no window can be opened: {0}")]
pub struct WindowError(String);

/// A window on the world.
pub struct WindowView {
    window: Window,
    frame: Frame,
    buffer: Vec<u32>,
    typing: Typing,
    chars: Rc<RefCell<Vec<char>>>,
    time_s: f32,
    /// When what is held counts again.
    repeat_at_s: f32,
}

/// Letters as the keyboard's layout makes them, and the signs that stand for Enter, Backspace,
/// Escape and Tab, in the order of pressing.
struct Chars(Rc<RefCell<Vec<char>>>);

impl InputCallback for Chars {
    fn add_char(&mut self, code: u32) {
        self.0.borrow_mut().extend(char::from_u32(code));
    }
}

impl WindowView {
    /// Opens a window.
    ///
    /// # Errors
    /// [`WindowError`] if there is no display, or the system's window library is missing.
    pub fn open(title: &str) -> Result<WindowView, WindowError> {
        let options = WindowOptions { resize: true, ..WindowOptions::default() };
        let mut window = Window::new(title, SIZE.0, SIZE.1, options).map_err(|error| WindowError(error.to_string()))?;
        let chars = Rc::new(RefCell::new(Vec::new()));
        window.set_input_callback(Box::new(Chars(Rc::clone(&chars))));
        let frame = Frame::new(SIZE.0, SIZE.1);
        let (buffer, typing) = (Vec::new(), Typing::default());
        Ok(WindowView { window, frame, buffer, typing, chars, time_s: 0.0, repeat_at_s: 0.0 })
    }
}

impl View for WindowView {
    fn show(&mut self, scenes: &Smooth, moment: f32, status: &Status, time_s: f32) {
        self.time_s = time_s;
        let (width, height) = self.window.get_size();
        if Frame::bounded(width, height) != self.frame.size() {
            self.frame = Frame::new(width, height);
        }
        self.frame.draw(scenes.at(moment).as_ref(), status, time_s);
        self.buffer.clear();
        self.buffer.extend(self.frame.pixels());
        let (width, height) = self.frame.size();
        if let Err(error) = self.window.update_with_buffer(&self.buffer, width, height) {
            tracing::warn!("the window could not be drawn: {error}");
        }
    }

    fn actions(&mut self) -> Vec<Action> {
        let mut actions = Vec::new();
        if !self.window.is_open() {
            return vec![Action::Quit];
        }
        for key in self.chars.take().into_iter().filter_map(named) {
            // A walking key is heard as held, and not once more as a letter.
            let walks = matches!(key, Key::Char(c) if super::typing::walk(c).is_some());
            if self.typing.line().is_some() || !walks {
                actions.extend(self.typing.press(key));
            }
        }
        let held = self.time_s >= self.repeat_at_s;
        if held {
            let before = actions.len();
            actions.extend(self.walk());
            actions.extend(self.click());
            if actions.len() > before {
                self.repeat_at_s = self.time_s + REPEAT_S;
            }
        }
        actions
    }

    fn line(&self) -> Option<&str> {
        self.typing.line()
    }
}

impl WindowView {
    fn walk(&self) -> Option<Action> {
        use minifb::Key as K;
        if self.typing.line().is_some() {
            return None;
        }
        let down = |keys: [K; 2]| i8::from(keys.into_iter().any(|key| self.window.is_key_down(key)));
        let x = down([K::Right, K::D]) - down([K::Left, K::A]);
        let y = down([K::Down, K::S]) - down([K::Up, K::W]);
        ((x, y) != (0, 0)).then_some(Action::Walk((x, y)))
    }

    fn click(&self) -> Option<Action> {
        let (x, y) = self.window.get_mouse_pos(MouseMode::Discard)?;
        let buttons = [(MouseButton::Left, Pointer::Primary), (MouseButton::Right, Pointer::Secondary)];
        let (_, pointer) = buttons.into_iter().find(|(button, _)| self.window.get_mouse_down(*button))?;
        Some(Action::Click(self.frame.tile_at(x, y)?, pointer))
    }
}

fn named(c: char) -> Option<Key> {
    match c {
        '\r' | '\n' => Some(Key::Enter),
        '\u{8}' | '\u{7f}' => Some(Key::Backspace),
        '\u{1b}' => Some(Key::Escape),
        '\t' => Some(Key::Tab),
        c => (!is_code(c)).then_some(Key::Char(c)),
    }
}
