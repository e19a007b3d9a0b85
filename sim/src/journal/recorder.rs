//! Where notes are taken: one for each thread that thinks, and one for the rest of the tick.
//!
//! It is behind a shared reference, so that dice can be copied and lent as ever; a step that is
//! not noted has none.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};
use core::fmt::Debug;
use core::panic::Location;
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use super::note::{Doer, Event, Note, Phase, Site};
use super::roll::Roll;
use crate::codec::Fixed;
use crate::entity::{Body, Entity};
use crate::grid::CellId;
use crate::ids::{Checksum, EntityId, Tick};
use crate::rules::{Fate, Rules};
use crate::thoughts::Thoughts;
use crate::world::entity_sum;

/// Where to take notes, if they are taken.
#[derive(Clone, Copy)]
pub(crate) struct Notes<'j>(Option<&'j Recorder>);

impl<'j> Notes<'j> {
    /// Nowhere.
    pub const NONE: Notes<'static> = Notes(None);

    pub const fn of(recorder: Option<&'j Recorder>) -> Notes<'j> {
        Notes(recorder)
    }

    pub const fn are_taken(self) -> bool {
        self.0.is_some()
    }

    /// Takes notes, in a step that is noted. In all others this must cost a branch that is
    /// always foreseen.
    #[inline(always)]
    pub fn take(self, note: impl FnOnce(&Recorder)) {
        if let Some(recorder) = self.0 {
            note(recorder);
        }
    }
}

/// Takes the notes of a tick, or of some thoughts of it. Its methods are cold, so that a step that
/// is not noted keeps them out of its way.
pub(crate) struct Recorder {
    notes: RefCell<Vec<Note>>,
    phase: Cell<Phase>,
    doer: Cell<Doer>,
    /// What the doer's dice draw from.
    stream: Cell<(u64, Tick)>,
    /// Where each effect was sent, by source and number.
    sites: RefCell<BTreeMap<(EntityId, u32), Site>>,
    encoder: RefCell<Fixed>,
}

impl Default for Recorder {
    fn default() -> Self {
        Recorder {
            notes: RefCell::default(),
            phase: Cell::new(Phase::Think),
            doer: Cell::new(Doer::Input(0)),
            stream: Cell::default(),
            sites: RefCell::default(),
            encoder: RefCell::default(),
        }
    }
}

impl Recorder {
    /// What follows belongs to this phase.
    #[cold]
    pub fn enter(&self, phase: Phase) {
        self.phase.set(phase);
    }

    /// What follows is this one's doing.
    #[cold]
    pub fn begin(&self, doer: Doer) {
        self.doer.set(doer);
    }

    /// The doer's dice are those of a stream of the table.
    #[cold]
    pub fn draw_from(&self, stream: u64, tick: Tick) {
        self.stream.set((stream, tick));
    }

    /// Notes a draw.
    #[cold]
    pub fn roll(&self, n: u32, value: u32, roll: Roll, site: &'static Location<'static>) {
        let (stream, tick) = self.stream.get();
        self.push(Event::Draws { stream, tick, n, value, roll }, Some(site.into()));
    }

    /// Notes what the game decided at a place of its source.
    #[cold]
    pub fn decided(&self, site: &'static Location<'static>, event: Event) {
        self.push(event, Some(site.into()));
    }

    /// An entity begins to think, and is given its player's commands.
    #[cold]
    pub fn thinks<B: Body>(&self, entity: &Entity<B>, cell: CellId, commands: impl Iterator<Item: Debug>) {
        self.begin(Doer::Entity(entity.id));
        self.engine(Event::Thinks { cell, sum: self.checksum(entity) });
        commands.for_each(|command| self.engine(Event::Receives { command: format!("{command:?}") }));
    }

