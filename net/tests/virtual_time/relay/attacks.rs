//! Replicas that lie, ask for what is not theirs, and flood. What they do is dropped and counted,
//! answered, or put out; for the others it is as if they were not there: two runs of the same seed,
//! one with the attack and one without, are compared packet by packet.

use core::cell::Cell;
use core::time::Duration;
use std::collections::BTreeMap;
use std::rc::Rc;

use lockstone_net::link::{Channel, Link};
use lockstone_net::memory::{MemoryNetwork, Weather};
use lockstone_net::relay::RelaySettings;
use lockstone_net::session::{DropReason, Drops, Phase, Session};
use lockstone_net::wire::{self, *};
use lockstone_sim::{CellId, Checksum, PlayerId, Tick};
use testkit::relay::*;
use testkit::sessions::tap::{Tap, altering};
use testkit::sessions::*;

const ATTACKER: usize = 2;
const ATTACK: Duration = secs(12);

/// What the others had of a run: of each seat the ticks at each moment, and the length of
/// every packet to it.
struct Run {
    ticks: BTreeMap<usize, Vec<(Duration, Tick)>>,
    packets: BTreeMap<usize, Vec<usize>>,
    drops: Drops,
    attacker: Phase,
}

/// A run in which `attack` is called every 50 ms, with how often it was called before.
fn run_with(seed: u64, settings: RelaySettings, mut attack: impl FnMut(&mut Scene, u64)) -> Run {
    let mut scene = Scene::new(seed, STORM, settings, Weather::clear(ms(30)));
    scene.enter_many(8);
    scene.run_until(secs(3));
    scene.odd = Some(ATTACKER);
    let mut ticks: BTreeMap<usize, Vec<_>> = BTreeMap::new();
    let (begin, sent_before) = (scene.driver.now(), scene.sent.borrow().len());
    for n in 0.. {
        if scene.driver.now() >= begin + ATTACK {
            break;
        }
        attack(&mut scene, n);
        others(&scene).for_each(|seat| {
            if scene.dice.roll(30) == 0 {
                scene.wander(seat);
            }
        });
        let until = scene.driver.now() + ms(50);
        scene.run_until(until);
        for seat in others(&scene) {
            let tick = scene.seat(seat).session.stats().tick;
            ticks.entry(seat).or_default().push((scene.driver.now(), tick));
        }
    }
    let seats: BTreeMap<_, _> = others(&scene).map(|seat| (scene.peer(seat), seat)).collect();
    let mut packets: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for packet in &scene.sent.borrow()[sent_before..] {
        if let Some(seat) = seats.get(&packet.to) {
            packets.entry(*seat).or_default().push(packet.bytes.len());
        }
    }
    let drops = scene.stats().drops;
    Run { ticks, packets, drops, attacker: scene.seat(ATTACKER).session.phase() }
}

fn others(scene: &Scene) -> impl Iterator<Item = usize> + use<> {
    scene.numbers().into_iter().filter(|seat| *seat != ATTACKER)
}

/// The others had the same in both runs, to the packet.
fn assert_unnoticed(what: &str, attacked: &Run, quiet: &Run) {
    assert_eq!(attacked.ticks, quiet.ticks, "{what}: the ticks of the others");
    for (seat, packets) in &attacked.packets {
        assert!(*packets == quiet.packets[seat], "{what}: the packets to seat {seat}");
    }
    assert_eq!(attacked.packets.len(), quiet.packets.len(), "{what}");
    let packets: usize = attacked.packets.values().map(Vec::len).sum();
    println!("{what}: {packets} packets to others as without it; dropped {:?}", attacked.drops);
}

/// A packet to the relay in the attacker's name, past its session.
fn say(scene: &mut Scene, channel: Channel, bytes: Vec<u8>) {
    let relay = scene.peer(0);
    scene.seat_mut(ATTACKER).link.link.send(relay, channel, bytes);
}

fn tell(scene: &mut Scene, message: &Message) {
    say(scene, Channel::Reliable, wire::encode(Epoch::default(), message));
}

