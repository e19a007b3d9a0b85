//! A game as the shell sees it: how to build its simulation, how people and bots play it,
//! what it looks and sounds like.

use std::sync::Arc;

use lockstone_net::Identity;
use lockstone_net::relay::{Horizon, Landmark};
use lockstone_sim::{Grid, PlayerId, Rules, Simulation, Table, Vec2, World};

use crate::character::{Character, HeroOf};
use crate::inspect::Inspect;
use crate::scene::{Mark, Pointer, Scene};
use crate::sound::Sound;

/// A game that the shell can play, record, replay and check.
pub trait Game: 'static {
    /// Its simulation, usually a [`World`] of its rules.
    type Sim: Inspect + Send + 'static;

    /// What a player picks for their hero.
    const HEROES: &'static [&'static str];

    /// The game's name, in lower case, as the command line shows it.
    const NAME: &'static str;

    /// What it is, in the line with which its `--help` begins.
    const ABOUT: &'static str = "A co-op game: every peer runs the same world, equal to the bit";

    /// Its version, as `--version` tells it. The engine's, unless said otherwise.
    const VERSION: &'static str = concat!("(Lockstone ", env!("CARGO_PKG_VERSION"), ")");

    /// The keys that it knows and what they do, in a line for players: `Q drinks, K strikes`.
    const KEYS: &'static str = "";

    /// Whether heroes are kept from session to session, by [`keep`](Game::keep) and
    /// [`bring`](Game::bring).
    const KEEPS: bool = false;

    /// Fields that the checksum need not cover, as `Kind path.of.field`, each with the reason: for
    /// `check::coverage`.
    const UNCOVERED: &'static [(&'static str, &'static str)] = &[];

    /// Changes whenever the rules, their data or their measures do: peers with another
    /// digest are refused. The crate `lockstone-digest` makes one of the rules' sources, in a line
    /// of the build script, so that nobody has to remember it.
    fn rules_digest() -> u64;

    /// What all peers of a session must have in common: these rules, and this table.
    fn identity(table: &Table) -> Identity {
        Identity { rules: Self::rules_digest(), table: table.digest(), config: 0 }
    }

    /// A simulation before its first tick.
    fn build(seed: u64, table: Table) -> Self::Sim;

    /// A hero of one of the classes in [`HEROES`](Game::HEROES).
    fn hero(class: &str, name: &str) -> Option<<Self::Sim as Simulation>::Hero>;

    /// Tells the rules that a person is to play this hero, and no bot. Of no interest, unless said
    /// otherwise.
    fn led_by_person(hero: HeroOf<Self>) -> HeroOf<Self> {
        hero
    }

    /// What of a player's hero is kept, to join with another time. Nothing, unless said otherwise.
    fn keep(sim: &Self::Sim, player: PlayerId) -> Option<Character<HeroOf<Self>>> {
        let _ = (sim, player);
        None
    }

    /// A new hero that brings along what was kept of another.
    ///
    /// Whoever joins can send anything. So the rules must check what comes too, as the hero enters,
    /// the same on all peers.
    ///
    /// # Errors
    /// Why there can be no such hero, in a few words.
    fn bring(newcomer: HeroOf<Self>, kept: &HeroOf<Self>) -> Result<HeroOf<Self>, String> {
        let _ = (newcomer, kept);
        Err("this game keeps no heroes".to_owned())
    }

    /// A bot that plays a hero by commands, as a person would.
    fn bot(player: PlayerId) -> impl Bot<Self::Sim>;

    /// What a click at a place of the world means to a player.
    fn click(
        sim: &Self::Sim,
        player: PlayerId,
        at: Vec2,
        pointer: Pointer,
    ) -> Option<<Self::Sim as Simulation>::Command>;

    /// What a typed command or a pressed key means to a player.
    ///
    /// # Errors
    /// One sentence that tells what can be typed.
    fn typed(sim: &Self::Sim, player: PlayerId, text: &str) -> Result<<Self::Sim as Simulation>::Command, String>;

    /// What a player sees. Read-only: nothing of it may find its way back into the world.
    fn scene(sim: &Self::Sim, player: PlayerId) -> Scene;

    /// Hears the world for a player. Nothing, unless said otherwise.
    fn ear(player: PlayerId) -> impl Ear<Self::Sim> {
        let _ = player;
        Deaf
    }

    /// What a player's hero wears and carries, with what each thing does, in lines: I, or
    /// `/inventory`, shows it in place of the scene's notes. None, unless said otherwise.
    fn inventory(sim: &Self::Sim, player: PlayerId) -> Option<Vec<String>> {
        let _ = (sim, player);
        None
    }

    /// What it means to drag one line of the inventory onto another, or onto the world. Nothing,
    /// unless said otherwise.
    fn drag(
        sim: &Self::Sim,
        player: PlayerId,
        from: &str,
        to: Option<&str>,
    ) -> Option<<Self::Sim as Simulation>::Command> {
        let _ = (sim, player, from, to);
        None
    }

    /// How a landmark is shown that is told from beyond the part of the world that is simulated.
    /// Not at all, unless said otherwise.
    fn landmark(sim: &Self::Sim, landmark: &Landmark) -> Option<Mark> {
        let _ = (sim, landmark);
        None
    }
}