    /// An effect reaches its target.
    #[cold]
    pub fn applies<B: Body>(&self, key: (EntityId, EntityId, u32), effect: &impl Debug, entity: &Entity<B>) {
        let (target, source, n) = key;
        self.begin(Doer::Effect { target, source, n });
        let event = Event::Applies { effect: format!("{effect:?}"), sum: self.checksum(entity) };
        let site = self.sites.borrow().get(&(source, n)).cloned();
        self.push(event, site);
    }

    /// What became of the target of the effect.
    #[cold]
    pub fn reached<B: Body>(&self, entity: &Entity<B>, fate: Fate) {
        self.becomes(entity);
        if fate == Fate::Gone {
            self.engine(Event::Vanishes);
        }
    }

    /// What became of the entity that the doer wrote to.
    #[cold]
    pub fn becomes<B: Body>(&self, entity: &Entity<B>) {
        self.engine(Event::Becomes { pos: entity.pos, sum: self.checksum(entity) });
    }

    /// The doer, a cell, is filled.
    #[cold]
    pub fn generates<'e, B: Body>(&self, content: impl Iterator<Item = &'e Entity<B>>) {
        let (mut entities, mut sum) = (0, 0u64);
        for entity in content {
            entities += 1;
            sum = sum.wrapping_add(self.checksum(entity).0);
        }
        self.engine(Event::Generates { entities, sum: Checksum(sum) });
    }

    /// An entity is put into a cell.
    #[cold]
    pub fn arrives<B: Body>(&self, entity: &Entity<B>, cell: CellId) {
        self.begin(Doer::Entity(entity.id));
        self.engine(Event::Arrives { cell, pos: entity.pos, sum: self.checksum(entity) });
    }

    /// An entity is taken out of a cell.
    #[cold]
    pub fn leaves(&self, id: EntityId, cell: CellId) {
        self.begin(Doer::Entity(id));
        self.engine(Event::Leaves { cell });
    }

    /// The `n`-th input of the turn takes effect.
    #[cold]
    pub fn enters(&self, n: usize, input: &impl Debug) {
        self.begin(Doer::Input(n as u32));
        self.engine(Event::Enters { input: format!("{input:?}") });
    }

    /// An announcement has been made.
    #[cold]
    pub fn announced(&self, facts: &impl Serialize) {
        let encoder = &mut *self.encoder.borrow_mut();
        encoder.clear();
        encoder.push(facts);
        self.engine(Event::Announced { sum: Checksum(xxh3_64(encoder.bytes())) });
    }

    /// A cell's light of this tick and of the next.
    #[cold]
    pub fn lights(&self, cell: CellId, before: u8, after: u8) {
        if before != after {
            self.begin(Doer::Cell(cell));
            self.engine(Event::Lights { before, after });
        }
    }

    /// Notes what the engine did.
    fn engine(&self, event: Event) {
        self.push(event, None);
    }

    /// Takes over the notes of all thoughts, and learns from them where effects were sent.
    #[cold]
    pub fn all_have_thought<R: Rules>(&self, thoughts: &mut [Thoughts<R>]) {
        let parts = thoughts.iter_mut().filter_map(|part| part.notes.take());
        let notes: Vec<Note> = parts.flat_map(|part| part.into_notes()).collect();
        let sent = notes.iter().filter_map(|note| match (note.doer, &note.event) {
            (Doer::Entity(source), Event::Affects { n, .. }) => Some(((source, *n), note.site.clone()?)),
            _ => None,
        });
        self.sites.replace(sent.collect());
        self.notes.replace(notes);
    }

    pub fn into_notes(self) -> Vec<Note> {
        self.notes.into_inner()
    }

    fn push(&self, event: Event, site: Option<Site>) {
        let note = Note { phase: self.phase.get(), doer: self.doer.get(), event, site };
        self.notes.borrow_mut().push(note);
    }

    fn checksum<B: Body>(&self, entity: &Entity<B>) -> Checksum {
        Checksum(entity_sum(&mut self.encoder.borrow_mut(), entity))
    }
}
