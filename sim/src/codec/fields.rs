//! The fields of a serialised value, by name: what a desync checker compares, shows and turns over.
//!
//! Names come from serde, so a game's author writes nothing for it. Each field knows where its
//! bytes stand in the [`Fixed`](super::Fixed) encoding, of which checksums are taken.
//!
//! For looking at a state from outside: nothing that is simulated may depend on it.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::any::type_name;
use core::fmt::{self, Write};
use core::ops::Range;
use serde::{Deserialize, Serialize, ser};

use crate::fx::Fx;

/// One leaf of a serialised value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// Where it is: `body.Hero.bag[2].rarity`.
    pub path: String,
    /// Its value, as people read it: a fixed-point number with its point, a variant by its name.
    pub value: String,
    /// What its bytes are.
    pub kind: FieldKind,
    /// Where its bytes are in the value's [`Fixed`](super::Fixed) encoding.
    pub bytes: Range<usize>,
}

/// What a field's bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum FieldKind {
    /// An integer, in twos' complement, little-endian.
    Number,
    /// 0 or 1.
    Bool,
    /// Which variant of an enum.
    Variant,
    /// Whether an optional value is there: 0 or 1.
    Presence,
    /// How many elements follow.
    Length,
    /// A character, a text or bytes.
    Text,
}

/// A field in which two values differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldDifference {
    /// Where it is.
    pub path: String,
    /// One side's value; `None` if that side has no such field.
    pub ours: Option<String>,
    /// The other's.
    pub theirs: Option<String>,
}

impl fmt::Display for FieldDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_string());
        write!(f, "{}: {} here, {} there", self.path, text(&self.ours), text(&self.theirs))
    }
}

/// All fields of a value, in the order of its encoding.
///
/// # Panics
/// As [`Fixed::push`](super::Fixed::push) does, if the value holds a float or a sequence
/// of unknown length.
pub fn fields<T: Serialize + ?Sized>(value: &T) -> Vec<Field> {
    let mut tracer = Tracer::default();
    match value.serialize(&mut tracer) {
        Ok(()) => tracer.fields,
        Err(Fault(what)) => {
            let path = if tracer.path.is_empty() { "it" } else { &tracer.path };
            panic!("no state holds {}: {path} {what}", type_name::<T>())
        }
    }
}

/// The fields in which two values differ, in the order of the first one's encoding; then those that
/// the second has alone.
pub fn differences(ours: &[Field], theirs: &[Field]) -> Vec<FieldDifference> {
    let find = |field: &Field, all: &[Field], near: usize| {
        let same = |other: &Field| other.path == field.path && other.kind == field.kind;
        // Mostly the same place.
        let here = all.get(near).filter(|other| same(other));
        here.or_else(|| all.iter().find(|other| same(other))).cloned()
    };
    let mut found = Vec::new();
    for (n, field) in ours.iter().enumerate() {
        let other = find(field, theirs, n);
        if other.as_ref().is_none_or(|other| other.value != field.value) {
            let (path, ours) = (field.path.clone(), Some(field.value.clone()));
            found.push(FieldDifference { path, ours, theirs: other.map(|other| other.value) });
        }
    }
    for (n, field) in theirs.iter().enumerate() {
        if find(field, ours, n).is_none() {
            let (path, theirs) = (field.path.clone(), Some(field.value.clone()));
            found.push(FieldDifference { path, ours: None, theirs });
        }
    }
    found
}

/// Serializes into fields, keeping the names that an encoding leaves out.
#[derive(Default)]
struct Tracer {
    fields: Vec<Field>,
    path: String,
    /// How many bytes came before.
    at: usize,
    /// The newtype whose content comes next.
    newtype: &'static str,
}

impl Tracer {
    fn leaf(&mut self, kind: FieldKind, len: usize, value: String) -> Result<(), Fault> {
        let (path, bytes) = (self.path.clone(), self.at..self.at + len);
        self.at += len;
        self.newtype = "";
        self.fields.push(Field { path, value, kind, bytes });
        Ok(())
    }

    fn length(&mut self, len: Option<usize>) -> Result<(), Fault> {
        self.leaf(FieldKind::Length, 8, len.ok_or(Fault("is a sequence of unknown length"))?.to_string())
    }

    fn variant(&mut self, name: &'static str) -> Result<(), Fault> {
        self.leaf(FieldKind::Variant, 4, name.to_string())
    }

    fn within<T: Serialize + ?Sized>(&mut self, name: impl fmt::Display, value: &T) -> Result<(), Fault> {
        let before = self.path.len();
        let _ = write!(self.path, "{name}");
        value.serialize(&mut *self)?;
        self.path.truncate(before);
        Ok(())
    }

    /// What puts a name behind the path.
    fn dot(&self) -> &'static str {
        if self.path.is_empty() { "" } else { "." }
    }

    fn nested(&mut self, of: Of) -> Nested<'_> {
        Nested { tracer: self, of, next: 0 }
    }
}

/// Why a value has no fields.
#[derive(Debug, thiserror::Error)]
#[error("it {0}")]
struct Fault(&'static str);

impl ser::Error for Fault {
    fn custom<T: fmt::Display>(_message: T) -> Self {
        Fault("cannot be written")
    }
}

/// What a compound value's parts are called.
#[derive(Clone, Copy)]
enum Of {
    Elements,
    Places,
    Variant(&'static str),
}

struct Nested<'a> {
    tracer: &'a mut Tracer,
    of: Of,
    next: usize,
}

impl Nested<'_> {
    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        let (n, dot) = (self.next, self.tracer.dot());
        self.next += 1;
        match self.of {
            Of::Elements => self.tracer.within(format_args!("[{n}]"), value),
            Of::Places => self.tracer.within(format_args!("{dot}{n}"), value),
            Of::Variant(variant) => self.tracer.within(format_args!("{dot}{variant}.{n}"), value),
        }
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Fault> {
        let dot = self.tracer.dot();
        match self.of {
            Of::Variant(variant) => self.tracer.within(format_args!("{dot}{variant}.{name}"), value),
            Of::Elements | Of::Places => self.tracer.within(format_args!("{dot}{name}"), value),
        }
    }
}

