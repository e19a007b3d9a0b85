//! How a replica's area follows its hero: the core moves at once within what is known, and cells
//! are loaded ahead of it.
//!
//! A load is cells' states as of a tick; from that tick on their changes ride in the frames as
//! those of the halo do. Once the replica has acknowledged the load, a frame makes the new area
//! effective. There is one load at a time, so what was loaded is known when it is built on. The
//! first area, a portal's and the next few cells of a walk are all loaded in this way.

use core::time::Duration;
use std::sync::Arc;

use lockstone_sim::{CellRect, Extent, Rules, Simulation, World, codec};

use super::Host;
use super::area::Area;
use crate::limits::*;
use crate::link::PeerId;
use crate::session::{DropReason, Outbox, Slot};
use crate::transfer::{self, SnapshotSender};
use crate::wire::{self, CellBytes, Encoded, Frame, List, LoadedCells, Message, RawGiven, RawInput};

/// Cells on their way to a replica.
pub(super) struct Load {
    number: u32,
    /// The area that it makes possible.
    pub bounds: Extent,
    pub sender: SnapshotSender,
    pub announcement: Option<Message>,
    pub progressed: Duration,
    begun: Duration,
}

impl<R: Rules> Host<R> {
    /// Lets a replica's area follow its hero. What is drafted for this tick must hold
    /// all changes by now.
    pub(super) fn update_area(&mut self, slot: Slot, now: Duration) {
        let Host { stepper, cell_interest, choice, .. } = self;
        let world = &stepper.simulation;
        let Some(guest) = self.guests.get_mut(slot) else { return };
        if matches!(guest.area, Area::Waiting(_)) {
            return;
        }
        let Some(hero) = guest.place(cell_interest) else { return };
        let core = choice.core(slot, guest, hero, world);
        match &guest.area {
            Area::Waiting(_) => {}
            Area::Changing(_, Load { number, bounds: loaded, sender, .. }) if sender.done() => {
                let (number, loaded) = (*number, *loaded);
                let fits = loaded.halo.contains_rect(self.choice.rules.need(core));
                let core = if fits { core } else { loaded.core };
                self.change_area(slot, Extent { core, ..loaded }, Some(number));
            }
            Area::Changing(before, Load { bounds: loaded, .. }) => {
                let (before, need) = (*before, self.choice.rules.need(core));
                if before.core != core && before.halo.contains_rect(need) && loaded.halo.contains_rect(need) {
                    self.change_area(slot, Extent { core, ..before }, None);
                }
            }
            Area::Discarding(load) if !load.sender.done() => {}
            Area::Current(_) | Area::Discarding(_) => self.advance_area(slot, core, now),
        }
    }

    /// Moves the core if it can, and loads what is to be known around it.
    fn advance_area(&mut self, slot: Slot, core: CellRect, now: Duration) {
        let Some(before) = self.guests.get(slot).map(|guest| guest.area.bounds()) else { return };
        let halo = self.choice.rules.halo(core);
        let is_complete = before.halo.contains_rect(halo);
        let after = Extent { core, halo: if is_complete { halo } else { before.halo } };
        if after != before && before.halo.contains_rect(self.choice.rules.need(core)) {
            self.change_area(slot, after, None);
        }
        if !is_complete {
            self.begin_load(slot, Extent { core, halo }, now);
        }
    }

