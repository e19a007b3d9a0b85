//! Drawn into a buffer: what a player sees, line by line.

use lockstone_net::link::PeerId;
use lockstone_net::session::{DelayStats, Exchange, Loss, PlayerStats, RoundTrip, StallStats, Stats, SyncCheck};
use lockstone_sim::{PlayerId, Tick};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::*;

/// The panel's lines, as they stand on a screen of its width.
fn lines(status: &Status) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(PANEL, 40)).expect("it is in memory");
    terminal.draw(|screen| screen.render_widget(panel(None, status), screen.area())).expect("it is in memory");
    let rows = terminal.backend().buffer().content().chunks(PANEL.into());
    rows.map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>().trim_end().to_owned()).collect()
}

fn status() -> Status {
    let player = |n: u16, name: &str, exchange| PlayerStats {
        player: PlayerId(n),
        name: name.to_owned(),
        own: n == 0,
        sequencer: n == 1,
        exchange,
        key: None,
    };
    let round_trip = RoundTrip {
        last: Duration::from_millis(99),
        smoothed: Duration::from_millis(102),
        jitter: Duration::from_millis(7),
    };
    let exchange = Exchange {
        peer: PeerId(1),
        round_trip: Some(round_trip),
        loss: Loss { expected: 400, lost: 10, recent_expected: 128, recent_lost: 6 },
        traffic: Default::default(),
        checksums_compared: 0,
        desyncs: 0,
        last_check: None,
    };
    let stats = Stats {
        players: vec![player(0, "Ann", None), player(1, "Bob", Some(exchange))],
        away: vec![(PlayerId(2), Some("Cid".to_owned())), (PlayerId(3), None)],
        delay: DelayStats { commands: 2, last_ticks: 4, max_ticks: 5, sum_ticks: 9 },
        stalls: StallStats { count: 2, time: Duration::from_millis(1_300), longest: Duration::from_millis(900) },
        takeovers: 1,
        ..Stats::default()
    };
    Status { stats, ..Status::default() }
}

#[test]
fn the_panel_tells_round_trip_and_loss_of_each_player_and_who_is_away() {
    let lines = lines(&status());
    let line = |of: &str| lines.iter().find(|line| line.contains(of)).unwrap_or_else(|| panic!("{of}: {lines:#?}"));
    assert!(line("Bob (host)").contains("102 ms") && line("Bob (host)").contains("-5 %"));
    assert!(!line("Ann (you)").contains("ms") && !line("Ann (you)").contains('%'));
    assert!(line("Cid").contains("(away)") && line("P3").contains("(away)"));
    assert!(!lines.iter().any(|line| line.contains("jitter")), "nobody asked for more");
}

#[test]
fn differences_are_counted_even_if_no_checksum_was_compared_here() {
    let stats = Stats { desyncs: 1, ..Stats::default() };
    assert_eq!(Status { stats, ..Status::default() }.verdict(), "OUT OF STEP: differences 1, checks 0");
}

#[test]
fn who_is_found_right_is_in_step_again_once_nobody_differs() {
    let stats = Stats { desyncs: 1, acquitted: 1, checksums_compared: 9, ..Stats::default() };
    let check = |equal| Some(SyncCheck { tick: Tick(80), equal });
    let status = |equal| Status { stats: stats.clone(), last_check: check(equal), ..Status::default() };
    assert_eq!(status(false).verdict(), "OUT OF STEP: differences 1, checks 9");
    assert_eq!(status(true).verdict(), "in step at tick 80 (9 checks)");
}

#[test]
fn the_keys_are_shown() {
    let lines = lines(&Status { keys: "K skill", ..status() });
    assert!(lines.iter().any(|line| line.contains("K skill")), "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("WASD walks")), "{lines:#?}");
}

#[test]
fn all_figures_are_shown_to_who_asks() {
    let lines = lines(&Status { figures: true, ..status() });
    for figure in [
        "commands: 4.5 ticks (last 4, most 5)",
        "stalls 2, 1.3 s in all, longest 0.9 s",
        "takeovers 1, epoch 0",
        "Bob: 102 ms, jitter 7, lost 2.5 % of 400",
    ] {
        assert!(lines.iter().any(|line| line.contains(figure)), "{figure}: {lines:#?}");
    }
}
