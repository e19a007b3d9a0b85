//! The parts of a sequencer, and its feeds, on their own.

use core::time::Duration;

use lockstone_sim::{PlayerId, Tick};

use super::{Arrival, Capacity, Feed, History, Requests, Taken, Waiting};
use crate::intake::{Intake, Progress};
use crate::limits::*;
use crate::link::{Channel, PeerId};
use crate::session::DropReason;
use crate::wire::*;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn command(byte: u8) -> CommandBytes {
    vec![byte].try_into().expect("fits")
}

/// Turns as they come out of their packet, and how many bytes that has.
fn carried(turns: &Turns<Encoded>) -> (usize, Turns) {
    let bytes = encode_turns(Epoch(0), TurnsKind::Turns, turns);
    match decode(&bytes) {
        Ok((_, Message::Turns(turns))) => (bytes.len(), turns),
        other => panic!("turns were sent, and {other:?} came"),
    }
}

fn name() -> Name {
    Name::new("Ada").expect("a name")
}

/// A party's sequencer, without peers.
#[derive(Default)]
struct Sequencer {
    waiting: Waiting,
    requests: Requests,
    history: History<RawTurn>,
}

impl Sequencer {
    fn close(&mut self, electorate: Vec<RawInput>) {
        let inputs = self.waiting.take(Capacity::PARTY, self.requests.next());
        let inputs: Vec<_> = electorate.into_iter().chain(inputs).collect();
        inputs.iter().for_each(|input| self.requests.closed(input));
        self.history.close_with(&inputs);
    }

    fn turn(&self, tick: Tick) -> &[RawInput] {
        self.history.inputs(tick)
    }

    fn join(&mut self, player: u16, name: Name, join: Bytes<JOIN_BYTES_MAX>) {
        let (player, peer) = (PlayerId(player), PeerId(9));
        self.waiting.arrive(Arrival { player, peer, key: None, name, join: Some(join), commands: 0 });
    }

    fn leave(&mut self, player: u16, reason: LeaveReason) {
        self.waiting.leave(PlayerId(player), RawInput::Leave(PlayerId(player), reason));
    }
}

/// A sequencer whose players are in the world, at tick 1.
fn sequencer(players: u16) -> Sequencer {
    let mut sequencer = Sequencer::default();
    for player in 0..players {
        sequencer.join(player, name(), Bytes::default());
    }
    sequencer.close(Vec::new());
    sequencer
}

fn take(sequencer: &mut Sequencer, player: u16, first: u32, bytes: &[u8]) -> Taken {
    let commands: Vec<_> = bytes.iter().map(|byte| command(*byte)).collect();
    sequencer.waiting.commands(PlayerId(player), first, &commands, |command| command[0] != 0)
}

