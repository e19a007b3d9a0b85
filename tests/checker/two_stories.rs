//! A rollback player that gives two others different commands is named by what it signed, while
//! they play and by the checker; who was told the other story is not. So is who voted for two.

use core::time::Duration;

use lockstone::check::{Cause, Finding, compare};
use lockstone::net::limits::ROLLBACK_ATTESTED_TICKS;
use lockstone::net::memory::{Driver, Weather};
use lockstone::net::session::{Event, Session};
use lockstone::net::wire::{Author, Branch, Epoch, LeaveReason, Message, SessionKind, Signed, Vote, Word, decode};
use lockstone::net::{PlayerKey, Rollback, RollbackConfig, RollbackSettings};
use lockstone::recording::{Header, Recording, Writer};
use lockstone::sim::{PlayerId, Tick};
use testkit::recorded;
use testkit::sessions::hostile::distrusted;
use testkit::sessions::rollback::{play, settings};
use testkit::sessions::story::OtherStory;
use testkit::sessions::tap::Tap;
use testkit::sessions::{Dice, Mixer};
use testkit::sessions::{IDENTITY, gather, ms, secs};

type Room = Driver<Rollback<Mixer>, Tap>;

const SEED: u64 = 3;
const PLAYERS: usize = 3;
/// Who lies, if anyone does.
const LIAR: usize = 0;
/// Who is told the other story.
const DECEIVED: usize = 2;
/// From then on.
const FROM: Tick = Tick(2 * ROLLBACK_ATTESTED_TICKS + 7);

fn key(seat: usize) -> PlayerKey {
    PlayerKey::from_bytes([seat as u8 + 1; 32])
}

fn room(keyed: bool) -> Room {
    let settings = RollbackSettings { players: PLAYERS, ..settings(SEED) };
    let player = |seat| {
        let config = RollbackConfig::new(settings.clone()).expect("the settings are in range");
        let build = |seed| Mixer::new(seed, 64);
        let session = Rollback::new(config, IDENTITY, &format!("player {seat}"), (7, 9), build).expect("a short name");
        if keyed { session.with_key(key(seat)) } else { session }
    };
    gather(SEED, Weather::clear(ms(20)), (0..PLAYERS).map(player), |_, link| Tap::idle(link))
}

/// The liar gives one of the others its commands in another way, and may sign for it what it gave.
fn deceive(room: &mut Room, signs_both: bool) {
    let deceived = room.peer(DECEIVED);
    let mut story = OtherStory::new(room.peer(LIAR), signs_both.then(|| key(LIAR)), FROM..Tick(u32::MAX));
    room.seats[LIAR].link.set(move |packet| Some(if packet.to == deceived { story.tell(packet) } else { packet }));
}

/// Plays until all is decided.
fn play_on(room: &mut Room, time: Duration) {
    play(room, &mut Dice(SEED), time);
    let now = room.now();
    room.seats.iter_mut().for_each(|seat| seat.session.leave(now));
    room.run_until(now + ms(200));
}

/// What a shell writes.
fn record(room: &Room, seat: usize) -> Recording<Mixer> {
    record_with(room, seat, &[])
}

/// The same, until its world is put right: a shell begins anew then. It was also shown what others
/// signed.
fn record_with(room: &Room, seat: usize, shown: &[Signed]) -> Recording<Mixer> {
    let mut writer = None;
    for event in &room.seats[seat].events {
        if let Event::Started { tick, seed, player, snapshot } = event {
            if writer.is_some() {
                break;
            }
            let kind = SessionKind::Rollback { max_prediction_ticks: 8 };
            let header = recorded::header("mixer", *seed);
            let header = Header { kind, start: *tick, player: *player, name: format!("player {seat}"), ..header };
            writer = Some(Writer::create(Vec::new(), &header, snapshot).expect("memory can be written"));
        }
        let Some(writer) = &mut writer else { continue };
        let written = match event {
            Event::Turn { tick, turn } => writer.turn(*tick, turn),
            Event::Checksum { tick, checksum, .. } => writer.checksum(*tick, *checksum),
            Event::Signed(signed) => writer.signed(signed),
            Event::PlayerJoined { player, name } => {
                writer.name(*player, name);
                Ok(())
            }
            _ => Ok(()),
        };
        written.expect("memory can be written");
    }
    let mut writer = writer.expect("it began");
    shown.iter().for_each(|signed| writer.signed(signed).expect("memory can be written"));
    Recording::read(&writer.into_output().expect("memory")).expect("it was just written")
}

fn finding(room: &Room, seats: &[usize]) -> Option<Finding> {
    let recordings = seats.iter().map(|seat| record(room, *seat)).collect();
    compare(recordings, &|seed| Mixer::new(seed, 64)).expect("they are of one session").finding
}

