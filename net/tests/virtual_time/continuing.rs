//! A session outlives its processes: all are gone, and it goes on from what one of them knew.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use lockstone_net::PlayerKey;
use lockstone_net::memory::{Driver, MemoryNetwork, Weather};
use lockstone_net::party::{Party, PartySettings};
use lockstone_net::session::{Continuation, EndReason, Event, Session};
use lockstone_net::wire::Refusal;
use lockstone_sim::{Input, PlayerId, Simulation, Tick, Turn};
use testkit::seeds;
use testkit::sessions::log::Log;
use testkit::sessions::*;

const DELAY_MS: u64 = 50;
/// Heroes wait for 20 minutes.
const AWAY_TICKS: u32 = 20 * 60 * 20;
/// What is asked for is in a turn so many ticks later.
const ASKED_TICKS: u32 = 20;

type Room = Driver<Party<Mixer>>;

fn build(seed: u64) -> Mixer {
    Mixer::new(seed, 64).keeping(AWAY_TICKS)
}

/// A player, who would found the world of seed 99.
fn player_of(name: &str, players_max: usize) -> Party<Mixer> {
    party_of(PartySettings { seed: 99, players_max, ..PartySettings::default() }, IDENTITY, name, build)
}

/// One with a key.
fn keyed(key: u8) -> Party<Mixer> {
    player_of(&format!("player {key}"), 16).with_key(PlayerKey::from_bytes([key; 32]))
}

fn empty_room(seed: u64) -> Room {
    Driver::new(MemoryNetwork::new(seed, Weather::clear(ms(DELAY_MS))))
}

/// The player of a seat, if its hero is in the world and answers.
fn player(room: &Room, seat: usize) -> Option<PlayerId> {
    let session = &room.seats[seat].session;
    playing(session).then(|| session.stats().player).flatten()
}

fn until_it_plays(room: &mut Room, seat: usize) -> Duration {
    let at = room.now();
    assert!(room.run_while(at + secs(20), |room| player(room, seat).is_none()), "seat {seat} does not play");
    room.now() - at
}

/// Commands that were taken, with who gave them: each is another one.
type Given = Vec<(PlayerId, u64)>;

/// Plays for a while, and everyone gives commands.
fn play(room: &mut Room, dice: &mut Dice, time_ms: u64) -> Given {
    let (end, mut given) = (room.now() + ms(time_ms), Vec::new());
    while room.now() < end {
        let until = (room.now() + ms(10 + dice.roll(60))).min(end);
        room.run_until(until);
        let (seat, command) = (dice.roll(room.seats.len() as u64) as usize, dice.roll(1 << 40));
        if room.seats[seat].session.command(command).is_ok() {
            given.push((room.seats[seat].session.stats().player.expect("it plays"), command));
        }
    }
    given
}

fn kill(room: &mut Room, seat: usize) {
    let peer = room.peer(seat);
    room.network.drop_peer(peer);
    room.seats[seat].freeze(Duration::MAX);
}

/// Four play until all are gone at once: player 2 was away before, and player 1 is. Returns what
/// the founder and a player that came late were told.
fn ended_session(seed: u64, dice: &mut Dice) -> [Log<Mixer>; 2] {
    let mut room = empty_room(seed);
    for key in 0..4 {
        room.enter(keyed(key));
        let time = 500 + dice.roll(500);
        play(&mut room, dice, time);
    }
    kill(&mut room, 2);
    play(&mut room, dice, 1_000);
    room.enter(keyed(2));
    play(&mut room, dice, 1_500);
    kill(&mut room, 1);
    let time = 1_000 + dice.roll(2_000);
    play(&mut room, dice, time);
    [0, 4].map(|seat| Log::of(&room.seats[seat].events))
}

/// What was played from tick 0 on, in a session and in the one that went on with it.
fn history(log: &Log<Mixer>, cut: Tick, after: &[Event<Mixer>]) -> BTreeMap<Tick, Turn<Mixer>> {
    let before = log.turns.range(..cut).map(|(tick, turn)| (*tick, turn.clone()));
    before.chain(Played::of(after).turns).collect()
}

