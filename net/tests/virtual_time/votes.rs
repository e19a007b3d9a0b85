//! A vote counts as its voter's key signed it, for one branch, epoch, leader and peer. Who is said
//! to have voted for two is believed to have by both signatures alone, and of these few are looked
//! at in a second.

use core::time::Duration;

use lockstone_net::PlayerKey;
use lockstone_net::memory::{Driver, Weather};
use lockstone_net::party::{Party, PartySettings};
use lockstone_net::session::{DropReason, Event, Session};
use lockstone_net::wire::{self, *};
use lockstone_sim::PlayerId;
use testkit::sessions::hostile::{drops, hear};
use testkit::sessions::rollback::play;
use testkit::sessions::tap::{Tap, altering};
use testkit::sessions::*;

type Room = Driver<Party<Mixer>, Tap>;

fn key(seat: usize) -> PlayerKey {
    PlayerKey::from_bytes([seat as u8 + 1; 32])
}

fn room(seed: u64, players: usize) -> Room {
    let settings = PartySettings { players_at_start: players, seed, ..PartySettings::default() };
    let player = |seat| party(settings.clone(), &format!("player {seat}")).with_key(key(seat));
    let mut room = gather(seed, Weather::clear(ms(40)), (0..players).map(player), |_, link| Tap::idle(link));
    play(&mut room, &mut Dice(seed), secs(3));
    room
}

/// What the last of three shows of its vote, as the first is lost and the second needs it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shown {
    AsItIs,
    Nothing,
    /// What another key signed.
    OfAnotherKey,
    /// What was signed for something else, as who passes it on may have it.
    OfAnotherBranch,
    OfAnotherEpoch,
    OfAnotherLeader,
    OfAnotherPeer,
}

impl Shown {
    const ALL: [Shown; 7] = [
        Shown::AsItIs,
        Shown::Nothing,
        Shown::OfAnotherKey,
        Shown::OfAnotherBranch,
        Shown::OfAnotherEpoch,
        Shown::OfAnotherLeader,
        Shown::OfAnotherPeer,
    ];
}

#[test]
fn a_vote_counts_only_as_its_voter_signed_it_for_that_election() {
    for shown in Shown::ALL {
        let mut room = room(1, 3);
        let (own, other) = (room.peer(2), room.peer(1));
        room.seats[2].link.set(altering(move |_, message| {
            let Message::Stand(Stand { vote, known: Known { branch, .. }, proof, .. }) = message else { return };
            let (epoch, leader) = (Epoch(vote.epoch.0 + 1), PlayerId(0));
            let forged = match shown {
                Shown::AsItIs => *proof,
                Shown::Nothing => None,
                Shown::OfAnotherKey => Some(vote.signed(*branch, own, &key(1))),
                Shown::OfAnotherBranch => Some(vote.signed(Branch(branch.0 + 1), own, &key(2))),
                Shown::OfAnotherEpoch => Some(Vote { epoch, ..*vote }.signed(*branch, own, &key(2))),
                Shown::OfAnotherLeader => Some(Vote { leader, ..*vote }.signed(*branch, own, &key(2))),
                Shown::OfAnotherPeer => Some(vote.signed(*branch, other, &key(2))),
            };
            *proof = proof.and(forged);
        }));
        room.seats[0].freeze(Duration::MAX);
        play(&mut room, &mut Dice(1), secs(6));
        let stats = room.seats[1].session.stats();
        let leads = stats.sequencer() == Some(PlayerId(1)) && stats.epoch > Epoch(0) && playing(&room.seats[1].session);
        assert_eq!(leads, shown == Shown::AsItIs, "{shown:?}: {:?}", stats.epoch);
        let is_false = ![Shown::AsItIs, Shown::Nothing].contains(&shown);
        assert_eq!(drops(&room, 1, DropReason::BadVote) > 0, is_false, "{shown:?}");
    }
}

/// Whom each seat was told to distrust.
fn distrusted(room: &Room) -> Vec<Vec<PlayerId>> {
    let of = |event: &Event<Mixer>| match event {
        Event::Distrusted { player, .. } => Some(*player),
        _ => None,
    };
    room.seats.iter().map(|seat| seat.events.iter().filter_map(of).collect()).collect()
}

/// That a seat voted for two others, as it signed, or did not.
fn two_votes(room: &Room, voter: usize, is_signed: bool) -> Vec<u8> {
    let (epoch, branch) = (Epoch(7), room.seats[0].session.stats().branch);
    let by = if is_signed { key(voter) } else { key(99) };
    let proof = |leader| Vote { epoch, leader }.signed(branch, room.peer(voter), &by);
    let votes = [PlayerId(0), PlayerId(1)].map(|leader| (leader, proof(leader)));
    wire::encode(Epoch(0), &Message::TwoVotes(TwoVotes { voter: PlayerId(voter as u16), epoch, votes }))
}

#[test]
fn who_is_said_to_have_voted_for_two_is_put_out_only_if_it_signed_both() {
    for seat in [0, 1] {
        let mut room = room(2, 4);
        let (speaker, forged, sound) = (room.peer(3), two_votes(&room, 1 - seat, false), two_votes(&room, 2, true));
        hear(&mut room, seat, speaker, forged);
        play(&mut room, &mut Dice(2), secs(2));
        assert!(distrusted(&room).iter().all(Vec::is_empty), "{:?}", distrusted(&room));
        assert_eq!(drops(&room, seat, DropReason::BadVote), 1);
        hear(&mut room, seat, speaker, sound);
        play(&mut room, &mut Dice(2), secs(3));
        let liar = PlayerId(2);
        for honest in [0, 1, 3] {
            assert_eq!(distrusted(&room)[honest], [liar], "seat {honest}, told by {seat}");
            let session = &room.seats[honest].session;
            assert!(playing(session) && session.stats().players.iter().all(|player| player.player != liar));
            assert_eq!(session.stats().epoch, Epoch(0), "nobody else has to lead");
        }
    }
}

/// What one says that is false costs only so many signatures a second.
#[test]
fn who_says_much_that_is_false_is_not_heard_for_a_moment() {
    let mut room = room(3, 4);
    let (speaker, forged, sound) = (room.peer(3), two_votes(&room, 1, false), two_votes(&room, 2, true));
    for _ in 0..40 {
        hear(&mut room, 0, speaker, forged.clone());
    }
    hear(&mut room, 0, speaker, sound.clone());
    play(&mut room, &mut Dice(3), secs(2));
    assert!(distrusted(&room).iter().all(Vec::is_empty), "{:?}", distrusted(&room));
    assert_eq!(drops(&room, 0, DropReason::BadVote), 41);
    hear(&mut room, 0, speaker, sound);
    play(&mut room, &mut Dice(3), secs(2));
    assert_eq!(distrusted(&room)[0], [PlayerId(2)]);
}

/// Of three one is not heard, so the next leader needs that vote.
#[test]
fn the_last_vote_of_a_leader_that_leaves_counts() {
    let mut room = room(4, 3);
    room.seats[2].freeze(Duration::MAX);
    play(&mut room, &mut Dice(4), ms(100));
    let now = room.now();
    room.seats[0].session.leave(now);
    play(&mut room, &mut Dice(4), secs(2));
    let stats = room.seats[1].session.stats();
    assert_eq!((stats.sequencer(), stats.epoch), (Some(PlayerId(1)), Epoch(1)));
    assert!(playing(&room.seats[1].session));
}
