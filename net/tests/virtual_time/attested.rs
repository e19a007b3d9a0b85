//! A party's sequencer that tells some other turns than others is found out, by what it signs. Who
//! does not lead can have nobody put out by what it passes on.

use core::time::Duration;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use lockstone_net::PlayerKey;
use lockstone_net::limits::ATTESTED_TICKS;
use lockstone_net::link::PeerId;
use lockstone_net::memory::{Driver, Weather};
use lockstone_net::party::{Party, PartySettings};
use lockstone_net::session::{EndReason, Event, Session, Stats};
use lockstone_net::wire::{self, *};
use lockstone_sim::{PlayerId, Tick, codec};
use sha2::{Digest, Sha256};
use testkit::seeds;
use testkit::sessions::hostile::hear;
use testkit::sessions::tap::{Tap, altering};
use testkit::sessions::*;

const TEST: &str = "-p lockstone-net --test virtual_time attested::";
const SEATS: usize = 4;
/// Who leads, and may lie.
const LEADER: usize = 0;
/// Whose commands it keeps from one of the others.
const ROBBED: PlayerId = PlayerId(1);
/// Who is told another story.
const DECEIVED: usize = 2;
/// Who has all vote again and again.
const STRAY: PlayerId = PlayerId(3);
/// So long takes a span.
const SPAN: Duration = secs(ATTESTED_TICKS as u64 / 20);
/// Where the second one begins.
const SECOND: Tick = Tick(ATTESTED_TICKS);

type Room = Driver<Party<Mixer>, Tap>;

fn key(seat: usize) -> PlayerKey {
    PlayerKey::from_bytes([seat as u8 + 1; 32])
}

fn room(seed: u64) -> Room {
    let settings = PartySettings { players_at_start: SEATS, seed, ..PartySettings::default() };
    let player = |seat| party(settings.clone(), &format!("player {seat}")).with_key(key(seat));
    let room = gather(seed, Weather::clear(ms(50)), (0..SEATS).map(player), |_, link| Tap::idle(link));
    let players: Vec<_> = room.seats.iter().map(|seat| seat.session.stats().player).collect();
    assert_eq!(players, [0, 1, 2, 3].map(|n| Some(PlayerId(n))), "seats are players");
    room
}

fn play(room: &mut Room, seed: u64, time: Duration) {
    let (mut dice, end) = (Dice(seed), room.now() + time);
    while room.now() < end {
        for (number, seat) in room.seats.iter_mut().enumerate() {
            if dice.roll(8) == 0 {
                let _ = seat.session.command(dice.roll(1 << 20) << 8 | number as u64);
            }
        }
        let until = room.now() + ms(50);
        room.run_until(until);
    }
}

/// A member says every 20 s that it voted for itself. For its sake the leader begins an epoch, so
/// no span ends in the epoch in which it began.
fn play_with_a_stray(room: &mut Room, seed: u64, time: Duration) {
    let until = room.now() + time;
    while room.now() < until {
        let Stats { epoch, known: end, branch, .. } = room.seats[LEADER].session.stats();
        let (vote, known) =
            (Vote { epoch: Epoch(epoch.0 + 1), leader: STRAY }, Known { epoch, end, branch, leader: PlayerId(0) });
        let stand = wire::encode(Epoch::default(), &Message::Stand(Stand::of(vote, known)));
        let stray = room.peer(STRAY.0.into());
        hear(room, LEADER, stray, stand);
        let left = until.saturating_sub(room.now()).min(secs(20));
        play(room, seed, left);
    }
}

/// The epoch in which all are.
fn epoch(room: &Room) -> u32 {
    room.seats[1].session.stats().epoch.0
}

/// Whom each seat was told to distrust, and whether that was proven.
fn distrusted(room: &Room) -> Vec<Vec<(PlayerId, bool)>> {
    let of = |event: &Event<Mixer>| match event {
        Event::Distrusted { player, is_proven } => Some((*player, *is_proven)),
        _ => None,
    };
    room.seats.iter().map(|seat| seat.events.iter().filter_map(of).collect()).collect()
}

