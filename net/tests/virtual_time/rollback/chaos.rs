//! Rollback sessions in which everything goes wrong at once: ways that are cut and mended, bad
//! weather one way, connections that break for good, peers that sleep, die without a word, break
//! away or leave, several of them at nearly the same time. Then the weather clears.
//!
//! On virtual time. Every failure names the seed that repeats it: `SEED=17 cargo test -p
//! lockstone-net --test virtual_time rollback::chaos -- --nocapture`.
//! `SEEDS=5000` tries more of them.

use core::time::Duration;

use lockstone_net::memory::{Seat, Weather};
use lockstone_net::session::{EndReason, Event, Phase, Session};
use lockstone_net::{LinkEvent, PeerId, Rollback, RollbackSettings};
use lockstone_sim::{Input, PlayerId, Tick};
use testkit::seeds;
use testkit::sessions::rollback::*;
use testkit::sessions::tap::{Groups, Room, Tap};
use testkit::sessions::*;

/// How long things go wrong.
const CHAOS: Duration = Duration::from_secs(10);
/// After that, how long until all is well again.
const RECOVERY: Duration = Duration::from_secs(10);

#[test]
fn whoever_is_left_plays_on_and_settled_turns_are_the_same_for_all() {
    let mut sum = Figures::default();
    for figures in seeds::each("-p lockstone-net --test virtual_time rollback::chaos", 100, chaos) {
        sum.compared += figures.compared;
        sum.regroupings += figures.regroupings;
        sum.removed += figures.removed;
        sum.playing += figures.playing;
        sum.epochs += figures.epochs;
        sum.nobody_left += figures.nobody_left;
    }
    println!("{sum:?}");
    assert!(sum.compared > 0 && sum.regroupings > 0 && sum.removed > 0, "hardly anything went wrong: {sum:?}");
}

#[derive(Debug, Default)]
struct Figures {
    compared: usize,
    regroupings: u32,
    removed: usize,
    playing: usize,
    epochs: usize,
    /// Sessions that ended for everyone, though nobody died.
    nobody_left: usize,
}

fn chaos(seed: u64) -> Figures {
    let mut storm = Storm::new(seed);
    storm.rage();
    storm.clear_up();
    storm.judge()
}

enum Trouble {
    Cut(PeerId, PeerId),
    Weather(PeerId, PeerId),
    Sleep(Box<Seat<Rollback<Mixer>, Tap>>),
}

struct Storm {
    seed: u64,
    dice: Dice,
    driver: Room,
    groups: Groups,
    peers: Vec<PeerId>,
    /// Whether players die and leave, too.
    deadly: bool,
    /// What goes wrong now, and until when.
    troubles: Vec<(Duration, Trouble)>,
    /// Whose connection is broken for good.
    apart: Vec<[PeerId; 2]>,
    /// Who is dead, and where its session was then.
    dead: Vec<Life>,
    /// How many commands each peer's player gave, by peer.
    given: Vec<u64>,
}

/// What a peer's part in the session came to.
struct Life {
    player: PlayerId,
    settled: Tick,
    /// How it ended; the dead are still in the phase in which they died.
    phase: Phase,
    dead: bool,
    events: Vec<Event<Mixer>>,
}

impl Storm {
    fn new(seed: u64) -> Storm {
        let mut dice = Dice(seed ^ 0xc4a05);
        let peers = 2 + dice.roll(3) as usize;
        let input_delay_ticks = [0, 0, 1, 3][dice.roll(4) as usize];
        let weather = Weather {
            jitter: ms(dice.roll(50)),
            loss_permille: dice.roll(80) as u16,
            duplicate_permille: 20,
            reorder_permille: 50,
            ..Weather::clear(ms(5 + dice.roll(80)))
        };
        let max_prediction_ticks = [8, 8, 3, 20][dice.roll(4) as usize];
        let settings = RollbackSettings { input_delay_ticks, max_prediction_ticks, ..settings(seed) };
        let groups = Groups::default();
        let driver = room_by(seed, peers, weather, &settings, |_, link| {
            let hand = groups.noting(link.peer());
            Tap::new(link, hand)
        });
        let peers: Vec<_> = (0..peers).map(|seat| driver.peer(seat)).collect();
        let (given, deadly) = (vec![0; peers.len()], dice.roll(3) > 0);
        Storm {
            seed,
            dice,
            driver,
            groups,
            peers,
            deadly,
            troubles: Vec::new(),
            apart: Vec::new(),
            dead: Vec::new(),
            given,
        }
    }

    fn rage(&mut self) {
        let end = self.driver.now() + CHAOS;
        let pause_ms_max = [500, 1_500, 4_000][self.dice.roll(3) as usize];
        while self.driver.now() < end {
            // Mostly one thing after the other, and now and then several within moments.
            let pause = if self.dice.roll(3) == 0 { self.dice.roll(100) } else { self.dice.roll(pause_ms_max) };
            self.play(ms(pause));
            self.something_goes_wrong();
        }
    }

