//! A world in which a bit was turned over is put right, and everyone plays on: the odd one is found
//! by more than half, or by a replay; what is right is sent, and nothing else; who lies is named.

use core::time::Duration;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use lockstone_net::memory::{Driver, MemoryNetwork, Weather};
use lockstone_net::party::{Party, PartyConfig, PartySettings};
use lockstone_net::session::DropReason;
use lockstone_net::session::{EndReason, Event, OnDesync, Phase};
use lockstone_net::wire::{self, *};
use lockstone_sim::{Checksum, PlayerId, Simulation, Tick, Turn};
use testkit::seeds;
use testkit::sessions::hostile::{drops, say};
use testkit::sessions::tap::{Tap, altering};
use testkit::sessions::*;
use testkit::storm::{Storm, Weather as Sky};
use testkit::tampered::{Flip, Tampered};

type Sim = Tampered<Storm>;
type Room = Driver<Party<Sim>, Tap>;

const DELAY: Duration = ms(50);
const INTERVAL: u32 = 10;
/// Within so much time after the bit was turned over the world is right again.
const REPAIRED_IN: Duration = secs(2);

thread_local! {
    /// Whether there is a recording to be played again.
    static REPLAYS: Cell<bool> = const { Cell::new(true) };
}

fn sky(seed: u64) -> Sky {
    Sky { cells: 16, ..Sky::of(seed) }
}

fn settings(players: usize, seed: u64) -> PartySettings {
    PartySettings { players_at_start: players, seed, ..PartySettings::default() }
}

/// Players who all play, in the world of one of whom a bit is turned over.
fn room(settings: &PartySettings, players: usize, flip: Option<(usize, Flip)>) -> Room {
    let mut driver = Driver::new(MemoryNetwork::new(settings.seed, Weather::clear(DELAY)));
    for seat in 0..players {
        let flip = flip.filter(|(odd, _)| *odd == seat).map(|(_, flip)| flip);
        let build = move |seed| Tampered::new(sky(seed).world(), flip);
        let config = PartyConfig::new(settings.clone()).expect("the settings are in range");
        let party = Party::new(config, IDENTITY, &format!("player {seat}"), (), build).expect("a name");
        driver.enter_by(party, Tap::idle);
    }
    let waits = |driver: &Room| !driver.seats.iter().all(|seat| playing(&seat.session));
    assert!(driver.run_while(secs(10), waits), "the players do not get together");
    driver
}

/// All play for so long, and give commands.
fn play(room: &mut Room, dice: &mut Dice, time: Duration) {
    let end = room.now() + time;
    while room.now() < end {
        for seat in &mut room.seats {
            if dice.roll(10) == 0 {
                let _ = seat.session.command((dice.roll(48) as u16, dice.roll(48) as u16));
            }
        }
        let until = (room.now() + ms(20)).min(end);
        room.run_until(until);
        answer(room);
    }
}

/// Whoever is asked for a replay of its recording makes one.
fn answer(room: &mut Room) {
    if !REPLAYS.get() {
        return;
    }
    for seat in &mut room.seats {
        let wanted = seat.events.iter().rev().find_map(|event| match event {
            Event::ReferenceWanted { tick, .. } => Some(*tick),
            _ => None,
        });
        if let Some(tick) = wanted.filter(|tick| seat.session.settled() < tick.plus(6 * INTERVAL)) {
            seat.session.give_reference(tick, replay(&seat.events, tick));
        }
    }
}

/// The checksum to which a sound world comes at a tick that began, and was told the turns, as these
/// events say.
fn replay(events: &[Event<Sim>], until: Tick) -> Option<Checksum> {
    let mut world = None;
    for event in events {
        match event {
            Event::Started { seed, snapshot, .. } => {
                let mut sound = Tampered::new(sky(*seed).world(), None);
                sound.restore_from(snapshot).expect("it was just written");
                world = Some(sound);
            }
            Event::Turn { tick, turn } => {
                let world = world.as_mut()?;
                (world.tick().0..tick.0.min(until.0)).for_each(|_| world.step(&Turn::EMPTY));
                if *tick < until {
                    world.step(turn);
                }
            }
            _ => {}
        }
    }
    let mut world = world?;
    (world.tick().0..until.0).for_each(|_| world.step(&Turn::EMPTY));
    Some(world.checksum())
}

