//! A shell that is stepped on virtual time: without a sleep, a clock, or a file.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lockstone::check::verify;
use lockstone::game::Game;
use lockstone::net::memory::{MemoryNetwork, Weather};
use lockstone::net::session::{EndReason, TrafficClass};
use lockstone::net::wire::{Identity, Terms};
use lockstone::net::{
    Link, Party, PartyConfig, PartySettings, PlayerKey, Rollback, RollbackConfig, RollbackSettings, Session,
};
use lockstone::recording::{Bundle, Ending, Entry, Recording, replay};
use lockstone::scene::{Pointer, Scene};
use lockstone::shell::{
    Display, Labels, Memory, Next, Options, Output, Recorder, Report, Screen, Shell, SoloLink, Storage,
};
use lockstone::sim::Tick;
use lockstone::view::smooth::Smooth;
use lockstone::view::typing::{Key, Typing};
use lockstone::view::{Action, Status, View};
use testkit::faulty::{FROM, Fault, Faulty, Plant, Sim, world_of};

const SEED: u64 = 5;
const FILE: &str = "game.lksrec";

type Playing<L> = Shell<Faulty, L, Party<Sim>>;

fn config(players_at_start: usize) -> PartyConfig {
    let settings = PartySettings { seed: SEED, players_at_start, emit_trees: true, ..PartySettings::default() };
    PartyConfig::new(settings).unwrap()
}

/// A bot's shell. `other` of its seed makes the world differ from the session's.
fn shell<L: Link>(
    (name, other): (&str, u64),
    (link, players): (L, usize),
    recorder: impl FnOnce(Labels) -> Recorder<Sim>,
    options: Options,
) -> Playing<L> {
    let bot = Options { bot: true, ..options };
    watched((name, other), (link, players), recorder, (Screen::None { lines: false }, bot))
}

/// Who is called so has a key.
const KEYED: &str = "Keya";

/// A shell with a screen.
fn watched<L: Link>(
    (name, other): (&str, u64),
    (link, players): (L, usize),
    recorder: impl FnOnce(Labels) -> Recorder<Sim>,
    (screen, options): (Screen, Options),
) -> Playing<L> {
    let identity = Identity { rules: 1, table: lockstone::default_table().digest(), config: 0 };
    let build = move |seed: u64| Faulty::build(seed ^ other, lockstone::default_table());
    let (config, hero) = (config(players), Faulty::hero("able", name).unwrap());
    let labels =
        Labels { game: Faulty::NAME, terms: config.terms(identity), name: name.to_owned(), room: "hall".to_owned() };
    let session = Party::new(config, identity, name, hero, build).unwrap();
    let session = if name == KEYED { session.with_key(PlayerKey::of_secret(name)) } else { session };
    let display = Display::new(screen, &labels, None);
    Shell::new(session, link, recorder(labels), display, options).with_rerun(build)
}

/// Steps it whenever it wants to be. Returns what it reports, and how often it was stepped.
fn play<L: Link>(mut shell: Playing<L>) -> (EndReason, Report, u32) {
    let (mut now, mut steps) = (Duration::ZERO, 0);
    while let Next::At(at) = shell.step(now) {
        assert!(at >= now, "time never goes back");
        (now, steps) = (at, steps + 1);
    }
    let (reason, report) = shell.finish();
    (reason, report, steps)
}

/// Steps shells on a network whenever one of them wants to be, until all are over. Each time
/// `watch` is called.
fn together<L: Link, T: Session<Sim = Sim>>(
    network: &MemoryNetwork,
    shells: &mut [Shell<Faulty, L, T>],
    mut watch: impl FnMut(Duration),
) {
    let (mut now, mut over) = (Duration::ZERO, vec![false; shells.len()]);
    while !over.iter().all(|over| *over) {
        network.advance(now);
        let mut next = network.next_arrival().unwrap_or(Duration::MAX);
        for (shell, over) in shells.iter_mut().zip(&mut over).filter(|(_, over)| !**over) {
            match shell.step(now) {
                Next::At(at) => next = next.min(at),
                Next::Over => *over = true,
            }
        }
        watch(now);
        // What is sent within a step arrives later.
        now = now.max(next.min(network.next_arrival().unwrap_or(Duration::MAX)));
    }
}

