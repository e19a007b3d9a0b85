//! Every session can move to another thread.

use lockstone_net::relay::{Relay, Replica};
use lockstone_net::{Party, PartySettings, Rollback, Session};
use lockstone_sim::{Rules, Simulation};
use testkit::secs;
use testkit::sessions::party;

const fn is_send<T: Session + Send>() {}

/// Of every simulation, whatever it is.
#[expect(dead_code, reason = "that it compiles is the test")]
const fn of_any<S: Simulation, R: Rules>() {
    is_send::<Party<S>>();
    is_send::<Rollback<S>>();
    is_send::<Relay<R>>();
    is_send::<Replica<R>>();
}

#[test]
fn a_session_moves_to_another_thread() {
    let mut ann = party(PartySettings::default(), "Ann");
    let moved = std::thread::spawn(move || {
        ann.advance(secs(1));
        ann.wake_at()
    });
    assert_eq!(moved.join().expect("nothing panics"), secs(16));
}
