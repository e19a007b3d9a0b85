//! A world that goes another way on one peer is found: by whom, against whom, and
//! between which ticks.

use lockstone_net::limits::EVIDENCE_GIVE_TIME;
use lockstone_net::memory::{Driver, MemoryNetwork, Weather};
use lockstone_net::party::{Party, PartySettings};
use lockstone_net::session::{EndReason, Event, OnDesync, Session};
use lockstone_net::wire::LeaveReason;
use lockstone_sim::{PlayerId, Tick};
use testkit::sessions::*;

/// Three players, the world of one of whom goes wrong at a tick.
fn faulty_session(faulty: Option<usize>, at: Tick, on_desync: OnDesync) -> Driver<Party<Mixer>> {
    let settings = PartySettings { players_at_start: 3, on_desync, ..PartySettings::default() };
    let mut driver = Driver::new(MemoryNetwork::new(1, Weather::clear(ms(40))));
    for n in 0..3 {
        let fault = (faulty == Some(n)).then_some(at);
        let build = move |seed| Mixer::new(seed, 64).with_fault(fault);
        driver.enter(party_of(settings.clone(), IDENTITY, &format!("player {n}"), build));
    }
    // A peer that is out of step waits for its application to give evidence, which here never
    // comes.
    driver.run_until(secs(12) + EVIDENCE_GIVE_TIME);
    driver
}

#[test]
fn a_replica_that_goes_wrong_is_found_on_both_sides() {
    for on_desync in [OnDesync::Stop, OnDesync::GoOn] {
        let stop = on_desync == OnDesync::Stop;
        // The turn of tick 104 goes wrong: 100 is still equal, 110 is not.
        let driver = faulty_session(Some(2), Tick(104), on_desync);
        let found = |player| vec![(PlayerId(player), Tick(110), Some(Tick(100)))];
        let odd = driver.seats[2].session.stats().player.expect("it joined").0;
        assert_eq!(desyncs(&driver, 0), found(odd));
        assert_eq!(desyncs(&driver, 2), found(0));
        assert_eq!(desyncs(&driver, 1), vec![], "the third has nothing to do with it");
        assert_eq!(driver.seats[1].session.stats().desyncs, 0);
        assert!(driver.seats[0].session.stats().desyncs >= 1 && driver.seats[2].session.stats().desyncs >= 1);
        let gone = |event: &Event<Mixer>| matches!(event, Event::PlayerLeft { reason: LeaveReason::Desync, .. });
        assert_eq!(driver.seats[1].events.iter().any(gone), stop);
        assert_eq!(ended(&driver.seats[2].session), stop.then_some(EndReason::Desync));
        assert!(playing(&driver.seats[0].session) && playing(&driver.seats[1].session));
        if !stop {
            let stats = driver.seats[0].session.stats();
            assert!(stats.desyncs > 5, "it goes on and is counted, but told once: {stats:?}");
        }
    }
}

#[test]
fn a_sequencer_that_goes_wrong_is_found_by_all() {
    let driver = faulty_session(Some(0), Tick(57), OnDesync::GoOn);
    assert_eq!(desyncs(&driver, 0).len(), 2);
    for seat in 1..3 {
        assert_eq!(desyncs(&driver, seat), vec![(PlayerId(0), Tick(60), Some(Tick(50)))]);
    }
}

#[test]
fn without_a_fault_nothing_is_found() {
    let driver = faulty_session(None, Tick(0), OnDesync::Repair);
    for seat in 0..3 {
        assert_eq!(desyncs(&driver, seat), vec![]);
        let stats = driver.seats[seat].session.stats();
        assert_eq!(stats.desyncs, 0);
        assert!(stats.checksums_compared >= 20, "{stats:?}");
    }
}