/// A game alone of ten seconds, recorded.
fn alone(storage: impl Storage + 'static, beside: bool) -> (EndReason, Report, u32) {
    let recorder = |labels| {
        let recorder = Recorder::new(labels, storage, Some(Path::new(FILE))).unwrap().with_trees(true);
        if beside { recorder.beside() } else { recorder }
    };
    let time = Some(Duration::from_secs(10));
    play(shell(("Ada", 0), (SoloLink::default(), 1), recorder, Options { time, ..Options::default() }))
}

#[test]
fn a_game_alone_is_stepped_no_more_often_than_it_ticks() {
    let storage = Memory::default();
    let (reason, report, steps) = alone(storage.clone(), false);
    assert_eq!(reason, EndReason::Left);
    assert!((200..=202).contains(&report.ticks) && steps <= 2 * report.ticks, "{steps} steps, {report:?}");
    assert!(report.commands_sent > 0, "the bot plays");
    let recording = Recording::<Sim>::read(&storage.files()[Path::new(FILE)]).ok().unwrap();
    assert_eq!(recording.ending, Ending::Closed(reason.to_string()));
    let played = replay(recording, Faulty::build(SEED, lockstone::default_table())).unwrap();
    assert!(played.mismatch.is_none() && played.checksums >= 200, "{played:?}");
}

#[test]
fn a_recording_is_the_same_whoever_writes_it() {
    let [here, beside] = [false, true].map(|beside| {
        let storage = Memory::default();
        alone(storage.clone(), beside);
        storage.files()
    });
    assert!(here[Path::new(FILE)].len() > 10_000 && here == beside);
}

#[test]
fn a_report_tells_of_the_others_as_they_were_before_anyone_left() {
    let network = MemoryNetwork::new(SEED, Weather::clear(Duration::from_millis(30)));
    let mut shells = [("Ada", 0), ("Bram", 0)].map(|who| {
        let recorder = |labels| Recorder::new(labels, Memory::default(), None).unwrap();
        shell(who, (network.enter(), 2), recorder, Options { until: Some(Tick(400)), ..Options::default() })
    });
    together(&network, &mut shells, |_| {});
    let [ada, bram] = shells.map(|mut shell| shell.finish().1);
    for (report, (player, name)) in [(&ada, (1, "Bram")), (&bram, (0, "Ada"))] {
        let [other] = &report.others[..] else { panic!("one other: {report:?}") };
        assert_eq!((other.player, &*other.name), (Some(player), name));
        for rtt in [other.rtt_ms, other.rtt_last_ms] {
            assert!(rtt.is_some_and(|rtt| (60.0..62.0).contains(&rtt)), "{other:?}");
        }
        assert!(other.jitter_ms.is_some_and(|jitter| jitter < 2.0));
        assert!(other.packets_expected > 30 && other.packets_lost == 0 && other.loss_percent == 0.0);
        assert!(report.delay.commands > 0 && report.delay.max_ticks < 10, "{report:?}");
        assert!(report.delay.mean_ticks >= 1.0 && report.delay.mean_ticks <= report.delay.max_ticks as f32);
        assert_eq!((report.stalls.count, report.takeovers), (0, 0));
        let sum: u64 = report.traffic.values().map(|traffic| traffic.bytes_in).sum();
        assert_eq!(sum, report.bytes_in);
    }
    assert!(ada.others[0].traffic[&TrafficClass::Turns].packets_out > 30);
    assert!(bram.others[0].traffic[&TrafficClass::Turns].packets_in > 30);
}

/// A disk with room for so many bytes.
#[derive(Clone)]
struct Disk {
    memory: Memory,
    room: Arc<AtomicUsize>,
    refused: Arc<AtomicUsize>,
}

