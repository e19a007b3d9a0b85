//! A relay, and a party, through more joins and leaves than there are numbers for players.
//!
//! `JOINS=1000000 cargo test --release -p lockstone-net --test months -- --nocapture` tells, for
//! each tenth of them, what a tick took and how much memory was in use.

use core::time::Duration;
use std::collections::BTreeMap;
use std::time::Instant;

use lockstone_net::link::{Channel, LinkEvent, PeerId};
use lockstone_net::party::{Party, PartyConfig, PartySettings};
use lockstone_net::relay::{Relay, RelayConfig, RelaySettings};
use lockstone_net::session::{Event, Session};
use lockstone_net::wire::{
    self, Epoch, Hello, LeaveReason, Message, Name, PROTOCOL_VERSION, RawGiven, RawInput, Report, Stamp, Terms,
};
use lockstone_sim::codec::compact;
use lockstone_sim::{Fx, PlayerId};
use peak_alloc::PeakAlloc;
use testkit::mixer::Mixer;
use testkit::sessions::IDENTITY;
use testkit::storm::{self, Storm};
use testkit::{ms, seeds};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const WORLD: storm::Weather =
    storm::Weather { seed: 3, cells: 12, cell_log2: 3, reach: Fx::int(6), stride: Fx::ONE, light: 2, players: 8 };
const PERIOD: Duration = ms(50);
/// A replica that plays nothing: it says what it must so that its hero enters.
#[derive(Default)]
struct Guest {
    player: Option<PlayerId>,
    /// Of what is loading, and how much of it there is if that was said at the beginning.
    received: u32,
    awaited: u32,
    known: lockstone_sim::Tick,
    reports: u32,
    /// All of what was loading is here, and that was not said yet.
    loaded: bool,
    placed: bool,
    entered: bool,
}

impl Guest {
    fn enters_with(&self, inputs: &[RawInput]) -> bool {
        inputs.iter().any(|input| matches!(input, RawInput::Join(player, ..) if Some(*player) == self.player))
    }

    fn answer(&mut self, is_ready: bool) -> Message {
        if is_ready {
            return Message::Ready;
        }
        self.reports += 1;
        let stamp = Stamp { number: self.reports, echo: None };
        Message::Report(Report { stamp, known: self.known, ..Report::default() })
    }
}

struct Room<T> {
    session: T,
    terms: Terms,
    hero: Vec<u8>,
    /// So many come at once.
    guests_max: usize,
    now: Duration,
    guests: BTreeMap<PeerId, Guest>,
    joined: u64,
    arrivals: u128,
}

impl Room<Relay<Storm>> {
    fn of_relay() -> Self {
        let settings = RelaySettings {
            players_max: 64,
            seed: WORLD.seed,
            enter_rings: 1,
            leave_rings: 1,
            ahead_rings: 1,
            ..RelaySettings::default()
        };
        let config = RelayConfig::new(settings).expect("the settings are in range");
        let relay = Relay::dedicated(config.clone(), IDENTITY, |_| WORLD.world());
        Room::new(relay, config.terms(IDENTITY), compact(&()), 32)
    }
}

impl Room<Party<Mixer>> {
    fn of_party() -> Self {
        let config = PartyConfig::new(PartySettings::default()).expect("the settings are in range");
        let terms = config.terms(IDENTITY);
        let party = Party::new(config, IDENTITY, "Ann", (7, 9), |seed| Mixer::new(seed, 8)).expect("the name is fine");
        Room::new(party, terms, compact(&(7, 9)), 7)
    }
}

impl<T: Session> Room<T> {
    fn new(mut session: T, terms: Terms, hero: Vec<u8>, guests_max: usize) -> Self {
        session.handle(LinkEvent::Entered(PeerId(7)), Duration::ZERO);
        let (now, guests) = (Duration::ZERO, BTreeMap::new());
        Room { session, terms, hero, guests_max, now, guests, joined: 0, arrivals: 0 }
    }

