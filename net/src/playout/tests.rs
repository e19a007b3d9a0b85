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

#[test]
fn turns_that_came_on_another_way_make_no_delay_afterwards() {
    let lag_after = |on_another_way: bool| {
        let mut playout = Playout::new(ms(50));
        let at = |n: u32, late: u64| ms(u64::from(n) * 50 + late);
        (0..100).for_each(|n| playout.arrived(Tick(n), Tick(n + 1), at(n, 30)));
        for n in (100..160).step_by(4) {
            let (first, end, now) = (Tick(n), Tick(n + 4), at(n, 900));
            if on_another_way { playout.caught_up(first, end, now) } else { playout.arrived(first, end, now) }
        }
        (180..184).for_each(|n| playout.arrived(Tick(n), Tick(n + 1), at(n, 30)));
        playout.time_of(Tick(184)).expect("arrived") - at(184, 0)
    };
    assert!(lag_after(true) <= ms(50), "{:?}", lag_after(true));
    assert!(lag_after(false) > ms(500), "the control: {:?}", lag_after(false));
}
