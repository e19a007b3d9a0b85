//! The window: shows the frame, hears mouse and keys. It must never keep the session waiting.

mod pane;
#[cfg(feature = "checker")]
mod viewing;

use lockstone_net::text::is_code;

use super::dragging::Dragging;
use super::frame::{Frame, SIZE};
use super::held::Held;
use super::smooth::Smooth;
use super::typing::{Key, Typing};
use super::{Action, Status, View};
use pane::{Heard, Pane};
#[cfg(feature = "checker")]
pub use viewing::{ViewingWindow, Wish};

/// Why there is no window.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no window can be opened: {0}")]
pub struct WindowError(String);

/// A window on the world.
pub struct WindowView {
    pane: Pane,
    frame: Frame,
    typing: Typing,
    held: Held,
    dragging: Dragging,
    time_s: f32,
}

impl WindowView {
    /// Opens a window.
    ///
    /// # Errors
    /// [`WindowError`] if there is no display, or the system's window library is missing.
    pub fn open(title: &str) -> Result<WindowView, WindowError> {
        let (pane, frame) = (Pane::open(title)?, Frame::new(SIZE.0, SIZE.1));
        let (typing, held, dragging) = Default::default();
        Ok(WindowView { pane, frame, typing, held, dragging, time_s: 0.0 })
    }
}

impl View for WindowView {
    fn show(&mut self, scenes: &Smooth, moment: f32, status: &Status, time_s: f32) {
        self.time_s = time_s;
        let (width, height) = self.pane.size();
        if Frame::bounded(width, height) != self.frame.size() {
            self.frame = Frame::new(width, height);
        }
        self.frame.point(self.pane.mouse());
        self.frame.drag(self.dragging.line());
        self.frame.draw(scenes.at(moment).as_ref(), status, time_s);
        self.pane.show(self.frame.size(), self.frame.pixels());
    }

    fn actions(&mut self) -> Vec<Action> {
        if !self.pane.is_open() {
            return vec![Action::Quit];
        }
        let Heard { chars, keys } = self.pane.heard();
        let mut actions = Vec::new();
        for key in chars.into_iter().filter_map(named) {
            // A walking key is heard as held, and not once more as a letter.
            let walks = matches!(key, Key::Char(c) if super::typing::walk(c).is_some());
            if self.typing.line().is_some() || !walks {
                actions.extend(self.typing.press(key));
            }
        }
        let (way, mut presses, mouse) = (self.way(&keys), self.pane.presses(), self.pane.mouse());
        actions.extend(self.dragging.actions(&mut presses, |at| self.frame.under(at)));
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
        let is_down = |key| pressed.contains(&key) || self.pane.is_down(key);
        let down = |keys: [K; 2]| i8::from(keys.into_iter().any(is_down));
        (down([K::Right, K::D]) - down([K::Left, K::A]), down([K::Down, K::S]) - down([K::Up, K::W]))
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
