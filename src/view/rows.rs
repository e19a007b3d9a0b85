//! How the session goes, row by row: what the window and the page show beside the world, in words.
//! The terminal's lines are shorter.
//!
//! It must never say how a row looks: its [`Tone`] is what it means.

use super::{Status, last_check, loss, rtt, title};

/// What a row means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Where this is.
    Title,
    /// Something like any other.
    Plain,
    /// Of less weight.
    Faint,
    /// Worlds are equal.
    Good,
    /// Worlds differ.
    Bad,
}

/// A row: what stands left, and right.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What it is about.
    pub left: String,
    /// What is measured of it; may be empty.
    pub right: String,
    /// What the left part means.
    pub tone: Tone,
    /// What the right part means.
    pub right_tone: Tone,
    /// Whether it may be too long for a line.
    pub is_long: bool,
}

impl Row {
    fn of(left: impl Into<String>, right: impl Into<String>, tone: Tone) -> Row {
        Row { left: left.into(), right: right.into(), tone, right_tone: tone, is_long: false }
    }

    /// What is perhaps too long for a line.
    pub fn long(text: impl Into<String>, tone: Tone) -> Row {
        Row { is_long: true, ..Row::of(text, "", tone) }
    }
}

impl Status {
    /// Where this is, who is there and whether worlds are equal; and all that is measured, if it is
    /// asked for.
    pub fn rows(&self) -> Vec<Row> {
        let verdict = match self.last_check {
            _ if self.is_out_of_step() => Tone::Bad,
            Some(_) => Tone::Good,
            None => Tone::Faint,
        };
        let room = if self.room.is_empty() { "alone".to_owned() } else { format!("room {}", self.room) };
        let mut rows = vec![Row { right_tone: Tone::Faint, ..Row::of(room, self.phase.clone(), Tone::Title) }];
        for player in self.listed() {
            let right_tone = match last_check(player) {
                Some(check) if !check.equal => Tone::Bad,
                _ if player.own => Tone::Plain,
                Some(_) => Tone::Good,
                None => Tone::Faint,
            };
            let way = [loss(player), rtt(player)].join(" ");
            rows.push(Row { right_tone, ..Row::of(title(player), way, Tone::Plain) });
        }
        let others = self.away().chain([self.beyond(), self.served()].into_iter().flatten());
        rows.extend(others.map(|text| Row::of(text, "", Tone::Faint)));
        let traffic = format!("{} B/s in, {} out", self.bytes_in_per_s, self.bytes_out_per_s);
        rows.push(Row::of(format!("tick {}", self.stats.tick), traffic, Tone::Faint));
        rows.push(Row::long(self.verdict(), verdict));
        rows.extend(self.corrections().map(|corrections| Row::of(corrections, "", Tone::Faint)));
        rows.extend(self.details().into_iter().map(|detail| Row::long(detail, Tone::Faint)));
        rows
    }
}
