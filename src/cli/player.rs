//! The player of this peer, as the command line describes it.

use lockstone_sim::Table;

use super::args::RandomTable;
use super::failure::Failure;
use super::kept::Kept;
use super::table;
use crate::character::HeroOf;
use crate::game::Game;

/// A player with a hero, and the table that their world draws from.
pub(super) struct Player<G: Game> {
    pub name: String,
    pub hero: HeroOf<G>,
    pub table: Table,
    /// Where the hero is kept.
    pub kept: Kept<G>,
}

impl<G: Game> Player<G> {
    /// Where nothing is said: the system's name for the person, the first hero there is, the table
    /// that is built in.
    pub fn new(name: Option<&str>, class: Option<&str>, table: &RandomTable) -> Result<Self, Failure> {
        Player::of(name, Kept::nothing(class), table)
    }

    /// The same, with what was kept.
    pub fn of(name: Option<&str>, kept: Kept<G>, table: &RandomTable) -> Result<Self, Failure> {
        let class = kept.class.as_deref().or(G::HEROES.first().copied()).unwrap_or_default();
        let name = name.map_or_else(default_name, str::to_owned);
        let hero = G::hero(class, &name).ok_or_else(|| {
            Failure::new(format!("there is no hero {class:?}: choose --hero {}", G::HEROES.join(", --hero ")))
        })?;
        let hero = match &kept.brought {
            Some(brought) => G::bring(hero, &brought.hero).map_err(Failure::new)?,
            None => hero,
        };
        Ok(Player { name, hero, table: table::load(table)?, kept })
    }

    /// A person plays the hero, unless a `bot` does.
    #[must_use]
    pub fn led(mut self, bot: bool) -> Self {
        if !bot {
            self.hero = G::led_by_person(self.hero);
        }
        self
    }

    /// What makes the world of a seed: with `faulty` another one.
    pub fn build(&self, faulty: bool) -> impl Fn(u64) -> G::Sim + Clone + use<G> {
        let table = self.table.clone();
        move |seed| G::build(if faulty { !seed } else { seed }, table.clone())
    }
}

fn default_name() -> String {
    let of_system = ["USER", "USERNAME"].iter().find_map(|name| std::env::var(name).ok());
    of_system.filter(|name| !name.is_empty()).unwrap_or_else(|| "Hero".to_owned())
}
