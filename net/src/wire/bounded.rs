//! Byte strings, texts and lists that cannot be longer than their type says, decoded without trust
//! in the length that they claim.
//!
//! On the wire each is its length as a variable-length integer, then its elements.

use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::limits::{CHAT_BYTES_MAX, NAME_BYTES_MAX};
use crate::text::is_code;

/// Reserved before the first element of a list is read. What is beyond grows with what
/// really is there.
const RESERVE_MAX: usize = 32;

/// At most `MAX` elements.
#[derive(Clone, PartialEq, Eq)]
pub struct List<T, const MAX: usize>(Vec<T>);

/// At most `MAX` bytes whose meaning is known elsewhere.
pub type Bytes<const MAX: usize> = List<u8, MAX>;

/// More elements than a list may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{len} elements, where at most {max} are allowed")]
pub struct TooMany {
    /// How many there were.
    pub len: usize,
    /// How many are allowed.
    pub max: usize,
}

impl<T, const MAX: usize> List<T, MAX> {
    /// Adds an element.
    ///
    /// # Errors
    /// [`TooMany`] if the list is full.
    pub fn push(&mut self, value: T) -> Result<(), TooMany> {
        if self.0.len() == MAX {
            return Err(TooMany { len: MAX + 1, max: MAX });
        }
        self.0.push(value);
        Ok(())
    }

    /// The elements.
    pub fn into_vec(self) -> Vec<T> {
        self.0
    }
}

impl<T, const MAX: usize> TryFrom<Vec<T>> for List<T, MAX> {
    type Error = TooMany;

    fn try_from(values: Vec<T>) -> Result<Self, TooMany> {
        if values.len() > MAX {
            return Err(TooMany { len: values.len(), max: MAX });
        }
        Ok(List(values))
    }
}

impl<T, const MAX: usize> Default for List<T, MAX> {
    fn default() -> Self {
        List(Vec::new())
    }
}

impl<T, const MAX: usize> Deref for List<T, MAX> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: fmt::Debug, const MAX: usize> fmt::Debug for List<T, MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: Serialize, const MAX: usize> Serialize for List<T, MAX> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for List<T, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ListVisitor(PhantomData))
    }
}

struct ListVisitor<T, const MAX: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for ListVisitor<T, MAX> {
    type Value = List<T, MAX>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "at most {MAX} elements")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let claimed = elements.size_hint().unwrap_or(0);
        if claimed > MAX {
            return Err(A::Error::invalid_length(claimed, &self));
        }
        let mut list = List(Vec::with_capacity(claimed.min(RESERVE_MAX)));
        while let Some(element) = elements.next_element()? {
            list.push(element).map_err(A::Error::custom)?;
        }
        Ok(list)
    }
}

/// A line of text: UTF-8 without [codes](is_code), not empty, at most `MAX` bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Text<const MAX: usize>(Bytes<MAX>);

/// A player's name.
pub type Name = Text<NAME_BYTES_MAX>;

/// What a player says at once.
pub type ChatLine = Text<CHAT_BYTES_MAX>;

impl<const MAX: usize> Text<MAX> {
    /// Checks a text.
    pub fn new(text: &str) -> Option<Self> {
        let fine = !text.trim().is_empty() && !text.chars().any(is_code);
        fine.then(|| Bytes::try_from(text.as_bytes().to_vec()).ok().map(Text)).flatten()
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.0).expect("checked when it was made")
    }
}

impl<'de, const MAX: usize> Deserialize<'de> for Text<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = Bytes::<MAX>::deserialize(deserializer)?;
        let text = core::str::from_utf8(&bytes).ok().and_then(Text::new);
        text.ok_or_else(|| D::Error::custom("not a line of text"))
    }
}
