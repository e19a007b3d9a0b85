//! Lines that lose half of all packets, and everything for a while: nobody is lost that is silent
//! for a shorter time than all wait.

use core::time::Duration;

use lockstone_net::link::Link;
use lockstone_net::memory::{Driver, MemoryNetwork, Weather};
use lockstone_net::party::PartySettings;
use lockstone_net::relay::RelaySettings;
use lockstone_net::session::{Event, Session};
use lockstone_net::{PeerId, RollbackSettings};
use lockstone_sim::Simulation;
use testkit::relay::{STORM, Scene};
use testkit::seeds;
use testkit::sessions::{rollback, *};

const TEST: &str = "-p lockstone-net --test virtual_time bad_lines::";
const CLEAR: Weather = Weather::clear(ms(50));
const PEERS: usize = 4;

#[derive(Clone, Copy, Debug)]
enum Trouble {
    /// Half of all packets are lost, and in between for so long all of them.
    Loss(Duration),
    /// For so long nothing leaves one peer.
    Mute(Duration),
}

impl Trouble {
    /// Plays while it lasts, and for a while in fair weather.
    fn endure(self, network: &MemoryNetwork, one: PeerId, others: &[PeerId], mut play: impl FnMut(Duration)) {
        match self {
            Trouble::Loss(blackout) => {
                for (loss_permille, time) in [(500, secs(8)), (1_000, blackout), (500, secs(8))] {
                    network.set_weather(Weather { loss_permille, jitter: ms(20), ..CLEAR });
                    play(time);
                }
                network.set_weather(CLEAR);
            }
            Trouble::Mute(time) => {
                others.iter().for_each(|other| network.set_direction_cut(one, *other, true));
                play(time);
                others.iter().for_each(|other| network.set_direction_cut(one, *other, false));
            }
        }
        play(secs(5));
    }
}

/// How often a player was told to be lost.
fn losses<'e, S: Simulation + 'e>(told: impl IntoIterator<Item = &'e Event<S>>) -> usize {
    let is_loss = |event: &&Event<S>| matches!(event, Event::PlayerLeft { .. } | Event::PlayerAway { .. });
    told.into_iter().filter(is_loss).count()
}

/// Returns how often players of such a session were lost.
fn among<L: Link>(mut room: Driver<impl Session<Sim = Mixer>, L>, seed: u64, trouble: Trouble) -> usize {
    let mut peers: Vec<_> = room.seats.iter().map(|seat| seat.peer).collect();
    let (mut dice, network) = (Dice(seed), room.network.clone());
    rollback::play(&mut room, &mut dice, secs(2));
    let one = peers.remove(1);
    trouble.endure(&network, one, &peers, |time| rollback::play(&mut room, &mut dice, time));
    let lost: usize = room.seats.iter().map(|seat| losses(&seat.events)).sum();
    if lost == 0 && room.seats.iter().all(|seat| playing(&seat.session)) {
        rollback::in_step(&room, seed);
    }
    lost + room.seats.iter().filter(|seat| !playing(&seat.session)).count()
}

fn party(seed: u64, trouble: Trouble) -> usize {
    let settings = PartySettings { players_at_start: PEERS, seed, ..PartySettings::default() };
    among(session(PEERS, &settings, ms(50)), seed, trouble)
}

fn predicting(seed: u64, trouble: Trouble) -> usize {
    // All stand still as long as they wait for one: as they are set, they wait 1.5 s.
    let settings = RollbackSettings { silence_timeout: secs(4), ..rollback::settings(seed) };
    among(rollback::room(seed, PEERS, CLEAR, &settings), seed, trouble)
}

fn relay(seed: u64, trouble: Trouble) -> usize {
    let mut scene = Scene::new(seed, STORM, RelaySettings::default(), CLEAR);
    scene.enter_many(PEERS);
    scene.run_until(secs(3));
    assert_eq!(scene.playing(), PEERS);
    let (one, hub, network) = (scene.peer(1), scene.driver.hub().peer, scene.driver.network.clone());
    trouble.endure(&network, one, &[hub], |time| scene.play(time, 50));
    losses(&scene.told) + PEERS - scene.playing()
}

#[test]
fn a_blackout_amid_heavy_loss_loses_nobody() {
    let lost =
        seeds::each(TEST, 6, |seed| [party, predicting, relay].map(|session| session(seed, Trouble::Loss(secs(3)))));
    assert_eq!(lost.iter().flatten().sum::<usize>(), 0, "party, rollback, relay: {lost:?}");
}

#[test]
fn who_says_nothing_for_eight_seconds_is_not_put_out() {
    let lost = seeds::each(TEST, 6, |seed| [party, relay].map(|session| session(seed, Trouble::Mute(secs(8)))));
    assert_eq!(lost.iter().flatten().sum::<usize>(), 0, "party, relay: {lost:?}");
}

/// The control: who is silent for longer is lost.
#[test]
fn a_longer_silence_is_found() {
    for trouble in [Trouble::Loss(secs(25)), Trouble::Mute(secs(25))] {
        for session in [party, predicting, relay] {
            assert!(session(1, trouble) > 0, "{trouble:?}");
        }
    }
}
