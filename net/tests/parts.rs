//! Sequencer, feed, replica, playout and transfer, each on its own.

use core::time::Duration;

use lockstone_net::intake::{Full, Intake, Progress};
use lockstone_net::limits::*;
use lockstone_net::link::Channel;
use lockstone_net::playout::Playout;
use lockstone_net::sequencer::{Feed, FromTheFuture, Sequencer, Taken};
use lockstone_net::transfer::{BadAck, Receiver, SnapshotSender, TransferError, digest};
use lockstone_net::wire::*;
use lockstone_sim::{PlayerId, Tick};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn command(byte: u8) -> CommandBytes {
    vec![byte].try_into().expect("fits")
}

fn name() -> Name {
    Name::new("Ada").expect("a name")
}

/// A sequencer whose players are in the world, at tick 1.
fn sequencer(players: u16) -> Sequencer {
    let mut sequencer = Sequencer::starting_at(Tick(0));
    for player in 0..players {
        sequencer.join(PlayerId(player), name(), Bytes::default());
    }
    sequencer.close();
    sequencer
}

fn take(sequencer: &mut Sequencer, player: u16, first: u32, bytes: &[u8]) -> Taken {
    let commands: Vec<_> = bytes.iter().map(|byte| command(*byte)).collect();
    sequencer.commands(PlayerId(player), first, &commands, |command| command[0] != 0)
}

#[test]
fn a_turn_has_leaves_joins_requests_then_commands_by_player_and_number() {
    let mut sequencer = sequencer(3);
    take(&mut sequencer, 2, 0, &[21, 22]);
    sequencer.request(vec![9].try_into().expect("fits"));
    take(&mut sequencer, 1, 0, &[11]);
    sequencer.join(PlayerId(5), name(), Bytes::default());
    sequencer.leave(PlayerId(0), LeaveReason::Left);
    sequencer.close();
    let expected = [
        RawInput::Leave(PlayerId(0), LeaveReason::Left),
        RawInput::Join(PlayerId(5), name(), Bytes::default()),
        RawInput::Request(vec![9].try_into().expect("fits")),
        RawInput::Command(PlayerId(1), command(11)),
        RawInput::Command(PlayerId(2), command(21)),
        RawInput::Command(PlayerId(2), command(22)),
    ];
    assert_eq!(sequencer.turn(Tick(1)), expected);
}

#[test]
fn commands_are_taken_once_and_in_order() {
    let mut sequencer = sequencer(1);
    assert_eq!(take(&mut sequencer, 0, 0, &[1, 2]), Taken { new: 2, ..Taken::default() });
    assert_eq!(take(&mut sequencer, 0, 0, &[1, 2, 3]), Taken { new: 1, repeated: 2, ..Taken::default() });
    assert_eq!(take(&mut sequencer, 0, 5, &[6]), Taken { refused: 1, ..Taken::default() }, "3 and 4 are missing");
    assert_eq!(take(&mut sequencer, 0, 3, &[0]), Taken { malformed: 1, ..Taken::default() });
    assert_eq!(sequencer.commands_taken(PlayerId(0)), 4, "what is no command is taken, and dropped");
    assert_eq!(take(&mut sequencer, 9, 0, &[1]), Taken { refused: 1, ..Taken::default() }, "nobody's");
    sequencer.close();
    assert_eq!(sequencer.turn(Tick(1)).len(), 3);
}

#[test]
fn many_commands_spread_over_turns() {
    let mut sequencer = sequencer(1);
    let bytes = [7; COMMANDS_QUEUED_MAX + 6];
    let taken = take(&mut sequencer, 0, 0, &bytes);
    assert_eq!(taken, Taken { new: COMMANDS_QUEUED_MAX as u64, refused: 6, ..Taken::default() });
    for tick in 1..=(COMMANDS_QUEUED_MAX / COMMANDS_PER_TURN_MAX) as u32 {
        sequencer.close();
        assert_eq!(sequencer.turn(Tick(tick)).len(), COMMANDS_PER_TURN_MAX);
    }
    sequencer.close();
    assert!(sequencer.turn(Tick(17)).is_empty());
}

#[test]
fn who_leaves_before_the_join_was_closed_was_never_there() {
    let mut sequencer = sequencer(1);
    sequencer.join(PlayerId(1), name(), Bytes::default());
    sequencer.leave(PlayerId(1), LeaveReason::Lost);
    sequencer.close();
    assert!(sequencer.turn(Tick(1)).is_empty());
    sequencer.leave(PlayerId(1), LeaveReason::Lost);
    sequencer.close();
    assert!(sequencer.turn(Tick(2)).is_empty());
}

