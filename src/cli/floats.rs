//! `check floats`: lists the float instructions of a WebAssembly module.

use std::process::ExitCode;

use super::args;
use super::failure::Failure;
use super::files;
use crate::check::floats::floats;
use crate::output::print;

pub(super) fn run(args: &args::Floats) -> Result<ExitCode, Failure> {
    let unusable = |error| {
        Failure::file("check", &args.wasm, format!("{error}; build the simulation for wasm32-wasip1, see --help"))
    };
    let mut found = floats(&files::read(&args.wasm)?).map_err(unusable)?;
    found.allow(&args.allow);
    match args.json {
        true => print(serde_json::json!(&found)),
        false => print(&found),
    }
    if found.count() == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    let (with, all) = (found.functions.len(), found.looked_through);
    Err(Failure::differed(format!("the module computes with floats, in {with} of its {all} functions")))
}
