//! The time line: a lane for each recording, from when to when it is in step.
//!
//! A lane is drawn in percent of its width and has no picture coordinates, so it fits any screen
//! without being distorted.

use lockstone_sim::Tick;
use maud::{Markup, html};

use super::name;
use crate::check::report::{Finding, PeerReport, Report};

/// Around the first difference so many ticks are shown anew, larger.
const NEAR_TICKS: u32 = 60;
/// An axis has at most one more than so many marks.
const MARKS_MAX: u32 = 5;
/// A session that is so many times longer is shown twice.
const WORTH_NEARING: u32 = 5;

pub(super) fn section(report: &Report) -> Markup {
    let whole = Span { from: report.start, to: report.end.max(report.start.next()) };
    let near = report.finding.as_ref().and_then(|finding| near(finding, whole));
    let stretches = || report.peers.iter().flat_map(stretches);
    html! {
        section {
            h2 { "The recordings in time" }
            (hatch())
            (lanes(report, whole))
            @if let Some(near) = near {
                h3.quiet { "Around tick " (report.finding.as_ref().map_or(Tick(0), |finding| finding.tick)) }
                (lanes(report, near))
            }
            ul.legend {
                @for (class, told) in [EQUAL, DIFFERS, UNKNOWN] {
                    @if stretches().any(|(kind, span)| kind.0 == class && span.from < span.to) { li { span.key.(class) {} (told) } }
                }
                @if report.finding.is_some() { li { span.key.line {} "first differing tick" } }
                @if report.peers.iter().any(|peer| peer.start > report.start) { li { span.key.joined {} "joined" } }
                @if report.peers.iter().any(|peer| peer.end < report.end) { li { span.key.left {} "left" } }
            }
        }
    }
}

fn near(finding: &Finding, whole: Span) -> Option<Span> {
    let first = finding.agreed.unwrap_or(finding.tick).min(finding.tick);
    let around = Span { from: Tick(first.0.saturating_sub(NEAR_TICKS)), to: finding.tick.plus(NEAR_TICKS) };
    around.within(whole).filter(|near| near.ticks() * WORTH_NEARING <= whole.ticks())
}

/// What stripes the lanes that differ: colour alone would not do.
fn hatch() -> Markup {
    html! {
        svg.defs width="0" height="0" aria-hidden="true" {
            pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" {
                line.stripe x1="0" y1="0" x2="0" y2="6" {}
            }
        }
    }
}

fn lanes(report: &Report, scale: Span) -> Markup {
    let tick = report.finding.as_ref().map(|finding| finding.tick);
    html! {
        div.lanes {
            @if let Some(tick) = tick {
                div.lane { span {} svg height="18" { (label(scale, tick, 13, &format!("tick {tick}"))) } }
            }
            @for peer in &report.peers { (lane(report, peer, scale, tick)) }
            div.lane {
                span {}
                svg.axis height="24" aria-hidden="true" {
                    @for tick in scale.marks() {
                        line x1=(scale.x(tick)) x2=(scale.x(tick)) y1="0" y2="5" {}
                        (label(scale, tick, 19, &tick.to_string()))
                    }
                }
            }
        }
    }
}

fn label(scale: Span, tick: Tick, y: u32, text: &str) -> Markup {
    let anchor = match scale.percent(tick) {
        at if at < 8.0 => "start",
        at if at > 92.0 => "end",
        _ => "middle",
    };
    html! { text x=(scale.x(tick)) y=(y) text-anchor=(anchor) { (text) } }
}

fn lane(report: &Report, peer: &PeerReport, scale: Span, tick: Option<Tick>) -> Markup {
    html! {
        div.lane {
            span.who { (name(peer)) }
            svg height="26" role="img" {
                title {
                    "Ticks " (peer.start) " to " (peer.end)
                    @if let Some(unmet) = &peer.differs { ", differing from tick " (unmet.tick) " on" }
                }
                @for (kind, span) in stretches(peer) { (stretch(kind, span, scale)) }
                @if peer.start > report.start && scale.holds(peer.start) { (mark("joined", scale.x(peer.start), "M0 4v18l8 -9z")) }
                @if peer.end < report.end && scale.holds(peer.end) { (mark("left", scale.x(peer.end), "M0 4v18l-8 -9z")) }
                @if let Some(tick) = tick { line.first x1=(scale.x(tick)) x2=(scale.x(tick)) y1="0" y2="26" {} }
            }
        }
    }
}

fn mark(class: &str, x: String, path: &str) -> Markup {
    html! { svg x=(x) overflow="visible" { path.mark.(class) d=(path) { title { (class) } } } }
}

/// How a part of a lane looks, its class, and what it is called.
type Kind = (&'static str, &'static str);

const EQUAL: Kind = ("equal", "in step");
const DIFFERS: Kind = ("differs", "differs");
const UNKNOWN: Kind = ("unknown", "nothing to compare");

/// The parts of a lane.
fn stretches(peer: &PeerReport) -> Vec<(Kind, Span)> {
    let agreed = peer.agreed.map_or(peer.start, |tick| tick.max(peer.start));
    let differs = peer.differs.map_or(peer.end, |unmet| unmet.tick);
    let equal = (EQUAL, Span { from: peer.start, to: agreed });
    let unknown = (UNKNOWN, Span { from: agreed, to: differs });
    // The last tick that was recorded has a width too.
    let end = peer.end.max(differs.next());
    let differs = peer.differs.map(|_| (DIFFERS, Span { from: differs, to: end }));
    [equal, unknown].into_iter().chain(differs).collect()
}

/// A part of a lane, as far as it is shown.
fn stretch((class, told): Kind, span: Span, scale: Span) -> Markup {
    html! {
        @if let Some(shown) = span.within(scale) {
            @let (x, width) = (scale.x(shown.from), format!("{:.3}%", scale.percent(shown.to) - scale.percent(shown.from)));
            rect.(class) x=(x) y="5" width=(width) height="16" { title { (told) ": tick " (span.from) " to " (span.to) } }
            @if class == DIFFERS.0 { rect.hatched x=(x) y="5" width=(width) height="16" fill="url(#hatch)" {} }
        }
    }
}

/// Ticks across a lane, or a part of it.
#[derive(Clone, Copy)]
struct Span {
    from: Tick,
    to: Tick,
}

impl Span {
    /// What of it lies within another, if that has a width.
    fn within(self, other: Span) -> Option<Span> {
        let common = Span { from: self.from.max(other.from), to: self.to.min(other.to) };
        (common.from < common.to).then_some(common)
    }

    fn ticks(self) -> u32 {
        self.to.since(self.from)
    }

    fn holds(self, tick: Tick) -> bool {
        (self.from..=self.to).contains(&tick)
    }

    fn percent(self, tick: Tick) -> f64 {
        let ticks = f64::from(tick.0) - f64::from(self.from.0);
        100.0 * ticks / f64::from(self.ticks())
    }

    fn x(self, tick: Tick) -> String {
        format!("{:.3}%", self.percent(tick))
    }

    /// Round ticks, a few of them.
    fn marks(self) -> Vec<Tick> {
        let round = (0..9).flat_map(|zeros| [1, 2, 5].map(|digit| digit * 10_u32.pow(zeros)));
        let step = round.into_iter().find(|step| self.ticks() / step <= MARKS_MAX).unwrap_or(u32::MAX);
        let first = self.from.0.div_ceil(step).saturating_mul(step);
        (first..=self.to.0).step_by(step as usize).map(Tick).collect()
    }
}