#[test]
fn the_largest_turn_fits_a_packet() {
    let mut sequencer = sequencer(0);
    let full = |len| vec![255_u8; len];
    for player in 0..PLAYERS_MAX as u16 {
        sequencer.join(PlayerId(60_000 + player), name(), Bytes::default());
    }
    (0..4).for_each(|_| sequencer.close());
    for player in 0..PLAYERS_MAX as u16 {
        let long: CommandBytes = full(COMMAND_BYTES_MAX).try_into().expect("fits");
        sequencer.commands(PlayerId(60_000 + player), 0, &vec![long; COMMANDS_PER_TURN_MAX], |_| true);
    }
    let long_name = Name::new(&"x".repeat(NAME_BYTES_MAX)).expect("a name");
    for player in 0..JOINS_PER_TURN_MAX as u16 {
        let join = full(JOIN_BYTES_MAX).try_into().expect("fits");
        sequencer.join(PlayerId(65_000 + player), long_name.clone(), join);
    }
    for _ in 0..REQUESTS_PER_TURN_MAX {
        sequencer.request(full(REQUEST_BYTES_PER_TURN_MAX / REQUESTS_PER_TURN_MAX).try_into().expect("fits"));
    }
    let tick = sequencer.open();
    sequencer.close();
    let mut feed = Feed::new(tick);
    let packets = feed.packets(sequencer.history(), tick, ms(0), 0);
    let [(channel, turns)] = &packets[..] else { panic!("one packet") };
    assert_eq!(*channel, Channel::Unreliable, "one turn is never split");
    let inputs = PLAYERS_MAX * COMMANDS_PER_TURN_MAX + JOINS_PER_TURN_MAX + REQUESTS_PER_TURN_MAX;
    assert_eq!(turns.turns[0].1.len(), inputs);
    let bytes = encode(Epoch(0), &Message::Turns(turns.clone()));
    assert!(bytes.len() <= PACKET_BYTES_MAX, "{} bytes", bytes.len());
    assert!(decode(&bytes).is_ok());
}

#[test]
fn a_turn_goes_out_three_times_unless_it_is_acknowledged() {
    let mut sequencer = sequencer(1);
    let mut feed = Feed::new(Tick(1));
    let send = |sequencer: &mut Sequencer, feed: &mut Feed| {
        sequencer.close();
        let tick = sequencer.open();
        let [(Channel::Unreliable, turns)] = &feed.packets(sequencer.history(), tick, ms(0), 0)[..] else {
            panic!("one packet")
        };
        turns.turns.len()
    };
    take(&mut sequencer, 0, 0, &[1]);
    let sent: Vec<_> = (0..5).map(|_| send(&mut sequencer, &mut feed)).collect();
    assert_eq!(sent, [1, 1, 1, 0, 0]);
    take(&mut sequencer, 0, 1, &[2]);
    assert_eq!(send(&mut sequencer, &mut feed), 1);
    let report = Report { known: sequencer.open(), ..Report::default() };
    feed.acknowledge(&report, sequencer.open(), ms(0)).expect("closed");
    assert_eq!(send(&mut sequencer, &mut feed), 0);
    // The replica says that it misses what was thought to have arrived, then claims what is not closed.
    let asking = Report { missing: true, ..report.clone() };
    feed.acknowledge(&asking, sequencer.open(), ms(500)).expect("closed");
    assert!(feed.due(sequencer.open(), 100), "an asker is answered at once");
    let future = Report { known: sequencer.open().next(), ..Report::default() };
    assert_eq!(feed.acknowledge(&future, sequencer.open(), ms(500)), Err(FromTheFuture));
}

#[test]
fn a_replica_far_behind_gets_everything_reliably() {
    let mut sequencer = sequencer(1);
    let mut feed = Feed::new(Tick(1));
    for number in 0..2_000 {
        take(&mut sequencer, 0, number, &[1]);
        sequencer.close();
    }
    let mut replica = Intake::<RawTurn>::new(Tick(1), ms(100));
    let mut packets = 0;
    while replica.known() < sequencer.open() {
        for (channel, turns) in feed.packets(sequencer.history(), sequencer.open(), ms(0), 0) {
            packets += 1;
            assert_eq!(channel, Channel::Reliable);
            assert!(encode(Epoch(0), &Message::Turns(turns.clone())).len() <= BULK_PACKET_BYTES_MAX + 64);
            assert!(matches!(replica.take_turns(turns, ms(0)), Ok(Progress::New(_))));
        }
    }
    assert_eq!(packets, 2, "some 20 KB");
    let played = std::iter::from_fn(|| replica.next_turn()).filter(|turn| turn.len() == 1).count();
    assert_eq!(played, 2_000);
}

fn turns(number: u32, from: u32, ticks: u32) -> Turns {
    let stamp = Stamp { number, echo: None };
    Turns { stamp, from: Tick(from), ticks, ..Turns::default() }
}

