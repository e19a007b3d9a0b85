//! What a replica's player sees from afar: companions at their places, landmarks, and nothing else.

use core::time::Duration;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use lockstone_net::link::{Channel, LinkEvent};
use lockstone_net::memory::{Driver, MemoryNetwork, Weather};
use lockstone_net::relay::{DistantView, Relay, RelayConfig, RelaySettings, Replica, Route};
use lockstone_net::session::{DropReason, Phase, Session, Transmit};
use lockstone_net::wire::{self, Distant, Epoch, List, Message, Report, Samples, Stamp, Track};
use lockstone_sim::{CellRect, Fx, PlayerId, Simulation, Tick, Vec2};
use testkit::sessions::tap::Tap;
use testkit::sessions::*;

use super::ramble::{self, Afar, Command, Ramble};

/// What a seat does next.
type Choose = Box<dyn FnMut(&mut Dice, usize) -> Command>;
type Sent = Rc<RefCell<Vec<Transmit>>>;

/// A relay of wanderers and its replicas, with where every hero was at each tick.
pub struct Scene {
    pub driver: Driver<Replica<Ramble>, Tap, Relay<Ramble>>,
    sent: Sent,
    places: BTreeMap<Tick, BTreeMap<PlayerId, Vec2>>,
}

/// What a line is like at its worst.
fn rough(latency: Duration) -> Weather {
    Weather { jitter: ms(60), loss_permille: 200, duplicate_permille: 50, ..Weather::clear(latency) }
}

impl Scene {
    pub fn new(replicas: usize, weather: Weather, settings: RelaySettings) -> Scene {
        println!("seed 7");
        let config = RelayConfig::new(settings).expect("the settings are in range");
        let (sent, build) = (Sent::default(), |_| ramble::world());
        let kept = sent.clone();
        let relay = Relay::dedicated(config.clone(), IDENTITY, build).with_horizon(Box::new(Afar));
        let tap = |link| {
            Tap::new(link, move |packet: Transmit| {
                kept.borrow_mut().push(packet.clone());
                Some(packet)
            })
        };
        let mut driver = Driver::with_hub(MemoryNetwork::hub(7, weather), relay, tap);
        for n in 0..replicas {
            let replica = Replica::new(config.clone(), IDENTITY, &format!("player {n}"), (), build).expect("a name");
            driver.enter_by(replica.with_horizon(Box::new(Afar)), Tap::idle);
            // One after the other, so that the players are numbered as the seats.
            let until = driver.now() + secs(1);
            driver.run_until(until);
        }
        let mut scene = Scene { driver, sent, places: BTreeMap::new() };
        scene.run(secs(8));
        assert!(scene.driver.seats.iter().all(|seat| seat.session.phase() == Phase::Playing));
        scene
    }

    pub fn run(&mut self, time: Duration) {
        self.run_seeing(time, |_, _, _| {});
    }

    /// Runs, and looks at each replica's distant view with where everyone is at its tick.
    fn run_seeing(&mut self, time: Duration, mut see: impl FnMut(PlayerId, &DistantView, &BTreeMap<PlayerId, Vec2>)) {
        let end = self.driver.now() + time;
        while self.driver.now() < end {
            let until = self.driver.now() + ms(10);
            self.driver.run_until(until);
            let world = self.driver.hub().session.simulation().expect("a world");
            let heroes = world.players().filter_map(|player| Some((player, world.hero(player)?.pos)));
            self.places.insert(world.tick(), heroes.collect());
            for seat in &self.driver.seats {
                let (Some(player), Some(world)) = (seat.session.stats().player, seat.session.simulation()) else {
                    continue;
                };
                if let Some(places) = self.places.get(&world.tick()) {
                    see(player, &seat.session.distant(), places);
                }
            }
        }
    }

    pub fn command(&mut self, seat: usize, command: Command) {
        self.driver.seats[seat].session.command(command).expect("it plays");
    }

    fn view(&self, seat: usize) -> DistantView {
        self.driver.seats[seat].session.distant()
    }

    /// The packets of the distant view that the relay has sent since the last call, and their
    /// bytes.
    fn told(&self) -> (Vec<(lockstone_net::PeerId, Distant)>, usize) {
        let mut bytes = 0;
        let mut told = Vec::new();
        for packet in self.sent.borrow_mut().drain(..) {
            if let (_, Message::Distant(distant)) = wire::decode(&packet.bytes).expect("the relay speaks the protocol")
            {
                assert_eq!(packet.channel, Channel::Unreliable);
                bytes += packet.bytes.len();
                told.push((packet.to, distant));
            }
        }
        (told, bytes)
    }
}

