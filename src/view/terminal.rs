//! The terminal: the same scene as letters, for a machine without a display.
//!
//! It takes the terminal over and gives it back when dropped, and when the program panics.

mod map;

use std::io;
use std::time::Duration;

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{
    self, DisableMouseCapture, EnableMouseCapture, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton,
    MouseEventKind,
};
use ratatui::crossterm::execute;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph, Wrap};

use super::smooth::Smooth;
use super::typing::{KEYS, Key, Typing};
use super::{Action, Status, View, last_check, loss, rtt, title};
use crate::scene::{Gauge, Mark, Pointer, Rgb, Scene, Skill};
use map::{TILE_COLUMNS, corner, draw_map, draw_marks, mark_style};

/// Columns of the panel.
const PANEL: u16 = 44;

const EMBER: Color = Color::Rgb(232, 150, 62);
const FAINT: Color = Color::Rgb(142, 130, 112);

/// A terminal that shows the world.
pub struct TerminalView {
    terminal: DefaultTerminal,
    typing: Typing,
    /// Where the map is on the screen, and the tile in its corner.
    map: (Rect, (f32, f32)),
}

impl TerminalView {
    /// Takes the terminal over.
    ///
    /// # Errors
    /// What the system says, as when there is no terminal.
    pub fn open() -> io::Result<TerminalView> {
        let terminal = ratatui::try_init()?;
        let view = TerminalView { terminal, typing: Typing::default(), map: Default::default() };
        execute!(io::stdout(), EnableMouseCapture)?;
        Ok(view)
    }
}

impl View for TerminalView {
    fn show(&mut self, scenes: &Smooth, _moment: f32, status: &Status, _time_s: f32) {
        let (map, scene) = (&mut self.map, scenes.newest());
        let drawn = self.terminal.draw(|screen| {
            let [left, right] =
                Layout::horizontal([Constraint::Min(20), Constraint::Length(PANEL)]).areas(screen.area());
            match scene {
                Some(scene) => {
                    *map = (left, corner(left, scene));
                    draw_map(screen.buffer_mut(), left, map.1, scene);
                    draw_marks(screen.buffer_mut(), left, map.1, scene);
                }
                None => screen.render_widget(Paragraph::new(status.phase.as_str()).centered(), left),
            }
            screen.render_widget(panel(scene, status), right);
        });
        if let Err(error) = drawn {
            tracing::warn!("the terminal could not be drawn: {error}");
        }
    }

    fn actions(&mut self) -> Vec<Action> {
        let mut actions = Vec::new();
        while event::poll(Duration::ZERO).unwrap_or(false) {
            match event::read() {
                Ok(Event::Key(key)) if key.kind != KeyEventKind::Release => actions.extend(self.key(key)),
                Ok(Event::Mouse(mouse)) => {
                    let pointer = match mouse.kind {
                        MouseEventKind::Down(MouseButton::Left) => Pointer::Primary,
                        MouseEventKind::Down(MouseButton::Right) => Pointer::Secondary,
                        _ => continue,
                    };
                    actions.extend(self.tile_at(mouse.column, mouse.row).map(|at| Action::Click(at, pointer)));
                }
                Ok(_) => {}
                // The terminal is gone.
                Err(_) => return vec![Action::Quit],
            }
        }
        actions
    }

    fn line(&self) -> Option<&str> {
        self.typing.line()
    }

    fn is_where_messages_go(&self) -> bool {
        true
    }
}

impl TerminalView {
    fn key(&mut self, key: KeyEvent) -> Option<Action> {
        // In raw mode the terminal makes no signal of it.
        if key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL) {
            return Some(Action::Quit);
        }
        self.typing.press(match key.code {
            KeyCode::Char(c) => Key::Char(c),
            KeyCode::Enter => Key::Enter,
            KeyCode::Backspace => Key::Backspace,
            KeyCode::Esc => Key::Escape,
            KeyCode::Tab => Key::Tab,
            KeyCode::Left => Key::Arrow(-1, 0),
            KeyCode::Right => Key::Arrow(1, 0),
            KeyCode::Up => Key::Arrow(0, -1),
            KeyCode::Down => Key::Arrow(0, 1),
            _ => return None,
        })
    }

    fn tile_at(&self, column: u16, row: u16) -> Option<(f32, f32)> {
        let (area, corner) = self.map;
        area.contains((column, row).into()).then(|| {
            let (x, y) = ((column - area.x) / TILE_COLUMNS, row - area.y);
            (corner.0 + f32::from(x) + 0.5, corner.1 + f32::from(y) + 0.5)
        })
    }
}

