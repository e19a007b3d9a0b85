//! A party over WebRTC that loses its sequencer.

use lockstone_net::party::{Party, PartySettings};
use lockstone_sim::PlayerId;
use testkit::sessions::*;

use crate::peers::serve;
use crate::sessions::{Player, all};

fn follows(player: &Player<Party<Mixer>>, leader: PlayerId) -> bool {
    player.session.stats().sequencer() == Some(leader)
}

#[test]
fn a_party_outlives_its_sequencer_and_its_signaling_server() {
    let server = serve();
    let mut players = Vec::new();
    for name in ["Ada", "Bram", "Cleo", "Dirk"] {
        players.push(Player::enter(server.local_addr(), "takeover", party(PartySettings::default(), name)));
        all("to play", &mut players, |player| playing(&player.session));
    }
    let plays = |players: &mut Vec<Player<Party<Mixer>>>, leader: u16, ticks: u32| {
        let begin = players[0].session.stats().tick;
        all("turns", players, |player| {
            player.session.stats().tick.since(begin) >= ticks && follows(player, PlayerId(leader))
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