fn tile(at: Vec2) -> (i32, i32) {
    (at.x.floor(), at.y.floor())
}

fn off(a: Vec2, b: Vec2) -> f64 {
    (a - b).length().to_bits() as f64 / 4096.0
}

#[test]
fn a_hero_on_a_route_is_seen_on_its_tile_whatever_the_latency() {
    for latency in [20, 150, 400] {
        let mut scene = Scene::new(4, rough(ms(latency)), RelaySettings::default());
        scene.command(1, Command::Walk(300, 180));
        // Until everyone knows the route.
        scene.run(secs(4));
        let mut seen = 0;
        scene.run_seeing(secs(25), |viewer, view, places| {
            for companion in view.companions.iter().filter(|one| one.player == PlayerId(2)) {
                assert_eq!(tile(companion.at), tile(places[&companion.player]), "{viewer} at {latency} ms");
                seen += 1;
            }
        });
        println!("{latency} ms: on its tile {seen} times of {seen}");
        assert!(seen > 3_000, "{seen}");
    }
}

#[test]
fn who_runs_ever_faster_is_seen_near_its_place() {
    let mut scene = Scene::new(4, rough(ms(150)), RelaySettings::default());
    let mut errors = Vec::new();
    scene.command(0, Command::Run);
    scene.run_seeing(secs(10), |_, view, places| {
        let seen = view.companions.iter().filter(|one| one.player == PlayerId(1));
        errors.extend(seen.map(|one| off(one.at, places[&one.player])));
    });
    errors.sort_by(f64::total_cmp);
    let (median, p95) = (errors[errors.len() / 2], errors[errors.len() * 95 / 100]);
    println!(
        "running, 150 ms, 20 % lost: median {median:.3} tiles off, p95 {p95:.3}, most {:.3}",
        errors[errors.len() - 1]
    );
    assert!(median < 0.1 && p95 < 1.0);
    scene.command(0, Command::Stand);
    scene.run(secs(4));
    let at = scene.places.last_key_value().expect("it ran").1[&PlayerId(1)];
    scene.run_seeing(secs(3), |_, view, _| {
        let seen = view.companions.iter().filter(|one| one.player == PlayerId(1));
        seen.for_each(|one| assert!(off(one.at, at) <= 1.0 / 32.0, "who stands is not seen to move"));
    });
}

#[test]
fn nothing_is_sent_when_nothing_changes() {
    let mut scene = Scene::new(4, Weather::clear(ms(40)), RelaySettings::default());
    let (told, _) = scene.told();
    assert!(!told.is_empty());
    scene.run(secs(30));
    assert_eq!(scene.told().1, 0, "all stand");
    scene.command(1, Command::Walk(300, 180));
    scene.run(secs(20));
    let (told, bytes) = scene.told();
    println!("a route of 20 s to 3 others: {} packets, {bytes} bytes", told.len());
    assert!((3..=12).contains(&told.len()), "{}", told.len());
}

#[test]
fn what_a_party_of_four_costs() {
    let mut scene = Scene::new(4, rough(ms(150)), RelaySettings::default());
    let mut dice = Dice(3);
    scene.told();
    let mut rate = |scene: &mut Scene, what: &str, mut command: Choose| {
        for _ in 0..10 {
            for seat in 0..4 {
                let command = command(&mut dice, seat);
                scene.command(seat, command);
            }
            scene.run(secs(4));
        }
        let (told, bytes) = scene.told();
        println!("{what}: {} B/s and {:.1} packets/s a player", bytes / 160, told.len() as f64 / 160.0);
        bytes / 160
    };
    let to = |dice: &mut Dice, seat: usize| (100 + 90 * seat as u16 + dice.roll(20) as u16, 90 + dice.roll(20) as u16);
    let walking = rate(
        &mut scene,
        "a new route every 4 s",
        Box::new(move |dice, seat| {
            let (x, y) = to(dice, seat);
            Command::Walk(x, y)
        }),
    );
    let dancing = rate(&mut scene, "all dance, without any route", Box::new(|_, _| Command::Dance));
    assert!(walking < 100 && dancing < 400, "{walking} {dancing}");
}

