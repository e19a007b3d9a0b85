//! A hub and many others in one process: who is connected with whom, and what thousands cost.

use core::time::Duration;
use std::collections::VecDeque;
use std::time::Instant;

use lockstone_net::memory::{Carried, Driver, MemoryLink, MemoryNetwork, Seat, Weather};
use lockstone_net::party::{Party, PartySettings};
use lockstone_net::session::{CommandError, Event, EvidenceError, Phase, SayError, Session, Stats, Transmit};
use lockstone_net::{Channel, Link, LinkError, LinkEvent, PeerId};
use testkit::sessions::{Mixer, ms, party, playing, secs};

const DELAY: Duration = Duration::from_millis(10);

fn hub() -> MemoryNetwork {
    MemoryNetwork::hub(1, Weather::clear(DELAY))
}

/// Lets a time pass from the start of the network, and takes what each has to poll.
fn at<const N: usize>(network: &MemoryNetwork, time: u64, links: [&mut MemoryLink; N]) -> [Vec<LinkEvent>; N] {
    network.advance(ms(time));
    links.map(all)
}

fn all(link: &mut MemoryLink) -> Vec<LinkEvent> {
    // Each connection is secured as it begins.
    core::iter::from_fn(|| link.poll()).filter(|event| !matches!(event, LinkEvent::Secured { .. })).collect()
}

fn packet(from: &MemoryLink, byte: u8) -> LinkEvent {
    LinkEvent::Packet { from: from.peer(), channel: Channel::Unreliable, bytes: vec![byte] }
}

fn say(from: &mut MemoryLink, to: &MemoryLink, byte: u8) {
    from.send(to.peer(), Channel::Unreliable, vec![byte]);
}

#[test]
fn only_the_hub_is_connected_with_the_others() {
    let network = hub();
    let (mut h, mut a, mut b) = (network.enter(), network.enter(), network.enter());
    assert_eq!([h.peer(), a.peer(), b.peer()].map(PeerId::arrival), [0, 1, 2]);
    let connected = |link: &MemoryLink| LinkEvent::Connected(link.peer());
    let told = at(&network, 10, [&mut h, &mut a, &mut b]);
    assert_eq!(told[0][1..], [connected(&a), connected(&b)]);
    assert_eq!((&told[1][1..], &told[2][1..]), (&[connected(&h)][..], &[connected(&h)][..]));
    say(&mut a, &h, 1);
    say(&mut h, &b, 2);
    say(&mut a, &b, 3);
    // Neither weather nor a mended way connects who is not connected.
    network.set_direction(a.peer(), b.peer(), Some(Weather::clear(DELAY)));
    network.set_cut(a.peer(), b.peer(), false);
    say(&mut a, &b, 4);
    let told = at(&network, 20, [&mut h, &mut a, &mut b]);
    assert_eq!(told, [vec![packet(&a, 1)], vec![], vec![packet(&h, 2)]]);
    assert_eq!(network.carried(a.peer(), b.peer()), Carried::default());
    assert_eq!(network.carried(a.peer(), h.peer()), Carried { packets: 1, bytes: 1 });
    assert_eq!(network.carried_in_all(), Carried { packets: 2, bytes: 2 });
}

#[test]
fn who_leaves_is_missed_by_the_hub_alone() {
    let network = hub();
    let (mut h, mut a, b, mut c) = (network.enter(), network.enter(), network.enter(), network.enter());
    at(&network, 10, [&mut h, &mut a, &mut c]);
    let gone = b.peer();
    drop(b);
    network.drop_peer(c.peer());
    let told = at(&network, 20, [&mut h, &mut a, &mut c]);
    let closed = LinkEvent::Closed(LinkError::Ended("dropped by the network".into()));
    assert_eq!(told[0], [LinkEvent::Disconnected(gone), LinkEvent::Disconnected(c.peer())]);
    assert_eq!((&told[1][..], &told[2][..]), (&[][..], &[closed][..]));
}

#[test]
fn weather_and_cuts_hold_for_a_direction() {
    let network = hub();
    let (mut h, mut a, mut b) = (network.enter(), network.enter(), network.enter());
    at(&network, 10, [&mut h, &mut a, &mut b]);
    network.set_direction(h.peer(), a.peer(), Some(Weather::clear(DELAY * 3)));
    network.set_cut(h.peer(), b.peer(), true);
    for (to, byte) in [(&a, 1), (&b, 2)] {
        say(&mut h, to, byte);
    }
    say(&mut a, &h, 3);
    say(&mut b, &h, 4);
    assert_eq!(at(&network, 20, [&mut h, &mut a, &mut b]), [vec![packet(&a, 3)], vec![], vec![]]);
    assert_eq!(at(&network, 40, [&mut h, &mut a, &mut b]), [vec![], vec![packet(&h, 1)], vec![]]);
    network.set_cut(h.peer(), b.peer(), false);
    say(&mut h, &b, 5);
    assert_eq!(at(&network, 50, [&mut h, &mut a, &mut b]), [vec![], vec![], vec![packet(&h, 5)]]);
}

