//! What dishonest peers say of evidence: dropped and counted, nobody sends twice for it, and
//! memory is bounded.
//!
//! One test at a time, because memory is counted for the whole process.

use core::time::Duration;
use std::sync::{Mutex, MutexGuard, PoisonError};

use lockstone_net::limits::*;
use lockstone_net::memory::{Driver, Weather};
use lockstone_net::party::{Party, PartySettings};
use lockstone_net::session::{DropReason, Event, OnDesync, Session};
use lockstone_net::wire::*;
use lockstone_net::{PeerId, Rollback, RollbackSettings};
use lockstone_sim::{Checksum, PlayerId, Tick};
use peak_alloc::PeakAlloc;
use testkit::sessions::hostile::{FIRST, LIAR, SECOND, drops, hear, say};
use testkit::sessions::rollback::odd_rollback;
use testkit::sessions::*;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How much more memory was in use at once during something than before it.
fn extra_bytes(run: impl FnOnce()) -> usize {
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    run();
    ALLOCATOR.peak_usage().saturating_sub(before)
}

fn party_of_three(stop_on_desync: bool) -> Driver<Party<Mixer>> {
    let on_desync = if stop_on_desync { OnDesync::Stop } else { OnDesync::GoOn };
    let settings = PartySettings { on_desync, ..PartySettings::default() };
    odd_party(1, 3, None, Weather::clear(ms(20)), settings)
}

fn rollback_of_three(stop_on_desync: bool) -> Driver<Rollback<Mixer>> {
    let settings = RollbackSettings { stop_on_desync, ..RollbackSettings::default() };
    odd_rollback(1, 3, None, Weather::clear(ms(20)), settings)
}

fn announced(bytes: &[u8]) -> Message {
    Message::Parcel(Parcel::Announced { bytes: bytes.len() as u32, digest: digest(bytes) })
}

fn chunk(bytes: &[u8]) -> Message {
    Message::Parcel(Parcel::Chunk(list(bytes.to_vec())))
}

fn notice() -> Message {
    Message::Desync(DesyncNotice { tick: Tick(10), agreed: None, ours: Checksum(1), theirs: Checksum(2) })
}

fn wanted(driver: &Driver<impl Session<Sim = Mixer>, impl Link>, seat: usize) -> usize {
    driver.seats[seat].events.iter().filter(|event| matches!(event, Event::EvidenceWanted { .. })).count()
}

/// What a seat has got of the liar, and whom it was told to miss.
fn got(driver: &Driver<impl Session<Sim = Mixer>, impl Link>, seat: usize) -> (Option<Vec<u8>>, Option<Vec<PlayerId>>) {
    let liar = driver.seats[LIAR].session.stats().player.expect("it plays");
    let bytes = driver.seats[seat].events.iter().find_map(|event| match event {
        Event::Evidence { player, bytes } if *player == liar => Some(bytes.clone()),
        _ => None,
    });
    let missing = driver.seats[seat].events.iter().find_map(|event| match event {
        Event::EvidenceComplete { missing } => Some(missing.clone()),
        _ => None,
    });
    (bytes, missing)
}

fn run<T: Session>(driver: &mut Driver<T>, time: Duration) {
    let until = driver.now() + time;
    driver.run_until(until);
}

#[test]
fn what_nobody_asked_for_is_dropped() {
    let _alone = alone();
    unasked(&mut party_of_three(true));
    unasked(&mut rollback_of_three(true));
}

fn unasked<T: Session<Sim = Mixer>>(driver: &mut Driver<T>) {
    let out = |driver: &Driver<T>| driver.seats[SECOND].session.stats().traffic.packets_out;
    let before = out(driver);
    say(driver, LIAR, SECOND, announced(&[7; 9]));
    assert_eq!(drops(driver, SECOND, DropReason::Unexpected), 0, "others may know before this one");
    say(driver, LIAR, SECOND, announced(&[7; 9]));
    say(driver, LIAR, SECOND, chunk(&[7; 9]));
    say(driver, LIAR, SECOND, Message::Parcel(Parcel::Received(0)));
    assert_eq!(drops(driver, SECOND, DropReason::Unexpected), 3);
    assert_eq!(out(driver), before, "nobody is answered");
    // No more than a peer may send.
    let flood = |driver: &mut Driver<T>| {
        for _ in 0..200 {
            (0..20).for_each(|_| say(driver, LIAR, SECOND, chunk(&[7; EVIDENCE_CHUNK_BYTES])));
            run(driver, ms(50));
            driver.seats.iter_mut().for_each(|seat| seat.events.clear());
        }
    };
    let extra = extra_bytes(|| flood(driver));
    assert!(extra < 256 << 10, "{extra} bytes more");
    assert_eq!(drops(driver, SECOND, DropReason::Unexpected), 4_003);
    run(driver, INQUIRY_TIME);
    assert_eq!(drops(driver, SECOND, DropReason::Unexpected), 4_004, "what was announced in vain");
    assert!(driver.seats.iter().all(|seat| playing(&seat.session)));
}

