//! Files that are read and written: whole, bounded, and told with their names if they cannot be.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

use super::failure::Failure;

/// The largest file that is read: a recording of a month of play.
const FILE_BYTES_MAX: u64 = 512 * 1_024 * 1_024;

/// The whole file, if it is not larger than any of ours.
pub(super) fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    bounded(file).map_err(|error| Failure::file("read", file, error))
}

fn bounded(file: &Path) -> io::Result<Vec<u8>> {
    let (mut bytes, file) = (Vec::new(), fs::File::open(file)?);
    // A length is told of files alone, and may change: it only saves reading in vain.
    let told = file.metadata()?.len();
    if told > FILE_BYTES_MAX || file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)? as u64 > FILE_BYTES_MAX {
        return Err(io::Error::other(format!("it has more than {FILE_BYTES_MAX} bytes")));
    }
    Ok(bytes)
}

/// Writes a whole file.
pub(super) fn write(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    fs::write(file, bytes).map_err(|error| Failure::file("write", file, error))
}

/// Writes a whole file where there is none.
pub(super) fn create(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let created = fs::File::create_new(file).and_then(|mut out| out.write_all(bytes));
    created.map_err(|error| Failure::file("write", file, error))
}
