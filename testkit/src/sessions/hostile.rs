//! What tests of dishonest players and strangers share: three who play, one in whose name lies are
//! told, and what must not happen.

use std::ops::Range;

use lockstone_net::link::{Channel, LinkEvent, PeerId};
use lockstone_net::memory::{Driver, Weather};
use lockstone_net::session::{DropReason, Event, Phase, Session, Transmit};
use lockstone_net::wire::{self, *};
use lockstone_sim::{PlayerId, Tick};

use super::rollback::*;
use super::story::OtherStory;
use super::tap::{Kept, Room, listening_room};
use super::*;

/// The seat whose name lies are told in, and one that hears them.
pub const LIAR: usize = 2;
pub const FIRST: usize = 0;
pub const SECOND: usize = 1;
pub const EPOCH: Epoch = Epoch(0);

/// Three players who have played for two seconds, and their newest packets.
pub fn room_of_three() -> (Room, Kept) {
    let (mut room, kept) = listening_room(3, Weather::clear(ms(20)), &settings(4), 8);
    play(&mut room, &mut Dice(4), secs(2));
    (room, kept)
}

pub fn hear(room: &mut Driver<impl Session, impl Link>, seat: usize, from: PeerId, bytes: Vec<u8>) {
    let now = room.now();
    room.seats[seat].session.handle(LinkEvent::Packet { from, channel: Channel::Reliable, bytes }, now);
}

pub fn say(room: &mut Driver<impl Session, impl Link>, from: usize, to: usize, message: Message) {
    let peer = room.peer(from);
    hear(room, to, peer, wire::encode(EPOCH, &message));
}

pub fn drops(room: &Driver<impl Session, impl Link>, seat: usize, reason: DropReason) -> u64 {
    room.seats[seat].session.stats().drops.of(reason)
}

/// The newest inputs of one seat for another, with a number that none of its own packets has.
pub fn inputs(room: &Room, kept: &Kept, from: usize, to: usize, number: u32) -> Inputs {
    let kept = kept.borrow();
    let newest = kept[&(from, room.peer(to))].iter().rev().find_map(|packet| match wire::decode(packet) {
        Ok((EPOCH, Message::Inputs(inputs))) => Some(inputs),
        _ => None,
    });
    Inputs { stamp: Stamp { number, echo: None }, ..newest.expect("it has said something") }
}

/// All play, and go on at their pace.
pub fn go_on(room: &mut Driver<impl Session<Sim = Mixer>, impl Link>, seats: &[usize]) {
    let settled = |room: &Driver<_, _>, seat: usize| Session::stats(&room.seats[seat].session).settled;
    let before: Vec<_> = seats.iter().map(|seat| settled(room, *seat)).collect();
    play(room, &mut Dice(5), secs(3));
    for (seat, before) in seats.iter().zip(before) {
        assert_eq!(room.seats[*seat].session.phase(), Phase::Playing, "seat {seat}");
        let played = settled(room, *seat).since(before);
        assert!(played >= 50, "seat {seat} played {played} ticks in 3 s");
    }
}

/// What some seats told is the same.
pub fn same_story(room: &Driver<impl Session<Sim = Mixer>, impl Link>, seats: [usize; 2]) {
    let [a, b] = seats.map(|seat| Played::of(&room.seats[seat].events));
    assert!(assert_same(&a, &b, &format!("seats {seats:?}")) > 5);
}

pub fn pause(room: &mut Driver<impl Session, impl Link>, for_ms: u64) {
    let until = room.now() + ms(for_ms);
    room.run_until(until);
}

/// Nothing has happened to the session.
pub fn undisturbed(room: &mut Room, what: &str) {
    go_on(room, &[0, 1, 2]);
    for seat in &room.seats {
        assert_eq!(seat.session.stats().rollback.expect("it predicts").regroupings, 0, "{what}");
        assert_eq!(seat.session.stats().players.len(), 3, "{what}");
        let fine = |event: &Event<Mixer>| {
            matches!(
                event,
                Event::Started { .. }
                    | Event::Turn { .. }
                    | Event::Checksum { .. }
                    | Event::Keyframe { .. }
                    | Event::PlayerJoined { .. }
                    | Event::Member { .. }
            )
        };
        assert!(seat.events.iter().all(fine), "{what}");
    }
    assert!(in_step(room, 4) > 0);
}

/// The liar gives one of the others other commands of some ticks, and signs for it what it gave.
pub fn tell_two_stories(room: &mut Room, deceived: usize, ticks: Range<Tick>) {
    let deceived = room.peer(deceived);
    let mut story = OtherStory::new(room.peer(LIAR), Some(key(LIAR)), ticks);
    room.seats[LIAR]
        .link
        .set(move |packet: Transmit| Some(if packet.to == deceived { story.tell(packet) } else { packet }));
}

/// Whom a seat does not trust any more, and whether that is proven.
pub fn distrusted(room: &Room, seat: usize) -> Vec<(PlayerId, bool)> {
    let named = |event: &Event<Mixer>| match event {
        Event::Distrusted { player, is_proven } => Some((*player, *is_proven)),
        _ => None,
    };
    room.seats[seat].events.iter().filter_map(named).collect()
}
