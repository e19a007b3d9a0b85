//! A snapshot on its way.

use super::{BadAck, Receiver, SnapshotSender, TransferError, digest};
use crate::limits::*;

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

/// Two of the numbers that xxh3 mixes its input with. A word that equals one hides the other word
/// that it is multiplied with.
const XXH3_SECRET: [u64; 2] = [0xbe4b_a423_396c_feb8, 0x1cad_21f7_2c81_017c];

#[test]
fn bytes_that_were_made_to_have_the_same_fast_hash_are_refused() {
    let [a, b] = XXH3_SECRET;
    let hidden = 1_000_u64;
    let with =
        |first: u64, second: u64| [first.to_le_bytes(), second.to_le_bytes(), *b" the sam", *b"e rest.."].concat();
    let (announced, forged) = (with(a, hidden), with(hidden.wrapping_add(a).wrapping_sub(b), b));
    assert_ne!(announced, forged);
    assert_eq!(xxhash_rust::xxh3::xxh3_128(&announced), xxhash_rust::xxh3::xxh3_128(&forged));
    for (bytes, comes) in [(&announced, Ok(Some(announced.clone()))), (&forged, Err(TransferError::Digest))] {
        let mut receiver = Receiver::new(announced.len() as u32, digest(&announced));
        receiver.take(bytes).expect("it has the announced length");
        assert_eq!(receiver.finish(), comes);
    }
}
