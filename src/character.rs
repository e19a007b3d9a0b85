//! A hero that is kept from session to session, as a few lines of text: for a file, or for what a
//! browser keeps.
//!
//! ```text
//! Game::keep ─► Character ─► text ─► the next session: Game::bring ─► the hero that joins
//! ```
//!
//! A text may have been damaged, or written by another version of the game, or by hand: whatever
//! it says, reading it gives a character or tells why not. It must never be more than the rules
//! can have made. That the game's [`bring`](Game::bring) sees to here, and its rules on all peers.

use std::fmt::Write;

use lockstone_net::hex;
use lockstone_net::limits::HERO_BYTES_MAX;
use lockstone_sim::Simulation;
use lockstone_sim::codec::{compact, fields, read};
use lockstone_sim::simulation::Message;
use xxhash_rust::xxh3::xxh3_64;

use crate::game::Game;

/// What a hero of a game is described by as it joins.
pub type HeroOf<G> = <<G as Game>::Sim as Simulation>::Hero;

/// The longest text of a character.
pub const CHARACTER_BYTES_MAX: usize = 16 * 1_024;

/// The first line.
const TITLE: &str = "Lockstone character 1";

/// A hero as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Character<H> {
    /// What it joins with.
    pub hero: H,
    /// Which of the game's [`HEROES`](Game::HEROES) it is.
    pub class: String,
    /// What it is in a few words, for a person to know it again: `mage of level 5`.
    pub title: String,
    /// How far it has come. It never goes back in play: so what is kept is never replaced by less.
    pub progress: u64,
}

/// Why a text is no character to play on with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CharacterError {
    /// It is something else.
    #[error("it is no character of this game")]
    Other,
    /// It is not what was written.
    #[error("it is damaged")]
    Damaged,
    /// A hero was another thing then.
    #[error("it was kept by another version of the game")]
    Version,
    /// The rules say so.
    #[error("it is none that can be: {0}")]
    Impossible(String),
}

impl<H: Message> Character<H> {
    /// As it is kept, with a checksum of all of it.
    pub fn text<G: Game>(&self) -> String {
        let mut text = format!("{TITLE}\n{}\n{}\n{}\n{}\n", G::NAME, self.class, self.title, self.progress);
        let hero = hex::encode(&compact(&self.hero));
        // Nobody but the memory fails here.
        let _ = writeln!(text, "{:016x}\n{hero}", shape(&self.hero));
        let _ = writeln!(text, "{:016x}", xxh3_64(text.as_bytes()));
        text
    }

    /// Reads what [`text`](Character::text) wrote. Whether there can be such a hero, only
    /// [`Game::bring`] says.
    ///
    /// # Errors
    /// [`CharacterError`], if it is none of this version of this game.
    pub fn read<G: Game>(text: &[u8]) -> Result<Character<H>, CharacterError> {
        let text = std::str::from_utf8(text).ok().filter(|text| text.len() <= CHARACTER_BYTES_MAX);
        let mut lines = text.ok_or(CharacterError::Other)?.lines();
        if (lines.next(), lines.next()) != (Some(TITLE), Some(G::NAME)) {
            return Err(CharacterError::Other);
        }
        let [class, title, progress, shape_then, hero, check] = core::array::from_fn(|_| lines.next().unwrap_or(""));
        let of = |digits: &str| u64::from_str_radix(digits, 16).map_err(|_| CharacterError::Damaged);
        let before = text.and_then(|text| text.trim_end().strip_suffix(check)).unwrap_or("");
        if lines.next().is_some() || of(check)? != xxh3_64(before.as_bytes()) {
            return Err(CharacterError::Damaged);
        }
        let bytes = hex::decode(hero).ok_or(CharacterError::Damaged)?;
        let hero: H = read(&bytes, HERO_BYTES_MAX).map_err(|_| CharacterError::Version)?;
        if of(shape_then)? != shape(&hero) {
            return Err(CharacterError::Version);
        }
        let progress = progress.parse().map_err(|_| CharacterError::Damaged)?;
        Ok(Character { hero, class: class.to_owned(), title: title.to_owned(), progress })
    }
}

/// Reads a text, and sees whether there can be such a hero in this version of the game.
///
/// # Errors
/// [`CharacterError`], if there is none to play on with.
pub fn character_of<G: Game>(text: &[u8]) -> Result<Character<HeroOf<G>>, CharacterError> {
    let character = Character::read::<G>(text)?;
    let newcomer = G::hero(&character.class, "").ok_or(CharacterError::Version)?;
    G::bring(newcomer, &character.hero).map_err(CharacterError::Impossible)?;
    Ok(character)
}

/// The names of a hero's fields and what they are, in order, as one number: other versions of a
/// game have others.
fn shape<H: Message>(hero: &H) -> u64 {
    let names = fields(hero).into_iter().map(|field| format!("{} {:?}\n", field.path, field.kind));
    xxh3_64(names.collect::<String>().as_bytes())
}
