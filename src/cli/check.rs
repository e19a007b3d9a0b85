//! `check`: what can be checked of a game without a session.

use std::process::ExitCode;

use super::args::{self, CheckCommand};
use super::failure::Failure;
use super::replay::read;
use crate::check::floats::floats;

pub(super) fn run(args: &args::Check) -> Result<ExitCode, Failure> {
    match &args.command {
        CheckCommand::Floats(args) => look_for_floats(args),
    }
}

fn look_for_floats(args: &args::Floats) -> Result<ExitCode, Failure> {
    let wasm = read(&args.wasm).map_err(|error| Failure::file("read", &args.wasm, error))?;
    let mut found = floats(&wasm).map_err(|error| Failure::file("check", &args.wasm, error))?;
    found.allow(&args.allow);
    match args.json {
        true => println!("{}", serde_json::json!(found)),
        false => println!("{found}"),
    }
    if found.count() == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    let (with, all) = (found.functions.len(), found.looked_through);
    Err(Failure::differed(format!("the module computes with floats, in {with} of its {all} functions")))
}
