//! Every replica's core is the relay's, to the bit.

use lockstone_net::memory::Weather;
use lockstone_net::relay::RelaySettings;
use testkit::relay::*;
use testkit::sessions::*;

#[test]
fn cores_equal_the_whole_world_at_every_tick() {
    let line = Weather { jitter: ms(20), loss_permille: 50, ..Weather::clear(ms(40)) };
    let mut scene = Scene::new(1, STORM, RelaySettings::default(), line);
    for _ in 0..12 {
        scene.enter();
    }
    scene.run_until(secs(3));
    assert_eq!(scene.playing(), 12);
    scene.play(secs(60), 30);
    let stats = scene.stats();
    println!("{} cells compared, {} checksums, {:?}", scene.cells_compared, stats.checksums_compared, stats.drops);
    assert_eq!(stats.desyncs, 0);
    assert!(stats.checksums_compared >= 12 * 50, "{}", stats.checksums_compared);
    assert_eq!(scene.playing(), 12);
}
