//! Friends drop in and out: Cleo joins late, the peer that orders the commands dies, and its player
//! comes back to the same hero. The dungeon goes on for all.
//!
//! `cargo run -p dungeon --example drop_in` plays twenty seconds of virtual time in a moment.

use std::time::Duration;

use dungeon::DungeonGame;
use lockstone::game::Game;
use lockstone::net::memory::{Driver, MemoryNetwork, Weather};
use lockstone::net::{Party, PartyConfig, PlayerKey, Session};

type Room = Driver<Party<<DungeonGame as Game>::Sim>>;

fn main() {
    let mut room = Room::new(MemoryNetwork::new(1, Weather::clear(Duration::from_millis(50))));
    room.enter(player("Ann", "warrior"));
    room.enter(player("Bob", "ranger"));
    tell(&mut room, 5, "Ann and Bob play, and Ann's peer orders the commands");
    room.enter(player("Cleo", "mage"));
    tell(&mut room, 8, "Cleo joined, and nobody waited for her");
    room.seats.remove(0);
    tell(&mut room, 10, "Ann's peer died, and another took over");
    room.enter(player("Ann", "warrior"));
    tell(&mut room, 13, "Ann is back, as the same player, with the same hero");
    let players: Vec<_> = room.seats.iter().filter_map(|seat| seat.session.stats().player).collect();
    assert_eq!(players.iter().map(|player| player.0).collect::<Vec<_>>(), [1, 2, 0]);
}

/// A player is known again by a key.
fn player(name: &str, class: &str) -> Party<<DungeonGame as Game>::Sim> {
    let (table, identity) = (lockstone::default_table(), DungeonGame::identity(&lockstone::default_table()));
    let hero = DungeonGame::hero(class, name).expect("the dungeon has the class");
    let key = PlayerKey::from_bytes([name.as_bytes()[0]; 32]);
    let build = move |seed| DungeonGame::build(seed, table.clone());
    let party = Party::new(PartyConfig::default(), identity, name, hero, build);
    party.expect("the name is short").with_key(key)
}

/// Plays up to a second, and tells how it is then.
fn tell(room: &mut Room, second: u64, what: &str) {
    room.run_until(Duration::from_secs(second));
    println!("after {second} s: {what}");
    for seat in &mut room.seats {
        let (stats, leader) = (seat.session.stats(), seat.session.stats().sequencer());
        let player = stats.player.expect("everyone is let in within a second");
        let hero = seat.session.confirmed().and_then(|world| Some(world.hero(player)?.pos)).expect("it has a hero");
        let leads = if leader == Some(player) { ", orders the commands" } else { "" };
        println!("  {player} at tick {}, its hero at {hero}{leads}", stats.tick);
        assert_eq!(stats.desyncs, 0);
    }
}