/// What a seat told of its world since it was there, or was put right.
fn checksums(events: &[Event<Sim>]) -> BTreeMap<Tick, Checksum> {
    let started = events.iter().rposition(|event| matches!(event, Event::Started { .. })).expect("it began");
    let told = events[started..].iter().filter_map(|event| match event {
        Event::Checksum { tick, checksum, .. } => Some((*tick, *checksum)),
        _ => None,
    });
    told.collect()
}

/// All worlds are the same since they were put right, and all play.
fn in_step(room: &Room, context: &str) {
    let told: Vec<_> = room.seats.iter().map(|seat| checksums(&seat.events)).collect();
    for (seat, theirs) in told.iter().enumerate() {
        assert_eq!(room.seats[seat].session.phase(), Phase::Playing, "{context}: seat {seat}");
        let shared = theirs.iter().filter_map(|(tick, sum)| Some((tick, sum, told[0].get(tick)?)));
        let mut compared = 0;
        for (tick, theirs, ours) in shared {
            assert_eq!(theirs, ours, "{context}: seat {seat} at {tick}");
            compared += 1;
        }
        assert!(compared > 20, "{context}: seat {seat} compared {compared}");
        let gone = |event: &Event<Sim>| matches!(event, Event::PlayerLeft { .. } | Event::PlayerAway { .. });
        assert!(!room.seats[seat].events.iter().any(gone), "{context}: seat {seat} was told that someone left");
    }
}

fn player(room: &Room, seat: usize) -> PlayerId {
    room.seats[seat].session.stats().player.expect("it plays")
}

/// The first difference that any seat told.
fn found(room: &Room) -> Option<Tick> {
    let desync = |event: &Event<Sim>| match event {
        Event::Desync { tick, .. } => Some(*tick),
        _ => None,
    };
    room.seats.iter().flat_map(|seat| seat.events.iter().filter_map(desync)).min()
}

/// Whose world a seat told to have been put right, at which tick, in how many cells, and whether
/// that is proven.
fn repaired(room: &Room, seat: usize) -> Vec<(PlayerId, Tick, u32, bool)> {
    let repaired = |event: &Event<Sim>| match event {
        Event::Repaired { player, tick, cells, is_proven } => Some((*player, *tick, *cells, *is_proven)),
        _ => None,
    };
    room.seats[seat].events.iter().filter_map(repaired).collect()
}

fn events(room: &Room, what: impl Fn(&Event<Sim>) -> bool) -> usize {
    room.seats.iter().flat_map(|seat| &seat.events).filter(|event| what(event)).count()
}

/// Counts the bytes of pieces that a seat sends: of what is put right, as nobody joins.
fn count_chunks(room: &mut Room, seat: usize) -> Rc<Cell<usize>> {
    let bytes = Rc::new(Cell::new(0));
    let counted = bytes.clone();
    room.seats[seat].link.set(move |packet| {
        if let Ok((_, Message::Chunk(chunk))) = wire::decode(&packet.bytes) {
            counted.set(counted.get() + chunk.len());
        }
        Some(packet)
    });
    bytes
}

/// Plays until a bit has been turned over, and until the world of that seat was put right. Returns
/// how long that took, or `None` if the world came right by itself.
fn until_repaired(room: &mut Room, dice: &mut Dice, odd: usize, flip: Flip, context: &str) -> Option<Duration> {
    while room.seats[odd].session.settled() < flip.tick {
        play(room, dice, ms(20));
    }
    let flipped_at = room.now();
    while repaired(room, odd).is_empty() && room.now() < flipped_at + secs(4) {
        play(room, dice, ms(20));
    }
    assert_eq!(events(room, |event| matches!(event, Event::Liar { .. })), 0, "{context}");
    if repaired(room, odd).is_empty() {
        // It came right by itself, before anything was sent.
        let [ours, theirs] = [odd, usize::from(odd == 0)].map(|seat| checksums(&room.seats[seat].events));
        let (tick, last) = ours.iter().rev().find(|(tick, _)| theirs.contains_key(tick)).expect("both play");
        assert_eq!(last, &theirs[tick], "{context}: it was not repaired");
        return None;
    }
    let tick = found(room).expect("it was found");
    assert!(tick.since(flip.tick) <= INTERVAL, "{context}: found at {tick}");
    Some(room.now() - flipped_at)
}

/// A bit of the world of a seat that stays turned over until it is put right, among players with
/// the seed and the dice 7.
fn lasting(players: usize, odd: usize) -> Flip {
    let lasts = |flip: &Flip| {
        let (mut dice, mut room) = (Dice(7), room(&settings(players, 7), players, Some((odd, *flip))));
        until_repaired(&mut room, &mut dice, odd, *flip, "lasting").is_some()
    };
    let mut flips = (0..).map(|case| Flip { tick: Tick(93), case });
    flips.find(lasts).expect("most do")
}

