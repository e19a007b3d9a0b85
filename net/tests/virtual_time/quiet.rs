//! No false alarm: healthy parties on a network that loses packets, with peers that come and go,
//! never find a difference, and never ask for evidence or send any. `SEEDS=1000` plays a thousand
//! of them, `SEED=17` one.

use core::cell::RefCell;
use std::rc::Rc;

use lockstone_net::memory::{Driver, MemoryNetwork, Weather};
use lockstone_net::party::{Party, PartySettings};
use lockstone_net::session::{Event, Session, Transmit};
use lockstone_net::wire::{self, Message};
use lockstone_sim::Tick;
use testkit::seeds;
use testkit::sessions::tap::Tap;
use testkit::sessions::*;

const SECONDS: u64 = 120;
const PEERS_MAX: u64 = 6;

/// What could alarm anybody, of all peers, and what shows that there was something to
/// be alarmed about.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
struct Heard {
    desyncs: u64,
    inquiries: u64,
    /// Packets of the exchange of evidence.
    packets: u64,
    joins: u64,
    leaves: u64,
    compared: u64,
}

impl Heard {
    fn is_quiet(&self) -> bool {
        (self.desyncs, self.inquiries, self.packets) == (0, 0, 0)
    }

    fn and(self, other: Heard) -> Heard {
        Heard {
            desyncs: self.desyncs + other.desyncs,
            inquiries: self.inquiries + other.inquiries,
            packets: self.packets + other.packets,
            joins: self.joins + other.joins,
            leaves: self.leaves + other.leaves,
            compared: self.compared + other.compared,
        }
    }

    fn events(&mut self, events: &[Event<Mixer>]) {
        for event in events {
            match event {
                Event::Desync { .. } => self.desyncs += 1,
                Event::EvidenceWanted { .. } => self.inquiries += 1,
                _ => {}
            }
        }
    }
}

/// A party whose peers come and go, and what was heard of it.
struct Play {
    driver: Driver<Party<Mixer>, Tap>,
    settings: PartySettings,
    heard: Heard,
    packets: Rc<RefCell<u64>>,
    past: Vec<Played>,
}

impl Play {
    fn new(seed: u64) -> Play {
        let weather = Weather { jitter: ms(50), loss_permille: 50, ..Weather::clear(ms(40)) };
        let driver = Driver::new(MemoryNetwork::new(seed, weather));
        let settings = PartySettings { seed, ..PartySettings::default() };
        Play { driver, settings, heard: Heard::default(), packets: Rc::default(), past: Vec::new() }
    }

    fn enter(&mut self, fault: Option<Tick>) {
        let (packets, name) = (self.packets.clone(), format!("peer {}", self.heard.joins));
        let party =
            party_of(self.settings.clone(), IDENTITY, &name, move |seed| Mixer::new(seed, 64).with_fault(fault));
        self.driver.enter_by(party, |link| {
            Tap::new(link, move |packet: Transmit| {
                let message = wire::decode(&packet.bytes).map(|(_, message)| message);
                let is_evidence = matches!(message, Ok(Message::Inquiry(_) | Message::Parcel(_) | Message::Desync(_)));
                *packets.borrow_mut() += u64::from(is_evidence);
                Some(packet)
            })
        });
        self.heard.joins += 1;
    }

    /// One who is not the founder goes: half of them say so, half just break away.
    fn leave(&mut self, dice: &mut Dice) {
        let seat = 1 + dice.roll(self.driver.seats.len() as u64 - 1) as usize;
        if dice.roll(2) == 0 {
            let now = self.driver.now();
            self.driver.seats[seat].session.leave(now);
            self.driver.run_until(now + ms(1));
        }
        let gone = self.driver.seats.remove(seat);
        self.heard.compared += gone.session.stats().checksums_compared;
        self.heard.events(&gone.events);
        self.past.push(Played::of(&gone.events));
        self.heard.leaves += 1;
    }

    fn go_on(&mut self, dice: &mut Dice) {
        let seats = self.driver.seats.len() as u64;
        match dice.roll(100) {
            0..5 if seats < PEERS_MAX => self.enter(None),
            5..9 if seats > 2 => self.leave(dice),
            _ => {
                let seat = dice.roll(seats) as usize;
                // Refused as long as its hero is not in the world.
                let _ = self.driver.seats[seat].session.command(dice.roll(1 << 40));
            }
        }
        let until = self.driver.now() + ms(20 + dice.roll(400));
        self.driver.run_until(until);
    }

    fn heard(&self) -> Heard {
        let mut heard = Heard { packets: *self.packets.borrow(), ..self.heard };
        for seat in &self.driver.seats {
            heard.compared += seat.session.stats().checksums_compared;
            heard.events(&seat.events);
        }
        heard
    }

    /// All played the same: it was right to be quiet.
    fn was_equal(&self, context: &str) {
        let founder = Played::of(&self.driver.seats[0].events);
        for seat in &self.driver.seats {
            assert!(!seat.session.simulation().is_some_and(|simulation| simulation.nonsense), "{context}");
            assert_same(&founder, &Played::of(&seat.events), context);
        }
        for played in &self.past {
            assert_same(&founder, played, context);
        }
    }
}

/// Two minutes of a party. The world of the second peer goes wrong at a tick, if asked.
fn play(seed: u64, fault: Option<Tick>) -> Play {
    let (mut play, mut dice) = (Play::new(seed), Dice(seed));
    play.enter(None);
    play.enter(fault);
    while play.driver.now() < secs(SECONDS) {
        play.go_on(&mut dice);
    }
    play
}

#[test]
fn parties_in_step_raise_no_alarm() {
    let all = seeds::each("-p lockstone-net --test virtual_time quiet::", 12, |seed| {
        let play = play(seed, None);
        let (heard, context) = (play.heard(), format!("seed {seed}"));
        assert!(heard.is_quiet(), "{context}: {heard:?}");
        assert!(heard.joins > 2 && heard.leaves > 0 && heard.compared > 400, "{context}: {heard:?}");
        play.was_equal(&context);
        heard
    });
    let sum = all.iter().fold(Heard::default(), |sum, heard| sum.and(*heard));
    println!("{} parties of {SECONDS} s: {sum:?}", all.len());
}

#[test]
fn a_party_of_which_one_goes_wrong_is_not_quiet() {
    let heard = play(3, Some(Tick(150))).heard();
    assert!(heard.desyncs >= 2 && heard.inquiries >= 2 && heard.packets >= 2, "{heard:?}");
}