#[test]
fn a_replica_joins_up_what_arrives_and_asks_for_what_is_missing() {
    let mut replica = Intake::<RawTurn>::new(Tick(10), ms(100));
    assert_eq!(replica.take_turns(turns(0, 10, 3), ms(0)), Ok(Progress::New(Tick(10))));
    assert!(replica.take_turns(turns(0, 10, 3), ms(0)).is_err(), "the same packet");
    assert_eq!(replica.take_turns(turns(1, 9, 2), ms(0)), Ok(Progress::Old));
    assert_eq!(replica.take_turns(turns(2, 12, 5), ms(0)), Ok(Progress::New(Tick(13))));
    replica.report(ms(0));
    assert_eq!(replica.take_turns(turns(4, 18, 2), ms(10)), Ok(Progress::Gap));
    assert_eq!(replica.report_at(), ms(0), "asked for at once");
    assert!(replica.report(ms(10)).missing);
    assert!(replica.report_at() >= ms(110), "and again only after a pause");
    assert_eq!(replica.take_turns(turns(3, 17, 3), ms(20)), Ok(Progress::New(Tick(17))));
    assert!(!replica.report(ms(20)).missing);
    let beyond = turns(9, 20, TICKS_PER_PACKET_MAX);
    let packets = (0..8).map(|n| Turns { from: Tick(20 + n * TICKS_PER_PACKET_MAX), ..beyond.clone() });
    let packets = packets.zip(10..).map(|(turns, number)| Turns { stamp: Stamp { number, echo: None }, ..turns });
    let progress: Vec<_> = packets.map(|turns| replica.take_turns(turns, ms(30)).expect("new numbers")).collect();
    assert!(progress.contains(&Progress::TooFarAhead));
    assert!(replica.known().since(replica.next()) <= TICKS_AHEAD_MAX);
}

#[test]
fn a_command_is_reported_until_it_is_taken() {
    let mut replica = Intake::<RawTurn>::new(Tick(0), ms(100));
    replica.report(ms(0));
    replica.command(command(1)).expect("room");
    assert_eq!(replica.report_at(), ms(0));
    assert_eq!(replica.report(ms(50)).commands.len(), 1);
    let again = replica.report_at();
    assert!(again > ms(200) && again < ms(500), "{again:?}");
    replica.command(command(2)).expect("room");
    let report = replica.report(again);
    assert_eq!((report.first_command, report.commands.len()), (0, 2));
    let forged = Turns { commands_taken: 77, ..turns(0, 0, 1) };
    replica.take_turns(forged, again).expect("new");
    assert_eq!(replica.commands_pending(), 2, "more taken than sent: not believed");
    let taken = Turns { commands_taken: 1, ..turns(1, 1, 1) };
    replica.take_turns(taken, again).expect("new");
    let report = replica.report(again + ms(1));
    assert_eq!((report.first_command, report.commands.len()), (1, 1));
    for n in 1..COMMANDS_PENDING_MAX {
        replica.command(command(n as u8)).expect("room");
    }
    assert_eq!(replica.command(command(0)), Err(Full));
    assert_eq!(replica.report(again + ms(2)).commands.len(), COMMANDS_PER_PACKET_MAX);
}

#[test]
fn playout_waits_for_the_latest_and_hurries_after_an_outage() {
    let mut playout = Playout::new(ms(50));
    assert_eq!(playout.time_of(Tick(0)), None);
    // Each turn arrives 30 ms after its time, each tenth 90 ms.
    let late = |n: u32| if n.is_multiple_of(10) { 90 } else { 30 };
    let arrive = |playout: &mut Playout, n: u32, late: u64| {
        playout.arrived(Tick(n), Tick(n + 1), ms(u64::from(n) * 50 + late));
    };
    (0..100).for_each(|n| arrive(&mut playout, n, late(n)));
    let lag = |playout: &Playout, n: u32| playout.time_of(Tick(n)).expect("arrived") - ms(u64::from(n) * 50);
    assert!(lag(&playout, 100) >= ms(90) && lag(&playout, 100) <= ms(101), "{:?}", lag(&playout, 100));
    // Nothing for 3 s, then all of it: what is overdue is due at once, and the lag of before is back.
    let back = ms(160 * 50);
    playout.arrived(Tick(100), Tick(160), back);
    assert!(playout.time_of(Tick(130)).expect("arrived") < back);
    (160..260).for_each(|n| arrive(&mut playout, n, 30));
    assert!(lag(&playout, 260) <= ms(60), "{:?}", lag(&playout, 260));
}

#[test]
fn a_snapshot_goes_through_under_a_window() {
    let bytes: Vec<u8> = (0..500_000_u32).map(|n| (n * 7) as u8).collect();
    let mut sender = SnapshotSender::new(bytes.as_slice().into());
    let mut receiver = Receiver::new(bytes.len() as u32, digest(&bytes));
    let mut under_way = std::collections::VecDeque::new();
    loop {
        under_way.extend(std::iter::from_fn(|| sender.next_chunk()));
        assert!(under_way.len() <= CHUNKS_IN_FLIGHT_MAX);
        let Some(chunk) = under_way.pop_front() else { break };
        let received = receiver.take(&chunk).expect("no longer than announced");
        assert_eq!(sender.acknowledge(500_001), Err(BadAck));
        sender.acknowledge(received).expect("sent");
        assert_eq!(sender.acknowledge(received - 1), Err(BadAck));
    }
    assert!(sender.done());
    assert_eq!(receiver.finish(), Ok(Some(bytes)));
    let mut receiver = Receiver::new(3, 1);
    assert_eq!(receiver.take(&[1, 2, 3, 4]), Err(TransferError::Length));
    receiver.take(&[1, 2, 3]).expect("fits");
    assert_eq!(receiver.finish(), Err(TransferError::Digest));
}
