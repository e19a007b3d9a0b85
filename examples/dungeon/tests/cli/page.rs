//! Pages and natives in one session, over real WebRTC: a browser plays the page that `cargo xtask
//! page` built, and tells its report in its console.
//!
//! Each session is in step. How long it plays says `PAGE_SECONDS`, 8 if nothing does; a release is
//! tried with 60: `PAGE_SECONDS=60 cargo test -p dungeon --test cli page::`. What plays for half a
//! minute must also keep the session's pace. All tell theirs. `FROZEN_SECONDS` says how long a page
//! is frozen, if that is to be longer than until it is missed.
//!
//! Nothing here sleeps or has a fixed port. What is missing fails in CI.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use dungeon::DungeonGame;
use lockstone::default_table;
use lockstone::recording::Recording;
use lockstone::shell::{PlayedCheck, PlayedParts, Report};
use lockstone::sim::{PlayerId, Tick};
use lockstone::view::Status;
use lockstone::view::frame::Frame;
use lockstone::viewer::{Side, Viewer};
use testkit::open_page::OpenPage;
use testkit::{lacks, tell};

use super::check::recorded;
use super::codes;
use super::program::{PROGRAM, Running, built_elsewhere, dungeon, folder, run, text};

const TICKS_PER_S: u32 = 20;

/// Who plays for so long keeps the pace: of less, a moment of a busy machine is too much.
const PACED_MS: u64 = 30_000;

/// Browsers draw by the processor: one test has it at a time.
pub static ALONE: Mutex<()> = Mutex::new(());

/// A page, if it was built.
pub fn built(name: &str, by: &str) -> Option<PathBuf> {
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).with_file_name("release").join(name);
    let is_there = place.join("index.html").exists();
    if !is_there {
        lacks(&format!("a page: {by}"));
    }
    is_there.then_some(place)
}

/// How long a page plays.
pub fn seconds() -> u32 {
    asked_seconds("PAGE_SECONDS").unwrap_or(8)
}

#[expect(clippy::disallowed_methods, reason = "no peer knows for how long it is tried")]
fn asked_seconds(name: &str) -> Option<u32> {
    std::env::var(name).ok().map(|seconds| seconds.parse().expect("it is a number"))
}

/// A server of page and signaling.
pub fn serve() -> Option<(Running, String)> {
    Some(serve_at(&built("page", "cargo xtask page")?))
}

fn serve_at(page: &Path) -> (Running, String) {
    let mut server = Running::start(&["serve", "--listen", "127.0.0.1:0", "--page", page.to_str().unwrap()]);
    let url = server.line();
    (server, url)
}

/// The same of a page that has these files, too.
fn serve_with(files: &[(&str, Vec<u8>)]) -> Option<(Running, String)> {
    let (page, served) = (built("page", "cargo xtask page")?, folder("served"));
    for entry in fs::read_dir(page).expect("it is there") {
        let file = entry.expect("it can be read").path();
        let name = file.file_name().expect("a name").to_str().expect("it is text");
        // What is compressed is a file as it was.
        let is_of = |other: &str| name.strip_prefix(other).is_some_and(|rest| matches!(rest, "" | ".br" | ".gz"));
        if !files.iter().any(|(other, _)| is_of(other)) {
            fs::copy(&file, served.join(name)).expect("there is room");
        }
    }
    files.iter().for_each(|(name, bytes)| fs::write(served.join(name), bytes).expect("there is room"));
    Some(serve_at(&served))
}

/// The viewer, open at files that its server has beside the page.
pub fn view(files: &[(&str, Vec<u8>)]) -> Option<(Running, OpenPage)> {
    let (server, url) = serve_with(files)?;
    let names: String = files.iter().map(|(name, _)| format!("&file={}", name.replace(' ', "%20"))).collect();
    let link = format!("{}/view.html#report{names}", url.replace("ws://", "http://"));
    Some((server, OpenPage::open(&link, folder("viewing").join("profile"))?))
}

/// A native in the room `hall`, with these words of its command line.
pub fn native(words: &str, url: &str) -> Running {
    native_of(PROGRAM, words, url)
}

