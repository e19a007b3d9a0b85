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
