//! Types that have no place in a simulated state: floats, maps, sets and `usize`, which need not
//! come out, or stand, alike on two machines.
//!
//! A type is asked before there is any value of it: it reads made-up values, of every variant of
//! every enum in it, and each of its fields tells what it wants to read. So a game is refused
//! before its first tick, and not when a rare monster first enters.
//!
//! A type that takes none of the made-up values, as one that checks what it reads, is asked as far
//! as it reads. What is behind that is refused when it is first encoded.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::any::type_name;
use core::fmt;
use serde::de::{self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, SeqAccess, VariantAccess, Visitor};

/// A field that has no place in a simulated state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit {
    /// Where it is: `Wolf.bag[].weight`. Empty for the value itself.
    pub path: String,
    /// What it is: a float, a map, a set, a `usize`.
    pub what: &'static str,
    /// Its type.
    pub kind: &'static str,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unfit { path, what, kind } = self;
        let path = if path.is_empty() { "it" } else { path };
        write!(f, "{path} is a {what} ({kind}), and a state holds Fx, integers of a fixed size and sequences")
    }
}

/// The first field of a type that has no place in a simulated state.
pub fn unfit<T: DeserializeOwned>() -> Option<Unfit> {
    let mut asked = Asked::default();
    loop {
        asked.is_pending = false;
        asked.path.clear();
        let _ = T::deserialize(Made(&mut asked));
        if asked.found.is_some() || !asked.is_pending {
            return asked.found;
        }
    }
}

/// What was made up, and what came of it.
#[derive(Default)]
struct Asked {
    found: Option<Unfit>,
    path: String,
    /// The types that are being read, from the outermost on, and which variants of them.
    within: Vec<(&'static str, usize)>,
    /// Of each enum's variants that have nothing new left, whether they could be read.
    done: BTreeMap<&'static str, Vec<Option<bool>>>,
    /// Whether what was read holds an enum with something new left.
    is_pending: bool,
}

/// Reads made-up values.
struct Made<'a>(&'a mut Asked);

/// Why nothing more is read.
#[derive(Debug, thiserror::Error)]
#[error("no made-up value")]
struct Refused;

impl de::Error for Refused {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Refused
    }
}

impl Asked {
    fn found(&mut self, what: &'static str, kind: &'static str) -> Refused {
        let path = self.path.trim_start_matches('.').to_string();
        self.found.get_or_insert(Unfit { path, what, kind });
        Refused
    }

    /// Reads something within a type, under a name.
    fn under<T>(&mut self, name: &str, read: impl FnOnce(&mut Self) -> Result<T, Refused>) -> Result<T, Refused> {
        let before = self.path.len();
        self.path.push_str(name);
        let value = read(self);
        self.path.truncate(before);
        value
    }

    /// Reads something that may hold its own type again.
    fn inside<T>(
        &mut self,
        kind: &'static str,
        n: usize,
        read: impl FnOnce(&mut Self) -> Result<T, Refused>,
    ) -> Result<T, Refused> {
        self.within.push((kind, n));
        let value = read(self);
        self.within.pop();
        value
    }

    fn is_within(&self, kind: &str) -> bool {
        self.within.iter().any(|(outer, _)| *outer == kind)
    }

    /// The variant of an enum that is made up next; within itself it must be one that ends.
    fn next_variant(&mut self, kind: &'static str, variants: usize) -> Option<usize> {
        let done = self.done.entry(kind).or_insert_with(|| alloc::vec![None; variants]);
        let ends = |n: &usize| !self.within.contains(&(kind, *n));
        let new = done.iter().position(Option::is_none);
        let read = (0..variants).find(|n| ends(n) && done[*n] == Some(true));
        new.or(read).or_else(|| (0..variants).find(ends))
    }
}

macro_rules! numbers {
    ($($method:ident: $visit:ident),*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
            let kind = type_name::<V::Value>();
            if kind == type_name::<usize>() || kind == type_name::<isize>() {
                return Err(self.0.found("usize", kind));
            }
            // Of one, as many types have no zero.
            visitor.$visit(1)
        })*
    };
}

macro_rules! refused {
    ($($method:ident($($arg:ident: $type:ty),*): $what:literal),*) => {
        $(fn $method<V: Visitor<'de>>(self, $($arg: $type,)* _: V) -> Result<V::Value, Refused> {
            Err(self.0.found($what, short(type_name::<V::Value>())))
        })*
    };
}

