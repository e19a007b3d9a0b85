//! A report as a page: one file that needs nothing else, made to be looked at.
//!
//! [`page`] is the order of its parts. It loads nothing, and its only script is the few lines of
//! `report.js`: the policy in its head forbids everything else. What a recording says (names,
//! commands, fields) may come from anyone: it is only ever text, see [`foreign`].

mod fields;
mod lanes;
mod map;

use lockstone_sim::Tick;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::extent;
use super::report::{Cause, Finding, PeerReport, Report, count, plain};
use super::states::Unusable;
use crate::recording::Ending;

const STYLE: &str = include_str!("page/report.css");
const SCRIPT: &str = include_str!("page/report.js");
/// Nothing is loaded from anywhere, and no script runs but [`SCRIPT`], whose digest this names. A
/// browser whose console says that the script was refused names the right one there.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
                      script-src 'sha256-6FL9uJofjC01BZkunZDRw2Gn0nG2KN462GTc6M7Shb0='";
/// What is longer is cut: a text of a recording must not take the page over.
const TEXT_CHARS_MAX: usize = 400;
/// The same of a name.
const NAME_CHARS_MAX: usize = 48;

/// The page of a report, as HTML.
pub fn page(report: &Report) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title(report)) " · Lockstone" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                (sections(report))
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// The page's body alone, its `main` element: for a page that has the style and the script of
/// `src/check/page/` itself, and shows it in a shadow root, say.
pub fn body(report: &Report) -> String {
    sections(report).into_string()
}

fn title(report: &Report) -> String {
    match &report.finding {
        None if report.panic().is_some() => "Panicked".to_owned(),
        None if report.shows_nothing() => "Nothing to compare".to_owned(),
        None => "In step".to_owned(),
        Some(finding) => format!("Differs from tick {} on", finding.tick),
    }
}

fn sections(report: &Report) -> Markup {
    html! {
        main {
            header.verdict.(if report.is_in_step() { "good" } else { "bad" }) {
                p.kicker { "Lockstone " span.dot { "·" } " desync check" }
                @match &report.finding {
                    None => { h1 { (title(report)) } p.lead { (lead(report)) } },
                    Some(finding) => (verdict(report, finding)),
                }
                @for told in &report.two_faced { p.lead { (foreign(told)) "." } }
            }
            (lanes::section(report))
            @if let Some(finding) = &report.finding { (details(report, finding)) }
            section {
                h2 { "The recordings" }
                div.cards { @for peer in &report.peers { (card(peer)) } }
            }
            (footer())
        }
    }
}

/// A text that came with a recording: escaped, cut, and kept from turning around what
/// stands beside it.
fn foreign(text: &str) -> Markup {
    cut(text, TEXT_CHARS_MAX)
}

fn cut(text: &str, chars_max: usize) -> Markup {
    html! { bdi { (plain(text, chars_max)) @if text.chars().nth(chars_max).is_some() { "…" } } }
}

/// The player that recorded.
fn name(peer: &PeerReport) -> Markup {
    cut(&peer.who, NAME_CHARS_MAX)
}

/// What is told of recordings in which nothing differs.
fn lead(report: &Report) -> String {
    if let Some(panic) = report.panic() {
        return plain(&format!("Played again up to there: {panic}."), TEXT_CHARS_MAX);
    }
    if report.shared == Some(0) {
        return "Each recording is in step with its own turns, but no two of them have a cell in common, so nothing is shown.".to_owned();
    }
    if report.shows_nothing() {
        return "No checksum was recorded of a tick that could be played again, so nothing is shown.".to_owned();
    }
    let checksums: u32 = report.peers.iter().map(|peer| peer.checksums).sum();
    let met = match report.peers.len() {
        1 => format!("the recording meets each of its {checksums} checksums"),
        many => format!("the turns of {many} recordings meet each of their {checksums} checksums"),
    };
    let shared = report.shared.map(|cells| {
        let times = count(cells as usize, "time");
        format!(" They are of parts of one world: {times} a cell that two of them have was compared.")
    });
    let Report { start, end, .. } = report;
    format!("Played again, {met}, from tick {start} to {end}.{}", shared.unwrap_or_default())
}

