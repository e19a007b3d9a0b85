//! Turns and frames that were encoded once, when they were closed: every packet that holds them
//! repeats their bytes.

use core::fmt;
use std::sync::Arc;

use lockstone_sim::codec;
use serde::ser::SerializeTuple;
use serde::{Serialize, Serializer};

use super::{Epoch, Frame, RawGiven, RawTurn, Turns};

/// A turn or a frame as it stands in a packet.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Encoded {
    bytes: Arc<[u8]>,
    /// How many of the bytes are of cells.
    pub given: usize,
}

/// Which message carries turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnsKind {
    /// [`Message::Turns`](super::Message::Turns).
    Turns = 7,
    /// [`Message::Frames`](super::Message::Frames).
    Frames = 19,
    /// [`Message::Fetched`](super::Message::Fetched).
    Fetched = 28,
}

impl Encoded {
    pub fn turn(turn: &RawTurn) -> Encoded {
        Encoded { bytes: codec::compact(turn).into(), given: 0 }
    }

    pub fn frame(frame: &Frame) -> Encoded {
        let given = frame.given.iter().map(RawGiven::bytes).sum();
        Encoded { bytes: codec::compact(frame).into(), given }
    }

    /// How many bytes it has.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }
}

impl fmt::Debug for Encoded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.bytes.len())
    }
}

/// A tuple of bytes is those bytes: neither a length nor anything else is added.
impl Serialize for Encoded {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        let mut tuple = serializer.serialize_tuple(self.bytes.len())?;
        self.bytes.iter().try_for_each(|byte| tuple.serialize_element(byte))?;
        tuple.end()
    }
}

/// The bytes of a message that carries turns.
pub fn encode_turns(epoch: Epoch, kind: TurnsKind, turns: &Turns<Encoded>) -> Vec<u8> {
    codec::compact(&(epoch, kind as u32, turns))
}

#[cfg(test)]
mod tests {
    use lockstone_sim::{PlayerId, Tick};

    use super::*;
    use crate::wire::{Bytes, LeaveReason, List, Message, RawInput, encode};

    fn turns<T: Clone + Default>(turn: &T) -> Turns<T> {
        let turns = List::try_from(vec![(0, turn.clone()), (300, turn.clone())]).expect("few");
        Turns { from: Tick(7), ticks: 301, turns, commands_taken: 260, ..Turns::default() }
    }

    #[test]
    fn encoded_turns_have_the_bytes_of_the_message() {
        let command = RawInput::Command(PlayerId(300), Bytes::try_from(vec![250, 251, 255, 0]).expect("short"));
        let inputs = vec![RawInput::Leave(PlayerId(2), LeaveReason::Lost), command];
        let turn = RawTurn::try_from(inputs.clone()).expect("few");
        let frame = Frame { inputs: inputs.try_into().expect("few"), ..Frame::default() };
        let epoch = Epoch(260);
        assert_eq!(
            encode_turns(epoch, TurnsKind::Turns, &turns(&Encoded::turn(&turn))),
            encode(epoch, &Message::Turns(turns(&turn)))
        );
        assert_eq!(
            encode_turns(epoch, TurnsKind::Frames, &turns(&Encoded::frame(&frame))),
            encode(epoch, &Message::Frames(turns(&frame)))
        );
    }
}