impl Drop for TerminalView {
    fn drop(&mut self) {
        // Nothing is left to tell it to if this fails.
        let _ = execute!(io::stdout(), DisableMouseCapture);
        ratatui::restore();
    }
}

fn panel<'t>(scene: Option<&'t Scene>, status: &'t Status) -> Paragraph<'t> {
    let mut lines = vec![Line::styled(status.game, Style::new().fg(EMBER).add_modifier(Modifier::BOLD))];
    if let Some(scene) = scene {
        lines.extend(scene.gauges.iter().map(gauge));
        lines.extend((!scene.skills.is_empty()).then(|| Line::from_iter(scene.skills.iter().map(skill))));
        lines.extend(scene.notes.iter().map(|note| Line::raw(note.as_str())));
        let afar = |mark: &Mark| {
            Line::styled(format!("{} {} tiles away", mark.symbol, mark.title(scene.center)), mark_style(mark))
        };
        lines.extend(scene.marks.iter().map(afar));
    }
    lines.push(Line::raw(""));
    lines.push(Line::styled(format!("room {}  {}", status.room, status.phase), EMBER));
    for player in status.listed() {
        let sync = last_check(player).map_or("", |check| if check.equal { "in step" } else { "OUT OF STEP" });
        lines.push(Line::raw(format!("{:17} {:>7} {:>5} {sync}", title(player), rtt(player), loss(player))));
    }
    lines.extend(status.away().map(|away| Line::styled(away, FAINT)));
    lines.extend([status.beyond(), status.served()].into_iter().flatten().map(|text| Line::styled(text, FAINT)));
    let Status { stats, bytes_in_per_s, bytes_out_per_s, .. } = status;
    let traffic = format!("tick {}  {bytes_in_per_s} B/s in, {bytes_out_per_s} out", stats.tick);
    lines.push(Line::styled(traffic, FAINT));
    let verdict = if status.is_out_of_step() { Color::Red } else { Color::Green };
    lines.push(Line::styled(status.verdict(), verdict));
    lines.extend(status.corrections().map(|corrections| Line::styled(corrections, FAINT)));
    lines.extend(status.details().into_iter().map(|detail| Line::styled(detail, FAINT)));
    if let Some(join) = &status.join {
        lines.push(Line::styled("A friend joins with", FAINT));
        lines.push(Line::styled(join.line.as_str(), EMBER));
        if let Some(link) = &join.link {
            lines.push(Line::styled("or in a browser", FAINT));
            lines.push(Line::styled(link.as_str(), EMBER));
        }
    }
    lines.push(Line::raw(""));
    let news = scene.map_or(&[][..], |scene| &scene.news).iter().chain(&status.news);
    let mut newest: Vec<_> = news.rev().take(8).map(|news| Line::raw(news.as_str())).collect();
    newest.reverse();
    lines.extend(newest);
    match &status.typed {
        Some(typed) => lines.push(Line::styled(format!("> {typed}_"), Modifier::BOLD)),
        None => {
            lines.extend((!status.keys.is_empty()).then(|| Line::styled(status.keys, FAINT)));
            lines.push(Line::styled(format!("{KEYS}, Ctrl-C leaves"), FAINT));
        }
    }
    Paragraph::new(lines).wrap(Wrap { trim: false }).block(Block::new().borders(Borders::LEFT).border_style(FAINT))
}

/// What can be done by a key: bright if it is ready.
fn skill(skill: &Skill) -> Span<'_> {
    let count = skill.count.map(|count| format!(" {count}")).unwrap_or_default();
    let style = if skill.ready >= 1.0 { Style::new().fg(EMBER).add_modifier(Modifier::BOLD) } else { FAINT.into() };
    Span::styled(format!("{} {}{count}  ", skill.key, skill.name), style)
}

fn gauge(gauge: &Gauge) -> Line<'_> {
    const WIDTH: usize = 16;
    let filled = (gauge.value.max(0) as usize * WIDTH / gauge.max.max(1) as usize).min(WIDTH);
    let Rgb(r, g, b) = gauge.color;
    Line::from(vec![
        Span::raw(format!("{:10} ", gauge.name)),
        Span::styled("█".repeat(filled), Color::Rgb(r, g, b)),
        Span::styled("░".repeat(WIDTH - filled), FAINT),
        Span::raw(format!(" {}/{}", gauge.value, gauge.max)),
    ])
}

#[cfg(test)]
mod tests;
