//! A dungeon bot for a machine without a display. It joins a room and plays until the
//! session is over.
//!
//! ```sh
//! cargo run --release -- play --room hall      # you, who serve signaling too
//! cargo run --release -p headless -- hall      # the bot
//! ```
//!
//! It compiles the least that a game over WebRTC needs: no window, no terminal, no server.

use std::env;
use std::error::Error;
use std::sync::atomic::AtomicBool;

use dungeon::DungeonGame;
use lockstone::default_table;
use lockstone::game::Game;
use lockstone::net::matchbox::{Config, MatchboxLink};
use lockstone::net::{Party, PartyConfig};
use lockstone::shell::{Display, Files, Labels, Options, Recorder, Screen, Shell};

const NAME: &str = "Headless";
/// Where `dungeon play` serves signaling.
const SIGNALING: &str = "ws://127.0.0.1:3536";

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = env::args().skip(1);
    let room = words.next().ok_or("name the room to join, and where its signaling server is if that is elsewhere")?;
    let url = words.next().unwrap_or_else(|| SIGNALING.to_owned());

    let config = PartyConfig::default();
    let identity = DungeonGame::identity(&default_table());
    let build = |seed| DungeonGame::build(seed, default_table());
    let hero = DungeonGame::hero(DungeonGame::HEROES[0], NAME).ok_or("the dungeon does not know its own heroes")?;
    let party = Party::new(config.clone(), identity, NAME, hero, build)?;
    let link = MatchboxLink::open(Config { url, room: room.clone(), ..Config::default() });

    let labels = Labels { game: DungeonGame::NAME, terms: config.terms(identity), name: NAME.to_owned(), room };
    let display = Display::new(Screen::None { lines: true }, &labels, None);
    let options = Options { bot: true, ..Options::default() };
    let recorder = Recorder::new(labels, Files, None)?.beside();
    let mut shell = Shell::<DungeonGame, _, _>::new(party, link, recorder, display, options).with_rerun(build);
    let (reason, report) = shell.run(&AtomicBool::new(false));
    println!(
        "{} ticks played, {} checksums compared, {} differed: {reason}.",
        report.ticks, report.checksums_compared, report.desyncs
    );
    Ok(())
}
