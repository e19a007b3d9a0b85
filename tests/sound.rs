//! Sounds as they are mixed, and that each tick is heard once: when it is final.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use lockstone::game::Game;
use lockstone::net::memory::{MemoryNetwork, Weather};
use lockstone::net::wire::Identity;
use lockstone::net::{Party, PartyConfig, PartySettings, Rollback, RollbackConfig, RollbackSettings, Session};
use lockstone::recording::{Entry, Recording};
use lockstone::shell::{Display, Labels, Memory, Next, Options, Recorder, Report, Screen, Shell, SoloLink};
use lockstone::sim::{PlayerId, Simulation, Turn};
use lockstone::sound::{Mixer, Sound, Tone, VOICES_MAX, Wave};
use lockstone::view::smooth::Smooth;
use lockstone::view::{Action, Status, View};
use testkit::faulty::{Faulty, Sim, told};

const RATE_HZ: u32 = 48_000;
const SEED: u64 = 5;
const FILE: &str = "game.lksrec";

/// One of each timbre: two at once, one later.
const THUD: &[Tone] = &[
    Tone::new(Wave::Noise, (3_000.0, 400.0), 0.1, 0.4),
    Tone::new(Wave::Triangle, (220.0, 110.0), 0.12, 0.4),
    Tone::new(Wave::Sine, (880.0, 880.0), 0.2, 0.3).after(0.1).swelling(0.02),
];

/// So many seconds of what a mixer plays.
fn heard(mixer: &mut Mixer, time_s: f32) -> Vec<[f32; 2]> {
    (0..(time_s * RATE_HZ as f32) as usize).map(|_| mixer.frame()).collect()
}

fn loudest(frames: &[[f32; 2]], side: usize) -> f32 {
    frames.iter().map(|frame| frame[side].abs()).fold(0.0, f32::max)
}

#[test]
fn a_sound_begins_and_ends_without_a_click_and_is_the_same_again() {
    let mut mixer = Mixer::new(RATE_HZ);
    let sound = Sound::new(THUD);
    assert_eq!(sound.length_s(), 0.3);
    let [first, again] = [(), ()].map(|()| {
        mixer.play(sound);
        let frames = heard(&mut mixer, 0.3);
        assert!(!mixer.is_silent() || frames.len() == 14_400);
        heard(&mut mixer, 0.01);
        assert!(mixer.is_silent(), "it is over");
        frames
    });
    assert!(first == again, "nothing is left of the first");
    assert!(loudest(&first, 0) > 0.2, "{}", loudest(&first, 0));
    for edge in [&first[..10], &first[first.len() - 10..]] {
        assert!(loudest(edge, 0) < 0.02, "{edge:?}");
    }
    // At most a few kHz are in it: no sample is far from the one before.
    let jump = first.windows(2).map(|pair| (pair[1][0] - pair[0][0]).abs()).fold(0.0, f32::max);
    assert!(jump < 0.2, "{jump}");
    assert_eq!(heard(&mut mixer, 0.1), vec![[0.0; 2]; 4_800], "silence");
}

#[test]
fn however_much_is_played_it_is_no_louder_than_a_device_can_be() {
    let mut mixer = Mixer::new(RATE_HZ);
    for _ in 0..VOICES_MAX + 10 {
        mixer.play(Sound::new(THUD));
    }
    let many = heard(&mut mixer, 0.4);
    assert!(many.iter().flatten().all(|sample| sample.is_finite() && sample.abs() <= 1.0));
    assert!(loudest(&many, 0) > 0.9);
    let mut all = Mixer::new(RATE_HZ);
    (0..VOICES_MAX).for_each(|_| all.play(Sound::new(THUD)));
    assert!(many == heard(&mut all, 0.4), "those beyond are not heard");
}

#[test]
fn what_is_to_the_left_comes_from_the_left_and_what_is_far_is_quiet() {
    let loudness = |place| {
        let mut mixer = Mixer::new(RATE_HZ);
        mixer.play(Sound::new(THUD).at(place));
        let frames = heard(&mut mixer, 0.3);
        [loudest(&frames, 0), loudest(&frames, 1)]
    };
    let [here, left, right, far] = [(0.0, 0.0), (-8.0, 0.0), (8.0, 0.0), (0.0, 20.0)].map(loudness);
    assert_eq!(here[0], here[1]);
    assert!(left[0] > 2.0 * left[1] && right[1] > 2.0 * right[0], "{left:?} {right:?}");
    assert!(far[0] < here[0] / 10.0 && far[0] > 0.0, "{far:?}");
}

