//! The report's page: whole, without network, and safe whatever a recording says. It is opened in
//! headless Chromium.

use std::fs;
use std::path::PathBuf;

use lockstone::check::{
    BadWrite, Cause, Finding, Location, PeerReport, Report, Side, Sketch, Spot, Spread, Unmet, Verdict, page,
};
use lockstone::recording::Ending;
use lockstone::sim::codec::FieldDifference;
use lockstone::sim::journal::{Doer, Phase};
use lockstone::sim::world::StatePart;
use lockstone::sim::{CellId, Checksum, EntityId, PlayerId, Tick};
use testkit::browser;

/// What a recording may say to break out of the page, and what stands in every text of the
/// planted reports.
const HOSTILE: &str = "</script></style><script>document.title='taken'</script>\
                       <img src=x onerror=\"document.title='taken'\">\"'><b>\u{202e}\0 https://example.com/";

fn peer(who: &str, start: u32, end: u32, differs: Option<u32>) -> PeerReport {
    let unmet = |tick| Unmet { tick: Tick(tick), recorded: Checksum(0xabad_1dea), played: Checksum(0x600d) };
    PeerReport {
        who: who.to_owned(),
        player: PlayerId(0),
        build: format!("engine 0.1.0 {who}"),
        start: Tick(start),
        end: Tick(end),
        ending: Ending::Closed("left".to_owned()),
        covers: Vec::new(),
        noted: None,
        unusable: Vec::new(),
        checksums: (end - start) / 10,
        agreed: Some(Tick(differs.map_or(end, |tick| tick - 10))),
        differs: differs.map(unmet),
    }
}

fn in_step() -> Report {
    let peers =
        vec![peer("Ada (P0)", 0, 2_400, None), peer("Bram (P1)", 0, 2_400, None), peer("Cleo (P2)", 610, 2_400, None)];
    Report { peers, end: Tick(2_400), ..Report::default() }
}

/// A report as large as they come: every text hostile, 256 parts, 40 ticks with 200 cells each.
fn large() -> Report {
    let peers = vec![
        peer("Ada (P0)", 0, 18_000, None),
        peer(HOSTILE, 0, 18_000, Some(9_010)),
        peer("Cleo (P2)", 4_000, 18_000, None),
        peer("Dirk (P3)", 0, 12_500, None),
    ];
    let text = |n: usize, what: &str| Some(format!("{n}{what}{HOSTILE}"));
    let field = |n| FieldDifference { path: format!("body.{HOSTILE}.{n}"), ours: text(n, "4"), theirs: text(n, "5") };
    let spot = |n: usize| Spot {
        part: StatePart::Entity(CellId::new(n as u16 % 16, n as u16 / 16), EntityId(n as u64)),
        kind: HOSTILE.to_owned(),
        missing: [None, None, None, Some(Side::Ours), Some(Side::Theirs)][n % 5],
        fields: (0..3).map(field).collect(),
    };
    let location =
        Location { tick: Tick(9_001), cells: cells(0), spots: (0..256).map(spot).collect(), spots_count: 300 };
    let lines = |n: usize| (0..n).map(|n| format!("{}: {HOSTILE}", 8_990 + n)).collect::<Vec<_>>();
    let finding = Finding {
        tick: Tick(9_001),
        agreed: Some(Tick(9_000)),
        odd: vec![1],
        between: None,
        varies: false,
        verdict: Verdict { cause: Cause::StateCorruption, others: Vec::new(), blamed: vec![1], reasons: lines(3) },
        location: Some(location),
        bad_writes: (0..6).map(bad_write).collect(),
        spread: (0..40).map(spread).collect(),
        inputs: lines(10),
        odd_world: None,
    };
    Report { peers, end: Tick(18_000), finding: Some(finding), ..Report::default() }
}

fn bad_write(n: u32) -> BadWrite {
    let (phase, doer) = (Phase::Think, Doer::Entity(EntityId(n.into())));
    let (here, there, last_alike, text) = (None, None, None, format!("{n}: {HOSTILE}"));
    BadWrite { tick: Tick(9_000), phase, doer, is_draw: false, here, there, last_alike, text }
}

fn cells(n: u32) -> Vec<CellId> {
    // A stride that is prime to the square's 576 cells meets none twice.
    let mut cells: Vec<_> = (0..200).map(|k| (k * 101 + n * 37) % 576).map(|at| (at % 24, at / 24)).collect();
    cells.sort_by_key(|&(x, y)| (y, x));
    cells.into_iter().map(|(x, y)| CellId::new(20 + x as u16, 30 + y as u16)).collect()
}

