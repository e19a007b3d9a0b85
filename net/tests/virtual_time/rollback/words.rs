//! What members and strangers of a rollback session say at odd moments, before it begins and
//! while it is played.
//!
//! A stranger disturbs nobody. A member's word about itself and others counts, for there is no
//! telling who lies: but whoever is left is in step and goes on.

use lockstone_net::limits::EVIDENCE_GIVE_TIME;
use lockstone_net::link::PeerId;
use lockstone_net::memory::{Driver, MemoryLink, MemoryNetwork, Weather};
use lockstone_net::session::{DropReason, EndReason, Event, Phase, Session};
use lockstone_net::wire::{self, *};
use lockstone_net::{Rollback, RollbackConfig, RollbackSettings};
use lockstone_sim::{Checksum, PlayerId, Tick};
use testkit::sessions::crafted;
use testkit::sessions::hostile::*;
use testkit::sessions::rollback::*;
use testkit::sessions::tap::{Room, Tap};
use testkit::sessions::*;

/// A doubt of who says that it has lost players, and knows the turns up to a tick.
fn regroup(lost: &[u16], end: u32) -> Message {
    regroup_for(LeaveReason::Silent, lost, end)
}

fn regroup_for(reason: LeaveReason, lost: &[u16], end: u32) -> Message {
    let lost = lost.iter().map(|player| (PlayerId(*player), reason)).collect();
    let vote = Vote { epoch: EPOCH, leader: PlayerId(0) };
    let known = Known { epoch: EPOCH, end: Tick(end), ..Known::default() };
    Message::Regroup(Regroup::of(list(lost), Stand { doubts: Some(Epoch(1)), ..Stand::of(vote, known) }))
}

#[test]
fn a_stand_that_names_itself_or_nobody_known_stops_nothing() {
    for (lost, reason) in [
        (&[77][..], DropReason::Unexpected),
        (&[FIRST as u16, 77], DropReason::Unexpected),
        (&[LIAR as u16], DropReason::Unexpected),
        (&[SECOND as u16, FIRST as u16], DropReason::Malformed),
    ] {
        for end in [40, u32::MAX] {
            let (mut room, _) = room_of_three();
            say(&mut room, LIAR, FIRST, regroup(lost, end));
            assert_eq!(room.seats[FIRST].session.stats().drops.total(), 1, "{lost:?} {end}");
            assert_eq!(drops(&room, FIRST, reason), 1, "{lost:?} {end}");
            undisturbed(&mut room, &format!("{lost:?} are lost, {end} ticks known"));
        }
    }
}

#[test]
fn a_stand_before_what_is_settled_or_of_another_epoch_stops_nothing() {
    let (mut room, _) = room_of_three();
    say(&mut room, LIAR, FIRST, regroup(&[SECOND as u16], 0));
    assert_eq!(drops(&room, FIRST, DropReason::Unexpected), 1);
    let peer = room.peer(LIAR);
    for (gone, epoch) in [(SECOND, 1), (FIRST, u32::MAX)] {
        hear(&mut room, FIRST, peer, wire::encode(Epoch(epoch), &regroup(&[gone as u16], 40)));
    }
    assert_eq!(drops(&room, FIRST, DropReason::StaleEpoch), 2);
    undisturbed(&mut room, "old stands");
}

#[test]
fn who_stops_for_nobody_stops_all_for_a_moment() {
    let (mut room, _) = room_of_three();
    say(&mut room, LIAR, FIRST, regroup(&[], 40));
    pause(&mut room, 500);
    go_on(&mut room, &[0, 1, 2]);
    assert!(in_step(&room, 4) > 0);
}

/// What is said of another is heard by one, or by all.
#[test]
fn who_is_accused_by_one_is_left_out_by_nobody() {
    // The game had not stood still: who says that it has lost another lies, or has lost it alone.
    for liar in [FIRST, LIAR] {
        let honest = [SECOND, FIRST + LIAR - liar];
        for (accused, reason, end) in honest.into_iter().flat_map(|accused| {
            let cases = [(LeaveReason::Silent, 40), (LeaveReason::Silent, u32::MAX), (LeaveReason::Desync, 40)];
            cases.map(|(reason, end)| (accused, reason, end))
        }) {
            let (mut room, _) = room_of_three();
            let hearers = if end == 40 { &honest[..] } else { &[SECOND] };
            for hearer in hearers {
                say(&mut room, liar, *hearer, regroup_for(reason, &[accused as u16], end));
            }
            pause(&mut room, 1_000);
            go_on(&mut room, &honest);
            same_story(&room, honest);
        }
    }
}