#[test]
fn what_is_odd_is_played_as_something() {
    const fn odd(wave: Wave, hz: (f32, f32), length_s: f32) -> Tone {
        Tone { attack_s: 0.0, ..Tone::new(wave, hz, length_s, 1.0) }
    }
    const NONE: &[Tone] = &[odd(Wave::Sine, (0.0, 0.0), 0.0)];
    const WILD: &[Tone] = &[odd(Wave::Triangle, (0.0, 90_000.0), 0.1), odd(Wave::Noise, (-5.0, 3.0), 0.05)];
    for tones in [&[], NONE, WILD] {
        for place in [(0.0, 0.0), (f32::MAX, f32::MAX), (-1e9, 0.0)] {
            let mut mixer = Mixer::new(RATE_HZ);
            mixer.play(Sound::new(tones).at(place).pitched(0.5));
            let frames = heard(&mut mixer, 0.2);
            assert!(frames.iter().flatten().all(|sample| sample.is_finite() && sample.abs() <= 1.0), "{tones:?}");
            assert!(mixer.is_silent());
        }
    }
}

/// Where bots play, and what they hear.
struct Table {
    network: MemoryNetwork,
    identity: Identity,
}

type Heard = Rc<RefCell<Vec<Sound>>>;

impl Table {
    fn new(weather: Weather) -> Table {
        let identity = Identity { rules: 1, table: lockstone::default_table().digest(), config: 0 };
        Table { network: MemoryNetwork::new(SEED, weather), identity }
    }

    /// Two bots play for 20 s. Returns what each reports, recorded and heard.
    fn play<T: Session<Sim = Sim>>(&self, session: impl Fn(&str) -> (T, Labels)) -> Vec<(Report, Memory, Vec<Sound>)> {
        let mut seats = ["Ada", "Bram"].map(|name| {
            let (storage, heard) = (Memory::default(), Heard::default());
            let (session, labels) = session(name);
            let recorder = Recorder::new(labels.clone(), storage.clone(), Some(Path::new(FILE))).unwrap();
            let display = Display::new(Screen::None { lines: false }, &labels, None);
            let options = Options { bot: true, time: Some(Duration::from_secs(20)), ..Options::default() };
            let ear = heard.clone();
            let shell = Shell::<Faulty, _, T>::new(session, self.network.enter(), recorder, display, options)
                .with_sound(true, move |sounds| {
                    ear.borrow_mut().extend(sounds);
                    Ok(())
                });
            (shell, storage, heard, false)
        });
        let mut now = Duration::ZERO;
        while seats.iter().any(|(.., over)| !over) {
            self.network.advance(now);
            let mut next = self.network.next_arrival().unwrap_or(Duration::MAX);
            for (shell, .., over) in seats.iter_mut().filter(|(.., over)| !over) {
                match shell.step(now) {
                    Next::At(at) => next = next.min(at),
                    Next::Over => *over = true,
                }
            }
            now = now.max(next.min(self.network.next_arrival().unwrap_or(Duration::MAX)));
        }
        let told = seats.into_iter().map(|(mut shell, storage, heard, _)| (shell.finish().1, storage, heard.take()));
        told.collect()
    }

    fn labels(&self, name: &str, terms: lockstone::net::wire::Terms) -> Labels {
        Labels { game: Faulty::NAME, terms, name: name.to_owned(), room: "hall".to_owned() }
    }
}

fn build(seed: u64) -> Sim {
    Faulty::build(seed, lockstone::default_table())
}

/// What is to be heard of each tick of a recording.
fn recorded(storage: &Memory, player: u16) -> Vec<Sound> {
    let recording = Recording::<Sim>::read(&storage.files()[Path::new(FILE)]).ok().unwrap();
    let mut world = build(SEED);
    world.restore_from(&recording.snapshot).unwrap();
    let turns = recording.entries.into_iter().flat_map(|entry| match entry {
        Entry::Empty(ticks) => vec![Turn::EMPTY; ticks as usize],
        Entry::Turn(turn) => vec![turn],
        _ => Vec::new(),
    });
    let mut all = Vec::new();
    for turn in turns {
        world.step(&turn);
        all.extend(world.hero(PlayerId(player)).map(|hero| told(world.tick(), hero.pos)));
    }
    all
}

/// Each tick was heard once, in order, as it was in the end; some may be left out.
fn assert_heard_once(played: &[(Report, Memory, Vec<Sound>)]) {
    for (report, storage, heard) in played {
        let all = recorded(storage, report.player.expect("it plays"));
        let mut rest = all.iter();
        let is_told = heard.iter().all(|sound| rest.any(|one| one == sound));
        assert!(is_told, "something was heard twice, or never was: {} of {}", heard.len(), all.len());
        assert!(heard.len() * 100 > all.len() * 80, "{} of {} ticks were heard", heard.len(), all.len());
    }
}