impl Disk {
    fn new(room: usize) -> Disk {
        Disk { memory: Memory::default(), room: Arc::new(room.into()), refused: Arc::default() }
    }
}

struct Counted(Disk, Output);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.0.room.load(Ordering::Relaxed);
        if bytes.len() > room {
            self.0.refused.fetch_add(1, Ordering::Relaxed);
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.0.room.store(room - bytes.len(), Ordering::Relaxed);
        self.1.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.1.flush()
    }
}

impl Storage for Disk {
    fn create(&mut self, path: &Path) -> io::Result<Output> {
        Ok(Box::new(Counted(self.clone(), self.memory.create(path)?)))
    }

    fn folders(&self) -> Vec<PathBuf> {
        self.memory.folders()
    }

    fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.memory.remove(path)
    }
}

#[test]
fn a_full_disk_stops_the_recording_once_and_never_the_game() {
    let (_, whole, _) = alone(Disk::new(usize::MAX), false);
    assert_eq!(whole.recording_error, None);
    for beside in [false, true] {
        let disk = Disk::new(20_000);
        let (reason, report, _) = alone(disk.clone(), beside);
        assert_eq!((reason, report.ticks), (EndReason::Left, whole.ticks));
        assert!(report.recording_error.is_some());
        assert_eq!(disk.refused.load(Ordering::Relaxed), 1, "it is not tried again");
        let left = Recording::<Sim>::read(&disk.memory.files()[Path::new(FILE)]).ok().unwrap();
        assert!(left.end() > Tick(0) && left.end() < Tick(whole.ticks), "{}", left.end());
    }
}

#[test]
fn a_session_that_never_began_leaves_no_file() {
    let storage = Memory::default();
    let recorder = |labels| Recorder::new(labels, storage.clone(), Some(Path::new(FILE))).unwrap();
    let shell = shell(("Ada", 0), (SoloLink::default(), 1), recorder, Options::default());
    assert_eq!(storage.files().len(), 1);
    drop(shell);
    assert!(storage.files().is_empty());
}

#[test]
fn worlds_that_differ_leave_a_bundle_with_both_recordings() {
    let network = MemoryNetwork::new(SEED, Weather::clear(Duration::from_millis(30)));
    let storage = Memory::default();
    let mut shells = [("Ada/../x", 0), ("Bram", 1)].map(|who| {
        let recorder = |labels| Recorder::new(labels, storage.clone(), None).unwrap();
        shell(
            who,
            (network.enter(), 2),
            recorder,
            Options { time: Some(Duration::from_secs(60)), ..Options::default() },
        )
    });
    let mut at_once = BTreeMap::new();
    together(&network, &mut shells, |_| {
        if at_once.is_empty() {
            at_once = storage.files();
        }
    });
    let files = storage.files();
    let is_desync = |entry: &Entry<Sim>| matches!(entry, Entry::Desync(_));
    for (path, file) in &at_once {
        let [at_once, at_last] = [file, &files[path]].map(|file| Recording::<Sim>::read(file).ok().unwrap());
        assert!(at_once.entries.iter().any(is_desync), "what was only in memory is saved, and the difference");
        assert_eq!(at_once.ending, Ending::Open);
        assert!(matches!(at_last.ending, Ending::Closed(_)) && at_last.end() >= at_once.end());
    }
    let names = |name: &str| at_once.keys().filter(|path| path.to_string_lossy().contains(name)).count();
    assert!(names("hall-Adax-") + names("hall-Bram-") == at_once.len() && !at_once.is_empty(), "{:?}", at_once.keys());
    for shell in &mut shells {
        let (_, report) = shell.finish();
        assert!(report.desyncs > 0 && report.recording.is_some(), "{report:?}");
        let bundle = Bundle::read(&files[Path::new(&report.bundle.expect("a bundle is saved"))]).unwrap();
        assert_eq!((bundle.recordings.len(), bundle.missing.len()), (2, 0));
        // Also that of whoever was repaired meanwhile tells of the history that differed.
        for file in &bundle.recordings {
            let recording = Recording::<Sim>::read(file).ok().unwrap();
            assert!(recording.entries.iter().any(is_desync));
        }
    }
}

