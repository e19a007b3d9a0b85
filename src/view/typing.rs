//! Keys: some walk, some are a game's own, and a line can be typed.

use super::Action;

/// The longest line.
const LINE_CHARS_MAX: usize = 120;

/// A key, whichever view it was pressed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A letter, digit or sign.
    Char(char),
    /// Starts a line, or ends it.
    Enter,
    /// Takes the last letter back.
    Backspace,
    /// Gives the line up.
    Escape,
    /// An arrow.
    Arrow(i8, i8),
}

/// The line that is being typed, if one is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Typing {
    line: Option<String>,
}

impl Typing {
    /// Takes a key. WASD and the arrows walk, Enter or `/` starts a line, any other key is the game's.
    pub fn press(&mut self, key: Key) -> Option<Action> {
        match (&mut self.line, key) {
            (_, Key::Arrow(x, y)) => Some(Action::Walk((x, y))),
            (Some(line), Key::Char(c)) => {
                if line.chars().count() < LINE_CHARS_MAX && !c.is_control() {
                    line.push(c);
                }
                None
            }
            (Some(line), Key::Backspace) => {
                line.pop();
                None
            }
            (Some(_), Key::Enter) => self.line.take().filter(|line| !line.trim().is_empty()).map(Action::Type),
            (Some(_), Key::Escape) => {
                self.line = None;
                None
            }
            (None, Key::Enter | Key::Char('/')) => {
                self.line = Some(String::new());
                None
            }
            (None, Key::Char(c)) => Some(walk(c).unwrap_or_else(|| Action::Type(c.to_string()))),
            (None, Key::Backspace | Key::Escape) => None,
        }
    }

    /// The line so far.
    pub fn line(&self) -> Option<&str> {
        self.line.as_deref()
    }
}

/// The direction of a walking key.
pub fn walk(c: char) -> Option<Action> {
    let way = match c.to_ascii_lowercase() {
        'w' => (0, -1),
        'a' => (-1, 0),
        's' => (0, 1),
        'd' => (1, 0),
        _ => return None,
    };
    Some(Action::Walk(way))
}