fn flip_of(dice: &mut Dice) -> Flip {
    Flip { tick: Tick(60 + dice.roll(100) as u32), case: dice.roll(u64::MAX) }
}

/// What came of many seeds: how long repairs took, and how many worlds came right by themselves.
fn told(what: &str, took: &[Option<Duration>]) {
    let mut times: Vec<_> = took.iter().flatten().copied().collect();
    times.sort();
    let (healed, longest) = (took.len() - times.len(), *times.last().expect("some were repaired"));
    println!(
        "{what}: {} repaired, median {:?}, longest {longest:?}; {healed} healed",
        times.len(),
        times[times.len() / 2]
    );
    assert!(healed <= took.len() / 3 && longest <= REPAIRED_IN, "{what}: {longest:?}");
}

/// The whole state of the world of a seat when it was put right, in bytes.
fn whole(room: &Room, seat: usize) -> usize {
    let mut events = room.seats[seat].events.iter().rev();
    let started =
        events.find_map(|event| if let Event::Started { snapshot, .. } = event { Some(snapshot) } else { None });
    started.expect("it began").len()
}

#[test]
fn a_bit_turned_over_in_a_replica_of_four_is_put_right() {
    let mut of_all = 0.0;
    let took = seeds::each("-p lockstone-net --test virtual_time repair::", 24, |seed| {
        let mut dice = Dice(seed);
        let (odd, flip) = (1 + dice.roll(3) as usize, flip_of(&mut dice));
        let context = format!("seed {seed}, seat {odd}, {flip:?}");
        let mut room = room(&settings(4, seed), 4, Some((odd, flip)));
        let sent = count_chunks(&mut room, 0);
        let took = until_repaired(&mut room, &mut dice, odd, flip, &context)?;
        play(&mut room, &mut dice, secs(3));
        in_step(&room, &context);
        let [(who, _, cells, true)] = repaired(&room, odd)[..] else { panic!("{context}: repaired once, and proven") };
        assert_eq!(who, player(&room, odd), "{context}");
        assert_eq!(repaired(&room, 0), repaired(&room, odd), "{context}: the sequencer tells the same");
        let [leader, repaired] = [0, odd].map(|seat| room.seats[seat].session.stats());
        assert_eq!(leader.sequencer(), Some(PlayerId(0)), "{context}");
        assert!(leader.desyncs > 0 && leader.acquitted == leader.desyncs, "{context}: {leader:?}");
        assert!(repaired.desyncs > 0 && repaired.acquitted == 0, "{context}: {repaired:?}");
        assert_eq!(events(&room, |event| matches!(event, Event::Liar { .. })), 0, "{context}");
        let stored = room.seats[0].session.simulation().expect("it plays").world.cells().count();
        let part = sent.get() as f64 / whole(&room, odd) as f64;
        let cells = f64::from(cells) / stored as f64;
        assert!(part < 0.02 + 4.0 * cells, "{context}: {part} of the bytes for {cells} of the cells");
        Some((took, part))
    });
    took.iter().flatten().for_each(|(_, part)| of_all += part);
    println!("of the whole state {:.2} % is sent on average", 100.0 * of_all / took.len() as f64);
    told("a replica of four", &took.iter().map(|took| took.map(|(took, _)| took)).collect::<Vec<_>>());
}

#[test]
fn a_sequencer_that_is_odd_hands_over_and_is_put_right() {
    for players in [3, 4] {
        let took = seeds::each("-p lockstone-net --test virtual_time repair::", 8, |seed| {
            let mut dice = Dice(seed);
            let flip = flip_of(&mut dice);
            let context = format!("seed {seed}, {players} players, {flip:?}");
            let mut room = room(&settings(players, seed), players, Some((0, flip)));
            let took = until_repaired(&mut room, &mut dice, 0, flip, &context)?;
            play(&mut room, &mut dice, secs(3));
            in_step(&room, &context);
            assert!(matches!(repaired(&room, 0)[..], [(_, _, _, true)]), "{context}");
            for (seat, is_odd) in room.seats.iter().zip([true, false, false, false]) {
                let stats = seat.session.stats();
                assert!(stats.desyncs > 0 && is_odd != (stats.acquitted == stats.desyncs), "{context}: {stats:?}");
            }
            let leaders: Vec<_> = room.seats.iter().map(|seat| seat.session.stats().sequencer()).collect();
            assert!(leaders.iter().all(|leader| *leader == leaders[0] && *leader != Some(PlayerId(0))), "{context}");
            Some(took)
        });
        told(&format!("the sequencer of {players}"), &took);
    }
}