/// A type's name without where its parts are declared: `BTreeMap<u32, Fx>`.
fn short(kind: &'static str) -> &'static str {
    // Of one with parameters all is kept: each has a place of its own.
    if kind.contains('<') { kind } else { kind.rsplit("::").next().unwrap_or(kind) }
}

fn is_set(kind: &str) -> bool {
    kind.split('<').next().is_some_and(|name| name.ends_with("Set"))
}

impl<'de> Deserializer<'de> for Made<'_> {
    type Error = Refused;

    numbers!(
        deserialize_i8: visit_i8, deserialize_i16: visit_i16, deserialize_i32: visit_i32,
        deserialize_i64: visit_i64, deserialize_i128: visit_i128, deserialize_u8: visit_u8,
        deserialize_u16: visit_u16, deserialize_u32: visit_u32, deserialize_u64: visit_u64,
        deserialize_u128: visit_u128
    );

    refused!(
        deserialize_f32(): "float", deserialize_f64(): "float", deserialize_map(): "map"
    );

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Refused> {
        Err(Refused)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_bool(true)
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_char('a')
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_str("a")
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_str("a")
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_bytes(&[1])
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_bytes(&[1])
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        let kind = type_name::<V::Value>();
        if self.0.is_within(kind) {
            return visitor.visit_none();
        }
        self.0.inside(kind, 0, |asked| visitor.visit_some(Made(asked)))
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        let kind = type_name::<V::Value>();
        if is_set(kind) {
            return Err(self.0.found("set", short(kind)));
        }
        let len = usize::from(!self.0.is_within(kind));
        self.0.inside(kind, 0, |asked| visitor.visit_seq(Parts { asked, names: Names::Elements, next: 0, len }))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_seq(Parts { asked: self.0, names: Names::Places, next: 0, len })
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Refused> {
        self.deserialize_tuple(len, visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        visitor.visit_seq(Parts { asked: self.0, names: Names::Fields(fields), next: 0, len: fields.len() })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        let (kind, asked) = (type_name::<V::Value>(), self.0);
        let Some(n) = asked.next_variant(kind, variants.len()) else { return Err(Refused) };
        // While it is read it counts as done, so that the same within it is another.
        asked.done.get_mut(kind).expect("it was entered")[n] = Some(false);
        let before = core::mem::take(&mut asked.is_pending);
        let read = asked.under(&format!(".{}", variants[n]), |asked| {
            asked.inside(kind, n, |asked| visitor.visit_enum(Variant { asked, n: n as u32 }))
        });
        let again = asked.is_within(kind);
        let done = asked.done.get_mut(kind).expect("it was entered");
        done[n] = (!asked.is_pending).then_some(read.is_ok());
        asked.is_pending = before || !again && done.contains(&None);
        read
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Refused> {
        Err(Refused)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_unit()
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

/// What the parts of a value are called.
#[derive(Clone, Copy)]
enum Names {
    Elements,
    Places,
    Fields(&'static [&'static str]),
}

struct Parts<'a> {
    asked: &'a mut Asked,
    names: Names,
    next: usize,
    len: usize,
}

impl<'de> SeqAccess<'de> for Parts<'_> {
    type Error = Refused;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Refused> {
        if self.next == self.len {
            return Ok(None);
        }
        let name = match self.names {
            Names::Elements => "[]".to_string(),
            Names::Places => format!(".{}", self.next),
            Names::Fields(names) => format!(".{}", names[self.next]),
        };
        self.next += 1;
        self.asked.under(&name, |asked| seed.deserialize(Made(asked))).map(Some)
    }
}

struct Variant<'a> {
    asked: &'a mut Asked,
    n: u32,
}

impl<'de, 'a> EnumAccess<'de> for Variant<'a> {
    type Error = Refused;
    type Variant = Made<'a>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Made<'a>), Refused> {
        Ok((seed.deserialize(de::value::U32Deserializer::new(self.n))?, Made(self.asked)))
    }
}

impl<'de> VariantAccess<'de> for Made<'_> {
    type Error = Refused;

    fn unit_variant(self) -> Result<(), Refused> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Refused> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Refused> {
        self.deserialize_tuple(len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, fields: &'static [&'static str], visitor: V) -> Result<V::Value, Refused> {
        self.deserialize_struct("", fields, visitor)
    }
}