/// The same of another build of the program.
pub fn native_of(program: &str, words: &str, url: &str) -> Running {
    let place = ["--report", "--view", "none", "--room", "hall", "--signal", url];
    Running::of(built_elsewhere(program, &Vec::from_iter(words.split(' ').chain(place))))
}

/// A native that plays.
pub fn playing(words: &str, url: &str) -> Running {
    native(words, url).playing()
}

/// What a bot opens to play in the room `hall`.
pub fn link(url: &str, words: &str, name: &str) -> String {
    format!("{}/#room=hall{words}&bot&report&seconds={}&name={name}", url.replace("ws://", "http://"), seconds())
}

/// Bots in pages that play in the room `hall`, each a browser of its own.
pub fn open(url: &str, words: &str, names: &[&str]) -> Option<Vec<OpenPage>> {
    let place = |name| folder(&format!("page-{name}")).join("profile");
    names.iter().map(|name| OpenPage::open(&link(url, words, name), place(name))).collect()
}

/// A browser that is yet to open something.
pub fn blank() -> Option<OpenPage> {
    OpenPage::open("about:blank", folder("blank").join("profile"))
}

/// What a page reports: nothing differed.
fn finished(page: &mut OpenPage) -> Report {
    let report: Report = serde_json::from_str(&page.says("report ")).expect("it is one");
    assert_eq!(report.desyncs, 0, "{report:?}");
    report
}

/// The same of one that kept the session's pace.
pub fn report(page: &mut OpenPage) -> Report {
    let report = finished(page);
    // Who joins plays more ticks at first, to be abreast of the others.
    assert!(ticks_in_100_s(&report).is_none_or(|pace| pace >= 1_980), "{report:?}");
    report
}

/// How fast a peer played that was in step, if it played for long enough to tell.
fn ticks_in_100_s(report: &Report) -> Option<u64> {
    let Report { name, ticks, played_ms, .. } = report;
    let (pace, ms) = (u64::from(*ticks) * 100_000 / played_ms.max(&1), played_ms % 1_000);
    let s = played_ms / 1_000;
    tell(&format!("{name}: in step, {ticks} ticks in {s}.{ms:03} s, {}.{:02} a second", pace / 100, pace % 100));
    (*played_ms >= PACED_MS).then_some(pace)
}

/// Whoever has the session's ticks from the first on has them at their times; in a rollback session
/// some before others have told their commands.
fn assert_paced(native: &Report) {
    assert_eq!(native.desyncs, 0, "{native:?}");
    assert!(ticks_in_100_s(native).is_none_or(|pace| (1_980..=2_060).contains(&pace)), "{native:?}");
}

/// All that a page and a native played has the same checksums, and they compared them.
pub fn assert_equal(page: &Report, native: &Report) {
    assert!(page.checksums_compared >= 10 && native.desyncs == 0, "{page:?}");
    let theirs: BTreeMap<_, _> = native.checksums.iter().map(|check| (check.tick, &check.checksum)).collect();
    let mut compared = 0;
    for PlayedCheck { tick, checksum } in &page.checksums {
        let Some(theirs) = theirs.get(tick) else { continue };
        assert_eq!(checksum, *theirs, "tick {tick}");
        compared += 1;
    }
    println!("{}: {compared} checksums, all equal to those of {}", page.name, native.name);
    assert!(compared >= 100 && 2 * compared >= page.checksums.len(), "{compared} are of both");
}

/// Each part of the world that a page simulated is the relay's.
fn assert_parts_equal(page: &Report, relay: &Report) {
    assert!(relay.desyncs == 0 && relay.checksums_compared >= 10, "{relay:?}");
    let whole: BTreeMap<_, BTreeMap<_, _>> =
        relay.parts.iter().map(|parts| (parts.tick, parts.cells.iter().copied().collect())).collect();
    let mut compared = 0;
    for PlayedParts { tick, cells } in &page.parts {
        let Some(whole) = whole.get(tick) else { continue };
        cells.iter().for_each(|(cell, checksum)| assert_eq!(whole.get(cell), Some(checksum), "{cell:?}, tick {tick}"));
        compared += cells.len();
    }
    println!("{}: {compared} parts of the world, all equal to the relay's", page.name);
    assert!(compared >= 40, "{compared} are of both");
}

