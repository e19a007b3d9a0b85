//! Every limit of a session in one place. Whatever a peer sends is held against one of these.
//!
//! Related limits are asserted at compile time, so that a turn at its largest still
//! fits into a packet. Those of a signaling server are in [`signaling`].

pub mod signaling;

use core::time::Duration;

/// Players of a party, the founder included.
pub const PLAYERS_MAX: usize = 16;

/// Peers of a room with whom a peer of a party or a rollback session is connected, or tries to be.
/// That is one more than a session has places for others, so that this one can be told so.
pub const PEERS_MAX: usize = PLAYERS_MAX;
/// The same of a relay's player: the relay, and who may lead in its place.
pub const HOSTS_MAX: usize = 4;
/// Handshakes under way at once. Who comes to a relay, and is one more, waits.
pub const HANDSHAKES_MAX: usize = 16;
/// Of them, those with players of one address: a few are for others at any time.
pub const ADDRESS_HANDSHAKES_MAX: usize = 12;
/// Those who may wait for one with a relay. Of more, the last of the address of which most wait may
/// come again.
pub const HANDSHAKES_WAITING_MAX: usize = 512;
/// A player whose connection with a relay ends sooner than that was on a short visit, and so was a
/// party's newcomer. A handshake in vain is one, however long it took.
pub const VISIT_TIME: Duration = Duration::from_secs(10);
/// Short visits of peers of one address that others of it need not wait for. After each more they
/// wait twice as long, from a second to a minute.
pub const SHORT_VISITS_MAX: u32 = 4;
/// An address that has no short visit for so long has had none.
pub const VISITS_TIME: Duration = Duration::from_secs(120);
/// Offers to newcomers in [`NEWCOMERS_TIME`], and as many answers to theirs. More wait. Half of the
/// offers are for newcomers who stay for a second.
pub const NEWCOMERS_MAX: u32 = 16;
/// The time within which they are counted.
pub const NEWCOMERS_TIME: Duration = Duration::from_secs(24);
/// Packets of one peer in [`UNANSWERED_TIME`], beside 16 for each that it is sent: who sends more
/// says nothing that a session answers, and is connected no more.
pub const UNANSWERED_PACKETS_MAX: u32 = 256;
/// The time within which they are counted.
pub const UNANSWERED_TIME: Duration = Duration::from_secs(20);
/// Signals of one peer that are taken in [`PEER_SIGNALS_TIME`]. A handshake takes about ten.
pub const PEER_SIGNALS_MAX: u32 = 128;
/// Offers among them. Two who have lost each other make one every four seconds.
pub const PEER_OFFERS_MAX: u32 = 16;
/// The time within which they are counted.
pub const PEER_SIGNALS_TIME: Duration = Duration::from_secs(30);
/// Signals of one handshake.
pub const HANDSHAKE_SIGNALS_MAX: usize = 32;
/// Peers that are remembered, as there was a connection: what newcomers do costs these nothing.
pub const PEERS_KNOWN_MAX: usize = 4 * PEERS_MAX;
/// A peer that has left the room, and says nothing for so long, gives way to another.
pub const IDLE_TIME: Duration = Duration::from_secs(10);
/// So long after it entered a party's room a peer believes the server that the room begins anew.
pub const BEGINS_ANEW_TIME: Duration = Duration::from_secs(30);
/// Messages of a signaling server that are read in a second. More stay where they are.
pub const SERVER_MESSAGES_PER_S_MAX: u32 = 2_048;
/// A message of a signaling server, in bytes. Larger ones are not looked at.
pub const SERVER_MESSAGE_BYTES_MAX: usize = 65_536;

/// A player's name, in bytes of UTF-8.
pub const NAME_BYTES_MAX: usize = 64;
/// What a player says at once, in bytes of UTF-8.
pub const CHAT_BYTES_MAX: usize = 480;
/// Lines that a player may say in a second; half as many again at once.
pub const CHAT_LINES_PER_S: u32 = 2;
/// Lines of one player that are taken in a second; half as many again at once. A line that carried
/// them late brings several together.
pub const CHAT_LINES_PER_S_MAX: u32 = 8;
/// Lines that wait for a replica's budget. Of more the oldest is dropped.
pub const CHAT_LINES_QUEUED_MAX: usize = 16;
/// A hero as a joiner offers it, encoded.
pub const HERO_BYTES_MAX: usize = 1_024;
/// A join as it enters a turn, encoded.
pub const JOIN_BYTES_MAX: usize = 4_096;
/// A command, encoded.
pub const COMMAND_BYTES_MAX: usize = 255;
/// A simulation's request, encoded.
pub const REQUEST_BYTES_MAX: usize = 4_096;

