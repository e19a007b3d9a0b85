//! Who gets in, who does not, and how a session ends: every side is told why.

use core::time::Duration;

use lockstone_net::Identity;
use lockstone_net::link::{Link, LinkError, LinkEvent};
use lockstone_net::memory::{Driver, MemoryNetwork, Weather};
use lockstone_net::party::{Party, PartyConfig, PartySettings};
use lockstone_net::session::{CommandError, EndReason, Event, PlayerError, Session};
use lockstone_net::wire::{self, LeaveReason, Refusal, Subject};
use lockstone_sim::{Input, PlayerId};
use testkit::sessions::*;

fn room(parties: Vec<Party<Mixer>>) -> Driver<Party<Mixer>> {
    let mut driver = Driver::new(MemoryNetwork::new(1, Weather::clear(ms(30))));
    for party in parties {
        driver.enter(party);
        let until = driver.now() + secs(1);
        driver.run_until(until);
    }
    driver
}

fn refusals(driver: &Driver<Party<Mixer>>, seat: usize) -> Vec<Refusal> {
    let refused = |event: &Event<Mixer>| match event {
        Event::Refused { refusal, .. } => Some(refusal.clone()),
        _ => None,
    };
    driver.seats[seat].events.iter().filter_map(refused).collect()
}

fn left(driver: &Driver<Party<Mixer>>, seat: usize) -> Vec<(PlayerId, LeaveReason)> {
    let left = |event: &Event<Mixer>| match event {
        Event::PlayerLeft { player, reason } => Some((*player, *reason)),
        _ => None,
    };
    driver.seats[seat].events.iter().filter_map(left).collect()
}

fn other(settings: PartySettings, identity: Identity) -> Party<Mixer> {
    party_of(settings, identity, "joiner", |seed| Mixer::new(seed, 64))
}

#[test]
fn what_differs_is_named_to_both_sides() {
    let settings = PartySettings::default();
    let cases: Vec<(Party<Mixer>, Vec<Subject>)> = vec![
        (other(settings.clone(), Identity { rules: 9, ..IDENTITY }), vec![Subject::Rules]),
        (other(settings.clone(), Identity { table: 9, ..IDENTITY }), vec![Subject::Table]),
        (other(settings.clone(), Identity { config: 9, ..IDENTITY }), vec![Subject::Config]),
        (other(settings.clone(), Identity { rules: 9, table: 9, ..IDENTITY }), vec![Subject::Rules, Subject::Table]),
        (other(PartySettings { ticks_per_s: 30, ..settings.clone() }, IDENTITY), vec![Subject::TickRate]),
        (
            other(PartySettings { checksum_interval_ticks: 5, ..settings.clone() }, IDENTITY),
            vec![Subject::ChecksumInterval],
        ),
        (other(PartySettings { packet_interval_ticks: 1, ..settings }, IDENTITY), vec![Subject::PacketInterval]),
    ];
    for (joiner, subjects) in cases {
        let driver = room(vec![party(PartySettings::default(), "founder"), joiner]);
        let told = [refusals(&driver, 0), refusals(&driver, 1)];
        assert_eq!(told[0], told[1], "both are told the same");
        let [Refusal::Different(differences)] = told[0].as_slice() else { panic!("{told:?}") };
        assert_eq!(differences.iter().map(|difference| difference.what).collect::<Vec<_>>(), subjects);
        assert!(differences.iter().all(|difference| difference.session != difference.joiner));
        if subjects == [Subject::Rules] {
            assert_eq!((differences[0].session, differences[0].joiner), (1, 9));
        }
        assert!(matches!(ended(&driver.seats[1].session), Some(EndReason::Refused(_))));
        assert_eq!(ended(&driver.seats[0].session), None, "the founder plays on");
        assert_eq!(driver.seats[1].session.stats().tick.0, 0);
    }
}

#[test]
fn another_protocol_version_is_refused_even_if_the_rest_cannot_be_read() {
    let mut driver = room(vec![party(PartySettings::default(), "founder")]);
    let founder = driver.peer(0);
    let mut stranger = driver.network.enter();
    driver.run_until(secs(2));
    // Epoch 0, hello, version 77, then what only version 77 knows.
    stranger.send(founder, lockstone_net::Channel::Reliable, vec![0, 0, 77, 1, 2, 3]);
    driver.run_until(secs(3));
    let answers: Vec<_> = std::iter::from_fn(|| stranger.poll()).collect();
    let refusal = answers.iter().find_map(|event| match event {
        LinkEvent::Packet { bytes, .. } => match wire::decode(bytes).expect("a message").1 {
            // It had said nothing for long.
            wire::Message::Meet(_) => None,
            other => Some(other),
        },
        _ => None,
    });
    let Some(wire::Message::Refusal(told)) = refusal else { panic!("{answers:?}") };
    assert_eq!(refusals(&driver, 0), vec![told.clone()]);
    let Refusal::Different(differences) = told else { panic!("{told:?}") };
    assert_eq!(
        (differences[0].what, differences[0].session, differences[0].joiner),
        (Subject::Protocol, wire::PROTOCOL_VERSION.into(), 77)
    );
}