    fn something_goes_wrong(&mut self) {
        let now = self.driver.now();
        let until = now + ms(100 + self.dice.roll(3_900));
        let [a, b] = self.pair();
        match self.dice.roll(12) {
            0..4 => {
                self.driver.network.set_cut(a, b, true);
                self.troubles.push((until, Trouble::Cut(a, b)));
            }
            4 | 5 => {
                let weather = Weather {
                    jitter: ms(self.dice.roll(600)),
                    loss_permille: 200 + self.dice.roll(801) as u16,
                    ..Weather::clear(ms(20))
                };
                self.driver.network.set_direction(a, b, Some(weather));
                self.troubles.push((until, Trouble::Weather(a, b)));
            }
            6 | 7 => {
                if let Some(seat) = self.any_seat() {
                    let sleeper = self.driver.seats.remove(seat);
                    let until = now + ms(100 + self.dice.roll(2_900));
                    self.troubles.push((until, Trouble::Sleep(Box::new(sleeper))));
                }
            }
            8 => self.a_connection_breaks(a, b),
            9 if self.dice.roll(3) == 0 => self.driver.network.drop_peer(a),
            10 | 11 if self.deadly && self.dead.len() + 1 < self.peers.len() => self.someone_dies(),
            _ => {}
        }
    }

    /// Both carriers notice at once.
    fn a_connection_breaks(&mut self, a: PeerId, b: PeerId) {
        let now = self.driver.now();
        self.driver.network.set_cut(a, b, true);
        for seat in &mut self.driver.seats {
            match seat.peer {
                peer if peer == a => seat.session.handle(LinkEvent::Disconnected(b), now),
                peer if peer == b => seat.session.handle(LinkEvent::Disconnected(a), now),
                _ => {}
            }
        }
        self.apart.push([a, b]);
    }

    fn someone_dies(&mut self) {
        let Some(seat) = self.any_seat() else { return };
        let (peer, now) = (self.driver.peer(seat), self.driver.now());
        let silently = self.dice.roll(2) == 0;
        if self.dice.roll(3) == 0 {
            self.driver.seats[seat].session.leave(now);
            self.driver.run_until(now + ms(1));
        }
        let life = Life::of(&mut self.driver.seats[seat], true);
        kill(&mut self.driver, seat, silently);
        for other in self.peers.iter().filter(|other| **other != peer) {
            if silently {
                self.driver.network.set_cut(peer, *other, true);
            }
            self.apart.push([peer, *other]);
        }
        self.dead.push(life);
    }

    fn any_seat(&mut self) -> Option<usize> {
        let seats = self.driver.seats.len() as u64;
        (seats > 0).then(|| self.dice.roll(seats) as usize)
    }

    fn pair(&mut self) -> [PeerId; 2] {
        let peers = self.peers.len() as u64;
        let a = self.dice.roll(peers);
        let b = (a + 1 + self.dice.roll(peers - 1)) % peers;
        [a, b].map(|n| self.peers[n as usize])
    }

    /// Lets time pass, with commands; what has lasted long enough is over.
    fn play(&mut self, time: Duration) {
        let end = self.driver.now() + time;
        while self.driver.now() < end {
            let now = self.driver.now();
            let over = self.troubles.extract_if(.., |(until, _)| *until <= now).collect::<Vec<_>>();
            over.into_iter().for_each(|(_, trouble)| self.mend(trouble));
            let until = (now + ms(10 + self.dice.roll(150))).min(end);
            self.driver.run_until(until);
            if let Some(seat) = self.any_seat() {
                self.command(seat);
            }
        }
    }

    /// Commands are numbered: each must be played once and in order.
    fn command(&mut self, seat: usize) {
        let peer = self.driver.peer(seat);
        let given = &mut self.given[self.peers.iter().position(|other| *other == peer).expect("it is one of them")];
        if self.driver.seats[seat].session.command(*given).is_ok() {
            *given += 1;
        }
    }

    fn mend(&mut self, trouble: Trouble) {
        match trouble {
            Trouble::Cut(a, b) if self.apart.iter().any(|apart| apart.contains(&a) && apart.contains(&b)) => {}
            Trouble::Cut(a, b) => self.driver.network.set_cut(a, b, false),
            Trouble::Weather(a, b) => self.driver.network.set_direction(a, b, None),
            Trouble::Sleep(seat) => self.driver.seats.push(*seat),
        }
    }

    /// The weather clears, and time passes.
    fn clear_up(&mut self) {
        while !self.troubles.is_empty() {
            self.play(ms(50));
        }
        self.driver.network.set_weather(Weather::clear(ms(30)));
        self.play(RECOVERY - secs(4));
        let before: Vec<_> = self.driver.seats.iter().map(|seat| seat.session.stats().settled).collect();
        self.driver.run_until(self.driver.now() + secs(4));
        for (seat, before) in self.driver.seats.iter().zip(before) {
            let (context, stats) =
                (format!("seed {}: {:?}", self.seed, seat.session.stats().player), seat.session.stats());
            match seat.session.phase() {
                Phase::Playing => {
                    let played = stats.settled.since(before);
                    assert!((78..=82).contains(&played), "{context} played {played} ticks in 4 clear seconds");
                    assert_eq!(stats.commands_pending, 0, "{context}");
                }
                Phase::Ended(EndReason::Removed(_) | EndReason::NoQuorum | EndReason::Link(_) | EndReason::Left) => {}
                phase => panic!("{context} is still {phase:?}"),
            }
        }
    }

