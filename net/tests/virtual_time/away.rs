//! Players who are lost come back to their heroes.

use core::time::Duration;

use lockstone_net::memory::{Driver, Weather};
use lockstone_net::party::{Party, PartySettings};
use lockstone_net::session::{EndReason, Event, Phase, Session};
use lockstone_net::wire::{self, Epoch, LeaveReason, Message, Proof, Refusal};
use lockstone_net::{Channel, Link, LinkEvent, PlayerKey};
use lockstone_sim::PlayerId;
use testkit::seeds;
use testkit::sessions::*;

const DELAY_MS: u64 = 50;
/// Heroes wait for 20 minutes.
const AWAY_TICKS: u32 = 20 * 60 * 20;

type Room = Driver<Party<Mixer>>;

fn settings(players: usize) -> PartySettings {
    PartySettings { players_at_start: players, ..PartySettings::default() }
}

fn keyed(key: u8, settings: PartySettings, away_ticks: u32) -> Party<Mixer> {
    let build = move |seed| Mixer::new(seed, 64).keeping(away_ticks);
    party_of(settings, IDENTITY, &format!("player {key}"), build).with_key(PlayerKey::from_bytes([key; 32]))
}

/// Players who all play, each with a key of its own.
fn room_of(players: usize, away_ticks: u32) -> Room {
    let parties = (0..players).map(|n| keyed(n as u8, settings(players), away_ticks));
    gather(1, Weather::clear(ms(DELAY_MS)), parties, |_, link| link)
}

fn run(room: &mut Room, time: Duration) {
    let until = room.now() + time;
    room.run_until(until);
}

/// The player of a seat, if its hero is in the world and answers.
fn player(room: &Room, seat: usize) -> Option<PlayerId> {
    let session = &room.seats[seat].session;
    (session.phase() == Phase::Playing).then(|| session.stats().player).flatten()
}

/// How long until a seat plays.
fn until_it_plays(room: &mut Room, seat: usize) -> Duration {
    let at = room.now();
    assert!(room.run_while(at + secs(20), |room| player(room, seat).is_none()), "seat {seat} does not play");
    room.now() - at
}

/// Everyone who is alive and plays has the same world, and no hero twice.
fn assert_sound(room: &Room, heroes: usize) {
    let mut last = None;
    let newest = room.seats.iter().map(|seat| seat.session.stats().tick).max().expect("there are seats");
    let lives = |seat: usize| player(room, seat).is_some() && newest.since(room.seats[seat].session.stats().tick) < 20;
    for (n, seat) in room.seats.iter().enumerate().filter(|(n, _)| lives(*n)) {
        assert_eq!(desyncs(room, n), []);
        let world = seat.session.simulation().expect("it plays");
        assert!(!world.nonsense);
        assert_eq!(world.state.heroes.len(), heroes);
        let played = Played::of(&seat.events);
        last.replace(played).into_iter().for_each(|before| {
            assert_same(&before, last.as_ref().expect("just set"), "two peers");
        });
    }
}

fn kill(room: &mut Room, seat: usize) {
    let peer = room.peer(seat);
    room.seats[seat].freeze(Duration::MAX);
    room.network.drop_peer(peer);
}

