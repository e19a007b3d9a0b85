//! A player that tells each of two others that the other is lost, and that it votes for that one.
//! Each could go on with it alone. As votes are signed, and told on, each proves who did it.

use lockstone_net::limits::ROLLBACK_PLAYERS_MAX;
use lockstone_net::session::{DropReason, Event, Session, Stats, Transmit};
use lockstone_net::wire::{self, *};
use lockstone_sim::{PlayerId, Tick};
use testkit::seeds;
use testkit::sessions::hostile::*;
use testkit::sessions::rollback::*;
use testkit::sessions::tap::Room;
use testkit::sessions::*;

const TEST: &str = "-p lockstone-net --test virtual_time rollback::two_faced::";
/// Those who tell the truth.
const HONEST: [usize; 2] = [FIRST, SECOND];

fn player(seat: usize) -> PlayerId {
    PlayerId(seat as u16)
}

/// What the liar says of another to one of both.
fn slander(to: usize) -> List<(PlayerId, LeaveReason), ROLLBACK_PLAYERS_MAX> {
    list(vec![(player(SECOND - to), LeaveReason::Silent)])
}

/// The liar votes for whom it talks to, and shows it if it signs.
fn tell_each_another(room: &mut Room, signs: bool) {
    let (liar, peers) = (room.peer(LIAR), HONEST.map(|seat| room.peer(seat)));
    room.seats[LIAR].link.set(move |packet: Transmit| {
        let (epoch, mut message) = wire::decode(&packet.bytes).expect("our own bytes");
        if let Message::Regroup(Regroup { lost, stand, votes }) = &mut message {
            let to = peers.iter().position(|peer| *peer == packet.to).expect("one of both");
            (*lost, stand.vote.leader, stand.doubts, *votes) = (slander(to), player(to), None, list(vec![]));
            stand.proof = signs.then(|| stand.vote.signed(stand.known.branch, liar, &key(LIAR)));
        }
        Some(Transmit { bytes: wire::encode(epoch, &message), ..packet })
    });
    for to in HONEST {
        let Stats { epoch, known: end, .. } = room.seats[LIAR].session.stats();
        let (vote, known) = (Vote { epoch, leader: player(FIRST) }, Known { epoch, end, ..Known::default() });
        let stand = Stand { doubts: Some(Epoch(epoch.0 + 1)), ..Stand::of(vote, known) };
        say(room, LIAR, to, Message::Regroup(Regroup::of(slander(to), stand)));
    }
}

/// Three players after the liar has told each of the others another vote.
fn slandered(seed: u64, signs: bool) -> Room {
    let mut room = keyed_room(seed, 3, None);
    play(&mut room, &mut Dice(seed), secs(2));
    tell_each_another(&mut room, signs);
    play(&mut room, &mut Dice(seed), secs(12));
    room
}

/// The votes of a player that were shown to a seat.
fn votes(room: &Room, seat: usize, of: PlayerId) -> Vec<Signed> {
    let vote = |event: &Event<Mixer>| match event {
        Event::Signed(signed) if signed.player == of && matches!(signed.word, Word::Vote(..)) => Some(signed.clone()),
        _ => None,
    };
    room.seats[seat].events.iter().filter_map(vote).collect()
}

#[test]
fn who_tells_each_of_two_that_it_goes_on_with_that_one_alone_is_proven_to_and_they_play_on() {
    seeds::each(TEST, 12, |seed| {
        let mut room = slandered(seed, true);
        for seat in HONEST {
            assert_eq!(distrusted(&room, seat), [(player(LIAR), true)], "seed {seed}: seat {seat}");
            let votes = votes(&room, seat, player(LIAR));
            let [one, other] = votes.as_slice() else { panic!("seed {seed}: seat {seat}: {votes:?}") };
            assert!(one.is_sound() && other.is_sound() && one.contradicts(other), "seed {seed}: seat {seat}");
            assert_eq!(room.seats[seat].session.stats().players.len(), HONEST.len(), "seed {seed}: seat {seat}");
        }
        go_on(&mut room, &HONEST);
        same_story(&room, HONEST);
    });
}

#[test]
fn who_signs_no_vote_has_nobody_go_on_with_it_alone() {
    seeds::each(TEST, 12, |seed| {
        let mut room = slandered(seed, false);
        go_on(&mut room, &HONEST);
        same_story(&room, HONEST);
        assert!(HONEST.iter().all(|seat| distrusted(&room, *seat).is_empty()), "seed {seed}");
    });
}

/// What another tells of votes proves nothing unless they are signed so.
#[test]
fn nobody_is_lost_for_votes_that_it_did_not_give() {
    let mut room = keyed_room(1, 3, None);
    play(&mut room, &mut Dice(1), secs(2));
    let epoch = Epoch(1);
    let forged = |leader, signer: usize, room: &Room| {
        let vote = Vote { epoch, leader: player(leader) };
        (player(leader), vote.signed(Branch::default(), room.peer(SECOND), &key(signer)))
    };
    let votes = [forged(FIRST, SECOND, &room), forged(SECOND, LIAR, &room)];
    say(&mut room, LIAR, FIRST, Message::TwoVotes(TwoVotes { voter: player(SECOND), epoch, votes }));
    assert_eq!(drops(&room, FIRST, DropReason::BadVote), 1);
    go_on(&mut room, &[FIRST, SECOND, LIAR]);
    assert!(distrusted(&room, FIRST).is_empty());
    // Signed by itself, they do.
    let votes = [forged(FIRST, SECOND, &room), forged(SECOND, SECOND, &room)];
    say(&mut room, LIAR, FIRST, Message::TwoVotes(TwoVotes { voter: player(SECOND), epoch, votes }));
    play(&mut room, &mut Dice(1), secs(4));
    assert_eq!(distrusted(&room, FIRST), [(player(SECOND), true)]);
    go_on(&mut room, &[FIRST, LIAR]);
}

/// Who leads told some that it does; the rest hears of it, and all have signed no second vote.
#[test]
fn nobody_is_proven_to_vote_for_two_where_nobody_lies() {
    seeds::each(TEST, 12, |seed| {
        let mut room = keyed_room(seed, 4, None);
        play(&mut room, &mut Dice(seed), secs(2));
        let lost = (seed % 4) as usize;
        room.seats[lost].freeze(secs(60));
        play(&mut room, &mut Dice(seed), secs(12));
        let rest: Vec<_> = (0..4).filter(|seat| *seat != lost).collect();
        for seat in &rest {
            assert!(distrusted(&room, *seat).is_empty(), "seed {seed}: seat {seat}");
        }
        go_on(&mut room, &rest);
        let settled = room.seats[rest[0]].session.stats().settled;
        assert!(settled > Tick(200), "seed {seed}: {settled}");
    });
}