    /// One tick: somebody comes for each who is missing, all say what they have to say, and whose
    /// hero has entered is gone.
    fn tick(&mut self) {
        while self.guests.len() < self.guests_max {
            self.arrivals += 1;
            let peer = PeerId(self.arrivals << 64);
            self.session.handle(LinkEvent::Connected(peer), self.now);
            let name = Name::new("Ann").expect("a name");
            let hero = self.hero.clone().try_into().expect("it is small");
            let hello = Hello {
                protocol: PROTOCOL_VERSION,
                terms: self.terms,
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
        self.session.advance(self.now);
        while let Some(packet) = self.session.poll_transmit() {
            let (_, message) = wire::decode(&packet.bytes).expect("a session sends messages");
            self.hear(packet.to, message);
        }
        while let Some(event) = self.session.poll_event() {
            if let Event::Refused { refusal, .. } = event {
                panic!("after {} joins: {refusal}", self.joined);
            }
        }
        let gone: Vec<_> = self.guests.iter().filter(|(_, guest)| guest.entered).map(|(peer, _)| *peer).collect();
        for peer in gone {
            self.guests.remove(&peer);
            self.say(peer, &Message::Bye(LeaveReason::Left));
            self.session.handle(LinkEvent::Disconnected(peer), self.now);
            self.joined += 1;
        }
    }

    fn say(&mut self, from: PeerId, message: &Message) {
        let bytes = wire::encode(Epoch::default(), message);
        self.session.handle(LinkEvent::Packet { from, channel: Channel::Reliable, bytes }, self.now);
    }

    fn hear(&mut self, peer: PeerId, message: Message) {
        let Some(guest) = self.guests.get_mut(&peer) else { return };
        let answer = match message {
            Message::Welcome(welcome) => {
                guest.player = Some(welcome.player);
                guest.known = welcome.tick;
                guest.awaited = welcome.snapshot_bytes;
                return;
            }
            Message::Load(load) => {
                guest.received = load.first.len() as u32;
                Message::ChunkAck(guest.received)
            }
            Message::Chunk(chunk) => {
                guest.received += chunk.len() as u32;
                guest.loaded = guest.received == guest.awaited;
                Message::ChunkAck(guest.received)
            }
            Message::Turns(turns) => {
                guest.known = guest.known.max(turns.end());
                guest.entered |= turns.turns.iter().any(|(_, turn)| guest.enters_with(turn));
                let is_ready = core::mem::take(&mut guest.loaded);
                guest.answer(is_ready)
            }
            Message::Frames(frames) => {
                guest.known = guest.known.max(frames.end());
                let mut placed = false;
                for (_, frame) in frames.turns.iter() {
                    let places = |given: &RawGiven| matches!(given, RawGiven::Area(area, _) if !area.core.is_empty());
                    placed |= frame.given.iter().any(places);
                    guest.entered |= guest.enters_with(&frame.inputs);
                }
                let is_ready = placed && !core::mem::replace(&mut guest.placed, true);
                guest.answer(is_ready)
            }
            _ => return,
        };
        self.say(peer, &answer);
    }
}

impl<T: Session> Room<T> {
    fn lets_all_in_and_nothing_grows(mut self) {
        let joins = seeds::number("JOINS").unwrap_or(80_000);
        let mut tenths = Vec::new();
        let (mut started, mut ticks) = (Instant::now(), 0);
        while self.joined < joins {
            self.tick();
            ticks += 1;
            if self.joined * 10 / joins > tenths.len() as u64 {
                let memory = MEMORY.current_usage();
                println!(
                    "{} joins: {:.1} µs a tick, {} KiB",
                    self.joined,
                    started.elapsed().as_micros() as f64 / f64::from(ticks),
                    memory / 1024
                );
                tenths.push(memory);
                (started, ticks) = (Instant::now(), 0);
            }
        }
        let stats = self.session.stats();
        assert_eq!(stats.drops.total(), 0, "{:?}", stats.drops);
        assert!(stats.players.len() <= 2 * self.guests_max, "{} players are left", stats.players.len());
        // Once all numbers were given: tables by number have grown as long as they can be.
        let (settled, end) = (tenths[tenths.len() - 2], tenths[tenths.len() - 1]);
        assert!(end <= settled + 256 * 1024, "{settled} bytes have become {end}");
    }
}

/// One after the other, as they measure the memory of the process.
#[test]
fn nobody_is_refused_and_nothing_grows() {
    Room::of_relay().lets_all_in_and_nothing_grows();
    Room::of_party().lets_all_in_and_nothing_grows();
}
