//! The table of fields: for each part that differs what it is, and both values of each field.

use lockstone_sim::Tick;
use lockstone_sim::codec::FieldDifference;
use lockstone_sim::world::StatePart;
use maud::{Markup, html};

use super::foreign;
use crate::check::locate::{Location, Side, Spot};
use crate::check::report::count;

/// So many parts are open to see, the others unfold.
const OPEN_SPOTS: usize = 16;
/// Of one part so many fields are shown.
const FIELDS_MAX: usize = 60;

/// Of the state at a tick, which may be later than the first that differs.
pub(super) fn section(location: &Location, first: Tick, here: &Markup, odd: &Markup) -> Markup {
    let (open, folded) = location.spots.split_at(location.spots.len().min(OPEN_SPOTS));
    let left_out = location.spots_count.saturating_sub(location.spots.len());
    html! {
        @if !location.spots.is_empty() {
            section {
                h2 { "What differs at tick " (location.tick) }
                @if location.tick > first { p.quiet { "The first tick of which both states are known." } }
                (table(open, here, odd))
                @if !folded.is_empty() {
                    details { summary { (count(folded.len(), "more part")) } (table(folded, here, odd)) }
                }
                @if left_out > 0 { p.quiet { (count(left_out, "more part")) " are not in this report." } }
            }
        }
    }
}

fn table(spots: &[Spot], here: &Markup, odd: &Markup) -> Markup {
    html! {
        table.fields {
            thead { tr { th scope="col" { "Field" } th scope="col" { (here) } th scope="col" { (odd) } } }
            @for spot in spots { (rows(spot, odd)) }
        }
    }
}

fn rows(spot: &Spot, odd: &Markup) -> Markup {
    let Spot { part, kind, missing, fields } = spot;
    let left_out = fields.len().saturating_sub(FIELDS_MAX);
    html! {
        tbody {
            tr.part {
                th colspan="3" scope="rowgroup" {
                    @if let Some(cell) = part.cell() { span.cell { "cell " (cell) } }
                    strong { (foreign(kind)) }
                    @if let StatePart::Entity(_, id) = part { " " code { (id) } }
                }
            }
            @match missing {
                Some(Side::Ours) => tr { td.missing colspan="3" { "Only in the world of " (odd) "." } },
                Some(Side::Theirs) => tr { td.missing colspan="3" { "Missing in the world of " (odd) "." } },
                None => @for field in fields.iter().take(FIELDS_MAX) { (row(field)) },
            }
            @if left_out > 0 { tr { td.missing colspan="3" { (count(left_out, "more field")) } } }
        }
    }
}

fn row(FieldDifference { path, ours, theirs }: &FieldDifference) -> Markup {
    html! {
        tr {
            th scope="row" { code { (foreign(path)) } }
            td { (value(ours, theirs)) }
            td.theirs { (value(theirs, ours)) }
        }
    }
}

/// A value, with what is not in the other marked.
fn value(value: &Option<String>, other: &Option<String>) -> Markup {
    let Some(value) = value else { return html! { span.missing { "not there" } } };
    let (start, end) = unlike(value, other.as_deref().unwrap_or_default());
    html! { code { (foreign(&value[..start])) mark { (foreign(&value[start..end])) } (foreign(&value[end..])) } }
}

/// From where to where a text is unlike another: without what both begin and end with.
fn unlike(text: &str, other: &str) -> (usize, usize) {
    fn alike(text: impl Iterator<Item = char>, other: impl Iterator<Item = char>) -> usize {
        text.zip(other).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum()
    }
    let start = alike(text.chars(), other.chars());
    (start, text.len() - alike(text[start..].chars().rev(), other[start..].chars().rev()))
}
