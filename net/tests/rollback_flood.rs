//! 100,000 packets that nobody honest sends, to a rollback session that is played meanwhile.
//!
//! What is injected is rubbish, or the session's own packets damaged, spliced, cut, repeated and
//! out of order, in the names of its own players, within the rate that a peer may send and beyond
//! it. One test at a time, because memory is counted for the whole process. `SEED=17 cargo test -p
//! lockstone-net --test rollback_flood -- --nocapture` plays another one.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use lockstone_net::RollbackSettings;
use lockstone_net::link::{Channel, LinkEvent, PeerId};
use lockstone_net::memory::Weather;
use lockstone_net::session::{DropReason, Event, Phase, Session};
use lockstone_net::wire::{self, *};
use lockstone_sim::{Checksum, PlayerId, Tick};
use peak_alloc::PeakAlloc;
use testkit::seeds;
use testkit::sessions::crafted;
use testkit::sessions::rollback::{play, settings};
use testkit::sessions::tap::{Kept, Room, listening_room};
use testkit::sessions::*;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

const PLAYERS: usize = 3;
const PACKETS: u64 = 100_000;
/// The session's own packets that are kept on each route: no more than are recognised when
/// they come again.
const KEPT: usize = 100;
const STEP_MS: u64 = 10;
/// On each route in a step: 800 in a second, below what a peer may send.
const CALM: u64 = 8;
/// 3,000 in a second, for half a second in every four.
const STORM: u64 = 30;

#[test]
fn memory_is_flat_and_players_stay_in_step_while_100_000_hostile_packets_come() {
    let _alone = alone();
    let seed = seeds::one(1);
    println!("seed {seed}");
    // Nothing is lost: a packet that comes before its time is then one of two.
    let weather = Weather { jitter: ms(10), ..Weather::clear(ms(20)) };
    let (mut room, kept) = listening_room(PLAYERS, weather, &settings(seed), KEPT);
    let (mut dice, mut story) = (Dice(seed), Story::default());
    for _ in 0..300 {
        step(&mut room, &mut dice, &mut story);
    }
    assert!(kept.borrow().values().all(|packets| packets.len() >= 50), "there is something to damage");

    let mut flood = Flood { kept, dice: Dice(seed ^ 0xf100d), ..Flood::default() };
    let started = room.seats[0].session.stats().settled;
    let mut steps = 0;
    let mut run = |room: &mut Room, flood: &mut Flood, until: u64| {
        while flood.injected < until {
            let storms = steps % 400 >= 350;
            flood.inject(room, if storms { STORM } else { CALM });
            step(room, &mut dice, &mut story);
            steps += 1;
        }
    };
    run(&mut room, &mut flood, PACKETS / 5);
    let held = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    run(&mut room, &mut flood, PACKETS);
    let (grown, peak) = (since(held, ALLOCATOR.current_usage()), since(held, ALLOCATOR.peak_usage()));
    let played = room.seats[0].session.stats().settled.since(started);
    println!("{} packets in {steps} steps, {} words left out; {played} ticks", flood.injected, flood.words);
    println!("{held} bytes held, {grown} more at the end, {peak} more at most; {} lines told alike", story.agreed);
    assert!(grown < 64 << 10 && peak < 1 << 20, "{grown} bytes more at the end, {peak} at most");
    assert!(u64::from(played) * 50 > steps * STEP_MS * 19 / 20, "{played} ticks in {} ms", steps * STEP_MS);

    for _ in 0..100 {
        step(&mut room, &mut Dice(seed), &mut story);
    }
    assert!(story.agreed > 150, "{}", story.agreed);
    let mut dropped = 0;
    for seat in &room.seats {
        let stats = seat.session.stats();
        println!("{:?}", stats.drops);
        assert_eq!((stats.desyncs, seat.session.phase()), (0, Phase::Playing));
        assert!(stats.checksums_compared > 60, "{}", stats.checksums_compared);
        for reason in [DropReason::Malformed, DropReason::Replayed, DropReason::OverRate, DropReason::Unexpected] {
            assert!(stats.drops.of(reason) > 0, "{reason:?} does not occur");
        }
        dropped += stats.drops.total();
    }
    // Beyond the rate, players' own packets are lost among the others.
    assert!(dropped >= flood.injected, "{dropped} of {} packets were dropped", flood.injected);
}

fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn since(before: usize, now: usize) -> usize {
    now.saturating_sub(before)
}

