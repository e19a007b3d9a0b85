//! A session in the middle of play that hears whatever bytes say, from a stranger, from a player,
//! and from a false sequencer.
//!
//! Four seats: the founder, an honest replica, a player in whose name lies are told, and a victim
//! that is lied to in the founder's name. Whatever is said: nobody panics, memory stays bounded,
//! and founder and honest replica play on, equal to the bit.

use lockstone_net::link::{Channel, Link, LinkEvent, PeerId};
use lockstone_net::memory::Driver;
use lockstone_net::party::{Party, PartySettings};
use lockstone_net::session::Session;
use lockstone_net::wire;

use testkit::sessions::{self, Mixer, Played, assert_same, ms, playing};
use crate::{memory, session, slices};

const FOUNDER: usize = 0;
const HONEST: usize = 1;
const LIAR: usize = 2;
const VICTIM: usize = 3;

const PACKETS_MAX: usize = 128;
/// What all four together may come to hold in the few seconds, whatever they hear.
const HELD_BYTES_MAX: usize = 1 << 20;
/// What a byte may come to hold: of an input in a turn, and in the event that tells of it.
const FACTOR: usize = 256;

/// Lets a session hear packets. Each has a byte before it: three bits of route, one of channel,
/// four of the time until the next.
pub fn check(bytes: &[u8]) -> bool {
    let mut driver = sessions::session(4, &PartySettings::default(), ms(20));
    let mut stranger = driver.network.enter();
    run(&mut driver, 40);
    memory::within(HELD_BYTES_MAX + FACTOR * bytes.len(), || {
        for (n, slice) in slices::all(bytes).take(PACKETS_MAX).enumerate() {
            let Some((&how, packet)) = slice.split_first() else { continue };
            hear(&mut driver, stranger.peer(), how, packet);
            let _ = driver.seats[n % 2].session.command(n as u64);
            run(&mut driver, u64::from(how >> 4) * 10);
            while stranger.poll().is_some() {}
        }
        run(&mut driver, 2_000);
    });
    agree(&driver);
    slices::all(bytes).filter_map(<[u8]>::split_first).any(|(_, packet)| wire::decode(packet).is_ok())
}

fn run(driver: &mut Driver<Party<Mixer>>, for_ms: u64) {
    let until = driver.now() + ms(for_ms);
    driver.run_until(until);
}

fn hear(driver: &mut Driver<Party<Mixer>>, stranger: PeerId, how: u8, packet: &[u8]) {
    let (from, to) = match how & 7 {
        0 | 1 => (driver.peer(LIAR), FOUNDER),
        2 => (stranger, FOUNDER),
        3 | 4 => (driver.peer(FOUNDER), VICTIM),
        5 => (driver.peer(LIAR), HONEST),
        6 => (stranger, HONEST),
        _ => (stranger, VICTIM),
    };
    let channel = if how & 8 == 0 { Channel::Unreliable } else { Channel::Reliable };
    let now = driver.now();
    driver.seats[to].session.handle(LinkEvent::Packet { from, channel, bytes: packet.to_vec() }, now);
}

/// The honest ones play on and have played the same.
fn agree(driver: &Driver<Party<Mixer>>) {
    let [founder, honest] = [FOUNDER, HONEST].map(|seat| {
        let party = &driver.seats[seat].session;
        assert!(playing(party), "seat {seat} does not play: {:?}", party.phase());
        assert!(!party.simulation().expect("it plays").nonsense, "seat {seat} played nonsense");
        Played::of(&driver.seats[seat].events)
    });
    assert!(assert_same(&founder, &honest, "honest peers") >= 4);
    assert_eq!(driver.seats[HONEST].session.stats().desyncs, 0);
    let behind = driver.seats[FOUNDER].session.stats().tick.since(driver.seats[HONEST].session.stats().tick);
    assert!(behind <= 4, "the honest replica is {behind} ticks behind");
}

/// A session's packets on each route, alone and one after the other.
pub fn seeds() -> Vec<Vec<u8>> {
    let packets = session::packets();
    let routed = |how: u8| packets.iter().map(move |packet| [&[how], packet.as_slice()].concat()).collect::<Vec<_>>();
    let mut seeds: Vec<_> =
        [0x20, 0x1a, 0x33, 0x15].map(|how| slices::join(routed(how).iter().map(Vec::as_slice))).into();
    seeds.extend([0x10, 0x1c].into_iter().flat_map(routed).map(|packet| slices::join([packet.as_slice()])));
    seeds
}