fn spread(n: u32) -> Spread {
    let lit = (0..900).map(|n| CellId::new(18 + n % 30, 28 + n / 30)).collect();
    let heroes = (0..4).map(|player| (PlayerId(player), CellId::new(30 + player / 2, 40 + (n / 8) as u16))).collect();
    let sketch = Sketch { width_cells: 128, height_cells: 128, lit, heroes };
    Spread { tick: Tick(9_001 + n), cells: cells(n), sketch: Some(sketch) }
}

fn written(name: &str, html: &str) -> PathBuf {
    let path = browser::folder(env!("CARGO_TARGET_TMPDIR"), "page").join(name);
    fs::write(&path, html).unwrap();
    path
}

fn holds(document: &str, parts: &[&str]) {
    for part in parts {
        assert!(document.contains(part), "{part:?} is missing");
    }
}

#[test]
fn a_page_that_differs_shows_all_that_was_found_and_runs_nothing_foreign() {
    let html = page(&large());
    println!("{} bytes", html.len());
    assert!(html.len() < 1_024 * 1_024, "a page of {} bytes", html.len());
    assert_eq!(html.matches("<figcaption>").count(), 2, "without the script the first and the last map are there");
    let path = written("differs.html", &html);
    let Some(document) = browser::opened(&path, "") else { return };
    holds(
        &document,
        &["<h1>", "state corruption", "What differs at tick 9001", "Where it spreads", "What entered just before"],
    );
    holds(
        &document,
        &["What the tick did otherwise", "44 more parts are not in this report", "Ada (P0)", "000000000000600d"],
    );
    // The script ran: the map plays, at its first tick.
    holds(&document, &["class=\"scripted\"", "tick 9001: 200 differing cells</output>"]);
    // What came with the recording is text.
    holds(&document, &["&lt;script&gt;document.title='taken'&lt;/script&gt;", "&lt;img src=x"]);
    holds(&document, &["<title>Differs from tick 9001 on"]);
    assert!(!document.contains("<img") && !document.contains("<b>") && !document.contains("<title>taken"));
    assert_eq!(document.matches("<script").count(), 1);
}

#[test]
fn a_page_names_nothing_to_load() {
    for html in [page(&large()).replace("https://example.com/", ""), page(&in_step())] {
        holds(&html, &["<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';"]);
        for address in ["http:", "https:", "//", "@import", "<link", "<img", "<iframe", "<object", "src=", "srcset="] {
            // The script's comments begin so.
            let shown = html.replace("// ", "").replace("&lt;img src=x", "");
            assert!(!shown.contains(address), "{address:?} is in the page");
        }
        assert_eq!(html.matches("url(").count(), html.matches("url(#hatch)").count());
    }
}

#[test]
fn a_link_to_a_tick_opens_there() {
    let path = written("linked.html", &page(&large()));
    let Some(document) = browser::opened(&path, "#tick-9033") else { return };
    holds(&document, &["tick 9033: 200 differing cells</output>"]);
}

#[test]
fn the_button_plays_to_the_last_tick() {
    // Only a page without its policy can be given a script that presses the button.
    let html = page(&large());
    let (head, rest) = html.split_once("<meta http-equiv").unwrap();
    let (_, rest) = rest.split_once('>').unwrap();
    let pressed = format!("{head}{rest}<script>document.getElementById('play').click()</script>");
    let path = written("pressed.html", &pressed);
    let Some(document) = browser::opened(&path, "") else { return };
    holds(&document, &["tick 9040: 200 differing cells</output>", "id=\"play\">Play</button>"]);
}

#[test]
fn a_page_in_step_says_so() {
    let path = written("in-step.html", &page(&in_step()));
    let Some(document) = browser::opened(&path, "") else { return };
    holds(
        &document,
        &["<h1>In step</h1>", "<title>In step", "Cleo (P2)", "joined", "meet each of their 659 checksums"],
    );
    for part in ["Where it spreads", "What differs", "first differing tick"] {
        assert!(!document.contains(part), "{part:?} is not in step");
    }
}

#[test]
fn reports_without_parts_have_pages_too() {
    let nothing = Report::default();
    assert!(page(&nothing).contains("<h1>Nothing to compare</h1>"));
    let mut report = large();
    let finding = report.finding.as_mut().unwrap();
    (finding.location, finding.odd, finding.verdict.blamed) = (None, vec![7], vec![9]);
    (finding.agreed, finding.verdict.cause) = (None, Cause::Unknown);
    // A simulation without a grid, whose cells stand at the far edge of all.
    finding.spread = vec![Spread { tick: Tick(3), cells: vec![CellId::new(u16::MAX, u16::MAX)], sketch: None }];
    assert!(page(&report).contains("why could not be shown"));
}