/// A person, or who watches a bot.
struct Eye {
    seen: Arc<Mutex<Vec<Picture>>>,
    /// Clicks now and then: to the east, to the west, ...
    clicks: bool,
    pictures: u32,
}

/// What is shown at the end of a tick, and the scene of that tick as it is.
struct Picture {
    shown: Scene,
    scene: Scene,
    clicked: bool,
}

const PICTURES_A_CLICK: u32 = 60;

impl View for Eye {
    fn show(&mut self, scenes: &Smooth, _: f32, _: &Status, _: f32) {
        if let Some((shown, scene)) = scenes.at(1.0).zip(scenes.newest().cloned()) {
            self.pictures += 1;
            let clicked = self.clicks && self.pictures.is_multiple_of(PICTURES_A_CLICK);
            self.seen.lock().unwrap().push(Picture { shown, scene, clicked });
        }
    }

    fn actions(&mut self) -> Vec<Action> {
        let (seen, round) = (self.seen.lock().unwrap(), self.pictures / PICTURES_A_CLICK);
        let Some(Picture { scene, clicked: true, .. }) = seen.last() else { return Vec::new() };
        let (x, y) = scene.center;
        // In between it is halted.
        let far = if round.is_multiple_of(2) { 0.0 } else { 9.0 };
        vec![Action::Click((x + far * if round % 4 == 1 { 1.0 } else { -1.0 }, y), Pointer::Primary)]
    }

    fn line(&self) -> Option<&str> {
        None
    }
}

/// A person who joins a bot over a line of 300 ms plays for a minute. Returns what both report, and
/// what the one of them saw that is asked for.
fn seen(person: bool, no_look_ahead: bool) -> (Vec<Report>, Vec<Picture>) {
    let network = MemoryNetwork::new(SEED, Weather::clear(Duration::from_millis(150)));
    let seen = Arc::<Mutex<Vec<_>>>::default();
    let mut shells = ["Ada", "Bram"].map(|name| {
        let joins = name == "Bram";
        let recorder = |labels| Recorder::new(labels, Memory::default(), None).unwrap();
        let eye = Eye { seen: seen.clone(), clicks: person, pictures: 0 };
        let screen = if joins { Screen::View(Box::new(eye)) } else { Screen::None { lines: false } };
        let time = Some(Duration::from_secs(if joins { 60 } else { 63 }));
        let options = Options { bot: !(joins && person), no_look_ahead, time, ..Options::default() };
        watched((name, 0), (network.enter(), 2), recorder, (screen, options))
    });
    together(&network, &mut shells, |_| {});
    let reports = shells.iter_mut().map(|shell| shell.finish().1).collect();
    (reports, std::mem::take(&mut *seen.lock().unwrap()))
}

#[test]
fn a_person_sees_the_own_hero_answer_at_once() {
    /// Pictures after a click until the hero moves, as it is most often: now and then it is held
    /// up, or moves anyway.
    fn answer(pictures: &[Picture]) -> usize {
        let clicks = (0..pictures.len()).filter(|n| pictures[*n].clicked);
        let moves = |at: usize| pictures[at..].iter().position(|one| one.scene.center != pictures[at].scene.center);
        let mut count = BTreeMap::<usize, u32>::new();
        clicks.filter_map(moves).for_each(|after| *count.entry(after).or_default() += 1);
        count.into_iter().max_by_key(|(_, times)| *times).expect("it moves").0
    }
    let [(ahead, sees_ahead), (confirmed, sees_confirmed)] = [false, true].map(|off| seen(true, off));
    let [after, confirmed_after] = [sees_ahead, sees_confirmed].map(|pictures| answer(&pictures));
    // A picture comes each 33 ms, a tick each 50, and a round trip takes 300.
    assert!(after <= 2 && confirmed_after >= 9, "after {after} pictures, else after {confirmed_after}");
    assert!(ahead.iter().all(|report| report.ahead.is_some_and(|ahead| ahead.compared > 1_000)), "{ahead:?}");
    assert!(confirmed.iter().all(|report| report.ahead.is_none()), "{confirmed:?}");
    assert!(ahead.iter().chain(&confirmed).all(|report| report.desyncs == 0 && report.checksums_compared > 50));
}

