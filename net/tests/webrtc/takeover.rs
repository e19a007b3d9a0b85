//! A party over WebRTC that loses its sequencer.

use std::time::Instant;

use lockstone_net::Event;
use lockstone_net::matchbox::{Config, MatchboxLink};
use lockstone_net::party::{Party, PartySettings};
use lockstone_sim::PlayerId;
use testkit::sessions::*;

use crate::peers::{serve, until};

struct Player {
    link: MatchboxLink,
    session: Party<Mixer>,
    events: Vec<Event<Mixer>>,
    began: Instant,
}

impl Player {
    fn enter(url: &str, name: &str) -> Player {
        let config = Config { url: url.to_owned(), room: "takeover".to_owned(), ..Config::default() };
        let session = party(PartySettings::default(), name);
        Player { link: MatchboxLink::open(config), session, events: Vec::new(), began: Instant::now() }
    }

    fn advance(&mut self) {
        let now = self.began.elapsed();
        while let Some(event) = self.link.poll() {
            self.session.handle(event, now);
        }
        self.session.advance(now);
        while let Some(packet) = self.session.poll_transmit() {
            self.link.send(packet.to, packet.channel, packet.bytes);
        }
        self.events.extend(core::iter::from_fn(|| self.session.poll_event()));
    }

    fn follows(&self, leader: PlayerId) -> bool {
        self.session.stats().players.iter().any(|player| player.sequencer && player.player == leader)
    }
}

#[test]
fn a_party_outlives_its_sequencer_and_its_signaling_server() {
    let server = serve();
    let url = format!("ws://{}", server.local_addr());
    let mut players = Vec::new();
    for name in ["Ada", "Bram", "Cleo", "Dirk"] {
        players.push(Player::enter(&url, name));
        until("to play", || {
            players.iter_mut().for_each(Player::advance);
            players.iter().all(|player| playing(&player.session)).then_some(())
        });
    }
    let plays = |players: &mut Vec<Player>, leader: u16, ticks: u32| {
        let begin = players[0].session.stats().tick;
        until("turns", || {
            players.iter_mut().for_each(Player::advance);
            let far = |player: &Player| player.session.stats().tick.since(begin) >= ticks;
            let led = |player: &Player| player.follows(PlayerId(leader));
            players.iter().all(|player| far(player) && led(player)).then_some(())
        });
    };
    plays(&mut players, 0, 30);
    drop(server);
    players.remove(0);
    plays(&mut players, 1, 60);
    players.remove(0);
    plays(&mut players, 2, 60);
    let [ours, theirs] = [0, 1].map(|seat| Played::of(&players[seat].events));
    assert!(assert_same(&ours, &theirs, "over WebRTC") > 10);
}
