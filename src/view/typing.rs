//! Keys: some walk, some are a game's own, and a line can be typed: something to say, or after a
//! slash a command.

use lockstone_net::text::is_code;

use super::Action;

/// The command after which a name stands: who is not to be heard any more.
const MUTE: &str = "/mute ";
/// The command after which a name stands: who is to go.
const VOTE_OUT: &str = "/out ";
/// The longest line.
const LINE_CHARS_MAX: usize = 120;
/// The command that asks for figures, as Tab does.
const FIGURES: &str = "/stats";
/// The command that switches sound off, or on again.
const SOUND: &str = "/sound";
/// The command that shows everyone's keys.
const PLAYER_KEYS: &str = "/keys";
/// The command that takes the offer to go on without those who cannot be reached.
const BRANCH: &str = "/branch";

/// What keys do in any game, in a line.
pub const KEYS: &str = "WASD walks, Enter says, / commands, Tab figures";

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
    /// Asks for the session's figures, or has seen enough of them.
    Tab,
    /// An arrow.
    Arrow(i8, i8),
}

/// The line that is being typed, if one is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Typing {
    line: Option<String>,
}

impl Typing {
    /// Takes a key. WASD and the arrows walk, Enter starts a line that is said, `/` one that is a
    /// command, Tab asks for figures, any other key is the game's.
    pub fn press(&mut self, key: Key) -> Option<Action> {
        if let Key::Arrow(x, y) = key {
            return Some(Action::Walk((x, y)));
        }
        match (&mut self.line, key) {
            (Some(line), Key::Char(c)) if line.chars().count() < LINE_CHARS_MAX && !is_code(c) => line.push(c),
            (Some(line), Key::Backspace) if !line.is_empty() => drop(line.pop()),
            (Some(_), Key::Backspace | Key::Escape) => self.line = None,
            (Some(_), Key::Enter) => return self.line.take().and_then(finished),
            (None, Key::Tab) => return Some(Action::Figures),
            (None, Key::Enter) => self.line = Some(String::new()),
            (None, Key::Char('/')) => self.line = Some("/".to_owned()),
            (None, Key::Char(c)) => return Some(walk(c).unwrap_or_else(|| Action::Type(c.to_string()))),
            _ => {}
        }
        None
    }

    /// The line so far.
    pub fn line(&self) -> Option<&str> {
        self.line.as_deref()
    }
}

/// What a line means: a command, of which some are the engine's own, or something to say.
fn finished(line: String) -> Option<Action> {
    match line.trim() {
        FIGURES => return Some(Action::Figures),
        SOUND => return Some(Action::Sound),
        PLAYER_KEYS => return Some(Action::Keys),
        BRANCH => return Some(Action::Branch),
        _ => {}
    }
    let (text, action): (&str, fn(String) -> Action) = if let Some(name) = line.strip_prefix(MUTE) {
        (name, Action::Mute)
    } else if let Some(name) = line.strip_prefix(VOTE_OUT) {
        (name, Action::VoteOut)
    } else if let Some(command) = line.strip_prefix('/') {
        (command, Action::Type)
    } else {
        (&line, Action::Say)
    };
    let text = text.trim();
    (!text.is_empty()).then(|| action(text.to_owned()))
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