/// How often each seat began with a world.
fn began(room: &Room) -> Vec<usize> {
    let of = |event: &&Event<Mixer>| matches!(event, Event::Started { .. });
    room.seats.iter().map(|seat| seat.events.iter().filter(of).count()).collect()
}

/// These seats play, and their newest worlds are the same.
fn in_step(room: &Room, seats: &[usize]) {
    let worlds: Vec<BTreeMap<Tick, _>> = seats
        .iter()
        .map(|seat| {
            assert!(playing(&room.seats[*seat].session), "seat {seat}");
            let events = room.seats[*seat].events.iter();
            let sums = events.filter_map(|event| match event {
                Event::Checksum { tick, checksum, .. } => Some((*tick, *checksum)),
                _ => None,
            });
            sums.collect()
        })
        .collect();
    let shared: Vec<_> =
        worlds[0].keys().rev().filter(|tick| worlds.iter().all(|world| world.contains_key(tick))).collect();
    assert!(shared.len() > 40, "they share {} ticks", shared.len());
    for tick in &shared[..20] {
        assert!(worlds.iter().all(|world| world[tick] == worlds[0][tick]), "at {tick}");
    }
}

/// From the second span on the leader keeps a player's commands from one replica. Their worlds
/// differ, of which that one hears nothing. What it tells of them itself the leader ignores, so it
/// is left out as well. If the leader `signs_both`, it signs for that replica what it told it.
fn deceive(room: &mut Room, signs_both: bool) {
    let (deceived, branch) = (room.peer(DECEIVED), room.seats[LEADER].session.stats().branch);
    let author = Author { branch, epoch: Epoch::default(), peer: room.peer(LEADER) };
    let mut told: BTreeMap<Tick, Vec<RawInput>> = BTreeMap::new();
    room.seats[LEADER].link.set(altering(move |to: PeerId, message| match message {
        Message::Turns(turns) if to == deceived => {
            turns.checksums = list(vec![]);
            let mut all = turns.turns.to_vec();
            for (after, turn) in &mut all {
                let tick = turns.from.plus(*after);
                let is_theirs = |input: &RawInput| matches!(input, RawInput::Command(player, _) if *player == ROBBED);
                let is_kept = |input: &&RawInput| tick < SECOND || !is_theirs(input);
                let kept: Vec<_> = turn.iter().filter(is_kept).cloned().collect();
                told.insert(tick, kept.clone());
                *turn = list(kept);
            }
            turns.turns = list(all);
        }
        Message::Attested(attestation) if to == deceived && signs_both && attestation.end > SECOND => {
            let end = attestation.end;
            let mut digest = Sha256::new();
            let span = told.range(Tick(end.0 - ATTESTED_TICKS)..end).filter(|(_, turn)| !turn.is_empty());
            span.for_each(|turn| digest.update(codec::compact(&turn)));
            *attestation = Attestation::of(author, end, digest.finalize().into(), &key(LEADER));
        }
        _ => {}
    }));
    room.seats[DECEIVED].link.set(altering(|_, message| {
        if let Message::Report(report) = message {
            report.checksums = list(vec![]);
        }
    }));
}

#[test]
fn a_leader_that_tells_all_the_same_is_trusted() {
    let mut room = room(1);
    play(&mut room, 1, 4 * SPAN);
    assert!(distrusted(&room).iter().all(Vec::is_empty), "{:?}", distrusted(&room));
    assert_eq!(began(&room), [1; SEATS]);
    in_step(&room, &[0, 1, 2, 3]);
}

#[test]
fn a_leader_that_signs_two_histories_leads_no_more() {
    seeds::each(TEST, 4, |seed| {
        let mut room = room(seed);
        play(&mut room, seed, SPAN - secs(5));
        deceive(&mut room, true);
        play(&mut room, seed, SPAN + secs(15));
        let named = distrusted(&room);
        assert!(named[1..].iter().all(|named| *named == [(PlayerId(0), true)]), "seed {seed}: {named:?}");
        let out = EndReason::Removed(LeaveReason::Distrusted);
        assert_eq!(ended(&room.seats[LEADER].session), Some(out), "seed {seed}");
        in_step(&room, &[1, 2, 3]);
    });
}

