//! A member that tells each of the others another vote, and that it knows ever more turns. Votes
//! are not signed, so nobody can prove that it did. What holds is that the others are in step, and
//! soon led by one.

use core::time::Duration;

use lockstone_net::memory::{Driver, Weather};
use lockstone_net::party::{Party, PartySettings};
use lockstone_net::session::{Session, Transmit};
use lockstone_net::wire::{self, *};
use lockstone_sim::PlayerId;
use testkit::seeds;
use testkit::sessions::rollback::play;
use testkit::sessions::tap::Tap;
use testkit::sessions::*;

const TEST: &str = "-p lockstone-net --test virtual_time two_faced::";

type Room = Driver<Party<Mixer>, Tap>;

fn room(seed: u64, players: usize) -> Room {
    let settings = PartySettings { players_at_start: players, seed, ..PartySettings::default() };
    let player = |seat| party(settings.clone(), &format!("player {seat}"));
    gather(seed, Weather { jitter: ms(20), ..Weather::clear(ms(40)) }, (0..players).map(player), |_, link| {
        Tap::idle(link)
    })
}

/// The last seat tells each that it votes for that one, and knows what that one has not.
fn tell_each_another(room: &mut Room) {
    let (liar, mut more) = (room.seats.len() - 1, 0);
    let peers: Vec<_> = (0..liar).map(|seat| room.peer(seat)).collect();
    room.seats[liar].link.set(move |packet: Transmit| {
        let (epoch, mut message) = wire::decode(&packet.bytes).expect("our own bytes");
        if let (Message::Stand(stand), Some(to)) = (&mut message, peers.iter().position(|peer| *peer == packet.to)) {
            more += 1;
            stand.vote.leader = PlayerId(to as u16);
            stand.doubts = None;
            stand.known.end = stand.known.end.plus(more * to as u32);
        }
        Some(Transmit { bytes: wire::encode(epoch, &message), ..packet })
    });
}

/// All whom these are led by, as each sees it.
fn leaders(room: &Room, seats: &[usize]) -> Vec<Option<PlayerId>> {
    let mut leaders: Vec<_> = seats.iter().map(|seat| room.seats[*seat].session.stats().sequencer()).collect();
    leaders.sort();
    leaders.dedup();
    leaders
}

#[test]
fn who_tells_each_of_three_others_another_vote_has_two_lead_not_for_long_and_no_world_differ() {
    seeds::each(TEST, 12, |seed| {
        for players in [5, 6] {
            let (mut room, mut dice) = (room(seed, players), Dice(seed));
            let honest: Vec<_> = (1..players - 1).collect();
            play(&mut room, &mut dice, secs(2));
            tell_each_another(&mut room);
            room.seats[0].freeze(Duration::MAX);
            let mut apart = ms(0);
            for _ in 0..200 {
                play(&mut room, &mut dice, ms(100));
                let leaders = leaders(&room, &honest);
                apart = if leaders.len() == 1 && leaders[0].is_some() { ms(0) } else { apart + ms(100) };
                assert!(apart < secs(10), "seed {seed}: {players} players: {leaders:?}");
            }
            for seat in &honest {
                let stats = room.seats[*seat].session.stats();
                assert!(playing(&room.seats[*seat].session), "seed {seed}: seat {seat} of {players}");
                assert_eq!(stats.desyncs, 0, "seed {seed}: seat {seat} of {players}");
            }
        }
    });
}