#[test]
fn who_breaks_its_word_is_missing_and_others_get_the_evidence_of_the_honest() {
    let _alone = alone();
    let share = evidence_bytes_max(3);
    let too_long = vec![announced(&vec![7; share + 1])];
    let beyond = vec![announced(&[7; 9]), chunk(&[7; 9]), chunk(&[7])];
    let longer = vec![announced(&[7; 9]), chunk(&[7; 10])];
    let empty = vec![announced(&[7; 9]), chunk(&[])];
    let another = vec![announced(&[7; 9]), chunk(&[8; 9])];
    let twice = vec![announced(&[7; 9]), announced(&[8; 9]), chunk(&[7; 9]), announced(&[7; 9])];
    let forged = vec![Message::Parcel(Parcel::Received(1 << 30)), announced(&[7; 9]), chunk(&[7; 9])];
    let cases = [
        (too_long, DropReason::BadEvidence, 1, false),
        (beyond, DropReason::Unexpected, 1, true),
        (longer, DropReason::BadEvidence, 1, false),
        (empty, DropReason::BadEvidence, 1, false),
        (another, DropReason::BadEvidence, 1, false),
        (twice, DropReason::Unexpected, 2, true),
        (forged, DropReason::ForgedAck, 1, true),
    ];
    for (said, reason, count, arrives) in cases {
        broken(&mut party_of_three(false), &said, reason, count, arrives);
        broken(&mut rollback_of_three(false), &said, reason, count, arrives);
    }
}

/// The liar tells the first seat that worlds differ, then the second one something of evidence.
fn broken<T: Session<Sim = Mixer>>(
    driver: &mut Driver<T>,
    said: &[Message],
    reason: DropReason,
    count: u64,
    arrives: bool,
) {
    say(driver, LIAR, FIRST, notice());
    run(driver, ms(100));
    assert_eq!(wanted(driver, SECOND), 1);
    let honest = vec![5; 100_000];
    driver.seats[FIRST].session.give_evidence(honest.clone()).expect("it is wanted");
    driver.seats[SECOND].session.give_evidence(Vec::new()).expect("it is wanted");
    let before = drops(driver, SECOND, reason);
    said.iter().for_each(|message| say(driver, LIAR, SECOND, message.clone()));
    assert_eq!(drops(driver, SECOND, reason), before + count, "{said:?}");
    run(driver, INQUIRY_TIME + secs(1));
    let liar = driver.seats[LIAR].session.stats().player.expect("it plays");
    let (bytes, missing) = got(driver, SECOND);
    assert_eq!(bytes, arrives.then(|| vec![7; 9]), "{said:?}");
    assert_eq!(missing.expect("it is told").contains(&liar), !arrives, "{said:?}");
    let has_honest = |event: &Event<Mixer>| matches!(event, Event::Evidence { bytes, .. } if *bytes == honest);
    assert!(driver.seats[SECOND].events.iter().any(has_honest), "{said:?}");
    assert!(playing(&driver.seats[FIRST].session) && playing(&driver.seats[SECOND].session));
}