#[test]
fn a_replica_that_was_frozen_comes_back_to_its_hero() {
    for (frozen, dropped) in [(secs(60), false), (secs(60), true), (secs(600), false)] {
        let mut room = room_of(4, AWAY_TICKS);
        run(&mut room, secs(2));
        let (at, ticks) = (room.now(), room.seats[0].session.stats().tick);
        room.seats[3].freeze(at + frozen);
        if dropped {
            let peer = room.peer(3);
            room.network.drop_peer(peer);
        }
        run(&mut room, frozen);
        let played = room.seats[0].session.stats().tick.since(ticks);
        let expected = frozen.as_secs() as u32 * 20;
        assert!(played.abs_diff(expected) < 5, "the pace of the others: {played} ticks for {expected}");
        assert_eq!(room.seats[1].session.simulation().expect("it plays").state.away.len(), 1);
        if dropped {
            // The carrier has no way to reach it again: it enters the room anew.
            room.enter(keyed(3, settings(4), AWAY_TICKS));
        }
        let seat = room.seats.len() - 1;
        let took = until_it_plays(&mut room, seat);
        println!("frozen for {frozen:?}, dropped {dropped}: back after {took:?}");
        assert!(took < secs(3), "{took:?}");
        assert_eq!(player(&room, seat), Some(PlayerId(3)));
        room.seats[seat].session.command(77).expect("it plays");
        run(&mut room, secs(2));
        assert_sound(&room, 4);
        assert_eq!(room.seats[0].session.simulation().expect("it plays").state.away.len(), 0);
    }
}

#[test]
fn who_is_killed_and_starts_again_is_the_same_player() {
    seeds::each("-p lockstone-net --test virtual_time away::", 20, |seed| {
        let mut dice = Dice(seed);
        let mut room = room_of(4, AWAY_TICKS);
        run(&mut room, ms(500 + dice.roll(1_000)));
        let killed = dice.roll(4) as usize;
        if dice.roll(2) == 0 {
            kill(&mut room, killed);
        } else {
            // Nobody is told.
            room.seats[killed].freeze(Duration::MAX);
        }
        run(&mut room, ms(dice.roll(15_000)));
        let seat = room.enter(keyed(killed as u8, settings(4), AWAY_TICKS));
        let took = until_it_plays(&mut room, seat);
        println!("seed {seed}: {killed} is back after {took:?}");
        assert!(took < secs(3), "seed {seed}: {took:?}");
        assert_eq!(player(&room, seat), Some(PlayerId(killed as u16)), "seed {seed}");
        let other = room.enter(keyed(99, settings(4), AWAY_TICKS));
        until_it_plays(&mut room, other);
        assert_eq!(player(&room, other), Some(PlayerId(4)), "seed {seed}: another key is another player");
        run(&mut room, secs(2));
        assert_sound(&room, 5);
    });
}

/// Its return is in turns that are known to few, or to nobody but the two. Three who have a vote
/// are left.
#[test]
fn the_sequencer_is_killed_as_a_player_comes_back() {
    seeds::each("-p lockstone-net --test virtual_time away::", 20, |seed| {
        let mut dice = Dice(seed);
        let mut room = room_of(5, AWAY_TICKS);
        run(&mut room, secs(1));
        // Half of them are at two places for a moment.
        if seed % 2 == 0 {
            kill(&mut room, 2);
        }
        let seat = room.enter(keyed(2, settings(5), AWAY_TICKS));
        until_it_plays(&mut room, seat);
        run(&mut room, ms(dice.roll(300)));
        kill(&mut room, 0);
        run(&mut room, ms(100));
        let at = room.now();
        let settled = |room: &Room, seat: usize| room.seats[seat].session.settled();
        let before = settled(&room, seat);
        let waits = |room: &Room| settled(room, seat) <= before || settled(room, 3).since(settled(room, seat)) > 8;
        assert!(room.run_while(at + secs(20), waits), "seed {seed}: it does not get on");
        let took = room.now() - at;
        println!("seed {seed}: it plays on after {took:?}");
        assert!(took < secs(5), "seed {seed}: {took:?}");
        run(&mut room, secs(1));
        assert_eq!(player(&room, seat), Some(PlayerId(2)), "seed {seed}");
    });
}