/// A report that a replica could have sent, but for its number.
fn report(n: u64) -> Report {
    Report { stamp: Stamp { number: 1_000_000 + n as u32, echo: None }, ..Report::default() }
}

/// Attacks that leave the attacker's hero where it is.
#[test]
fn what_an_attacker_says_costs_the_others_nothing() {
    let quiet = run_with(41, RelaySettings::default(), |_, _| {});
    type Attack = fn(&mut Scene, u64);
    let attacks: [(&str, Attack, &[DropReason]); 12] = [
        ("trees of foreign cells", foreign_trees, &[DropReason::Unexpected]),
        ("acknowledgements of what was never sent", false_acks, &[DropReason::Unexpected]),
        ("acknowledged ticks of the future", future_ticks, &[DropReason::ForgedAck]),
        ("garbage", garbage, &[DropReason::Malformed]),
        ("oversized packets", oversized, &[DropReason::Oversized]),
        ("packet flood", packet_flood, &[DropReason::OverRate]),
        ("byte flood", byte_flood, &[DropReason::OverRate]),
        ("hello again and again", hellos, &[DropReason::Unexpected]),
        ("messages of a relay", relay_messages, &[DropReason::Unexpected]),
        ("evidence that nobody wants", evidence, &[DropReason::Unexpected]),
        ("ready again and again", ready, &[DropReason::Unexpected]),
        ("commands that are none", no_commands, &[DropReason::BadCommand, DropReason::CommandFlood]),
    ];
    for (what, attack, reasons) in attacks {
        let attacked = run_with(41, RelaySettings::default(), attack);
        assert_unnoticed(what, &attacked, &quiet);
        for reason in reasons {
            assert!(attacked.drops.of(*reason) > 0, "{what} is counted as {reason:?}: {:?}", attacked.drops);
        }
    }
}

fn foreign_trees(scene: &mut Scene, n: u64) {
    let cells = (0..40).map(|x| (CellId::new(x, n as u16), Checksum(n)));
    tell(scene, &Message::CoreTree(CoreTree { tick: Tick(n as u32), disputed: None, cells: list(cells.collect()) }));
}

fn false_acks(scene: &mut Scene, n: u64) {
    tell(scene, &Message::ChunkAck(u32::MAX - n as u32));
    tell(scene, &Message::ChunkAck(n as u32));
}

fn future_ticks(scene: &mut Scene, n: u64) {
    let report = Report { known: Tick(u32::MAX - n as u32), missing: true, ..report(n) };
    tell(scene, &Message::Report(report));
}

fn garbage(scene: &mut Scene, n: u64) {
    for k in 0..4 {
        let mut dice = Dice(n * 4 + k);
        let bytes = (0..dice.roll(400)).map(|_| dice.roll(256) as u8).collect();
        say(scene, if k % 2 == 0 { Channel::Reliable } else { Channel::Unreliable }, bytes);
    }
}

fn oversized(scene: &mut Scene, _: u64) {
    let (from, now) = (scene.peer(ATTACKER), scene.driver.now());
    let event = lockstone_net::LinkEvent::Packet { from, channel: Channel::Reliable, bytes: vec![7; 1 << 17] };
    scene.driver.hub_mut().session.handle(event, now);
}

fn packet_flood(scene: &mut Scene, n: u64) {
    for k in 0..200 {
        foreign_trees(scene, n * 200 + k);
    }
}

fn byte_flood(scene: &mut Scene, _: u64) {
    (0..4).for_each(|_| say(scene, Channel::Reliable, vec![3; 60_000]));
}

fn hellos(scene: &mut Scene, n: u64) {
    let config = config(RelaySettings::default());
    let name = Name::new(&format!("attacker {n}")).expect("a name");
    let hello = Hello {
        protocol: PROTOCOL_VERSION,
        terms: config.terms(IDENTITY),
        name,
        hero: Bytes::default(),
        key: None,
        promised: Epoch(0),
        attempt: 0,
    };
    tell(scene, &Message::Hello(hello));
}

