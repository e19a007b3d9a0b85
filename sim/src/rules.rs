//! The game's side of a world: what entities are, how they think, what effects do.

use alloc::vec::Vec;
use core::fmt::Debug;

use crate::dice::Dice;
use crate::entity::Body;
use crate::grid::CellId;
use crate::ids::{EntityId, PlayerId, Tick};
use crate::mind::Mind;
use crate::simulation::Message;
use crate::vec2::Vec2;

/// The rules of a game, written by the engine's user.
///
/// Every method must depend on its arguments and on what is fixed for the session (a map made from
/// the seed, tables of monsters) alone: no clock, no global, no interior mutability. The engine
/// calls [`think`](Rules::think) in any order, and in parallel if asked to.
pub trait Rules: Sized + Send + Sync + 'static {
    /// The game's part of an entity.
    type Body: Body;
    /// What an entity does to another: damage, healing, an item handed over.
    type Effect: Clone + Debug + Send + Sync + 'static;
    /// A player's state change.
    type Command: Message;
    /// What a player brings along to join.
    type Hero: Message;
    /// What everyone knows, wherever they are; changed by announcements alone.
    type Facts: Message + Default;
    /// An announcement.
    type Fact: Message;
    /// Working memory for [`think`](Rules::think), such as a path finder's. It must carry
    /// nothing from one thought to the next that changes a result: there is one for each
    /// thread that thinks.
    type Scratch: Default + Send;

    /// For how long the hero of a player who is lost stays in the world, in ticks: 0 for not at
    /// all.
    const AWAY_TICKS: u32 = 0;

    /// What a cell holds before anyone has been there; nothing, unless said otherwise. The places
    /// must lie in the cell; others are left out.
    fn generate(&self, cell: CellId, dice: &mut Dice, content: &mut Vec<(Vec2, Self::Body)>) {
        let _ = (cell, dice, content);
    }

    /// Where a player's hero enters the world.
    fn entrance(&self, player: PlayerId, hero: &Self::Hero, facts: &Self::Facts) -> Vec2;

    /// The body of a hero that enters.
    fn enter(&self, player: PlayerId, hero: &Self::Hero, dice: &mut Dice) -> Self::Body;

    /// A player's command reaches the hero, who holds it until the next one. Called just before the
    /// hero thinks; others see what it changed from the next tick on.
    fn command(&self, hero: &mut Self::Body, command: &Self::Command);

    /// The player is lost and may come back: the hero becomes what it is meanwhile. It goes on as
    /// it was, unless said otherwise; nobody commands it.
    fn away(&self, hero: &mut Self::Body) {
        let _ = hero;
    }

    /// The player is back.
    fn back(&self, hero: &mut Self::Body) {
        let _ = hero;
    }

    /// The player leaves, or does not come back, and takes the hero along: what stays where that
    /// stood. Nothing does, unless said otherwise.
    fn leave(&self, hero: &Self::Body, stays: &mut Vec<Self::Body>) {
        let _ = (hero, stays);
    }

    /// An actor in a lit cell decides: `me` is its own next self, to be changed; [`Mind`] shows the
    /// start of the tick and takes everything else that is decided.
    fn think(&self, me: &mut Self::Body, mind: &mut Mind<'_, Self>);

    /// An effect reaches its target, after all have thought. Nothing comes of it,
    /// unless said otherwise.
    fn apply(&self, target: &mut Self::Body, effect: &Self::Effect, cause: &mut Cause) -> Fate {
        let _ = (target, effect, cause);
        Fate::Stay
    }

    /// An announcement reaches everyone. Nothing comes of it, unless said otherwise.
    fn announce(&self, facts: &mut Self::Facts, fact: &Self::Fact) {
        let _ = (facts, fact);
    }
}

/// Whether the target of an effect stays in the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It stays.
    Stay,
    /// It is gone at the end of the tick.
    Gone,
}

/// Where an effect comes from and what it meets.
pub struct Cause<'j> {
    /// The tick that is simulated.
    pub tick: Tick,
    /// The entity that decided on the effect.
    pub source: EntityId,
    /// Whom it reaches.
    pub target: EntityId,
    /// Where the target is.
    pub pos: Vec2,
    /// Draws of this effect alone.
    pub dice: Dice<'j>,
}
