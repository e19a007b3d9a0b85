//! What came of a case, and the table of all.

use std::collections::BTreeMap;
use std::fmt;

use lockstone::check::{Cause, Finding, Report};
use lockstone::sim::Tick;
use lockstone::sim::world::StatePart;

use super::case::Plant;
use super::games::Lines;

/// Of 100 causes so many must be right: of what a peer's own program played again, and of all.
/// Without a rerun other rules and several turned bits are often one of several.
const RERUN_RIGHT_MIN: u32 = 97;
const RIGHT_MIN: u32 = 80;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
pub struct Outcome {
    pub said: Said,
    pub blames_healthy: bool,
    /// Whether the odd peer's own program played again what it recorded.
    has_rerun: bool,
    tick: Option<bool>,
    place: Option<bool>,
    line: Option<Line>,
    report: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    Right,
    None,
    Wrong,
}

impl Outcome {
    pub fn of(
        plant: Plant,
        odd: usize,
        split: Option<Tick>,
        (planted, lines): (Option<StatePart>, Option<Lines>),
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
        let place = found.zip(planted).and_then(|(found, planted)| is_placed(found, &planted));
        let line = found.filter(|_| said == Said::Right).zip(lines).map(|(found, lines)| line(&lines, found));
        Outcome { said, blames_healthy, has_rerun, tick, place, line, report: format!("{how}\n{report}") }
    }

    /// Whether it is of interest.
    pub fn is_told(&self) -> bool {
        !matches!(self.said, Said::Right | Said::Nothing)
            || self.blames_healthy
            || self.tick == Some(false)
            || self.place == Some(false)
            || self.line == Some(Line::Wrong)
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

/// Whether what was written to is among what differs, if anything is told to.
fn is_placed(finding: &Finding, planted: &StatePart) -> Option<bool> {
    let location = finding.location.as_ref()?;
    let is_it = |part: &StatePart| match (part, planted) {
        // It may have walked on.
        (StatePart::Entity(_, a), StatePart::Entity(_, b)) => a == b || planted.cell() == part.cell(),
        _ => part == planted,
    };
    Some(location.spots.iter().any(|spot| is_it(&spot.part)))
}

fn line(lines: &Lines, finding: &Finding) -> Line {
    let Some(first) = finding.bad_writes.first() else { return Line::None };
    let mut sites = first.here.iter().chain(&first.there).chain(&first.last_alike).peekable();
    if sites.peek().is_none() {
        return Line::None;
    }
    let is_it = sites.any(|site| site.file.ends_with(lines.file) && lines.contain(site.line));
    if is_it { Line::Right } else { Line::Wrong }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Outcome { said, blames_healthy, tick, place, line, report, .. } = self;
        write!(
            f,
            "{said:?}, blames a healthy peer {blames_healthy}, tick {tick:?}, place {place:?}, line {line:?}, {report}"
        )
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
    place: [u32; 2],
    /// Right, none, wrong.
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
        sum(&mut self.line, &other.line);
    }
}

impl Table {
    pub fn add(&mut self, plant: Plant, outcome: &Outcome) {
        let known = |right: Option<bool>| [u32::from(right == Some(true)), u32::from(right.is_some())];
        let mut row = Row { tick: known(outcome.tick), place: known(outcome.place), ..Row::default() };
        row.said[outcome.said as usize] = 1;
        row.blames_healthy = outcome.blames_healthy.into();
        row.line = [Line::Right, Line::None, Line::Wrong].map(|line| u32::from(outcome.line == Some(line)));
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
        assert_eq!((sum.tick[0], sum.line[2]), (sum.tick[1], 0), "ticks, and wrong lines");
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
        writeln!(f, "| planted | cases | right | one of | unknown | wrong | healthy blamed | tick | place | line |")?;
        writeln!(f, "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")?;
        let rows = self.rows(|_| true).into_iter().map(|(plant, row)| (format!("{plant:?}"), row));
        let sums =
            [("with a rerun", self.sum(|has| has)), ("without one", self.sum(|has| !has)), ("all", self.sum(|_| true))];
        for (name, row) in rows.chain(sums.map(|(name, row)| (name.to_owned(), row))) {
            let [right, one_of, unknown, wrong, _] = row.said;
            let of = |[right, known]: [u32; 2]| if known == 0 { String::new() } else { format!("{right} of {known}") };
            let line = of([row.line[0], row.line.iter().sum()]);
            write!(
                f,
                "| {name} | {} | {right} | {one_of} | {unknown} | {wrong} | {} ",
                row.told(),
                row.blames_healthy
            )?;
            writeln!(f, "| {} | {} | {line} |", of(row.tick), of(row.place))?;
        }
        Ok(())
    }
}
