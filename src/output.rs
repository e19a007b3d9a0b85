//! What this process prints: results on stdout, messages for people on stderr.
//!
//! Everything passes here, and no code passes that came from outside: a terminal shows what was
//! said, and obeys nothing. `clippy` refuses `println!` and `eprintln!` elsewhere.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use lockstone_net::text::escaped;

/// Whether a part of the result could not be printed.
#[cfg_attr(target_arch = "wasm32", allow(dead_code, reason = "as of what is printed"))]
static LOST: AtomicBool = AtomicBool::new(false);

/// Prints a result, and a line's end if it has none. A program that reads it may stop early, as
/// `head` does. That is no failure.
#[cfg_attr(
    any(not(feature = "cli"), target_arch = "wasm32"),
    allow(dead_code, reason = "a shell alone has no results to print")
)]
pub(crate) fn print(result: impl Display) {
    match put(io::stdout().lock(), result) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe && !LOST.swap(true, Ordering::Relaxed) => {
            say(format_args!("The result cannot be printed: {error}."));
        }
        _ => {}
    }
}

/// Tells people something. If nobody listens, it is lost.
pub(crate) fn say(message: impl Display) {
    let _ = put(io::stderr().lock(), message);
}

/// Whether all that was printed has arrived, or was not wanted.
#[cfg_attr(
    any(not(feature = "cli"), target_arch = "wasm32"),
    allow(dead_code, reason = "a shell alone has no results to print")
)]
pub(crate) fn is_whole() -> bool {
    !LOST.load(Ordering::Relaxed)
}

/// Writes all of it at once: other threads print too.
fn put(mut out: impl Write, text: impl Display) -> io::Result<()> {
    let text = text.to_string();
    let lines: String = text.lines().map(|line| escaped(line) + "\n").collect();
    out.write_all(if text.is_empty() { "\n" } else { &lines }.as_bytes())
}