#[test]
fn of_a_party_each_tick_is_heard_once_however_often_it_is_predicted() {
    let table = Table::new(Weather::clear(Duration::from_millis(150)));
    let played = table.play(|name| {
        let settings = PartySettings { seed: SEED, players_at_start: 2, ..PartySettings::default() };
        let config = PartyConfig::new(settings).unwrap();
        let labels = table.labels(name, config.terms(table.identity));
        (Party::new(config, table.identity, name, Faulty::hero("able", name).unwrap(), build).unwrap(), labels)
    });
    assert!(played.iter().any(|(report, ..)| report.ahead.is_some_and(|ahead| ahead.rollbacks > 10)));
    assert_heard_once(&played);
}

#[test]
fn of_a_rollback_session_each_tick_is_heard_once_however_often_it_is_played() {
    let weather = Weather { loss_permille: 50, ..Weather::clear(Duration::from_millis(60)) };
    let table = Table::new(weather);
    let played = table.play(|name| {
        let config = RollbackConfig::new(RollbackSettings { seed: SEED, ..RollbackSettings::default() }).unwrap();
        let labels = table.labels(name, config.terms(table.identity));
        (Rollback::new(config, table.identity, name, Faulty::hero("able", name).unwrap(), build).unwrap(), labels)
    });
    let rollbacks = |report: &Report| report.rollback.map_or(0, |rollback| rollback.rollbacks);
    assert!(played.iter().any(|(report, ..)| rollbacks(report) > 10));
    assert_heard_once(&played);
}

/// Switches sound at some pictures, and reads the news.
struct Switch {
    at: &'static [u32],
    pictures: u32,
    read: Rc<RefCell<Status>>,
}

impl View for Switch {
    fn show(&mut self, _: &Smooth, _: f32, status: &Status, _: f32) {
        self.pictures += 1;
        *self.read.borrow_mut() = status.clone();
    }

    fn actions(&mut self) -> Vec<Action> {
        Vec::from_iter(self.at.contains(&self.pictures).then_some(Action::Sound))
    }

    fn line(&self) -> Option<&str> {
        None
    }
}

/// A game alone of six seconds, at some pictures of which sound is switched: 33 ms lie between two.
/// Returns what the person reads in the end.
fn alone(is_on: bool, at: &'static [u32], speak: impl FnMut(&[Sound]) -> Result<(), String> + 'static) -> Status {
    let table = Table::new(Weather::clear(Duration::ZERO));
    let config = PartyConfig::new(PartySettings { seed: SEED, ..PartySettings::default() }).unwrap();
    let labels = table.labels("Ada", config.terms(table.identity));
    let party = Party::new(config, table.identity, "Ada", Faulty::hero("able", "Ada").unwrap(), build).unwrap();
    let recorder = Recorder::new(labels.clone(), Memory::default(), None).unwrap();
    let read = Rc::<RefCell<Status>>::default();
    let display = Display::new(Screen::View(Box::new(Switch { at, pictures: 0, read: read.clone() })), &labels, None);
    let options = Options { time: Some(Duration::from_secs(6)), ..Options::default() };
    let shell = Shell::<Faulty, _, _>::new(party, SoloLink::default(), recorder, display, options);
    let (mut shell, mut now) = (shell.with_sound(is_on, speak), Duration::ZERO);
    while let Next::At(next) = shell.step(now) {
        now = next;
    }
    read.take()
}

#[test]
fn sound_is_switched_off_and_on() {
    let heard = Heard::default();
    let ear = heard.clone();
    let status = alone(true, &[60, 120], move |sounds| {
        ear.borrow_mut().extend(sounds);
        Ok(())
    });
    let told = ["Sound is off. /sound switches it on again.", "Sound is on."];
    assert_eq!((status.news, status.sound), (told.map(str::to_owned).to_vec(), Some(true)));
    let ticks: Vec<_> = heard.take().iter().map(|sound| sound.pitch).collect();
    let gaps: Vec<_> = ticks.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 5.0).collect();
    assert!(ticks.len() > 60 && matches!(gaps[..], [gap] if (35.0..45.0).contains(&gap)), "{ticks:?}");
}

#[test]
fn who_begins_without_sound_opens_no_device() {
    let status = alone(false, &[], |_| panic!("nothing is played"));
    assert_eq!((status.news.len(), status.sound), (0, Some(false)));
}

#[test]
fn without_a_device_the_game_goes_on_in_silence_and_says_so_once() {
    let tried = Rc::<RefCell<u32>>::default();
    let trying = tried.clone();
    let status = alone(true, &[60], move |_| {
        *trying.borrow_mut() += 1;
        Err("this machine has no device for sound".to_owned())
    });
    let told = "You hear nothing: this machine has no device for sound. /sound tries again.";
    assert_eq!((&status.news[..], status.sound), (&[told, "Sound is on.", told].map(str::to_owned)[..], Some(false)));
    assert_eq!(tried.take(), 2);
}
