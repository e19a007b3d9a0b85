//! The own hero, kept for another session: now and then, and at the end.
//!
//! Only what is final is kept. It must never take the place of another hero, or of one that has
//! come farther: who comes back to a session that was left long ago finds an older self there.

use lockstone_net::Session;
use lockstone_sim::{PlayerId, Tick};

use crate::character::{Character, HeroOf};
use crate::game::Game;

/// Ticks from one time that it is kept to the next.
const PERIOD_TICKS: u32 = 100;

/// Keeps a text in place of the one before, or tells why not.
pub type Keep = Box<dyn FnMut(&str) -> Result<(), String>>;

/// Where the own hero is kept, and what of it is kept there.
pub(super) struct Keeping {
    keep: Keep,
    /// Of which class the kept one is.
    class: String,
    /// How far the kept one has come.
    progress: u64,
    kept: String,
    due: Tick,
    /// Whether the hero of this session is the one that is kept.
    is_own: Option<bool>,
    /// Whether it was told that it cannot be kept.
    failed: bool,
}

impl Keeping {
    pub fn new(keep: Keep, class: &str, progress: u64) -> Self {
        let class = class.to_owned();
        Keeping { keep, class, progress, kept: String::new(), due: Tick(0), is_own: None, failed: false }
    }

    /// Keeps it if it is time, or if this is the `last` time. Returns a sentence for the person, if
    /// there is something to tell.
    pub fn work<G: Game>(
        &mut self,
        session: &mut impl Session<Sim = G::Sim>,
        player: PlayerId,
        last: bool,
    ) -> Option<String> {
        let settled = session.settled();
        if settled < self.due && !last {
            return None;
        }
        let character = G::keep(session.settled_world()?, player)?;
        self.due = Tick(settled.0.saturating_add(PERIOD_TICKS));
        self.write::<G>(&character)
    }

    fn write<G: Game>(&mut self, character: &Character<HeroOf<G>>) -> Option<String> {
        let (title, is_other) = (&character.title, character.class != self.class);
        let is_own = *self.is_own.get_or_insert(!is_other && character.progress >= self.progress);
        if !is_own {
            let why = if is_other { "not the one that is kept" } else { "has come less far than the one that is kept" };
            // Told once.
            return (!std::mem::replace(&mut self.failed, true))
                .then(|| format!("Your hero here is a {title}, and {why}: that stays as it is."));
        }
        let text = character.text::<G>();
        if character.progress < self.progress || text == self.kept {
            return None;
        }
        match (self.keep)(&text) {
            Ok(()) => {
                (self.progress, self.kept, self.failed) = (character.progress, text, false);
                None
            }
            Err(error) if !self.failed => {
                self.failed = true;
                Some(format!("Your hero is not kept: {error}."))
            }
            Err(_) => None,
        }
    }
}