#[test]
fn golden_checksums_are_the_same_in_a_browser() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(page) = built("page-golden", "cargo xtask page --example golden") else { return };
    let (_server, url) = serve_at(&page);
    let link = url.replace("ws://", "http://");
    let Some(mut page) = OpenPage::open(&link, folder("golden").join("profile")) else { return };
    let golden = include_str!("../../../../tests/golden.txt").trim().replace('\n', ", ");
    assert_eq!(page.says("golden "), golden);
}

#[test]
fn two_pages_and_a_native_play_one_party() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some((_server, url)) = serve() else { return };
    let founder = playing("--bot --name Ada", &url);
    let Some(mut pages) = open(&url, "", &["Bea", "Cleo"]) else { return };
    let reports: Vec<_> = pages.iter_mut().map(report).collect();
    let native = founder.interrupted();
    assert_paced(&native);
    reports.iter().for_each(|report| assert_equal(report, &native));
}

/// The tick that stands beside the picture.
pub const TICK: &str = r"Number(/tick (\d+)/.exec(document.getElementById('rows').innerText)?.[1])";

const NOW_MS: &str = "Math.round(performance.now())";

/// What stands beside the picture says that.
fn says(words: &str) -> String {
    format!("document.getElementById('rows')?.innerText.includes('{words}')")
}

#[test]
fn a_page_that_leads_hands_over_when_it_is_hidden_and_is_back_after_it_was_frozen() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some((_server, url)), frozen_s) = (serve(), asked_seconds("FROZEN_SECONDS").unwrap_or(0)) else { return };
    let words = format!("&seed=5&seconds={}", 32 + frozen_s);
    let Some(mut ada) = open(&url, &(words.clone() + "&keeps"), &["Ada"]).and_then(|mut pages| pages.pop()) else {
        return;
    };
    ada.tools.until(&says("Ada (you, host)"));
    let Some(mut bea) = open(&url, &words, &["Bea"]).and_then(|mut pages| pages.pop()) else { return };
    bea.tools.until(&says("Ada (host)"));
    ada.tools.hide();
    bea.tools.until(&says("Bea (you, host)"));
    // Of two alone goes on who is the senior: that takes a moment to be agreed on.
    bea.tools.until(&format!("(window.since ??= {TICK}) + 20 < {TICK}"));
    let number = |page: &mut OpenPage, what: &str| page.tools.value(what).as_u64().expect("a number");
    let frozen_at = number(&mut bea, TICK);
    ada.tools.freeze(true);
    bea.tools.until(&says("Ada (away)"));
    bea.tools.until(&format!("{frozen_at} + {} <= {TICK}", TICKS_PER_S * frozen_s));
    let tick = number(&mut bea, TICK);
    ada.tools.freeze(false);
    let woken_at = number(&mut ada, NOW_MS);
    ada.tools.show();
    ada.tools.until(&format!("{} && {tick} <= {TICK}", says("Bea (host)")));
    let (ms, ticks) = (number(&mut ada, NOW_MS) - woken_at, tick - frozen_at);
    tell(&format!("Ada: in step {ms} ms after she was frozen for {ticks} ticks"));
    let (bea, ada_report) = (report(&mut bea), finished(&mut ada));
    // By Ada's ticks: she has none of the time in which she was frozen, however long that was.
    assert_equal(&ada_report, &bea);
    // A recording tells one history: what she played since is in another, and kept as well.
    let kept =
        "import('./store.js').then(({ kept }) => kept()).then((all) => (window.files = all.map(({ file }) => file)))";
    ada.tools.until(&format!("{kept} && window.files?.join() === 'dungeon-hall-Ada-2.lksrec,dungeon-hall-Ada.lksrec'"));
}

/// Counts the sounds that a page plays while its device runs, and those that hold something.
const HEARS: &str = r"(window.sounded ??= (() => {
  const { start } = AudioBufferSourceNode.prototype;
  AudioBufferSourceNode.prototype.start = function () {
    const isLoud = this.buffer.getChannelData(0).some((sample) => Math.abs(sample) > 0.01);
    if (this.context.state === 'running' && isLoud) window.sounded += 1;
    start.call(this);
  };
  return 0;
})()) === 0";