/// Plays a history from tick 0 on: nothing of it is nonsense, or enters twice. Returns what the
/// simulation asked for that is in no turn, and the commands of a player.
fn told_by(log: &Log<Mixer>, turns: &BTreeMap<Tick, Turn<Mixer>>, end: Tick) -> (BTreeSet<u64>, Given) {
    let (mut asked, mut given) = (BTreeMap::new(), Vec::new());
    let mut session = log.at(Tick(0), build);
    let world = session.simulation();
    for tick in (0..end.0).map(Tick) {
        let turn = turns.get(&tick).cloned().unwrap_or_default();
        for input in &turn.inputs {
            match input {
                Input::Request(value) => assert!(asked.remove(value).is_some(), "{value} is not asked for"),
                Input::Command(player, command) => given.push((*player, *command)),
                _ => {}
            }
        }
        world.step(&turn);
        assert!(!world.nonsense, "at {tick}");
        asked.extend(world.requests().iter().map(|value| (*value, tick)));
    }
    asked.retain(|_, tick| tick.0 + ASKED_TICKS < end.0);
    (asked.into_keys().collect(), given)
}

/// Founds a session again, and lets all four come back to it, and one more.
fn go_on(seed: u64, founder: u8, continuation: Continuation<Mixer>) -> (Room, Given) {
    let mut room = empty_room(seed ^ 77);
    room.enter(keyed(founder).continuing(continuation));
    until_it_plays(&mut room, 0);
    for key in (0..4).filter(|key| *key != founder).chain([9]) {
        let seat = room.enter(keyed(key));
        let took = until_it_plays(&mut room, seat);
        assert!(took < secs(3), "seed {seed}: {key} plays after {took:?}");
    }
    let given = play(&mut room, &mut Dice(!seed), 3_000);
    let end = room.now() + secs(3);
    room.run_until(end);
    (room, given)
}

fn players(room: &Room) -> Vec<PlayerId> {
    (0..room.seats.len()).filter_map(|seat| player(room, seat)).collect()
}

fn ids(keys: impl IntoIterator<Item = u8>) -> Vec<PlayerId> {
    keys.into_iter().map(|key| PlayerId(key.into())).collect()
}

#[test]
fn a_session_that_all_have_left_goes_on_with_the_same_heroes() {
    let open = seeds::each("-p lockstone-net --test virtual_time continuing::", 20, |seed| {
        let mut dice = Dice(seed);
        let logs = ended_session(seed, &mut dice);
        // A process that was killed has not written its last moments, and each another one.
        let log = &logs[dice.roll(2) as usize];
        let cut = Tick(logs[0].end.0.min(log.end.0) - dice.roll(25) as u32);
        // Whoever of them founds it: also one who was away.
        let founder = dice.roll(4) as u8;
        let (room, given) = go_on(seed, founder, log.at(cut, build));

        let others = (0..4).filter(|key| *key != founder).chain([4]);
        assert_eq!(players(&room), ids([founder].into_iter().chain(others)), "seed {seed}: the same players");
        let played: Vec<_> = room.seats.iter().map(|seat| Played::of(&seat.events)).collect();
        assert_eq!(played[0].checksums.keys().next(), Some(&cut), "seed {seed}: the ticks go on");
        for (seat, other) in played.iter().enumerate() {
            assert!(assert_same(&played[0], other, &format!("seed {seed}")) > 20);
            assert_eq!(desyncs(&room, seat), []);
        }
        let world = room.seats[0].session.simulation().expect("it plays");
        assert_eq!((world.state.heroes.len(), world.state.away.len()), (5, 0), "seed {seed}");

        // One history from tick 0 on, in which nothing is lost, and nothing twice.
        let (now, end) = (history(&logs[0], cut, &room.seats[0].events), room.seats[0].session.settled());
        let (lost, commands) = told_by(&logs[0], &now, end);
        assert_eq!(lost, BTreeSet::new(), "seed {seed}: what the simulation asked for");
        let known: BTreeSet<_> = commands.iter().copied().collect();
        assert_eq!(known.len(), commands.len(), "seed {seed}: a command was played twice");
        assert!(given.iter().all(|command| known.contains(command)), "seed {seed}: a command is lost");
        assert!(given.len() > 40, "seed {seed}: {} commands show nothing", given.len());
        // What had been asked for when it ended, and had not entered a turn.
        let (open, _) = told_by(&logs[0], &history(&logs[0], cut, &[]), Tick(cut.0 + ASKED_TICKS));
        u32::from(!open.is_empty())
    });
    assert!(open.iter().sum::<u32>() > 1, "in no session anything was asked for when it ended");
}