/// A while of play.
fn step(room: &mut Room, dice: &mut Dice, story: &mut Story) {
    let until = room.now() + ms(STEP_MS);
    room.run_until(until);
    if dice.roll(10) == 0 {
        let seat = dice.roll(PLAYERS as u64) as usize;
        let _ = room.seats[seat].session.command(dice.roll(1 << 40));
    }
    story.listen(room);
}

/// What all players tell, as long as not all have told it.
#[derive(Default)]
struct Story {
    told: [VecDeque<String>; PLAYERS],
    agreed: u64,
}

impl Story {
    fn listen(&mut self, room: &mut Room) {
        for (told, seat) in self.told.iter_mut().zip(&mut room.seats) {
            for event in seat.events.drain(..) {
                match event {
                    Event::Turn { .. } | Event::Checksum { .. } => told.push_back(format!("{event:?}")),
                    Event::Started { tick: Tick(0), .. } | Event::PlayerJoined { .. } | Event::Member { .. } => {}
                    Event::Keyframe { .. } => {}
                    other => panic!("a hostile packet made this of the session: {other:?}"),
                }
            }
        }
        while self.told.iter().all(|told| !told.is_empty()) {
            let lines = self.told.each_mut().map(|told| told.pop_front());
            assert!(lines[0] == lines[1] && lines[1] == lines[2], "{lines:?}");
            self.agreed += 1;
        }
    }
}

#[derive(Default)]
struct Flood {
    kept: Kept,
    dice: Dice,
    injected: u64,
    /// Rubbish that by chance is a word of a player, such as a goodbye: whose packets can be forged
    /// can be dismissed.
    words: u64,
}

impl Flood {
    /// So many packets on each route.
    fn inject(&mut self, room: &mut Room, packets: u64) {
        let now = room.now();
        for (from, to) in (0..PLAYERS).flat_map(|from| (0..PLAYERS).map(move |to| (from, to))) {
            for _ in 0..if from == to { 0 } else { packets } {
                let (bytes, genuine) = self.packet((from, room.peer(to)));
                if !genuine && self.is_word(&bytes) {
                    self.words += 1;
                    continue;
                }
                let channel = [Channel::Unreliable, Channel::Reliable][self.dice.roll(2) as usize];
                let from = room.peer(from);
                room.seats[to].session.handle(LinkEvent::Packet { from, channel, bytes }, now);
                self.injected += 1;
            }
        }
    }

    /// A packet for a route, and whether it is as it was sent there.
    fn packet(&mut self, route: (usize, PeerId)) -> (Vec<u8>, bool) {
        let kept = self.kept.borrow();
        let (packets, dice) = (&kept[&route], &mut self.dice);
        let any = |dice: &mut Dice| packets[dice.roll(packets.len() as u64) as usize].clone();
        let bytes = match dice.roll(8) {
            0 => (0..dice.roll(90)).map(|_| dice.roll(256) as u8).collect(),
            // As if it were one of ours: epoch 0, inputs or a stand, then rubbish.
            1 => {
                let tag = 15 + dice.roll(2) as u8;
                [0, tag].into_iter().chain((0..dice.roll(60)).map(|_| dice.roll(256) as u8)).collect()
            }
            2 => {
                let mut bytes = any(dice);
                bytes.truncate(dice.roll(bytes.len() as u64) as usize);
                bytes
            }
            3 | 4 => {
                let mut bytes = any(dice);
                for _ in 0..1 + dice.roll(4) {
                    let at = dice.roll(bytes.len() as u64) as usize;
                    bytes[at] ^= 1 << dice.roll(8);
                }
                bytes
            }
            5 => {
                let (mut bytes, other) = (any(dice), any(dice));
                bytes.truncate(dice.roll(bytes.len() as u64) as usize);
                let from = dice.roll(other.len() as u64) as usize;
                bytes.extend_from_slice(&other[from..]);
                bytes
            }
            6 => {
                let crafted = crafted::packets();
                crafted[dice.roll(crafted.len() as u64) as usize].clone()
            }
            // The newest are still under way: they come before their time, and others after it.
            _ => any(dice),
        };
        let genuine = packets.contains(&bytes);
        (bytes, genuine)
    }

    fn is_word(&self, bytes: &[u8]) -> bool {
        match wire::decode(bytes) {
            Ok((_, Message::Inputs(_))) => panic!("damaged inputs whose seal holds: {bytes:?}"),
            Ok((_, message)) => {
                let about_players =
                    matches!(message, Message::Bye(_) | Message::Removed(_) | Message::Desync(_) | Message::Regroup(_));
                about_players || matches!(message, Message::Inquiry(_) | Message::Parcel(_))
            }
            Err(_) => false,
        }
    }
}