#[test]
fn two_pages_play_a_party_of_their_own_and_one_is_heard_once_somebody_touches_it() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some((_server, url)) = serve() else { return };
    // It takes some seconds to hear, and not to hear.
    let words = format!("&seed=5&seconds={}", seconds().max(20));
    let Some(mut pages) = open(&url, &words, &["Ada", "Bea"]) else { return };
    let tools = &mut pages[0].tools;
    tools.until("document.getElementById('curtain')?.hidden");
    tools.until(HEARS);
    let is_on = |is_on: bool| format!("document.getElementById('sound').ariaPressed === '{is_on}'");
    tools.click("sound");
    tools.until(&is_on(false));
    let (off, quiet) = ("localStorage.getItem('lockstone.sound') === 'off'", "(window.quiet ??= window.sounded)");
    // A bot that walks is heard in two seconds.
    tools.until(&format!("{off} && {quiet} === window.sounded && (window.since ??= {TICK}) + 40 < {TICK}"));
    tools.click("sound");
    tools.until(&is_on(true));
    tools.until("window.sounded > window.quiet + 3");
    let reports: Vec<_> = pages.iter_mut().map(report).collect();
    assert_equal(&reports[0], &reports[1]);
}

#[test]
fn a_page_and_a_native_play_a_rollback_session() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some((_server, url)) = serve() else { return };
    let native = native("--bot --rollback --peers 2", &url);
    let Some(mut pages) = open(&url, "&rollback&peers=2", &["Bea"]) else { return };
    let page = report(&mut pages[0]);
    let native = native.interrupted();
    assert_paced(&native);
    assert_equal(&page, &native);
}

#[test]
fn a_page_and_a_native_play_in_a_relay_session() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some((_server, url)) = serve() else { return };
    let relay = playing("relay --bot --name Ada", &url);
    let player = playing("play --relay --bot", &url);
    let Some(mut pages) = open(&url, "&relay", &["Bea"]) else { return };
    let page = report(&mut pages[0]);
    assert_eq!(player.interrupted().desyncs, 0);
    let relay = relay.interrupted();
    assert_paced(&relay);
    assert_parts_equal(&page, &relay);
}

#[test]
fn four_pages_play_in_a_relay_session() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some((_server, url)) = serve() else { return };
    let relay = playing("relay", &url);
    let Some(mut pages) = open(&url, "&relay", &["Ada", "Bea", "Cleo", "Dirk"]) else { return };
    let reports: Vec<_> = pages.iter_mut().map(report).collect();
    let relay = relay.interrupted();
    assert_paced(&relay);
    reports.iter().for_each(|report| assert_parts_equal(report, &relay));
}

/// Loads the page once more when its session is over.
const TWICE: &str = r#"
addEventListener("DOMContentLoaded", () => {
  const end = document.getElementById("end");
  new MutationObserver(() => {
    if (!end.open || sessionStorage.getItem("twice")) return;
    sessionStorage.setItem("twice", "1");
    location.reload();
  }).observe(end, { attributes: true });
});
"#;

#[test]
fn a_page_keeps_its_hero_and_brings_it_along() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some((_server, url)), Some(mut page)) = (serve(), blank()) else { return };
    page.tools.go(&link(&url, "&keeps&seconds=3&hero=mage", "Ada"), TWICE);
    page.says("report ");
    assert_eq!(page.says("told "), "You have left the session.");
    assert_eq!(page.says("told "), "mage of level 1 comes along.");
    page.says("report ");
}

/// The bundle of a session one of whose peers has another world.
pub fn faulty(place: &Path) -> PathBuf {
    let args = ["demo", "--peers", "2", "--seconds", "6", "--seed", "5", "--json", "--plant-fault"];
    let demo = dungeon(&args).current_dir(place).output().unwrap();
    let told: serde_json::Value = serde_json::from_slice(&demo.stdout).unwrap();
    place.join(told["peers"][0]["bundle"].as_str().expect("a bundle was saved"))
}

