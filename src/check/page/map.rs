//! The map: which cells differ, tick by tick, with torchlight and heroes behind.
//!
//! A picture of each tick is in the page, and the script shows one at a time. Without it the first
//! and the last are there to see.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use lockstone_sim::{CellId, CellRect, PlayerId};
use maud::{Markup, html};

use super::name;
use crate::check::extent;
use crate::check::report::{PeerReport, Spread, count};

/// Of a world that is larger only the part where something is is shown, and at least so many cells
/// of it, across and down.
const SHOWN_CELLS: (u16, u16) = (16, 10);
/// Between cells of a map that is wider there are no lines.
const LINES_CELLS: u16 = 80;
/// The parts of so many recordings are framed.
const FRAMES_MAX: usize = 16;
/// Cells around what is shown of a larger world.
const MARGIN_CELLS: u16 = 3;

pub(super) fn section(spread: &[Spread], peers: &[PeerReport]) -> Markup {
    let (Some(first), Some(last)) = (spread.first(), spread.last()) else { return html! {} };
    if spread.iter().all(|tick| tick.cells.is_empty()) {
        return html! {};
    }
    let view = View::of(spread);
    let most = spread.iter().map(|tick| tick.cells.len()).max().unwrap_or(1).max(1);
    html! {
        section {
            h2 { "Where it spreads" }
            div.stills {
                @for n in BTreeSet::from([0, spread.len() - 1]) {
                    figure { (view.svg(view.layers(spread, n, peers), &spread[n])) figcaption { (caption(&spread[n])) } }
                }
            }
            @if spread.len() > 1 {
                div.player id="player" hidden {
                    (view.svg(html! {
                        @for (n, tick) in spread.iter().enumerate() {
                            g data-told=(caption(tick)) data-tick=(tick.tick) hidden[n > 0] { (view.layers(spread, n, peers)) }
                        }
                    }, first))
                    svg.bars height="34" aria-hidden="true" {
                        @for (n, tick) in spread.iter().enumerate() {
                            @let height = (tick.cells.len() * 33).div_ceil(most);
                            rect x=(format!("{:.3}%", 100.0 * n as f64 / spread.len() as f64)) y=(34 - height)
                                width=(format!("{:.3}%", 80.0 / spread.len() as f64)) height=(height) {}
                        }
                    }
                    div.controls {
                        button type="button" id="play" { "Play" }
                        input type="range" id="tick" min="0" max=(spread.len() - 1) value="0" aria-label="Tick";
                        output id="told" for="tick" { (caption(first)) }
                    }
                }
            }
            ul.legend {
                li { span.key.new {} "differs since this tick" }
                li { span.key.old {} "differed already" }
                @if first.sketch.is_some() {
                    li { span.key.lit {} "lit by torches" }
                    li { span.key.hero {} "hero, by player" }
                }
                @if peers.iter().any(|peer| extent::core_at(&peer.covers, last.tick).is_some()) {
                    li { span.key.core {} "what a recording simulates" }
                }
            }
            @if let Some(part) = view.told() { p.quiet { (part) } }
        }
    }
}

fn caption(tick: &Spread) -> String {
    format!("tick {}: {}", tick.tick, count(tick.cells.len(), "differing cell"))
}

/// The part of the world that is shown.
struct View {
    cells: CellRect,
    /// Columns and rows of the world, if they are known.
    size: Option<(u16, u16)>,
}

impl View {
    fn of(spread: &[Spread]) -> View {
        let sketches = || spread.iter().filter_map(|tick| tick.sketch.as_ref());
        let size = sketches().next().map(|sketch| (sketch.width_cells, sketch.height_cells));
        let heroes = sketches().flat_map(|sketch| sketch.heroes.iter().map(|(_, cell)| cell));
        let cells: Vec<_> = spread.iter().flat_map(|tick| &tick.cells).chain(heroes).collect();
        let (width, height) = size.unwrap_or((u16::MAX, u16::MAX));
        let (left, right) = span(cells.iter().map(|cell| cell.x), SHOWN_CELLS.0, width);
        let (top, bottom) = span(cells.iter().map(|cell| cell.y), SHOWN_CELLS.1, height);
        View { cells: CellRect { low: CellId::new(left, top), high: CellId::new(right, bottom) }, size }
    }

    fn told(&self) -> Option<String> {
        let CellRect { low, high } = self.cells;
        let (width, height) = self.size?;
        let whole = low == CellId::new(0, 0) && high == CellId::new(width.saturating_sub(1), height.saturating_sub(1));
        (!whole).then(|| {
            format!(
                "Columns {} to {} and rows {} to {} of a world of {width} x {height} cells.",
                low.x, high.x, low.y, high.y
            )
        })
    }

    /// What must be readable grows with the map: cells are drawn smaller then.
    fn unit(&self) -> f32 {
        (size(self.cells).0 / 38.0).max(0.45)
    }