#[test]
fn of_two_a_replay_tells_which_is_odd() {
    for odd in [0, 1] {
        let took = seeds::each("-p lockstone-net --test virtual_time repair::", 8, |seed| {
            let mut dice = Dice(seed);
            let flip = flip_of(&mut dice);
            let context = format!("seed {seed}, seat {odd} of two, {flip:?}");
            let mut room = room(&settings(2, seed), 2, Some((odd, flip)));
            let took = until_repaired(&mut room, &mut dice, odd, flip, &context)?;
            play(&mut room, &mut dice, secs(3));
            in_step(&room, &context);
            assert!(matches!(repaired(&room, odd)[..], [(_, _, _, true)]), "{context}");
            assert_eq!(room.seats[1].session.stats().sequencer(), Some(player(&room, 1 - odd)), "{context}");
            Some(took)
        });
        told(&format!("seat {odd} of two"), &took);
    }
}

#[test]
fn if_nobody_can_tell_the_session_goes_on_from_the_sequencers_world_and_says_so() {
    for odd in [0, 1] {
        let flip = lasting(2, odd);
        REPLAYS.set(false);
        let (mut dice, mut room) = (Dice(7), room(&settings(2, 7), 2, Some((odd, flip))));
        play(&mut room, &mut dice, secs(14));
        REPLAYS.set(true);
        in_step(&room, "two");
        assert_eq!(repaired(&room, 0), repaired(&room, 1), "the replica, whoever is odd");
        let [(who, _, _, false)] = repaired(&room, 1)[..] else { panic!("{:?}", repaired(&room, 1)) };
        assert_eq!(who, player(&room, 1));
    }
}

#[test]
fn without_repair_the_odd_one_is_put_out() {
    let (mut dice, flip) = (Dice(7), lasting(4, 2));
    let settings = PartySettings { on_desync: OnDesync::Stop, ..settings(4, 7) };
    let mut room = room(&settings, 4, Some((2, flip)));
    let odd = player(&room, 2);
    play(&mut room, &mut dice, secs(20));
    assert_eq!(ended(&room.seats[2].session), Some(EndReason::Desync));
    let gone = |event: &Event<Sim>| matches!(event, Event::PlayerLeft { player, .. } if *player == odd);
    assert_eq!(events(&room, gone), 3, "the others see it go");
    assert_eq!(events(&room, |event| matches!(event, Event::Repaired { .. })), 0);
}

/// Makes a seat report false checksums at the ticks that are told.
fn lies(room: &mut Room, seat: usize, lies_at: impl Fn(Tick) -> bool + 'static) {
    room.seats[seat].link.set(altering(move |_, message| {
        let (Message::Report(Report { checksums, .. }) | Message::Turns(Turns { checksums, .. })) = message else {
            return;
        };
        let told = checksums.iter().map(|(tick, sum)| (*tick, Checksum(sum.0 ^ u64::from(lies_at(*tick)))));
        *checksums = list(told.collect());
    }));
}

#[test]
fn a_liar_is_named_costs_nothing_and_is_put_out() {
    seeds::each("-p lockstone-net --test virtual_time repair::", 8, |seed| {
        let mut dice = Dice(seed);
        let mut room = room(&settings(4, seed), 4, None);
        let liar = player(&room, 3);
        let first = 60 + 10 * dice.roll(9) as u32;
        lies(&mut room, 3, move |tick| tick.0 == first);
        let named = |room: &Room| events(room, |event| matches!(event, Event::Liar { .. })) > 0;
        while !named(&room) && room.now() < secs(30) {
            play(&mut room, &mut dice, ms(60));
        }
        play(&mut room, &mut dice, secs(1));
        let named: Vec<_> = room.seats[0]
            .events
            .iter()
            .filter_map(|event| match event {
                Event::Liar { player } => Some(*player),
                _ => None,
            })
            .collect();
        assert_eq!(named, [liar], "seed {seed}");
        assert_eq!(ended(&room.seats[3].session), Some(EndReason::Removed(LeaveReason::Lied)), "seed {seed}");
        assert_eq!(events(&room, |event| matches!(event, Event::Repaired { .. })), 0, "seed {seed}");
        // A lie is no difference, and nobody is to look into it.
        assert_eq!(room.seats[0].session.stats().desyncs, 0, "seed {seed}");
        let wanted = |event: &Event<Sim>| matches!(event, Event::EvidenceWanted { .. });
        assert_eq!(events(&room, wanted), 0, "seed {seed}");
        // The others are told that it left, and nothing else.
        room.seats.pop();
        for seat in &room.seats {
            let left = seat.events.iter().filter(|event| matches!(event, Event::PlayerLeft { .. })).count();
            assert_eq!((left, seat.session.phase()), (1, Phase::Playing), "seed {seed}");
        }
    });
}

