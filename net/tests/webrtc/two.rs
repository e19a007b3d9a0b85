//! Parties of two, whose players lose each other: what each does meanwhile, and how they become one
//! session again. Of two the sequencer is the session. The other waits until it is told that the
//! sequencer is gone, or until its player takes the offer, and is a branch then.
//!
//! Many parties are cut at once, as each does little but wait.

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use super::apart::{Apart, Site};
use super::party::{Party, SECOND, SOON, YIELDED, assert_one_world};
use super::peers::Router;

/// How two are cut off from each other.
#[derive(Clone, Copy)]
struct Cut {
    what: &'static str,
    secs: u32,
    /// Who is cut off from the signaling server as well.
    deaf: &'static [u8],
    /// What the other does meanwhile.
    other: Other,
}

#[derive(Clone, Copy, PartialEq)]
enum Other {
    Waits,
    TakesTheOffer,
    /// The carrier says that the sequencer is gone.
    IsTold,
}

/// All at once, each with a party of its own.
fn each(site: &Site, cuts: &[Cut]) {
    thread::scope(|scope| {
        for (n, cut) in cuts.iter().enumerate() {
            let hosts = 2 * n as u8..2 * n as u8 + 2;
            scope.spawn(|| cut.befalls(site.party(hosts)));
        }
    });
}

impl Cut {
    fn befalls(&self, mut apart: Apart<'_>) {
        let Cut { what, secs, .. } = *self;
        let what = format!("{what}, for {secs} s");
        assert_eq!(apart.leader(), 0);
        let trunk = apart.party.players[0].branch();
        let mut ways = apart.between(&[0], &[1]);
        ways.extend(self.deaf.iter().flat_map(|player| apart.to_server(*player)));
        apart.site.network.lose(&ways);
        let cut = Instant::now();
        match self.other {
            Other::TakesTheOffer => apart.party.go_on_as_branch(1..2, cut),
            Other::Waits | Other::IsTold => {}
        }
        apart.party.pass(secs * SECOND - cut.elapsed());
        are_apart(&apart.party, cut, &what, self.other != Other::Waits);
        assert_eq!(apart.party.players[0].branch(), trunk, "{what}: the sequencer is the session");
        apart.is_whole_again(&what, &ways);
        are_one(&apart.party, cut, &what, self.other != Other::Waits);
    }
}

/// The sequencer plays on at its pace. So does the other if it has gone on, as another session.
fn are_apart(party: &Party, cut: Instant, what: &str, goes_on: bool) {
    let [sequencer, other] = &party.players[..] else { unreachable!("two") };
    let stall = sequencer.stall(cut);
    assert!(stall < SOON, "{what}: the sequencer stood still for {stall:?}");
    assert!(sequencer.told.last().unwrap().0.elapsed() < SOON, "{what}: the sequencer plays");
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

#[test]
fn of_two_who_lose_each_other_one_is_the_session() {
    use Other::*;
    let cuts = [
        Cut { what: "both reach signaling", secs: 5, deaf: &[], other: Waits },
        Cut { what: "both reach signaling", secs: 15, deaf: &[], other: Waits },
        Cut { what: "both reach signaling, the other goes on", secs: 15, deaf: &[], other: TakesTheOffer },
        Cut { what: "neither reaches signaling", secs: 15, deaf: &[0, 1], other: Waits },
        Cut { what: "the other does not reach signaling, and goes on", secs: 15, deaf: &[1], other: TakesTheOffer },
    ];
    let name = "two::of_two_who_lose_each_other_one_is_the_session";
    let Some(site) = Site::of_test(name, 2 * cuts.len() as u8 + 2) else { return };
    thread::scope(|scope| {
        scope.spawn(|| each(&site, &cuts));
        scope.spawn(|| the_server_tells(&site, 2 * cuts.len() as u8));
    });
}

/// The signaling server tells the other that the sequencer is gone, as its WebSocket breaks, and it
/// cannot be reached indeed.
fn the_server_tells(site: &Site, first: u8) {
    let what = "the server says that the sequencer is gone";
    let router = Router::at("0.0.0.0:0".parse().unwrap(), site.server);
    let at_router = SocketAddr::from((site.network.router(first), router.addr().port()));
    let mut apart = site.party_by([at_router, site.server], first..first + 2);
    let ways = apart.between(&[0], &[1]);
    site.network.lose(&ways);
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

/// For longer than ICE keeps a connection that nothing comes by: it is made anew.
#[test]
fn of_two_who_lose_each_other_for_longer_than_connections_live_one_is_the_session() {
    use Other::*;
    let cuts = [
        Cut { what: "both reach signaling", secs: 45, deaf: &[], other: IsTold },
        Cut { what: "neither reaches signaling", secs: 45, deaf: &[0, 1], other: IsTold },
    ];
    let name = "two::of_two_who_lose_each_other_for_longer_than_connections_live_one_is_the_session";
    let Some(site) = Site::of_test(name, 2 * cuts.len() as u8) else { return };
    each(&site, &cuts);
}

/// Its process stands still, for longer than connections live. Who played on keeps the session.
#[test]
#[ignore = "takes more than a minute"]
fn of_two_who_stood_still_goes_over_to_the_one_who_played_on() {
    let name = "two::of_two_who_stood_still_goes_over_to_the_one_who_played_on";
    let Some(site) = Site::of_test(name, 4) else { return };
    thread::scope(|scope| {
        for (stopped, who) in ["the sequencer", "the other"].into_iter().enumerate() {
            let site = &site;
            scope.spawn(move || {
                let what = format!("{who} stands still for a minute");
                let mut party = site.party(2 * stopped as u8..2 * stopped as u8 + 2).party;
                let at = Instant::now();
                party.players[stopped].process().stop();
                party.pass(60 * SECOND);
                let plays = &party.players[1 - stopped];
                println!("{what}: the other one did so for {:?}", plays.stall(at));
                let played = plays.newest().map(|word| (word.tick, word.branch));
                party.players[stopped].process().go_on();
                let takes = party.until_whole();
                println!("{what}: all are together again after {takes:?}");
                assert!(takes < Duration::from_secs(5 + 3), "{takes:?}");
                let plays = &party.players[1 - stopped];
                assert_eq!(plays.heard(at, YIELDED).len(), 0, "{what}: who played on keeps what it played");
                assert!(plays.newest().map(|word| (word.tick, word.branch)) > played);
                assert_one_world(&party.players, party.begun, 0);
            });
        }
    });
}
