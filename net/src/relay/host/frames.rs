//! What each replica needs of a tick.
//!
//! Before the step, its inputs: those that reach what it simulates. After it, what changed in cells
//! that it is given. All of it goes by what happened and whom it concerns; a replica of whom
//! nothing happened is not visited.

use std::collections::BTreeMap;

use lockstone_sim::world::{Join, Request};
use lockstone_sim::{CellId, EntityId, Rules, codec};

use super::Host;
use super::guest::{Draft, Guest};
use crate::limits::*;
use crate::session::Slot;
use crate::wire::{CellBytes, Encoded, Frame, RawGiven, RawInput};

/// Whom an input concerns.
pub(super) enum Scope {
    /// The replicas for which the heroes in this cell think. Those that only see a hero need no
    /// leave: its player joins in no core with the same turn, as nobody gets the number of one who
    /// left while there is another.
    Thinks(CellId),
    /// The replicas that simulate both of these cells.
    Simulates(CellId, CellId),
    /// The replicas that simulate both cells of the transfer. The step says which cells these are.
    Transfer,
    Everyone,
    Nobody,
}

impl<R: Rules> Host<R> {
    /// Whom the inputs of the turn that comes next concern: told by where heroes are before it.
    pub(super) fn scopes(&self, inputs: &[RawInput]) -> Vec<Scope> {
        inputs.iter().map(|input| self.scope(input)).collect()
    }

    fn scope(&self, input: &RawInput) -> Scope {
        match input {
            RawInput::Command(player, _)
            | RawInput::Leave(player, _)
            | RawInput::Away(player, _)
            | RawInput::Back(player, _) => self.cell_interest.hero(*player).map_or(Scope::Nobody, Scope::Thinks),
            RawInput::Join(_, _, bytes) => match codec::read::<Join<R::Hero>>(bytes, JOIN_BYTES_MAX) {
                Ok(Join { at, .. }) => {
                    let cell = self.stepper.simulation.grid().cell_of(at);
                    Scope::Simulates(cell, cell)
                }
                Err(_) => Scope::Nobody,
            },
            RawInput::Request(bytes) => match codec::read::<Request<R::Fact>>(bytes, REQUEST_BYTES_MAX) {
                Ok(Request::Announce(_)) => Scope::Everyone,
                Ok(Request::Transfer { .. }) => Scope::Transfer,
                Err(_) => Scope::Nobody,
            },
            // Who a player is concerns the relay alone.
            RawInput::Member(..) | RawInput::Electorate(_) | RawInput::Settled => Scope::Nobody,
            RawInput::Branch(_) => Scope::Nobody,
        }
    }

    /// Puts the inputs of the last turn into the frames of those whom they concern.
    pub(super) fn draft_inputs(&mut self, inputs: &[RawInput], scopes: &[Scope]) {
        let mut transfers = self.stepper.simulation.transferred().to_vec().into_iter();
        // The replicas that have made all transfers of an entity so far. To all others it is not
        // where the next one begins.
        let mut followed = BTreeMap::<EntityId, Vec<Slot>>::new();
        for (input, scope) in inputs.iter().zip(scopes) {
            if let Scope::Transfer = scope {
                let Some((from, to)) = transfers.next().flatten() else { continue };
                let Some((entity, input)) = as_it_went::<R>(input, from) else { continue };
                let mut slots = self.concerned(&Scope::Simulates(from, to));
                let before = followed.get(&entity);
                slots.retain(|slot| before.is_none_or(|before| before.contains(slot)));
                self.draft_ends(from, to, &slots);
                for slot in &slots {
                    self.draft(*slot).inputs.push(input.clone());
                }
                followed.insert(entity, slots);
                continue;
            }
            let mut slots = self.concerned(scope);
            // A hero may have been moved out of its player's core, who is to know nevertheless.
            if let RawInput::Back(player, _) = input {
                slots.extend(self.guests.slot_of(*player).filter(|own| !slots.contains(own)));
            }
            for slot in slots {
                self.draft(slot).inputs.push(input.clone());
            }
        }
    }

    /// Puts what the last step changed into the frames of those who are given it.
    pub(super) fn draft_changes(&mut self) {
        let Host { stepper, cell_interest, guests, choice, .. } = self;
        let world = &stepper.simulation;
        let mut bytes = 0;
        for cell in world.touched() {
            let Some((change, slots)) = cell_interest.change(*cell, world) else { continue };
            bytes += change.bytes();
            for slot in slots {
                let Some(guest) = guests.get_mut(*slot) else { continue };
                guest.draft.given.push(change.clone());
            }
        }
        // Those in whom nothing changed count as well: they will be told of as rarely.
        choice.costs.change.note(bytes, cell_interest.actors());
    }

