//! Once a player is gone that told two stories, all have one world again, and nobody else is out.

use lockstone_net::limits::ROLLBACK_ATTESTED_TICKS;
use lockstone_net::session::{DropReason, EndReason, Event, Session, Transmit};
use lockstone_net::wire::{self, *};
use lockstone_sim::{Checksum, PlayerId, Tick};
use testkit::seeds;
use testkit::sessions::hostile::*;
use testkit::sessions::rollback::*;
use testkit::sessions::tap::{Room, altering};
use testkit::sessions::*;

const TEST: &str = "-p lockstone-net --test virtual_time rollback::reconcile::";
const FROM: Tick = Tick(2 * ROLLBACK_ATTESTED_TICKS + 7);

/// The honest players of so many.
fn honest(players: usize) -> Vec<usize> {
    (0..players).filter(|seat| *seat != LIAR).collect()
}

/// Those whose world was put right, and whether by that of most.
fn repaired(room: &Room, players: usize) -> Vec<(usize, bool)> {
    let repair = |seat: usize| {
        room.seats[seat].events.iter().filter_map(move |event| match event {
            Event::Repaired { player, is_proven, .. } => {
                assert_eq!(usize::from(player.0), seat);
                Some((seat, *is_proven))
            }
            _ => None,
        })
    };
    honest(players).into_iter().flat_map(repair).collect()
}

/// What a seat played since its world was there, or put right.
fn latest(room: &Room, seat: usize) -> Played {
    let events = &room.seats[seat].events;
    let began = events.iter().rposition(|event| matches!(event, Event::Started { .. })).expect("it has begun");
    Played::of(&events[began..])
}

fn nobody_else_is_out(room: &mut Room, players: usize, what: &str) {
    let honest = honest(players);
    for seat in &honest {
        assert_eq!(distrusted(room, *seat), [(PlayerId(LIAR as u16), true)], "{what}: seat {seat}");
        assert_eq!(room.seats[*seat].session.stats().players.len(), honest.len(), "{what}: seat {seat}");
    }
    go_on(room, &honest);
    let first = latest(room, honest[0]);
    for seat in &honest[1..] {
        assert!(assert_same(&first, &latest(room, *seat), &format!("{what}: seat {seat}")) > 1, "{what}: seat {seat}");
    }
}

#[test]
fn who_was_told_another_story_stays_and_has_the_world_of_the_others_again() {
    seeds::each(TEST, 4, |seed| {
        for (players, deceived) in [(3, 0), (3, 1), (4, 0), (4, 1), (4, 3)] {
            for ticks in [1, 40, 200] {
                let what = format!("seed {seed}: {deceived} of {players}, {ticks} ticks");
                let mut room = keyed_room(seed, players, None);
                tell_two_stories(&mut room, deceived, FROM..FROM.plus(ticks));
                play(&mut room, &mut Dice(seed), secs(14));
                nobody_else_is_out(&mut room, players, &what);
                // Of two the first one's world counts.
                let odd = if players == 3 { vec![(1, false)] } else { vec![(deceived, true)] };
                assert_eq!(repaired(&room, players), odd, "{what}");
            }
        }
    });
}

#[test]
fn worlds_that_are_the_same_are_not_loaded_for_a_liar_that_is_gone() {
    let mut room = keyed_room(1, 3, None);
    play(&mut room, &mut Dice(1), secs(2));
    let vote = |leader| {
        let vote = Vote { epoch: Epoch(1), leader: PlayerId(leader) };
        (PlayerId(leader), vote.signed(Branch::default(), room.peer(LIAR), &key(LIAR)))
    };
    let votes = [vote(0), vote(1)];
    let two = Message::TwoVotes(TwoVotes { voter: PlayerId(LIAR as u16), epoch: Epoch(1), votes });
    say(&mut room, SECOND, FIRST, two);
    play(&mut room, &mut Dice(1), secs(4));
    nobody_else_is_out(&mut room, 3, "one that voted for two");
    assert!(repaired(&room, 3).is_empty());
}

/// One that gives another world than it told of is found to, and cannot put its own in.
#[test]
fn who_lends_another_world_than_it_told_of_changes_no_world() {
    let mut room = keyed_room(2, 4, None);
    tell_two_stories(&mut room, 3, FROM..FROM.plus(40));
    room.seats[FIRST].link.set(altering(|_, message| {
        if let Message::Chunk(chunk) = message {
            let mut bytes = chunk.to_vec();
            bytes[20] ^= 1;
            *message = Message::Chunk(list(bytes));
        }
    }));
    play(&mut room, &mut Dice(2), secs(20));
    assert!(repaired(&room, 4).is_empty());
    assert_eq!(drops(&room, 3, DropReason::BadRepair), 1);
    // It plays on as it is, and differs.
    assert_eq!(ended(&room.seats[3].session), Some(EndReason::Desync));
    go_on(&mut room, &[FIRST, SECOND]);
    same_story(&room, [FIRST, SECOND]);
}

/// One that tells nothing of its world, and gives nothing that is asked for, is not waited for.
#[test]
fn who_tells_nothing_of_its_world_keeps_nobody_waiting() {
    let mut room = keyed_room(3, 4, None);
    tell_two_stories(&mut room, 3, FROM..FROM.plus(40));
    room.seats[FIRST].link.set(|packet: Transmit| match wire::decode(&packet.bytes).expect("our own bytes") {
        (epoch @ Epoch(1..), Message::Inputs(inputs)) => {
            let inputs = Inputs { checksums: list(Vec::new()), ..inputs }.sealed(epoch);
            Some(Transmit { bytes: wire::encode(epoch, &Message::Inputs(inputs)), ..packet })
        }
        _ => Some(packet),
    });
    play(&mut room, &mut Dice(3), secs(20));
    assert_eq!(repaired(&room, 4), [(3, false)]);
    go_on(&mut room, &[FIRST, SECOND, 3]);
}

#[test]
fn what_nobody_asked_for_is_dropped() {
    let mut room = keyed_room(4, 3, None);
    play(&mut room, &mut Dice(4), secs(2));
    let tick = room.seats[FIRST].session.stats().settled;
    let repair = Repair { tick: Tick(0), checksum: Checksum(1), bytes: 4, digest: 5, is_proven: true };
    let words = [
        Message::Fetch(Tick(0)),
        Message::Fetch(tick),
        Message::Repair(Some(repair)),
        Message::Repair(None),
        Message::Chunk(list(vec![1, 2, 3, 4])),
        Message::ChunkAck(4),
    ];
    let before = drops(&room, FIRST, DropReason::Unexpected);
    for message in words.clone() {
        say(&mut room, LIAR, FIRST, message);
    }
    assert_eq!(drops(&room, FIRST, DropReason::Unexpected) - before, words.len() as u64);
    go_on(&mut room, &[FIRST, SECOND, LIAR]);
}
