//! Prints what must come out the same on every machine and in every build: one line a run,
//! name and digest.
//!
//! `cargo run --release -p dungeon --example golden` shows it; `tests/golden.txt` keeps it. After
//! an intended change of the rules or the engine, write the output there and say so in the change
//! log. Runs natively, in debug and release, and as wasm32 under node.

fn main() {
    print!("{}", testkit::golden::golden());
}
