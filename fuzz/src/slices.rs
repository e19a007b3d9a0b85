//! How one string of bytes holds several: each is its length, two bytes little-endian, then itself.
//! The last may be cut off.

/// Takes the first string off.
pub fn split(bytes: &[u8]) -> (&[u8], &[u8]) {
    let Some((len, rest)) = bytes.split_first_chunk() else { return (&[], &[]) };
    rest.split_at(rest.len().min(u16::from_le_bytes(*len).into()))
}

/// All strings.
pub fn all(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    core::iter::from_fn(move || {
        let (first, rest) = (!bytes.is_empty()).then(|| split(bytes))?;
        bytes = rest;
        Some(first)
    })
}

/// The bytes that [`all`] takes apart again.
///
/// # Panics
/// If a string is longer than 65,535 bytes.
pub fn join<'b>(slices: impl IntoIterator<Item = &'b [u8]>) -> Vec<u8> {
    let len = |slice: &[u8]| u16::try_from(slice.len()).expect("a seed is small").to_le_bytes();
    slices.into_iter().flat_map(|slice| [&len(slice), slice].concat()).collect()
}
