//! Bytes of values: what checksums are taken of, and what decoding refuses.

use lockstone_sim::codec::{self, CodecError, Fixed};
use lockstone_sim::{Fx, Tick, Vec2, tamper};
use serde::{Deserialize, Serialize};

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
fn a_value_is_appended_whole_however_much_room_there_is() {
    for len in 0_u16..1_200 {
        let (mut ours, values) = (Fixed::default(), (vec![0xab_u8; usize::from(len)], len));
        ours.push(&values.0);
        ours.push(&values.1);
        let theirs = bincode::serde::encode_to_vec(&values, bincode::config::standard().with_fixed_int_encoding());
        assert_eq!(ours.bytes(), theirs.expect("plain data encodes"), "{len} bytes, and their number");
    }
}

#[test]
#[should_panic(expected = "a value cannot be encoded: the wolf is asleep")]
fn a_value_that_refuses_to_be_encoded_is_told_in_its_own_words() {
    struct Wolf;
    impl Serialize for Wolf {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("the wolf is asleep"))
        }
    }
    Fixed::default().push(&Wolf);
}

#[test]
#[should_panic(expected = "[1] is a float (f32)")]
fn a_float_in_the_state_is_refused() {
    #[allow(clippy::disallowed_types, reason = "named to be refused")]
    let float: f32 = 1.0;
    Fixed::default().push(&(1_u8, float));
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

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Thing {
    Nothing,
    Chest { gold: Option<u32>, place: Vec2, names: Vec<String> },
    Pair(i8, bool),
}

#[test]
fn every_field_has_its_name_its_value_and_its_bytes() {
    let place = Vec2::new(Fx::ratio(7, 2), Fx::int(-2));
    let thing = Thing::Chest { gold: Some(258), place, names: vec!["oak".into()] };
    let fields = codec::fields(&(Tick(9), thing.clone()));
    let named: Vec<_> = fields.iter().map(|field| (field.path.as_str(), field.value.as_str())).collect();
    let expected = [
        ("[0]", "9"),
        ("[1]", "Chest"),
        ("[1].Chest.gold", "some"),
        ("[1].Chest.gold", "258"),
        ("[1].Chest.place.x", "3.5"),
        ("[1].Chest.place.y", "-2"),
        ("[1].Chest.names", "1"),
        ("[1].Chest.names[0]", "3"),
        ("[1].Chest.names[0]", "\"oak\""),
    ];
    assert_eq!(named, expected);
    let mut encoder = Fixed::default();
    encoder.push(&(Tick(9), thing));
    assert_eq!(encoder.bytes()[fields[3].bytes.clone()], 258_u32.to_le_bytes());
    let ends: Vec<_> = fields.windows(2).map(|pair| (pair[0].bytes.end, pair[1].bytes.start)).collect();
    assert!(ends.iter().all(|(end, start)| end == start), "every byte belongs to one field");
    assert_eq!(fields.last().map(|last| last.bytes.end), Some(encoder.bytes().len()));
}

#[test]
fn a_turned_bit_is_the_one_difference() {
    let pair = Thing::Pair(3, false);
    let turned = tamper::turned(&pair, 4, 6).expect("a number of any value is one");
    assert_eq!(turned, Thing::Pair(67, false));
    let differences = codec::differences(&codec::fields(&pair), &codec::fields(&turned));
    assert_eq!(differences.len(), 1);
    assert_eq!(differences[0].to_string(), "Pair.0: 3 here, 67 there");
    assert_eq!(tamper::turned(&pair, 5, 1), None, "a bool is 0 or 1");
    assert_eq!(tamper::turned(&pair, 0, 5), None, "there are three variants");
    assert_eq!(tamper::turned(&pair, 6, 0), None, "there are six bytes");
    let nothing = codec::differences(&codec::fields(&Thing::Nothing), &codec::fields(&pair));
    assert_eq!(nothing.len(), 3, "{nothing:?}");
}
