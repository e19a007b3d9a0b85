//! A rollback session that hears whatever bytes say, from a stranger and from a player.
//!
//! Three seats: two that are honest to each other, and one in whose name lies are told. Inputs get
//! the seal they need, so that the lies are heard. Whatever is said: nobody panics, and memory
//! stays bounded. A stranger alone stops nobody either.

use lockstone_net::link::{Channel, LinkEvent};
use lockstone_net::memory::{Driver, Weather};
use lockstone_net::rollback::Rollback;
use lockstone_net::session::{Phase, Session};
use lockstone_net::wire::{self, Epoch, Message};

use testkit::sessions::rollback::{in_step, play, room, settings};
use testkit::sessions::{self, Dice, Mixer, ms};
use crate::{memory, slices};

const LIAR: usize = 2;

const PACKETS_MAX: usize = 128;
/// What all three together may come to hold in the few seconds, whatever they hear.
const HELD_BYTES_MAX: usize = 1 << 20;
/// What a byte may come to hold: of an input in a turn, and in the event that tells of it.
const FACTOR: usize = 256;

/// Lets a session hear packets. Each has a byte before it: two bits of route, one of channel, one
/// for a seal, four of the time until the next.
pub fn check(bytes: &[u8]) -> bool {
    let mut driver = room(1, 3, Weather::clear(ms(20)), &settings(1));
    let stranger = driver.network.enter();
    play(&mut driver, &mut Dice(1), ms(500));
    let (mut understood, mut liar_spoke) = (false, false);
    memory::within(HELD_BYTES_MAX + FACTOR * bytes.len(), || {
        for (n, slice) in slices::all(bytes).take(PACKETS_MAX).enumerate() {
            let Some((&how, packet)) = slice.split_first() else { continue };
            let lies = how & 3 != 0;
            let packet = if lies && how & 8 != 0 { sealed(packet) } else { packet.to_vec() };
            understood |= wire::decode(&packet).is_ok();
            liar_spoke |= lies;
            let from = if lies { driver.peer(LIAR) } else { stranger.peer() };
            hear(&mut driver, from, usize::from(how & 1), how & 4 != 0, packet);
            play(&mut driver, &mut Dice(n as u64), ms(u64::from(how >> 4) * 10));
        }
        play(&mut driver, &mut Dice(2), ms(2_000));
    });
    if !liar_spoke {
        assert!(driver.seats.iter().all(|seat| seat.session.phase() == Phase::Playing));
        assert!(in_step(&driver, 1) >= 4);
    }
    understood
}

fn hear(driver: &mut Driver<Rollback<Mixer>>, from: lockstone_net::PeerId, to: usize, reliable: bool, bytes: Vec<u8>) {
    let channel = if reliable { Channel::Reliable } else { Channel::Unreliable };
    let now = driver.now();
    driver.seats[to].session.handle(LinkEvent::Packet { from, channel, bytes }, now);
}

/// Inputs whose seal is broken, with one that holds.
fn sealed(packet: &[u8]) -> Vec<u8> {
    match lockstone_sim::codec::read::<(Epoch, Message)>(packet, packet.len()) {
        Ok((epoch, Message::Inputs(inputs))) => wire::encode(epoch, &Message::Inputs(inputs.sealed(epoch))),
        _ => packet.to_vec(),
    }
}

/// One message of each kind on each route, alone and one after the other.
pub fn seeds() -> Vec<Vec<u8>> {
    let messages = sessions::messages::messages(Epoch(0));
    let packets: Vec<_> = messages.iter().map(|message| wire::encode(Epoch(0), message)).collect();
    let routed = |how: u8| packets.iter().map(move |packet| [&[how], packet.as_slice()].concat()).collect::<Vec<_>>();
    let mut seeds: Vec<_> = [0x30, 0x22, 0x3b].map(|how| slices::join(routed(how).iter().map(Vec::as_slice))).into();
    seeds.extend([0x1a].into_iter().flat_map(routed).map(|packet| slices::join([packet.as_slice()])));
    seeds
}
