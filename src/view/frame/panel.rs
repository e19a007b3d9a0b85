//! The panel beside the world: the hero, what happened, and who is in step with whom.

use tiny_skia::Pixmap;

use super::ink::{self, Font, fill};
use super::{Camera, PANEL, Rect};
use crate::scene::{Gauge, Rgb, Scene};
use crate::view::typing::KEYS;
use crate::view::{Row, Status, Tone};

const PAPER: Rgb = Rgb(212, 200, 176);
const FAINT: Rgb = Rgb(142, 130, 112);
const EMBER: Rgb = Rgb(232, 150, 62);
const GREEN: Rgb = Rgb(126, 200, 96);
const RED: Rgb = Rgb(232, 72, 56);
const MARGIN: i32 = 18;
const LINE: i32 = 19;
/// A map that is smaller, in pixels, shows nothing.
const MAP_MIN: i32 = 128;

/// Where the next line goes.
struct Column<'p> {
    pixmap: &'p mut Pixmap,
    left: i32,
    width: i32,
    y: i32,
}

/// From where on down to where each note is written, in pixels.
type Places = Vec<std::ops::Range<i32>>;

/// Draws the panel, with the note marked that is pointed at. Returns where each is.
pub(super) fn draw(pixmap: &mut Pixmap, scene: Option<&Scene>, status: &Status, pointed: Option<&str>) -> Places {
    let news = scene.map_or(&[][..], |scene| &scene.news).iter().chain(&status.news);
    let (places, _) = columns(pixmap, status.game, (scene, pointed), news, session_rows(status), false);
    if let Some(typed) = &status.typed {
        prompt(pixmap, typed);
    }
    places
}

/// Draws the panel of a viewer of recordings: the hero, rows, and a map over them if there is one,
/// for which a box is returned.
pub(super) fn told(pixmap: &mut Pixmap, title: &str, scene: Option<&Scene>, rows: Vec<Row>, map: bool) -> Option<Rect> {
    let news = scene.map_or(&[][..], |scene| &scene.news).iter();
    columns(pixmap, title, (scene, None), news, rows, map).1
}

/// Draws the hero from the top down, rows from the bottom up, and news in between; or a box that is
/// returned.
fn columns<'n>(
    pixmap: &mut Pixmap,
    title: &str,
    (scene, pointed): (Option<&Scene>, Option<&str>),
    news: impl DoubleEndedIterator<Item = &'n String>,
    rows: Vec<Row>,
    map: bool,
) -> (Places, Option<Rect>) {
    let (left, height) = ((pixmap.width() - PANEL) as f32, pixmap.height() as f32);
    fill(pixmap, (left, 0.0, PANEL as f32, height), Rgb(22, 18, 17), 255);
    fill(pixmap, (left, 0.0, 2.0, height), Rgb(96, 66, 34), 255);
    fill(pixmap, (left + 2.0, 0.0, 1.0, height), Rgb(8, 6, 6), 255);
    let bottom = pixmap.height() as i32;
    let mut column = Column { left: left as i32 + MARGIN, width: PANEL as i32 - 2 * MARGIN, y: 12, pixmap };
    column.title(title);
    let mut places = Places::new();
    if let Some(scene) = scene {
        scene.gauges.iter().for_each(|gauge| column.gauge(gauge));
        column.y += 4;
        for note in &scene.notes {
            let top = column.y;
            column.text(note, Font::small(if pointed == Some(note) { EMBER } else { PAPER }));
            places.push(top..column.y);
        }
    }
    // What has no room is left out from the end on.
    let room = bottom - 14 - column.y - if map { MAP_MIN + 24 } else { 0 };
    let fits = usize::try_from(room / LINE).unwrap_or(0);
    let told: Vec<Line> = rows.into_iter().flat_map(|row| lines(row, column.width)).take(fits).collect();
    let top = bottom - 14 - told.len() as i32 * LINE;
    let room = (top - 24 - column.y).min(column.width);
    let place = (column.left as f32, (top - 16 - room) as f32, column.width as f32, room as f32);
    let place = (map && room >= MAP_MIN).then_some(place);
    if place.is_none() {
        column.news(news, top - 16);
    }
    column.y = top - 8;
    column.rule();
    column.y = top;
    told.into_iter().for_each(|line| column.line(line));
    (places, place)
}

/// A line of the session's status: left part, right part.
struct Line {
    left: String,
    right: String,
    font: Font,
    right_color: Rgb,
}

