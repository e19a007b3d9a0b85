//! A line of a list that is dragged onto another, or onto the world: by the mouse, with its main
//! button down. What that means the game says.

use super::Action;
use super::held::Press;
use crate::scene::Pointer;

/// What is at a pixel.
#[derive(Clone, Debug, PartialEq)]
pub enum Under {
    /// A line of the list.
    Line(String),
    /// A place of the world.
    World,
}

/// What is dragged.
#[derive(Clone, Debug, Default)]
pub struct Dragging {
    line: Option<String>,
}

impl Dragging {
    /// The line that is dragged now.
    pub fn line(&self) -> Option<&str> {
        self.line.as_deref()
    }

    /// What comes of what the buttons did since the last time, where `under` tells what is at a
    /// pixel. Presses that drag are taken out: they mean nothing else.
    pub fn actions(&mut self, presses: &mut Vec<Press>, under: impl Fn((f32, f32)) -> Option<Under>) -> Vec<Action> {
        let mut actions = Vec::new();
        presses.retain(|press| {
            if press.pointer != Pointer::Primary {
                return true;
            }
            match (self.line.take(), under(press.at)) {
                (None, Some(Under::Line(line))) if press.is_down => self.line = Some(line),
                (Some(from), to) if !press.is_down => actions.extend(dragged(from, to)),
                (None, _) => return true,
                (from, _) => self.line = from,
            }
            false
        });
        actions
    }
}

/// A line that is let go where it was, or nowhere, was not dragged.
fn dragged(from: String, to: Option<Under>) -> Option<Action> {
    match to? {
        Under::Line(to) => (to != from).then_some(Action::Drag(from, Some(to))),
        Under::World => Some(Action::Drag(from, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two lines on the left, the world on the right, nothing below.
    fn under((x, y): (f32, f32)) -> Option<Under> {
        match (x < 100.0, y < 20.0) {
            (true, _) if y < 40.0 => Some(Under::Line(if y < 20.0 { "weapon" } else { "bag 1" }.to_owned())),
            (true, _) => None,
            (false, _) => Some(Under::World),
        }
    }

    fn press(is_down: bool, at: (f32, f32)) -> Press {
        Press { is_down, pointer: Pointer::Primary, at }
    }

    const WEAPON: (f32, f32) = (5.0, 5.0);
    const BAG: (f32, f32) = (5.0, 25.0);
    const WORLD: (f32, f32) = (300.0, 5.0);
    const NOWHERE: (f32, f32) = (5.0, 500.0);

    #[test]
    fn a_line_is_dragged_onto_another_or_the_world_and_nothing_is_clicked_meanwhile() {
        let mut dragging = Dragging::default();
        for (to, done) in [
            (WEAPON, vec![Action::Drag("bag 1".into(), Some("weapon".into()))]),
            (WORLD, vec![Action::Drag("bag 1".into(), None)]),
            (BAG, vec![]),
            (NOWHERE, vec![]),
        ] {
            let mut presses = vec![press(true, BAG)];
            assert_eq!(dragging.actions(&mut presses, under), []);
            assert_eq!((dragging.line(), &presses[..]), (Some("bag 1"), &[][..]), "nothing else is pressed");
            let mut presses = vec![press(false, to)];
            assert_eq!(dragging.actions(&mut presses, under), done);
            assert_eq!((dragging.line(), &presses[..]), (None, &[][..]));
        }
        // Both may come between two pictures.
        let mut presses = vec![press(true, BAG), press(false, WEAPON)];
        assert_eq!(dragging.actions(&mut presses, under).len(), 1);
    }

    #[test]
    fn what_begins_elsewhere_is_left_as_it_is() {
        let mut dragging = Dragging::default();
        let other = Press { pointer: Pointer::Secondary, ..press(true, BAG) };
        let all = vec![press(true, WORLD), press(false, BAG), other];
        let mut presses = all.clone();
        assert_eq!((dragging.actions(&mut presses, under), presses), (Vec::new(), all));
    }
}
