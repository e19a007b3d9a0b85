//! The dungeon, with everything that the engine's command line offers.

fn main() -> std::process::ExitCode {
    lockstone::cli::run_wide::<dungeon::DungeonGame>()
}
