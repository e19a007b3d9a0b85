//! For a while nothing arrives: nowhere, in one direction, or between two whom a third hears.
//! Nobody is put out, and soon after it all are in step.

use core::time::Duration;

use lockstone_net::memory::{Driver, MemoryNetwork, Weather};
use lockstone_net::party::{Party, PartySettings};
use lockstone_net::session::{Event, Session, Stats};
use lockstone_sim::{PlayerId, Turn};
use testkit::seeds::{self, spread};
use testkit::sessions::rollback::{commands_of, in_step, play};
use testkit::sessions::*;

const TEST: &str = "-p lockstone-net --test virtual_time outages::";
const DELAY: Duration = ms(50);
const OUTAGE: Duration = secs(3);
const IN_STEP_WITHIN: Duration = secs(2);
/// A replica plays so many ticks after its sequencer: what its way takes, and its jitter buffer.
const BEHIND_TICKS_MAX: u32 = 12;

type Room = Driver<Party<Mixer>>;

/// What does not arrive.
#[derive(Clone, Copy, Debug)]
enum Outage {
    /// Anything.
    Total,
    /// What one says to all others.
    Mute(usize),
    /// What all others say to one.
    Deaf(usize),
    /// What one says to another.
    OneWay(usize, usize),
    /// What two say to each other.
    Apart(usize, usize),
}

impl Outage {
    fn any(dice: &mut Dice, peers: usize) -> Outage {
        let (a, b) = (dice.roll(peers as u64) as usize, dice.roll(peers as u64 - 1) as usize);
        let b = b + usize::from(b >= a);
        match dice.roll(5) {
            0 => Outage::Total,
            1 => Outage::Mute(a),
            2 => Outage::Deaf(a),
            3 => Outage::OneWay(a, b),
            _ => Outage::Apart(a, b),
        }
    }

    fn holds(self, from: usize, to: usize) -> bool {
        match self {
            Outage::Total => true,
            Outage::Mute(one) => from == one,
            Outage::Deaf(one) => to == one,
            Outage::OneWay(a, b) => (from, to) == (a, b),
            Outage::Apart(a, b) => (from, to) == (a, b) || (from, to) == (b, a),
        }
    }

    fn set(self, room: &Room, holds: bool) {
        let peers: Vec<_> = room.seats.iter().map(|seat| seat.peer).collect();
        for (from, a) in peers.iter().enumerate() {
            for (_, b) in peers.iter().enumerate().filter(|(to, _)| self.holds(from, *to) && from != *to) {
                room.network.set_direction_cut(*a, *b, holds);
            }
        }
    }
}

/// All follow the same, and play what was just closed.
fn is_in_step(room: &Room) -> bool {
    let stats: Vec<_> = room.seats.iter().map(|seat| seat.session.stats()).collect();
    let newest = stats.iter().map(|stats| stats.known).max().expect("there are seats");
    let led_by = |stats: &Stats| (stats.epoch, stats.sequencer());
    let follows = |one: &Stats| led_by(one) == led_by(&stats[0]);
    room.seats.iter().all(|seat| playing(&seat.session))
        && stats.iter().all(|stats| follows(stats) && newest.since(stats.settled) <= BEHIND_TICKS_MAX)
}

/// All turns of the session: of one who never had to load the world anew.
fn turns(room: &Room) -> Vec<Turn<Mixer>> {
    let began = |event: &&Event<Mixer>| matches!(event, Event::Started { .. });
    let once = room.seats.iter().find(|seat| seat.events.iter().filter(began).count() == 1);
    Played::of(&once.expect("most have").events).turns.into_values().collect()
}

/// Nothing arrives for so long. Returns how long after it all were in step again, or who was put
/// out.
fn suffer(seed: u64, outage: Option<Outage>, lasts: Duration) -> Result<(Duration, Outage), String> {
    let mut dice = Dice(seed);
    let peers = 3 + dice.roll(3) as usize;
    let settings = PartySettings { players_at_start: peers, seed, ..PartySettings::default() };
    let mut room = Driver::new(MemoryNetwork::new(seed, Weather::clear(DELAY)));
    for n in 0..peers {
        room.enter(party(settings.clone(), &format!("player {n}")));
    }
    let waits = |room: &Room| !room.seats.iter().all(|seat| playing(&seat.session));
    assert!(room.run_while(secs(10), waits), "the players do not get together");
    room.network.set_weather(Weather { jitter: ms(20), loss_permille: 10, ..Weather::clear(DELAY) });
    let before = secs(1) + ms(dice.roll(2_000));
    play(&mut room, &mut dice, before);

    let outage = outage.unwrap_or_else(|| Outage::any(&mut dice, peers));
    outage.set(&room, true);
    play(&mut room, &mut dice, lasts);
    outage.set(&room, false);
    let healed = room.now();
    // The world goes on from what most knew: who led may have closed ticks for nobody.
    let mut known: Vec<_> = room.seats.iter().map(|seat| seat.session.stats().known).collect();
    known.sort();
    let goes_on = |room: &Room| room.seats.iter().all(|seat| seat.session.settled() > known[peers / 2]);
    room.run_while(healed + 3 * IN_STEP_WITHIN, |room| !is_in_step(room) || !goes_on(room));
    let took = room.now() - healed;
    play(&mut room, &mut dice, secs(3));
    // What was given last still comes into a turn.
    let until = room.now() + secs(2);
    room.run_until(until);

    if took > IN_STEP_WITHIN {
        return Err(format!("{outage:?}: in step after {took:?}"));
    }
    let turns = turns(&room);
    for (n, seat) in room.seats.iter().enumerate() {
        let gone = |event: &&Event<Mixer>| matches!(event, Event::PlayerLeft { .. } | Event::PlayerAway { .. });
        if let Some(gone) = seat.events.iter().find(gone) {
            return Err(format!("{outage:?}: seat {n} was told {gone:?}"));
        }
        let (stats, context) = (seat.session.stats(), format!("seed {seed}, {outage:?}, seat {n}"));
        assert_eq!(stats.player, Some(PlayerId(n as u16)), "{context}");
        assert_eq!(stats.commands_pending, 0, "{context}");
        let played: usize = turns.iter().map(|turn| commands_of(turn, PlayerId(n as u16)).count()).sum();
        assert_eq!(played as u64, stats.commands_sent, "{context}: its commands were played, each once");
    }
    in_step(&room, seed);
    Ok((took, outage))
}

#[test]
fn after_an_outage_all_are_in_step_and_nobody_is_put_out() {
    let took =
        seeds::each(TEST, 40, |seed| suffer(seed, None, OUTAGE).unwrap_or_else(|why| panic!("seed {seed}: {why}")));
    let total = |outage: &Outage| matches!(outage, Outage::Total);
    for (what, is_total) in [("total loss", true), ("one way, or between two", false)] {
        let times = took.iter().filter(|(_, outage)| total(outage) == is_total).map(|(took, _)| *took);
        println!("{what}: in step again, {}", spread(times.collect()));
    }
}

/// The control of what is measured: who is not heard for longer than all wait is put out.
#[test]
fn a_long_outage_puts_out() {
    for outage in [Outage::Total, Outage::Mute(1), Outage::Apart(0, 1)] {
        let outcome = suffer(1, Some(outage), secs(25));
        assert!(outcome.is_err(), "{outcome:?}");
    }
}
