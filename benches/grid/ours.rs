//! [`Presence`].

use lockstone_sim::Presence;

use crate::crowd::{Contender, Crowd, Tell};

pub struct Ours(Presence);

impl Ours {
    fn tell(&mut self, tell: &mut Tell<'_>) {
        self.0.events().for_each(|event| tell(event.watcher, event.thing, event.entered));
    }
}

impl Contender for Ours {
    fn new(crowd: &Crowd) -> Ours {
        let mut presence = Presence::new(&crowd.grid);
        (0..).zip(&crowd.places).for_each(|(thing, &at)| assert!(presence.insert(thing, at)));
        Ours(presence)
    }

    fn move_all(&mut self, crowd: &Crowd) {
        (0..).zip(crowd.moving()).for_each(|(thing, &at)| {
            self.0.move_to(thing, at);
        });
    }

    fn ask_all(&self, crowd: &Crowd) -> usize {
        (0..crowd.movers).map(|mover| self.0.things(crowd.area(mover)).count()).sum()
    }

    fn watch_all(&mut self, crowd: &Crowd, tell: &mut Tell<'_>) {
        (0..crowd.movers).for_each(|mover| {
            self.0.watch(mover as u32, crowd.area(mover));
        });
        self.tell(tell);
    }

    fn tick(&mut self, crowd: &Crowd, tell: &mut Tell<'_>) {
        for (mover, &at) in (0..).zip(crowd.moving()) {
            self.0.move_to(mover, at);
            self.0.watch(mover, crowd.area(mover as usize));
        }
        self.tell(tell);
    }
}
