//! Turns out of bytes, as a party reads them: an input that cannot be read is passed over.

use lockstone_net::limits::*;
use lockstone_net::wire::{RawInput, RawTurn};
use lockstone_sim::{Input, Simulation, Turn, codec};

/// The turn of some bytes; an empty one if they are none.
pub fn read<S: Simulation>(bytes: &[u8]) -> Turn<S> {
    let raw: RawTurn = codec::read(bytes, PACKET_BYTES_MAX).unwrap_or_default();
    Turn { inputs: raw.iter().filter_map(input).collect() }
}

/// The bytes of a turn.
///
/// # Panics
/// If an input is longer than a session lets it be.
pub fn write<S: Simulation>(turn: &Turn<S>) -> Vec<u8> {
    use lockstone_net::wire::{LeaveReason, Name};
    let raw: Vec<RawInput> = turn
        .inputs
        .iter()
        .map(|input| match input {
            Input::Command(player, command) => RawInput::Command(*player, bytes(command)),
            Input::Join(player, join) => RawInput::Join(*player, Name::new("Ada").expect("a name"), bytes(join)),
            Input::Leave(player) => RawInput::Leave(*player, LeaveReason::Left),
            Input::Away(player) => RawInput::Away(*player, LeaveReason::Lost),
            Input::Back(player) => RawInput::Back(*player, Name::new("Ada").expect("a name")),
            Input::Request(request) => RawInput::Request(bytes(request)),
            Input::Given(_) => unreachable!("a party gives nothing"),
        })
        .collect();
    codec::compact(&raw)
}

fn input<S: Simulation>(raw: &RawInput) -> Option<Input<S>> {
    match raw {
        RawInput::Command(player, bytes) => {
            codec::read(bytes, COMMAND_BYTES_MAX).ok().map(|command| Input::Command(*player, command))
        }
        RawInput::Join(player, _, bytes) => {
            codec::read(bytes, JOIN_BYTES_MAX).ok().map(|join| Input::Join(*player, join))
        }
        RawInput::Leave(player, _) => Some(Input::Leave(*player)),
        RawInput::Away(player, _) => Some(Input::Away(*player)),
        RawInput::Back(player, _) => Some(Input::Back(*player)),
        RawInput::Request(bytes) => codec::read(bytes, REQUEST_BYTES_MAX).ok().map(Input::Request),
        RawInput::Member(..) | RawInput::Electorate(_) | RawInput::Settled | RawInput::Branch(_) => None,
    }
}

fn bytes<T: serde::Serialize, const MAX: usize>(value: &T) -> lockstone_net::wire::Bytes<MAX> {
    codec::compact(value).try_into().expect("a seed is small")
}
