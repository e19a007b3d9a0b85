//! A relay session in the middle of play that hears whatever bytes say, from a stranger, from a
//! player, and from a false relay.
//!
//! Four seats: the relay, an honest replica, a player in whose name lies are told, and a victim
//! that is lied to in the relay's name. Whatever is said: nobody panics, memory stays bounded, and
//! the honest replica's core is the relay's.

use lockstone_net::Session;
use lockstone_net::link::{Channel, Link, LinkEvent, PeerId};
use lockstone_net::memory::MemoryNetwork;
use lockstone_net::relay::RelaySettings;
use lockstone_net::session::{Phase, Transmit};
use lockstone_net::wire;

use testkit::ms;
use testkit::relay::{Room, config, relay, replica};
use testkit::sessions::tap::Tap;
use testkit::storm::Weather;
use crate::{memory, slices};

/// The replicas' seats.
const HONEST: usize = 0;
const LIAR: usize = 1;
const VICTIM: usize = 2;

const PACKETS_MAX: usize = 128;
/// What all four together may come to hold in the few seconds, whatever they hear.
const HELD_BYTES_MAX: usize = 8 << 20;
/// What a byte may come to hold: of a cell in a load, and of the world that it makes.
const FACTOR: usize = 512;

/// Lets a session hear packets. Each has a byte before it: three bits of route, one of channel,
/// four of the time until the next.
pub fn check(bytes: &[u8]) -> bool {
    let (mut room, _) = room();
    let mut stranger = room.network.enter();
    memory::within(HELD_BYTES_MAX + FACTOR * bytes.len(), || {
        for (n, slice) in slices::all(bytes).take(PACKETS_MAX).enumerate() {
            let Some((&how, packet)) = slice.split_first() else { continue };
            hear(&mut room, stranger.peer(), how, packet);
            let _ = room.seats[HONEST].session.command((n as u16, 50));
            run(&mut room, u64::from(how >> 4) * 10);
            while stranger.poll().is_some() {}
        }
        run(&mut room, 1_000);
    });
    agree(&room);
    slices::all(bytes).filter_map(<[u8]>::split_first).any(|(_, packet)| wire::decode(packet).is_ok())
}

fn weather() -> Weather {
    Weather { cells: 20, ..Weather::of(302) }
}

/// A session where all play, and what was sent until then.
fn room() -> (Room, Vec<Vec<u8>>) {
    let clear = lockstone_net::memory::Weather::clear(ms(20));
    let sent = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let tap = |link| {
        let sent = sent.clone();
        Tap::new(link, move |packet: Transmit| {
            sent.borrow_mut().push(packet.bytes.clone());
            Some(packet)
        })
    };
    let mut room = Room::with_hub(MemoryNetwork::hub(1, clear), relay(weather(), config(RelaySettings::default())), tap);
    for n in 1..4 {
        room.enter_by(replica(weather(), config(RelaySettings::default()), &format!("player {n}")), tap);
    }
    run(&mut room, 1_000);
    for seat in [HONEST, LIAR, VICTIM] {
        let _ = room.seats[seat].session.command((40, 40));
    }
    run(&mut room, 500);
    assert!(room.seats.iter().all(|seat| seat.session.phase() == Phase::Playing));
    // What a false relay sends is played in the predicted world too.
    room.seats[VICTIM].visit_by = |seat, now| {
        seat.visit(now);
        seat.session.look_ahead(8);
    };
    let sent = sent.borrow().clone();
    (room, sent)
}

fn run(room: &mut Room, for_ms: u64) {
    let until = room.now() + ms(for_ms);
    room.run_until(until);
}

fn hear(room: &mut Room, stranger: PeerId, how: u8, packet: &[u8]) {
    let channel = if how & 8 == 0 { Channel::Unreliable } else { Channel::Reliable };
    let (now, relay, liar) = (room.now(), room.hub().peer, room.seats[LIAR].peer);
    let said_by = |from| LinkEvent::Packet { from, channel, bytes: packet.to_vec() };
    match how & 7 {
        0..=2 => room.hub_mut().session.handle(said_by(liar), now),
        3 => room.hub_mut().session.handle(said_by(stranger), now),
        4..=6 => room.seats[VICTIM].session.handle(said_by(relay), now),
        _ => room.seats[HONEST].session.handle(said_by(liar), now),
    }
}

/// The honest replica plays, keeps up, and no core of its own was ever another than the relay's.
fn agree(room: &Room) {
    let session = &room.seats[HONEST].session;
    let (relay, honest) = (room.hub().session.stats(), session.stats());
    assert_eq!(session.phase(), Phase::Playing);
    assert_eq!(honest.desyncs, 0);
    let behind = relay.tick.since(honest.tick);
    assert!(behind <= 6, "the honest replica is {behind} ticks behind");
    let exchange =
        relay.players.iter().find(|row| Some(row.player) == honest.player).and_then(|row| row.exchange.as_ref());
    let check = exchange.and_then(|exchange| exchange.last_check);
    assert!(check.is_some_and(|check| check.equal), "{check:?}");
    assert!(session.simulation().is_some_and(|world| world.cells().count() > 0));
}

/// Small packets of a session: frames, loads, reports.
pub fn packets() -> Vec<Vec<u8>> {
    let mut kept: Vec<(wire::Message, Vec<u8>)> = Vec::new();
    for packet in room().1.into_iter().filter(|packet| packet.len() < 4_000) {
        let (_, message) = wire::decode(&packet).expect("a session sends messages");
        let kind = core::mem::discriminant(&message);
        if kept.iter().filter(|(other, _)| core::mem::discriminant(other) == kind).count() < 3 {
            kept.push((message, packet));
        }
    }
    kept.into_iter().map(|(_, packet)| packet).collect()
}

/// A session's packets on each route, one after the other.
pub fn seeds() -> Vec<Vec<u8>> {
    let packets = packets();
    let routed = |how: u8| packets.iter().map(move |packet| [&[how], packet.as_slice()].concat()).collect::<Vec<_>>();
    [0x28, 0x1b, 0x3c, 0x2f].map(|how| slices::join(routed(how).iter().map(Vec::as_slice))).into()
}
