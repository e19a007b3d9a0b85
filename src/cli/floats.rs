//! `check floats`: lists the float instructions of a WebAssembly module.

use std::process::ExitCode;

use super::args;
use super::failure::Failure;
use super::files;
use crate::check::floats::floats;

pub(super) fn run(args: &args::Floats) -> Result<ExitCode, Failure> {
    let mut found = floats(&files::read(&args.wasm)?).map_err(|error| Failure::file("check", &args.wasm, error))?;
    found.allow(&args.allow);
    match args.json {
        true => println!("{}", serde_json::json!(found)),
        false => println!("{found}"),
    }
    match found.count() {
        0 => Ok(ExitCode::SUCCESS),
        count => {
            let functions = found.functions.len();
            Err(Failure::differed(format!("{count} float instructions are in {functions} functions of the module")))
        }
    }
}
