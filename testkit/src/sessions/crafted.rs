//! Packets that harm who hands them to ggrs 0.13, as they would come over a network.

use lockstone_sim::codec;
use serde::{Deserialize, Serialize};

/// A packet of ggrs: its shape, for its fields are private.
#[derive(Serialize, Deserialize)]
pub struct Packet {
    pub magic: u16,
    pub body: Body,
}

#[derive(Serialize, Deserialize)]
pub enum Body {
    SyncRequest(u32),
    SyncReply(u32),
    Input { statuses: Vec<(bool, i32)>, disconnect_requested: bool, start_frame: i32, ack_frame: i32, bytes: Vec<u8> },
}

/// One input, a byte 7, as ggrs packs it: three bytes as they are, of which two are the input's
/// length.
pub const ONE_INPUT: [u8; 4] = [3 << 1, 1, 0, 7];
/// Five bytes that say: 2 GiB of zeros.
const TWO_GIB: [u8; 5] = [0x81, 0x80, 0x80, 0x80, 0x20];

/// Inputs of one of two players that begin at a frame.
pub fn inputs(start_frame: i32, bytes: &[u8]) -> Packet {
    let statuses = vec![(false, -1); 2];
    let body = Body::Input { statuses, disconnect_requested: false, start_frame, ack_frame: -1, bytes: bytes.to_vec() };
    Packet { magic: 1, body }
}

/// Inputs as ggrs's own sockets send them: integers of fixed length, little-endian.
fn fixed(start_frame: i32, bytes: &[u8]) -> Vec<u8> {
    let mut packet = codec::Fixed::default();
    packet.push(&inputs(start_frame, bytes));
    packet.bytes().to_vec()
}

/// A run of 2 GiB in 46 bytes, inputs that begin where ggrs has no room for them, and nine bytes at
/// which matchbox's socket for ggrs panics. Each as ggrs's sockets send it; the first two also as
/// short as they can be, and as what is nearest to them in a session of ours.
pub fn packets() -> Vec<Vec<u8>> {
    let run = fixed(0, &TWO_GIB);
    assert_eq!(run.len(), 46);
    // Epoch 0, inputs, number, no echo, confirmed, received; the first tick; a list of 2^63 inputs.
    let mut long = vec![0, 15, 1, 0, 0, 0, 0, 253];
    long.extend((1_u64 << 63).to_le_bytes());
    vec![
        run,
        codec::compact(&inputs(0, &TWO_GIB)),
        long,
        fixed(200, &ONE_INPUT),
        codec::compact(&inputs(200, &ONE_INPUT)),
        vec![0xff; 9],
    ]
}
