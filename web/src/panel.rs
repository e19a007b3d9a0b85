//! What stands beside the picture: the hero, what happened, and who is in step with whom, for the
//! page to write. The window draws the same.

use lockstone::scene::{Rgb, Scene, Skill};
use lockstone::view::{Row, Status, Tone};
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(crate) struct Panel<'s> {
    /// What the session is doing.
    phase: &'s str,
    /// Whether there is a world to be seen.
    shows: bool,
    gauges: Vec<Gauge>,
    skills: Vec<Ready>,
    notes: &'s [String],
    /// Whether they can be dragged.
    lists: bool,
    /// What happened in the world and in the session, each with the newest last.
    told: [&'s [String]; 2],
    rows: Vec<Line>,
    join: Option<&'s str>,
    /// Whether sound is on.
    sound: bool,
}

#[derive(Debug, Serialize)]
struct Gauge {
    name: &'static str,
    value: i32,
    max: i32,
    color: String,
}

/// A skill: its key, how near it is to ready, in hundredths, and how often it can be had.
#[derive(Debug, Serialize)]
struct Ready {
    key: char,
    name: &'static str,
    percent: u8,
    count: Option<u32>,
}

#[derive(Debug, Serialize)]
struct Line {
    left: String,
    right: String,
    tone: &'static str,
    right_tone: &'static str,
}

impl<'s> Panel<'s> {
    pub fn of(scene: Option<&'s Scene>, status: &'s Status) -> Panel<'s> {
        let gauges = scene.map_or(&[][..], |scene| &scene.gauges);
        let skills = scene.map_or(&[][..], |scene| &scene.skills);
        Panel {
            phase: &status.phase,
            shows: scene.is_some(),
            gauges: gauges.iter().map(gauge).collect(),
            skills: skills.iter().map(ready).collect(),
            notes: scene.map_or(&[], |scene| &scene.notes),
            lists: scene.is_some_and(|scene| scene.lists),
            told: [scene.map_or(&[], |scene| &scene.news), &status.news],
            rows: status.rows().into_iter().map(line).collect(),
            sound: status.sound == Some(true),
            join: status.join.as_ref().and_then(|join| join.link.as_deref()),
        }
    }

    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("it is made of texts and numbers")
    }
}

fn gauge(gauge: &lockstone::scene::Gauge) -> Gauge {
    let Rgb(r, g, b) = gauge.color;
    Gauge { name: gauge.name, value: gauge.value, max: gauge.max, color: format!("#{r:02x}{g:02x}{b:02x}") }
}

fn ready(skill: &Skill) -> Ready {
    let Skill { key, name, ready, count } = *skill;
    Ready { key, name, percent: (100.0 * ready.clamp(0.0, 1.0)) as u8, count }
}

fn line(row: Row) -> Line {
    let name = |tone| match tone {
        Tone::Title => "title",
        Tone::Plain => "plain",
        Tone::Faint => "faint",
        Tone::Good => "good",
        Tone::Bad => "bad",
    };
    Line { left: row.left, right: row.right, tone: name(row.tone), right_tone: name(row.right_tone) }
}
