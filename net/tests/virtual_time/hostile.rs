//! Packets that nobody honest sends: dropped and counted, never a panic, and honest
//! peers stay equal.

use core::time::Duration;

use lockstone_net::limits::*;
use lockstone_net::link::{Channel, Link, LinkEvent, PeerId};
use lockstone_net::memory::{Driver, MemoryLink, MemoryNetwork, Weather};
use lockstone_net::party::{Party, PartySettings};
use lockstone_net::session::{DropReason, EndReason, Session};
use lockstone_net::wire::{self, *};
use lockstone_sim::{PlayerId, Simulation, Tick, codec};
use proptest::prelude::*;
use testkit::sessions::messages::messages;
use testkit::sessions::*;

fn packets() -> Vec<Vec<u8>> {
    messages(Epoch(0)).iter().map(|message| wire::encode(Epoch(0), message)).collect()
}

#[test]
fn every_message_is_read_as_it_was_written() {
    for epoch in [Epoch(0), Epoch(1_000_000)] {
        for message in messages(epoch) {
            assert_eq!(wire::decode(&wire::encode(epoch, &message)), Ok((epoch, message.clone())));
        }
    }
}

#[test]
fn every_truncation_and_extension_is_an_error() {
    for packet in packets() {
        for len in 0..packet.len() {
            assert!(wire::decode(&packet[..len]).is_err(), "{len} of {packet:?}");
        }
        let longer = [packet.as_slice(), &[0]].concat();
        assert!(wire::decode(&longer).is_err(), "{packet:?} and one byte more");
    }
    let oversized = vec![0; PACKET_BYTES_MAX + 1];
    assert_eq!(wire::decode(&oversized), Err(WireError::Oversized { len: PACKET_BYTES_MAX + 1 }));
}

#[test]
fn lengths_that_the_packet_cannot_hold_are_errors() {
    // Epoch 0 and a tag, then a length of 2^63 where a list or a byte string begins.
    let huge = [&[253][..], &(1_u64 << 63).to_le_bytes()].concat();
    let chunk = [&[0, 5][..], &huge].concat();
    let refusal = [&[0, 1, 0][..], &huge].concat();
    let hello_name = [&[0, 0, 1, 1, 2, 3][..], &huge].concat();
    for packet in [chunk, refusal, hello_name] {
        assert!(wire::decode(&packet).is_err());
    }
    let inconsistent = |turns| wire::decode(&wire::encode(Epoch(0), &Message::Turns(turns))).is_err();
    let turn = || (5, RawTurn::default());
    let turns = |list: Vec<_>| list.try_into().expect("fits");
    assert!(inconsistent(Turns { ticks: TICKS_PER_PACKET_MAX + 1, ..Turns::default() }));
    assert!(inconsistent(Turns { from: Tick(u32::MAX), ticks: 1, ..Turns::default() }));
    assert!(inconsistent(Turns { ticks: 5, turns: turns(vec![turn()]), ..Turns::default() }));
    assert!(inconsistent(Turns { ticks: 9, turns: turns(vec![turn(), turn()]), ..Turns::default() }));
}

/// What an attacker does to a packet.
#[derive(Clone, Debug)]
enum Mischief {
    Random(Vec<u8>),
    /// Packet, byte and what is done to it.
    Mutated(usize, Vec<(usize, u8)>),
    Truncated(usize, usize),
    Whole(usize),
    Oversized,
}

fn mischief() -> impl Strategy<Value = Mischief> {
    let which = 0..packets().len();
    prop_oneof![
        2 => proptest::collection::vec(any::<u8>(), 0..60).prop_map(Mischief::Random),
        6 => (which.clone(), proptest::collection::vec((any::<usize>(), any::<u8>()), 1..6))
            .prop_map(|(packet, changes)| Mischief::Mutated(packet, changes)),
        2 => (which.clone(), any::<usize>()).prop_map(|(packet, len)| Mischief::Truncated(packet, len)),
        3 => which.prop_map(Mischief::Whole),
        1 => Just(Mischief::Oversized),
    ]
}

