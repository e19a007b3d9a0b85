//! `table`: makes and verifies random tables.

use std::path::Path;
use std::process::ExitCode;

use lockstone_net::hex;
use lockstone_sim::Table;

use super::args;
use super::failure::Failure;
use super::files;
use crate::output::{print, say};

pub(super) fn run(command: &args::Table) -> Result<ExitCode, Failure> {
    match command {
        args::Table::Generate { seed, out } => generate(seed, out)?,
        args::Table::Verify { file } => verify(file)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The table to play with: a file's, or the one that is built in.
pub(super) fn load(named: &args::RandomTable) -> Result<Table, Failure> {
    named.file.as_deref().map_or_else(|| Ok(crate::default_table()), read)
}

fn generate(seed: &str, out: &Path) -> Result<(), Failure> {
    let seed = hex::decode_array(seed)
        .ok_or_else(|| Failure::new(format!("the seed {seed:?} is not one: give 32 bytes as 64 hexadecimal digits")))?;
    let table = Table::generate(seed);
    files::create(out, &table.to_bytes())?;
    print(format_args!("{:032x}  {}", table.digest(), out.display()));
    Ok(())
}

fn verify(file: &Path) -> Result<(), Failure> {
    let table = read(file)?;
    if Table::generate(table.seed()).digest() != table.digest() {
        return Err(Failure::file("trust", file, "it is sound, but not the table of the seed that it names"));
    }
    let seed = hex::encode(&table.seed());
    print(format_args!("{:032x}  {}", table.digest(), file.display()));
    say(format_args!("The table is sound. Its seed is {seed}."));
    Ok(())
}

fn read(path: &Path) -> Result<Table, Failure> {
    let bytes = files::read(path)?;
    let advice = "make one with `table generate`";
    Table::from_bytes(&bytes).map_err(|error| Failure::file("use", path, format!("{error}; {advice}")))
}