fn verdict(report: &Report, finding: &Finding) -> Markup {
    let Finding { tick, agreed, verdict, location, spread, .. } = finding;
    let told = verdict.cause.to_string();
    let (cause, why) = told.split_once(": ").unwrap_or((&told, "why could not be shown"));
    html! {
        h1 { (subject(report, finding)) " from tick " (tick) " on: " (why) "." }
        dl.facts {
            div { dt { "Cause" } dd { (cause) } }
            @for other in &verdict.others { div { dt { "Or" } dd { (other) } } }
            div { dt { "First differing tick" } dd.number { (tick) } }
            div { dt { "Last equal tick" } dd.number { (tick_or_never(*agreed)) } }
            div { dt { "On the side of" } dd { (blamed(report, finding)) } }
            @if let Some(location) = location {
                div { dt { "Differing at tick " (location.tick) } dd {
                    (count(location.spots_count, "part")) @if !location.cells.is_empty() { " in " (count(location.cells.len(), "cell")) }
                } }
            }
            @if let Some(last) = spread.last().filter(|last| last.tick > *tick && !last.cells.is_empty()) {
                div { dt { "At tick " (last.tick) } dd { (count(last.cells.len(), "cell")) } }
            }
        }
        @if !verdict.reasons.is_empty() {
            h2 { "What led to this" }
            ol.reasons { @for reason in &verdict.reasons { li { (foreign(reason)) } } }
        }
    }
}

fn tick_or_never(tick: Option<Tick>) -> String {
    tick.map_or("never".to_owned(), |tick| tick.to_string())
}

fn subject(report: &Report, finding: &Finding) -> Markup {
    let verb = if finding.odd.len() == 1 { " differs" } else { " differ" };
    html! { @if finding.odd.is_empty() { "The recordings" } @else { (names(report, &finding.odd)) } (verb) }
}

fn blamed(report: &Report, finding: &Finding) -> Markup {
    let of_the_game = finding.verdict.cause.is_of_the_game() && finding.verdict.others.is_empty();
    html! {
        @match (finding.verdict.blamed.as_slice(), of_the_game) {
            ([], _) if finding.verdict.cause == Cause::HaloMissing => "no peer: what a part was given",
            ([], true) => "no peer: the game itself",
            ([], false) => "nobody can tell",
            (blamed, _) => (names(report, blamed)),
        }
    }
}

fn names(report: &Report, peers: &[usize]) -> Markup {
    let all = peers.iter().filter_map(|&peer| report.peers.get(peer)).enumerate();
    html! { @for (n, peer) in all { @if n > 0 { ", " } (name(peer)) } }
}

/// What stands on both sides of a location.
fn sides(report: &Report, finding: &Finding) -> [Markup; 2] {
    match finding.between {
        _ if finding.varies => ["One play", "Another play of the same"].map(|side| html! { (side) }),
        Some(both) => both.map(|peer| names(report, &[peer])),
        None => [html! { "Played again" }, names(report, &finding.odd)],
    }
}

fn details(report: &Report, finding: &Finding) -> Markup {
    html! {
        (map::section(&finding.spread, &report.peers))
        @if let Some(location) = &finding.location {
            @let [here, there] = sides(report, finding);
            (fields::section(location, finding.tick, &here, &there))
        }
        @if !finding.bad_writes.is_empty() {
            section { h2 { "What the tick did otherwise" } ol.journal { @for write in &finding.bad_writes { li { (foreign(&write.text)) } } } }
        }
        @if !finding.inputs.is_empty() {
            section {
                h2 { "What entered just before" }
                ol.inputs {
                    @for input in &finding.inputs {
                        @let (tick, input) = input.split_once(": ").unwrap_or(("", input));
                        li { span.tick { (tick) } code { (foreign(input)) } }
                    }
                }
            }
        }
    }
}

fn card(peer: &PeerReport) -> Markup {
    let PeerReport { build, start, end, ending, covers, unusable, checksums, differs, agreed, .. } = peer;
    html! {
        article.card.(if differs.is_some() { "bad" } else { "good" }) {
            h3 { (name(peer)) }
            dl {
                div { dt { "Build" } dd { (foreign(build)) } }
                div { dt { "Ticks" } dd.number { (start) " to " (end) } }
                @if !covers.is_empty() { div { dt { "Part of the world" } dd { (extent::tell(covers)) } } }
                @if let Ending::Torn { bytes } = ending {
                    div { dt { "Broke off" } dd { (count(*bytes, "last byte")) " left out" } }
                }
                @for Unusable { tick, why } in unusable {
                    div { dt { "State of tick " (tick) } dd { "does not count: " (foreign(why)) } }
                }
                div { dt { "Checksums compared" } dd.number { (checksums) } }
                @if let Some(unmet) = differs {
                    div { dt { "Last equal" } dd.number { (tick_or_never(*agreed)) } }
                    div { dt { "Differs from" } dd.number { (unmet.tick) } }
                    div { dt { "Recorded there" } dd { code { (unmet.recorded) } } }
                    div { dt { "Played again" } dd { code { (unmet.played) } } }
                } @else {
                    div { dt { "Result" } dd { @if *checksums == 0 { "nothing to compare" } @else { "in step" } } }
                }
            }
        }
    }
}

fn footer() -> Markup {
    html! {
        footer {
            p {
                "“Played again” is what the recorded turns lead to on the machine that wrote this page. A tick's state is the one before its turn. "
                "A part is an entity, a cell's light, or the facts that everyone knows."
            }
        }
    }
}