/// Commands of one player in one turn. More wait for the next turn.
pub const COMMANDS_PER_TURN_MAX: usize = 4;
/// Commands of one player that the sequencer lets wait. More are not taken: their sender
/// offers them again.
pub const COMMANDS_QUEUED_MAX: usize = 64;
/// Commands that a replica holds until they are acknowledged. More are refused to the player.
pub const COMMANDS_PENDING_MAX: usize = 64;
/// Commands in one report.
pub const COMMANDS_PER_PACKET_MAX: usize = 32;
/// Joins in one turn. More wait for the next turn.
pub const JOINS_PER_TURN_MAX: usize = 4;
/// Requests in one turn. More wait for the next turn.
pub const REQUESTS_PER_TURN_MAX: usize = 256;
/// Requests in one turn, in bytes.
pub const REQUEST_BYTES_PER_TURN_MAX: usize = 16_384;
/// Requests that wait for a turn. More are dropped and counted.
pub const REQUESTS_QUEUED_MAX: usize = 4_096;
/// So many keys of those who were put out of a party for good are remembered: the newest.
pub const OUTLAWED_MAX: usize = 64;
/// Inputs of one turn.
pub const INPUTS_PER_TURN_MAX: usize =
    PLAYERS_MAX + 2 * JOINS_PER_TURN_MAX + REQUESTS_PER_TURN_MAX + PLAYERS_MAX * COMMANDS_PER_TURN_MAX + 2;

/// Ticks a second of any session, which has one at least.
pub const TICKS_PER_S_MAX: u32 = 100;
/// Turns with inputs in one packet.
pub const TURNS_PER_PACKET_MAX: usize = 1_024;
/// Ticks that one packet closes.
pub const TICKS_PER_PACKET_MAX: u32 = 4_096;
/// A packet of turns on the unreliable channel is kept below this, if one turn alone is not larger:
/// it fits a datagram.
pub const TURN_PACKET_BYTES_MAX: usize = 1_200;
/// A packet of turns on the reliable channel, for a replica that is far behind.
pub const BULK_PACKET_BYTES_MAX: usize = 16 * 1_024;
/// How often a closed turn is sent without being asked for: once, and again in the next packets.
pub const TURN_SENDS: usize = 3;

/// Ticks that a replica knows ahead of the one that it plays, as while it loads. More are not
/// taken.
pub const TICKS_AHEAD_MAX: u32 = 16_384;
/// Ticks that a peer looks ahead of the confirmed world: a round trip of 2 s at 20 ticks a second.
pub const LOOK_AHEAD_TICKS_MAX: u32 = 40;
/// Bytes of the inputs that a replica knows ahead of the tick that it plays.
pub const AHEAD_BYTES_MAX: usize = 16 * 1_024 * 1_024;
/// Ticks that a replica may be behind before the sequencer gives it up.
pub const TICKS_BEHIND_MAX: u32 = 12_000;
/// Bytes of the turns that the sequencer keeps for those who have not acknowledged them. Beyond, it
/// gives up the one farthest behind.
pub const HISTORY_BYTES_MAX: usize = 32 * 1_024 * 1_024;
/// Ticks played in one call of `advance`, so that the caller stays responsive while it catches up.
pub const TICKS_PER_ADVANCE_MAX: u32 = 64;

