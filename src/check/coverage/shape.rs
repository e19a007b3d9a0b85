//! What no single bit can change: how many elements a list has, whether an option is there, which
//! variant an enum is. Each takes or leaves bytes behind it, so all of it is replaced: by what
//! another thing has there, or by one element less.

use std::collections::BTreeMap;
use std::ops::Range;

use lockstone_sim::codec::{Field, FieldKind};

use crate::inspect::Thing;

/// Of a place so many different values are kept: one of them is another than any given one.
const DONATED_MAX: usize = 2;

/// Whether a field says what stands behind it. The length of a text is part of its value.
pub(super) fn is_shape(fields: &[Field], n: usize) -> bool {
    let is_text = || fields.get(n + 1).is_some_and(|next| next.kind == FieldKind::Text && next.path == fields[n].path);
    match fields[n].kind {
        FieldKind::Presence | FieldKind::Variant => true,
        FieldKind::Length => !is_text(),
        FieldKind::Number | FieldKind::Bool | FieldKind::Text => false,
    }
}

/// Whether a path names a field, or a part of it.
pub(super) fn is_within(path: &str, whole: &str) -> bool {
    let rest = path.strip_prefix(whole);
    rest.is_some_and(|rest| whole.is_empty() || rest.is_empty() || rest.starts_with(['.', '[']))
}

/// What things have at a place: a few that differ in what they are, with their bytes.
#[derive(Default)]
pub(super) struct Donors {
    by_place: BTreeMap<Place, Vec<(String, Vec<u8>)>>,
}

/// A path, and what is there: an option and the enum in it have the same path.
pub(super) type Place = (String, FieldKind);

impl Donors {
    /// Keeps what a thing has there, if it is of use. `bytes` gives the thing's bytes.
    pub fn keep(&mut self, thing: &Thing, n: usize, bytes: impl FnOnce() -> Option<Vec<u8>>) {
        let Field { path, value, kind, .. } = &thing.fields[n];
        let known = self.by_place.entry((path.clone(), *kind)).or_default();
        if known.len() >= DONATED_MAX || known.iter().any(|(other, _)| other == value) {
            return;
        }
        let donated = bytes().and_then(|bytes| Some(bytes.get(extent(&thing.fields, n))?.to_vec()));
        known.extend(donated.map(|donated| (value.clone(), donated)));
    }

    /// The bytes of a thing with another shape there, in every way that is known.
    pub fn changed(&self, thing: &Thing, n: usize, bytes: &[u8]) -> Vec<Vec<u8>> {
        let fields = &thing.fields;
        let Field { path, value, kind, .. } = &fields[n];
        let extent = extent(fields, n);
        let Some(now) = bytes.get(extent.clone()) else { return Vec::new() };
        let others = self.by_place.get(&(path.clone(), *kind)).into_iter().flatten();
        let others = others.filter(|(other, _)| other != value).map(|(_, donated)| donated.clone());
        let replaced = |by: Vec<u8>| [&bytes[..extent.start], &by, &bytes[extent.end..]].concat();
        without_last(fields, n, now).into_iter().chain(others).map(replaced).collect()
    }
}

/// The bytes of a field and of all that is part of it.
fn extent(fields: &[Field], n: usize) -> Range<usize> {
    let behind = fields[n..].iter().take_while(|field| is_within(&field.path, &fields[n].path));
    fields[n].bytes.start..behind.last().unwrap_or(&fields[n]).bytes.end
}

/// The same without the last element, or without the value.
fn without_last(fields: &[Field], n: usize, now: &[u8]) -> Option<Vec<u8>> {
    let Field { path, value, kind, bytes } = &fields[n];
    match kind {
        FieldKind::Presence if value == "some" => Some(vec![0]),
        FieldKind::Length => {
            let fewer = value.parse::<u64>().ok()?.checked_sub(1)?;
            let last = format!("{path}[{fewer}]");
            let first_of_last = fields[n..].iter().find(|field| is_within(&field.path, &last));
            let cut = first_of_last.map_or(now.len(), |field| field.bytes.start - bytes.start);
            Some([&fewer.to_le_bytes(), &now[bytes.len()..cut]].concat())
        }
        _ => None,
    }
}