#[test]
fn a_full_room_refuses() {
    let settings = PartySettings { players_max: 2, ..PartySettings::default() };
    let parties = ["a", "b", "c"].map(|name| party(settings.clone(), name));
    let driver = room(parties.into());
    assert_eq!(refusals(&driver, 0), vec![Refusal::Full { players_max: 2 }]);
    assert_eq!(refusals(&driver, 2), vec![Refusal::Full { players_max: 2 }]);
    assert_eq!(driver.seats[1].session.stats().players.len(), 2);
}

#[test]
fn names_and_settings_are_checked() {
    let new =
        |name: &str| Party::new(PartyConfig::default(), IDENTITY, name, (7, 9), |seed| Mixer::new(seed, 64)).err();
    assert_eq!(new("Ada"), None);
    for bad in ["", "  ", "a\nb", &"x".repeat(65)] {
        assert_eq!(new(bad), Some(PlayerError::Name), "{bad:?}");
    }
    let error = |settings| PartyConfig::new(settings).expect_err("out of range").to_string();
    let bad = PartySettings { ticks_per_s: 0, ..PartySettings::default() };
    assert_eq!(error(bad), "ticks_per_s is 0, but must be 1 to 100");
    let bad = PartySettings { packet_interval_ticks: 21, ..PartySettings::default() };
    assert_eq!(error(bad), "packet_interval_ticks is 21, but must be 1 to 20");
    let bad = PartySettings { silence_timeout: Duration::ZERO, ..PartySettings::default() };
    assert_eq!(error(bad), "silence_timeout is 0 ms, but must be 2000 ms to 600 s");
}

#[test]
fn a_player_leaves_at_one_tick_for_all() {
    let mut driver = session(3, &PartySettings::default(), ms(30));
    let now = driver.now();
    driver.seats[2].session.leave(now);
    driver.run_until(now + secs(2));
    assert_eq!(ended(&driver.seats[2].session), Some(EndReason::Left));
    for seat in 0..2 {
        assert_eq!(left(&driver, seat), vec![(PlayerId(2), LeaveReason::Left)]);
        assert_eq!(driver.seats[seat].session.stats().players.len(), 2);
        assert_eq!(driver.seats[seat].session.simulation().expect("it plays").state.heroes.len(), 2);
    }
    let [a, b] = [0, 1].map(|seat| Played::of(&driver.seats[seat].events));
    assert!(assert_same(&a, &b, "after the leave") >= 4);
    let last = a.turns.values().rev().find(|turn| turn.inputs.iter().any(|input| matches!(input, Input::Leave(_))));
    assert!(last.is_some());
    assert_eq!(driver.seats[2].session.command(1), Err(CommandError::NotPlaying));
}

#[test]
fn a_broken_connection_and_a_silent_peer_are_told_apart() {
    let mut driver = session(4, &PartySettings::default(), ms(30));
    // All have votes by then.
    let until = driver.now() + secs(1);
    driver.run_until(until);
    let [founder, lost, silent] = [0, 1, 2].map(|seat| driver.peer(seat));
    driver.network.drop_peer(lost);
    driver.network.set_cut(founder, silent, true);
    let now = driver.now();
    driver.run_until(now + secs(9));
    assert_eq!(left(&driver, 3), vec![(PlayerId(1), LeaveReason::Lost)]);
    driver.run_until(now + secs(22));
    for seat in [0, 3] {
        assert_eq!(left(&driver, seat), vec![(PlayerId(1), LeaveReason::Lost), (PlayerId(2), LeaveReason::Silent)]);
    }
    assert!(matches!(ended(&driver.seats[1].session), Some(EndReason::Link(LinkError::Ended(_)))));
    assert_eq!(ended(&driver.seats[2].session), Some(EndReason::SequencerLost { silent: true }));
    assert!(playing(&driver.seats[3].session));
}

