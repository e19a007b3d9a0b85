//! One tick, the whole algorithm. [`World::step_with`] is the loop.
//!
//! All that a turn brings, commands excepted, takes effect after thinking: what is seen is always
//! the state at the end of the last tick. So a replica needs the inputs of its own area only.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::checksum::entity_sum;
use super::{Request, State, World};
use crate::dice::mix64;
use crate::entity::Entity;
use crate::grid::CellId;
use crate::ids::{EntityId, PlayerId};
use crate::journal::{Notes, Phase};
use crate::mind::Mind;
use crate::near::{Place, Spots};
use crate::rules::{Cause, Fate, Rules};
use crate::simulation::{Input, Turn};
use crate::store::{Cell, List};
use crate::thoughts::{Aimed, Decisions, Leaving, Thoughts, one_of};
use crate::vec2::Vec2;

/// The read-only part of a tick: every actor of a lit cell thinks.
///
/// The cells can be thought through in any order, each exactly once, by any number of threads.
pub struct Thinking<'w, R: Rules> {
    state: &'w State<R>,
    spots: &'w Spots,
    slots: Vec<usize>,
    /// This tick's commands, by player and then in the turn's order.
    commands: Vec<(PlayerId, &'w R::Command)>,
    noted: bool,
}

impl<'w, R: Rules> Thinking<'w, R> {
    /// For who lets actors think one by one; [`think`](Thinking::think) knows no cells.
    #[cfg(feature = "tamper")]
    pub(super) fn alone(world: &'w World<R>, turn: &'w Turn<World<R>>) -> Self {
        let (slots, commands) = (Vec::new(), commands_by_player(turn));
        Thinking { state: &world.state, spots: &world.spots, slots, commands, noted: false }
    }

    /// How many cells have something that thinks.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether nobody thinks in this tick.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Lets the actors of the `n`-th cell think.
    ///
    /// # Panics
    /// If `n` is not below [`len`](Thinking::len).
    pub fn think(&self, n: usize, thoughts: &mut Thoughts<R>) {
        let slot = self.slots[n];
        let mut after = thoughts.blank();
        let next = Arc::get_mut(&mut after).expect("a blank cell is held once");
        let before = &self.state.store.cells[slot];
        next.actors.extend_from_slice(&before.actors);
        let mut unchanged = true;
        for (index, (next, actor)) in next.actors.iter_mut().zip(&before.actors).enumerate() {
            let place = Place { slot: slot as u32, list: List::Actors, index: index as u32 };
            self.next_self(next, actor, place, thoughts);
            unchanged = unchanged && next.is_unchanged(actor);
        }
        if unchanged {
            next.actors.clear();
            thoughts.return_blank(after);
        } else {
            thoughts.cells.push((slot, after));
        }
    }

    /// Lets all think, cell by cell.
    pub(super) fn in_order(&self, mut thoughts: Vec<Thoughts<R>>) -> Vec<Thoughts<R>> {
        let one = one_of(&mut thoughts);
        (0..self.len()).for_each(|n| self.think(n, one));
        thoughts
    }

    /// Lets one actor become its next self. It stays in its list until effects have been applied.
    pub(super) fn next_self(
        &self,
        next: &mut Entity<R::Body>,
        actor: &Entity<R::Body>,
        place: Place,
        thoughts: &mut Thoughts<R>,
    ) {
        let rules = &*self.state.rules;
        if self.noted {
            let cell = self.state.grid.cell_of(actor.pos);
            thoughts.notes.get_or_insert_default().thinks(actor, cell, self.commands_of(actor.player));
        }
        self.commands_of(actor.player).for_each(|command| rules.command(&mut next.body, command));
        let mut mind = Mind::new((self.state, self.spots), (actor, place), thoughts);
        rules.think(&mut next.body, &mut mind);
        let leaving = match mind.outcome() {
            None => Some(Leaving::Gone),
            Some(to) => self.moved(actor, next, to).then_some(Leaving::Moves),
        };
        thoughts.decisions.leavings.extend(leaving.map(|leaving| (place, leaving)));
        if self.noted {
            thoughts.notes.get_or_insert_default().becomes(next);
        }
    }