/// The turn that says that it left comes after its hello.
#[test]
fn who_says_goodbye_and_is_back_at_once_is_a_new_player() {
    let mut room = room_of(3, AWAY_TICKS);
    run(&mut room, secs(1));
    for gap_ms in 0..60 {
        let (now, last) = (room.now(), room.seats.len() - 1);
        let before = player(&room, last).expect("it plays");
        room.seats[last].session.leave(now);
        run(&mut room, ms(gap_ms));
        let seat = room.enter(keyed(2, settings(3), AWAY_TICKS));
        until_it_plays(&mut room, seat);
        assert_ne!(player(&room, seat), Some(before), "{gap_ms} ms after its goodbye");
        run(&mut room, secs(1));
        room.seats[seat].session.command(7).expect("it plays");
        let heroes = &room.seats[0].session.simulation().expect("it plays").state.heroes;
        assert_eq!(heroes.len(), 3, "{gap_ms} ms after its goodbye");
    }
}

#[test]
fn a_new_leader_knows_who_is_away() {
    let mut room = room_of(4, AWAY_TICKS);
    run(&mut room, secs(1));
    kill(&mut room, 2);
    run(&mut room, secs(3));
    kill(&mut room, 0);
    run(&mut room, secs(3));
    let seats = [2, 0].map(|key| room.enter(keyed(key, settings(4), AWAY_TICKS)));
    run(&mut room, secs(5));
    assert_eq!(seats.map(|seat| player(&room, seat)), [Some(PlayerId(2)), Some(PlayerId(0))]);
    assert_sound(&room, 4);
}

#[test]
fn a_hero_does_not_wait_for_ever() {
    let mut room = room_of(3, 200);
    kill(&mut room, 2);
    run(&mut room, secs(8));
    assert_eq!(room.seats[0].session.simulation().expect("it plays").state.heroes.len(), 3);
    run(&mut room, secs(4));
    assert_eq!(room.seats[0].session.simulation().expect("it plays").state.heroes.len(), 2);
    let left = |event: &Event<Mixer>| matches!(event, Event::PlayerLeft { reason: LeaveReason::Away, .. });
    assert_eq!(room.seats[1].events.iter().filter(|event| left(event)).count(), 1);
    let seat = room.enter(keyed(2, settings(3), 200));
    until_it_plays(&mut room, seat);
    assert_eq!(player(&room, seat), Some(PlayerId(3)));
    run(&mut room, secs(1));
    assert_sound(&room, 3);
}

#[test]
fn without_a_word_of_the_rules_nobody_waits() {
    let mut room = room_of(3, 0);
    kill(&mut room, 2);
    run(&mut room, secs(2));
    assert_sound(&room, 2);
    let seat = room.enter(keyed(2, settings(3), 0));
    until_it_plays(&mut room, seat);
    assert_eq!(player(&room, seat), Some(PlayerId(3)));
}

#[test]
fn who_plays_from_elsewhere_as_well_plays_only_there() {
    let mut room = room_of(3, AWAY_TICKS);
    let seat = room.enter(keyed(2, settings(3), AWAY_TICKS));
    until_it_plays(&mut room, seat);
    run(&mut room, secs(1));
    assert_eq!(player(&room, seat), Some(PlayerId(2)));
    assert_eq!(ended(&room.seats[2].session), Some(EndReason::Removed(LeaveReason::Replaced)));
    assert_sound(&room, 3);
    // Nobody takes over from who leads: its process would have to be told.
    let seat = room.enter(keyed(0, settings(3), AWAY_TICKS));
    run(&mut room, secs(2));
    assert_eq!(ended(&room.seats[seat].session), Some(EndReason::Refused(Refusal::Leads)));
    assert_sound(&room, 3);
}

#[test]
fn the_place_of_who_is_away_is_kept() {
    let small = PartySettings { players_max: 3, ..settings(3) };
    let parties = (0..3).map(|n| keyed(n, small.clone(), AWAY_TICKS));
    let mut room = gather(1, Weather::clear(ms(DELAY_MS)), parties, |_, link| link);
    kill(&mut room, 2);
    run(&mut room, secs(2));
    let stranger = room.enter(keyed(9, small.clone(), AWAY_TICKS));
    run(&mut room, secs(2));
    assert_eq!(ended(&room.seats[stranger].session), Some(EndReason::Refused(Refusal::Full { players_max: 3 })));
    let seat = room.enter(keyed(2, small, AWAY_TICKS));
    until_it_plays(&mut room, seat);
    assert_eq!(player(&room, seat), Some(PlayerId(2)));
}

