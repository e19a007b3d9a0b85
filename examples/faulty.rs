//! A game with a fault of your choice, to see what the desync checker finds.
//!
//! ```text
//! cargo run -p lockstone --example faulty -- check chaos                   a sound game
//! FAULT=unsaved cargo run -p lockstone --example faulty -- check chaos     a field is not saved
//! FAULT=help cargo run -p lockstone --example faulty                       all faults
//! GAME=meadow ...                                                          another game
//! ```
//!
//! Each breaker of `check chaos` catches the fault that it is there for; what plays in a release
//! build or as wasm needs these first:
//!
//! ```text
//! cargo build --release --example faulty
//! cargo build --release --example faulty --target wasm32-wasip1
//! ```
//!
//! It has the whole command line that every game gets. The rules are in `testkit/src/faulty`, and
//! those of the other game in `testkit/src/pasture`.

use std::process::ExitCode;

use lockstone::game::Game;
use testkit::{faulty, pasture};

fn main() -> ExitCode {
    match std::env::var("GAME") {
        Ok(game) if game == "meadow" => run::<pasture::Meadow>(pasture::Meadow::wrong().err()),
        Ok(game) if game != "faulty" => run::<faulty::Faulty>(Some("GAME is one of faulty, meadow".to_owned())),
        _ => run::<faulty::Faulty>(faulty::Faulty::fault().err()),
    }
}

fn run<G: Game>(objection: Option<String>) -> ExitCode {
    let Some(objection) = objection else { return lockstone::cli::run::<G>() };
    eprintln!("{objection}.");
    ExitCode::from(2)
}
