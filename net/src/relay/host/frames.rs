//! What each replica needs of a tick.
//!
//! Before the step, its inputs: those that reach what it simulates. After it, what changed in cells
//! that it is given. All of it goes by what happened and whom it concerns; a replica of whom
//! nothing happened is not visited.

use lockstone_sim::world::{Join, Request};
use lockstone_sim::{CellId, Rules, codec};

use super::Host;
use super::guest::{Draft, Guest};
use crate::limits::*;
use crate::session::Slot;
use crate::wire::{CellBytes, Encoded, Frame, RawGiven, RawInput};

/// Whom an input concerns.
pub(super) enum Scope {
    /// The replicas for which the heroes in this cell think.
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
        for (input, scope) in inputs.iter().zip(scopes) {
            let (input, scope) = match scope {
                Scope::Transfer => {
                    let Some((from, to)) = transfers.next().flatten() else { continue };
                    self.draft_transfer(from, to);
                    (&as_it_went::<R>(input, from), &Scope::Simulates(from, to))
                }
                _ => (input, scope),
            };
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
        let (mut bytes, mut actors) = (0, 0);
        for cell in world.touched() {
            if !cell_interest.gives(*cell) {
                continue;
            }
            // Those in whom nothing changed count as well: they will be told of as rarely.
            actors += world.actors(*cell).len();
            let Some((change, slots)) = cell_interest.change(*cell, world) else { continue };
            bytes += change.bytes();
            for slot in slots {
                let Some(guest) = guests.get_mut(*slot) else { continue };
                guest.draft.given.push(change.clone());
            }
        }
        choice.costs.change.note(bytes, actors);
    }

    /// A replica that simulates only one end of a transfer cannot make it. It is given the cell
    /// whole.
    fn draft_transfer(&mut self, from: CellId, to: CellId) {
        for (cell, other) in [(from, to), (to, from)] {
            let alone = |guest: &Guest| {
                let core = guest.area.bounds().core;
                // Whole cells of a core that were given are not given twice.
                let whole = |given: &RawGiven| matches!(given, RawGiven::Cell(of, _) if *of == cell);
                core.contains(cell) && !core.contains(other) && !guest.draft.given.iter().any(whole)
            };
            let slots = self.knowing(cell, alone);
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

/// A transfer from where it began. A hero may have asked for it in another cell, of which those who
/// simulate this one may know nothing.
fn as_it_went<R: Rules>(input: &RawInput, from: CellId) -> RawInput {
    let RawInput::Request(bytes) = input else { return input.clone() };
    match codec::read::<Request<R::Fact>>(bytes, REQUEST_BYTES_MAX) {
        Ok(Request::Transfer { entity, from: asked, to }) if asked != from => {
            let request: Request<R::Fact> = Request::Transfer { entity, from, to };
            codec::compact(&request).try_into().map_or_else(|_| input.clone(), RawInput::Request)
        }
        _ => input.clone(),
    }
}