macro_rules! numbers {
    ($($method:ident: $number:ty),*) => {
        $(fn $method(self, number: $number) -> Result<(), Fault> {
            self.leaf(FieldKind::Number, size_of::<$number>(), number.to_string())
        })*
    };
}

impl<'a> ser::Serializer for &'a mut Tracer {
    type Ok = ();
    type Error = Fault;
    type SerializeSeq = Nested<'a>;
    type SerializeTuple = Nested<'a>;
    type SerializeTupleStruct = Nested<'a>;
    type SerializeTupleVariant = Nested<'a>;
    type SerializeMap = Nested<'a>;
    type SerializeStruct = Nested<'a>;
    type SerializeStructVariant = Nested<'a>;

    numbers!(
        serialize_i8: i8, serialize_i16: i16, serialize_i64: i64, serialize_i128: i128,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_u128: u128
    );

    fn serialize_i32(self, number: i32) -> Result<(), Fault> {
        let value = if self.newtype == "Fx" { Fx::from_bits(number).to_string() } else { number.to_string() };
        self.leaf(FieldKind::Number, 4, value)
    }

    #[allow(clippy::disallowed_types, reason = "named only to be refused")]
    fn serialize_f32(self, _value: f32) -> Result<(), Fault> {
        Err(Fault("is a float (f32)"))
    }

    #[allow(clippy::disallowed_types, reason = "named only to be refused")]
    fn serialize_f64(self, _value: f64) -> Result<(), Fault> {
        Err(Fault("is a float (f64)"))
    }

    fn serialize_bool(self, value: bool) -> Result<(), Fault> {
        self.leaf(FieldKind::Bool, 1, value.to_string())
    }

    fn serialize_char(self, value: char) -> Result<(), Fault> {
        self.leaf(FieldKind::Text, value.len_utf8(), format!("{value:?}"))
    }

    fn serialize_str(self, value: &str) -> Result<(), Fault> {
        self.length(Some(value.len()))?;
        self.leaf(FieldKind::Text, value.len(), format!("{value:?}"))
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Fault> {
        self.length(Some(value.len()))?;
        let hex = value.iter().map(|byte| format!("{byte:02x}")).collect();
        self.leaf(FieldKind::Text, value.len(), hex)
    }

    fn serialize_none(self) -> Result<(), Fault> {
        self.leaf(FieldKind::Presence, 1, "none".to_string())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Fault> {
        self.leaf(FieldKind::Presence, 1, "some".to_string())?;
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Fault> {
        Ok(())
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), Fault> {
        Ok(())
    }

    fn serialize_unit_variant(self, _name: &'static str, _index: u32, variant: &'static str) -> Result<(), Fault> {
        self.variant(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, value: &T) -> Result<(), Fault> {
        self.newtype = name;
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Fault> {
        self.variant(variant)?;
        let dot = self.dot();
        self.within(format_args!("{dot}{variant}"), value)
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Nested<'a>, Fault> {
        self.length(len)?;
        Ok(self.nested(Of::Elements))
    }

    fn serialize_tuple(self, _len: usize) -> Result<Nested<'a>, Fault> {
        Ok(self.nested(Of::Elements))
    }

    fn serialize_tuple_struct(self, _name: &'static str, _len: usize) -> Result<Nested<'a>, Fault> {
        Ok(self.nested(Of::Places))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Nested<'a>, Fault> {
        self.variant(variant)?;
        Ok(self.nested(Of::Variant(variant)))
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Nested<'a>, Fault> {
        self.length(len)?;
        Ok(self.nested(Of::Elements))
    }

    fn serialize_struct(self, _name: &'static str, _len: usize) -> Result<Nested<'a>, Fault> {
        Ok(self.nested(Of::Places))
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Nested<'a>, Fault> {
        self.variant(variant)?;
        Ok(self.nested(Of::Variant(variant)))
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

macro_rules! parts {
    ($($of:ident: $method:ident($($name:ident)?) by $by:ident),*) => {
        $(impl ser::$of for Nested<'_> {
            type Ok = ();
            type Error = Fault;

            fn $method<T: Serialize + ?Sized>(&mut self, $($name: &'static str,)? value: &T) -> Result<(), Fault> {
                self.$by($($name,)? value)
            }

            fn end(self) -> Result<(), Fault> {
                Ok(())
            }
        })*
    };
}

parts!(
    SerializeSeq: serialize_element() by element,
    SerializeTuple: serialize_element() by element,
    SerializeTupleStruct: serialize_field() by element,
    SerializeTupleVariant: serialize_field() by element,
    SerializeStruct: serialize_field(name) by field,
    SerializeStructVariant: serialize_field(name) by field
);

/// Keys are fields too: a map is a sequence of pairs.
impl ser::SerializeMap for Nested<'_> {
    type Ok = ();
    type Error = Fault;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Fault> {
        let n = self.next;
        self.tracer.within(format_args!("[{n}].key"), key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        let n = self.next;
        self.next += 1;
        self.tracer.within(format_args!("[{n}]"), value)
    }

    fn end(self) -> Result<(), Fault> {
        Ok(())
    }
}
