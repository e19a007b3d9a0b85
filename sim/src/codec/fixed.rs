//! The fixed-size encoding that checksums are taken of.
//!
//! The bytes are those of bincode with fixed-size integers (a test compares them): little-endian, lengths as u64, variants as u32. It is
//! written out here because every changed entity passes through it in every tick, and bincode's writer costs five times as much.

use alloc::vec::Vec;
use core::fmt;
use serde::ser::{self, Serialize};

/// A reused buffer, and the serializer that fills it.
#[derive(Default)]
pub struct Fixed {
    /// Longer than what is written, so that most writes need no growth.
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
    /// If the value holds a float, which has no place in a simulation's state, or a sequence of unknown length.
    #[inline]
    pub fn push<T: Serialize + ?Sized>(&mut self, value: &T) {
        value.serialize(self).expect("the state holds integers, and sequences of known length");
    }

    /// What was written since the last [`clear`](Fixed::clear).
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        let end = self.len + bytes.len();
        if end > self.bytes.len() {
            self.grow(end);
        }
        self.bytes[self.len..end].copy_from_slice(bytes);
        self.len = end;
    }

    #[cold]
    fn grow(&mut self, end: usize) {
        self.bytes.resize(end.next_power_of_two().max(256), 0);
    }

    #[inline]
    fn put_len(&mut self, len: Option<usize>) -> Result<&mut Self, EncodeError> {
        self.put(&(len.ok_or(EncodeError)? as u64).to_le_bytes());
        Ok(self)
    }
}

/// A value that no checksum can be taken of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the value holds a float, or a sequence of unknown length")]
pub struct EncodeError;

impl ser::Error for EncodeError {
    fn custom<T: fmt::Display>(_message: T) -> Self {
        EncodeError
    }
}

macro_rules! numbers {
    ($($method:ident: $number:ty),*) => {
        $(#[inline]
        fn $method(self, number: $number) -> Result<(), EncodeError> {
            self.put(&number.to_le_bytes());
            Ok(())
        })*
    };
}

impl<'a> ser::Serializer for &'a mut Fixed {
    type Ok = ();
    type Error = EncodeError;
    type SerializeSeq = &'a mut Fixed;
    type SerializeTuple = &'a mut Fixed;
    type SerializeTupleStruct = &'a mut Fixed;
    type SerializeTupleVariant = &'a mut Fixed;
    type SerializeMap = &'a mut Fixed;
    type SerializeStruct = &'a mut Fixed;
    type SerializeStructVariant = &'a mut Fixed;

    numbers!(
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_i128: i128,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_u128: u128
    );

    #[allow(clippy::disallowed_types, reason = "named only to be refused")]
    fn serialize_f32(self, _value: f32) -> Result<(), EncodeError> {
        Err(EncodeError)
    }

    #[allow(clippy::disallowed_types, reason = "named only to be refused")]
    fn serialize_f64(self, _value: f64) -> Result<(), EncodeError> {
        Err(EncodeError)
    }

    #[inline]
    fn serialize_bool(self, value: bool) -> Result<(), EncodeError> {
        self.serialize_u8(u8::from(value))
    }

    fn serialize_char(self, value: char) -> Result<(), EncodeError> {
        self.put(value.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(())
    }

    fn serialize_str(self, value: &str) -> Result<(), EncodeError> {
        self.serialize_bytes(value.as_bytes())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), EncodeError> {
        self.put_len(Some(value.len()))?.put(value);
        Ok(())
    }

    #[inline]
    fn serialize_none(self) -> Result<(), EncodeError> {
        self.serialize_u8(0)
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), EncodeError> {
        self.put(&[1]);
        value.serialize(self)
    }

    #[inline]
    fn serialize_unit(self) -> Result<(), EncodeError> {
        Ok(())
    }

    #[inline]
    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), EncodeError> {
        Ok(())
    }

    #[inline]
    fn serialize_unit_variant(
        self,
        _name: &'static str,
        index: u32,
        _variant: &'static str,
    ) -> Result<(), EncodeError> {
        self.serialize_u32(index)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<(), EncodeError> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        index: u32,
        _variant: &'static str,
        value: &T,
    ) -> Result<(), EncodeError> {
        self.put(&index.to_le_bytes());
        value.serialize(self)
    }

    #[inline]
    fn serialize_seq(self, len: Option<usize>) -> Result<Self, EncodeError> {
        self.put_len(len)
    }

    #[inline]
    fn serialize_tuple(self, _len: usize) -> Result<Self, EncodeError> {
        Ok(self)
    }

    #[inline]
    fn serialize_tuple_struct(self, _name: &'static str, _len: usize) -> Result<Self, EncodeError> {
        Ok(self)
    }

    #[inline]
    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        index: u32,
        _variant: &'static str,
        _len: usize,
    ) -> Result<Self, EncodeError> {
        self.put(&index.to_le_bytes());
        Ok(self)
    }

    #[inline]
    fn serialize_map(self, len: Option<usize>) -> Result<Self, EncodeError> {
        self.put_len(len)
    }

    #[inline]
    fn serialize_struct(self, _name: &'static str, _len: usize) -> Result<Self, EncodeError> {
        Ok(self)
    }

    #[inline]
    fn serialize_struct_variant(
        self,
        _name: &'static str,
        index: u32,
        _variant: &'static str,
        _len: usize,
    ) -> Result<Self, EncodeError> {
        self.put(&index.to_le_bytes());
        Ok(self)
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

macro_rules! parts {
    ($($of:ident: $method:ident($($name:ident)?)),*) => {
        $(impl ser::$of for &mut Fixed {
            type Ok = ();
            type Error = EncodeError;

            #[inline]
            fn $method<T: Serialize + ?Sized>(&mut self, $($name: &'static str,)? value: &T) -> Result<(), EncodeError> {
                value.serialize(&mut **self)
            }

            #[inline]
            fn end(self) -> Result<(), EncodeError> {
                Ok(())
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

impl ser::SerializeMap for &mut Fixed {
    type Ok = ();
    type Error = EncodeError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), EncodeError> {
        key.serialize(&mut **self)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), EncodeError> {
        value.serialize(&mut **self)
    }

    fn end(self) -> Result<(), EncodeError> {
        Ok(())
    }
}