/// What goes with the world is what the test above depends on.
#[test]
fn the_world_alone_is_not_the_session() {
    let (mut lost, mut open) = (0, 0);
    for seed in 0..20 {
        let mut dice = Dice(seed);
        let [log, _] = ended_session(seed, &mut dice);
        let cut = Tick(log.end.0 - dice.roll(25) as u32);
        let before = told_by(&log, &history(&log, cut, &[]), Tick(cut.0 + ASKED_TICKS)).0;
        if before.is_empty() {
            continue;
        }
        let (room, _) = go_on(seed, 0, log.world_at(cut, build));
        assert_ne!(players(&room), ids([0, 1, 2, 3, 4]), "seed {seed}: nobody's key is known");
        let now = history(&log, cut, &room.seats[0].events);
        let mut world = build(0);
        let mut asked = before.clone();
        now.values().flat_map(|turn| &turn.inputs).for_each(|input| {
            if let Input::Request(value) = input {
                asked.remove(value);
            }
        });
        world.step(&Turn::EMPTY);
        (lost, open) = (lost + usize::from(!asked.is_empty()), open + 1);
    }
    assert!(open > 0 && lost == open, "what was asked for is lost in {lost} of {open} sessions");
}

/// An odd world asks for other things, and not for what the others ask for.
#[test]
fn whose_world_was_put_right_goes_on_with_what_the_others_asked_for() {
    seeds::each("-p lockstone-net --test virtual_time continuing::", 8, |seed| {
        let (mut dice, mut room) = (Dice(seed), empty_room(seed));
        let asks = 37 * (3 + dice.roll(3) as u32);
        let flaw = Tick(asks - 1 - dice.roll(8) as u32);
        for key in 0..3 {
            let flaw = (key == 1).then_some(flaw);
            let odd =
                move |seed| build(seed).with(move |state, _| state.cells[0] ^= u64::from(flaw == Some(state.tick)));
            let settings = PartySettings { seed: 99, ..PartySettings::default() };
            let party = party_of(settings, IDENTITY, &format!("player {key}"), odd);
            let seat = room.enter(party.with_key(PlayerKey::from_bytes([key; 32])));
            until_it_plays(&mut room, seat);
        }
        assert!(room.seats[0].session.settled() < flaw, "seed {seed}: it is odd too early");
        play(&mut room, &mut dice, 12_000);
        let repaired = |event: &Event<Mixer>| matches!(event, Event::Repaired { .. });
        assert!(room.seats[1].events.iter().any(repaired), "seed {seed}: it was not put right");

        let [sound, odd] = [0, 1].map(|seat| Log::of(&room.seats[seat].events));
        let cut = sound.end.min(odd.end);
        let (room, _) = go_on(seed, 1, odd.at(cut, build));
        let (now, end) = (history(&sound, cut, &room.seats[0].events), room.seats[0].session.settled());
        assert_eq!(told_by(&sound, &now, end).0, BTreeSet::new(), "seed {seed}: what the simulation asked for");
    });
}

#[test]
fn who_was_not_in_it_may_found_it_again_too() {
    let [log, _] = ended_session(3, &mut Dice(3));
    let mut room = empty_room(4);
    room.enter(keyed(9).continuing(log.at(log.end, build)));
    until_it_plays(&mut room, 0);
    let seat = room.enter(keyed(3));
    until_it_plays(&mut room, seat);
    assert_eq!(players(&room), ids([4, 3]));
    let world = room.seats[0].session.simulation().expect("it plays");
    assert_eq!(world.state.away.len(), 3, "the others' heroes wait");
    // Everyone comes to an end but the two: their heroes do not wait for ever.
    room.run_until(secs(60 * 20 + 10));
    let world = room.seats[0].session.simulation().expect("it plays");
    assert_eq!((world.state.heroes.len(), world.state.away.len()), (2, 0));
}

#[test]
fn who_finds_a_session_in_the_room_joins_it() {
    let [log, other] = ended_session(5, &mut Dice(5));
    let mut room = empty_room(5);
    room.enter(keyed(1).continuing(log.at(log.end, build)));
    until_it_plays(&mut room, 0);
    // It knows less of the session.
    let seat = room.enter(keyed(2).continuing(other.at(Tick(log.end.0 - 30), build)));
    until_it_plays(&mut room, seat);
    assert_eq!(players(&room), ids([1, 2]));
    let now = room.now() + secs(2);
    room.run_until(now);
    let played = [0, 1].map(|seat| Played::of(&room.seats[seat].events));
    assert!(assert_same(&played[0], &played[1], "both") > 20);
    assert_eq!(played[0].checksums.keys().next(), Some(&log.end));
}

