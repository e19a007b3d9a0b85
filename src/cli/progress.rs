//! How far a long piece of work has come, on stderr.

use indicatif::{ProgressBar, ProgressStyle};

/// Between two times that a bar moves.
const TICKS_SHOWN: u32 = 128;

/// A bar of so many ticks, behind a message of so many characters; none is seen where a program
/// reads the result.
pub(super) fn bar(ticks: u32, message_chars: usize, json: bool) -> ProgressBar {
    bar_of(ticks, &format!("{{msg:{message_chars}}} {{bar:30}} {{pos}}/{{len}} ticks {{elapsed}}"), json)
}

/// A bar of a recording that is played, of so many ticks.
pub(super) fn bar_of_recording(ticks: u32) -> ProgressBar {
    bar_of(ticks, "{bar:30} {pos}/{len} ticks {elapsed}, {eta} left", false)
}

/// So much was done. A bar is not told of every tick: that would cost more than a tick does.
pub(super) fn advance(bar: &ProgressBar, ticks: u32) {
    if ticks.is_multiple_of(TICKS_SHOWN) {
        bar.set_position(ticks.into());
    }
}

/// The same, of a template of one's own.
pub(super) fn bar_of(ticks: u32, template: &str, json: bool) -> ProgressBar {
    let bar = if json { ProgressBar::hidden() } else { ProgressBar::new(ticks.into()) };
    bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}