/// It says that the other's world fell out of step, to all and at once.
#[test]
fn whom_one_player_calls_out_of_step_plays_on_be_that_the_first_player() {
    for (liar, accused) in [(FIRST, SECOND), (FIRST, LIAR), (LIAR, FIRST), (LIAR, SECOND)] {
        let (mut room, _) = room_of_three();
        say(&mut room, liar, accused, Message::Removed(LeaveReason::Desync));
        for hearer in (0..3).filter(|hearer| *hearer != liar) {
            say(&mut room, liar, hearer, Message::Odd(PlayerId(accused as u16)));
        }
        undisturbed(&mut room, &format!("{liar} accuses {accused}"));
    }
    let (mut room, _) = room_of_three();
    say(&mut room, LIAR, FIRST, Message::Odd(PlayerId(77)));
    assert_eq!(drops(&room, FIRST, DropReason::Unexpected), 1, "nobody knows that one");
}

/// After a loss, somebody says in the old epoch that somebody unknown is gone too.
#[test]
fn a_late_stand_that_names_nobody_known_does_not_stop_the_next_epoch() {
    let (mut room, _) = room_of_three();
    kill(&mut room, SECOND, false);
    let (first, last) = (0, 1);
    let waits = |room: &Room| room.seats[0].session.stats().rollback.expect("it predicts").regroupings == 0;
    let until = room.now() + secs(1);
    assert!(room.run_while(until, waits), "it does not go on");
    say(&mut room, last, first, regroup(&[SECOND as u16, 77], u32::MAX));
    assert_eq!(drops(&room, first, DropReason::Unexpected), 1);
    go_on(&mut room, &[first, last]);
    assert!(in_step(&room, 4) > 0);
}

/// One message of each kind that has no place in a session in progress.
fn misplaced() -> Vec<Message> {
    let member = |n: u128| Member {
        peer: PeerId(n << 64),
        name: Name::new("Eve").expect("a name"),
        hero: list(vec![0; 3]),
        key: None,
    };
    vec![
        Message::Refusal(Refusal::Begun),
        Message::Refusal(Refusal::Hero),
        Message::Elsewhere(PeerId(9)),
        Message::Welcome(Welcome {
            attempt: 0,
            player: PlayerId(0),
            sequencer: PlayerId(9),
            plays: None,
            seed: 0,
            tick: Tick(u32::MAX),
            snapshot_bytes: 1 << 26,
            snapshot_digest: 0,
            roster: List::default(),
        }),
        Message::Chunk(list(vec![0; 16_384])),
        Message::ChunkAck(u32::MAX),
        Message::Ready,
        Message::Turns(Turns { ticks: 4_096, ..Turns::default() }),
        Message::Report(Report { known: Tick(u32::MAX), ..Report::default() }),
        Message::Ending,
        Message::Gathering(255, 0),
        Message::Form(Form { seed: 1, members: list(vec![member(0), member(1), member(2), member(3)]) }),
    ]
}

/// What counts if a member says it.
fn words() -> Vec<Message> {
    let notice = DesyncNotice { tick: Tick(u32::MAX), agreed: Some(Tick(7)), ours: Checksum(1), theirs: Checksum(2) };
    vec![
        Message::Bye(LeaveReason::Left),
        Message::Removed(LeaveReason::Silent),
        Message::Removed(LeaveReason::Desync),
        Message::Desync(notice),
        Message::Odd(PlayerId(0)),
        Message::Inputs(Inputs { behind_ticks: 1, ..Inputs::default() }.sealed(EPOCH)),
        regroup(&[0, 1], u32::MAX),
    ]
}

/// As a player of the same game says it.
fn hello(name: &str) -> Message {
    Message::Hello(hello_of(name))
}

