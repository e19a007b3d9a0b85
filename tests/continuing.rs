//! A session goes on from what a recording holds of it, and from nothing that contradicts itself.

use lockstone::recording::{ContinueError, Entry, FLUSH_TICKS, Header, Packed, Recording, Writer};
use lockstone_net::memory::{Driver, MemoryNetwork, Weather};
use lockstone_net::party::{Party, PartySettings};
use lockstone_net::session::{Continuation, EndReason, Event, Phase};
use lockstone_net::wire::{LeaveReason, Refusal};
use lockstone_net::{PlayerKey, limits::KEYFRAME_TICKS};
use lockstone_sim::{PlayerId, Simulation, Tick};
use testkit::recorded;
use testkit::sessions::*;

type Room = Driver<Party<Mixer>>;

fn build(seed: u64) -> Mixer {
    Mixer::new(seed, 16).keeping(10_000)
}

fn keyed(key: u8) -> Party<Mixer> {
    let settings = PartySettings { seed: 5, ..PartySettings::default() };
    party_of(settings, IDENTITY, &format!("player {key}"), build).with_key(PlayerKey::from_bytes([key; 32]))
}

fn room(parties: impl IntoIterator<Item = Party<Mixer>>) -> Room {
    let mut room = Driver::new(MemoryNetwork::new(1, Weather::clear(ms(20))));
    for party in parties {
        room.enter(party);
    }
    room
}

fn players(room: &Room) -> Vec<Option<PlayerId>> {
    room.seats.iter().map(|seat| seat.session.stats().player).collect()
}

/// The recording of what a session told, as a shell writes it.
fn record(events: &[Event<Mixer>]) -> Vec<u8> {
    let mut writer = None;
    for event in events {
        if let Event::Started { tick, seed, player, snapshot } = event {
            let header = Header { start: *tick, player: *player, ..recorded::header("mixer", *seed) };
            writer = Some(Writer::create(Vec::new(), &header, snapshot).unwrap());
            continue;
        }
        let Some(open) = &mut writer else { continue };
        match event {
            Event::Turn { tick, turn } => open.turn(*tick, turn).unwrap(),
            Event::Checksum { tick, checksum, .. } => {
                open.checksum(*tick, *checksum).unwrap();
                open.reached(*tick).unwrap();
            }
            Event::Keyframe { tick, snapshot } => open.keyframe(*tick, &Packed::of(snapshot)).unwrap(),
            Event::Ledger { ledger, .. } => open.ledger(ledger).unwrap(),
            Event::Member { player, key } => open.member(*player, *key).unwrap(),
            Event::PlayerLeft { player, reason } => open.gone(*player, *reason).unwrap(),
            _ => {}
        }
    }
    // Never closed: the process is gone.
    writer.expect("it has begun").output().clone()
}

/// Three players give commands for a while. Returns the second one's recording, who came late.
fn played(time_ms: u64) -> Vec<u8> {
    let (mut room, mut dice) = (room([keyed(0)]), Dice(7));
    room.run_until(ms(900));
    room.enter(keyed(1));
    room.enter(keyed(2));
    while room.now() < ms(time_ms) {
        let until = room.now() + ms(200);
        room.run_until(until);
        let seat = dice.roll(3) as usize;
        let _ = room.seats[seat].session.command(dice.roll(1 << 40));
    }
    record(&room.seats[1].events)
}

fn read(bytes: &[u8]) -> Recording<Mixer> {
    Recording::read(bytes).expect("it was recorded")
}

fn world_of(session: &mut Continuation<Mixer>) -> (Tick, usize) {
    let world = session.simulation();
    (world.tick(), world.state.heroes.len())
}

#[test]
fn a_recording_that_breaks_off_anywhere_can_be_gone_on_with() {
    let bytes = played(8_000);
    let mut last = Tick(0);
    for len in (0..bytes.len()).step_by(41) {
        // What is cut before its first turn is no recording.
        let Ok(recording) = Recording::<Mixer>::read(&bytes[..len]) else { continue };
        let end = recording.end();
        assert!(end >= last, "cut at {len}");
        last = end;
        // Without the ledger that follows its first state it is none of a session.
        match recording.continuation(build) {
            Ok(mut session) => assert_eq!(world_of(&mut session).0, end, "cut at {len}"),
            Err(error) => assert!(error == ContinueError::NotWhole && last.0 < 25, "cut at {len}: {error}"),
        }
    }
    let whole = read(&bytes);
    assert!(last.0 + 2 * FLUSH_TICKS >= whole.end().0 && whole.end() > Tick(100));
}

#[test]
fn who_came_just_before_the_process_died_is_known_again() {
    for later in (0..2_000).step_by(150) {
        let mut before = room([keyed(0), keyed(1)]);
        before.run_until(ms(3_000 + later));
        for key in [2, 3] {
            let last = before.enter(keyed(key));
            while !playing(&before.seats[last].session) {
                let until = before.now() + ms(10);
                before.run_until(until);
            }
        }
        let session = read(&record(&before.seats[0].events)).continuation(build).expect("it was recorded");
        let mut after = room([keyed(0).continuing(session), keyed(3), keyed(2), keyed(1)]);
        after.run_until(secs(4));
        assert_eq!(players(&after), [0, 3, 2, 1].map(|player| Some(PlayerId(player))), "after {later} ms");
    }
}

