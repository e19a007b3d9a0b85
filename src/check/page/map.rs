//! The map: which cells differ, tick by tick, with torchlight and heroes behind.
//!
//! A picture of each tick is in the page, and the script shows one at a time. Without it the first
//! and the last are there to see.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use lockstone_sim::{CellId, PlayerId};
use maud::{Markup, html};

use super::{count, name};
use crate::check::extent;
use crate::check::report::{PeerReport, Spread};

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
    let before = |n: usize| n.checked_sub(1).map(|n| spread[n].cells.as_slice());
    html! {
        section {
            h2 { "Where it spreads" }
            div.stills {
                figure { (view.svg(html! { (view.layers(first, None, peers)) }, first)) figcaption { (caption(first)) } }
                @if spread.len() > 1 {
                    figure { (view.svg(html! { (view.layers(last, before(spread.len() - 1), peers)) }, last)) figcaption { (caption(last)) } }
                }
            }
            @if spread.len() > 1 {
                div.player id="player" hidden {
                    (view.svg(html! {
                        @for (n, tick) in spread.iter().enumerate() {
                            g data-told=(caption(tick)) data-tick=(tick.tick) hidden[n > 0] { (view.layers(tick, before(n), peers)) }
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

/// The part of the world that is shown, in cells; the ends are not in it.
struct View {
    left: u16,
    top: u16,
    right: u16,
    bottom: u16,
    /// Of the world, if it is known.
    size: Option<(u16, u16)>,
}

impl View {
    fn of(spread: &[Spread]) -> View {
        let size = spread.iter().find_map(|tick| tick.sketch.as_ref()).map(|s| (s.width_cells, s.height_cells));
        let sketches = spread.iter().filter_map(|tick| tick.sketch.as_ref());
        let heroes = sketches.flat_map(|sketch| sketch.heroes.iter().map(|(_, cell)| cell));
        let cells: Vec<_> = spread.iter().flat_map(|tick| &tick.cells).chain(heroes).collect();
        let (width, height) = size.unwrap_or((u16::MAX, u16::MAX));
        let (left, right) = span(cells.iter().map(|cell| cell.x), SHOWN_CELLS.0, width);
        let (top, bottom) = span(cells.iter().map(|cell| cell.y), SHOWN_CELLS.1, height);
        View { left, top, right, bottom, size }
    }

    fn told(&self) -> Option<String> {
        let View { left, top, right, bottom, size } = *self;
        let (width, height) = size?;
        let whole = (left, top, right, bottom) == (0, 0, width, height);
        (!whole).then(|| {
            let (column, row) = (right - 1, bottom - 1);
            format!("Columns {left} to {column} and rows {top} to {row} of a world of {width} x {height} cells.")
        })
    }

    fn width(&self) -> f32 {
        f32::from(self.right - self.left)
    }

    /// What must be readable grows with the map: cells are drawn smaller then.
    fn unit(&self) -> f32 {
        (self.width() / 38.0).max(0.45)
    }

    fn svg(&self, content: Markup, first: &Spread) -> Markup {
        let View { left, top, right, bottom, .. } = *self;
        let (unit, edge) = (self.unit(), self.unit() * 1.6);
        let (width, height) = (self.width(), f32::from(bottom - top));
        let (x, y) = (f32::from(left) - edge, f32::from(top) - edge);
        let step =
            [1_u16, 2, 5, 10, 20, 50, 100].into_iter().find(|&step| f32::from(step) >= unit * 2.4).unwrap_or(500);
        let marks = |from: u16, to: u16| (from.next_multiple_of(step)..to).step_by(step.into());
        let frame = format!("{x} {y} {} {}", width + edge + 0.1, height + edge + 0.1);
        html! {
            svg.map viewBox=(frame) role="img" {
                title { "The differing cells from tick " (first.tick) " on" }
                rect.ground x=(left) y=(top) width=(width) height=(height) {}
                (content)
                path.grid d=(grid(left, top, right, bottom)) stroke-width=(unit * 0.08) {}
                g.marks font-size=(unit) {
                    @for column in marks(left, right) {
                        text x=(f32::from(column) + 0.5) y=(f32::from(top) - unit * 0.5) text-anchor="middle" { (column) }
                    }
                    @for row in marks(top, bottom) {
                        text x=(f32::from(left) - unit * 0.4) y=(f32::from(row) + 0.5 + unit * 0.35) text-anchor="end" { (row) }
                    }
                }
            }
        }
    }

    /// One tick: light, what differed before, what does since, the parts that
    /// recordings cover, heroes.
    fn layers(&self, tick: &Spread, before: Option<&[CellId]>, peers: &[PeerReport]) -> Markup {
        let before: BTreeSet<_> = before.unwrap_or_default().iter().copied().collect();
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
        let (left, top) = (core.low.x.max(self.left), core.low.y.max(self.top));
        let (right, bottom) =
            (core.high.x.saturating_add(1).min(self.right), core.high.y.saturating_add(1).min(self.bottom));
        html! {
            @if left < right && top < bottom {
                rect.core x=(left) y=(top) width=(right - left) height=(bottom - top) stroke-width=(self.unit() * 0.2) {
                    title { (name(peer)) }
                }
            }
        }
    }

    /// The outline of cells, those beside each other in a row as one.
    fn cells(&self, cells: &[CellId]) -> String {
        let mut rows: Vec<CellId> = cells.iter().filter(|cell| self.holds(**cell)).copied().collect();
        rows.sort();
        let mut path = String::new();
        for run in rows.chunk_by(|a, b| a.y == b.y && u32::from(a.x) + 1 == u32::from(b.x)) {
            let (CellId { x, y }, len) = (run[0], run.len());
            let _ = write!(path, "M{x} {y}h{len}v1h-{len}z");
        }
        path
    }

    fn holds(&self, cell: CellId) -> bool {
        (self.left..self.right).contains(&cell.x) && (self.top..self.bottom).contains(&cell.y)
    }

    fn heroes(&self, heroes: &[(PlayerId, CellId)]) -> Markup {
        let mut by_cell: BTreeMap<CellId, Vec<PlayerId>> = BTreeMap::new();
        heroes
            .iter()
            .filter(|(_, cell)| self.holds(*cell))
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

/// From where to where a map reaches that shows all these, some cells around, and not beyond the
/// end of the world.
fn span(shown: impl Iterator<Item = u16> + Clone, least: u16, end: u16) -> (u16, u16) {
    let (low, high) = (shown.clone().min().unwrap_or(0), shown.max().unwrap_or(0));
    let (low, high) = (low.saturating_sub(MARGIN_CELLS), high.saturating_add(MARGIN_CELLS + 1).min(end));
    // A small part is widened on both sides, or where there is room.
    let lacking = least.saturating_sub(high.saturating_sub(low));
    let low = low.saturating_sub(lacking / 2).min(end.saturating_sub(least));
    (low, high.max(low.saturating_add(least)).min(end))
}

/// Lines between the cells; of a large map none, they would hide it.
fn grid(left: u16, top: u16, right: u16, bottom: u16) -> String {
    if right - left > LINES_CELLS {
        return String::new();
    }
    let columns = (left..=right).map(|x| format!("M{x} {top}V{bottom}"));
    columns.chain((top..=bottom).map(|y| format!("M{left} {y}H{right}"))).collect()
}
