//! One entity's thought: what it can see, and what it decides.
//!
//! The start of the tick is shown read-only and only within the entity's reach; what is decided is
//! collected and takes effect after all have thought. Reach and stride are enforced here, not by
//! trust in the rules.

use alloc::format;
use core::panic::Location;

use crate::dice::Dice;
use crate::entity::Entity;
use crate::fx::Fx;
use crate::ids::{EntityId, Tick};
use crate::journal::{Event, Notes};
use crate::near::{Ground, Near, Place, Seen, Spots, Wanted};
use crate::rules::Rules;
use crate::thoughts::{Aimed, Decisions, Thoughts};
use crate::vec2::Vec2;
use crate::world::{Request, State};

/// What an actor sees and decides in one tick. See [`Rules::think`].
pub struct Mind<'w, R: Rules> {
    state: &'w State<R>,
    spots: &'w Spots,
    me: &'w Entity<R::Body>,
    at: Place,
    out: &'w mut Decisions<R>,
    /// See [`Rules::Scratch`].
    pub scratch: &'w mut R::Scratch,
    notes: Notes<'w>,
    dice: Option<Dice<'w>>,
    to: Vec2,
    stays: bool,
    effects: u32,
    spawns: u32,
}

impl<'w, R: Rules> Mind<'w, R> {
    pub(crate) fn new(
        (state, spots): (&'w State<R>, &'w Spots),
        (me, at): (&'w Entity<R::Body>, Place),
        thoughts: &'w mut Thoughts<R>,
    ) -> Mind<'w, R> {
        let Thoughts { decisions: out, scratch, notes, .. } = thoughts;
        let (notes, to) = (Notes::of(notes.as_deref()), me.pos);
        Mind { state, spots, me, at, out, scratch, notes, dice: None, to, stays: true, effects: 0, spawns: 0 }
    }

    /// Where the entity ends up, or `None` if it vanishes.
    pub(crate) fn outcome(&self) -> Option<Vec2> {
        self.stays.then_some(self.to)
    }

    /// The tick that is simulated.
    pub fn tick(&self) -> Tick {
        self.state.tick
    }

    /// What everyone knows.
    pub fn facts(&self) -> &'w R::Facts {
        &self.state.facts
    }

    /// The entity itself at the start of the tick.
    pub fn me(&self) -> &'w Entity<R::Body> {
        self.me
    }

    /// Where the entity is at the start of the tick.
    pub fn pos(&self) -> Vec2 {
        self.me.pos
    }

    /// The draws of this entity in this tick: one cursor, which starts anew in every tick.
    pub fn dice(&mut self) -> &mut Dice<'w> {
        self.dice.get_or_insert_with(|| self.state.dice(self.me.id.0, self.notes))
    }

    /// The other actors at most `radius` away (the reach at most; none for a negative radius), cell
    /// by cell in row-major order, by id in each.
    pub fn actors(&self, radius: Fx) -> Near<'w, R::Body> {
        self.near(Wanted::Actors, radius)
    }

    /// The other heroes at most `radius` away, in the order of [`actors`](Mind::actors). Cheaper
    /// than to pick them from all actors.
    pub fn heroes(&self, radius: Fx) -> Near<'w, R::Body> {
        self.near(Wanted::Heroes, radius)
    }

    /// The props at most `radius` away, in the order of [`actors`](Mind::actors).
    pub fn props(&self, radius: Fx) -> Near<'w, R::Body> {
        self.near(Wanted::Props, radius)
    }

    /// The entity with this id, if it is within reach.
    pub fn find(&self, id: EntityId) -> Option<Seen<'w, R::Body>> {
        let (state, reach) = (self.state, self.reach());
        let center = self.me.pos;
        state.store.slots(&state.grid, state.grid.cells_around(center, reach)).find_map(|(_, slot)| {
            // Most cells hold no hero, and most who are looked for are heroes.
            let slot = slot.filter(|&slot| self.spots.may_hold(slot, id))?;
            let (list, index) = state.store.cells[slot].find(id)?;
            let entity = &state.store.cells[slot].list(list)[index];
            let at = Place { slot: slot as u32, list, index: index as u32 };
            entity.pos.within(center, reach).then(|| Seen::new(entity, at, center))
        })
    }

    /// Moves to a place, or as far towards it as the stride allows. The last call counts. Whether
    /// the place is free is the rules' business; that it is in a lit cell is the engine's: into the
    /// dark nobody moves.
    #[track_caller]
    #[inline(always)]
    pub fn walk(&mut self, to: Vec2) {
        self.note(|| Event::Walks { to });
        let step = (to - self.me.pos).clamp_length(self.state.grid.config().stride);
        self.to = self.state.grid.clamp(self.me.pos + step);
    }

    /// Where the entity will be, if the way is lit.
    pub fn heading(&self) -> Vec2 {
        self.to
    }

    /// Sends an effect to an entity, which was seen and so is within reach.
    #[track_caller]
    pub fn affect(&mut self, target: Seen<'_, R::Body>, effect: R::Effect) {
        let key = (target.id, self.me.id, self.effects);
        self.effects += 1;
        self.out.effects.push(Aimed { key, at: target.at, effect });
        self.note(|| {
            let effect = self.out.effects.last().map(|sent| format!("{:?}", sent.effect));
            Event::Affects { target: key.0, n: key.2, effect: effect.unwrap_or_default() }
        });
    }

    /// Makes a new entity. Beyond reach, or in the dark, nothing comes of it; an id is given
    /// out all the same.
    #[track_caller]
    pub fn spawn(&mut self, pos: Vec2, body: R::Body) -> EntityId {
        let id = EntityId::spawned(self.me.id.0, self.state.tick, self.spawns);
        self.spawns += 1;
        self.note(|| Event::Spawns { id, pos });
        if pos.within(self.me.pos, self.reach()) && self.state.grid.clamp(pos) == pos {
            self.out.arrivals.push(Entity { id, pos, player: None, body });
        }
        id
    }

    /// Leaves the world at the end of the tick.
    #[track_caller]
    pub fn vanish(&mut self) {
        self.note(|| Event::Vanishes);
        self.stays = false;
    }

    /// Asks for an announcement to everyone, some ticks ahead. Ask once: it is not known when
    /// it will be made.
    #[track_caller]
    pub fn announce(&mut self, fact: R::Fact) {
        self.request(Request::Announce(fact));
    }

    /// Asks to be moved anywhere, some ticks ahead. Ask once, and stay in this cell
    /// until it happens.
    #[track_caller]
    pub fn transfer(&mut self, to: Vec2) {
        let from = self.state.grid.cell_of(self.me.pos);
        self.request(Request::Transfer { entity: self.me.id, from, to: self.state.grid.clamp(to) });
    }

    #[track_caller]
    fn request(&mut self, request: Request<R::Fact>) {
        self.note(|| Event::Requests { request: format!("{request:?}") });
        self.out.requests.push((self.me.id, request));
    }

    #[inline]
    #[track_caller]
    fn note(&self, event: impl FnOnce() -> Event) {
        let site = Location::caller();
        self.notes.take(|notes| notes.decided(site, event()));
    }

    fn reach(&self) -> Fx {
        self.state.grid.config().reach
    }

    #[inline]
    fn near(&self, wanted: Wanted, radius: Fx) -> Near<'w, R::Body> {
        let ground = Ground { grid: &self.state.grid, store: &self.state.store, spots: self.spots };
        Near::new(ground, wanted, self.me.pos, radius.min(self.reach()), self.at)
    }
}