#[test]
fn without_a_key_or_a_word_of_the_rules_nobody_waits() {
    // Nobody has a key.
    let mut room = empty_room(6);
    for n in 0..3 {
        room.enter(player_of(&format!("player {n}"), 16));
    }
    room.run_until(secs(3));
    let log = Log::of(&room.seats[0].events);
    assert_eq!(log.at(log.end, build).simulation().state.heroes.len(), 3);
    let mut room = empty_room(7);
    room.enter(player_of("player 0", 16).continuing(log.at(log.end, build)));
    until_it_plays(&mut room, 0);
    let world = room.seats[0].session.simulation().expect("it plays");
    assert_eq!((world.state.heroes.len(), world.state.away.len()), (1, 0));
    assert_eq!(player(&room, 0), Some(PlayerId(3)), "nobody knows it again");
    // All have one, and the rules let nobody wait.
    let [log, _] = ended_session(8, &mut Dice(8));
    let strict = |seed| Mixer::new(seed, 64);
    let settings = PartySettings::default();
    let party = party_of(settings, IDENTITY, "player 0", strict).with_key(PlayerKey::from_bytes([0; 32]));
    let mut room = empty_room(8);
    room.enter(party.continuing(log.at(log.end, strict)));
    until_it_plays(&mut room, 0);
    let world = room.seats[0].session.simulation().expect("it plays");
    assert_eq!((world.state.heroes.len(), world.nonsense), (1, false));
}

#[test]
fn the_places_of_those_who_are_away_are_kept() {
    let [log, _] = ended_session(9, &mut Dice(9));
    let small = |key: u8| player_of("player", 4).with_key(PlayerKey::from_bytes([key; 32]));
    let mut room = empty_room(9);
    room.enter(small(9).continuing(log.at(log.end, build)));
    room.run_until(secs(1));
    assert_eq!(ended(&room.seats[0].session), Some(EndReason::Refused(Refusal::Full { players_max: 4 })));
    let mut room = empty_room(9);
    room.enter(small(1).continuing(log.at(log.end, build)));
    until_it_plays(&mut room, 0);
    let stranger = room.enter(small(9));
    room.run_until(secs(3));
    assert_eq!(ended(&room.seats[stranger].session), Some(EndReason::Refused(Refusal::Full { players_max: 4 })));
    let seat = room.enter(small(0));
    until_it_plays(&mut room, seat);
    assert_eq!(player(&room, seat), Some(PlayerId(0)));
}

#[test]
fn a_session_goes_on_as_often_as_it_is_to() {
    let mut dice = Dice(10);
    let [mut log, _] = ended_session(10, &mut dice);
    for round in 0..4 {
        let (room, _) = go_on(round, (round % 4) as u8, log.at(Tick(log.end.0 - 5), build));
        assert_eq!(players(&room).len(), 5);
        let next = Log::of(&room.seats[0].events);
        assert!(next.end > log.end, "round {round}");
        log = next;
    }
    let world = log.at(log.end, build).simulation().state.clone();
    assert_eq!(world.heroes.keys().copied().collect::<Vec<_>>(), ids(0..5), "the fifth player stays the fifth");
}

/// Its ticks are those of a session that is older than its processes.
#[test]
fn who_takes_over_a_session_that_went_on_does_so_at_once() {
    let [log, _] = ended_session(11, &mut Dice(11));
    let mut room = empty_room(11);
    room.enter(keyed(0).continuing(log.at(log.end, build)));
    let took = until_it_plays(&mut room, 0);
    assert!(took < secs(1), "it goes on after {took:?}");
    for key in 1..4 {
        room.enter(keyed(key));
    }
    for seat in 1..4 {
        until_it_plays(&mut room, seat);
    }
    let met = room.now() + secs(1);
    room.run_until(met);
    kill(&mut room, 0);
    let before = room.seats[1].session.settled();
    let end = room.now() + secs(3);
    room.run_until(end);
    let ticks = [1, 2, 3].map(|seat| room.seats[seat].session.settled().since(before));
    assert!(ticks.iter().all(|ticks| *ticks > 20), "{ticks:?} ticks in 3 s");
}
