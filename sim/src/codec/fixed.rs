//! The fixed-size encoding that checksums are taken of.
//!
//! The bytes are those of bincode with fixed-size integers (a test compares them): little-endian,
//! lengths as u64, variants as u32. It is written out here because every changed entity passes
//! through it in every tick, and bincode's writer costs five times as much.
//!
//! The serializer is passed on by value, so that the place to write to stays in registers from
//! field to field, and it never fails: behind every field that may fail a compiler takes the next
//! one for half as likely, so that it calls the last ones of a long value and inlines the first
//! alone.

use alloc::vec::Vec;
use core::any::type_name;
use core::fmt;
use core::hint::cold_path;
use serde::ser::{self, Serialize, Serializer as _};

use super::fields::fields;

/// What is reserved first.
const BYTES_MIN: usize = 256;

/// A reused buffer, and what was written into it.
#[derive(Default)]
pub struct Fixed {
    /// Longer than what is written, so that most values need no growth.
    bytes: Vec<u8>,
    len: usize,
}

impl Fixed {
    /// Forgets what was written.
    #[inline]
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Appends a value.
    ///
    /// # Panics
    /// If the value holds a float, which has no place in a simulation's state, or a sequence
    /// of unknown length, or if its `Serialize` refuses it.
    #[inline]
    pub fn push<T: Serialize + ?Sized>(&mut self, value: &T) {
        if !self.push_if_room(value) {
            self.make_room(value);
        }
    }

    /// What was written since the last [`clear`](Fixed::clear).
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Whether it was appended. What leaves no room may have been cut.
    #[inline]
    fn push_if_room<T: Serialize + ?Sized>(&mut self, value: &T) -> bool {
        let Ok(Room(left)) = value.serialize(Room(&mut self.bytes[self.len..]));
        let left = left.len();
        if left > 0 {
            self.len = self.bytes.len() - left;
        }
        left > 0
    }

    /// Apart from the first attempt: in a loop with it every field of the value would be loaded
    /// ahead, and spilled.
    #[cold]
    #[inline(never)]
    fn make_room<T: Serialize + ?Sized>(&mut self, value: &T) {
        self.bytes.resize((self.bytes.len() * 2).max(BYTES_MIN), 0);
        if self.push_if_room(value) {
            return;
        }
        // Its fields tell how long it is, or which of them has no place in a state.
        let len = fields(value).last().map_or(0, |field| field.bytes.end);
        self.bytes.resize(self.len + len + 1, 0);
        assert!(self.push_if_room(value), "no state holds {}: it is not always written alike", type_name::<T>());
    }
}

/// Where to write next: the serializer. Once something did not fit, or has no place in a state,
/// no room is left for all that follows.
#[derive(Default)]
struct Room<'a>(&'a mut [u8]);

impl<'a> Room<'a> {
    #[inline]
    fn none() -> Self {
        cold_path();
        Room::default()
    }

    #[inline]
    fn put(self, bytes: &[u8]) -> Self {
        let Some((here, left)) = self.0.split_at_mut_checked(bytes.len()) else { return Room::none() };
        here.copy_from_slice(bytes);
        Room(left)
    }

    #[inline]
    fn put_len(self, len: Option<usize>) -> Result<Self, Never> {
        match len {
            Some(len) => self.serialize_u64(len as u64),
            None => Ok(Room::none()),
        }
    }

    /// One of several parts.
    #[inline]
    fn part<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Never> {
        *self = value.serialize(core::mem::take(self))?;
        Ok(())
    }
}

/// Nothing fails: see [`Room`].
#[derive(Debug, thiserror::Error)]
enum Never {}

impl ser::Error for Never {
    fn custom<T: fmt::Display>(message: T) -> Self {
        panic!("a value cannot be encoded: {message}")
    }
}

/// Methods that write a number's bytes. A slice pattern takes their places, as a split costs
/// several calls in a build that is not optimised.
macro_rules! numbers {
    ($($method:ident($number:ty) $($byte:ident)*),*) => {
        $(#[inline]
        fn $method(self, number: $number) -> Result<Self, Never> {
            let [$($byte,)* left @ ..] = self.0 else { return Ok(Room::none()) };
            [$(*$byte),*] = number.to_le_bytes();
            Ok(Room(left))
        })*
    };
}