#[test]
fn a_liar_that_stands_by_its_lies_is_put_out_as_who_is_always_odd() {
    let (mut dice, mut room) = (Dice(6), room(&settings(4, 6), 4, None));
    room.seats[3].link.set(altering(|_, message| match message {
        Message::Report(Report { checksums, .. }) => {
            *checksums = list(checksums.iter().map(|(tick, sum)| (*tick, Checksum(!sum.0))).collect());
        }
        Message::Parts(parts) => parts.disputed = parts.disputed.map(|sum| Checksum(!sum.0)),
        _ => {}
    }));
    play(&mut room, &mut dice, secs(10));
    assert_eq!(events(&room, |event| matches!(event, Event::Repaired { .. } | Event::Liar { .. })), 0);
    let gone = |event: &Event<Sim>| matches!(event, Event::PlayerLeft { reason: LeaveReason::Desync, .. });
    assert_eq!(events(&room, gone), 3);
    // Most agree with the sequencer: what the liar tells is held against nobody else.
    let stats = room.seats[0].session.stats();
    assert!(stats.desyncs > 0 && stats.acquitted == stats.desyncs, "{stats:?}");
}

#[test]
fn a_sequencer_that_lies_is_deposed_and_put_out_and_costs_nobody_a_difference() {
    let always = |tick: Tick| tick >= Tick(80);
    let once = |tick: Tick| tick == Tick(80);
    for (players, lies_at) in [(4, always as fn(Tick) -> bool), (3, always), (4, once)] {
        let (mut dice, mut room) = (Dice(5), room(&settings(players, 5), players, None));
        lies(&mut room, 0, lies_at);
        play(&mut room, &mut dice, secs(14));
        assert_eq!(events(&room, |event| matches!(event, Event::Repaired { .. })), 0);
        let liar = room.seats.remove(0);
        assert_eq!(ended(&liar.session), Some(EndReason::Removed(LeaveReason::Lied)));
        for seat in &room.seats {
            let stats = seat.session.stats();
            assert_eq!(
                (seat.session.phase(), stats.sequencer()),
                (Phase::Playing, room.seats[0].session.stats().sequencer())
            );
            assert!(stats.players.iter().all(|row| row.player != PlayerId(0)), "{stats:?}");
            assert!(stats.desyncs > 0 && stats.acquitted == stats.desyncs, "{stats:?}");
            let named = |event: &&Event<Sim>| matches!(event, Event::Liar { player: PlayerId(0) });
            assert_eq!(seat.events.iter().filter(named).count(), 1);
        }
    }
}

/// It takes a quorum: what one says of a leader costs it nothing, even if its own world is right.
#[test]
fn a_member_that_contradicts_its_leader_alone_does_not_depose_it() {
    let (mut dice, mut room) = (Dice(7), room(&settings(4, 7), 4, None));
    for tick in [80, 90, 100].map(Tick) {
        while room.seats[3].session.stats().tick <= tick.plus(1) {
            play(&mut room, &mut dice, ms(60));
        }
        let told = |event: &Event<Sim>| match event {
            Event::Checksum { tick: of, checksum, .. } if *of == tick => Some(*checksum),
            _ => None,
        };
        let ours = room.seats[3].events.iter().find_map(told).expect("it is compared");
        let notice = DesyncNotice { tick, agreed: None, ours, theirs: Checksum(!ours.0) };
        for other in 1..3 {
            say(&mut room, 3, other, Message::Desync(notice));
        }
    }
    play(&mut room, &mut dice, secs(8));
    in_step(&room, "with one who contradicts");
    let leaders: Vec<_> = room.seats.iter().map(|seat| seat.session.stats().sequencer()).collect();
    assert_eq!(leaders, [Some(PlayerId(0)); 4]);
    assert_eq!(events(&room, |event| matches!(event, Event::Liar { .. } | Event::Desync { .. })), 0);
}