/// What a page says that it found.
fn checked(page: &mut OpenPage) -> String {
    serde_json::from_str(&page.says("report ")).expect("a text")
}

#[test]
fn a_page_comes_to_the_verdict_that_a_native_comes_to_with_a_server_and_as_one_file() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let place = folder("fault-on-a-page");
    let bundle = faulty(&place);
    let Some((_server, mut served)) = view(&[("odd.lksbnd", fs::read(&bundle).unwrap())]) else { return };
    let page = place.join("bug.html");
    let native = run(&["explain", bundle.to_str().unwrap(), "--page", page.to_str().unwrap()]);
    let native = text(&native.stdout).trim();
    assert_eq!(checked(&mut served).trim(), native);
    let link = format!("file://{}#report", page.display());
    let Some(mut file) = OpenPage::open(&link, place.join("profile")) else { return };
    assert_eq!(checked(&mut file).trim(), native);
    [&mut served, &mut file].into_iter().for_each(shows_where_it_began);
}

/// Clicks a cell that differs. Where none does it goes back, a tick at a time.
pub const PICKS: &str = "((cell) => ((cell ?? document.getElementById('back')).click(), cell !== null))(
    document.getElementById('cells').lastChild)";

/// A viewer that has checked shows two worlds side by side with the cells marked that differ, and
/// tells of a cell that is clicked where its difference began.
fn shows_where_it_began(page: &mut OpenPage) {
    page.tools.until(&stands("compared", r"^\d+ cells? differs?: \(\d+, \d+\)"));
    for title in ["title-here", "title-beside"] {
        page.tools.until(&stands(title, "as it was recorded$"));
    }
    let marked = "[...document.getElementById('beside').getContext('2d').getImageData(0, 0, 400, 400).data]
        .some((red, n, all) => n % 4 === 0 && red < 110 && all[n + 1] > 150 && all[n + 2] > 200)";
    page.tools.until(&format!("!document.getElementById('other').hidden && {marked}"));
    // Some ticks on, where it has spread; a recording may end before.
    let [place, end] = ["value", "max"].map(|what| format!("Number(document.getElementById('scrub').{what})"));
    page.tools.until(&format!(
        "(window.from ??= {place}, document.getElementById('next').click(), {place} >= Math.min(window.from + 8, {end}))"
    ));
    page.tools.until(PICKS);
    // What the odd peer had at first may be on record nowhere.
    let since = r"Cell \(\d+, \d+\) differs at tick \d+\.[\s\S]*The difference (began at|is known from) tick";
    page.tools.until(&stands("cone", since));
    page.tools.until("document.getElementById('steps').children.length > 1");
    let click =
        "document.getElementById('beside').dispatchEvent(new MouseEvent('click', { clientX: 300, clientY: 200 }))";
    page.tools.until(&format!("{click} && /^Cell/.test(document.getElementById('cone').innerText)"));
    page.tools.until("document.getElementById('unpick').click() || document.getElementById('chosen').hidden");
}

/// What stands at a place of the page matches that.
pub fn stands(id: &str, expression: &str) -> String {
    format!("/{expression}/.test(document.getElementById('{id}').innerText)")
}

/// Of all pixels of the viewer's picture, each as 0RGB, with its width and height.
const PIXELS: &str = "(() => {
    const { width, height } = document.getElementById('canvas');
    const { data } = document.getElementById('canvas').getContext('2d').getImageData(0, 0, width, height);
    let sum = 2166136261;
    for (let n = 0; n < data.length; n += 4) {
        sum = Math.imul(sum ^ (data[n] << 16 | data[n + 1] << 8 | data[n + 2]), 16777619);
    }
    return [width, height, sum >>> 0];
})()";

fn pixels(frame: &Frame) -> u32 {
    frame.pixels().fold(2_166_136_261, |sum: u32, pixel| (sum ^ pixel).wrapping_mul(16_777_619))
}