fn hello_of(name: &str) -> Hello {
    let terms = RollbackConfig::new(RollbackSettings { players: 3, ..settings(4) }).expect("in range").terms(IDENTITY);
    Hello {
        protocol: PROTOCOL_VERSION,
        terms,
        name: Name::new(name).expect("a name"),
        hero: list(vec![7, 9]),
        key: None,
        promised: Epoch(0),
        attempt: 0,
    }
}

#[test]
fn what_a_member_says_out_of_place_is_dropped() {
    let (mut room, _) = room_of_three();
    for (n, message) in misplaced().into_iter().chain([hello("again")]).enumerate() {
        for to in [FIRST, SECOND] {
            say(&mut room, LIAR, to, message.clone());
            assert_eq!(drops(&room, to, DropReason::Unexpected), n as u64 + 1, "{message:?}");
        }
    }
    undisturbed(&mut room, "out of place");
}

#[test]
fn the_words_of_a_member_count_and_leave_the_others_in_step() {
    for message in words() {
        let (mut room, _) = room_of_three();
        say(&mut room, LIAR, SECOND, message.clone());
        // A peer that learns that it is out of step waits for its application to give evidence,
        // which here never comes.
        pause(&mut room, 500 + EVIDENCE_GIVE_TIME.as_millis() as u64);
        let left: Vec<usize> = (0..3).filter(|seat| ended(&room.seats[*seat].session).is_none()).collect();
        println!("{message:?}: {left:?} go on");
        assert!(left.len() >= 2, "{message:?}");
        go_on(&mut room, &left);
        same_story(&room, [FIRST, if left.contains(&SECOND) { SECOND } else { LIAR }]);
        let told = room.seats[SECOND].events.iter().filter(|event| matches!(event, Event::Desync { .. })).count();
        assert_eq!(told, usize::from(matches!(message, Message::Desync(_))), "{message:?}");
    }
}

#[test]
fn a_stranger_does_not_disturb_a_session() {
    let (mut room, _) = room_of_three();
    let link = room.network.enter();
    let stranger = link.peer();
    pause(&mut room, 50);
    let all: Vec<Message> = misplaced().into_iter().chain(words()).collect();
    for message in &all {
        for to in 0..3 {
            for epoch in [EPOCH, Epoch(1), Epoch(u32::MAX)] {
                hear(&mut room, to, stranger, wire::encode(epoch, message));
            }
        }
        pause(&mut room, 70);
    }
    for packet in crafted::packets() {
        hear(&mut room, FIRST, stranger, packet);
    }
    for seat in 0..3 {
        // The seal does not fit to other epochs.
        let unknown = 3 * all.len() as u64 - 2;
        assert_eq!(drops(&room, seat, DropReason::UnknownPeer), unknown);
    }
    undisturbed(&mut room, "a stranger");
    // It knocks as loudly as it may: each player answers once.
    for _ in 0..1_000 {
        hear(&mut room, SECOND, stranger, wire::encode(EPOCH, &hello("Eve")));
    }
    pause(&mut room, 50);
    let refused = room.seats[SECOND].events.iter().filter(|event| matches!(event, Event::Refused { .. })).count();
    assert_eq!((refused, drops(&room, SECOND, DropReason::Unexpected)), (1, 999));
    go_on(&mut room, &[0, 1, 2]);
}

/// A founder and a joiner who wait for a third player, and a stranger who is in the room already.
fn waiting_room() -> (Room, MemoryLink) {
    let mut room = Driver::new(MemoryNetwork::new(4, Weather::clear(ms(20))));
    for name in ["founder", "joiner"] {
        room.enter_by(player(name), Tap::idle);
    }
    let stranger = room.network.enter();
    pause(&mut room, 200);
    assert!(room.seats.iter().all(|seat| seat.session.phase() == Phase::Waiting { players: 2, needed: 3 }));
    (room, stranger)
}

fn player(name: &str) -> Rollback<Mixer> {
    rollback(RollbackSettings { players: 3, ..settings(4) }, name, |seed| Mixer::new(seed, 64))
}

