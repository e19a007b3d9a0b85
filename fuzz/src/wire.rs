//! Packets: what decodes encodes to an equal message, no longer than it came, and no packet costs
//! more memory than its length justifies.

use lockstone_net::wire::{self, Epoch, Message};

use crate::{memory, relay, session};

/// An input of a turn takes three bytes at least, and some 64 in memory, in a list that doubles.
const FACTOR: usize = 96;
/// What small lists reserve before their elements are looked at.
const RESERVE_BYTES: usize = 16 * 1_024;

/// Reads any packet.
pub fn check(bytes: &[u8]) -> bool {
    let decoded = memory::within(RESERVE_BYTES + FACTOR * bytes.len(), || wire::decode(bytes));
    let _ = wire::hello_version(bytes);
    let Ok((epoch, message)) = decoded else { return false };
    let again = wire::encode(epoch, &message);
    assert!(again.len() <= bytes.len(), "integers can be written longer than needed, never shorter");
    if let (Epoch(0), Message::Hello(hello)) = (epoch, &message) {
        assert_eq!(wire::hello_version(&again), Some(hello.protocol));
    }
    assert_eq!(wire::decode(&again), Ok((epoch, message)));
    true
}

/// The packets of a party, and of a relay session.
pub fn seeds() -> Vec<Vec<u8>> {
    [session::packets(), relay::packets()].concat()
}