#[test]
fn who_comes_near_is_not_seen_from_afar_any_more() {
    let mut scene = Scene::new(4, rough(ms(150)), RelaySettings::default());
    let others = |scene: &Scene| -> Vec<u16> { scene.view(0).companions.iter().map(|one| one.player.0).collect() };
    assert_eq!(others(&scene), [2, 3, 4]);
    scene.command(1, Command::Portal(104, 100));
    scene.run(secs(4));
    assert_eq!(others(&scene), [3, 4], "it is in the world itself");
    scene.command(1, Command::Portal(190, 100));
    scene.run(secs(4));
    assert_eq!(others(&scene), [2, 3, 4]);
    scene.driver.seats[2].session.leave(Duration::ZERO);
    scene.run(secs(5));
    assert_eq!(others(&scene), [2, 4], "who left is gone");
}

#[test]
fn landmarks_are_seen_by_all() {
    let mut scene = Scene::new(5, rough(ms(150)), RelaySettings::default());
    let marks = |scene: &Scene, seat| -> Vec<_> {
        scene.view(seat).landmarks.iter().map(|one| (one.number, one.state)).collect()
    };
    (0..5).for_each(|seat| assert_eq!(marks(&scene, seat), [(0, 0), (9, 0)]));
    for (state, seen) in [(1, &[(0, 0), (9, 1)][..]), (2, &[(9, 2)])] {
        scene.command(0, Command::Announce);
        scene.run(secs(4));
        (0..5).for_each(|seat| assert_eq!(marks(&scene, seat), seen, "{state}"));
    }
}

#[test]
fn only_the_own_party_and_landmarks_are_told() {
    let mut scene = Scene::new(12, rough(ms(60)), RelaySettings::default());
    let peers: BTreeMap<_, _> =
        scene.driver.seats.iter().map(|seat| (seat.peer, seat.session.stats().player)).collect();
    let mut dice = Dice(5);
    let mut outside = BTreeMap::new();
    for _ in 0..15 {
        for seat in 0..12 {
            let to = (dice.roll(1_500) as u16, dice.roll(1_500) as u16);
            let commands = [Command::Walk(to.0, to.1), Command::Dance, Command::Run, Command::Portal(to.0, to.1)];
            scene.command(seat, commands[dice.roll(4) as usize].clone());
        }
        for _ in 0..10 {
            scene.run(ms(200));
            for seat in &scene.driver.seats {
                let area = seat.session.simulation().and_then(|world| world.area().extent());
                outside.insert(seat.peer, area.map_or(CellRect::EMPTY, |area| area.halo));
            }
        }
    }
    let (told, _) = scene.told();
    let (mut sights, mut tracks) = (0, 0);
    for (to, distant) in &told {
        let viewer = peers[to].expect("it was let in");
        for (player, track) in distant.sights.iter() {
            sights += 1;
            assert!(*player != viewer && (player.0 - 1) / 4 == (viewer.0 - 1) / 4, "{viewer} was told of {player}");
            let Some(track) = track else { continue };
            tracks += 1;
            // A track tells places of that hero alone, where it really was.
            let (tick, at) = match track {
                Track::Route { since, from, .. } => (*since, *from),
                Track::Samples(samples) => {
                    (samples.tick, Vec2::new(Fx::from_bits(samples.at.0 << 6), Fx::from_bits(samples.at.1 << 6)))
                }
            };
            if let Some(places) = scene.places.get(&tick) {
                assert!(off(places[player], at) < 1.0, "{player} at {tick}: {at:?}");
            }
        }
        let landmarks: BTreeSet<u16> = match distant.landmarks.is_empty() {
            true => BTreeSet::new(),
            false => lockstone_sim::codec::read::<wire::Landmarks>(&distant.landmarks, 2_000)
                .expect("landmarks")
                .iter()
                .map(|(number, _)| *number)
                .collect(),
        };
        assert!(landmarks.iter().all(|number| [0, 9].contains(number)));
    }
    println!("{} packets, {sights} sights, {tracks} tracks", told.len());
    assert!(tracks > 300, "{tracks}");
}