#[test]
fn who_signs_two_stories_is_put_out_and_named() {
    let mut room = room(true);
    deceive(&mut room, true);
    play_on(&mut room, secs(12));
    for seat in 1..PLAYERS {
        assert_eq!(distrusted(&room, seat), [(PlayerId(0), true)], "seat {seat}");
        let out = |event: &Event<Mixer>| {
            matches!(event, Event::PlayerLeft { player: PlayerId(0), reason: LeaveReason::Distrusted })
        };
        assert!(room.seats[seat].events.iter().any(out), "seat {seat}");
    }
    let verdict = finding(&room, &[0, 1, 2]).expect("worlds differ").verdict;
    assert_eq!((verdict.cause, &verdict.blamed[..]), (Cause::Input, &[0][..]), "{:?}", verdict.reasons);
    // Its own recording is not needed.
    let verdict = finding(&room, &[1, 2]).expect("worlds differ").verdict;
    assert_eq!((verdict.cause, &verdict.blamed[..]), (Cause::Input, &[][..]), "{:?}", verdict.reasons);
    let proof = verdict.reasons.iter().any(|reason| reason.starts_with("player 0 (P0) signed two stories"));
    assert!(proof, "{:?}", verdict.reasons);
}

#[test]
fn who_signs_another_story_than_it_tells_has_nobody_blamed_who_was_told_it() {
    let mut room = room(true);
    deceive(&mut room, false);
    play_on(&mut room, secs(12));
    assert_eq!(distrusted(&room, DECEIVED), [(PlayerId(0), false)]);
    let verdict = finding(&room, &[0, 1, 2]).expect("worlds differ").verdict;
    let innocent = [1, DECEIVED].iter().all(|seat| !verdict.blamed.contains(seat));
    assert!(innocent, "{:?}: {:?}", verdict.blamed, verdict.reasons);
}

#[test]
fn without_keys_a_story_is_told_and_nobody_can_prove_it() {
    let mut room = room(false);
    deceive(&mut room, false);
    play_on(&mut room, secs(12));
    assert!((0..PLAYERS).all(|seat| distrusted(&room, seat).is_empty()));
    assert!(finding(&room, &[0, 1, 2]).is_some());
}

#[test]
fn who_tells_all_the_same_is_trusted() {
    let mut room = room(true);
    let sent = std::rc::Rc::new(std::cell::Cell::new(0));
    let counts = sent.clone();
    room.seats[1].link.set(move |packet| {
        let is_signed = matches!(decode(&packet.bytes), Ok((_, Message::Attested(_))));
        counts.set(counts.get() + u32::from(is_signed));
        Some(packet)
    });
    play_on(&mut room, secs(12));
    assert!((0..PLAYERS).all(|seat| distrusted(&room, seat).is_empty()));
    assert!(finding(&room, &[0, 1, 2]).is_none());
    assert!((8..=12).contains(&sent.get()), "to two others each 2 s: {}", sent.get());
}

/// The vote of the first player, as it signed it, or another did.
fn vote(room: &Room, leader: u16, signer: usize) -> Signed {
    let (vote, peer) = (Vote { epoch: Epoch(1), leader: PlayerId(leader) }, room.peer(LIAR));
    let proof = vote.signed(Branch::default(), peer, &key(signer));
    let author = Author::of(Branch::default(), peer);
    Signed { player: PlayerId(0), key: key(LIAR).public(), author, word: Word::Vote(vote, proof) }
}

#[test]
fn who_signed_votes_for_two_is_named_by_those_who_were_shown_one_each() {
    let mut room = room(true);
    play_on(&mut room, secs(3));
    let told = |shown: [Signed; 2]| {
        let recordings = shown.iter().zip(1..).map(|(one, seat)| record_with(&room, seat, core::slice::from_ref(one)));
        let report = compare(recordings.collect(), &|seed| Mixer::new(seed, 64)).expect("they are of one session");
        assert!(report.is_in_step(), "{report}");
        (report.two_faced.clone(), report.to_string())
    };
    let (two_faced, text) = told([vote(&room, 1, LIAR), vote(&room, 2, LIAR)]);
    let [sentence] = two_faced.as_slice() else { panic!("{two_faced:?}") };
    assert!(sentence.starts_with("player 0 (P0) voted for two to lead epoch 1"), "{sentence}");
    assert!(text.contains(sentence), "{text}");
    // The same vote twice, and one that it did not sign, prove nothing.
    assert!(told([vote(&room, 1, LIAR), vote(&room, 1, LIAR)]).0.is_empty());
    assert!(told([vote(&room, 1, LIAR), vote(&room, 2, 1)]).0.is_empty());
}