    fn svg(&self, content: Markup, first: &Spread) -> Markup {
        let CellRect { low, high } = self.cells;
        let (unit, edge) = (self.unit(), self.unit() * 1.6);
        let (width, height) = size(self.cells);
        let (left, top) = (f32::from(low.x), f32::from(low.y));
        let step =
            [1_u16, 2, 5, 10, 20, 50, 100].into_iter().find(|&step| f32::from(step) >= unit * 2.4).unwrap_or(500);
        let marks = |from: u16, to: u16| (from.next_multiple_of(step)..=to).step_by(step.into());
        let frame = format!("{} {} {} {}", left - edge, top - edge, width + edge + 0.1, height + edge + 0.1);
        html! {
            svg.map viewBox=(frame) role="img" {
                title { "The differing cells from tick " (first.tick) " on" }
                rect.ground x=(low.x) y=(low.y) width=(width) height=(height) {}
                (content)
                path.grid d=(grid(self.cells)) stroke-width=(unit * 0.08) {}
                g.marks font-size=(unit) {
                    @for column in marks(low.x, high.x) {
                        text x=(f32::from(column) + 0.5) y=(top - unit * 0.5) text-anchor="middle" { (column) }
                    }
                    @for row in marks(low.y, high.y) {
                        text x=(left - unit * 0.4) y=(f32::from(row) + 0.5 + unit * 0.35) text-anchor="end" { (row) }
                    }
                }
            }
        }
    }

    /// One tick: light, what differed at the tick before, what does since, the parts that
    /// recordings cover, heroes.
    fn layers(&self, spread: &[Spread], n: usize, peers: &[PeerReport]) -> Markup {
        let tick = &spread[n];
        let before: BTreeSet<_> = n.checked_sub(1).into_iter().flat_map(|n| &spread[n].cells).collect();
        let (old, new): (Vec<_>, Vec<_>) = tick.cells.iter().partition(|cell| before.contains(cell));
        html! {
            @if let Some(sketch) = &tick.sketch { path.lit d=(self.cells(&sketch.lit)) {} }
            path.old d=(self.cells(&old)) {}
            path.new d=(self.cells(&new)) stroke-width=(self.unit() * 0.16) {}
            @for peer in peers.iter().take(FRAMES_MAX) { (self.frame(peer, tick)) }
            @if let Some(sketch) = &tick.sketch { (self.heroes(&sketch.heroes)) }
        }
    }

    /// What a recording simulates at a tick, if that is a part of the world; as far as it is shown.
    fn frame(&self, peer: &PeerReport, tick: &Spread) -> Markup {
        let Some(core) = extent::core_at(&peer.covers, tick.tick) else { return html! {} };
        let shown = core.intersection(self.cells);
        let (width, height) = size(shown);
        html! {
            @if !shown.is_empty() {
                rect.core x=(shown.low.x) y=(shown.low.y) width=(width) height=(height) stroke-width=(self.unit() * 0.2) {
                    title { (name(peer)) }
                }
            }
        }
    }

    /// The outline of cells, those beside each other in a row as one.
    fn cells(&self, cells: &[CellId]) -> String {
        let mut rows: Vec<CellId> = cells.iter().copied().filter(|cell| self.cells.contains(*cell)).collect();
        rows.sort();
        let mut path = String::new();
        for run in rows.chunk_by(|a, b| a.y == b.y && u32::from(a.x) + 1 == u32::from(b.x)) {
            let (CellId { x, y }, len) = (run[0], run.len());
            let _ = write!(path, "M{x} {y}h{len}v1h-{len}z");
        }
        path
    }

    fn heroes(&self, heroes: &[(PlayerId, CellId)]) -> Markup {
        let mut by_cell: BTreeMap<CellId, Vec<PlayerId>> = BTreeMap::new();
        heroes
            .iter()
            .filter(|(_, cell)| self.cells.contains(*cell))
            .for_each(|(player, cell)| by_cell.entry(*cell).or_default().push(*player));
        let radius = (self.unit() * 0.55).max(0.32);
        html! {
            @for (cell, players) in by_cell {
                @for (n, player) in players.iter().enumerate() {
                    // Those of one cell stand beside each other.
                    @let aside = (n as f32 - (players.len() - 1) as f32 / 2.0) * radius * 2.1;
                    @let (x, y) = (f32::from(cell.x) + 0.5 + aside, f32::from(cell.y) + 0.5);
                    circle.hero cx=(x) cy=(y) r=(radius) stroke-width=(radius * 0.18) {}
                    text.hero x=(x) y=(y + radius * 0.4) font-size=(radius * 1.15) text-anchor="middle" { (player.0) }
                }
            }
        }
    }
}

/// Columns and rows of some cells.
fn size(cells: CellRect) -> (f32, f32) {
    let side = |low: u16, high: u16| f32::from((high + 1).saturating_sub(low));
    (side(cells.low.x, cells.high.x), side(cells.low.y, cells.high.y))
}

/// The first and the last that a map has that shows all these, some cells around, and nothing
/// beyond the end of the world.
fn span(shown: impl Iterator<Item = u16> + Clone, least: u16, end: u16) -> (u16, u16) {
    let (low, high) = (shown.clone().min().unwrap_or(0), shown.max().unwrap_or(0));
    let (low, high) = (low.saturating_sub(MARGIN_CELLS), high.saturating_add(MARGIN_CELLS + 1).min(end));
    // A small part is widened on both sides, or where there is room.
    let lacking = least.saturating_sub(high.saturating_sub(low));
    let low = low.saturating_sub(lacking / 2).min(end.saturating_sub(least));
    (low, high.max(low.saturating_add(least)).min(end).saturating_sub(1))
}

/// Lines between the cells; of a large map none, they would hide it.
fn grid(cells: CellRect) -> String {
    let (left, top, right, bottom) = (cells.low.x, cells.low.y, cells.high.x + 1, cells.high.y + 1);
    if right - left > LINES_CELLS {
        return String::new();
    }
    let columns = (left..=right).map(|x| format!("M{x} {top}V{bottom}"));
    columns.chain((top..=bottom).map(|y| format!("M{left} {y}H{right}"))).collect()
}