#[test]
fn the_founder_leaves_or_is_lost_and_the_others_play_on() {
    for players in [2, 3, 5] {
        for (reason, go) in [
            (LeaveReason::Left, (|driver, now| driver.seats[0].session.leave(now)) as fn(&mut Driver<Party<Mixer>>, _)),
            (LeaveReason::Lost, |driver, _| driver.network.drop_peer(driver.peer(0))),
        ] {
            let mut driver = session(players, &PartySettings::default(), ms(30));
            let now = driver.now();
            go(&mut driver, now);
            driver.run_until(now + secs(2));
            let ticks: Vec<_> = (1..players).map(|seat| driver.seats[seat].session.stats().tick).collect();
            driver.run_until(now + secs(4));
            for seat in 1..players {
                let stats = driver.seats[seat].session.stats();
                assert!(stats.tick.since(ticks[seat - 1]) >= 38, "{players} players, {reason:?}: seat {seat}");
                assert_eq!(left(&driver, seat), vec![(PlayerId(0), reason)]);
                assert!(playing(&driver.seats[seat].session));
                let leader = stats.sequencer();
                assert_eq!(leader, Some(PlayerId(1)));
            }
        }
    }
}

#[test]
fn who_comes_after_the_founder_is_gone_finds_who_leads() {
    for players in [2, 4] {
        let mut driver = session(players, &PartySettings::default(), ms(30));
        driver.seats.remove(0);
        let joiner = driver.enter(party(PartySettings::default(), "late"));
        let until = driver.now() + secs(6);
        driver.run_until(until);
        assert!(
            playing(&driver.seats[joiner].session),
            "{players} players: {:?}",
            driver.seats[joiner].session.phase()
        );
        assert_eq!(driver.seats[joiner].session.stats().players.len(), players);
    }
}

#[test]
fn a_joiner_that_finds_no_session_says_why() {
    // The founder is gone, the room is not empty: nobody founds a new session.
    let mut driver = session(1, &PartySettings::default(), ms(30));
    let _stranger = driver.network.enter();
    driver.seats.remove(0);
    let joiner = driver.enter(party(PartySettings::default(), "late"));
    let until = driver.now() + secs(16);
    driver.run_until(until);
    assert_eq!(ended(&driver.seats[joiner].session), Some(EndReason::NoSession));

    // There is a session, but no way to its founder.
    let mut driver = session(2, &PartySettings::default(), ms(30));
    let joiner = driver.enter(party(PartySettings::default(), "late"));
    driver.network.set_cut(driver.peer(0), driver.peer(joiner), true);
    let until = driver.now() + secs(16);
    driver.run_until(until);
    assert_eq!(ended(&driver.seats[joiner].session), Some(EndReason::Unreachable(driver.peer(0))));

    // The link never lets the peer in.
    let mut outside = party(PartySettings::default(), "outside");
    outside.advance(secs(1));
    outside.advance(secs(15));
    assert_eq!(ended(&outside), None);
    outside.advance(outside.wake_at());
    assert_eq!(ended(&outside), Some(EndReason::NotEntered));
}

#[test]
fn a_joiner_that_vanishes_while_loading_leaves_no_trace() {
    let settings = PartySettings::default();
    let world = |seed| Mixer::new(seed, 100_000);
    let mut driver = Driver::new(MemoryNetwork::new(1, Weather::clear(ms(40))));
    driver.enter(party_of(settings.clone(), IDENTITY, "founder", world));
    driver.run_until(secs(2));
    driver.enter(party_of(settings.clone(), IDENTITY, "joiner", world));
    driver.run_until(secs(2) + ms(150));
    driver.seats.truncate(1);
    driver.run_until(secs(4));
    assert_eq!(left(&driver, 0), vec![]);
    // Its place is free, its player id is not given out again.
    let joiner = driver.enter(party_of(settings, IDENTITY, "next", world));
    driver.run_until(secs(8));
    assert_eq!(driver.seats[joiner].session.stats().player, Some(PlayerId(2)));
    assert!(playing(&driver.seats[joiner].session));
}

#[test]
fn a_stalled_replica_catches_up() {
    let mut driver = session(3, &PartySettings::default(), ms(30));
    let [founder, stalled] = [0, 2].map(|seat| driver.peer(seat));
    driver.network.set_cut(founder, stalled, true);
    let now = driver.now();
    for n in 0..80 {
        driver.run_until(now + ms(n * 100));
        driver.seats[0].session.command(n).expect("it plays");
        driver.seats[1].session.command(n).expect("it plays");
    }
    driver.network.set_cut(founder, stalled, false);
    let mended = driver.now();
    driver.run_until(mended + ms(1_500));
    let ticks: Vec<_> = driver.seats.iter().map(|seat| seat.session.stats().tick).collect();
    assert!(ticks[0].since(ticks[2]) <= 20, "after 8 s of silence it is back within 1.5 s: {ticks:?}");
    driver.run_until(mended + secs(15));
    let ticks: Vec<_> = driver.seats.iter().map(|seat| seat.session.stats().tick).collect();
    assert!(ticks[0].since(ticks[2]) <= 2, "and soon level: {ticks:?}");
    let [a, b] = [0, 2].map(|seat| Played::of(&driver.seats[seat].events));
    assert!(assert_same(&a, &b, "the stalled replica") >= 20);
}
