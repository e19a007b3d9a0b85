//! Bytes of values: what checksums are taken of, and what decoding refuses.

use lockstone_sim::codec::{self, CodecError, Fixed};
use serde::Serialize;

#[test]
fn checksums_are_taken_of_the_bytes_that_bincode_writes() {
    #[derive(Serialize)]
    enum Shape {
        Unit,
        New(u8),
        Pair(i16, bool),
        Named { text: String, bytes: Option<Vec<u64>> },
    }
    let named = Shape::Named { text: "eight".into(), bytes: Some(vec![1, u64::MAX]) };
    let value = (Shape::Unit, Shape::New(3), Shape::Pair(-2, true), named, 'ß', [1_u32; 3], None::<u8>, -1_i128);
    let mut ours = Fixed::default();
    ours.push(&value);
    let theirs = bincode::serde::encode_to_vec(&value, bincode::config::standard().with_fixed_int_encoding());
    assert_eq!(ours.bytes(), theirs.expect("plain data encodes"));
}

#[test]
#[should_panic(expected = "the state holds integers")]
fn a_float_in_the_state_is_refused() {
    #[allow(clippy::disallowed_types, reason = "named to be refused")]
    let float: f32 = 1.0;
    Fixed::default().push(&float);
}

#[test]
fn a_string_that_claims_gigabytes_is_refused_without_reserving_them() {
    // Nine bytes: the length u64::MAX / 2 and no text.
    let bytes = [253, 255, 255, 255, 255, 255, 255, 255, 127];
    let read = codec::read::<String>(&bytes, 255);
    assert_eq!(read, Err(CodecError::Malformed("no such value")));
    let gigabytes = [252, 0, 0, 0, 0x40];
    assert!(codec::read::<(String, u8)>(&gigabytes, 255).is_err());
    assert!(codec::read::<Vec<u8>>(&gigabytes, 255).is_err());
}