#[test]
fn a_hub_that_is_gone_is_followed_by_another() {
    let network = hub();
    let (h, mut a) = (network.enter(), network.enter());
    at(&network, 10, [&mut a]);
    let old = h.peer();
    drop(h);
    let mut b = network.enter();
    let [a_told, b_told] = at(&network, 20, [&mut a, &mut b]);
    assert_eq!((a_told, b_told), (vec![LinkEvent::Disconnected(old)], vec![LinkEvent::Entered(b.peer())]));
    let mut next = network.enter_as_hub();
    assert_eq!((b.peer().arrival(), next.peer().arrival()), (2, 0));
    assert_ne!(next.peer(), old);
    let told = at(&network, 30, [&mut a, &mut b, &mut next]);
    let connected = LinkEvent::Connected(next.peer());
    assert_eq!((&told[0][..], &told[1][..]), (&[connected.clone()][..], &[connected][..]));
    assert_eq!(told[2].len(), 3);
    // A hub that is still there makes way.
    let third = network.enter_as_hub();
    let [a_told, h_told] = at(&network, 40, [&mut a, &mut next]);
    assert_eq!(a_told, [LinkEvent::Disconnected(next.peer()), LinkEvent::Connected(third.peer())]);
    assert!(matches!(h_told.last(), Some(LinkEvent::Closed(_))));
}

/// Visits everyone whenever anything happens.
fn visit_all(network: &MemoryNetwork, seats: &mut [Seat<Party<Mixer>>], mut now: Duration, end: Duration) {
    while now <= end {
        network.advance(now);
        seats.iter_mut().for_each(|seat| seat.visit(now));
        let wakes = seats.iter().map(|seat| seat.session.wake_at());
        now = wakes.chain(network.next_arrival()).min().expect("sessions never end").max(now);
    }
}

/// The driver passes over those whom nothing concerns. What happens is the same.
#[test]
fn who_is_passed_over_misses_nothing() {
    const WEATHER: Weather = Weather {
        delay: Duration::from_millis(40),
        jitter: Duration::from_millis(30),
        loss_permille: 50,
        duplicate_permille: 20,
        reorder_permille: 20,
        line_bytes_per_s: None,
    };
    let name = |n: usize| party(PartySettings::default(), &format!("player {n}"));
    let all = MemoryNetwork::hub(7, WEATHER);
    let seat = |n| {
        let link = all.enter();
        Seat::new(name(n), link.peer(), link)
    };
    let mut seats: Vec<_> = (0..6).map(seat).collect();
    let mut plain = Driver::new(MemoryNetwork::hub(7, WEATHER));
    let mut hub = Driver::with_hub(MemoryNetwork::hub(7, WEATHER), name(0), |link| link);
    plain.enter(name(0));
    for n in 1..6 {
        assert_eq!(plain.enter(name(n)), hub.enter(name(n)) + 1);
    }
    visit_all(&all, &mut seats, Duration::ZERO, secs(5));
    plain.run_until(secs(5));
    hub.run_until(secs(5));
    for n in 0..40u64 {
        let seat = n as usize % 6;
        seats[seat].session.command(n).unwrap();
        plain.seats[seat].session.command(n).unwrap();
        match seat.checked_sub(1) {
            None => hub.hub_mut(),
            Some(seat) => &mut hub.seats[seat],
        }
        .session
        .command(n)
        .unwrap();
        let (now, end) = (plain.now(), secs(5) + ms(70 * n));
        visit_all(&all, &mut seats, now, end);
        plain.run_until(end);
        hub.run_until(end);
    }
    let told = |events: &[Event<Mixer>]| format!("{events:?}");
    for (n, seat) in [hub.hub()].into_iter().chain(&hub.seats).enumerate() {
        assert!(playing(&seat.session));
        assert_eq!(told(&plain.seats[n].events), told(&seat.events), "seat {n}");
        assert_eq!(told(&seats[n].events), told(&seat.events), "seat {n}");
    }
    assert_eq!(all.carried_in_all(), hub.network.carried_in_all());
    assert_eq!(plain.network.carried_in_all(), hub.network.carried_in_all());
    assert_eq!(plain.now(), hub.now());
}

/// Sends to everyone connected, so often.
struct Chatter {
    every: Duration,
    next: Duration,
    peers: Vec<PeerId>,
    heard: u64,
    visits: u64,
    out: VecDeque<Transmit>,
}

impl Chatter {
    fn new(every: Duration) -> Chatter {
        Chatter { every, next: every, peers: Vec::new(), heard: 0, visits: 0, out: VecDeque::new() }
    }
}

impl Session for Chatter {
    type Sim = Mixer;