#[test]
fn what_was_predicted_wrongly_glides_to_its_place() {
    let [(ahead, sees_ahead), (_, sees_confirmed)] = [false, true].map(|off| seen(false, off));
    let gliding = |pictures: &[Picture]| {
        let off = |one: &&Picture| one.shown.figures.iter().zip(&one.scene.figures).any(|(a, b)| a.pos != b.pos);
        pictures.iter().filter(off).count()
    };
    let rollbacks = ahead[1].ahead.unwrap().rollbacks;
    println!("{rollbacks} rollbacks, {} of {} pictures glide", gliding(&sees_ahead), sees_ahead.len());
    assert!(rollbacks > 10 && gliding(&sees_ahead) > 10);
    assert_eq!(gliding(&sees_confirmed), 0, "what is confirmed is never corrected");
}

/// A person who reads the news, and goes on without the others as soon as that is offered.
struct Reader(Arc<Mutex<Vec<String>>>);

impl View for Reader {
    fn show(&mut self, _: &Smooth, _: f32, status: &Status, _: f32) {
        let mut read = self.0.lock().unwrap();
        let news: Vec<_> = status.news.iter().filter(|news| !read.contains(news)).cloned().collect();
        read.extend(news);
    }

    fn actions(&mut self) -> Vec<Action> {
        let offered = self.0.lock().unwrap().last().is_some_and(|news| news.contains("/branch"));
        Vec::from_iter(offered.then_some(Action::Branch))
    }

    fn line(&self) -> Option<&str> {
        None
    }
}

#[test]
fn who_is_cut_off_goes_on_alone_and_what_was_played_is_kept() {
    let network = MemoryNetwork::new(SEED, Weather::clear(Duration::from_millis(30)));
    let (storage, read) = (Memory::default(), Arc::<Mutex<Vec<_>>>::default());
    let mut peers = Vec::new();
    let mut shells = ["Ada", "Bram", "Cora"].map(|name| {
        let recorder = |labels| Recorder::new(labels, storage.clone(), None).unwrap();
        let screen = match name {
            "Ada" => Screen::View(Box::new(Reader(read.clone()))),
            _ => Screen::None { lines: false },
        };
        let time = Some(Duration::from_secs(40));
        let options = Options { bot: true, time, keep_checksums: true, ..Options::default() };
        let link = network.enter();
        peers.push(link.peer());
        watched((name, 0), (link, 3), recorder, (screen, options))
    });
    together(&network, &mut shells, |now| {
        let is_cut = (5..25).contains(&now.as_secs());
        peers[1..].iter().for_each(|other| network.set_cut(peers[0], *other, is_cut));
    });
    let read = read.lock().unwrap();
    let told =
        |what: &str| read.iter().position(|news| news.contains(what)).unwrap_or_else(|| panic!("{what}: {read:?}"));
    let course = ["Only 1 of 3", "Still only 1 of 3", "Ada goes on without", "is kept in", "met again"].map(told);
    assert!(course.is_sorted(), "{read:?}");
    let files = storage.files();
    let [(path, file)] = Vec::from_iter(&files)[..] else { panic!("one file: {:?}", files.keys()) };
    assert!(path.to_string_lossy().contains("branch-hall-Ada-"), "{path:?}");
    let recording = Recording::<Sim>::read(file).ok().unwrap();
    assert!(recording.end() > Tick(250), "until they met: {}", recording.end());
    let played = replay(recording, Faulty::build(SEED, lockstone::default_table())).unwrap();
    assert!(played.mismatch.is_none() && played.checksums > 100, "{played:?}");
    drop(read);
    // What a player reports is the session's.
    let [ada, bram] = [0, 1].map(|n| {
        let checksums = shells[n].finish().1.checksums.into_iter();
        checksums.map(|check| (check.tick, check.checksum)).collect::<BTreeMap<_, _>>()
    });
    let differing = ada.iter().filter(|(tick, checksum)| bram.get(tick).is_some_and(|other| other != *checksum));
    assert_eq!(differing.count(), 0);
    assert!(ada.len() > 300 && ada.len() < bram.len() - 100, "{} beside {}", ada.len(), bram.len());
}

