//! When turns are played that come late, or after an outage.

use core::time::Duration;

use lockstone_sim::Tick;

use super::Playout;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn playout_waits_for_the_latest_and_hurries_after_an_outage() {
    let mut playout = Playout::new(ms(50));
    assert_eq!(playout.time_of(Tick(0)), None);
    // Each turn arrives 30 ms after its time, each tenth 90 ms.
    let late = |n: u32| if n.is_multiple_of(10) { 90 } else { 30 };
    let arrive = |playout: &mut Playout, n: u32, late: u64| {
        playout.arrived(Tick(n), Tick(n + 1), ms(u64::from(n) * 50 + late));
    };
    (0..100).for_each(|n| arrive(&mut playout, n, late(n)));
    let lag = |playout: &Playout, n: u32| playout.time_of(Tick(n)).expect("arrived") - ms(u64::from(n) * 50);
    assert!(lag(&playout, 100) >= ms(90) && lag(&playout, 100) <= ms(101), "{:?}", lag(&playout, 100));
    // Nothing for 3 s, then all of it: what is overdue is due at once, and the lag of before is
    // back.
    let back = ms(160 * 50);
    playout.arrived(Tick(100), Tick(160), back);
    assert!(playout.time_of(Tick(130)).expect("arrived") < back);
    (160..260).for_each(|n| arrive(&mut playout, n, 30));
    assert!(lag(&playout, 260) <= ms(60), "{:?}", lag(&playout, 260));
}
