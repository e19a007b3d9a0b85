//! `table`: makes and verifies random tables.

use std::path::Path;
use std::process::ExitCode;

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
    let seed = parse_seed(seed)
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
    let seed: String = table.seed().iter().map(|byte| format!("{byte:02x}")).collect();
    print(format_args!("{:032x}  {}", table.digest(), file.display()));
    say(format_args!("The table is sound. Its seed is {seed}."));
    Ok(())
}

fn read(path: &Path) -> Result<Table, Failure> {
    let bytes = files::read(path)?;
    let advice = "make one with `table generate`";
    Table::from_bytes(&bytes).map_err(|error| Failure::file("use", path, format!("{error}; {advice}")))
}

fn parse_seed(text: &str) -> Option<[u8; 32]> {
    let digits: Vec<u8> = text.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect::<Option<_>>()?;
    let (pairs, []) = digits.as_chunks::<2>() else { return None };
    let bytes: Vec<u8> = pairs.iter().map(|[high, low]| high << 4 | low).collect();
    bytes.try_into().ok()
}