/// What is typed, and at which picture.
type Line = (u32, &'static str);

/// A person who types lines, each at its picture, and reads the news.
struct Typist {
    read: Arc<Mutex<Vec<String>>>,
    lines: VecDeque<Line>,
    pictures: u32,
    typing: Typing,
}

impl View for Typist {
    fn show(&mut self, _: &Smooth, _: f32, status: &Status, _: f32) {
        self.pictures += 1;
        *self.read.lock().unwrap() = status.news.clone();
    }

    fn actions(&mut self) -> Vec<Action> {
        let due = self.lines.pop_front_if(|(at, _)| self.pictures >= *at);
        let Some((_, line)) = due else { return Vec::new() };
        let says = (!line.starts_with('/')).then_some(Key::Enter);
        let keys = says.into_iter().chain(line.chars().map(Key::Char)).chain([Key::Enter]);
        keys.filter_map(|key| self.typing.press(key)).collect()
    }

    fn line(&self) -> Option<&str> {
        self.typing.line()
    }
}

/// Persons who play for so many seconds each, and type lines. Returns the news that each reads in
/// the end.
fn typed<const N: usize>(persons: [(&str, &[Line], u64); N]) -> [Vec<String>; N] {
    let network = MemoryNetwork::new(SEED, Weather::clear(Duration::from_millis(30)));
    let read: [Arc<Mutex<Vec<String>>>; N] = std::array::from_fn(|_| Arc::default());
    let mut seats = read.iter();
    let mut shells = persons.map(|(name, lines, time_s)| {
        let recorder = |labels| Recorder::new(labels, Memory::default(), None).unwrap();
        let (read, lines) = (seats.next().unwrap().clone(), lines.iter().copied().collect());
        let screen = Screen::View(Box::new(Typist { read, lines, pictures: 0, typing: Typing::default() }));
        let options = Options { time: Some(Duration::from_secs(time_s)), ..Options::default() };
        watched((name, 0), (network.enter(), N), recorder, (screen, options))
    });
    together(&network, &mut shells, |_| {});
    read.map(|read| read.lock().unwrap().clone())
}

#[test]
fn two_players_of_one_name_are_told_apart_and_one_is_muted() {
    let [news, ..] = typed([
        ("Bram", &[(90, "/mute ada (3)"), (190, "/mute Ada (3)"), (230, "/mute Dora")], 10),
        ("Ada", &[(60, "one"), (150, "two")], 12),
        ("Ada", &[(70, "three"), (140, "four"), (210, "five")], 12),
    ]);
    let expected = [
        "Ada is here.",
        "Ada (3) is here.",
        "Ada: one",
        "Ada (3): three",
        "Ada (3) is not heard any more. /mute once more hears it again.",
        "Ada: two",
        "Ada (3) is heard again.",
        "Ada (3): five",
        "No other is called \"Dora\": Ada, Ada (3) are here.",
    ];
    assert_eq!(news, expected);
}

#[test]
fn whom_two_of_three_want_out_goes_and_all_read_why() {
    let [news, _, out] = typed([
        ("Bram", &[(60, "/out Cora")], 10),
        ("Ada", &[(90, "/out cora"), (120, "/out Cora")], 10),
        ("Cora", &[], 60),
    ]);
    let expected = [
        "Ada is here.",
        "Cora is here.",
        "Bram wants Cora out (1 of 3). /out NAME votes so, too.",
        "Ada wants Cora out (2 of 3). /out NAME votes so, too.",
        "Cora was voted out.",
    ];
    assert_eq!(news, expected);
    assert!(out.contains(&"Ada wants you out (2 of 3). /out NAME votes so, too.".to_owned()), "{out:?}");
}

#[test]
fn keys_are_shown_to_be_compared_and_whose_are_proven() {
    let key = PlayerKey::of_secret(KEYED).public().short();
    assert!(key.len() == 24 && key.split(' ').count() == 5, "{key}");
    let [host, ..] = typed([("Bram", &[(90, "/keys")], 6), (KEYED, &[], 8), ("Ada", &[], 8)]);
    let expected = [
        "Ask each other, by another way, whether you see the same keys:",
        "Bram: no key is known here",
        "Ada: no key is known here",
        &format!("Keya: {key} (nobody is between you)"),
    ];
    assert_eq!(host[2..], expected);
    let [host, ..] = typed([(KEYED, &[(90, "/keys")], 6), ("Ada", &[], 8), ("Bram", &[], 8)]);
    assert!(host.contains(&format!("Keya (you): {key}")), "{host:?}");
    let [_, replica, _] = typed([("Ada", &[], 8), ("Bram", &[(90, "/keys")], 6), (KEYED, &[], 8)]);
    assert!(replica.contains(&format!("Keya: {key} (as the session tells)")), "{replica:?}");
    let [.., newcomer] = typed([("Ada", &[], 8), (KEYED, &[], 8), ("Bram", &[(90, "/keys")], 6)]);
    assert!(newcomer.contains(&format!("Keya: {key} (as the session tells)")), "{newcomer:?}");
}

#[test]
fn the_last_one_is_told_that_it_is_alone() {
    let [news, ..] = typed([("Bram", &[], 9), ("Ada", &[], 6), ("Cora", &[], 4)]);
    let expected = ["Ada is here.", "Cora is here.", "Cora left.", "Ada left.", "You are the only one here now."];
    assert_eq!(news, expected);
}

#[test]
fn what_nobody_knows_is_told_once_and_help_tells_the_keys() {
    let [news] = typed([("Bram", &[(40, "/jump"), (50, "/jump"), (60, "/help"), (70, "/jump")], 5)]);
    assert_eq!(news.iter().filter(|news| news.contains("only rest can be typed")).count(), 2, "{news:?}");
    assert!(news.iter().any(|news| news.contains("WASD walks")), "{news:?}");
}

fn faulty(fault: Fault) -> impl Fn(u64) -> Sim + Clone + Send + Sync + 'static {
    move |seed| world_of(seed, lockstone::default_table(), Plant::new(fault))
}

