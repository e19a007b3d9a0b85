//! Every limit of a signaling server in one place. Whatever a connection asks, sends or leaves
//! unread is held against one of these. It must never be that one address can take all of anything.

use core::time::Duration;

use super::{HANDSHAKE_SIGNALS_MAX, PEER_SIGNALS_MAX, PEER_SIGNALS_TIME, PLAYERS_MAX};

/// The most peers of a party's room.
pub const ROOM_PEERS_MAX: usize = PLAYERS_MAX;
/// The most players in a relay's room.
pub const RELAY_PLAYERS_MAX: usize = 4_096;
/// The most peers of a server, in all rooms together.
pub const SERVER_PEERS_MAX: usize = 16_384;
/// The most connections of all, if the process may have the files for them: some that have not
/// entered beside those that may.
pub const CONNECTIONS_MAX: usize = SERVER_PEERS_MAX + 1_024;
/// The most connections of an address. It never has more than all others have left, so as many
/// addresses as there may be connections are needed to leave none.
pub const ADDRESS_CONNECTIONS_MAX: usize = 512;
/// So many addresses are remembered that have no connection, before those are sought that need not
/// be.
pub const ADDRESSES_REMEMBERED_MAX: usize = 16_384;

/// How many of something are let through at once, and how many in each second after that. Whatever
/// an address does beyond that waits.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// So many cost nothing.
    pub free: u32,
    /// So many are forgotten in a second.
    pub per_s: u32,
}

/// Wrong guesses, and attempts that may turn out to be.
pub const GUESSES: Pace = Pace { free: 64, per_s: 8 };
/// Visits, and entries that may turn out to be. All whom an address may have inside can come at
/// once.
pub const VISITS: Pace = Pace { free: ADDRESS_CONNECTIONS_MAX as u32, per_s: 4 };
/// What is read of an address: a message is one, and so are each [`READ_BYTES_EACH`] of it; a
/// connection is [`CONNECTION_READS`], and so is a request.
pub const READS: Pace = Pace { free: 16_384, per_s: 2_048 };
/// So many bytes of a message are as much work as another message.
pub const READ_BYTES_EACH: usize = 8_192;
/// So many messages are as much work as a connection, or a request.
pub const CONNECTION_READS: u32 = 8;
/// Who tries to enter, and would have to wait for longer, is refused. Nobody waits for longer to be
/// read.
pub const WAIT_MAX: Duration = Duration::from_secs(4);
/// A peer that is gone before was on a visit: each costs the others an offer.
pub const VISIT_MAX: Duration = Duration::from_secs(2);

/// A connection that has not told by then what it wants is closed.
pub const HEAD_WITHIN: Duration = Duration::from_secs(5);
/// The longest that it may tell, in bytes.
pub const HEAD_BYTES_MAX: usize = 16_384;
/// A connection that takes nothing of what it is sent for so long is closed.
pub const SEND_WITHIN: Duration = Duration::from_secs(10);
/// A peer that says nothing for so long is gone. Links say something every 10 seconds.
pub const SILENCE_MAX: Duration = Duration::from_secs(60);
/// Who was there has to offer a newcomer of a party a connection within that.
pub const OFFERS_WITHIN: Duration = Duration::from_secs(8);
/// So long after a room has begun, as after a restart of the server, a peer is believed that it was
/// the first in the room: who enters trusts the first more than others.
pub const YOUNG: Duration = Duration::from_secs(60);
/// So long after its start a server awaits peers, who try again every two seconds, and may be slow.
/// Who comes first to a room whose peers have all gone waits for as long.
pub const AWAITED_FOR: Duration = Duration::from_secs(5);

/// The largest message from a peer, in bytes. A session description has about 1,000, in a
/// browser up to 5,000.
pub const MESSAGE_BYTES_MAX: usize = 16_384;
/// Signals of one peer to another that are passed on. More are dropped, as the other has to look at
/// each. At once they are as many as a handshake takes.
pub const SIGNALS: Pace = Pace { free: HANDSHAKE_SIGNALS_MAX as u32, per_s: 4 };
/// How much waits for a peer that does not read, in bytes. A handshake takes 10 to 50 KB, and a
/// full party's joiner needs fifteen.
pub const INBOX_BYTES_MAX: usize = 1 << 20;
/// How much waits for a relay: hundreds of handshakes at once.
pub const RELAY_INBOX_BYTES_MAX: usize = 16 << 20;
/// How much waits for all peers of a server, in bytes.
pub const WAITING_BYTES_MAX: usize = 256 << 20;
/// Which part of what is left of that one address may have: 15 MiB, if no other has any.
pub const WAITING_ADDRESS_PART: usize = 16;

/// The most rooms of which a server remembers who claimed them. Those that were left first give
/// way.
pub const CLAIMS_MAX: usize = 65_536;
/// How long a claim outlives the last of its room.
pub const CLAIMED_FOR: Duration = Duration::from_secs(24 * 3_600);

const _: () = assert!(ROOM_PEERS_MAX < RELAY_PLAYERS_MAX && RELAY_PLAYERS_MAX < SERVER_PEERS_MAX);
const _: () = assert!(RELAY_PLAYERS_MAX <= super::RELAY_PLAYERS_MAX, "a relay connects all whom its room holds");
const _: () = assert!(SERVER_PEERS_MAX < CONNECTIONS_MAX);
const _: () = assert!(ADDRESS_CONNECTIONS_MAX <= CONNECTIONS_MAX / 32, "an address has a small part of them");
// All whom an address may have inside can come at once, by a request each, and shake hands.
const _: () = assert!(ADDRESS_CONNECTIONS_MAX as u32 <= VISITS.free);
const _: () = assert!(ADDRESS_CONNECTIONS_MAX as u32 * (2 * CONNECTION_READS + 12) <= READS.free);
// A relay is read as fast as all that it may be in the middle of, each within a second.
const _: () = assert!(super::HANDSHAKES_MAX as u32 * PEER_SIGNALS_MAX <= READS.per_s);
// A peer takes as much of another, in the long run, as is passed on.
const _: () = assert!(SIGNALS.per_s as u64 * PEER_SIGNALS_TIME.as_secs() <= PEER_SIGNALS_MAX as u64);
// A peer that takes nothing of what waits for it is gone sooner than one that is silent.
const _: () = assert!(WAIT_MAX.as_secs() < SEND_WITHIN.as_secs() && SEND_WITHIN.as_secs() < SILENCE_MAX.as_secs());
// A joiner that waits for a silent first peer has half of its patience, 15 s, to be let in later.
const _: () = assert!(OFFERS_WITHIN.as_secs() <= 8 && VISIT_MAX.as_millis() < OFFERS_WITHIN.as_millis());
const _: () = assert!(2 * OFFERS_WITHIN.as_secs() < super::BEGINS_ANEW_TIME.as_secs());
const _: () = assert!(AWAITED_FOR.as_secs() < YOUNG.as_secs());
const _: () = assert!(MESSAGE_BYTES_MAX < INBOX_BYTES_MAX && INBOX_BYTES_MAX < RELAY_INBOX_BYTES_MAX);
const _: () = assert!(INBOX_BYTES_MAX < WAITING_BYTES_MAX / WAITING_ADDRESS_PART);
// What a server passes on, and writes more lengthily, is looked at by links.
const _: () = assert!(2 * MESSAGE_BYTES_MAX <= super::SERVER_MESSAGE_BYTES_MAX);