#[test]
fn a_picture_is_the_same_to_the_bit_in_a_page_and_natively_and_stands_still_for_who_wants_that() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (_, sound) = recorded(&folder("drawn-on-a-page"));
    let recording = Recording::read(&sound).unwrap_or_else(|error| panic!("{error}"));
    let Some((_server, mut page)) = view(&[("sound.lksrec", sound)]) else { return };
    let calm = serde_json::json!([{ "name": "prefers-reduced-motion", "value": "reduce" }]);
    page.tools.page("Emulation.setEmulatedMedia", serde_json::json!({ "features": calm }));
    page.says("verdict ");
    page.tools.reload();
    page.says("verdict ");
    page.tools.until(&format!("{} && document.getElementById('play').innerText === 'Play'", stands("time", "tick 0$")));
    let mut viewer = Viewer::open::<DungeonGame>(vec![recording], &default_table()).expect("it can be shown");
    let mut drawn = BTreeSet::new();
    for tick in [30, 7, 38] {
        page.tools.value(&format!(
            "Object.assign(document.getElementById('scrub'), {{ value: {tick} }}).dispatchEvent(new Event('input'))"
        ));
        page.tools.until(&stands("time", &format!("tick {tick}$")));
        let [width, height, sum]: [u32; 3] = serde_json::from_value(page.tools.value(PIXELS)).expect("three numbers");
        viewer.look(Tick(tick), PlayerId(0));
        let mut frame = Frame::of_world(width as usize, height as usize);
        let mut scene = viewer.scene(Side::Here, 0.0).expect("there is one");
        scene.skills.clear();
        frame.draw(Some(&scene), &Status::default(), 0.0);
        assert_eq!(pixels(&frame), sum, "tick {tick}, {width} x {height}");
        drawn.insert(sum);
    }
    assert_eq!(drawn.len(), 3, "they are pictures of three ticks");
}

#[test]
fn a_page_verifies_a_recording_as_it_shows_it() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (_, sound) = recorded(&folder("shown-on-a-page"));
    let Some((_server, mut page)) = view(&[("a sound one (é).lksrec", sound)]) else { return };
    assert!(page.says("verdict ").starts_with("In step: all "));
}

#[test]
fn a_check_is_stopped_by_who_began_it_and_can_be_begun_again() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (_, sound) = recorded(&folder("stopped"));
    let Some((_server, mut page)) = view(&[("sound.lksrec", sound)]) else { return };
    page.says("verdict ");
    // The worker waits for its program, so it never ends by itself.
    let held = serde_json::json!({ "patterns": [{ "urlPattern": "*checker.js" }] });
    page.tools.page("Fetch.enable", held);
    for told in ["Stop checking", "Check"] {
        page.tools.click("check");
        page.tools.until(&stands("check", &format!("^{told}$")));
    }
    assert_eq!(page.tools.value("document.getElementById('checked').hidden"), true, "no bar is left");
    page.tools.page("Fetch.disable", serde_json::json!({}));
    page.tools.click("check");
    checked(&mut page);
}

#[test]
fn a_link_shows_a_recording_of_any_host_that_lets_pages_have_it() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (_, sound) = recorded(&folder("linked"));
    let host = |allows: &'static str| {
        let sound = sound.clone();
        let url = codes::server(move |mut stream| {
            let _ = stream.read(&mut [0; 4_096]);
            let head =
                format!("HTTP/1.1 200 OK\r\n{allows}content-length: {}\r\nconnection: close\r\n\r\n", sound.len());
            let _ = stream.write_all(&[head.as_bytes(), &sound].concat());
        });
        format!("{}/hall.lksrec", url.replace("ws://", "http://"))
    };
    let Some((_server, url)) = serve() else { return };
    let open = |place: &str| {
        let link = format!("{}/view.html#report&url={place}", url.replace("ws://", "http://"));
        OpenPage::open(&link, folder("linking").join("profile"))
    };
    let Some(mut page) = open(&host("access-control-allow-origin: *\r\n")) else { return };
    assert!(page.says("verdict ").starts_with("In step: all "));
    for (place, told) in [(host(""), "lets no page of another site"), ("hall.lksrec".into(), "names no address")] {
        let mut page = open(&place).expect("there is a browser");
        page.bears = &["Access to fetch at", "Failed to load resource"];
        assert!(page.says("told ").contains(told));
    }
}
