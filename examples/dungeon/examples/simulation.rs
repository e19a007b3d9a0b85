//! The simulation and nothing else: plays the recording that comes in on stdin and verifies every checksum.
//!
//! As `wasm32-wasip1` it is two proofs. Played under node, a recording of a native peer shows that both come out alike. And since
//! all that is simulated must be in the module, and no picture, the module shows that nothing simulated computes with floats:
//!
//! ```text
//! cargo build --release -p dungeon --example simulation --target wasm32-wasip1
//! dungeon check floats target/wasm32-wasip1/release/examples/simulation.wasm
//! ```

use std::error::Error;
use std::io::Read;
use std::process::ExitCode;

use dungeon::DungeonGame;
use lockstone::default_table;
use lockstone::game::Game;
use lockstone::recording::{Header, Recording, Replay, replay};

fn main() -> ExitCode {
    match play() {
        Ok(Replay { ticks, checksums, mismatch: None, .. }) => {
            println!("in step: {ticks} ticks, {checksums} checksums");
            ExitCode::SUCCESS
        }
        Ok(Replay { mismatch: Some(mismatch), .. }) => {
            println!("differs at tick {}: recorded {}, played {}", mismatch.tick, mismatch.recorded, mismatch.played);
            ExitCode::from(1)
        }
        Err(error) => {
            eprintln!("The recording cannot be played: {error}.");
            ExitCode::from(2)
        }
    }
}

fn play() -> Result<Replay, Box<dyn Error>> {
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes)?;
    let simulation = DungeonGame::build(Header::peek(&bytes)?.seed, default_table());
    Ok(replay(Recording::read(&bytes)?, simulation)?)
}
