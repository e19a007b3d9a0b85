//! The packets of a small session that has something of everything: joins, commands, a refusal,
//! a desync, an end.

use core::mem::discriminant;
use core::time::Duration;

use lockstone_net::Identity;
use lockstone_net::link::{LinkEvent, PeerId};
use lockstone_net::party::PartySettings;
use lockstone_net::wire::{self, Message};
use lockstone_net::{Channel, Party, Session};
use lockstone_sim::Tick;

use testkit::sessions::{IDENTITY, Mixer, ms, party_of};

const OF_A_KIND_MAX: usize = 3;
const STEPS: u64 = 300;
/// A peer enters every so many steps.
const STEPS_BETWEEN: usize = 40;

/// Up to three packets of each kind of message, of different lengths.
pub fn packets() -> Vec<Vec<u8>> {
    let mut kept: Vec<(Message, Vec<u8>)> = Vec::new();
    for packet in run() {
        let (_, message) = wire::decode(&packet).expect("a party sends messages");
        let alike = || kept.iter().filter(|(other, _)| discriminant(other) == discriminant(&message));
        if alike().count() < OF_A_KIND_MAX && alike().all(|(_, other)| other.len() != packet.len()) {
            kept.push((message, packet));
        }
    }
    kept.into_iter().map(|(_, packet)| packet).collect()
}

/// A founder, a replica, one whose world goes wrong, and one with other rules.
fn parties() -> Vec<Party<Mixer>> {
    let other = Identity { rules: 99, ..IDENTITY };
    let differences = [(IDENTITY, None), (IDENTITY, None), (IDENTITY, Some(Tick(30))), (other, None)];
    let party = |(n, (identity, fault))| {
        let build = move |seed| Mixer::new(seed, 24).with_fault(fault);
        party_of(PartySettings::default(), identity, &format!("player {n}"), build)
    };
    differences.into_iter().enumerate().map(party).collect()
}

/// Every packet reaches its peer at once.
fn run() -> Vec<Vec<u8>> {
    let (mut parties, mut sent) = (parties(), Vec::new());
    for step in 0..STEPS {
        let now = ms(10 * step);
        let (n, between) = (step as usize / STEPS_BETWEEN, step as usize % STEPS_BETWEEN);
        if between == 0 && n < parties.len() {
            enter(&mut parties, n, now);
        }
        if between == 10 {
            // Refused as long as its hero is not in the world.
            let _ = parties[1].command(step << 20 | step);
        }
        if step == STEPS - 10 {
            parties[1].leave(now);
            parties[2].leave(now);
        }
        if step == STEPS - 5 {
            parties[0].leave(now);
        }
        exchange(&mut parties, now, &mut sent);
    }
    sent
}

fn enter(parties: &mut [Party<Mixer>], n: usize, now: Duration) {
    parties[n].handle(LinkEvent::Entered(peer(n)), now);
    for other in 0..n {
        parties[other].handle(LinkEvent::Connected(peer(n)), now);
        parties[n].handle(LinkEvent::Connected(peer(other)), now);
    }
}

fn exchange(parties: &mut [Party<Mixer>], now: Duration, sent: &mut Vec<Vec<u8>>) {
    for n in 0..parties.len() {
        parties[n].advance(now);
        while parties[n].poll_event().is_some() {}
        while let Some(packet) = parties[n].poll_transmit() {
            let event = LinkEvent::Packet { from: peer(n), channel: Channel::Reliable, bytes: packet.bytes.clone() };
            parties[packet.to.arrival() as usize].handle(event, now);
            sent.push(packet.bytes);
        }
    }
}

fn peer(n: usize) -> PeerId {
    PeerId((n as u128) << 64)
}
