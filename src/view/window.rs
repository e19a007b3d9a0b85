//! The window: shows the frame, hears mouse and keys. It must never keep the session waiting.

#[cfg(target_os = "linux")]
mod buttons;

use std::cell::RefCell;
use std::rc::Rc;

use lockstone_net::text::is_code;
use minifb::{InputCallback, MouseButton, MouseMode, Window, WindowOptions};

use super::frame::Frame;
use super::frame::SIZE;
use super::held::{Held, Press};
use super::smooth::Smooth;
use super::typing::{Key, Typing};
use super::{Action, Status, View};
use crate::scene::Pointer;

/// The buttons that count, with their numbers.
const BUTTONS: [(u32, MouseButton, Pointer); 2] =
    [(1, MouseButton::Left, Pointer::Primary), (3, MouseButton::Right, Pointer::Secondary)];

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
    heard: Rc<RefCell<Heard>>,
    #[cfg(target_os = "linux")]
    buttons: Option<buttons::Buttons>,
    held: Held,
    time_s: f32,
}

/// What the keyboard told since the last picture.
#[derive(Default)]
struct Heard {
    /// Letters as its layout makes them, and the signs that stand for Enter, Backspace, Escape and
    /// Tab, in the order of pressing.
    chars: Vec<char>,
    /// Keys that went down.
    keys: Vec<minifb::Key>,
}

struct Listener(Rc<RefCell<Heard>>);

impl InputCallback for Listener {
    fn add_char(&mut self, code: u32) {
        self.0.borrow_mut().chars.extend(char::from_u32(code));
    }

    fn set_key_state(&mut self, key: minifb::Key, is_down: bool) {
        self.0.borrow_mut().keys.extend(is_down.then_some(key));
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
        // It would sleep.
        window.set_target_fps(0);
        #[cfg(target_os = "linux")]
        let buttons = buttons::Buttons::of(window.get_window_handle().addr() as u32);
        let heard = Rc::<RefCell<Heard>>::default();
        window.set_input_callback(Box::new(Listener(Rc::clone(&heard))));
        Ok(WindowView {
            window,
            frame: Frame::new(SIZE.0, SIZE.1),
            buffer: Vec::new(),
            typing: Typing::default(),
            heard,
            #[cfg(target_os = "linux")]
            buttons: buttons.inspect_err(|error| tracing::warn!("short clicks may be missed: {error}")).ok(),
            held: Held::default(),
            time_s: 0.0,
        })
    }
}

impl View for WindowView {
    fn show(&mut self, scenes: &Smooth, moment: f32, status: &Status, time_s: f32) {
        self.time_s = time_s;
        let (width, height) = self.window.get_size();
        if Frame::bounded(width, height) != self.frame.size() {
            self.frame = Frame::new(width, height);
        }
        self.frame.point(self.window.get_mouse_pos(MouseMode::Discard));
        self.frame.draw(scenes.at(moment).as_ref(), status, time_s);
        self.buffer.clear();
        self.buffer.extend(self.frame.pixels());
        let (width, height) = self.frame.size();
        if let Err(error) = self.window.update_with_buffer(&self.buffer, width, height) {
            tracing::warn!("the window could not be drawn: {error}");
        }
    }

    fn actions(&mut self) -> Vec<Action> {
        if !self.window.is_open() {
            return vec![Action::Quit];
        }
        let Heard { chars, keys } = self.heard.take();
        let mut actions = Vec::new();
        for key in chars.into_iter().filter_map(named) {
            // A walking key is heard as held, and not once more as a letter.
            let walks = matches!(key, Key::Char(c) if super::typing::walk(c).is_some());
            if self.typing.line().is_some() || !walks {
                actions.extend(self.typing.press(key));
            }
        }
        let (way, presses) = (self.way(&keys), self.presses());
        let mouse = self.window.get_mouse_pos(MouseMode::Discard);
        let tile_at = |(x, y)| self.frame.tile_at(x, y);
        actions.extend(self.held.actions(way, &presses, mouse, self.time_s, tile_at));
        actions
    }

    fn line(&self) -> Option<&str> {
        self.typing.line()
    }
}

impl WindowView {
    /// Where the walking keys lead that are down, or went down since the last picture.
    fn way(&self, pressed: &[minifb::Key]) -> (i8, i8) {
        use minifb::Key as K;
        if self.typing.line().is_some() {
            return (0, 0);
        }
        let is_down = |key| pressed.contains(&key) || self.window.is_key_down(key);
        let down = |keys: [K; 2]| i8::from(keys.into_iter().any(is_down));
        (down([K::Right, K::D]) - down([K::Left, K::A]), down([K::Down, K::S]) - down([K::Up, K::W]))
    }

    /// What the buttons did since the last picture; where nothing tells that, what is another now.
    fn presses(&self) -> Vec<Press> {
        #[cfg(target_os = "linux")]
        if let Some(buttons) = &self.buttons {
            return buttons.poll();
        }
        let Some(at) = self.window.get_mouse_pos(MouseMode::Clamp) else { return Vec::new() };
        let press = |&(_, name, pointer): &(u32, MouseButton, Pointer)| {
            let is_down = self.window.get_mouse_down(name);
            (is_down != self.held.is_down(pointer)).then_some(Press { is_down, pointer, at })
        };
        BUTTONS.iter().filter_map(press).collect()
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
