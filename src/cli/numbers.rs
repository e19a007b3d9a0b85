//! Tables of numbers, as results show them.

use std::fmt::Display;
use std::iter;

use comfy_table::{Cell, CellAlignment, Table, presets};

/// A table: what each row is of, then its numbers.
pub(super) fn table<R: IntoIterator<Item: Display>>(
    titles: impl IntoIterator<Item: Display>,
    rows: impl IntoIterator<Item = (impl Display, R)>,
) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY);
    table.set_header(titles.into_iter().map(Cell::new));
    for (name, numbers) in rows {
        let numbers = numbers.into_iter().map(|number| Cell::new(number).set_alignment(CellAlignment::Right));
        table.add_row(iter::once(Cell::new(name)).chain(numbers));
    }
    table
}