#[test]
fn hostile_packets_do_nothing() {
    let mut scene = Scene::new(4, Weather::clear(ms(20)), RelaySettings::default());
    let before = scene.view(0);
    let relay = scene.driver.hub().peer;
    let far = Vec2::new(Fx::MAX, Fx::MIN);
    let route = |step| Track::Route { since: Tick(150), from: far, route: Route { end: far, step, state: u32::MAX } };
    let samples = |ago| Samples { tick: Tick(160), at: (1 << 25, -(1 << 25)), before: list(vec![(ago, (1 << 25, 3))]) };
    let packet = |tick, sights: Vec<(PlayerId, Option<Track>)>, landmarks: Vec<u8>| Distant {
        tick: Tick(tick),
        sights: List::try_from(sights).expect("fits"),
        landmarks: list(landmarks),
    };
    let everyone = |n: u16| (n..n + 30).map(|n| (PlayerId(n), Some(route(Fx::ONE)))).collect::<Vec<_>>();
    for (what, distant) in [
        ("old", packet(1, vec![(PlayerId(2), None)], vec![])),
        ("landmarks that are none", packet(1 << 30, vec![], vec![255; 9])),
        ("a crowd", packet(1 << 30, everyone(100), vec![])),
        ("players twice", packet(1 << 30, vec![(PlayerId(2), None), (PlayerId(2), None)], vec![])),
        ("the future", packet(100, vec![(PlayerId(2), Some(route(Fx::MAX)))], vec![])),
        ("long ago", packet(1 << 30, vec![(PlayerId(2), Some(route(Fx::MAX)))], vec![])),
        ("no time between", packet(1 << 30, vec![(PlayerId(2), Some(Track::Samples(samples(0))))], vec![])),
    ] {
        let bytes = wire::encode(Epoch::default(), &Message::Distant(distant));
        let now = scene.driver.now();
        let session = &mut scene.driver.seats[0].session;
        session.handle(LinkEvent::Packet { from: relay, channel: Channel::Unreliable, bytes }, now);
        scene.run(ms(300));
        assert_eq!(scene.view(0), before, "{what}");
    }
    // What can be read is believed: the relay could tell anything. It costs no more than its room.
    let wild =
        packet(400, vec![(PlayerId(2), Some(route(Fx::MIN))), (PlayerId(3), Some(Track::Samples(samples(9))))], vec![]);
    let bytes = wire::encode(Epoch::default(), &Message::Distant(wild));
    let now = scene.driver.now();
    let session = &mut scene.driver.seats[0].session;
    session.handle(LinkEvent::Packet { from: relay, channel: Channel::Unreliable, bytes }, now);
    scene.run(secs(2));
    assert!(scene.view(0).companions.len() <= 3);
    // Nor is a replica listened to that acknowledges what it was never sent.
    let stamp = Stamp { number: 5_000, echo: None };
    let report = Report { stamp, distant: Some(Tick(77_777)), ..Report::default() };
    let bytes = wire::encode(Epoch::default(), &Message::Report(report));
    lockstone_net::Link::send(&mut scene.driver.seats[1].link, relay, Channel::Unreliable, bytes);
    scene.run(secs(1));
    // That one, and the one that acknowledged what only it had heard.
    assert_eq!(scene.driver.hub().session.stats().drops.of(DropReason::ForgedAck), 2);
}

#[test]
fn a_small_budget_thins_the_distant_view_and_the_chat() {
    let run = |budget_bytes_per_s| {
        let rings = RelaySettings { enter_rings: 8, leave_rings: 16, ahead_rings: 16, ..RelaySettings::default() };
        let mut scene = Scene::new(8, Weather::clear(ms(40)), RelaySettings { budget_bytes_per_s, ..rings });
        for n in 0..10 {
            for seat in 0..8 {
                scene.command(seat, Command::Portal(100 + 480 * (seat as u16 % 4), [100, 1_400][n % 2]));
            }
            for _ in 0..8 {
                for seat in 0..8 {
                    let session = &mut scene.driver.seats[seat].session;
                    session.say(&"long ".repeat(90)).expect("one in half a second");
                }
                scene.run(ms(500));
            }
        }
        scene.driver.hub().session.stats().relay.expect("a relay")
    };
    let (small, large) = (run(4_096), run(1_000_000));
    println!("small budget {small:?}\nlarge budget {large:?}");
    for (small, large) in [(small.distant, large.distant), (small.chat, large.chat)] {
        assert!(small.cut_bytes > 0 && large.cut_bytes == 0);
        assert!(small.bytes > 0);
    }
    assert!(small.turns.packets.abs_diff(large.turns.packets) < large.turns.packets / 10, "frames are not cut");
}