fn relay_messages(scene: &mut Scene, n: u64) {
    tell(scene, &Message::Ending);
    tell(scene, &Message::Removed(LeaveReason::Desync));
    tell(scene, &Message::Frames(Frames { from: Tick(n as u32), ticks: 3, ..Frames::default() }));
    tell(scene, &Message::Chunk(Bytes::try_from(vec![1; 100]).expect("fits")));
    let notice = DesyncNotice { tick: Tick(n as u32), agreed: None, ours: Checksum(1), theirs: Checksum(2) };
    tell(scene, &Message::Desync(notice));
}

fn evidence(scene: &mut Scene, n: u64) {
    for parcel in [
        Parcel::Announced { bytes: u32::MAX, digest: u128::from(n) },
        Parcel::Received(0),
        Parcel::Chunk(Bytes::try_from(vec![9; 50]).expect("fits")),
        Parcel::Received(n as u32),
    ] {
        tell(scene, &Message::Parcel(parcel));
    }
    let witnesses = list(vec![(PlayerId(0), scene.peer(0)), (PlayerId(1), scene.peer(1))]);
    tell(scene, &Message::Inquiry(Inquiry { witnesses }));
}

fn ready(scene: &mut Scene, _: u64) {
    tell(scene, &Message::Ready);
}

fn no_commands(scene: &mut Scene, n: u64) {
    let commands = (0..30).map(|_| CommandBytes::try_from(vec![255; 200]).expect("fits"));
    let report = Report { first_command: n as u32 * 3, commands: list(commands.collect()), ..report(n) };
    tell(scene, &Message::Report(report));
}

/// What happens to the attacker's own reports.
fn lying(seed: u64, lie: impl Fn(Report, u64) -> Report + Copy + 'static) -> Run {
    run_with(seed, RelaySettings::default(), move |scene, n| {
        if n > 0 {
            return;
        }
        let mut reports = 0;
        scene.meddle(
            ATTACKER,
            altering(move |_, message| {
                if let Message::Report(report) = message {
                    reports += 1;
                    *report = lie(report.clone(), reports);
                }
            }),
        );
    })
}

#[test]
fn lies_of_checksums_and_acknowledgements_cost_the_others_nothing() {
    let quiet = lying(42, |report, _| report);
    let ahead = lying(42, |report, _| {
        let known = report.known.plus(1);
        Report { known, ..report }
    });
    assert_unnoticed("acknowledgements a tick ahead", &ahead, &quiet);
    let never = lying(42, |report, _| Report { missing: true, ..report });
    assert_unnoticed("everything is missing, always", &never, &quiet);
    let foreign = lying(42, |report, n| {
        let sums = (0..16).map(|k| (Tick(n as u32 * 16 + k), Checksum(u64::from(k))));
        Report { checksums: list(sums.collect()), ..report }
    });
    // It may be put out within this time: then it is gone from the world of the others too.
    if foreign.attacker == Phase::Playing {
        assert_unnoticed("checksums of ticks that are not its own", &foreign, &quiet);
    }
}

/// A replica that says that its core differs, but not where, is not asked for ever.
#[test]
fn who_does_not_say_where_it_differs_is_put_out() {
    let mut scene = Scene::new(43, STORM, RelaySettings::default(), Weather::clear(ms(30)));
    scene.enter_many(4);
    scene.run_until(secs(3));
    scene.odd = Some(ATTACKER);
    scene.meddle(
        ATTACKER,
        altering(|_, message| match message {
            Message::Report(report) => {
                let lies = report.checksums.iter().map(|(tick, sum)| (*tick, Checksum(sum.0 ^ 1)));
                report.checksums = list(lies.collect());
            }
            // Kept to itself.
            Message::CoreTree(_) => *message = Message::ChunkAck(0),
            _ => {}
        }),
    );
    scene.play(secs(40), 30);
    assert!(ended(&scene.seat(ATTACKER).session).is_some(), "it may stay");
    assert_eq!(scene.playing(), 3);
}

