//! A relay through more joins and leaves than there are numbers for players.
//!
//! `JOINS=1000000 cargo test --release -p lockstone-net --test months -- --nocapture` tells, for
//! each tenth of them, what a tick took and how much memory was in use.

use core::time::Duration;
use std::collections::BTreeMap;
use std::time::Instant;

use lockstone_net::link::{Channel, LinkEvent, PeerId};
use lockstone_net::relay::{Relay, RelayConfig, RelaySettings};
use lockstone_net::session::{Event, Session};
use lockstone_net::wire::{self, Epoch, Hello, Message, Name, PROTOCOL_VERSION, RawGiven, RawInput, Report, Stamp};
use lockstone_sim::{Fx, PlayerId};
use peak_alloc::PeakAlloc;
use testkit::sessions::IDENTITY;
use testkit::storm::{self, Storm};
use testkit::{ms, seeds};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const WORLD: storm::Weather =
    storm::Weather { seed: 3, cells: 12, cell_log2: 3, reach: Fx::int(6), stride: Fx::ONE, light: 2, players: 8 };
const PERIOD: Duration = ms(50);
/// So many come at once.
const GUESTS: u128 = 32;

/// A replica that plays nothing: it says what it must so that its hero enters.
#[derive(Default)]
struct Guest {
    player: Option<PlayerId>,
    /// Of what is loading.
    received: u32,
    known: lockstone_sim::Tick,
    reports: u32,
    placed: bool,
    entered: bool,
}

struct Room {
    relay: Relay<Storm>,
    config: RelayConfig,
    now: Duration,
    guests: BTreeMap<PeerId, Guest>,
    joined: u64,
    arrivals: u128,
}

impl Room {
    fn new() -> Room {
        let settings = RelaySettings {
            players_max: 64,
            seed: WORLD.seed,
            enter_rings: 1,
            leave_rings: 1,
            ahead_rings: 1,
            ..RelaySettings::default()
        };
        let config = RelayConfig::new(settings).expect("the settings are in range");
        let mut relay = Relay::dedicated(config.clone(), IDENTITY, |_| WORLD.world());
        relay.handle(LinkEvent::Entered(PeerId(7)), Duration::ZERO);
        Room { relay, config, now: Duration::ZERO, guests: BTreeMap::new(), joined: 0, arrivals: 0 }
    }

    /// One tick: somebody comes for each who is missing, all say what they have to say, and whose
    /// hero has entered is gone.
    fn tick(&mut self) {
        while (self.guests.len() as u128) < GUESTS {
            self.arrivals += 1;
            let peer = PeerId(self.arrivals << 64);
            self.relay.handle(LinkEvent::Connected(peer), self.now);
            let (name, hero) = (Name::new("Ann").expect("a name"), lockstone_sim::codec::compact(&()));
            let hero = hero.try_into().expect("it is small");
            let hello = Hello {
                protocol: PROTOCOL_VERSION,
                terms: self.config.terms(IDENTITY),
                name,
                hero,
                key: None,
                promised: Epoch(0),
                attempt: 0,
            };
            self.say(peer, &Message::Hello(hello));
            self.guests.insert(peer, Guest::default());
        }
        self.now += PERIOD;
        self.relay.advance(self.now);
        while let Some(packet) = self.relay.poll_transmit() {
            let (_, message) = wire::decode(&packet.bytes).expect("a relay sends messages");
            self.hear(packet.to, message);
        }
        while let Some(event) = self.relay.poll_event() {
            if let Event::Refused { refusal, .. } = event {
                panic!("after {} joins: {refusal}", self.joined);
            }
        }
        let gone: Vec<_> = self.guests.iter().filter(|(_, guest)| guest.entered).map(|(peer, _)| *peer).collect();
        for peer in gone {
            self.guests.remove(&peer);
            self.relay.handle(LinkEvent::Disconnected(peer), self.now);
            self.joined += 1;
        }
    }

    fn say(&mut self, from: PeerId, message: &Message) {
        let bytes = wire::encode(Epoch::default(), message);
        self.relay.handle(LinkEvent::Packet { from, channel: Channel::Reliable, bytes }, self.now);
    }

    fn hear(&mut self, peer: PeerId, message: Message) {
        let Some(guest) = self.guests.get_mut(&peer) else { return };
        let answer = match message {
            Message::Welcome(welcome) => {
                guest.player = Some(welcome.player);
                guest.known = welcome.tick;
                return;
            }
            Message::Load(load) => {
                guest.received = load.first.len() as u32;
                Message::ChunkAck(guest.received)
            }
            Message::Chunk(chunk) => {
                guest.received += chunk.len() as u32;
                Message::ChunkAck(guest.received)
            }
            Message::Frames(frames) => {
                guest.known = guest.known.max(frames.end());
                let mut placed = false;
                for (_, frame) in frames.turns.iter() {
                    let places = |given: &RawGiven| matches!(given, RawGiven::Area(area, _) if !area.core.is_empty());
                    placed |= frame.given.iter().any(places);
                    let own =
                        |input: &RawInput| matches!(input, RawInput::Join(player, ..) if Some(*player) == guest.player);
                    guest.entered |= frame.inputs.iter().any(own);
                }
                if placed && !core::mem::replace(&mut guest.placed, true) {
                    Message::Ready
                } else {
                    guest.reports += 1;
                    let stamp = Stamp { number: guest.reports, echo: None };
                    Message::Report(Report { stamp, known: guest.known, ..Report::default() })
                }
            }
            _ => return,
        };
        self.say(peer, &answer);
    }
}

#[test]
fn nobody_is_refused_and_nothing_grows() {
    let joins = seeds::number("JOINS").unwrap_or(80_000);
    let mut room = Room::new();
    let mut tenths = Vec::new();
    let (mut started, mut ticks) = (Instant::now(), 0);
    while room.joined < joins {
        room.tick();
        ticks += 1;
        if room.joined * 10 / joins > tenths.len() as u64 {
            let memory = MEMORY.current_usage();
            println!(
                "{} joins: {:.1} µs a tick, {} KiB",
                room.joined,
                started.elapsed().as_micros() as f64 / f64::from(ticks),
                memory / 1024
            );
            tenths.push(memory);
            (started, ticks) = (Instant::now(), 0);
        }
    }
    let stats = room.relay.stats();
    assert_eq!(stats.drops.total(), 0, "{:?}", stats.drops);
    assert!(stats.players.len() <= 2 * GUESTS as usize, "{} players are left", stats.players.len());
    // Once all numbers were given: tables by number have grown as long as they can be.
    let (settled, end) = (tenths[tenths.len() - 2], tenths[tenths.len() - 1]);
    assert!(end <= settled + 256 * 1024, "{settled} bytes have become {end}");
}