    fn commands_of(&self, player: Option<PlayerId>) -> impl Iterator<Item = &'w R::Command> {
        let from = player.map_or(self.commands.len(), |p| self.commands.partition_point(|&(of, _)| of < p));
        self.commands[from..].iter().take_while(move |&&(of, _)| Some(of) == player).map(|&(_, command)| command)
    }

    /// Sets the new position, if it is lit, and tells whether the entity must change its list.
    fn moved(&self, before: &Entity<R::Body>, next: &mut Entity<R::Body>, to: Vec2) -> bool {
        let State { grid, store, .. } = self.state;
        let (from, into) = (grid.cell_of(before.pos), grid.cell_of(to));
        let crosses = from != into;
        let lit = !crosses || store.lit_slot(grid, into).is_some();
        if lit {
            next.pos = to;
        }
        crosses && lit || !next.is_actor()
    }
}

impl<R: Rules> World<R> {
    /// [`Simulation::step`](crate::simulation::Simulation::step) with the thinking done by the
    /// caller: on several threads, or in an order of its own. `think` gives back what
    /// [`Thinking::think`] filled; the result is the same however the cells were spread.
    pub fn step_with(&mut self, turn: &Turn<Self>, think: impl FnOnce(&Thinking<'_, R>) -> Vec<Thoughts<R>>) {
        self.run(turn, think, Notes::NONE);
    }

    /// One tick. Notes are taken if there is where to put them; they change nothing.
    pub(super) fn run(
        &mut self,
        turn: &Turn<Self>,
        think: impl FnOnce(&Thinking<'_, R>) -> Vec<Thoughts<R>>,
        notes: Notes<'_>,
    ) {
        self.spots.renew(&self.state.store);
        let (slots, commands) = (self.thinking_slots(), commands_by_player(turn));
        let thinking = Thinking { state: &self.state, spots: &self.spots, slots, commands, noted: notes.are_taken() };
        let mut thoughts = think(&thinking);
        self.slots = thinking.slots;
        notes.take(|notes| notes.all_have_thought(&mut thoughts));
        let halo = self.keep_halo();
        let mut all = self.gather(&mut thoughts);
        notes.take(|notes| notes.enter(Phase::Effects));
        self.apply(&mut all, notes);
        notes.take(|notes| notes.enter(Phase::Moves));
        self.relocate(&mut all, notes);
        notes.take(|notes| notes.enter(Phase::Turn));
        self.transferred.clear();
        for (n, input) in turn.inputs.iter().enumerate().filter(|(_, input)| !matches!(input, Input::Given(_))) {
            notes.take(|notes| notes.enters(n, input));
            self.enter(input, notes);
        }
        notes.take(|notes| notes.enter(Phase::Light));
        self.spread_light(notes);
        self.restore_halo(halo);
        self.take_given(turn, notes);
        self.state.tick = self.state.tick.next();
        self.requests.clear();
        all.requests.sort_by_key(|(id, _)| *id);
        self.requests.extend(all.requests.drain(..).map(|(_, request)| request));
        self.thoughts = thoughts;
        self.thoughts.truncate(1);
        let thoughts = one_of(&mut self.thoughts);
        thoughts.decisions = all;
        thoughts.trim(self.state.store.lit());
    }

    /// The slots in which something thinks.
    fn thinking_slots(&mut self) -> Vec<usize> {
        let mut slots = core::mem::take(&mut self.slots);
        slots.clear();
        slots.extend(self.spots.with_actors().filter(|&slot| self.area.thinks(self.state.store.meta[slot].id)));
        slots
    }

    /// Puts the cells' next contents in their places and brings all decisions together.
    fn gather(&mut self, thoughts: &mut [Thoughts<R>]) -> Decisions<R> {
        let mut all = Decisions::default();
        for part in thoughts {
            let mut cells = core::mem::take(&mut part.cells);
            for (slot, mut after) in cells.drain(..) {
                let before = &mut self.state.store.cells[slot];
                Cell::hand_over_props(before, &mut after);
                let before = core::mem::replace(before, after);
                self.state.store.meta[slot].touch(List::Actors);
                part.recycle(before);
            }
            part.cells = cells;
            all.absorb(&mut part.decisions);
        }
        all
    }

    /// Applies effects in (target, source, sequence) order.
    fn apply(&mut self, all: &mut Decisions<R>, notes: Notes<'_>) {
        all.effects.sort_by_key(|aimed| aimed.key);
        for Aimed { key: (target, source, n), at, effect } in all.effects.drain(..) {
            let slot = at.slot as usize;
            if !self.area.thinks(self.state.store.meta[slot].id) {
                continue;
            }
            let dice = self.state.dice(mix64(target.0 ^ mix64(source.0 ^ mix64(u64::from(n)))), notes);
            let (cell, meta) = self.state.store.write(slot);
            let entity = &mut cell.list_mut(at.list)[at.index as usize];
            // Of many props mostly one is touched. Actors are mostly hashed anyway: they move.
            let sum_before =
                (at.list == List::Props && !meta.props_stale).then(|| entity_sum(&mut self.encoder, entity));
            notes.take(|notes| notes.applies((target, source, n), &effect, entity));
            let mut cause = Cause { tick: self.state.tick, source, target, pos: entity.pos, dice };
            let fate = self.state.rules.apply(&mut entity.body, &effect, &mut cause);
            notes.take(|notes| notes.reached(entity, fate));
            match sum_before {
                Some(before) => meta.exchange_prop(before, entity_sum(&mut self.encoder, entity)),
                None => meta.touch(at.list),
            }
            let wrong_list = entity.is_actor() != (at.list == List::Actors);
            let leaving = match fate {
                Fate::Gone => Some(Leaving::Gone),
                Fate::Stay => wrong_list.then_some(Leaving::Moves),
            };
            all.leavings.extend(leaving.map(|leaving| (at, leaving)));
        }
    }

    /// Takes out what leaves its list, and puts in what arrives where there is light.
    fn relocate(&mut self, all: &mut Decisions<R>, notes: Notes<'_>) {
        // From the back, so that the places of the others hold; of two reasons to leave, being
        // gone comes first.
        all.leavings.sort_by_key(|&(place, leaving)| (core::cmp::Reverse(place), leaving));
        all.leavings.dedup_by_key(|(place, _)| *place);
        for (place, leaving) in all.leavings.drain(..) {
            let entity = self.remove(place.slot as usize, place.list, place.index as usize, notes);
            if leaving == Leaving::Moves {
                all.arrivals.push(entity);
            }
        }
        for entity in all.arrivals.drain(..) {
            let cell = self.state.grid.cell_of(entity.pos);
            if let Some(slot) = self.state.store.lit_slot(&self.state.grid, cell)
                && self.area.thinks(cell)
            {
                self.insert(slot, cell, entity, notes);
            }
        }
    }

    /// What the turn brings, beside commands.
    fn enter(&mut self, input: &Input<Self>, notes: Notes<'_>) {
        match input {
            Input::Command(..) | Input::Given(_) => {}
            Input::Join(player, join) if self.state.hero_cell(*player).is_none() => {
                let id = EntityId::hero(*player, self.state.tick);
                let body = self.state.rules.enter(*player, &join.hero, &mut self.state.dice(id.0, notes));
                self.put_in(Entity { id, pos: self.state.grid.clamp(join.at), player: Some(*player), body }, notes);
            }
            Input::Join(..) => {}
            Input::Leave(player) => {
                if let Some((cell, hero)) = self.take_hero(*player, notes) {
                    self.leave_behind(&hero, cell, notes);
                }
            }
            Input::Away(player) => self.change_hero(*player, R::away, notes),
            Input::Back(player) => self.change_hero(*player, R::back, notes),
            Input::Request(Request::Announce(fact)) => {
                self.state.rules.announce(Arc::make_mut(&mut self.state.facts), fact);
                notes.take(|notes| notes.announced(&*self.state.facts));
            }
            Input::Request(Request::Transfer { entity, from, to }) => {
                let from = self.whereabouts(*entity, *from);
                let traveller = self.take_out(from, *entity, notes);
                let went = from.filter(|_| traveller.is_some()).map(|from| (from, self.state.grid.cell_of(*to)));
                self.transferred.push(went);
                if let Some(traveller) = traveller {
                    self.put_in(Entity { pos: self.state.grid.clamp(*to), ..traveller }, notes);
                }
            }
        }
    }

    /// Puts down what a player leaves behind, whose hero was in a cell.
    fn leave_behind(&mut self, hero: &Entity<R::Body>, cell: CellId, notes: Notes<'_>) {
        let mut stays = Vec::new();
        self.state.rules.leave(&hero.body, &mut stays);
        for (n, body) in stays.into_iter().enumerate() {
            let id = EntityId::spawned(hero.id.0, self.state.tick, n as u32);
            let entity = Entity { id, pos: hero.pos, player: None, body };
            self.insert(self.slot(cell).expect("the hero was in there"), cell, entity, notes);
        }
    }

    /// Changes a player's hero, if it is known here.
    fn change_hero(&mut self, player: PlayerId, change: fn(&R, &mut R::Body), notes: Notes<'_>) {
        if let Some((cell, mut hero)) = self.take_hero(player, notes) {
            change(&self.state.rules, &mut hero.body);
            self.insert(self.slot(cell).expect("it was in there"), cell, hero, notes);
        }
    }

    /// The cell of an entity that asked for a transfer: heroes are found wherever they are.
    fn whereabouts(&self, id: EntityId, from: CellId) -> Option<CellId> {
        let holds = |cell: CellId| self.actors(cell).binary_search_by_key(&id, |e| e.id).is_ok();
        if !id.is_hero() || holds(from) {
            return Some(from);
        }
        self.state.heroes.iter().map(|&(_, cell)| cell).find(|&cell| holds(cell))
    }

    /// Takes a player's hero out of its cell, if it is known here.
    fn take_hero(&mut self, player: PlayerId, notes: Notes<'_>) -> Option<(CellId, Entity<R::Body>)> {
        let (hero, cell) = (self.hero(player)?.id, self.state.hero_cell(player)?);
        Some((cell, self.take_out(Some(cell), hero, notes)?))
    }

    fn take_out(&mut self, cell: Option<CellId>, id: EntityId, notes: Notes<'_>) -> Option<Entity<R::Body>> {
        let slot = self.slot(cell?)?;
        let (list, index) = self.state.store.cells[slot].find(id)?;
        Some(self.remove(slot, list, index, notes))
    }

    fn put_in(&mut self, entity: Entity<R::Body>, notes: Notes<'_>) {
        let cell = self.state.grid.cell_of(entity.pos);
        if self.area.is_core(cell) {
            let slot = self.slot(cell).unwrap_or_else(|| self.generate(cell, notes));
            self.insert(slot, cell, entity, notes);
        }
    }

    fn insert(&mut self, slot: usize, cell: CellId, entity: Entity<R::Body>, notes: Notes<'_>) {
        notes.take(|notes| notes.arrives(&entity, cell));
        if let Some(player) = entity.player {
            self.state.set_hero_cell(player, Some(cell));
        }
        self.state.store.insert(slot, entity);
    }

    fn remove(&mut self, slot: usize, list: List, index: usize, notes: Notes<'_>) -> Entity<R::Body> {
        let (cell, meta) = self.state.store.write(slot);
        meta.touch(list);
        let entity = cell.list_mut(list).remove(index);
        notes.take(|notes| notes.leaves(entity.id, meta.id));
        if let Some(player) = entity.player {
            self.state.set_hero_cell(player, None);
        }
        entity
    }
}

fn commands_by_player<R: Rules>(turn: &Turn<World<R>>) -> Vec<(PlayerId, &R::Command)> {
    let commands = turn.inputs.iter().filter_map(|input| match input {
        Input::Command(player, command) => Some((*player, command)),
        _ => None,
    });
    let mut commands: Vec<_> = commands.collect();
    commands.sort_by_key(|&(player, _)| player);
    commands
}
