//! A bot at the side of whoever plays alone: a peer of its own in the same page, over a network
//! within it. It must never show, record or keep anything.

use std::time::Duration;

use lockstone::default_table;
use lockstone::game::Game;
use lockstone::net::memory::{MemoryNetwork, Weather};
use lockstone::net::{Party, PartyConfig, PlayerKey};
use lockstone::shell::{Display, Labels, Memory, Next, Options, Recorder, Screen, Shell};

use crate::entry::Entry;
use crate::gate::{Played, Playing, build, clocks, of_name};

const NAME: &str = "Companion";
/// Of a packet from one to the other.
const DELAY: Duration = Duration::from_millis(1);

/// The network that both are in. Who enters first founds the session.
pub(crate) fn network(entry: &Entry) -> MemoryNetwork {
    MemoryNetwork::new(entry.seed.into(), Weather::clear(DELAY))
}

/// Who plays, and a bot beside them.
pub(crate) fn beside<G: Game>(
    own: Box<dyn Playing>,
    entry: &Entry,
    config: PartyConfig,
    network: MemoryNetwork,
) -> Result<Box<dyn Playing>, String> {
    let identity = G::identity(&default_table());
    let terms = config.terms(identity);
    let class = G::HEROES.get(1).or(G::HEROES.first()).copied().unwrap_or_default();
    let hero =
        G::hero(class, NAME).ok_or_else(|| format!("There is no hero {class:?} for a bot: play without one."))?;
    let party = Party::new(config, identity, NAME, hero, build::<G>).map_err(of_name)?;
    // Who goes on with a recording has the same one at their side.
    let party = party.with_key(PlayerKey::of_secret(&format!("companion of {}", entry.identity)));
    let labels = Labels { game: G::NAME, terms, name: NAME.to_owned(), room: String::new() };
    let recorder = Recorder::new(labels.clone(), Memory::default(), None).map_err(|error| error.to_string())?;
    let display = Display::new(Screen::None { lines: false }, &labels, None);
    let options = Options { bot: true, clocks: clocks(), ..Options::default() };
    let shell = Shell::<G, _, _>::new(party, network.enter(), recorder, display, options);
    Ok(Box::new(Accompanied { own, companion: Some(Box::new(Played::new(shell, terms.kind))), network }))
}

struct Accompanied {
    own: Box<dyn Playing>,
    /// As long as it is there.
    companion: Option<Box<dyn Playing>>,
    network: MemoryNetwork,
}

impl Playing for Accompanied {
    fn step(&mut self, is_hidden: bool, now: Duration) -> Next {
        self.network.advance(now);
        let Next::At(mut next) = self.own.step(is_hidden, now) else { return Next::Over };
        if let Some(companion) = &mut self.companion {
            // It leads as little as a page can that nobody sees.
            match companion.step(true, now) {
                Next::At(at) => next = next.min(at),
                Next::Over => self.companion = None,
            }
        }
        Next::At(self.network.next_arrival().map_or(next, |at| next.min(at)))
    }

    fn keep(&mut self) {
        self.own.keep();
    }

    fn leave(&mut self, now: Duration) {
        self.own.leave(now);
    }

    fn ending(&mut self) -> String {
        self.own.ending()
    }
}