/// A load that is acknowledged before it arrived harms nobody but who did it.
#[test]
fn loads_acknowledged_too_early_harm_only_their_replica() {
    // Heroes walk, so that much is loaded.
    let settings = RelaySettings { core_actors_max: 0, ..RelaySettings::default() };
    let mut scene = Scene::new(44, STORM, settings, Weather::clear(ms(60)));
    scene.enter_many(6);
    scene.run_until(secs(3));
    scene.odd = Some(ATTACKER);
    for n in 0..400 {
        // Acknowledgements of any length: some are of what was sent, and did not arrive yet.
        for k in 0..3 {
            tell(&mut scene, &Message::ChunkAck(16_384 * (1 + (n + k) % 4)));
            tell(&mut scene, &Message::ChunkAck(Dice(u64::from(n)).roll(16_384) as u32));
        }
        scene.play(ms(50), 60);
    }
    let drops = scene.stats().drops;
    assert!(drops.of(DropReason::ForgedAck) > 0, "{drops:?}");
    assert!((5..=6).contains(&scene.playing()), "{} play", scene.playing());
    println!("{} cell-ticks compared, {drops:?}", scene.cells_compared);
}

#[test]
fn a_flood_of_commands_is_one_hero_s_commands() {
    let settings = RelaySettings { commands_per_s_max: 5, ..RelaySettings::default() };
    let mut scene = Scene::new(45, STORM, settings, Weather::clear(ms(30)));
    scene.enter_many(6);
    scene.run_until(secs(3));
    for n in 0..200_u64 {
        let commands = (0..32).map(|k| CommandBytes::try_from(vec![k, n as u8]).expect("fits"));
        let report = Report { first_command: n as u32 / 4, commands: list(commands.collect()), ..report(n) };
        // Past its session, so with numbers of its own: the relay takes what is next.
        tell(&mut scene, &Message::Report(report));
        scene.play(ms(50), 30);
    }
    let drops = scene.stats().drops;
    assert!(drops.of(DropReason::CommandFlood) > 4_000, "{drops:?}");
    assert_eq!(scene.playing(), 6, "its own world is exact as well");
}

/// One false checksum a minute made the relay call for evidence each time, and so play again what
/// it had kept and write a file. Who stands by its lies cannot be told from whose world errs.
#[test]
fn who_lies_again_and_again_is_asked_for_evidence_ever_more_rarely() {
    let config = config(RelaySettings { seed: STORM.seed, ..RelaySettings::default() });
    let inquiries = Rc::new(Cell::new(0));
    let counted = inquiries.clone();
    let network = MemoryNetwork::hub(44, Weather::clear(ms(30)));
    let mut driver = Room::with_hub(network, relay(STORM, config.clone()), |link| {
        let count = move |_, message: &mut Message| {
            counted.set(counted.get() + u32::from(matches!(message, Message::Inquiry(_))));
        };
        Tap::new(link, altering(count))
    });
    let mut checksums = 0;
    let lies = altering(move |_, message| match message {
        Message::Report(report) => {
            checksums += report.checksums.len();
            if checksums >= 61 {
                checksums = 0;
                let lies = report.checksums.iter().map(|(tick, sum)| (*tick, Checksum(sum.0 ^ 1)));
                report.checksums = list(lies.collect());
            }
        }
        Message::CoreTree(tree) => tree.disputed = tree.disputed.map(|sum| Checksum(sum.0 ^ 1)),
        _ => {}
    });
    let liar = driver.enter_by(replica(STORM, config, "liar"), |link| Tap::new(link, lies));
    driver.run_until(secs(600));
    let session = &driver.seats[liar].session;
    assert_eq!(session.phase(), Phase::Playing, "it is repaired, each time");
    let repairs = driver.hub().session.stats().relay.expect("a relay").repairs;
    assert!(repairs >= 8, "{repairs} lies were heard");
    // After 2 minutes, then 4, then 8.
    assert!((2..=4).contains(&inquiries.get()), "{} times", inquiries.get());
}
