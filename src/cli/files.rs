//! Files that are read and written: whole, bounded, and told with their names if they cannot be.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

use super::failure::Failure;

/// The largest file that is read: a recording of a month of play.
const FILE_BYTES_MAX: u64 = 512 * 1_024 * 1_024;
/// What a page begins with.
const PAGE_START: &[u8] = b"<!DOCTYPE html>";

/// The whole file, if it is not larger than any of ours.
pub(super) fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    bounded(file).map_err(|error| Failure::file("read", file, error))
}

fn bounded(file: &Path) -> io::Result<Vec<u8>> {
    let (mut bytes, file) = (Vec::new(), fs::File::open(file)?);
    // A length is told of files alone, and may change: it only saves reading in vain.
    let told = file.metadata()?.len();
    if told > FILE_BYTES_MAX || file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)? as u64 > FILE_BYTES_MAX {
        return Err(io::Error::other(format!("it has more than {FILE_BYTES_MAX} bytes, so it is none of ours")));
    }
    Ok(bytes)
}

/// Writes a whole file where there is none.
pub(super) fn create(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let created = fs::File::create_new(file).and_then(|mut out| out.write_all(bytes));
    created.map_err(|error| cannot_write(file, &error))
}

/// Whether a file can be made: asked before the work that it is to hold.
pub(super) fn can_create(file: &Path) -> Result<(), Failure> {
    let made = fs::File::create_new(file).and_then(|_| fs::remove_file(file));
    made.map_err(|error| cannot_write(file, &error))
}

/// Writes a page, over another page too.
pub(super) fn write_page(file: &Path, page: &str) -> Result<(), Failure> {
    can_write_page(file)?;
    fs::write(file, page).map_err(|error| cannot_write(file, &error))
}

/// Whether a page can be written: nothing but a page is written over.
pub(super) fn can_write_page(file: &Path) -> Result<(), Failure> {
    match fs::metadata(file) {
        Err(_) => return can_create(file),
        // A pipe or a terminal holds nothing.
        Ok(there) if !there.is_file() && !there.is_dir() => return Ok(()),
        Ok(_) => {}
    }
    let mut start = Vec::new();
    let opened = fs::OpenOptions::new().read(true).write(true).open(file);
    let read = opened.and_then(|file| file.take(PAGE_START.len() as u64).read_to_end(&mut start));
    match read {
        Err(error) => Err(cannot_write(file, &error)),
        Ok(_) if start.eq_ignore_ascii_case(PAGE_START) || start.is_empty() => Ok(()),
        Ok(_) => Err(Failure::file("write", file, "it is there already, and is no page; choose another name")),
    }
}

/// Refuses a name that promises another kind of file than the one that is written.
pub(super) fn is_named(file: &Path, kind: &str) -> Result<(), Failure> {
    match file.extension() {
        Some(extension) if !extension.eq_ignore_ascii_case(kind) => {
            let cause = format!("this is written as {} alone; name a file that ends in .{kind}", kind.to_uppercase());
            Err(Failure::file("write", file, cause))
        }
        _ => Ok(()),
    }
}

pub(super) fn cannot_write(file: &Path, error: &io::Error) -> Failure {
    match error.kind() {
        // A system may say of a folder no more than that it is there.
        _ if file.is_dir() => Failure::file("write", file, "it is a folder; name a file in it"),
        io::ErrorKind::AlreadyExists => Failure::file("write", file, "it is there already; choose another name"),
        _ => Failure::file("write", file, error),
    }
}
