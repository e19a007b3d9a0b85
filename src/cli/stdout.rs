//! Results, on stdout.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a part of the result could not be printed.
static LOST: AtomicBool = AtomicBool::new(false);

/// Prints a result, and a line's end if it has none. A program that reads it may stop early, as
/// `head` does. That is no failure.
pub(super) fn print(result: impl Display) {
    let text = result.to_string();
    match writeln!(io::stdout().lock(), "{}", text.strip_suffix('\n').unwrap_or(&text)) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe && !LOST.swap(true, Ordering::Relaxed) => {
            eprintln!("The result cannot be printed: {error}.");
        }
        _ => {}
    }
}

/// Whether all that was printed has arrived, or was not wanted.
pub(super) fn is_whole() -> bool {
    !LOST.load(Ordering::Relaxed)
}
