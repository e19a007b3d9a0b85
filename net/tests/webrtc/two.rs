//! Parties of two, whose players lose each other: what each does meanwhile, and how they become one
//! session again. Of two the sequencer is the session. The other waits until it is told that the
//! sequencer is gone, or until its player takes the offer, and is a branch then.
//!
//! A test of cuts runs all of it at once.

use std::net::SocketAddr;
use std::thread::Scope;
use std::time::Instant;

use testkit::router::Router;

use super::apart::{Apart, Site, WHOLE_WITHIN};
use super::network::Way;
use super::party::{Party, SECOND, SOON, YIELDED, assert_one_world};
use super::process::Process;

/// What happens to a party at a host and the next one.
const SCENES: [fn(&Site, u8); 5] = [
    both_reach_signaling,
    one_or_both_reach_nobody,
    connections_end,
    the_one_who_serves_is_killed,
    the_other_stands_still,
];
/// So many hosts are there in all.
pub const HOSTS: u8 = 2 * SCENES.len() as u8;

pub fn lose_each_other<'a>(scope: &'a Scope<'a, '_>, site: &'a Site, first: u8) {
    for (scene, host) in SCENES.into_iter().zip((first..).step_by(2)) {
        scope.spawn(move || scene(site, host));
    }
}

/// What the other of two does while they are cut off from each other.
#[derive(Clone, Copy, PartialEq)]
enum Other {
    Waits,
    TakesTheOffer,
    /// The carrier says that the sequencer is gone.
    IsTold,
}

fn both_reach_signaling(site: &Site, first: u8) {
    let mut apart = site.party(first..first + 2);
    cut(&mut apart, "both reach signaling", &[], 5, Other::Waits);
    cut(&mut apart, "both reach signaling", &[], 15, Other::Waits);
    cut(&mut apart, "both reach signaling, the other goes on", &[], 15, Other::TakesTheOffer);
}

fn one_or_both_reach_nobody(site: &Site, first: u8) {
    let router = Router::at("0.0.0.0:0".parse().unwrap(), site.server);
    let at_router = SocketAddr::from((site.network.router(first), router.addr().port()));
    let mut apart = site.party_by([at_router, site.server], first..first + 2);
    let servers = [apart.to_server(0), apart.to_server(1)];
    cut(&mut apart, "the other reaches nobody", &servers[1], 15, Other::Waits);
    cut(&mut apart, "neither reaches anybody, the other goes on", &servers.concat(), 15, Other::TakesTheOffer);
    the_server_tells(&mut apart, &router);
}

/// For longer than ICE keeps a connection by which nothing comes: it is made anew.
fn connections_end(site: &Site, first: u8) {
    cut(&mut site.party(first..first + 2), "both reach signaling", &[], 45, Other::IsTold);
}

/// Two are cut off from each other for some seconds, and nothing arrives on more ways.
fn cut(apart: &mut Apart<'_>, what: &str, more: &[Way], secs: u32, other: Other) {
    let what = format!("of two {what}, for {secs} s");
    apart.party.until_calm();
    assert_eq!(apart.leader(), 0);
    let ways = [&apart.between(&[0], &[1])[..], more].concat();
    apart.site.network.lose(&ways);
    let cut = Instant::now();
    if other == Other::TakesTheOffer {
        apart.party.go_on_as_branch(1..2, cut);
    }
    apart.party.pass(secs * SECOND - cut.elapsed());
    are_apart(&apart.party, cut, &what, other != Other::Waits);
    apart.is_whole_again(&what, &ways);
    are_one(&apart.party, cut, &what, other != Other::Waits);
}

/// The signaling server tells the other that the sequencer is gone, as its WebSocket breaks, and it
/// cannot be reached indeed.
fn the_server_tells(apart: &mut Apart<'_>, router: &Router) {
    let what = "of two the server says that the sequencer is gone";
    apart.party.until_calm();
    assert_eq!(apart.leader(), 0);
    let ways = apart.between(&[0], &[1]);
    apart.site.network.lose(&ways);
    router.break_down();
    let cut = Instant::now();
    let takes = apart.party.until_led_on(1..2);
    println!("{what}: the other goes on after {takes:?}");
    assert!(takes < SOON, "{takes:?}");
    apart.party.pass(5 * SECOND - takes);
    are_apart(&apart.party, cut, what, true);
    router.mend();
    apart.is_whole_again(what, &ways);
    are_one(&apart.party, cut, what, true);
}

