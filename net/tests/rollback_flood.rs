//! 100,000 packets that nobody honest sends, to a rollback session that is played meanwhile.
//!
//! What is injected is rubbish, or the session's own packets damaged, spliced, cut, repeated and out of order, in the names of its own
//! players, within the rate that a peer may send and beyond it. One test, because memory is counted for the whole process.
//! `SEED=17 cargo test -p lockstone-net --test rollback_flood -- --nocapture` plays another one.

mod support;

use std::collections::VecDeque;

use lockstone_net::link::{Channel, LinkEvent, PeerId};
use lockstone_net::memory::Weather;
use lockstone_net::session::{DropReason, Event, Phase, Session};
use lockstone_net::wire::{self, Message};
use lockstone_sim::Tick;
use peak_alloc::PeakAlloc;
use support::crafted;
use support::tap::{Kept, Room, listening_room};
use support::*;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

const PLAYERS: usize = 3;
const PACKETS: u64 = 100_000;
/// The session's own packets that are kept on each route: no more than are recognised when they come again.
const KEPT: usize = 100;
const STEP_MS: u64 = 10;
/// On each route in a step: 800 in a second, below what a peer may send.
const CALM: u64 = 8;
/// 3,000 in a second, for half a second in every four.
const STORM: u64 = 30;

#[test]
fn memory_is_flat_and_players_stay_in_step_while_100_000_hostile_packets_come() {
    let seed = std::env::var("SEED").map_or(1, |text| text.parse().expect("a number"));
    println!("seed {seed}");
    // Nothing is lost: a packet that comes before its time is then one of two.
    let weather = Weather { jitter: ms(10), ..Weather::clear(ms(20)) };
    let (mut room, kept) = listening_room(seed, PLAYERS, weather, KEPT);
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
        for reason in [DropReason::Malformed, DropReason::Replayed, DropReason::OverRate] {
            assert!(stats.drops.of(reason) > 0, "{reason:?} does not occur");
        }
        dropped += stats.drops.total();
    }
    // Beyond the rate, players' own packets are lost among the others.
    assert!(dropped >= flood.injected, "{dropped} of {} packets were dropped", flood.injected);
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
                    Event::Started { tick: Tick(0), .. } | Event::PlayerJoined { .. } => {}
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
    /// Rubbish that by chance is a word of a player, such as a goodbye: whose packets can be forged can be dismissed.
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
                matches!(message, Message::Bye(_) | Message::Removed(_) | Message::Desync(_) | Message::Regroup(_))
            }
            Err(_) => false,
        }
    }
}
