//! How far a long piece of work has come, on stderr.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar of so many ticks, behind a message of so many characters; none is seen where a program
/// reads the result.
pub(super) fn bar(ticks: u32, message_chars: usize, json: bool) -> ProgressBar {
    bar_of(ticks, &format!("{{msg:{message_chars}}} {{bar:30}} {{pos}}/{{len}} ticks {{elapsed}}"), json)
}

/// The same, of a template of one's own.
pub(super) fn bar_of(ticks: u32, template: &str, json: bool) -> ProgressBar {
    let bar = if json { ProgressBar::hidden() } else { ProgressBar::new(ticks.into()) };
    bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}
