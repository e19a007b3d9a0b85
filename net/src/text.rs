//! Text from outside, as it may be shown: what peers, servers and files say in words.
//!
//! A terminal obeys control characters, and bidirectional ones turn around what stands beside them.
//! Names and chat lines that hold such a character are refused ([`Text`](crate::wire::Text)).
//! Whatever else is shown goes through [`escaped`].

use core::fmt::{Display, Write};

/// Whether a character is a code, and not to be read: a control character (Unicode's Cc), one of
/// the marks, embeddings and isolates that turn text around (`Bidi_Control`), or a separator of
/// lines or paragraphs. Both last are complete: Unicode adds none to them.
pub fn is_code(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text in one line in which each code is shown as JSON writes it: `\u001b`. So JSON stays
/// what it is.
pub fn escaped(text: impl Display) -> String {
    let text = text.to_string();
    text.chars().fold(String::with_capacity(text.len()), |mut line, c| {
        if is_code(c) {
            write!(line, "\\u{:04x}", u32::from(c)).expect("memory takes everything");
        } else {
            line.push(c);
        }
        line
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_shown_and_words_of_every_script_stay() {
        assert_eq!(escaped("\u{1b}[2J\r\n\u{9b}\u{7f}"), "\\u001b[2J\\u000d\\u000a\\u009b\\u007f");
        assert_eq!(escaped("a\u{202e}b\u{2066}\u{200f}\u{2028}"), "a\\u202eb\\u2066\\u200f\\u2028");
        let words = "Zoë, Ωμέγα, नमस्ते, שלום, می\u{200c}خواهم, 👩\u{200d}🚀 'as is' \\";
        assert_eq!(escaped(words), words);
    }
}