    fn judge(mut self) -> Figures {
        assert_eq!(self.groups.fork(), None, "seed {}: two groups play in one epoch", self.seed);
        let mut sum = Figures { epochs: self.groups.epochs(), ..Figures::default() };
        let mut lives: Vec<_> = self.driver.seats.iter_mut().map(|seat| Life::of(seat, false)).collect();
        for seat in &self.driver.seats {
            sum.regroupings += seat.session.stats().rollback.expect("it predicts").regroupings;
            assert_eq!(seat.session.stats().desyncs, 0, "seed {}", self.seed);
            assert!(!seat.session.simulation().expect("it plays").nonsense, "seed {}", self.seed);
        }
        let playing = lives.iter().filter(|life| life.phase == Phase::Playing).count();
        sum.playing += playing;
        sum.removed += lives.len() - playing;
        sum.nobody_left += usize::from(playing == 0 && self.dead.is_empty());
        lives.append(&mut self.dead);
        lives.sort_by_key(|life| life.player);
        for (life, given) in lives.iter().zip(&self.given) {
            life.check_commands(*given, self.seed);
        }
        for (n, a) in lives.iter().enumerate() {
            for b in &lives[n + 1..] {
                sum.compared += a.compare(b, self.seed);
            }
        }
        sum
    }
}

impl Life {
    fn of(seat: &mut Seat<Rollback<Mixer>, Tap>, dead: bool) -> Life {
        let (stats, events) = (seat.session.stats(), core::mem::take(&mut seat.events));
        Life {
            player: stats.player.expect("it plays"),
            settled: stats.settled,
            phase: seat.session.phase(),
            dead,
            events,
        }
    }

    /// From which tick on it plays without another.
    fn without(&self, played: &Played, other: PlayerId) -> Option<Tick> {
        let leaves = |input: &Input<Mixer>| matches!(input, Input::Leave(player) if *player == other);
        let turns: Vec<_> = played.turns.iter().filter(|(_, turn)| turn.inputs.iter().any(leaves)).collect();
        assert!(turns.len() <= 1, "{other} leaves twice for {}", self.player);
        // Whose session is over early may not have told that turn yet, nor those before it.
        let left = |event: &Event<Mixer>| matches!(event, Event::PlayerLeft { player, .. } if *player == other);
        turns.first().map(|(tick, _)| **tick).or(self.events.iter().any(left).then_some(Tick(u32::MAX)))
    }

    fn check_commands(&self, given: u64, seed: u64) {
        let played = Played::of(&self.events);
        let commands: Vec<_> = played.turns.values().flat_map(|turn| commands_of(turn, self.player)).collect();
        let context = format!("seed {seed}: commands of {}, {:?}", self.player, self.phase);
        assert_eq!(commands, (0..commands.len() as u64).collect::<Vec<_>>(), "{context}");
        if self.phase == Phase::Playing && !self.dead {
            assert_eq!(commands.len() as u64, given, "{context}");
        }
    }

    /// Both told the same up to where the first of them goes on without the other. Returns how many
    /// checksums were compared.
    fn compare(&self, other: &Life, seed: u64) -> usize {
        let context = format!("seed {seed}: {} {:?} and {} {:?}", self.player, self.phase, other.player, other.phase);
        let stories = [Played::of(&self.events), Played::of(&other.events)];
        let gone = [self.without(&stories[0], other.player), other.without(&stories[1], self.player)];
        // A player that never went on without the other reported only what both had.
        for (life, gone) in [(self, [gone[0], gone[1]]), (other, [gone[1], gone[0]])] {
            if let [None, Some(tick)] = gone {
                assert!(
                    life.settled <= tick,
                    "{context}: {} had settled {}, undone from {tick}",
                    life.player,
                    life.settled
                );
            }
        }
        let until = gone.into_iter().flatten().chain([self.settled, other.settled]).min().expect("two at least");
        let turns =
            |played: &Played| played.turns.range(..until).map(|(t, turn)| (*t, turn.clone())).collect::<Vec<_>>();
        assert_eq!(turns(&stories[0]), turns(&stories[1]), "{context}: the turns before {until} differ");
        let [a, b] = &stories;
        let both = a.checksums.range(..=until).filter_map(|(tick, ours)| Some((tick, ours, b.checksums.get(tick)?)));
        both.map(|(tick, ours, theirs)| assert_eq!(ours, theirs, "{context}: the checksums at {tick} differ")).count()
    }
}
