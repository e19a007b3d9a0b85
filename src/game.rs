//! A game as the shell sees it: how to build its simulation, how people and bots play it, what it looks like.

use lockstone_sim::{PlayerId, Simulation, Table, Vec2};

use crate::check::Inspect;
use crate::scene::{Pointer, Scene};

/// A game that the shell can play, record, replay and check.
pub trait Game: 'static {
    /// Its simulation, usually a [`World`](lockstone_sim::World) of its rules.
    type Sim: Inspect + 'static;

    /// What a player picks for their hero.
    const HEROES: &'static [&'static str];

    /// The game's name, in lower case, as the command line shows it.
    const NAME: &'static str;

    /// Fields that the checksum need not cover, as `Kind path.of.field`, each with the reason: for
    /// [`check::coverage`](crate::check::coverage()).
    const UNCOVERED: &'static [(&'static str, &'static str)] = &[];

    /// Changes whenever the rules, their data or their measures do: peers with another digest are refused.
    fn rules_digest() -> u64;

    /// A simulation before its first tick.
    fn build(seed: u64, table: Table) -> Self::Sim;

    /// A hero of one of the classes in [`HEROES`](Game::HEROES).
    fn hero(class: &str, name: &str) -> Option<<Self::Sim as Simulation>::Hero>;

    /// A bot that plays a hero by commands, as a person would.
    fn bot(player: PlayerId) -> impl Bot<Self::Sim>;

    /// What a click at a place of the world means to a player.
    fn click(
        sim: &Self::Sim,
        player: PlayerId,
        at: Vec2,
        pointer: Pointer,
    ) -> Option<<Self::Sim as Simulation>::Command>;

    /// What a typed line or a pressed key means to a player.
    ///
    /// # Errors
    /// One sentence that tells what can be typed.
    fn typed(sim: &Self::Sim, player: PlayerId, text: &str) -> Result<<Self::Sim as Simulation>::Command, String>;

    /// What a player sees. Read-only: nothing of it may find its way back into the world.
    fn scene(sim: &Self::Sim, player: PlayerId) -> Scene;
}

/// Plays a hero.
pub trait Bot<S: Simulation> {
    /// Looks at the world after a tick, and may give a command.
    fn decide(&mut self, sim: &S, player: PlayerId) -> Option<S::Command>;
}