#[test]
fn the_seed_is_that_of_the_session_whoever_leads_it() {
    // Each would found another world.
    let parties = (0..3).map(|n| keyed(n, PartySettings { seed: n.into(), ..settings(3) }, AWAY_TICKS));
    let mut room = gather(1, Weather::clear(ms(DELAY_MS)), parties, |_, link| link);
    kill(&mut room, 0);
    run(&mut room, secs(3));
    let seat = room.enter(keyed(9, PartySettings { seed: 9, ..settings(3) }, AWAY_TICKS));
    until_it_plays(&mut room, seat);
    let seed = |seat: usize| {
        let started = |event: &Event<Mixer>| match event {
            Event::Started { seed, .. } => Some(*seed),
            _ => None,
        };
        room.seats[seat].events.iter().find_map(started)
    };
    assert_eq!(seed(seat), Some(0));
    run(&mut room, secs(2));
    assert_sound(&room, 4);
}

#[test]
fn a_later_leader_refuses_as_the_first_does() {
    let small = PartySettings { players_max: 3, ..settings(3) };
    let parties = (0..3).map(|n| keyed(n, small.clone(), AWAY_TICKS));
    let mut room = gather(1, Weather::clear(ms(DELAY_MS)), parties, |_, link| link);
    kill(&mut room, 0);
    run(&mut room, secs(3));
    let stranger = room.enter(keyed(9, small, AWAY_TICKS));
    run(&mut room, secs(3));
    assert_eq!(ended(&room.seats[stranger].session), Some(EndReason::Refused(Refusal::Full { players_max: 3 })));
}

#[test]
fn who_loses_everyone_for_a_while_comes_back() {
    // Longer than anyone waits for a sign of life.
    let mut room = room_of(4, AWAY_TICKS);
    run(&mut room, secs(1));
    let others = [0, 1, 2];
    let cut =
        |room: &Room, cut| others.iter().for_each(|seat| room.network.set_cut(room.peer(*seat), room.peer(3), cut));
    cut(&room, true);
    run(&mut room, secs(60));
    assert_eq!(room.seats[3].session.phase(), Phase::Returning);
    assert_eq!(room.seats[0].session.phase(), Phase::Playing);
    cut(&room, false);
    let took = until_it_plays(&mut room, 3);
    assert!(took < secs(3), "{took:?}");
    assert_eq!(player(&room, 3), Some(PlayerId(3)));
    run(&mut room, secs(1));
    assert_sound(&room, 4);
}

/// What a peer of no session is told, beside the rank of the session.
fn hear(link: &mut impl Link) -> Vec<(Epoch, Message)> {
    let packet = |event| match event {
        LinkEvent::Packet { bytes, .. } => Some(wire::decode(&bytes).expect("a message")),
        _ => None,
    };
    let told = std::iter::from_fn(|| link.poll()).filter_map(packet);
    told.filter(|(_, message)| !matches!(message, Message::Meet(_))).collect()
}

