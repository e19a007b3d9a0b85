//! Results, on stdout.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

/// Prints a result, and a line's end. Whoever reads it may stop early, as `head` does: that is no failure.
pub(super) fn print(result: impl Display) {
    match writeln!(io::stdout().lock(), "{result}") {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => eprintln!("The result cannot be printed: {error}."),
        _ => {}
    }
}