fn session_rows(status: &Status) -> Vec<Row> {
    let mut rows = status.rows();
    if let Some(join) = &status.join {
        rows.extend([Row::long("A friend joins with", Tone::Faint), Row::long(&join.line, Tone::Title)]);
        if let Some(link) = &join.link {
            rows.extend([Row::long("or in a browser", Tone::Faint), Row::long(link, Tone::Title)]);
        }
    }
    rows.extend([status.keys, KEYS].into_iter().map(|keys| Row::long(keys, Tone::Faint)));
    rows
}

/// A row as lines of at most so many pixels.
fn lines(row: Row, width: i32) -> Vec<Line> {
    let (color, right_color) = (color(row.tone), color(row.right_tone));
    if row.is_long {
        let font = Font::small(color);
        let line = |left| Line { left, right: String::new(), font, right_color };
        return font.wrap(&row.left, width).into_iter().map(line).collect();
    }
    let font = if row.tone == Tone::Title { Font::bold(color) } else { Font::small(color) };
    vec![Line { left: row.left, right: row.right, font, right_color }]
}

fn color(tone: Tone) -> Rgb {
    match tone {
        Tone::Title => EMBER,
        Tone::Plain => PAPER,
        Tone::Faint => FAINT,
        Tone::Good => GREEN,
        Tone::Bad => RED,
    }
}

impl Column<'_> {
    fn title(&mut self, text: &str) {
        Font::title(EMBER).write(self.pixmap, (self.left, self.y), text);
        self.y += 40;
        self.rule();
    }

    fn rule(&mut self) {
        fill(self.pixmap, (self.left as f32, self.y as f32, self.width as f32, 1.0), Rgb(96, 66, 34), 255);
        self.y += 10;
    }

    fn text(&mut self, text: &str, font: Font) {
        for line in font.wrap(text, self.width) {
            font.write(self.pixmap, (self.left, self.y), &line);
            self.y += LINE;
        }
    }

    fn gauge(&mut self, gauge: &Gauge) {
        let part = gauge.value as f32 / gauge.max.max(1) as f32;
        let place = (self.left as f32, self.y as f32 + 1.0, self.width as f32, 18.0);
        ink::bar(self.pixmap, place, part, gauge.color);
        let font = Font::bold(Rgb(255, 250, 240));
        let value = format!("{} / {}", gauge.value, gauge.max);
        font.write_rimmed(self.pixmap, (self.left + 6, self.y + 2), gauge.name);
        font.write_rimmed(self.pixmap, (self.left + self.width - 6 - font.width(&value), self.y + 2), &value);
        self.y += 26;
    }

    /// As many of the newest lines as fit above `bottom`; older ones are fainter.
    fn news<'n>(&mut self, news: impl DoubleEndedIterator<Item = &'n String>, bottom: i32) {
        let room = usize::try_from((bottom - self.y - 8) / LINE).unwrap_or(0).min(12);
        let mut lines: Vec<String> = Vec::new();
        for item in news.rev() {
            let wrapped = Font::small(PAPER).wrap(item, self.width);
            if lines.len() + wrapped.len() > room {
                break;
            }
            lines.extend(wrapped.into_iter().rev());
        }
        for (age, line) in lines.iter().enumerate() {
            let fade = (1.0 - age as f32 * 0.08).max(0.35);
            let y = bottom - (age as i32 + 1) * LINE;
            Font::small(super::lit(PAPER, [fade; 3])).write(self.pixmap, (self.left, y), line);
        }
    }

    fn line(&mut self, line: Line) {
        line.font.write(self.pixmap, (self.left, self.y), &line.left);
        let right = Font { color: line.right_color, ..Font::small(line.right_color) };
        right.write(self.pixmap, (self.left + self.width - right.width(&line.right), self.y), &line.right);
        self.y += LINE;
    }
}

/// The line that is being typed, over the world.
fn prompt(pixmap: &mut Pixmap, typed: &str) {
    let (width, height) = ((pixmap.width() - PANEL) as f32, pixmap.height() as f32);
    fill(pixmap, (24.0, height - 52.0, width - 48.0, 30.0), Rgb(0, 0, 0), 200);
    Font::bold(PAPER).write(pixmap, (34, height as i32 - 45), &format!("> {typed}_"));
}

/// Before there is a world: what the session is doing.
pub(super) fn curtain(pixmap: &mut Pixmap, camera: Camera, status: &Status) {
    let (x, y) = (camera.width as i32 / 2, camera.height as i32 / 2);
    let (title, small) = (Font::title(EMBER), Font::small(PAPER));
    title.write(pixmap, (x - title.width(status.game) / 2, y - 50), status.game);
    small.write(pixmap, (x - small.width(&status.phase) / 2, y), &status.phase);
}