    fn handle(&mut self, event: LinkEvent, _: Duration) {
        match event {
            LinkEvent::Connected(peer) => self.peers.push(peer),
            LinkEvent::Disconnected(peer) => self.peers.retain(|other| *other != peer),
            LinkEvent::Packet { .. } => self.heard += 1,
            _ => {}
        }
    }

    fn advance(&mut self, now: Duration) {
        self.visits += 1;
        while self.next <= now {
            self.next += self.every;
            let packet = |to: &PeerId| Transmit { to: *to, channel: Channel::Unreliable, bytes: vec![0; 60] };
            self.out.extend(self.peers.iter().map(packet));
        }
    }

    fn poll_transmit(&mut self) -> Option<Transmit> {
        self.out.pop_front()
    }

    fn wake_at(&self) -> Duration {
        self.next
    }

    fn poll_event(&mut self) -> Option<Event<Mixer>> {
        None
    }

    fn command(&mut self, _: u64) -> Result<(), CommandError> {
        Err(CommandError::NotPlaying)
    }

    fn say(&mut self, _: &str) -> Result<(), SayError> {
        Ok(())
    }

    fn give_evidence(&mut self, _: Vec<u8>) -> Result<(), EvidenceError> {
        Err(EvidenceError::NotWanted)
    }

    fn leave(&mut self, _: Duration) {}

    fn simulation(&self) -> Option<&Mixer> {
        None
    }

    fn phase(&self) -> Phase {
        Phase::Connecting
    }

    fn stats(&self) -> Stats {
        Stats::default()
    }
}

fn chatters(count: usize, weather: Weather) -> Driver<Chatter> {
    let mut driver = Driver::with_hub(MemoryNetwork::hub(1, weather), Chatter::new(ms(50)), |link| link);
    // Each in its own phase, as players are.
    for n in 0..count {
        let mut chatter = Chatter::new(ms(50));
        chatter.next += Duration::from_micros(n as u64 * 50_000 / count as u64);
        driver.enter(chatter);
    }
    driver
}

#[test]
fn only_those_whom_it_concerns_are_visited() {
    let mut driver = chatters(200, Weather::clear(DELAY));
    driver.run_until(secs(1) + ms(5));
    let sent = driver.network.carried_in_all().packets;
    assert_eq!(sent, 20 * 200 + 19 * 200 + 21, "phases 0 to 5 ms have sent once more");
    for seat in &driver.seats {
        // Once to begin with, then for every packet that it sends or gets at the most.
        assert!(seat.session.visits <= 1 + 1 + 20 + 20, "{}", seat.session.visits);
        assert!(seat.session.heard >= 19);
    }
}

#[test]
fn a_frozen_seat_stands_still_and_goes_on() {
    let mut driver = chatters(3, Weather::clear(DELAY));
    driver.run_until(ms(500));
    driver.seats[1].freeze(ms(1_500));
    driver.run_until(ms(1_490));
    let [frozen, other] = [1, 2].map(|n| driver.seats[n].session.heard);
    assert!(frozen <= 10 && other >= 28, "{frozen}, {other}");
    driver.run_until(ms(1_500));
    assert_eq!(driver.seats[1].session.heard, driver.seats[2].session.heard, "its mail has waited");
}

#[test]
fn seats_empty_and_hubs_change() {
    let mut driver = chatters(3, Weather::clear(DELAY));
    driver.run_until(ms(200));
    drop(driver.seats.remove(1));
    assert_eq!(driver.enter(Chatter::new(ms(50))), 2);
    driver.run_until(ms(300));
    assert_eq!(driver.hub().session.peers.len(), 3);
    let old = driver.replace_hub(Chatter::new(ms(50)), |link| link).expect("it was there");
    assert_eq!(old.session.peers.len(), 3);
    drop(old);
    driver.run_until(ms(400));
    let hub = driver.hub().peer;
    assert_eq!(driver.hub().session.peers.len(), 3);
    assert_eq!(driver.seats.iter().map(|seat| &seat.session.peers[..]).collect::<Vec<_>>(), [[hub]; 3]);
}

/// `cargo test --release -p lockstone-net --no-default-features --test hub -- --ignored
/// --nocapture`
#[test]
#[ignore = "measures"]
fn what_a_packet_costs() {
    let weather = Weather { jitter: ms(40), loss_permille: 20, ..Weather::clear(ms(50)) };
    for count in [100, 1_000, 5_000] {
        let mut driver = chatters(count, weather);
        driver.run_until(ms(500));
        let before = driver.network.carried_in_all().packets;
        let started = Instant::now();
        driver.run_until(ms(500) + secs(10));
        let packets = driver.network.carried_in_all().packets - before;
        let each = started.elapsed().as_nanos() / u128::from(packets);
        println!("{count} peers, 10 s: {packets} packets in {:?}, {each} ns each", started.elapsed());
    }
}
