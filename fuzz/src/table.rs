//! Random tables: what reads as a table is written the same again. As bytes hardly ever have the
//! digests of a table, they are tried once as they are, once under a header with its digest put
//! right, and once as the words of a table whose digests are all right.

use lockstone_sim::table::TABLE_BYTES;
use lockstone_sim::{Table, TableError};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

const HEADER_BYTES: usize = 64;
/// A table, and the words once more while their digest is taken.
const HELD_BYTES_MAX: usize = 4 * TABLE_BYTES;

/// Reads any file.
pub fn check(bytes: &[u8]) -> bool {
    let _ = read(bytes);
    let mut file = bytes.to_vec();
    let Some(header) = file.first_chunk_mut::<HEADER_BYTES>() else { return false };
    seal(header);
    assert!(!matches!(read(&file), Err(TableError::TooShort { .. } | TableError::HeaderDigest)));
    whole(file);
    true
}

/// With the layout, the length and the digests of a table, anything is one.
fn whole(mut file: Vec<u8>) {
    file.resize(TABLE_BYTES, 0xa5);
    let digest = xxh3_128(&file[HEADER_BYTES..]).to_le_bytes();
    let header = file.first_chunk_mut::<HEADER_BYTES>().expect("longer than a header");
    header[..8].copy_from_slice(b"LKST\x01\x00\x0d\x08");
    header[40..56].copy_from_slice(&digest);
    seal(header);
    assert!(read(&file).is_ok());
}

fn seal(header: &mut [u8; HEADER_BYTES]) {
    let digest = xxh3_64(&header[..56]).to_le_bytes();
    header[56..].copy_from_slice(&digest);
}

fn read(bytes: &[u8]) -> Result<Table, TableError> {
    let read = crate::memory::within(HELD_BYTES_MAX, || Table::from_bytes(bytes));
    if let Ok(table) = &read {
        assert_eq!(table.to_bytes(), bytes);
    }
    read
}

/// The beginning of a table: 64 KiB of random words have nothing to teach.
pub fn seeds() -> Vec<Vec<u8>> {
    let bytes = Table::generate([7; 32]).to_bytes();
    [HEADER_BYTES, 2 * HEADER_BYTES].map(|len| bytes[..len].to_vec()).into()
}
