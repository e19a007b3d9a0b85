//! Two peers in one process, over a network that loses 30 % of all packets: commands travel,
//! worlds stay equal.
//!
//! `cargo run -p lockstone --example party` plays ten seconds of virtual time in a moment.

use std::time::Duration;

use lockstone::net::memory::{Driver, MemoryNetwork, Weather};
use lockstone::net::session::Phase;
use lockstone::net::{Identity, Party, PartyConfig, Session};
use lockstone::sim::codec::{self, CodecError};
use lockstone::sim::{Checksum, Input, PlayerId, Simulation, Tick, Turn, mix64};

/// A game with its own state: everyone has a lamp of some brightness. Ten lines of rules, the
/// rest is the seam.
#[derive(Clone)]
struct Lamps {
    tick: Tick,
    lamps: Vec<(PlayerId, u32)>,
}

impl Simulation for Lamps {
    type Command = u32;
    type Hero = ();
    type Join = ();
    type Request = ();
    type Given = lockstone::sim::Nothing;
    type Snapshot = Lamps;

    fn step(&mut self, turn: &Turn<Self>) {
        for input in &turn.inputs {
            match input {
                Input::Join(player, ()) => self.lamps.push((*player, 0)),
                Input::Leave(player) => self.lamps.retain(|(owner, _)| owner != player),
                Input::Command(player, by) => {
                    let own = self.lamps.iter_mut().filter(|(owner, _)| owner == player);
                    own.for_each(|(_, brightness)| *brightness = brightness.wrapping_mul(31).wrapping_add(*by));
                }
                // A lamp keeps nobody's place: there is no `away_ticks`.
                Input::Request(()) | Input::Away(_) | Input::Back(_) => {}
                Input::Given(nothing) => match *nothing {},
            }
        }
        self.tick = self.tick.next();
    }

    fn checksum(&mut self) -> Checksum {
        let lamps = self.lamps.iter().map(|(player, brightness)| u64::from(player.0) << 32 | u64::from(*brightness));
        Checksum(lamps.fold(self.tick.0.into(), |sum, lamp| mix64(sum ^ mix64(lamp))))
    }

    fn tick(&self) -> Tick {
        self.tick
    }

    fn requests(&self) -> &[()] {
        &[]
    }

    fn admit(&self, _player: PlayerId, _hero: ()) {}

    fn snapshot(&mut self) -> Lamps {
        self.clone()
    }

    fn restore(&mut self, snapshot: &Lamps) {
        self.clone_from(snapshot);
    }

    fn encode(&self, snapshot: &Lamps) -> Vec<u8> {
        codec::compact(&(snapshot.tick, &snapshot.lamps))
    }

    fn decode(&self, bytes: &[u8]) -> Result<Lamps, CodecError> {
        codec::read(bytes, 4_096).map(|(tick, lamps)| Lamps { tick, lamps })
    }
}

fn main() {
    let weather = Weather { loss_permille: 300, ..Weather::clear(Duration::from_millis(40)) };
    let mut driver = Driver::new(MemoryNetwork::new(1, weather));
    let identity = Identity { rules: 1, table: lockstone::default_table().digest(), config: 0 };
    for name in ["Ada", "Bram"] {
        let build = |_seed| Lamps { tick: Tick(0), lamps: Vec::new() };
        driver.enter(Party::new(PartyConfig::default(), identity, name, (), build).expect("the names are short"));
    }
    for second in 1..=10u32 {
        driver.run_until(Duration::from_secs(second.into()));
        for seat in driver.seats.iter_mut().filter(|seat| seat.session.phase() == Phase::Playing) {
            seat.session.command(second * 7).expect("few commands wait");
        }
    }
    driver.run_until(Duration::from_secs(12));
    for seat in &driver.seats {
        let stats = seat.session.stats();
        let lamps = seat.session.simulation().map(|sim| sim.lamps.clone()).unwrap_or_default();
        println!(
            "tick {}: {lamps:?}, {} commands sent, {} bytes out, {} checksums compared, {} differed",
            stats.tick, stats.commands_sent, stats.traffic.bytes_out, stats.checksums_compared, stats.desyncs
        );
        assert!(stats.checksums_compared > 0 && stats.desyncs == 0);
    }
}