/// Players of a relay session, the relay's own included.
pub const RELAY_PLAYERS_MAX: usize = 10_000;
/// Joins in one turn of a relay session. More wait for the next turn.
pub const RELAY_JOINS_PER_TURN_MAX: usize = 16;
/// Inputs in one frame: those of all players in the largest core.
pub const FRAME_INPUTS_MAX: usize = RELAY_PLAYERS_MAX + REQUESTS_PER_TURN_MAX;
/// Cells that a replica is given something of in one frame.
pub const FRAME_GIVEN_MAX: usize = 8_192;
/// A frame, encoded. A replica whose frame would be larger is begun anew: it loses its area, and
/// is loaded again.
pub const FRAME_BYTES_MAX: usize = 48 * 1_024;
/// Frames that the relay keeps for one replica that has not acknowledged them, in bytes. Beyond, it
/// gives that replica up.
pub const FRAME_HISTORY_BYTES_MAX: usize = 4 * 1_024 * 1_024;
/// Frames of a relay ride again in the next packets as long as a packet stays below this.
pub const FRAME_REPEAT_BYTES_MAX: usize = 400;
/// Frames that are new and together larger than this are sent on the reliable channel: of what
/// takes many datagrams, one is lost too often.
pub const FRAME_ONCE_BYTES_MAX: usize = 4 * TURN_PACKET_BYTES_MAX;
/// A cell's state, or a change of it.
pub const CELL_BYTES_MAX: usize = 1_024 * 1_024;
/// Cells of one load.
pub const LOAD_CELLS_MAX: usize = 65_536;
/// A load, in bytes.
pub const LOAD_BYTES_MAX: usize = 16 * 1_024 * 1_024;
/// Loads that have not been put in yet and what changed in their cells since, as a replica
/// keeps them, in bytes.
pub const PENDING_BYTES_MAX: usize = 64 * 1_024 * 1_024;
/// A peer that was not driven for so long stood still itself: nobody else was silent meanwhile.
pub const STANDSTILL: Duration = Duration::from_secs(1);

/// Cells in a replica's answer to a difference, or in a piece of it.
pub const TREE_CELLS_MAX: usize = 4_096;
/// Cells of a party's world that are compared one by one. A world with more is repaired as a whole.
pub const PARTS_MAX: usize = 65_536;
/// Repairs of one replica's world within [`REPAIRS_TIME`]. A replica that needs more is put out.
pub const REPAIRS_MAX: u32 = 3;
/// The time within which they are counted.
pub const REPAIRS_TIME: Duration = Duration::from_secs(60);
/// A repair that does not get on for so long is given up.
pub const SURVEY_TIME: Duration = Duration::from_secs(5);

/// Players that one packet tells a replica to have come near, and as many that went.
pub const NEARBY_MAX: usize = 256;

/// Others that a player sees from afar: a party, the player left out. More are not told of.
pub const COMPANIONS_MAX: usize = 15;
/// Players in one packet of the distant view: all that are seen, and as many that are not any more.
pub const SIGHTS_MAX: usize = 2 * COMPANIONS_MAX;
/// Landmarks of a world. More are not told of.
pub const LANDMARKS_MAX: usize = 64;
/// All of them, encoded.
pub const LANDMARK_BYTES_MAX: usize = LANDMARKS_MAX * 20;
/// Packets of the distant view in a second, at most.
pub const DISTANT_PER_S: u32 = 5;
/// A route is told anew after so many ticks, so that nobody has to walk farther to know
/// where its hero is.
pub const ROUTE_TICKS_MAX: u32 = 1_200;
/// From the last of three samples of a hero's place to the first at most, in ticks.
pub const SAMPLE_TICKS_MAX: u16 = 40;
/// A coordinate of a sample, in 64ths of a tile.
pub const SAMPLE_MAX: u32 = 1 << 25;

/// Epochs of which a leader tells how far their turns go. Who knows only older ones loads the
/// world.
pub const EPOCHS_TOLD_MAX: usize = 8;

/// Players of a rollback session.
pub const ROLLBACK_PLAYERS_MAX: usize = 4;
/// Inputs of one player that ggrs holds, in ticks: from the newest confirmed one to the
/// newest that came.
pub const INPUTS_HELD: u32 = 128;
/// Compared checksums that may lie between what two players have. Half of them wait at the one that
/// is behind.
pub const CHECKSUMS_HELD: u32 = 32;
/// Ticks of inputs in one packet.
pub const INPUTS_PER_PACKET_MAX: usize = INPUTS_HELD as usize;
/// How often a checksum rides in a packet of inputs.
pub const CHECKSUM_SENDS: u32 = 4;

/// Checksums in one packet.
pub const CHECKSUMS_PER_PACKET_MAX: usize = 16;
/// Checksums kept for comparison with those of other peers.
pub const CHECKSUMS_KEPT_MAX: usize = 128;

