//! What is built beside the programs: `cargo xtask page` makes a game's page, the folder that
//! `serve` serves.
//!
//! ```text
//! cargo build (wasm32) ─► wasm-bindgen ─► game.js, viewer.js, and their .wasm ─┐
//!                            web/page ─► index.html, page.js, ... ─────────────┴─► and .br, .gz
//! ```
//!
//! It must never fetch anything: what a page consists of is in this repository, or built from it.

mod page;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

#[derive(Parser)]
enum Task {
    /// Build the page of a game, in release, compressed
    Page {
        /// The game's crate for the browser, a cdylib
        #[arg(long, default_value = "dungeon-page")]
        package: String,
        /// One of its examples instead: with the files in the folder of that name, and written
        /// into `page-NAME`
        #[arg(long, value_name = "NAME")]
        example: Option<String>,
        /// The folder to write, which is made anew [default: `page` beside the release programs]
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

fn main() -> ExitCode {
    let Task::Page { package, example, out } = Task::parse();
    match page::build(&package, example.as_deref(), out) {
        Ok(told) => {
            println!("{told}");
            ExitCode::SUCCESS
        }
        Err(sentence) => {
            eprintln!("{sentence}.");
            ExitCode::FAILURE
        }
    }
}