#[test]
fn a_turn_has_leaves_joins_requests_then_commands_by_player_and_number() {
    let mut sequencer = sequencer(3);
    take(&mut sequencer, 2, 0, &[21, 22]);
    sequencer.requests.ask(vec![9].try_into().expect("fits"));
    take(&mut sequencer, 1, 0, &[11]);
    sequencer.join(5, name(), Bytes::default());
    sequencer.leave(0, LeaveReason::Left);
    sequencer.close(Vec::new());
    let expected = [
        RawInput::Leave(PlayerId(0), LeaveReason::Left),
        RawInput::Member(PlayerId(5), PeerId(9), None),
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
    assert_eq!(sequencer.waiting.commands_came(PlayerId(0)), 4, "what is no command is taken, and dropped");
    assert_eq!(sequencer.waiting.commands_taken(PlayerId(0)), 1, "what waits may be lost with who it waits at");
    assert_eq!(take(&mut sequencer, 9, 0, &[1]), Taken { refused: 1, ..Taken::default() }, "nobody's");
    sequencer.close(Vec::new());
    assert_eq!(sequencer.turn(Tick(1)).len(), 3);
}

#[test]
fn the_last_number_of_all_is_no_panic() {
    let mut sequencer = sequencer(1);
    let refused = take(&mut sequencer, 0, u32::MAX, &[1, 2]).refused;
    assert_eq!(refused, 1, "there is no number for the second");
}

#[test]
fn many_commands_spread_over_turns() {
    let mut sequencer = sequencer(1);
    let bytes = [7; COMMANDS_QUEUED_MAX + 6];
    let taken = take(&mut sequencer, 0, 0, &bytes);
    assert_eq!(taken, Taken { new: COMMANDS_QUEUED_MAX as u64, refused: 6, ..Taken::default() });
    for tick in 1..=(COMMANDS_QUEUED_MAX / COMMANDS_PER_TURN_MAX) as u32 {
        sequencer.close(Vec::new());
        assert_eq!(sequencer.turn(Tick(tick)).len(), COMMANDS_PER_TURN_MAX);
    }
    sequencer.close(Vec::new());
    assert!(sequencer.turn(Tick(17)).is_empty());
}

#[test]
fn who_leaves_before_the_join_was_closed_was_never_there() {
    let mut sequencer = sequencer(1);
    sequencer.join(1, name(), Bytes::default());
    sequencer.leave(1, LeaveReason::Lost);
    sequencer.close(Vec::new());
    assert!(sequencer.turn(Tick(1)).is_empty());
    sequencer.leave(1, LeaveReason::Lost);
    sequencer.close(Vec::new());
    assert!(sequencer.turn(Tick(2)).is_empty());
}

#[test]
fn the_largest_turn_fits_a_packet() {
    let mut sequencer = sequencer(0);
    let full = |len| vec![255_u8; len];
    for player in 0..PLAYERS_MAX as u16 {
        sequencer.join(60_000 + player, name(), Bytes::default());
    }
    (0..4).for_each(|_| sequencer.close(Vec::new()));
    for player in 0..PLAYERS_MAX as u16 {
        let long: CommandBytes = full(COMMAND_BYTES_MAX).try_into().expect("fits");
        sequencer.waiting.commands(PlayerId(60_000 + player), 0, &vec![long; COMMANDS_PER_TURN_MAX], |_| true);
    }
    let long_name = Name::new(&"x".repeat(NAME_BYTES_MAX)).expect("a name");
    for player in 0..JOINS_PER_TURN_MAX as u16 {
        let join = full(JOIN_BYTES_MAX).try_into().expect("fits");
        sequencer.join(65_000 + player, long_name.clone(), join);
    }
    for _ in 0..REQUESTS_PER_TURN_MAX {
        sequencer.requests.ask(full(REQUEST_BYTES_PER_TURN_MAX / REQUESTS_PER_TURN_MAX).try_into().expect("fits"));
    }
    let members = (0..PLAYERS_MAX as u16).map(|player| PlayerId(60_000 + player)).collect::<Vec<_>>();
    let electorate = Electorate { members: members.try_into().expect("fits"), senior: PlayerId(60_000) };
    let tick = sequencer.history.open();
    sequencer.close(vec![RawInput::Electorate(electorate), RawInput::Settled]);
    let mut feed = Feed::new(tick);
    let packets = feed.packets(&sequencer.history, tick, ms(0), 0);
    let [(channel, turns)] = &packets[..] else { panic!("one packet") };
    assert_eq!(*channel, Channel::Unreliable, "one turn is never split");
    let inputs = PLAYERS_MAX * COMMANDS_PER_TURN_MAX + 2 * JOINS_PER_TURN_MAX + REQUESTS_PER_TURN_MAX + 2;
    let (bytes, turns) = carried(turns);
    assert_eq!(turns.turns[0].1.len(), inputs);
    assert!(bytes <= PACKET_BYTES_MAX, "{bytes} bytes");
}

#[test]
fn a_turn_goes_out_three_times_unless_it_is_acknowledged() {
    let mut sequencer = sequencer(1);
    let mut feed = Feed::new(Tick(1));
    let send = |sequencer: &mut Sequencer, feed: &mut Feed| {
        sequencer.close(Vec::new());
        let tick = sequencer.history.open();
        let [(Channel::Unreliable, turns)] = &feed.packets(&sequencer.history, tick, ms(0), 0)[..] else {
            panic!("one packet")
        };
        turns.turns.len()
    };
    take(&mut sequencer, 0, 0, &[1]);
    let sent: Vec<_> = (0..5).map(|_| send(&mut sequencer, &mut feed)).collect();
    assert_eq!(sent, [1, 1, 1, 0, 0]);
    take(&mut sequencer, 0, 1, &[2]);
    assert_eq!(send(&mut sequencer, &mut feed), 1);
    let stamp = |number| Stamp { number, echo: None };
    let report = Report { known: sequencer.history.open(), ..Report::default() };
    feed.take(&report, sequencer.history.open(), ms(0)).expect("closed");
    assert_eq!(send(&mut sequencer, &mut feed), 0);
    // The replica says that it misses what was thought to have arrived, then claims
    // what is not closed.
    let asking = Report { stamp: stamp(1), missing: true, ..report.clone() };
    feed.take(&asking, sequencer.history.open(), ms(500)).expect("closed");
    assert!(feed.due(sequencer.history.open(), 100), "an asker is answered at once");
    let future = Report { stamp: stamp(2), known: sequencer.history.open().next(), ..Report::default() };
    assert_eq!(feed.take(&future, sequencer.history.open(), ms(500)), Err(DropReason::ForgedAck));
    assert_eq!(feed.take(&asking, sequencer.history.open(), ms(500)), Err(DropReason::Replayed));
}

#[test]
fn a_replica_far_behind_gets_everything_reliably() {
    let mut sequencer = sequencer(1);
    let mut feed = Feed::new(Tick(1));
    for number in 0..2_000 {
        take(&mut sequencer, 0, number, &[1]);
        sequencer.close(Vec::new());
    }
    let mut replica = Intake::<RawTurn>::new(Tick(1), ms(100));
    let mut packets = 0;
    while replica.known() < sequencer.history.open() {
        for (channel, turns) in feed.packets(&sequencer.history, sequencer.history.open(), ms(0), 0) {
            packets += 1;
            assert_eq!(channel, Channel::Reliable);
            let (bytes, turns) = carried(&turns);
            assert!(bytes <= BULK_PACKET_BYTES_MAX + 64);
            assert!(matches!(replica.take_turns(turns, ms(0)), Ok(Progress::New(_))));
        }
    }
    assert_eq!(packets, 2, "some 20 KB");
    let played = std::iter::from_fn(|| replica.next_turn()).filter(|turn| turn.len() == 1).count();
    assert_eq!(played, 2_000);
}
