//! What came of a case, and the table of all.

use std::collections::BTreeMap;
use std::fmt;

use lockstone::check::{Cause, Finding, Location, Report};
use lockstone::sim::Tick;
use lockstone::sim::journal::Site;
use lockstone::sim::world::StatePart;
use serde::{Deserialize, Serialize};

use super::case::Plant;
use super::games::{Lines, Part};

/// Of 100 causes so many must be right: of what a peer's own program played again, and of all.
/// Without a rerun other rules and several turned bits are often one of several.
const RERUN_RIGHT_MIN: u32 = 97;
const RIGHT_MIN: u32 = 80;
/// Of 100 lines so many must be told, and of 100 places, as the state that is recorded some ticks
/// after a write may be as it should be again. What is told must be right.
const LINES_MIN: u32 = 90;
const PLACES_MIN: u32 = 80;
const LATE_BITS_MIN: u32 = 90;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Said {
    Right,
    /// The right one is among several.
    OneOf,
    Unknown,
    Wrong,
    /// No checksum differed: nothing ever came of it.
    Nothing,
}

/// What came of a case. Of what recordings do not hold, or what does not lie in a line, nothing is
/// known.
#[derive(Serialize, Deserialize)]
pub struct Outcome {
    pub said: Said,
    pub blames_healthy: bool,
    /// Whether the odd peer's own program played again what it recorded.
    has_rerun: bool,
    tick: Option<bool>,
    place: Option<Told>,
    field: Option<Told>,
    line: Option<Told>,
    report: String,
}

/// What is told of something that there is to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Told {
    Right,
    None,
    Wrong,
}

/// A part of a state, and the path of a field in it.
pub type Planted = (StatePart, String);

impl Outcome {
    pub fn of(
        plant: Plant,
        odd: usize,
        split: Option<Tick>,
        (planted, lines): (Option<Planted>, Option<Lines>),
        report: Report,
        (how, has_rerun): (String, bool),
    ) -> Outcome {
        let said = said(plant, split, &report);
        let finding = report.finding.as_ref();
        let blamed = finding.map_or(&[][..], |finding| &finding.verdict.blamed);
        let blames_healthy = blamed.iter().any(|n| *n != odd || plant.is_of_nobody());
        let found = finding.filter(|_| said != Said::Nothing);
        let is_told_by_headers = matches!(plant, Plant::Seed | Plant::Table);
        let tick = found.filter(|_| plant.is_steady() && !is_told_by_headers).map(|found| Some(found.tick) == split);
        let planted = found.zip(planted.as_ref());
        let place = planted.map(|(found, (part, _))| place(found, part));
        let field = planted.map(|(found, (part, path))| field(found, part, path));
        let line = found.zip(lines).map(|(found, lines)| line(&lines, found));
        Outcome { said, blames_healthy, has_rerun, tick, place, field, line, report: format!("{how}\n{report}") }
    }

    /// Whether it is of interest.
    pub fn is_told(&self) -> bool {
        !matches!(self.said, Said::Right | Said::Nothing)
            || self.blames_healthy
            || self.tick == Some(false)
            || [self.place, self.field, self.line].iter().flatten().any(|told| *told != Told::Right)
    }
}

fn said(plant: Plant, split: Option<Tick>, report: &Report) -> Said {
    let Some(Finding { verdict, .. }) = &report.finding else {
        return match (plant.causes().is_empty(), split) {
            (true, _) => Said::Right,
            (false, None) => Said::Nothing,
            (false, Some(_)) => Said::Wrong,
        };
    };
    let is_right = |cause: &Cause| plant.causes().contains(cause);
    match (is_right(&verdict.cause), verdict.others.is_empty()) {
        (true, true) => Said::Right,
        _ if is_right(&verdict.cause) || verdict.others.iter().any(is_right) => Said::OneOf,
        _ if verdict.cause == Cause::Unknown => Said::Unknown,
        _ => Said::Wrong,
    }
}

/// Whether what was written to is among what differs.
fn place(finding: &Finding, planted: &StatePart) -> Told {
    let Some(location) = &finding.location else { return Told::None };
    // It may have walked on.
    let is_it = |part: &StatePart| is_same(part, planted) || planted.cell() == part.cell();
    told_of(finding, location, location.spots.iter().any(|spot| is_it(&spot.part)))
}

/// What a location tells of a later tick than that of the difference is true of that one: what
/// followed may be all that is left.
fn told_of(finding: &Finding, location: &Location, is_right: bool) -> Told {
    if location.tick > finding.tick && !is_right { Told::None } else { told(is_right) }
}

/// Whether the field that was written to is, if what it belongs to is told.
fn field(finding: &Finding, planted: &StatePart, path: &str) -> Told {
    let Some(location) = &finding.location else { return Told::None };
    let spots = location.spots.iter().filter(|spot| is_same(&spot.part, planted));
    let mut fields = spots.flat_map(|spot| &spot.fields).peekable();
    if fields.peek().is_none() {
        return Told::None;
    }
    told_of(finding, location, fields.any(|field| field.path == path))
}

fn is_same(part: &StatePart, planted: &StatePart) -> bool {
    match (part, planted) {
        (StatePart::Entity(_, a), StatePart::Entity(_, b)) => a == b,
        _ => part == planted,
    }
}

fn line(lines: &Lines, finding: &Finding) -> Told {
    let Some(first) = finding.bad_writes.first() else { return Told::None };
    let is_in = |parts: &[Part], site: &Site| parts.iter().any(|part| part.holds(site));
    let mut decided = first.here.iter().chain(&first.there).peekable();
    match (decided.peek(), &first.last_alike) {
        // What stands in its place on the other side is another line.
        (Some(_), _) => told(decided.any(|site| is_in(lines.decide, site))),
        (None, Some(before)) => told(is_in(lines.precede, before)),
        (None, None) => Told::None,
    }
}

