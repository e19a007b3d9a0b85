//! `check coverage`: bots play, and every field of what they meet is changed.

use std::process::ExitCode;

use comfy_table::{Cell, CellAlignment, Table, presets};

use super::failure::{DIFFERED, Failure};
use super::progress;
use super::{args, goes_on, print_json, stopped, table};
use crate::check::coverage::{CoverageConfig, CoverageReport, coverage_with_progress};
use crate::game::Game;
use crate::output::print;

pub(super) fn run<G: Game>(args: &args::Coverage) -> Result<ExitCode, Failure> {
    let args::Coverage { bots: args::Bots { ticks, heroes, seed }, json, .. } = *args;
    let table = table::load(&args.table)?;
    let bar = progress::bar(ticks, 9, json);
    bar.set_message("bots play");
    let config = CoverageConfig { seed, table, ticks, heroes };
    let report = coverage_with_progress::<G>(&config, &mut |tick| {
        bar.set_position(tick.0.into());
        goes_on()
    });
    bar.finish_and_clear();
    stopped("check coverage")?;
    if json {
        print_json(&report)?;
    } else {
        print(listed(&report));
        print(report.told());
    }
    Ok(if report.passed() { ExitCode::SUCCESS } else { ExitCode::from(DIFFERED) })
}

fn listed(report: &CoverageReport) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY);
    table.set_header(["kind", "most at once", "fields", "changed", "bytes", "not in the checksum"]);
    for kind in &report.kinds {
        let uncovered = report.uncovered.iter().filter(|field| field.kind == kind.kind).count();
        let numbers = [kind.most, kind.fields, kind.changed, kind.bytes, uncovered];
        let cells = numbers.map(|number| Cell::new(number).set_alignment(CellAlignment::Right));
        table.add_row(std::iter::once(Cell::new(&kind.kind)).chain(cells));
    }
    table
}