fn bytes_of(mischief: &Mischief) -> Vec<u8> {
    let packets = packets();
    match mischief {
        Mischief::Random(bytes) => bytes.clone(),
        Mischief::Mutated(packet, changes) => {
            let mut bytes = packets[*packet].clone();
            for (at, value) in changes {
                let len = bytes.len();
                bytes[at % len] ^= value;
            }
            bytes
        }
        Mischief::Truncated(packet, len) => packets[*packet][..len % packets[*packet].len()].to_vec(),
        Mischief::Whole(packet) => packets[*packet].clone(),
        // The largest that the carrier takes; larger ones are handed to the party directly below.
        Mischief::Oversized => vec![0xab; PACKET_BYTES_MAX],
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn decoding_never_panics_and_reads_only_what_it_would_write(mischief in mischief()) {
        let bytes = bytes_of(&mischief);
        if let Ok((epoch, message)) = wire::decode(&bytes) {
            let again = wire::encode(epoch, &message);
            // Integers may be written longer than needed; what they mean is the same.
            prop_assert_eq!(wire::decode(&again), Ok((epoch, message)));
        }
        let _ = wire::hello_version(&bytes);
    }
}

/// Hands an event to a party directly, as its carrier would.
fn inject(driver: &mut Driver<Party<Mixer>>, seat: usize, from: PeerId, bytes: Vec<u8>) {
    let now = driver.now();
    let event = LinkEvent::Packet { from, channel: Channel::Unreliable, bytes };
    driver.seats[seat].session.handle(event, now);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// A stranger and a player of the session both send rubbish to everyone, while others
    /// join, load and play.
    #[test]
    fn honest_peers_stay_equal_whatever_a_stranger_and_a_player_send(
        mischiefs in proptest::collection::vec(mischief(), 60..160),
        seed in any::<u64>(),
    ) {
        let mut driver = Driver::new(MemoryNetwork::new(seed, Weather::clear(ms(20))));
        for n in 0..3 {
            driver.enter(party(PartySettings::default(), &format!("player {n}")));
        }
        let stranger = driver.network.enter();
        for (n, mischief) in mischiefs.iter().enumerate() {
            let until = driver.now() + ms(30);
            driver.run_until(until);
            // Seat 2 is the player whose name is abused: what it says is believed of it alone.
            let insider = driver.peer(2);
            for seat in 0..driver.seats.len() {
                inject(&mut driver, seat, stranger.peer(), bytes_of(mischief));
                if seat != 2 {
                    inject(&mut driver, seat, insider, bytes_of(mischief));
                }
            }
            if n == 30 {
                driver.enter(party(PartySettings::default(), "late"));
            }
            let _ = driver.seats[n % 2].session.command(n as u64);
        }
        let until = driver.now() + secs(3);
        driver.run_until(until);
        let founder = Played::of(&driver.seats[0].events);
        for seat in [0, 1, 3] {
            prop_assert!(playing(&driver.seats[seat].session), "seat {} does not play", seat);
            let compared = assert_same(&founder, &Played::of(&driver.seats[seat].events), "honest peers");
            prop_assert!(compared >= 4);
            let stats = driver.seats[seat].session.stats();
            prop_assert!(stats.drops.total() > 10, "{:?}", stats.drops);
        }
    }

    /// A replica whose sequencer sends rubbish at any point of its way into the session.
    #[test]
    fn a_replica_survives_its_sequencer(
        mischiefs in proptest::collection::vec(mischief(), 20..60),
        honest_steps in 0_usize..4,
    ) {
        let (mut driver, mut founder) = false_founder(honest_steps);
        for mischief in &mischiefs {
            let from = founder.peer();
            inject(&mut driver, 0, from, bytes_of(mischief));
            while founder.poll().is_some() {}
            let until = driver.now() + ms(40);
            driver.run_until(until);
        }
    }
}

/// A world as a joiner is sent it: a ledger without members stands before it.
fn packed_world() -> Vec<u8> {
    let electorates = ((vec![PlayerId(0)], PlayerId(0)), None::<()>);
    let ledger = (Vec::<()>::new(), electorates, 1_u16, Vec::<()>::new(), Branch(1), Tick(0), Vec::<()>::new());
    codec::compact(&(ledger, Mixer::new(0, 64).encoded()))
}

/// A party whose room was founded by someone we play: it has heard hello, and `steps` of what
/// follows honestly.
fn false_founder(steps: usize) -> (Driver<Party<Mixer>>, MemoryLink) {
    let mut driver = Driver::new(MemoryNetwork::new(1, Weather::clear(ms(20))));
    let mut founder = driver.network.enter();
    driver.enter(party(PartySettings::default(), "joiner"));
    driver.run_until(ms(100));
    let bytes = packed_world();
    let welcome = Message::Welcome(Welcome {
        attempt: 0,
        player: PlayerId(1),
        sequencer: PlayerId(0),
        plays: None,
        seed: 0,
        tick: Tick(0),
        snapshot_bytes: bytes.len() as u32,
        snapshot_digest: testkit::sessions::digest(&bytes),
        roster: List::default(),
    });
    let join = RawInput::Join(
        PlayerId(1),
        Name::new("joiner").expect("a name"),
        codec::compact(&(5_u64, Tick(0))).try_into().expect("fits"),
    );
    let turns = Turns {
        ticks: 8,
        turns: vec![(2, vec![join].try_into().expect("fits"))].try_into().expect("fits"),
        ..Turns::default()
    };
    let honest = [welcome, Message::Chunk(bytes.try_into().expect("fits")), Message::Turns(turns)];
    let joiner = driver.peer(0);
    for message in honest.iter().take(steps) {
        founder.send(joiner, Channel::Reliable, wire::encode(Epoch(0), message));
        let until = driver.now() + ms(500);
        driver.run_until(until);
    }
    if steps >= 3 {
        assert!(playing(&driver.seats[0].session), "{:?}", driver.seats[0].events);
    }
    (driver, founder)
}

#[test]
fn forgeries_are_counted_and_change_nothing() {
    let mut driver = session(3, &PartySettings::default(), ms(20));
    let insider = driver.peer(2);
    let report = |number| Report { stamp: Stamp { number, echo: None }, ..Report::default() };
    let of = |driver: &Driver<Party<Mixer>>, reason| driver.seats[0].session.stats().drops.of(reason);
    let send = |driver: &mut Driver<Party<Mixer>>, epoch, message: Message| {
        inject(driver, 0, insider, wire::encode(epoch, &message));
    };

    let future = Report { known: Tick(1 << 30), ..report(5_000) };
    send(&mut driver, Epoch(0), Message::Report(future));
    assert_eq!(of(&driver, DropReason::ForgedAck), 1);
    send(&mut driver, Epoch(0), Message::ChunkAck(1 << 20));
    send(&mut driver, Epoch(7), Message::Report(report(5_001)));
    assert_eq!(of(&driver, DropReason::StaleEpoch), 1);
    send(&mut driver, Epoch(0), Message::Report(report(5_000)));
    assert_eq!(of(&driver, DropReason::Replayed), 1);
    send(&mut driver, Epoch(0), Message::Ready);
    send(&mut driver, Epoch(0), Message::Ending);
    assert_eq!(of(&driver, DropReason::Unexpected), 3);
    // Not a u64, as this simulation's commands are.
    let commands = vec![vec![255; 9].try_into().expect("fits")].try_into().expect("fits");
    let first_command = 0;
    send(&mut driver, Epoch(0), Message::Report(Report { commands, first_command, ..report(5_002) }));
    assert_eq!(of(&driver, DropReason::BadCommand), 1);
    inject(&mut driver, 0, insider, vec![0; PACKET_BYTES_MAX + 1]);
    assert_eq!(of(&driver, DropReason::Oversized), 1);

    let until = driver.now() + secs(3);
    driver.run_until(until);
    for seat in 1..3 {
        assert!(playing(&driver.seats[seat].session));
        let [a, b] = [0, seat].map(|seat| Played::of(&driver.seats[seat].events));
        assert!(assert_same(&a, &b, "after forgeries") >= 4);
    }
}

#[test]
fn a_member_that_votes_alone_unseats_nobody() {
    let mut driver = session(4, &PartySettings::default(), ms(20));
    let insider = driver.peer(3);
    let (mut longest, mut newest, mut grew) = (ms(0), driver.seats[1].session.settled(), driver.now());
    for round in 0..400_u32 {
        // It claims to know more than all, and wants itself as the sequencer.
        let vote = Vote { epoch: Epoch(1 + round), leader: PlayerId(3) };
        let branch = driver.seats[0].session.stats().branch;
        let known = Known { epoch: Epoch(round), end: Tick(1 << 20), branch, leader: PlayerId(0) };
        let stand = Stand { doubts: Some(Epoch(2 + round)), ..Stand::of(vote, known) };
        for seat in 0..3 {
            inject(&mut driver, seat, insider, wire::encode(Epoch(0), &Message::Stand(stand.clone())));
        }
        let until = driver.now() + ms(50);
        driver.run_until(until);
        if driver.seats[1].session.settled() > newest {
            (newest, grew) = (driver.seats[1].session.settled(), driver.now());
        }
        longest = longest.max(driver.now() - grew);
    }
    println!("the longest time without a turn: {longest:?}");
    assert!(longest < ms(1_000), "{longest:?} without a turn");
    for seat in 0..3 {
        assert!(playing(&driver.seats[seat].session), "seat {seat}");
        assert_eq!(driver.seats[seat].session.stats().sequencer(), Some(PlayerId(0)), "as seat {seat} sees it");
    }
}

#[test]
fn a_stranger_that_claims_to_lead_more_players_makes_no_sequencer_yield() {
    let mut driver = session(3, &PartySettings::default(), ms(20));
    let stranger = driver.network.enter();
    for _ in 0..100 {
        let stats = driver.seats[0].session.stats();
        let age = Rank::SHARED + stats.tick.0.ilog2() as u8 + 1;
        let yours = Some(Rank { members: stats.players.len() as u16, age, branch: stats.branch });
        let meet = Meet { ours: Rank { members: 16, age: u8::MAX, branch: Branch(9) }, yours };
        inject(&mut driver, 0, stranger.peer(), wire::encode(Epoch(0), &Message::Meet(meet)));
        // Nor does a member that is there.
        let insider = driver.peer(2);
        inject(&mut driver, 0, insider, wire::encode(Epoch(0), &Message::Meet(meet)));
        let until = driver.now() + ms(50);
        driver.run_until(until);
    }
    for seat in 0..3 {
        assert!(playing(&driver.seats[seat].session), "seat {seat}");
        assert_eq!(driver.seats[seat].session.stats().sequencer(), Some(PlayerId(0)));
    }
    assert!(driver.seats[0].session.stats().drops.of(DropReason::Unexpected) >= 100);
}

#[test]
fn a_flood_of_commands_and_packets_is_held_back() {
    let mut driver = session(3, &PartySettings::default(), ms(20));
    let insider = driver.peer(2);
    let start = driver.now();
    for round in 0..50_u32 {
        for n in 0..100 {
            let number = 10_000 + round * 100 + n;
            let first_command = (round * 100 + n) * 32;
            let commands: Vec<CommandBytes> = (0..32).map(|_| vec![1].try_into().expect("fits")).collect();
            let stamp = Stamp { number, echo: None };
            let commands = commands.try_into().expect("fits");
            let report = Report { stamp, first_command, commands, ..Report::default() };
            inject(&mut driver, 0, insider, wire::encode(Epoch(0), &Message::Report(report)));
        }
        driver.run_until(start + ms(50 * u64::from(round)));
    }
    let drops = driver.seats[0].session.stats().drops;
    assert!(drops.of(DropReason::OverRate) > 500, "{drops:?}");
    assert!(drops.of(DropReason::CommandFlood) > 1_000, "{drops:?}");
    let played = Played::of(&driver.seats[0].events);
    let most = played.turns.values().map(|turn| turn.inputs.len()).max().expect("turns");
    assert!(most <= COMMANDS_PER_TURN_MAX + 2, "{most} inputs in a turn");
    driver.run_until(start + secs(6));
    assert!(playing(&driver.seats[1].session));
    let [a, b] = [0, 1].map(|seat| Played::of(&driver.seats[seat].events));
    assert!(assert_same(&a, &b, "after a flood") >= 8);
}

#[test]
fn a_false_snapshot_ends_the_joiner_with_a_reason() {
    let end_after = |message: Message| {
        let (mut driver, mut founder) = false_founder(1);
        let joiner = driver.peer(0);
        founder.send(joiner, Channel::Reliable, wire::encode(Epoch(0), &message));
        driver.run_until(secs(2));
        ended(&driver.seats[0].session)
    };
    let chunk = |len| Message::Chunk(vec![0; len].try_into().expect("fits"));
    assert!(matches!(end_after(chunk(CHUNK_BYTES)), Some(EndReason::Transfer(_))), "longer than announced");
    assert!(matches!(end_after(chunk(0)), Some(EndReason::Transfer(_))), "an empty piece");
    let len = packed_world().len();
    assert!(matches!(end_after(chunk(len)), Some(EndReason::Transfer(_))), "other bytes than announced");
    // It hangs: the joiner gives up by itself.
    let (mut driver, _founder) = false_founder(1);
    let until = driver.now() + Duration::from_secs(31);
    driver.run_until(until);
    assert_eq!(ended(&driver.seats[0].session), Some(EndReason::SequencerLost { silent: true }));
}

#[test]
fn a_packet_that_comes_after_its_sender_is_gone_leaves_no_trace() {
    let (mut founder, peer) = (party(PartySettings::default(), "founder"), PeerId(1 << 64));
    founder.handle(LinkEvent::Entered(PeerId(7)), ms(0));
    founder.handle(LinkEvent::Connected(peer), ms(1));
    founder.handle(LinkEvent::Disconnected(peer), ms(2));
    let before = founder.stats().traffic;
    let packet = LinkEvent::Packet { from: peer, channel: Channel::Reliable, bytes: packets().remove(0) };
    founder.handle(packet, ms(3));
    assert_eq!(founder.stats().drops.of(DropReason::UnknownPeer), 1);
    assert_eq!(founder.stats().traffic, before);
    assert!(founder.poll_transmit().is_none(), "nobody is answered");
}
