//! A game with a fault of your choice, to see what the desync checker finds.
//!
//! ```text
//! cargo run -p lockstone --example faulty -- check chaos                   a sound game
//! FAULT=unsaved cargo run -p lockstone --example faulty -- check chaos     a field is not saved
//! FAULT=help cargo run -p lockstone --example faulty                       all faults
//! GAME=meadow ...                                                          another, with a relay
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

use lockstone::cli;
use testkit::{faulty, pasture};

fn main() -> ExitCode {
    let ran = match std::env::var("GAME") {
        Ok(game) if game == "meadow" => pasture::Meadow::wrong().map(|_| cli::run_wide::<pasture::Meadow>()),
        Ok(game) if game != "faulty" => Err(format!("GAME is one of faulty, meadow; it is {game:?}")),
        _ => faulty::Faulty::fault().map(|_| cli::run::<faulty::Faulty>()),
    };
    ran.unwrap_or_else(|objection| {
        eprintln!("{objection}.");
        ExitCode::from(2)
    })
}