/// The sequencer plays on at its pace. So does the other if it has gone on, as another session.
fn are_apart(party: &Party, cut: Instant, what: &str, goes_on: bool) {
    let [sequencer, other] = &party.players[..] else { unreachable!("two") };
    let stall = sequencer.stall(cut);
    assert!(stall < SOON, "{what}: the sequencer stood still for {stall:?}");
    assert!(sequencer.told.last().unwrap().0.elapsed() < SOON, "{what}: the sequencer plays\n{}", party.told());
    let last = other.told.last().unwrap().0;
    if goes_on {
        println!("{what}: the other stood still for {:?}", other.stall(cut));
        assert!(last.elapsed() < SOON, "{what}: the other plays");
        assert_ne!(other.branch(), sequencer.branch(), "{what}: never two sessions of one id");
    } else {
        assert!(last - cut < SOON, "{what}: the other waits");
    }
}

/// They are one session again: one of two that went on yields. No two worlds had one id.
fn are_one(party: &Party, cut: Instant, what: &str, went_on: bool) {
    let yielded = party.players.iter().filter(|player| !player.heard(cut, YIELDED).is_empty()).count();
    assert_eq!(yielded, usize::from(went_on), "{what}");
    assert_one_world(&party.players, party.begun, 0);
}

/// The sequencer served signaling as well, and is killed. That is no word of anyone: the other
/// waits, and plays on if its player wants that.
fn the_one_who_serves_is_killed(site: &Site, first: u8) {
    let addr = SocketAddr::from((site.network.address(first), 3536));
    let (server, addr) = Process::serve_by(site.network.program(first), addr);
    let mut party = site.party_by([addr, addr], first..first + 2).party;
    drop(server);
    party.kill(0..1);
    party.go_on_as_branch(0..1, Instant::now());
    let before = Instant::now();
    party.pass(10 * SECOND);
    assert!(party.players[0].stall(before) < SECOND, "it plays on");
    assert_one_world(party.players.iter().chain(&party.dead), party.begun, 0);
}

fn the_other_stands_still(site: &Site, first: u8) {
    stands_still(site.party(first..first + 2).party, 1, 40);
}

/// The process of one stands still, for longer than connections live. Who played on keeps the
/// session.
fn stands_still(mut party: Party, stopped: usize, secs: u32) {
    let what = format!("of two {} stands still for {secs} s", ["the sequencer", "the other"][stopped]);
    let at = Instant::now();
    party.players[stopped].process().stop();
    party.pass(secs * SECOND);
    let plays = &party.players[1 - stopped];
    println!("{what}: the other one did so for {:?}", plays.stall(at));
    let played = plays.newest().map(|word| (word.tick, word.branch));
    party.players[stopped].process().go_on();
    let takes = party.until_whole();
    println!("{what}: all are together again after {takes:?}");
    assert!(takes < WHOLE_WITHIN, "{what}: {takes:?}");
    let plays = &party.players[1 - stopped];
    assert_eq!(plays.heard(at, YIELDED).len(), 0, "{what}: who played on keeps what it played");
    assert!(plays.newest().map(|word| (word.tick, word.branch)) > played);
    assert_one_world(&party.players, party.begun, 0);
}

/// Who went on as a branch has played for longer than the session by then.
#[test]
#[ignore = "takes more than a minute"]
fn of_two_who_stood_still_goes_over_to_the_one_who_played_on() {
    let name = "two::of_two_who_stood_still_goes_over_to_the_one_who_played_on";
    let Some(site) = Site::of_test(name, 2) else { return };
    stands_still(site.party(0..2).party, 0, 60);
}
