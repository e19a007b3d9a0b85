//! How far a replica's area has come: what it simulates and knows, and what is on its way to it.

use lockstone_sim::Extent;

use super::loads::Load;
use crate::transfer::SnapshotSender;
use crate::wire::Message;

pub(super) enum Area {
    /// The world's outline is on its way; no cell can be before that has arrived.
    Waiting(SnapshotSender),
    /// What it knows is all that it needs, or its next load has not begun. At first
    /// that is nothing.
    Current(Extent),
    /// It is loaded what another area needs.
    Changing(Extent, Load),
    /// It was begun anew: what is on its way is of no use, and the next load waits until
    /// that has arrived.
    Discarding(Load),
}

impl Area {
    pub fn bounds(&self) -> Extent {
        match self {
            Area::Waiting(_) | Area::Discarding(_) => Extent::NOTHING,
            Area::Current(bounds) | Area::Changing(bounds, _) => *bounds,
        }
    }

    pub fn load(&self) -> Option<&Load> {
        match self {
            Area::Waiting(_) | Area::Current(_) => None,
            Area::Changing(_, load) | Area::Discarding(load) => Some(load),
        }
    }

    pub fn load_mut(&mut self) -> Option<&mut Load> {
        match self {
            Area::Waiting(_) | Area::Current(_) => None,
            Area::Changing(_, load) | Area::Discarding(load) => Some(load),
        }
    }

    /// Whether a piece of what is on its way may be sent now.
    pub fn has_piece(&self) -> bool {
        match self {
            Area::Waiting(outline) => outline.ready(),
            Area::Current(_) => false,
            Area::Changing(_, load) | Area::Discarding(load) => load.announcement.is_some() || load.sender.ready(),
        }
    }

    pub fn next_piece(&mut self) -> Option<Message> {
        let (announcement, sender) = match self {
            Area::Waiting(outline) => (None, outline),
            Area::Current(_) => return None,
            Area::Changing(_, load) | Area::Discarding(load) => (load.announcement.take(), &mut load.sender),
        };
        announcement.or_else(|| sender.next_chunk().map(Message::Chunk))
    }

    /// The area that is loaded, if something will come of it.
    pub fn loading(&self) -> Option<Extent> {
        match self {
            Area::Changing(_, load) => Some(load.bounds),
            Area::Waiting(_) | Area::Current(_) | Area::Discarding(_) => None,
        }
    }

    /// The bounds become others: with what was loaded for them, if that has arrived.
    pub fn change(&mut self, after: Extent) {
        let nothing = after == Extent::NOTHING;
        *self = match core::mem::replace(self, Area::Current(after)) {
            Area::Waiting(outline) => Area::Waiting(outline),
            Area::Changing(_, load) | Area::Discarding(load) if nothing => Area::Discarding(load),
            Area::Changing(_, load) if !load.sender.done() => Area::Changing(after, load),
            Area::Current(_) | Area::Changing(..) | Area::Discarding(_) => Area::Current(after),
        };
    }
}