/// What two bots report, if the rules of the second panic, and what that one recorded.
fn with_a_panic<T: Session<Sim = Sim>>(
    delay: Duration,
    terms: Terms,
    session: impl Fn(&str, Fault) -> T,
) -> ([Report; 2], Vec<u8>) {
    let network = MemoryNetwork::new(SEED, Weather::clear(delay));
    let storage = Memory::default();
    let mut shells = [("Bram", Fault::None), ("Ada", Fault::Panic)].map(|(name, fault)| {
        let labels = Labels { game: Faulty::NAME, terms, name: name.to_owned(), room: "hall".to_owned() };
        let display = Display::new(Screen::None { lines: false }, &labels, None);
        let recorder = Recorder::new(labels, storage.clone(), None).unwrap();
        let options = Options { bot: true, time: Some(Duration::from_secs(10)), ..Options::default() };
        Shell::<Faulty, _, T>::new(session(name, fault), network.enter(), recorder, display, options)
    });
    together(&network, &mut shells, |_| {});
    let reports = shells.map(|mut shell| shell.finish().1);
    let recording = storage.files()[Path::new(reports[1].recording.as_ref().expect("it was saved"))].clone();
    (reports, recording)
}

/// Played again, it panics in the same line; where it does not, that it did is told.
fn the_line_is_named(ada: &Report, bytes: &[u8]) {
    let (tick, panicked) = ada.panic.as_ref().expect("its rules panicked");
    assert_eq!((Tick(*tick), panicked.message.as_str()), (FROM, "a hero is not that strong"));
    assert!(panicked.at.starts_with("testkit/src/faulty/fault.rs:"), "{panicked}");
    let recording = || Recording::<Sim>::read(bytes).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(recording().end(), FROM.next());
    let report = verify(recording(), &faulty(Fault::Panic)).unwrap();
    assert_eq!(report.panic, Some((FROM, panicked.clone())));
    assert!(report.peers[0].checksums > FROM.0 / 2 && !report.is_in_step(), "{report}");
    assert!(report.to_string().contains(&format!("verdict PANIC: {panicked}, in the step of tick {FROM}")), "{report}");
    let report = verify(recording(), &faulty(Fault::None)).unwrap();
    assert!(!report.is_in_step() && report.panic().unwrap().ends_with("it does not here"), "{report}");
}

