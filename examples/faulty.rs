//! A game with a fault of your choice, to see what the desync checker finds.
//!
//! ```text
//! cargo run -p lockstone --example faulty -- check chaos                   a sound game
//! FAULT=unsaved cargo run -p lockstone --example faulty -- check chaos     a field is not saved
//! FAULT=help cargo run -p lockstone --example faulty                       all faults
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
//! It has the whole command line that every game gets. The rules are in `testkit/src/faulty`.

use std::process::ExitCode;

use testkit::faulty;

fn main() -> ExitCode {
    if let Err(known) = faulty::Faulty::fault() {
        eprintln!("{known}.");
        return ExitCode::from(2);
    }
    lockstone::cli::run::<faulty::Faulty>()
}
