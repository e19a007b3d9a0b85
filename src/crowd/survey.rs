//! How large the parts of a crowd are, and who comes into and goes out of them.

use lockstone_sim::presence::Presence;
use lockstone_sim::{Rules, World};

use super::report::Size;

/// Looks at every replica's area after each tick.
#[derive(Default)]
pub(super) struct Survey {
    presence: Option<Presence>,
    looks: u64,
    core_cells: Sum,
    actors: Sum,
    /// Heroes that came into a replica's area.
    pub enters: u64,
    /// Heroes that went out of one.
    pub leaves: u64,
}

#[derive(Default)]
struct Sum {
    sum: u64,
    max: usize,
}

impl Survey {
    /// Looks at the relay's world and those of the replicas, which are numbered.
    pub fn look<'w, R: Rules>(&mut self, whole: &World<R>, parts: impl Iterator<Item = (usize, &'w World<R>)>) {
        let presence = self.presence.get_or_insert_with(|| Presence::new(whole.grid()));
        for hero in whole.players().filter_map(|player| whole.hero(player)) {
            let number = hero.player.map_or(0, |player| player.0.into());
            if !presence.move_to(number, hero.pos) {
                presence.insert(number, hero.pos);
            }
        }
        for (number, part) in parts {
            let area = part.area();
            let Some((core, halo)) = area.core_rect().zip(area.halo_rect()) else { continue };
            if presence.watched(number as u32) != Some(halo) {
                presence.watch(number as u32, halo);
            }
            let thinks = core.grown(part.grid(), part.grid().fringe_rings());
            self.looks += 1;
            self.core_cells.add(core.len());
            self.actors.add(thinks.iter().map(|cell| part.actors(cell).len()).sum());
        }
        for event in presence.events() {
            *(if event.entered { &mut self.enters } else { &mut self.leaves }) += 1;
        }
    }

    /// How large cores were.
    pub fn core_cells(&self) -> Size {
        self.core_cells.size(self.looks)
    }

    /// How much thought in core and fringe.
    pub fn actors(&self) -> Size {
        self.actors.size(self.looks)
    }
}

impl Sum {
    fn add(&mut self, value: usize) {
        self.sum += value as u64;
        self.max = self.max.max(value);
    }

    fn size(&self, looks: u64) -> Size {
        Size { mean: self.sum as f64 / looks.max(1) as f64, max: self.max }
    }
}