#[test]
fn a_key_is_of_no_use_to_who_only_knows_its_public_half() {
    let mut room = room_of(3, AWAY_TICKS);
    run(&mut room, secs(1));
    kill(&mut room, 2);
    run(&mut room, secs(1));
    let (founder, lost) = (room.peer(0), room.peer(2));
    // What the player itself says, overheard.
    let says = move |challenge: Option<u64>| {
        let mut player = keyed(2, settings(3), AWAY_TICKS);
        player.handle(LinkEvent::Entered(lost), Duration::ZERO);
        player.handle(LinkEvent::Connected(founder), Duration::ZERO);
        if let Some(nonce) = challenge {
            let bytes = wire::encode(Epoch(0), &Message::Challenge(nonce));
            player.handle(LinkEvent::Packet { from: founder, channel: Channel::Reliable, bytes }, Duration::ZERO);
        }
        std::iter::from_fn(|| player.poll_transmit()).last().expect("it answers").bytes
    };
    let overheard = move |nonce| says(Some(nonce));
    type Answer<'a> = &'a dyn Fn(u64) -> Vec<u8>;
    let garbage = |_| wire::encode(Epoch(0), &Message::Proof(Proof([1; 32], [2; 32])));
    let answers: [(Answer<'_>, &str); 2] = [(&garbage, "no signature"), (&overheard, "another connection's")];
    let mut told = Vec::new();
    for (answer, _) in answers {
        let mut stranger = room.network.enter();
        let start = room.now();
        room.run_until(start + secs(1));
        stranger.send(founder, Channel::Reliable, says(None));
        room.run_until(start + secs(2));
        let heard = hear(&mut stranger);
        let [(_, Message::Vouch(_)), (Epoch(0), Message::Challenge(nonce))] = heard[..] else { panic!("{heard:?}") };
        stranger.send(founder, Channel::Reliable, answer(nonce));
        room.run_until(start + secs(3));
        told.push(hear(&mut stranger));
    }
    for (told, (_, what)) in told.iter().zip(answers) {
        assert!(matches!(told[..], [(_, Message::Refusal(Refusal::Key))]), "{what}: {told:?}");
    }
    assert_eq!(room.seats[0].session.simulation().expect("it plays").state.away.len(), 1);
    let seat = room.enter(keyed(2, settings(3), AWAY_TICKS));
    until_it_plays(&mut room, seat);
    assert_eq!(self::player(&room, seat), Some(PlayerId(2)), "the player itself comes back");
}

/// Who closes ticks, as a seat sees it.
fn leader(room: &Room, seat: usize) -> Option<PlayerId> {
    room.seats[seat].session.stats().sequencer()
}

#[test]
fn two_parts_of_a_party_become_one_again_and_everyone_has_the_same_hero() {
    let mut room = room_of(5, AWAY_TICKS);
    run(&mut room, secs(2));
    let players: Vec<_> = (0..5).map(|seat| player(&room, seat).expect("it plays")).collect();
    let cut = |room: &Room, cut: bool| {
        for (a, b) in [0, 1].into_iter().flat_map(|a| [2, 3, 4].map(|b| (a, b))) {
            room.network.set_cut(room.peer(a), room.peer(b), cut);
        }
    };
    cut(&room, true);
    run(&mut room, secs(13));
    room.seats[1].session.go_on_as_branch().expect("it is offered");
    run(&mut room, secs(2));
    let ticks = |room: &Room| [1, 4].map(|seat| room.seats[seat].session.settled());
    let before = ticks(&room);
    run(&mut room, secs(5));
    let after = ticks(&room);
    assert!(before[0] < after[0] && before[1] < after[1], "both parts go on: {before:?}, {after:?}");
    assert_ne!(leader(&room, 1), leader(&room, 4));

    cut(&room, false);
    let healed = room.now();
    let apart = |room: &Room| (0..5).any(|seat| player(room, seat).is_none() || leader(room, seat) != leader(room, 4));
    assert!(room.run_while(healed + secs(20), |room| apart(room)), "they stay apart");
    println!("one session again after {:?}", room.now() - healed);
    assert!(room.now() - healed < secs(5), "one session again after {:?}", room.now() - healed);
    assert_eq!((0..5).map(|seat| player(&room, seat).expect("it plays")).collect::<Vec<_>>(), players);
    for (seat, player) in players.iter().enumerate() {
        room.seats[seat].session.command(u64::from(player.0)).expect("it plays");
    }
    run(&mut room, secs(2));
    assert_sound(&room, 5);
}