/// Between two keyframes that a session tells: a minute at 20 ticks a second.
pub const KEYFRAME_TICKS: u32 = 1_200;

/// A snapshot, encoded.
pub const SNAPSHOT_BYTES_MAX: usize = 64 * 1_024 * 1_024;
/// A piece of a snapshot.
pub const CHUNK_BYTES: usize = 16 * 1_024;
/// Pieces under way at once.
pub const CHUNKS_IN_FLIGHT_MAX: usize = 16;

/// All peers' evidence of one mismatch, as each peer keeps it in one file.
pub const BUNDLE_BYTES_MAX: usize = 1_000_000;
/// Of them, what the file itself may need: 1 KiB for each player of the largest session.
pub const BUNDLE_FRAME_BYTES_MAX: usize = 1_024 * PLAYERS_MAX;
/// Evidence of one peer, in the smallest session in which worlds can differ: of two players.
pub const EVIDENCE_BYTES_MAX: usize = evidence_bytes_max(2);
/// A piece of evidence. Smaller than a snapshot's, so that a turn behind it hardly waits.
pub const EVIDENCE_CHUNK_BYTES: usize = 4 * 1_024;
/// Pieces of evidence under way at once to one peer.
pub const EVIDENCE_CHUNKS_IN_FLIGHT_MAX: usize = 4;
/// Between two pieces of evidence, to whichever peers: about 100 kB a second in all.
pub const EVIDENCE_CHUNK_INTERVAL: Duration = Duration::from_millis(40);
/// How long a peer waits for its own application to give evidence: long enough to look at
/// another's before.
pub const EVIDENCE_GIVE_TIME: Duration = Duration::from_secs(12);
/// How long an exchange of evidence takes at most. A witness that has not sent all of its own by
/// then is missing.
pub const INQUIRY_TIME: Duration = Duration::from_secs(30);
/// From the begin of an exchange of evidence to that of the next that this peer calls for.
pub const INQUIRY_INTERVAL: Duration = Duration::from_secs(60);
/// The same for one that another peer calls for: shorter, as calls are not equally long under way.
pub const INQUIRY_ANSWER_INTERVAL: Duration = Duration::from_secs(45);
/// How long a replica that has found its own world to differ waits for the sequencer's call.
pub const INQUIRY_CALL_TIME: Duration = Duration::from_secs(3);

/// How long evidence of one peer may be if so many players give theirs: an equal share of the
/// bundle. At 2 players 491,808 bytes, at 4 245,904, at 16 61,476.
pub const fn evidence_bytes_max(players: usize) -> usize {
    let players = if players < 2 { 2 } else { players };
    (BUNDLE_BYTES_MAX - BUNDLE_FRAME_BYTES_MAX) / players
}

/// What can differ in a refusal.
pub const DIFFERENCES_MAX: usize = 10;
/// A party's sequencer signs what its turns come to each time that so many ticks are closed: a
/// multiple of that.
pub const ATTESTED_TICKS: u32 = 600;
/// A rollback player signs what its commands come to each time that so many ticks are settled: a
/// multiple of that.
pub const ROLLBACK_ATTESTED_TICKS: u32 = 40;
/// So many ticks after the end of a span everyone has heard what everyone signed of it.
pub const ROLLBACK_ATTESTED_GRACE_TICKS: u32 = 20;
/// Packets that a peer may send in a second; half as many again at once. More are
/// dropped and counted.
pub const PACKETS_PER_S_MAX: u32 = 1_000;

/// The largest packet, in bytes: what every carrier delivers.
pub const PACKET_BYTES_MAX: usize = 65_536;

/// What a list, a tick or a byte string adds to its content at most, in bytes.
const WRAP_BYTES_MAX: usize = 16;
/// A turn at its largest.
const TURN_BYTES_MAX: usize = PLAYERS_MAX * WRAP_BYTES_MAX
    + JOINS_PER_TURN_MAX * (NAME_BYTES_MAX + JOIN_BYTES_MAX + 3 * WRAP_BYTES_MAX)
    + (PLAYERS_MAX + 2) * WRAP_BYTES_MAX
    + REQUEST_BYTES_PER_TURN_MAX
    + REQUESTS_PER_TURN_MAX * WRAP_BYTES_MAX
    + PLAYERS_MAX * COMMANDS_PER_TURN_MAX * (COMMAND_BYTES_MAX + WRAP_BYTES_MAX);
