//! What a person holds down: a button of the mouse or a finger, the walking keys. While held, it
//! counts again and again.
//!
//! It must never lose a press that is shorter than a picture: such a press counts once.

use super::Action;
use crate::scene::Pointer;

/// While a button or a walking key is held, it counts again this often.
const REPEAT_S: f32 = 0.2;
/// The buttons that count.
const POINTERS: [Pointer; 2] = [Pointer::Primary, Pointer::Secondary];

/// A button goes down, or up, at a place in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Press {
    /// Whether it goes down.
    pub is_down: bool,
    /// Which button.
    pub pointer: Pointer,
    /// Where.
    pub at: (f32, f32),
}

/// What is held down.
#[derive(Clone, Debug, Default)]
pub struct Held {
    /// Which of the buttons are down.
    down: [bool; 2],
    /// The way that the walking keys led at the last picture.
    way: (i8, i8),
    /// When what is held counts again, in seconds.
    repeat_at_s: f32,
}

impl Held {
    /// Whether a button is down.
    pub fn is_down(&self, pointer: Pointer) -> bool {
        POINTERS.iter().zip(self.down).any(|(one, down)| *one == pointer && down)
    }

    /// What is done now, at a time in seconds: `way` is where the walking keys lead, `presses` what
    /// the buttons did since the last time, `at` where the mouse is, in pixels, and `tile_at` tells
    /// the place in the world under a pixel.
    pub fn actions(
        &mut self,
        way: (i8, i8),
        presses: &[Press],
        at: Option<(f32, f32)>,
        time_s: f32,
        tile_at: impl Fn((f32, f32)) -> Option<(f32, f32)>,
    ) -> Vec<Action> {
        let click = |pointer, at| Some(Action::Click(tile_at(at)?, pointer));
        let mut actions = Vec::new();
        for Press { is_down, pointer, at } in presses {
            let down = POINTERS.iter().zip(&mut self.down).filter(|(one, _)| *one == pointer);
            down.for_each(|(_, down)| *down = *is_down);
            actions.extend(click(*pointer, *at).filter(|_| *is_down));
        }
        actions.extend((way != self.way && way != (0, 0)).then_some(Action::Walk(way)));
        self.way = way;
        if actions.is_empty() && time_s >= self.repeat_at_s {
            actions.extend((way != (0, 0)).then_some(Action::Walk(way)));
            let held = POINTERS.into_iter().find(|pointer| self.is_down(*pointer));
            actions.extend(at.zip(held).and_then(|(at, pointer)| click(pointer, at)));
        }
        if !actions.is_empty() {
            self.repeat_at_s = time_s + REPEAT_S;
        }
        actions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: (f32, f32) = (32.0, 64.0);

    fn tiles((x, y): (f32, f32)) -> Option<(f32, f32)> {
        (x >= 0.0).then_some((x / 32.0, y / 32.0))
    }

    fn press(is_down: bool) -> Press {
        Press { is_down, pointer: Pointer::Primary, at: AT }
    }

    #[test]
    fn a_button_counts_when_it_goes_down_and_while_it_is_held() {
        let (mut held, click) = (Held::default(), Action::Click((1.0, 2.0), Pointer::Primary));
        let short = [press(true), press(false)];
        assert_eq!(held.actions((0, 0), &short, Some(AT), 1.0, tiles), std::slice::from_ref(&click));
        assert_eq!(held.actions((0, 0), &[], Some(AT), 2.0, tiles), [], "it is up again");
        assert_eq!(held.actions((0, 0), &[press(true)], Some(AT), 3.0, tiles), std::slice::from_ref(&click));
        assert_eq!(held.actions((0, 0), &[], Some(AT), 3.1, tiles), [], "too soon");
        assert_eq!(held.actions((0, 0), &[], Some(AT), 3.3, tiles), [click]);
        assert!(held.is_down(Pointer::Primary) && !held.is_down(Pointer::Secondary));
        assert_eq!(held.actions((0, 0), &[], Some((-1.0, 0.0)), 3.6, tiles), [], "beside the world");
    }

    #[test]
    fn a_way_counts_when_it_changes_and_while_it_is_held() {
        let mut held = Held::default();
        assert_eq!(held.actions((1, 0), &[], None, 1.0, tiles), [Action::Walk((1, 0))]);
        assert_eq!(held.actions((1, 0), &[], None, 1.1, tiles), []);
        assert_eq!(held.actions((1, 1), &[], None, 1.12, tiles), [Action::Walk((1, 1))], "another way, at once");
        assert_eq!(held.actions((1, 1), &[], None, 1.4, tiles), [Action::Walk((1, 1))]);
        assert_eq!(held.actions((0, 0), &[], None, 2.0, tiles), []);
    }
}
