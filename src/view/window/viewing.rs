//! The window of a viewer of recordings: draws what is shown of them, and says what keys and clicks
//! want. The loop is in `cli/looking.rs`.

use minifb::Key;

use super::WindowError;
use super::pane::{Heard, Pane};
use crate::scene::Pointer;
use crate::view::frame::{Desk, SIZE, Shown, Spot};
use crate::view::held::Press;
use crate::viewer::playing::Act;

/// A window on recordings.
pub struct ViewingWindow {
    pane: Pane,
    desk: Desk,
    /// Whether the button went down on the bar, and is held since.
    drags: bool,
}

/// What someone wants of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wish {
    /// To play otherwise.
    Act(Act),
    /// What is at a place.
    Look(Spot),
    /// To look with another hero's eyes.
    Eyes,
    /// To look at the next recording.
    Recording,
    /// To have another recording beside it, or none.
    Beside,
    /// To let go of what was chosen, or to close the window.
    Back,
    /// To close the window.
    Close,
}

impl ViewingWindow {
    /// Opens a window.
    ///
    /// # Errors
    /// [`WindowError`] if there is no display, or the system's window library is missing.
    pub fn open(title: &str) -> Result<ViewingWindow, WindowError> {
        Ok(ViewingWindow { pane: Pane::open(title)?, desk: Desk::new(SIZE.0, SIZE.1), drags: false })
    }

    /// Whether its size is another than that of its picture.
    pub fn is_resized(&self) -> bool {
        let (width, height) = self.pane.size();
        crate::view::frame::Frame::bounded(width, height) != self.desk.size()
    }

    /// Draws what is shown.
    pub fn show(&mut self, shown: &Shown) {
        if self.is_resized() {
            let (width, height) = self.pane.size();
            self.desk = Desk::new(width, height);
        }
        self.desk.draw(shown);
        self.pane.show(self.desk.size(), self.desk.pixels());
    }

    /// Hears what was done, where nothing else is to be drawn.
    pub fn listen(&mut self) {
        self.pane.listen();
    }

    /// What was wanted since the last time.
    pub fn wishes(&mut self) -> Vec<Wish> {
        if !self.pane.is_open() {
            return vec![Wish::Close];
        }
        let Heard { chars, keys } = self.pane.heard();
        let mut wishes: Vec<_> = keys.into_iter().filter_map(of_key).collect();
        // Where these are on a keyboard is its layout's business.
        wishes.extend(chars.into_iter().filter_map(|c| match c {
            '+' => Some(Wish::Act(Act::Speed(1))),
            '-' => Some(Wish::Act(Act::Speed(-1))),
            'r' | 'R' => Some(Wish::Recording),
            'b' | 'B' => Some(Wish::Beside),
            _ => None,
        }));
        for Press { is_down, pointer, at } in self.pane.presses() {
            let spot = self.desk.spot(at).filter(|_| is_down && pointer == Pointer::Primary);
            self.drags = matches!(spot, Some(Spot::Bar(_)));
            wishes.extend(spot.map(of_spot));
        }
        if self.drags
            && let Some(spot @ Spot::Bar(_)) = self.pane.mouse().and_then(|at| self.desk.spot(at))
        {
            wishes.push(of_spot(spot));
        }
        wishes
    }
}

fn of_spot(spot: Spot) -> Wish {
    match spot {
        Spot::Bar(share) => Wish::Act(Act::To(share)),
        spot => Wish::Look(spot),
    }
}

fn of_key(key: Key) -> Option<Wish> {
    Some(match key {
        Key::Space => Wish::Act(Act::Play),
        Key::Left => Wish::Act(Act::Step(-1)),
        Key::Right => Wish::Act(Act::Step(1)),
        Key::PageUp => Wish::Act(Act::Leap(-1)),
        Key::PageDown => Wish::Act(Act::Leap(1)),
        Key::Home => Wish::Act(Act::Start),
        Key::End => Wish::Act(Act::End),
        Key::Tab => Wish::Eyes,
        Key::Escape => Wish::Back,
        _ => return None,
    })
}