    fn begin_load(&mut self, slot: Slot, bounds: Extent, now: Duration) {
        let world = &self.stepper.simulation;
        let Some(guest) = self.guests.get_mut(slot) else { return };
        // As long as it could not be announced, its changes would ride in the frames for nothing.
        if guest.waits(&mut self.stats.loads) {
            return;
        }
        let present = guest.area.bounds();
        let mut cells = LoadedCells { all: bounds.halo, but: present.halo, lit: List::default() };
        let lit = |cell| Some((cell, CellBytes::new(world.change_since_pristine(cell)?)));
        let Ok(lit) = List::try_from(cells.cells().filter_map(lit).collect::<Vec<_>>()) else { return };
        cells.lit = lit;
        let bytes: Arc<[u8]> = codec::compact(&cells).into();
        if bytes.len() > LOAD_BYTES_MAX {
            return;
        }
        self.stats.loads_begun += 1;
        self.choice.costs.cell.note(bytes.len(), cells.cells().count());
        let number = guest.loads;
        guest.loads += 1;
        let (length, digest) = (bytes.len() as u32, transfer::digest(&bytes));
        let mut sender = SnapshotSender::new(bytes);
        let first = sender.next_chunk().expect("a load is not empty, and nothing of it is under way");
        let announcement = Some(Message::Load(wire::Load { number, tick: world.tick(), bytes: length, digest, first }));
        guest.area =
            Area::Changing(present, Load { number, bounds, sender, announcement, progressed: now, begun: now });
        for cell in cells.cells() {
            self.cell_interest.give(cell, slot, world);
        }
    }

    /// Makes another area effective with this tick's frame.
    fn change_area(&mut self, slot: Slot, after: Extent, load: Option<u32>) {
        self.stats.areas_changed += 1;
        let Some(guest) = self.guests.get_mut(slot) else { return };
        let loading = guest.area.load().map(|load| load.bounds.halo);
        // First of all, so that every change meets its cell; and none of a cell that is
        // forgotten with it.
        let known = |cell| after.halo.contains(cell) || loading.is_some_and(|loading| loading.contains(cell));
        guest.draft.given.retain(|given| given.cell().is_none_or(known));
        guest.draft.given.insert(0, RawGiven::Area(after, load));
        self.set_bounds(slot, after);
    }

    /// Watches for a replica what it is given by its new area.
    pub(super) fn set_bounds(&mut self, slot: Slot, after: Extent) {
        let Host { stepper, guests, cell_interest, .. } = self;
        let Some(guest) = guests.get_mut(slot) else { return };
        let before = guest.area.bounds();
        let loaded = guest.area.load().filter(|load| after == Extent::NOTHING || load.sender.done());
        let known = loaded.map_or(before.halo, |load| before.halo.union(load.bounds.halo));
        guest.area.change(after);
        // What was simulated is not given.
        let given = |cell| !before.core.contains(cell);
        for cell in known.iter().filter(|cell| given(*cell) && !after.gives(*cell)) {
            cell_interest.withhold(cell, slot);
        }
        // Those that were given before still are.
        for cell in after.given().filter(|cell| !before.gives(*cell)) {
            cell_interest.give(cell, slot, &stepper.simulation);
        }
        cell_interest.presence.watch(slot, after.halo);
    }

    /// A replica's frame would be too large: it loses its area, and is loaded again. It still
    /// learns `inputs`: what everyone does, and that its own hero entered.
    pub(super) fn begin_anew(&mut self, slot: Slot, inputs: Vec<RawInput>) {
        self.stats.begun_anew += 1;
        self.set_bounds(slot, Extent::NOTHING);
        let Some(guest) = self.guests.get_mut(slot) else { return };
        let given = List::try_from(vec![RawGiven::Area(Extent::NOTHING, None)]).expect("one is allowed");
        let inputs = List::try_from(inputs).expect("a turn has no more");
        guest.frames.close((), Encoded::frame(&Frame { inputs, given }));
    }

    /// A replica has a piece of what is loading.
    pub(super) fn chunk_ack(&mut self, from: PeerId, received: u32, now: Duration, out: &mut Outbox<World<R>>) {
        let Some(guest) = self.guests.of_mut(from) else { return };
        let (sender, begun) = match &mut guest.area {
            Area::Waiting(outline) => (outline, None),
            Area::Changing(_, load) | Area::Discarding(load) => (&mut load.sender, Some(load.begun)),
            Area::Current(_) => return out.dropped(DropReason::Unexpected),
        };
        if sender.acknowledge(received).is_err() {
            return out.dropped(DropReason::ForgedAck);
        }
        match (sender.done(), begun) {
            (false, _) => {}
            (true, Some(begun)) => guest.budget.measure(received as usize, now.saturating_sub(begun)),
            (true, None) => guest.area = Area::Current(Extent::NOTHING),
        }
        guest.progressed(now);
    }
}