fn told(is_right: bool) -> Told {
    if is_right { Told::Right } else { Told::Wrong }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Outcome { said, blames_healthy, tick, place, field, line, report, .. } = self;
        write!(f, "{said:?}, blames a healthy peer {blames_healthy}, tick {tick:?}, ")?;
        write!(f, "place {place:?}, field {field:?}, line {line:?}, {report}")
    }
}

/// All cases, by what was planted, and by whether a rerun came.
#[derive(Default)]
pub struct Table(BTreeMap<(bool, Plant), Row>);

#[derive(Clone, Copy, Default)]
struct Row {
    said: [u32; 5],
    blames_healthy: u32,
    /// Right, and all that are known.
    tick: [u32; 2],
    /// Each right, none, wrong.
    place: [u32; 3],
    field: [u32; 3],
    line: [u32; 3],
}

impl Row {
    fn told(&self) -> u32 {
        self.said[..4].iter().sum()
    }

    fn add(&mut self, other: &Row) {
        fn sum<const N: usize>(mine: &mut [u32; N], theirs: &[u32; N]) {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
        }
        sum(&mut self.said, &other.said);
        self.blames_healthy += other.blames_healthy;
        sum(&mut self.tick, &other.tick);
        sum(&mut self.place, &other.place);
        sum(&mut self.field, &other.field);
        sum(&mut self.line, &other.line);
    }
}

impl Table {
    pub fn add(&mut self, plant: Plant, outcome: &Outcome) {
        let known = |right: Option<bool>| [u32::from(right == Some(true)), u32::from(right.is_some())];
        let told = |told| [Told::Right, Told::None, Told::Wrong].map(|one| u32::from(told == Some(one)));
        let mut row = Row { tick: known(outcome.tick), place: told(outcome.place), ..Row::default() };
        (row.field, row.line) = (told(outcome.field), told(outcome.line));
        row.said[outcome.said as usize] = 1;
        row.blames_healthy = outcome.blames_healthy.into();
        self.0.entry((outcome.has_rerun, plant)).or_default().add(&row);
    }

    /// By what was planted, of those that are meant.
    fn rows(&self, is_meant: impl Fn(bool) -> bool) -> BTreeMap<Plant, Row> {
        let mut rows = BTreeMap::<Plant, Row>::new();
        for ((_, plant), row) in self.0.iter().filter(|((has_rerun, _), _)| is_meant(*has_rerun)) {
            rows.entry(*plant).or_default().add(row);
        }
        rows
    }

    fn sum(&self, is_meant: impl Fn(bool) -> bool) -> Row {
        self.rows(is_meant).values().fold(Row::default(), |mut sum, row| {
            sum.add(row);
            sum
        })
    }

    /// What must hold of all.
    pub fn hold(&self) {
        let sum = self.sum(|_| true);
        assert_eq!((sum.said[Said::Wrong as usize], sum.blames_healthy), (0, 0), "wrong, and a healthy peer blamed");
        assert_eq!(sum.tick[0], sum.tick[1], "ticks");
        for (what, [right, none, wrong], percent_min) in
            [("places", sum.place, PLACES_MIN), ("fields", sum.field, 0), ("lines", sum.line, LINES_MIN)]
        {
            assert_eq!(wrong, 0, "wrong {what}");
            assert!(right * 100 >= (right + none) * percent_min, "{right} {what} are told, and {none} are not");
        }
        // Of a bit that was turned before a checksum recordings hold all of it; of one that was
        // turned behind it, what the step made of it.
        let rows = self.rows(|_| true);
        for (plant, percent_min) in [(Plant::Bit, 100), (Plant::LateBit, LATE_BITS_MIN)] {
            let Some(Row { place, field, .. }) = rows.get(&plant) else { continue };
            for [right, none, _] in [place, field] {
                assert!(right * 100 >= (right + none) * percent_min, "{plant:?}: {none} of them are not told");
            }
        }
        for (what, row, percent_min) in
            [("with a rerun", self.sum(|has| has), RERUN_RIGHT_MIN), ("in all", sum, RIGHT_MIN)]
        {
            let (right, told) = (row.said[Said::Right as usize], row.told());
            assert!(right * 100 >= told * percent_min, "{what} {right} of {told} right");
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| planted | cases | right | one of | unknown | wrong | healthy blamed | tick | place | field | line |"
        )?;
        writeln!(f, "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")?;
        let rows = self.rows(|_| true).into_iter().map(|(plant, row)| (format!("{plant:?}"), row));
        let sums =
            [("with a rerun", self.sum(|has| has)), ("without one", self.sum(|has| !has)), ("all", self.sum(|_| true))];
        for (name, row) in rows.chain(sums.map(|(name, row)| (name.to_owned(), row))) {
            let [right, one_of, unknown, wrong, _] = row.said;
            let of = |[right, known]: [u32; 2]| if known == 0 { String::new() } else { format!("{right} of {known}") };
            let told = |[right, none, wrong]: [u32; 3]| of([right, right + none + wrong]);
            write!(
                f,
                "| {name} | {} | {right} | {one_of} | {unknown} | {wrong} | {} ",
                row.told(),
                row.blames_healthy
            )?;
            writeln!(f, "| {} | {} | {} | {} |", of(row.tick), told(row.place), told(row.field), told(row.line))?;
        }
        Ok(())
    }
}