#[test]
fn who_was_voted_out_stays_out_of_the_session_that_is_gone_on_with() {
    // Recorded in turns that come after the last ledger, and in the ledger itself.
    for later in [secs(1), secs(u64::from(KEYFRAME_TICKS / 20) + 5)] {
        let mut before = room([keyed(0), keyed(1), keyed(2), keyed(3)]);
        before.run_until(secs(3));
        for seat in [0, 1, 2] {
            before.seats[seat].session.vote_out(PlayerId(3)).expect("both are members");
        }
        let until = before.now() + later;
        before.run_until(until);
        let recording = read(&record(&before.seats[0].events));
        let told = recording.entries.iter().filter(|entry| matches!(entry, Entry::Gone(..)));
        assert_eq!(told.collect::<Vec<_>>(), [&Entry::Gone(PlayerId(3), LeaveReason::VotedOut)]);
        let session = recording.continuation(build).expect("it was recorded");
        let mut after = room([keyed(0).continuing(session), keyed(3), keyed(4)]);
        after.run_until(secs(6));
        assert_eq!(ended(&after.seats[1].session), Some(EndReason::Refused(Refusal::PutOut)), "after {later:?}");
        assert!(playing(&after.seats[2].session));
    }
}

#[test]
fn a_session_goes_on_from_its_last_keyframe_as_from_its_start() {
    let bytes = played(u64::from(KEYFRAME_TICKS + 60) * 50);
    let (whole, mut cut) = (read(&bytes), read(&bytes));
    let keyframes = |entry: &Entry<Mixer>| matches!(entry, Entry::Keyframe(_));
    assert_eq!(whole.entries.iter().filter(|entry| keyframes(entry)).count(), 1);
    // Without the later ledger it begins at the first one.
    let ledger = |entry: &Entry<Mixer>| matches!(entry, Entry::Ledger(_));
    let later = cut.entries.iter().rposition(ledger).expect("there are two");
    cut.entries.remove(later);
    let end = whole.end();
    let mut worlds = Vec::new();
    for recording in [whole, cut] {
        let session = recording.continuation(build).expect("it was recorded");
        let mut room = room([keyed(2).continuing(session), keyed(1), keyed(9)]);
        room.run_until(secs(4));
        assert_eq!(players(&room), [2, 1, 3].map(|player| Some(PlayerId(player))));
        let played = Played::of(&room.seats[0].events);
        assert_eq!(played.checksums.keys().next(), Some(&end));
        worlds.push(played);
    }
    assert!(assert_same(&worlds[0], &worlds[1], "from a keyframe, and from the start") > 50);
}

#[test]
fn what_does_not_come_out_as_it_was_recorded_is_refused() {
    let bytes = played(6_000);
    let odd = |at: u32| move |seed| build(seed).with_fault(Some(Tick(at)));
    let differs = read(&bytes).continuation(odd(60)).err();
    assert!(matches!(differs, Some(ContinueError::Differs { tick: Tick(61), .. })), "{differs:?}");
    let mut parts = read(&bytes);
    parts.entries.retain(|entry| !matches!(entry, Entry::Ledger(_)));
    assert_eq!(parts.continuation(build).err(), Some(ContinueError::NotWhole));
    let mut other = read(&bytes);
    other.snapshot.truncate(3);
    assert!(matches!(other.continuation(build).err(), Some(ContinueError::State { .. })));
}

/// Whatever a ledger says, a session goes on with it, or it is told why not.
#[test]
fn a_ledger_may_say_anything() {
    let (bytes, mut dice) = (played(3_000), Dice(11));
    let (mut founded, mut refused) = (0, 0);
    for _ in 0..300 {
        let mut recording = read(&bytes);
        let ledgers = recording.entries.iter_mut().filter_map(|entry| match entry {
            Entry::Ledger(ledger) => Some(ledger),
            _ => None,
        });
        ledgers.for_each(|ledger| {
            for _ in 0..=dice.roll(2) {
                let at = dice.roll(ledger.len() as u64) as usize;
                ledger[at] = [0, 1, 16, 250, 251, 252, 253, 255][dice.roll(8) as usize];
            }
        });
        let Ok(session) = recording.continuation(build) else {
            refused += 1;
            continue;
        };
        let mut room = room([keyed(0).continuing(session), keyed(1)]);
        room.run_until(ms(600));
        let goes_on = matches!(room.seats[0].session.phase(), Phase::Playing);
        founded += usize::from(goes_on && room.seats[0].session.stats().player < Some(PlayerId(u16::MAX)));
    }
    assert!(founded > 20 && refused > 20, "{founded} founded, {refused} refused");
}