const IDENTITY: Identity = Identity { rules: 1, table: 2, config: 0 };

#[test]
fn what_led_to_a_panic_is_on_record_and_the_others_play_on() {
    let ([bram, ada], bytes) = with_a_panic(Duration::from_millis(30), config(2).terms(IDENTITY), |name, fault| {
        Party::new(config(2), IDENTITY, name, Faulty::hero("able", name).unwrap(), faulty(fault)).unwrap()
    });
    assert!(bram.panic.is_none() && bram.ticks >= 199 && bram.desyncs == 0, "{bram:?}");
    the_line_is_named(&ada, &bytes);
    let recording = Recording::<Sim>::read(&bytes).ok().unwrap();
    assert_eq!(recording.ending.panic(), ada.panic.map(|(_, panicked)| panicked.to_string()).as_deref());
}

#[test]
fn what_led_to_a_panic_in_a_predicted_turn_is_on_record_and_the_others_play_on() {
    let settings = RollbackSettings { seed: SEED, max_prediction_ticks: 12, ..RollbackSettings::default() };
    // So long that a command of the bot's own is among what is predicted.
    let (config, delay) = (RollbackConfig::new(settings).unwrap(), Duration::from_millis(200));
    let ([bram, ada], bytes) = with_a_panic(delay, config.terms(IDENTITY), |name, fault| {
        Rollback::new(config.clone(), IDENTITY, name, Faulty::hero("able", name).unwrap(), faulty(fault)).unwrap()
    });
    assert!(bram.panic.is_none() && bram.ticks > 150 && bram.desyncs == 0 && bram.takeovers > 0, "{bram:?}");
    the_line_is_named(&ada, &bytes);

    let mut recording = Recording::<Sim>::read(&bytes).ok().unwrap();
    let (mut tick, mut settled, mut predicted) = (recording.header.start, Tick(0), None);
    for entry in &recording.entries {
        match entry {
            Entry::Checksum(_) => (settled, predicted) = (tick, None),
            Entry::Turn(_) => predicted = Some(tick),
            _ => {}
        }
        tick = tick.plus(entry.ticks());
    }
    assert!(settled.plus(2) <= FROM, "it is predicted from tick {settled} on");
    assert!(predicted > Some(settled), "turns are on record that are not final: {predicted:?}, {settled}");
    let reason = recording.ending.panic().expect("it says why it ends");
    assert!(reason.ends_with(&format!("turns are predicted from tick {} on", settled.next())), "{reason}");

    // Without what was predicted nothing leads to the panic.
    let last = recording.entries.iter().rposition(|entry| matches!(entry, Entry::Checksum(_))).unwrap();
    recording.entries.truncate(last + 1);
    let report = verify(recording, &faulty(Fault::Panic)).unwrap();
    assert_eq!((report.panic, report.end), (None, settled));
}