/// What a member may say under its own seal. Much of it counts: players are put out, end, or fall
/// out of step with who lies to them.
fn lie(dice: &mut Dice, honest: &[u8], number: u32) -> Vec<u8> {
    let Ok((epoch, message)) = wire::decode(honest) else { panic!("not a message: {honest:?}") };
    let near = |dice: &mut Dice, tick: Tick| Tick((tick.0 + dice.roll(21) as u32).saturating_sub(10));
    let epoch = if dice.roll(8) == 0 { Epoch(dice.roll(3) as u32) } else { epoch };
    let message = match (dice.roll(300), message) {
        (0, _) => {
            let gone =
                (0..4).filter(|_| dice.roll(3) == 0).map(|player| (PlayerId(player), LeaveReason::Lost)).collect();
            let vote = Vote { epoch: Epoch(dice.roll(4) as u32), leader: PlayerId(dice.roll(5) as u16) };
            let known =
                Known { epoch: Epoch(dice.roll(3) as u32), end: Tick(dice.roll(400) as u32), ..Known::default() };
            let doubts = Some(Epoch(dice.roll(5) as u32)).filter(|_| dice.roll(2) == 0);
            Message::Regroup(Regroup::of(list(gone), Stand { doubts, ..Stand::of(vote, known) }))
        }
        (1, _) => {
            let (ours, theirs) = (Checksum(dice.roll(9)), Checksum(dice.roll(9)));
            Message::Desync(DesyncNotice { tick: Tick(dice.roll(1 << 32) as u32), agreed: None, ours, theirs })
        }
        (2, _) => Message::Form(Form { seed: 0, members: List::default() }),
        (_, Message::Inputs(mut inputs)) => {
            match dice.roll(8) {
                0 => inputs.confirmed = near(dice, inputs.confirmed),
                1 => inputs.received = near(dice, inputs.received),
                2 => inputs.from = near(dice, inputs.from),
                3 => {
                    inputs.inputs =
                        list((0..dice.roll(129)).map(|_| Some(list(vec![7; dice.roll(256) as usize]))).collect())
                }
                4 => inputs.checksums = list((1..=16).map(|n| (Tick(n * 10), Checksum(0))).collect()),
                5 => inputs.behind_ticks = dice.roll(1 << 16) as u16 as i16,
                6 => (inputs.confirmed, inputs.received) = (near(dice, inputs.received), near(dice, inputs.received)),
                _ => inputs.stamp.echo = Some(Echo { number: dice.roll(200) as u32, held_ms: 0 }),
            }
            inputs.stamp.number = number;
            Message::Inputs(inputs.sealed(epoch))
        }
        (_, message) => message,
    };
    wire::encode(epoch, &message)
}

#[test]
fn memory_is_bounded_whatever_members_claim_under_their_seals() {
    let _alone = alone();
    let (mut most, mut lies) = (0, 0);
    for seed in 0..20_u32 {
        println!("seed {seed}");
        // Nobody ends because worlds differ: that only lets more be said. Each other seed has the
        // longest prediction and delay.
        let long = seed % 2 * 30;
        let settings = RollbackSettings {
            stop_on_desync: false,
            max_prediction_ticks: 8.max(long),
            input_delay_ticks: long * 2 / 3,
            ..settings(seed.into())
        };
        let (mut room, kept) = listening_room(PLAYERS, Weather::clear(ms(20)), &settings, 4);
        let mut dice = Dice(u64::from(seed) ^ 0x11e);
        play(&mut room, &mut dice, secs(2));
        let held = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        for _ in 0..400 {
            for to in 0..2 {
                let from = (to + 1 + dice.roll(2) as usize) % PLAYERS;
                let honest = kept.borrow()[&(from, room.peer(to))].back().expect("it spoke").clone();
                lies += 1;
                let bytes = lie(&mut dice, &honest, 10_000 + lies);
                let (now, from) = (room.now(), room.peer(from));
                room.seats[to].session.handle(LinkEvent::Packet { from, channel: Channel::Unreliable, bytes }, now);
            }
            play(&mut room, &mut dice, ms(STEP_MS));
            // What they tell is theirs who play.
            room.seats.iter_mut().for_each(|seat| seat.events.clear());
        }
        most = most.max(since(held, ALLOCATOR.peak_usage()));
    }
    println!("{lies} lies, {most} bytes more at most");
    assert!(most < 1 << 20, "{most} bytes more at most");
}