#[test]
fn a_stranger_does_not_disturb_players_who_wait_for_others() {
    let (mut room, stranger) = waiting_room();
    let unfit = Hello { hero: list(vec![]), ..hello_of("Eve") };
    let foreign = Hello { protocol: PROTOCOL_VERSION + 1, ..hello_of("Eve") };
    let all = misplaced().into_iter().chain(words()).chain([Message::Hello(unfit), Message::Hello(foreign)]);
    for message in all {
        for to in [FIRST, SECOND] {
            hear(&mut room, to, stranger.peer(), wire::encode(EPOCH, &message));
        }
        pause(&mut room, 70);
        assert!(
            room.seats.iter().all(|seat| seat.session.phase() == Phase::Waiting { players: 2, needed: 3 }),
            "{message:?}"
        );
    }
    room.enter_by(player("late"), Tap::idle);
    pause(&mut room, 200);
    room.seats[FIRST].events.retain(|event| !matches!(event, Event::Refused { .. }));
    undisturbed(&mut room, "a stranger in the waiting room");
}

#[test]
fn who_is_let_in_may_say_anything_before_it_begins() {
    for message in misplaced().into_iter().chain(words()).chain([hello("again")]) {
        let (mut room, _stranger) = waiting_room();
        say(&mut room, SECOND, FIRST, message.clone());
        let players = if matches!(message, Message::Bye(_)) { 1 } else { 2 };
        assert_eq!(room.seats[FIRST].session.phase(), Phase::Waiting { players, needed: 3 }, "{message:?}");
        room.enter_by(player("late"), Tap::idle);
        pause(&mut room, 500);
        if players == 2 {
            go_on(&mut room, &[0, 1, 2]);
            assert!(in_step(&room, 4) > 0);
        }
    }
}

#[test]
fn a_joiner_survives_whatever_its_founder_makes_of_the_session() {
    let ends = |make: &dyn Fn(PeerId, PeerId) -> Message| {
        let mut room = Driver::new(MemoryNetwork::new(4, Weather::clear(ms(20))));
        let founder = room.network.enter();
        room.enter(player("joiner"));
        pause(&mut room, 200);
        let message = make(founder.peer(), room.peer(0));
        hear(&mut room, 0, founder.peer(), wire::encode(EPOCH, &message));
        pause(&mut room, 20_000);
        (room.seats[0].session.phase(), room.seats[0].session.stats())
    };
    let member = |peer, hero| Member { peer, name: Name::new("Eve").expect("a name"), hero: list(hero), key: None };
    let form = |members| Message::Form(Form { seed: 1, members: list(members) });
    let no_session = Phase::Ended(EndReason::NoSession);
    let none = ends(&|founder, joiner| form(vec![member(joiner, vec![7, 9]), member(founder, vec![7, 9])]));
    assert_eq!((none.0, none.1.drops.of(DropReason::Malformed)), (no_session.clone(), 1), "out of order");
    let none = ends(&|_, joiner| form(vec![member(joiner, vec![7, 9])]));
    assert_eq!((none.0, none.1.drops.of(DropReason::Malformed)), (no_session.clone(), 1), "alone");
    let none = ends(&|founder, _| form(vec![member(founder, vec![7, 9]), member(PeerId(9 << 64), vec![7, 9])]));
    assert_eq!((none.0, none.1.drops.of(DropReason::Unexpected)), (no_session, 1), "without the joiner");
    let unfit = ends(&|founder, joiner| form(vec![member(founder, vec![1; 99]), member(joiner, vec![7, 9])]));
    assert_eq!(unfit.0, Phase::Ended(EndReason::Refused(Refusal::Hero)), "with a hero that none is");
    // Players who are not there are lost, one and all: too few are left.
    let (phase, stats) = ends(&|founder, joiner| {
        form(vec![
            member(founder, vec![7, 9]),
            member(joiner, vec![7, 9]),
            member(PeerId(8 << 64), vec![7, 9]),
            member(PeerId(u128::MAX), vec![7, 9]),
        ])
    });
    assert_eq!((phase, stats.players.len()), (Phase::Ended(EndReason::NoQuorum), 4));
    let (phase, _) = ends(&|_, _| Message::Gathering(255, 0));
    assert_eq!(phase, Phase::Waiting { players: 255, needed: 0 });
}
