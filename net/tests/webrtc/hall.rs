//! A relay and its players, each a process at a host of its own, who lose each other while all of
//! them reach signaling.

use std::net::SocketAddr;
use std::process::Command;
use std::time::Instant;

use lockstone_net::PlayerKey;
use lockstone_net::matchbox::RoomRole;
use lockstone_net::relay::{Relay, RelaySettings};
use lockstone_sim::PlayerId;
use testkit::relay::{STORM, config, replica};
use testkit::sessions::IDENTITY;

use super::apart::{Apart, WHOLE_WITHIN};
use super::party::{SECOND, SOON};
use super::process;
use super::sessions::Player;

/// Says that a process is one of a relay's session.
const HALL: &str = "LOCKSTONE_TEST_HALL";
/// A relay, and two players.
pub const HOSTS: u8 = 3;

/// A process of a relay's session.
pub fn of_hall(mut program: Command) -> Command {
    program.env(HALL, "");
    program
}

/// Whether this process is one.
pub fn is_meant() -> bool {
    std::env::var_os(HALL).is_some()
}

/// The first is the relay, and a player itself. A storm's heroes wait for 300 ticks: a minute.
pub fn play(server: SocketAddr, room: &str, key: u8) -> ! {
    let settings = RelaySettings { ticks_per_s: 5, packet_interval_ticks: 1, ..RelaySettings::default() };
    let (config, name) = (config(settings), format!("player {key}"));
    if key == 0 {
        let relay = Relay::new(config, IDENTITY, &name, (), |_| STORM.world()).unwrap();
        process::play(Player::enter_as(RoomRole::Relay { token: "t".into() }, server, room, relay))
    } else {
        let replica = replica(STORM, config, &name).with_key(PlayerKey::from_bytes([key; 32]));
        process::play(Player::enter_as(RoomRole::Player, server, room, replica))
    }
}

/// One is cut off from the relay, for longer than ICE keeps a connection by which nothing comes: it
/// is made anew.
pub fn a_player_loses_its_relay(mut apart: Apart<'_>) {
    let ways = apart.between(&[0], &[1]);
    apart.site.network.lose(&ways);
    let cut = Instant::now();
    apart.party.pass(45 * SECOND);
    let [relay, lost, other] = &apart.party.players[..] else { unreachable!("three") };
    assert!(lost.told.last().unwrap().0 - cut < SOON, "it waits");
    for player in [relay, other] {
        let stall = player.stall(cut);
        assert!(stall < SOON, "{} stood still for {stall:?}", player.id);
    }
    assert_eq!(relay.heard(cut, "P1 was not heard of for too long, and may come back").len(), 1);
    apart.site.network.mend(&ways);
    let mended = Instant::now();
    let takes = apart.party.until("it to play its hero again", |players| {
        let played = players[1].told.last().filter(|(at, _)| *at > mended);
        played.is_some() && !players[0].heard(mended, "P1 is back").is_empty()
    });
    println!("a player and its relay, for 45 s: it plays its hero again after {takes:?}");
    assert!(takes < WHOLE_WITHIN, "{takes:?}");
    assert_eq!(apart.party.players[1].newest().map(|word| word.player), Some(PlayerId(1)));
}