/// What else a packet of turns holds.
const TURNS_FRAME_BYTES_MAX: usize = 64 + CHECKSUMS_PER_PACKET_MAX * WRAP_BYTES_MAX;

const _: () = assert!(TURN_BYTES_MAX + TURNS_FRAME_BYTES_MAX <= PACKET_BYTES_MAX);
const _: () = assert!(COMMANDS_PER_PACKET_MAX * (COMMAND_BYTES_MAX + 3) + TURNS_FRAME_BYTES_MAX <= PACKET_BYTES_MAX);
const _: () = assert!(CHUNK_BYTES + WRAP_BYTES_MAX <= PACKET_BYTES_MAX);
const _: () = assert!(BULK_PACKET_BYTES_MAX <= PACKET_BYTES_MAX);
const _: () = assert!(FRAME_BYTES_MAX + TURNS_FRAME_BYTES_MAX <= PACKET_BYTES_MAX);
const _: () = assert!(NEARBY_MAX * (NAME_BYTES_MAX + 8) + 64 <= PACKET_BYTES_MAX);
const _: () = assert!(TREE_CELLS_MAX * 14 + 64 <= PACKET_BYTES_MAX);
const _: () = assert!(SIGHTS_MAX * 40 + LANDMARK_BYTES_MAX + 64 <= PACKET_BYTES_MAX);
const _: () = assert!(ADDRESS_HANDSHAKES_MAX < HANDSHAKES_MAX);
const _: () = assert!(COMMANDS_PER_PACKET_MAX <= COMMANDS_PENDING_MAX);
const _: () = assert!(COMMANDS_PENDING_MAX <= COMMANDS_QUEUED_MAX);
const _: () = assert!(REQUEST_BYTES_MAX <= REQUEST_BYTES_PER_TURN_MAX);
const _: () = assert!(TICKS_PER_PACKET_MAX <= TICKS_AHEAD_MAX);
const _: () = assert!(TICKS_BEHIND_MAX <= TICKS_AHEAD_MAX);
const _: () = assert!(INPUTS_PER_PACKET_MAX * (COMMAND_BYTES_MAX + 4) + TURNS_FRAME_BYTES_MAX <= PACKET_BYTES_MAX);
const _: () =
    assert!(ROLLBACK_PLAYERS_MAX * (HERO_BYTES_MAX + NAME_BYTES_MAX + 2 * WRAP_BYTES_MAX) <= PACKET_BYTES_MAX);
const _: () =
    assert!(ROLLBACK_PLAYERS_MAX <= JOINS_PER_TURN_MAX && CHECKSUM_SENDS as usize <= CHECKSUMS_PER_PACKET_MAX);
const _: () = assert!(CHECKSUMS_HELD as usize / 2 <= CHECKSUMS_PER_PACKET_MAX);
const _: () = assert!(EVIDENCE_CHUNK_BYTES + WRAP_BYTES_MAX <= PACKET_BYTES_MAX);
const _: () = assert!(PLAYERS_MAX * evidence_bytes_max(PLAYERS_MAX) + BUNDLE_FRAME_BYTES_MAX <= BUNDLE_BYTES_MAX);
// A peer that gives its evidence as late as it may can still send it.
const _: () = assert!(EVIDENCE_GIVE_TIME.as_millis() + INQUIRY_TIME.as_millis() / 2 <= INQUIRY_TIME.as_millis());
// An exchange is over before the next can begin, and at the rate of its pieces all can be sent
// in half its time.
const _: () = assert!(INQUIRY_TIME.as_millis() < INQUIRY_ANSWER_INTERVAL.as_millis());
const _: () = assert!(INQUIRY_ANSWER_INTERVAL.as_millis() < INQUIRY_INTERVAL.as_millis());
const _: () = assert!(
    (BUNDLE_BYTES_MAX / EVIDENCE_CHUNK_BYTES + PLAYERS_MAX) as u128 * EVIDENCE_CHUNK_INTERVAL.as_millis()
        <= INQUIRY_TIME.as_millis() / 2
);