impl ser::Serializer for Room<'_> {
    type Ok = Self;
    type Error = Never;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    numbers!(
        serialize_i8(i8) a,
        serialize_u8(u8) a,
        serialize_i16(i16) a b,
        serialize_u16(u16) a b,
        serialize_i32(i32) a b c d,
        serialize_u32(u32) a b c d,
        serialize_i64(i64) a b c d e f g h,
        serialize_u64(u64) a b c d e f g h,
        serialize_i128(i128) a b c d e f g h i j k l m n o p,
        serialize_u128(u128) a b c d e f g h i j k l m n o p
    );

    #[allow(clippy::disallowed_types, reason = "named only to be refused")]
    fn serialize_f32(self, _value: f32) -> Result<Self, Never> {
        Ok(Room::none())
    }

    #[allow(clippy::disallowed_types, reason = "named only to be refused")]
    fn serialize_f64(self, _value: f64) -> Result<Self, Never> {
        Ok(Room::none())
    }

    #[inline]
    fn serialize_bool(self, value: bool) -> Result<Self, Never> {
        self.serialize_u8(u8::from(value))
    }

    fn serialize_char(self, value: char) -> Result<Self, Never> {
        Ok(self.put(value.encode_utf8(&mut [0; 4]).as_bytes()))
    }

    fn serialize_str(self, value: &str) -> Result<Self, Never> {
        self.serialize_bytes(value.as_bytes())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<Self, Never> {
        Ok(self.put_len(Some(value.len()))?.put(value))
    }

    #[inline]
    fn serialize_none(self) -> Result<Self, Never> {
        self.serialize_u8(0)
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Self, Never> {
        value.serialize(self.serialize_u8(1)?)
    }

    #[inline]
    fn serialize_unit(self) -> Result<Self, Never> {
        Ok(self)
    }

    #[inline]
    fn serialize_unit_struct(self, _name: &'static str) -> Result<Self, Never> {
        Ok(self)
    }

    #[inline]
    fn serialize_unit_variant(self, _name: &'static str, index: u32, _variant: &'static str) -> Result<Self, Never> {
        self.serialize_u32(index)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _name: &'static str, value: &T) -> Result<Self, Never> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        index: u32,
        _variant: &'static str,
        value: &T,
    ) -> Result<Self, Never> {
        value.serialize(self.serialize_u32(index)?)
    }

    #[inline]
    fn serialize_seq(self, len: Option<usize>) -> Result<Self, Never> {
        self.put_len(len)
    }

    #[inline]
    fn serialize_tuple(self, _len: usize) -> Result<Self, Never> {
        Ok(self)
    }

    #[inline]
    fn serialize_tuple_struct(self, _name: &'static str, _len: usize) -> Result<Self, Never> {
        Ok(self)
    }

    #[inline]
    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        index: u32,
        _variant: &'static str,
        _len: usize,
    ) -> Result<Self, Never> {
        self.serialize_u32(index)
    }

    #[inline]
    fn serialize_map(self, len: Option<usize>) -> Result<Self, Never> {
        self.put_len(len)
    }

    #[inline]
    fn serialize_struct(self, _name: &'static str, _len: usize) -> Result<Self, Never> {
        Ok(self)
    }

    #[inline]
    fn serialize_struct_variant(
        self,
        _name: &'static str,
        index: u32,
        _variant: &'static str,
        _len: usize,
    ) -> Result<Self, Never> {
        self.serialize_u32(index)
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

macro_rules! parts {
    ($($of:ident: $method:ident($($name:ident)?)),*) => {
        $(impl ser::$of for Room<'_> {
            type Ok = Self;
            type Error = Never;

            #[inline]
            fn $method<T: Serialize + ?Sized>(&mut self, $($name: &'static str,)? value: &T) -> Result<(), Never> {
                self.part(value)
            }

            #[inline]
            fn end(self) -> Result<Self, Never> {
                Ok(self)
            }
        })*
    };
}

parts!(
    SerializeSeq: serialize_element(),
    SerializeTuple: serialize_element(),
    SerializeTupleStruct: serialize_field(),
    SerializeTupleVariant: serialize_field(),
    SerializeStruct: serialize_field(_name),
    SerializeStructVariant: serialize_field(_name)
);

impl ser::SerializeMap for Room<'_> {
    type Ok = Self;
    type Error = Never;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Never> {
        self.part(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Never> {
        self.part(value)
    }

    fn end(self) -> Result<Self, Never> {
        Ok(self)
    }
}
