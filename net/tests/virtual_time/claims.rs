//! A member that says at an election that it knows turns which nobody else has, and gives them to
//! nobody, makes the others wait for a moment, and no longer.

use core::time::Duration;

use lockstone_net::limits::ATTESTED_TICKS;
use lockstone_net::memory::{Driver, Weather};
use lockstone_net::party::{Party, PartySettings};
use lockstone_net::session::{Event, Session, Transmit};
use lockstone_net::wire::{self, *};
use lockstone_sim::{PlayerId, Tick};
use testkit::seeds;
use testkit::sessions::hostile::same_story;
use testkit::sessions::rollback::play;
use testkit::sessions::tap::Tap;
use testkit::sessions::*;

const TEST: &str = "-p lockstone-net --test virtual_time claims::";

type Room = Driver<Party<Mixer>, Tap>;

fn room(seed: u64, players: usize) -> Room {
    let settings = PartySettings { players_at_start: players, seed, ..PartySettings::default() };
    let player = |seat| party(settings.clone(), &format!("player {seat}"));
    gather(seed, Weather::clear(ms(40)), (0..players).map(player), |_, link| Tap::idle(link))
}

/// What the last seat claims to know.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Claim {
    /// More turns of the leader that is gone.
    Turns,
    /// Turns of a leader that nobody else has heard of. So it is voted for, and says nothing then.
    Epoch,
    /// The same, for as long as it is not voted for itself.
    EpochUnlessElected,
}

fn boast(room: &mut Room, claim: Claim) {
    let seat = room.seats.len() - 1;
    room.seats[seat].link.set(move |packet: Transmit| {
        let (epoch, mut message) = wire::decode(&packet.bytes).expect("our own bytes");
        match &mut message {
            Message::Stand(stand) if claim == Claim::Turns => stand.known.end = stand.known.end.plus(ATTESTED_TICKS),
            Message::Stand(stand) => {
                let is_elected = stand.vote.leader == PlayerId(seat as u16);
                if claim == Claim::Epoch || !is_elected && stand.doubts.is_none() {
                    stand.known.epoch = Epoch(stand.known.epoch.0 + 1);
                }
            }
            Message::Lead(_) | Message::Turns(_) if claim == Claim::Epoch => return None,
            _ => {}
        }
        Some(Transmit { bytes: wire::encode(epoch, &message), ..packet })
    });
}

fn known(room: &Room, seats: &[usize]) -> Tick {
    seats.iter().map(|seat| room.seats[*seat].session.stats().known).min().expect("there are seats")
}

/// The leader is gone at once, and the carrier says so.
fn behead(room: &mut Room, seed: u64) {
    play(room, &mut Dice(seed), secs(2));
    let leader = room.peer(0);
    room.seats[0].freeze(Duration::MAX);
    room.network.drop_peer(leader);
}

#[test]
fn who_claims_turns_that_nobody_has_does_not_keep_the_others_from_electing() {
    seeds::each(TEST, 6, |seed| {
        for claim in [Claim::Turns, Claim::Epoch, Claim::EpochUnlessElected] {
            let (mut room, honest) = (room(seed, 5), [1, 2, 3]);
            boast(&mut room, claim);
            behead(&mut room, seed);
            let (from, before) = (room.now(), known(&room, &honest).plus(20));
            let goes_on = room.run_while(from + secs(20), |room| known(room, &honest) < before);
            let waited = room.now() - from;
            println!("seed {seed}: {claim:?} costs {waited:?}");
            assert!(goes_on && waited < secs(10), "seed {seed}: {claim:?} costs {waited:?}");
            play(&mut room, &mut Dice(seed), secs(3));
            assert!(honest.iter().all(|seat| playing(&room.seats[*seat].session)), "seed {seed}: {claim:?}");
            same_story(&room, [1, 2]);
            same_story(&room, [1, 3]);
        }
    });
}

/// Of four the other two are no quorum without it: it could as well say nothing. They are told, and
/// may go on without it.
#[test]
fn who_claims_turns_that_nobody_has_counts_as_silent_where_nobody_can_decide_without_it() {
    let mut room = room(1, 4);
    boast(&mut room, Claim::Turns);
    behead(&mut room, 1);
    play(&mut room, &mut Dice(1), secs(20));
    for seat in [1, 2] {
        let may_branch = |event: &Event<Mixer>| matches!(event, Event::Minority { may_branch: true, .. });
        assert!(room.seats[seat].events.iter().any(may_branch), "seat {seat}");
    }
}
