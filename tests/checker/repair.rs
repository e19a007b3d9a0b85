//! What is recorded of a session in which a world was put right: each recording tells one history,
//! and the checker names whose world was odd, as if nothing had been repaired.

use std::time::Duration;

use lockstone::check::{Cause, Checker};
use lockstone::game::{Bot, Game};
use lockstone::net::memory::{Driver, MemoryNetwork, Weather};
use lockstone::net::session::{Event, Phase};
use lockstone::net::wire::Identity;
use lockstone::net::{Party, PartyConfig, PartySettings, Session};
use lockstone::recording::{Desync, Ending, Header, Recording, Writer};
use lockstone::sim::{PlayerId, Tick};
use testkit::faulty::{self, Fault, Faulty, Newcomer, Sim, Wilds, WildsBot};
use testkit::recorded::Peer;
use testkit::tampered::{Flip, Tampered, plain};

type World = Tampered<Wilds>;

const PEERS: usize = 3;
const INTERVAL: u32 = 20;

fn play(seed: u64, odd: usize, flip: Flip) -> Driver<Party<World>> {
    let mut driver = Driver::new(MemoryNetwork::new(seed, Weather::clear(Duration::from_millis(50))));
    for n in 0..PEERS {
        let settings = PartySettings {
            seed,
            players_at_start: PEERS,
            checksum_interval_ticks: INTERVAL,
            ..PartySettings::default()
        };
        let flip = (n == odd).then_some(flip);
        let build = move |seed| Tampered::new(faulty::world(seed, Fault::None), flip);
        let hero = Newcomer { name: format!("Bot-{n}"), strength: 4 };
        let identity = Identity { rules: 1, table: 2, config: 3 };
        let config = PartyConfig::new(settings).expect("the settings are in range");
        driver.enter(Party::new(config, identity, &format!("Bot-{n}"), hero, build).expect("a name"));
    }
    while driver.now() < Duration::from_secs(12) {
        let until = driver.now() + Duration::from_millis(50);
        driver.run_until(until);
        for seat in &mut driver.seats {
            let player = seat.session.stats().player;
            let world = seat.session.simulation().map(|tampered| &tampered.world);
            let order = player.zip(world).and_then(|(player, world)| WildsBot.decide(world, player));
            if let Some(order) = order {
                let _ = seat.session.command(order);
            }
        }
    }
    driver
}

/// The recordings that a shell writes of what a session told: another from each time that the world
/// is there.
fn record(events: &[Event<World>]) -> Vec<Recording<Sim>> {
    let read = |writer: Writer<Vec<u8>>, tick: Tick| {
        let (bytes, _) = writer.end(tick, "the world was loaded anew").expect("memory can be written");
        Recording::read(&bytes).expect("it was just written")
    };
    let (mut recordings, mut writer, mut now) = (Vec::new(), None::<Writer<Vec<u8>>>, Tick(0));
    for event in events {
        match event {
            Event::Started { tick, seed, player, snapshot } => {
                recordings.extend(writer.take().map(|writer| read(writer, *tick)));
                let header =
                    Header { start: *tick, checksum_interval_ticks: INTERVAL, ..Peer::new(player.0, *seed).header };
                writer = Some(Writer::create(Vec::new(), &header, snapshot).expect("memory"));
            }
            Event::Turn { tick, turn } => writer.iter_mut().for_each(|w| w.turn(*tick, &plain(turn)).expect("memory")),
            Event::Checksum { tick, checksum, .. } => {
                now = *tick;
                writer.iter_mut().for_each(|w| w.checksum(*tick, *checksum).expect("memory"));
            }
            Event::Desync { player, tick, agreed, ours, theirs } => {
                let desync = Desync { player: *player, tick: *tick, agreed: *agreed, ours: *ours, theirs: *theirs };
                writer.iter_mut().for_each(|w| w.desync(desync).expect("memory"));
            }
            _ => {}
        }
    }
    recordings.extend(writer.map(|writer| read(writer, now)));
    recordings
}

#[test]
fn the_checker_names_the_odd_one_of_a_session_that_was_repaired() {
    let (mut named, mut healed) = (0, 0);
    for case in 0..12 {
        let (odd, flip) = ((case % 3) as usize, Flip { tick: Tick(61 + 7 * case as u32), case });
        let driver = play(case, odd, flip);
        assert!(driver.seats.iter().all(|seat| seat.session.phase() == Phase::Playing), "case {case}");
        let mut all: Vec<_> = driver.seats.iter().map(|seat| record(&seat.events)).collect();
        let Some(after) = all[odd].get(1).cloned() else {
            healed += 1;
            continue;
        };
        let build = |seed| faulty::world(seed, Fault::None);
        let look = |world: &Sim| drop(Faulty::scene(world, PlayerId(0)));
        let check = |recordings| Checker::new(&build).with_presentation(&look).check(recordings);
        let first: Vec<_> = all.iter_mut().map(|recordings| recordings.swap_remove(0)).collect();
        assert!(matches!(first[odd].ending, Ending::Closed(_)) && first[odd].end() > flip.tick, "case {case}");
        let report = check(first.clone()).expect("they are of one session");
        let finding = report.finding.expect("they differ");
        assert_eq!((finding.tick, finding.verdict.blamed.as_slice()), (flip.tick, [odd].as_slice()), "case {case}");
        assert_eq!(finding.verdict.cause, Cause::StateCorruption, "case {case}");
        // Since then all are in step.
        let sound = first.into_iter().enumerate().filter(|(n, _)| *n != odd).map(|(_, recording)| recording);
        let report = check(sound.chain([after]).collect()).expect("they are of one session");
        assert!(report.finding.is_none(), "case {case}: {report}");
        named += 1;
    }
    assert!(named >= 6, "{named} named, {healed} healed");
}
