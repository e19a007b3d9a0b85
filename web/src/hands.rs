//! What is done on the page, until the next picture takes it; and what the page is to show.
//!
//! The page's events come whenever they come, also between two rounds: so nothing but this may be
//! touched by them.

use lockstone::scene::Pointer;
use lockstone::view::Action;
use lockstone::view::held::{Held, Press};
use lockstone::view::typing::{Key, Typing};

/// Between the page and the view.
#[derive(Debug, Default)]
pub(crate) struct Hands {
    /// Whether the browser shows a frame just now.
    pub is_frame: bool,
    /// Whether nobody sees the page.
    pub is_hidden: bool,
    /// Whether nothing is to flicker.
    pub is_calm: bool,
    /// Of the picture, in pixels.
    pub size: (u32, u32),
    /// Where the mouse is, in pixels.
    pub at: Option<(f32, f32)>,
    /// What stands beside the picture, if it is new.
    pub panel: Option<String>,
    presses: Vec<Press>,
    way: (i8, i8),
    /// A way that was taken since the last picture, perhaps for a shorter time.
    taken: (i8, i8),
    done: Vec<Action>,
    held: Held,
}

impl Hands {
    /// Nothing is held, pressed or pointed at any more: another session begins.
    pub fn let_go(&mut self) {
        let Hands { is_frame, is_hidden, is_calm, size, .. } = *self;
        *self = Hands { is_frame, is_hidden, is_calm, size, ..Hands::default() };
    }

    pub fn press(&mut self, is_down: bool, pointer: Pointer, at: (f32, f32)) {
        self.at = Some(at);
        self.presses.push(Press { is_down, pointer, at });
    }

    pub fn drag(&mut self, from: &str, to: Option<&str>) {
        self.done.push(Action::Drag(from.to_owned(), to.map(str::to_owned)));
    }

    pub fn walk(&mut self, way: (i8, i8)) {
        self.way = way;
        if way != (0, 0) {
            self.taken = way;
        }
    }

    pub fn key(&mut self, key: char) {
        self.done.extend(Typing::default().press(Key::Char(key)));
    }

    pub fn line(&mut self, line: &str) {
        let mut typing = Typing::default();
        let keys = [Key::Enter].into_iter().chain(line.chars().map(Key::Char)).chain([Key::Enter]);
        self.done.extend(keys.filter_map(|key| typing.press(key)).last());
    }

    /// What was done since the last time, at a time in seconds.
    pub fn actions(&mut self, time_s: f32, tile_at: impl Fn((f32, f32)) -> Option<(f32, f32)>) -> Vec<Action> {
        let mut actions = std::mem::take(&mut self.done);
        let taken = std::mem::take(&mut self.taken);
        let way = if self.way == (0, 0) { taken } else { self.way };
        let presses = std::mem::take(&mut self.presses);
        actions.extend(self.held.actions(way, &presses, self.at, time_s, tile_at));
        actions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keys_and_ways_are_done_once() {
        let mut hands = Hands::default();
        hands.line("hello there");
        hands.line("/mute Bea");
        hands.line("  ");
        hands.key('k');
        hands.walk((1, 0));
        hands.walk((0, 0));
        let done = [
            Action::Say("hello there".into()),
            Action::Mute("Bea".into()),
            Action::Type("k".into()),
            Action::Walk((1, 0)),
        ];
        assert_eq!(hands.actions(1.0, Some), done);
        assert_eq!(hands.actions(2.0, Some), []);
    }

    #[test]
    fn what_was_held_as_a_session_ended_is_not_held_in_the_next() {
        let mut hands = Hands { size: (640, 480), is_calm: true, ..Hands::default() };
        hands.walk((0, -1));
        hands.press(true, Pointer::Primary, (3.0, 4.0));
        assert!(!hands.actions(1.0, Some).is_empty());
        hands.let_go();
        assert_eq!(hands.actions(2.0, Some), []);
        assert_eq!((hands.size, hands.is_calm, hands.at), ((640, 480), true, None));
    }
}