#[test]
fn endless_chunks_take_no_more_memory_than_a_share() {
    let _alone = alone();
    let mut driver = rollback_of_three(false);
    say(&mut driver, LIAR, FIRST, notice());
    run(&mut driver, ms(100));
    let share = evidence_bytes_max(3);
    say(&mut driver, LIAR, SECOND, announced(&vec![7; share]));
    let flood = |driver: &mut Driver<_>| {
        for _ in 0..200 {
            (0..20).for_each(|_| say(driver, LIAR, SECOND, chunk(&[8; EVIDENCE_CHUNK_BYTES])));
            run(driver, ms(50));
            driver.seats.iter_mut().for_each(|seat| seat.events.clear());
        }
    };
    let extra = extra_bytes(|| flood(&mut driver));
    assert!(extra < 3 * share, "{extra} bytes more");
    assert_eq!(drops(&driver, SECOND, DropReason::BadEvidence), 1);
    assert!(drops(&driver, SECOND, DropReason::Unexpected) > 3_000);
}

#[test]
fn in_a_party_only_the_sequencer_calls_and_once_in_a_while() {
    let _alone = alone();
    let mut driver = party_of_three(false);
    let peers: Vec<_> = (0..3).map(|seat| driver.peer(seat)).collect();
    let all: Vec<_> =
        (0..3).map(|seat| (driver.seats[seat].session.stats().player.expect("it plays"), peers[seat])).collect();
    let inquiry = |of: &[usize]| {
        let mut witnesses: Vec<(PlayerId, PeerId)> = of.iter().map(|seat| all[*seat]).collect();
        witnesses.sort();
        Message::Inquiry(Inquiry { witnesses: list(witnesses) })
    };
    say(&mut driver, LIAR, SECOND, inquiry(&[0, 1, 2]));
    assert_eq!(drops(&driver, SECOND, DropReason::UnknownPeer), 1);
    say(&mut driver, LIAR, FIRST, inquiry(&[0, 1, 2]));
    assert_eq!(drops(&driver, FIRST, DropReason::Unexpected), 1);
    // Not of those who take part.
    say(&mut driver, FIRST, SECOND, inquiry(&[0, 2]));
    say(&mut driver, FIRST, SECOND, inquiry(&[1, 2]));
    say(&mut driver, FIRST, SECOND, Message::Inquiry(Inquiry::default()));
    assert_eq!(drops(&driver, SECOND, DropReason::Unexpected), 3);
    assert_eq!((0..3).map(|seat| wanted(&driver, seat)).sum::<usize>(), 0);
    for _ in 0..200 {
        say(&mut driver, FIRST, SECOND, inquiry(&[0, 1, 2]));
        say(&mut driver, LIAR, FIRST, notice());
        run(&mut driver, secs(1));
    }
    assert_eq!(wanted(&driver, SECOND), 5, "one in 45 s, whatever a sequencer says");
    assert_eq!(wanted(&driver, FIRST), 1, "one for each replica that says so, and one a minute");
}

#[test]
fn in_a_rollback_session_calls_count_once_in_a_while() {
    let _alone = alone();
    let mut driver = rollback_of_three(true);
    for _ in 0..200 {
        say(&mut driver, LIAR, SECOND, Message::Inquiry(Inquiry::default()));
        run(&mut driver, secs(1));
    }
    for seat in 0..3 {
        assert_eq!(wanted(&driver, seat), 5, "one in 45 s, whatever is called");
    }
    assert!(drops(&driver, SECOND, DropReason::Unexpected) > 100);
    assert!(driver.seats.iter().all(|seat| playing(&seat.session)));
}

#[test]
fn strangers_get_nothing() {
    let _alone = alone();
    let mut driver = rollback_of_three(false);
    let link = driver.network.enter();
    run(&mut driver, ms(100));
    say(&mut driver, LIAR, FIRST, notice());
    run(&mut driver, ms(100));
    driver.seats[FIRST].session.give_evidence(vec![5; 100_000]).expect("it is wanted");
    let before = drops(&driver, FIRST, DropReason::UnknownPeer);
    for message in [announced(&[7; 9]), chunk(&[7; 9]), Message::Parcel(Parcel::Received(0))] {
        hear(&mut driver, FIRST, link.peer(), wire(message));
    }
    assert_eq!(drops(&driver, FIRST, DropReason::UnknownPeer), before + 3);
    run(&mut driver, secs(20));
    let to_it = driver.network.carried(driver.peer(FIRST), link.peer());
    assert!(to_it.bytes < 1_000, "{to_it:?}");
}

fn wire(message: Message) -> Vec<u8> {
    lockstone_net::wire::encode(Epoch::default(), &message)
}
