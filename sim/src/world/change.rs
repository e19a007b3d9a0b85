//! What changed in a cell from one tick to the next, in few bytes.
//!
//! ```text
//! change  = parts: u8  [light: u8]  lists of the actors, then lists of the props
//! lists   = [gone] [changed] [new]
//! parts   = bit 0 light; bits 1, 2, 3 of the actors; bits 4, 5, 6 of the props: what follows
//! gone    = count  gap*              places in the list before, each counted from behind the last
//! changed = count  (gap run+)*       the same, and the bytes that are others in the entity's
//!                                    fixed-size encoding
//! run     = head: u8  [skip]  byte+  head: bit 7 the last run, bits 3 to 6 how many bytes to skip
//!                                    (15: 15 and what follows), bits 0 to 2 how many bytes there
//!                                    are, less one
//! new     = count  entity*           compact
//! ```
//!
//! Counts, gaps and skips are compact integers. An entity whose encoding has another length
//! is gone and new.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::codec::{self, CodecError, Fixed};
use crate::entity::{Body, Entity};
use crate::store::{Cell, List};

const LIGHT: u8 = 1;
/// Of the actors; those of the props are three bits higher.
const GONE: u8 = 1 << 1;
const CHANGED: u8 = 1 << 2;
const NEW: u8 = 1 << 3;

const LAST: u8 = 0x80;
const SKIP_MAX: usize = 15;
const RUN_BYTES_MAX: usize = 8;

type Lit<'a, B> = (&'a Arc<Cell<B>>, u8);

fn shift(list: List) -> u32 {
    match list {
        List::Actors => 0,
        List::Props => 3,
    }
}

/// What leads from one state to the other.
pub(super) fn write<B: Body>((before, light_before): Lit<'_, B>, (after, light): Lit<'_, B>) -> Vec<u8> {
    let mut bytes = alloc::vec![0];
    if light != light_before {
        bytes[0] |= LIGHT;
        bytes.push(light);
    }
    if !Arc::ptr_eq(before, after) {
        write_list(before, after, List::Actors, &mut bytes);
        if !Arc::ptr_eq(&before.props, &after.props) {
            write_list(before, after, List::Props, &mut bytes);
        }
    }
    bytes
}

/// Whether a change leads to the same state.
pub(super) fn is_none(change: &[u8]) -> bool {
    change == [0]
}

/// Places in a list, as the gaps between them.
#[derive(Default)]
struct Places {
    count: u32,
    next: usize,
    bytes: Vec<u8>,
}

impl Places {
    fn push(&mut self, place: usize) {
        codec::append(&mut self.bytes, &((place - self.next) as u32));
        self.count += 1;
        self.next = place + 1;
    }
}

fn write_list<B: Body>(before: &Cell<B>, after: &Cell<B>, list: List, bytes: &mut Vec<u8>) {
    let (mut gone, mut changed, mut new) = (Places::default(), Places::default(), Places::default());
    let (mut old_bytes, mut new_bytes) = (Fixed::default(), Fixed::default());
    let mut rest = after.list(list);
    for (place, old) in before.list(list).iter().enumerate() {
        while let Some((first, others)) = rest.split_first().filter(|(first, _)| first.id < old.id) {
            new.count += 1;
            codec::append(&mut new.bytes, first);
            rest = others;
        }
        let Some((same, others)) = rest.split_first().filter(|(first, _)| first.id == old.id) else {
            gone.push(place);
            continue;
        };
        rest = others;
        old_bytes.clear();
        old_bytes.push(old);
        new_bytes.clear();
        new_bytes.push(same);
        if old_bytes.bytes().len() != new_bytes.bytes().len() {
            gone.push(place);
            new.count += 1;
            codec::append(&mut new.bytes, same);
        } else if old_bytes.bytes() != new_bytes.bytes() {
            changed.push(place);
            write_runs(old_bytes.bytes(), new_bytes.bytes(), &mut changed.bytes);
        }
    }
    for entity in rest {
        new.count += 1;
        codec::append(&mut new.bytes, entity);
    }
    for (part, places) in [(GONE, gone), (CHANGED, changed), (NEW, new)] {
        if places.count > 0 {
            bytes[0] |= part << shift(list);
            codec::append(bytes, &places.count);
            bytes.extend(places.bytes);
        }
    }
}