    /// A replica that simulates only one end of a transfer, or not where the entity came from,
    /// cannot make it. It is given whole what it simulates of both; `able` are those who can.
    fn draft_ends(&mut self, from: CellId, to: CellId, able: &[Slot]) {
        for cell in [from, to] {
            let unable = |guest: &Guest| {
                // Whole cells of a core that were given are not given twice.
                let whole = |given: &RawGiven| matches!(given, RawGiven::Cell(of, _) if *of == cell);
                guest.area.bounds().core.contains(cell) && !guest.draft.given.iter().any(whole)
            };
            let mut slots = self.knowing(cell, unable);
            slots.retain(|slot| !able.contains(slot));
            if !slots.is_empty()
                && let Some(state) = self.stepper.simulation.cell_state(cell)
            {
                let whole = RawGiven::Cell(cell, CellBytes::new(state.encode()));
                slots.into_iter().for_each(|slot| self.draft(slot).given.push(whole.clone()));
            }
        }
    }

    /// This tick's frame of a guest.
    pub(super) fn draft(&mut self, slot: Slot) -> &mut Draft {
        &mut self.guests.get_mut(slot).expect("a guest that is gone watches nothing").draft
    }

    /// Closes the tick in a replica's history.
    pub(super) fn close_frame(&mut self, slot: Slot, inputs: &[RawInput], scopes: &[Scope]) {
        let Some(guest) = self.guests.get_mut(slot) else { return };
        if guest.draft.inputs.is_empty() && guest.draft.given.is_empty() {
            return guest.frames.close_empty();
        }
        let Draft { inputs: own, given } = core::mem::take(&mut guest.draft);
        let frame = (own.try_into().ok()).zip(given.try_into().ok()).map(|(inputs, given)| Frame { inputs, given });
        match frame.map(|frame| Encoded::frame(&frame)).filter(|frame| frame.size() <= FRAME_BYTES_MAX) {
            Some(frame) => guest.frames.close((), frame),
            None => {
                let player = guest.player;
                // A joiner that were not told of its own join would wait for it for ever.
                let own = |input: &RawInput| match input {
                    RawInput::Join(joined, ..) | RawInput::Back(joined, _) => *joined == player,
                    _ => false,
                };
                let concern = |(input, scope): &(&RawInput, &Scope)| matches!(scope, Scope::Everyone) || own(input);
                let known = inputs.iter().zip(scopes).filter(concern).map(|(input, _)| input.clone());
                self.begin_anew(slot, known.collect());
            }
        }
    }

    fn concerned(&self, scope: &Scope) -> Vec<Slot> {
        let core = |guest: &Guest| guest.area.bounds().core;
        match scope {
            Scope::Thinks(cell) => self.knowing(*cell, |guest| self.choice.rules.thinking(core(guest)).contains(*cell)),
            Scope::Simulates(a, b) => self.knowing(*a, |guest| core(guest).contains(*a) && core(guest).contains(*b)),
            Scope::Everyone => self.guests.iter().map(|(slot, _)| slot).collect(),
            Scope::Transfer | Scope::Nobody => Vec::new(),
        }
    }

    /// Of those who know a cell the ones that are wanted.
    fn knowing(&self, cell: CellId, wanted: impl Fn(&Guest) -> bool) -> Vec<Slot> {
        let knowing = self.cell_interest.presence.watchers(cell);
        knowing.filter(|slot| self.guests.get(*slot).is_some_and(&wanted)).collect()
    }
}

/// A transfer from where it began, and what it moves. A hero may have asked for it in another cell,
/// of which those who simulate this one may know nothing.
fn as_it_went<R: Rules>(input: &RawInput, from: CellId) -> Option<(EntityId, RawInput)> {
    let RawInput::Request(bytes) = input else { return None };
    let Ok(Request::Transfer { entity, to, .. }) = codec::read::<Request<R::Fact>>(bytes, REQUEST_BYTES_MAX) else {
        return None;
    };
    let request: Request<R::Fact> = Request::Transfer { entity, from, to };
    let bytes = codec::compact(&request).try_into().expect("a transfer is a few bytes");
    Some((entity, RawInput::Request(bytes)))
}
