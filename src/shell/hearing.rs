//! What the person at this peer hears of the world.
//!
//! It is shown each tick once, when that is final: what is predicted may be played again, and would
//! be heard twice, or would never have been. It must never hold up the game: if nothing can be
//! played, that is told once, and the game goes on in silence.

use lockstone_net::Session;
use lockstone_net::session::Phase;
use lockstone_sim::PlayerId;

use crate::game::{Ear, Game};
use crate::sound::Sound;

/// Plays sounds, or tells in a few words why it cannot. It is given none at first, to get ready.
type Speak = Box<dyn FnMut(&[Sound]) -> Result<(), String>>;

/// Hears the world for the player here.
pub(super) struct Hearing<G: Game> {
    speak: Speak,
    is_on: bool,
    /// What hears, once it was shown a tick of this world.
    ear: Option<Box<dyn Ear<G::Sim>>>,
}

impl<G: Game> Hearing<G> {
    pub fn new(speak: Speak, is_on: bool) -> Self {
        Hearing { speak, is_on, ear: None }
    }

    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// Switches it off, or on again.
    pub fn switch(&mut self) {
        self.is_on = !self.is_on;
        self.ear = None;
    }

    /// Another world begins, in which other things are where they are.
    pub fn begin(&mut self) {
        self.ear = None;
    }

    /// Plays what is heard of the newest world that is final, which is another than the last time.
    /// Returns a sentence for the person, if there is something to tell.
    pub fn work(&mut self, session: &mut impl Session<Sim = G::Sim>, player: PlayerId) -> Option<String> {
        // Who catches up would hear a minute in a second.
        if !self.is_on || session.phase() != Phase::Playing {
            self.ear = None;
            return None;
        }
        let is_new = self.ear.is_none();
        let ear = self.ear.get_or_insert_with(|| Box::new(G::ear(player)));
        let sounds = ear.hear(session.settled_world()?, player);
        if sounds.is_empty() && !is_new {
            return None;
        }
        let error = (self.speak)(&sounds).err()?;
        self.switch();
        Some(format!("You hear nothing: {error}. /sound tries again."))
    }
}