/// The bytes that differ, in runs. One equal byte between two that differ costs no more than
/// another run's head.
fn write_runs(before: &[u8], after: &[u8], bytes: &mut Vec<u8>) {
    let differs = |at: usize| at < after.len() && before[at] != after[at];
    let (mut at, mut head) = (0, None);
    loop {
        let skip = (at..after.len()).take_while(|&at| !differs(at)).count();
        let from = at + skip;
        if from == after.len() {
            break;
        }
        let longest = RUN_BYTES_MAX.min(after.len() - from);
        let len = (1..longest).find(|n| !differs(from + n) && !differs(from + n + 1)).unwrap_or(longest);
        // A run that was cut at its longest may end in a byte that is equal; it does no harm.
        head = Some(bytes.len());
        bytes.push((skip.min(SKIP_MAX) as u8) << 3 | (len - 1) as u8);
        if skip >= SKIP_MAX {
            codec::append(bytes, &((skip - SKIP_MAX) as u32));
        }
        bytes.extend_from_slice(&after[from..from + len]);
        at = from + len;
    }
    if let Some(head) = head {
        bytes[head] |= LAST;
    }
}

/// The state that a change leads to.
pub(super) fn read<B: Body>((before, light): Lit<'_, B>, bytes: &[u8]) -> Result<(Cell<B>, u8), CodecError> {
    let mut left = Left(bytes);
    let parts = left.byte()?;
    let light = if parts & LIGHT != 0 { left.byte()? } else { light };
    let actors = read_list(before.list(List::Actors), parts >> shift(List::Actors), &mut left)?;
    let props_parts = parts >> shift(List::Props);
    let props = match props_parts & (GONE | CHANGED | NEW) {
        0 => before.props.clone(),
        _ => Arc::new(read_list(&before.props, props_parts, &mut left)?),
    };
    if parts >> 7 != 0 || !left.0.is_empty() {
        return Err(DAMAGED);
    }
    Ok((Cell { actors, props }, light))
}

const DAMAGED: CodecError = CodecError::Malformed("a change that does not fit its cell");

fn read_list<B: Body>(before: &[Entity<B>], parts: u8, left: &mut Left<'_>) -> Result<Vec<Entity<B>>, CodecError> {
    let mut after = before.to_vec();
    let mut stays = alloc::vec![true; before.len()];
    if parts & GONE != 0 {
        left.places(before.len(), |_, place| {
            stays[place] = false;
            Ok(())
        })?;
    }
    if parts & CHANGED != 0 {
        let mut encoder = Fixed::default();
        left.places(before.len(), |left, place| {
            encoder.clear();
            encoder.push(&before[place]);
            let mut bytes = encoder.bytes().to_vec();
            left.runs(&mut bytes)?;
            after[place] = codec::read_fixed(&bytes)?;
            Ok(())
        })?;
    }
    let mut stays = stays.into_iter();
    after.retain(|_| stays.next() == Some(true));
    if parts & NEW != 0 {
        let new: Vec<Entity<B>> = left.value()?;
        after.extend(new);
        after.sort_by_key(|entity| entity.id);
    }
    Ok(after)
}

/// The bytes that were not read yet.
struct Left<'a>(&'a [u8]);

impl<'a> Left<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], CodecError> {
        let (taken, left) = self.0.split_at_checked(len).ok_or(DAMAGED)?;
        self.0 = left;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, CodecError> {
        Ok(self.take(1)?[0])
    }

    fn value<T: serde::de::DeserializeOwned>(&mut self) -> Result<T, CodecError> {
        let (value, left) = codec::read_first(self.0)?;
        self.0 = left;
        Ok(value)
    }

    fn number(&mut self) -> Result<usize, CodecError> {
        Ok(self.value::<u32>()? as usize)
    }

    /// Goes through places in a list of so many.
    fn places(
        &mut self,
        len: usize,
        mut each: impl FnMut(&mut Self, usize) -> Result<(), CodecError>,
    ) -> Result<(), CodecError> {
        let (count, mut next) = (self.number()?, 0);
        for _ in 0..count {
            let place = self.number()?.checked_add(next).filter(|&place| place < len).ok_or(DAMAGED)?;
            each(self, place)?;
            next = place + 1;
        }
        Ok(())
    }

    /// Replaces bytes of an encoding.
    fn runs(&mut self, encoding: &mut [u8]) -> Result<(), CodecError> {
        let mut at = 0_usize;
        loop {
            let head = self.byte()?;
            let (skip, len) = (usize::from(head >> 3 & 15), usize::from(head & 7) + 1);
            let more = if skip == SKIP_MAX { self.number()? } else { 0 };
            let from = (at + skip).checked_add(more).filter(|&from| from < encoding.len()).ok_or(DAMAGED)?;
            at = from + len;
            encoding.get_mut(from..at).ok_or(DAMAGED)?.copy_from_slice(self.take(len)?);
            if head & LAST != 0 {
                return Ok(());
            }
        }
    }
}