/// Nothing that the leader signed leaves it.
fn withhold(room: &mut Room) {
    room.seats[LEADER].link.set(|packet| {
        let is_signed = matches!(decode(&packet.bytes), Ok((_, Message::Attested(_))));
        (!is_signed).then_some(packet)
    });
}

#[test]
fn a_leader_that_signs_nothing_leads_no_more() {
    let mut room = room(2);
    withhold(&mut room);
    play(&mut room, 2, 4 * SPAN);
    let named = distrusted(&room);
    assert!(named[1..].iter().all(|named| *named == [(PlayerId(0), false)]), "{named:?}");
    in_step(&room, &[1, 2, 3]);
}

#[test]
fn a_leader_that_begins_an_epoch_before_each_span_ends_signs_all_the_same() {
    let mut room = room(5);
    let (signed, listener) = (Rc::new(RefCell::new(BTreeSet::new())), room.peer(1));
    let seen = signed.clone();
    room.seats[LEADER].link.set(altering(move |to: PeerId, message| match message {
        Message::Attested(attestation) if to == listener => drop(seen.borrow_mut().insert(attestation.end)),
        _ => {}
    }));
    play_with_a_stray(&mut room, 5, 4 * SPAN + secs(1));
    assert!(epoch(&room) >= 5, "epoch {}", epoch(&room));
    assert!(distrusted(&room).iter().all(Vec::is_empty), "{:?}", distrusted(&room));
    assert_eq!(signed.borrow().len(), 4, "{:?}", signed.borrow());
    in_step(&room, &[0, 1, 2, 3]);
}

#[test]
fn a_leader_that_begins_an_epoch_before_each_span_ends_owes_a_signature_all_the_same() {
    let mut room = room(6);
    withhold(&mut room);
    play_with_a_stray(&mut room, 6, 4 * SPAN);
    let named = distrusted(&room);
    assert!(named[1..].iter().all(|named| *named == [(PlayerId(0), false)]), "{named:?}");
    in_step(&room, &[1, 2, 3]);
}

#[test]
fn a_leader_that_signs_two_histories_is_found_whatever_epochs_it_begins() {
    let mut room = room(7);
    play(&mut room, 7, SPAN - secs(5));
    deceive(&mut room, true);
    play_with_a_stray(&mut room, 7, SPAN + secs(15));
    let named = distrusted(&room);
    assert!(named[1..].iter().all(|named| *named == [(PlayerId(0), true)]), "{named:?}");
    in_step(&room, &[1, 2, 3]);
}

/// It leads on in the middle of a span that another began.
#[test]
fn who_leads_on_owes_nothing_for_who_led_before() {
    let mut room = room(8);
    play(&mut room, 8, SPAN + secs(10));
    let now = room.now();
    room.seats[LEADER].session.leave(now);
    play(&mut room, 8, 4 * SPAN);
    assert!(distrusted(&room).iter().all(Vec::is_empty), "{:?}", distrusted(&room));
    in_step(&room, &[1, 2, 3]);
}

/// It signs one history, and tells one replica another. That one cannot prove it, and loads the
/// world.
#[test]
fn who_is_told_other_turns_than_are_signed_loads_the_world() {
    let mut room = room(3);
    play(&mut room, 3, SPAN - secs(5));
    deceive(&mut room, false);
    play(&mut room, 3, SPAN + secs(6));
    room.seats[LEADER].link.set(Some);
    room.seats[DECEIVED].link.set(Some);
    play(&mut room, 3, SPAN);
    assert!(distrusted(&room).iter().all(Vec::is_empty), "{:?}", distrusted(&room));
    assert_eq!(began(&room), [1, 1, 2, 1]);
    in_step(&room, &[0, 1, 2, 3]);
}

#[test]
fn a_member_that_forges_what_it_passes_on_harms_nobody() {
    let mut room = room(4);
    room.seats[3].link.set(altering(|_, message| {
        if let Message::Attested(attestation) = message {
            attestation.digest[0] ^= 1;
        }
    }));
    play(&mut room, 4, 3 * SPAN);
    assert!(distrusted(&room).iter().all(Vec::is_empty), "{:?}", distrusted(&room));
    assert_eq!(began(&room), [1; SEATS]);
}