/// Plays a hero.
pub trait Bot<S: Simulation> {
    /// Looks at the world after a tick, and may give a command.
    fn decide(&mut self, sim: &S, player: PlayerId) -> Option<S::Command>;
}

/// Hears the world for a player. It reads, and remembers what it heard: nothing of it may find its
/// way back into the world.
pub trait Ear<S: Simulation> {
    /// What is heard, now that the world has come to another tick. It is shown the confirmed world
    /// alone: each tick once, in order, none that is corrected later. Ticks may be left out, as
    /// when several are caught up with at once.
    fn hear(&mut self, sim: &S, player: PlayerId) -> Vec<Sound>;
}

/// Hears nothing.
struct Deaf;

impl<S: Simulation> Ear<S> for Deaf {
    fn hear(&mut self, _: &S, _: PlayerId) -> Vec<Sound> {
        Vec::new()
    }
}

/// A game that can lay out a world for any number of players.
pub trait Wide: Game<Sim = World<<Self as Wide>::Rules>> {
    /// The rules of its worlds.
    type Rules: Rules;

    /// The rules of such a world, with its ground. Made once and shared: a replica beside the
    /// relay in one process needs no ground of its own. [`Rules::entrance`] puts each player where
    /// the layout says.
    ///
    /// # Errors
    /// If the game has no such world.
    fn lay_out(layout: &Layout, seed: u64, table: &Table) -> Result<Arc<Self::Rules>, LayoutError>;

    /// The measures of the world of these rules.
    fn grid(rules: &Self::Rules) -> Grid;

    /// What players see from afar in such a world, where it is relayed. Nothing, unless said
    /// otherwise.
    fn horizon() -> Box<dyn Horizon<Self::Rules>> {
        Box::new(())
    }

    /// A world of these rules before its first tick.
    fn world(rules: &Arc<Self::Rules>, seed: u64, table: &Table) -> Self::Sim {
        World::new(Arc::clone(rules), Self::grid(rules), table.clone(), seed)
    }
}

/// How large a world is, and where its players begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Its width and height in tiles. A game may round it up to whole cells.
    pub side_tiles: u32,
    /// How many players it is laid out for; players beyond begin with the first ones.
    pub players: u16,
    /// Where they begin.
    pub spread: Spread,
}

/// Where players begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Each alone, evenly over the world.
    Uniform,
    /// In parties of four, each together within a few tiles, evenly over the world.
    Parties,
    /// Each alone on one open field, near enough to the others that torchlight covers it as one
    /// region. What else is on it the game says.
    Hotspot,
}

/// Why a game has no world of a [`Layout`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// Too small, or too large.
    #[error("a world of {side_tiles} x {side_tiles} tiles cannot be laid out so: a side has {least} to {most}")]
    Side {
        /// The asked side.
        side_tiles: u32,
        /// The shortest side.
        least: u32,
        /// The longest side.
        most: u32,
    },
}

/// A player has so many square tiles: 100 players on 1,000 x 1,000.
const SQUARE_TILES_A_PLAYER: u32 = 10_000;
/// A hotspot is so wide and high, however many players it has.
const HOTSPOT_TILES: u32 = 256;

impl Layout {
    /// So many players: 100 on 1,000 x 1,000 tiles, or all on a hotspot of 256 x 256.
    pub fn of(spread: Spread, players: u16) -> Layout {
        let area = u32::from(players) * SQUARE_TILES_A_PLAYER;
        let root = area.isqrt();
        let side_tiles = match spread {
            Spread::Uniform | Spread::Parties => root + u32::from(root * root < area),
            Spread::Hotspot => HOTSPOT_TILES,
        };
        Layout { side_tiles, players, spread }
    }
}

impl Spread {
    /// What it is called on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Spread::Uniform => "uniform",
            Spread::Parties => "parties",
            Spread::Hotspot => "hotspot",
        }
    }

    /// How many players begin together: 4 in parties, else 1. Player `n` is one of
    /// party `n / party()`.
    pub const fn party(self) -> u16 {
        match self {
            Spread::Parties => 4,
            Spread::Uniform | Spread::Hotspot => 1,
        }
    }
}
