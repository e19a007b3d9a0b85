//! The view of a page: its picture, and what the page writes beside it. It must never draw while
//! nobody sees it.

use std::cell::RefCell;
use std::rc::Rc;

use lockstone::view::smooth::Smooth;
use lockstone::view::{Action, Status, View};

use crate::hands::Hands;
use crate::panel::Panel;
use crate::picture::Picture;

/// Between two looks at what stands beside the picture.
const PANEL_PERIOD_S: f32 = 0.15;

pub(crate) struct Eye {
    picture: Picture,
    hands: Rc<RefCell<Hands>>,
    time_s: f32,
    panel_at_s: f32,
    /// What was written beside the picture.
    written: String,
}

impl Eye {
    pub fn new(picture: Picture, hands: Rc<RefCell<Hands>>) -> Eye {
        Eye { picture, hands, time_s: 0.0, panel_at_s: 0.0, written: String::new() }
    }

    fn write(&mut self, scenes: &Smooth, status: &Status) {
        if self.time_s < self.panel_at_s {
            return;
        }
        self.panel_at_s = self.time_s + PANEL_PERIOD_S;
        let panel = Panel::of(scenes.newest(), status).json();
        if panel != self.written {
            self.hands.borrow_mut().panel = Some(panel.clone());
            self.written = panel;
        }
    }
}

impl View for Eye {
    fn show(&mut self, scenes: &Smooth, moment: f32, status: &Status, time_s: f32) {
        self.time_s = time_s;
        let Hands { size, is_calm, at, .. } = *self.hands.borrow();
        self.picture.point(at);
        self.picture.draw(size, scenes.at(moment), status, if is_calm { 0.0 } else { time_s });
        self.write(scenes, status);
    }

    fn actions(&mut self) -> Vec<Action> {
        self.hands.borrow_mut().actions(self.time_s, |at| self.picture.tile_at(at))
    }

    /// The page shows what is typed by itself.
    fn line(&self) -> Option<&str> {
        None
    }

    fn keys(&self) -> &'static str {
        "WASD walks, Enter says, / commands, F full screen"
    }

    fn is_ready(&self) -> bool {
        self.hands.borrow().is_frame
    }
}