#[test]
fn what_nobody_asked_for_changes_no_world() {
    let (mut dice, mut room) = (Dice(9), room(&settings(3, 9), 3, None));
    play(&mut room, &mut dice, secs(2));
    let repair =
        Repair { tick: Tick(90), checksum: Checksum(4), bytes: 3, digest: digest(&[1, 2, 3]), is_proven: true };
    let parts = |cells, more| Parts {
        tick: Tick(90),
        checksum: Checksum(4),
        disputed: None,
        rest: None,
        cells: list(cells),
        more,
    };
    for (from, to) in [(0, 1), (2, 1), (1, 0), (2, 0)] {
        let before = drops(&room, to, DropReason::Unexpected) + drops(&room, to, DropReason::UnknownPeer);
        let messages = [
            Message::Repair(Some(repair)),
            Message::Repair(None),
            Message::Chunk(list(vec![1, 2, 3])),
            Message::Parts(parts(Vec::new(), true)),
            Message::Survey(Survey { tick: Tick(3), disputed: Tick(0) }),
            Message::Survey(Survey { tick: Tick(100_000), disputed: Tick(0) }),
        ];
        let count = messages.len() as u64;
        messages.into_iter().for_each(|message| say(&mut room, from, to, message));
        let after = drops(&room, to, DropReason::Unexpected) + drops(&room, to, DropReason::UnknownPeer);
        assert_eq!(after - before, count, "{from} to {to}");
    }
    play(&mut room, &mut dice, secs(3));
    in_step(&room, "hostile");
    assert_eq!(events(&room, |event| matches!(event, Event::Repaired { .. } | Event::Desync { .. })), 0);
}

#[test]
fn a_repair_that_is_not_what_was_promised_is_not_taken_and_comes_again_whole() {
    let (mut dice, flip) = (Dice(7), lasting(4, 2));
    let mut room = room(&settings(4, 7), 4, Some((2, flip)));
    // The first repair promises another state.
    let mut told = 0;
    room.seats[0].link.set(altering(move |_, message| {
        if let Message::Repair(Some(repair)) = message {
            told += 1;
            repair.checksum.0 ^= u64::from(told == 1);
        }
    }));
    play(&mut room, &mut dice, secs(14));
    in_step(&room, "damaged");
    assert_eq!(drops(&room, 2, DropReason::BadRepair), 1);
    assert!(matches!(repaired(&room, 2)[..], [(_, _, 0, true)]), "{:?}", repaired(&room, 2));
}

#[test]
fn a_simulation_without_parts_is_put_right_as_a_whole_and_not_for_ever() {
    // One difference, then one in each second.
    for again in [false, true] {
        let (mut dice, faulty) = (Dice(2), 2);
        let mut driver = Driver::new(MemoryNetwork::new(2, Weather::clear(DELAY)));
        for seat in 0..4 {
            let build = move |seed| {
                Mixer::new(seed, 64).with(move |state, _| {
                    let tick = state.tick.0;
                    let goes_wrong = tick == 73 || again && tick > 73 && tick.is_multiple_of(20);
                    // Not a bit that is flipped: flipped twice it would be right again.
                    state.cells[5] = state.cells[5].wrapping_add(u64::from(seat == faulty && goes_wrong));
                })
            };
            driver.enter(party_of(settings_of_four(), IDENTITY, &format!("player {seat}"), build));
        }
        while driver.now() < secs(20) {
            let until = driver.now() + ms(100);
            driver.run_until(until);
            for seat in &mut driver.seats {
                let _ = seat.session.command(dice.roll(1 << 40));
            }
        }
        let repairs =
            driver.seats[faulty].events.iter().filter(|event| matches!(event, Event::Repaired { .. })).count();
        if again {
            assert_eq!(repairs, 3);
            assert_eq!(ended(&driver.seats[faulty].session), Some(EndReason::Desync));
            driver.seats.remove(faulty);
        } else {
            assert_eq!(repairs, 1);
        }
        let played: Vec<_> = driver.seats.iter().map(|seat| Played::of(&seat.events)).collect();
        played.iter().for_each(|theirs| assert!(assert_same(&played[0], theirs, "whole") > 100));
        assert!(driver.seats.iter().all(|seat| playing(&seat.session)));
    }
}

fn settings_of_four() -> PartySettings {
    settings(4, 2)
}
