//! What the person at this peer sees: the view that was chosen, the session's status, the news.

use std::collections::BTreeMap;
use std::time::Duration;

use lockstone_net::LinkEvent;
use lockstone_net::session::{Event, Phase, Stats};
use lockstone_sim::{PlayerId, Simulation, Tick};

use super::effort::Effort;
use crate::scene::Scene;
use crate::view::smooth::Smooth;
use crate::view::{Action, Draw, PeerRow, RelayRow, Status, View};

/// News that are kept.
const NEWS_MAX: usize = 12;
/// Players that are listed.
const ROWS_MAX: usize = 16;
/// Between two pictures.
const PICTURE_PERIOD: Duration = Duration::from_millis(33);
/// Without a view, a line is printed this often.
const LINE_PERIOD: Duration = Duration::from_secs(5);

/// Where the world is shown.
pub enum Screen {
    /// A window, the terminal, or a game's own.
    View(Box<dyn View>),
    /// A line now and then on stderr, if `lines`.
    None {
        /// Whether anything is printed.
        lines: bool,
    },
}

/// Shows the session.
pub struct Display {
    screen: Screen,
    name: String,
    names: BTreeMap<PlayerId, String>,
    status: Status,
    smooth: Smooth,
    smooth_tick: Option<Tick>,
    /// Corrections that the newest scene shows already.
    corrections: u64,
    tick_at: Duration,
    period: Duration,
    meter: Meter,
    now: Duration,
}

/// Payload in the last second.
#[derive(Default)]
struct Meter {
    at: Duration,
    bytes: (u64, u64),
}

impl Display {
    /// A screen for a player's session. `status` holds what does not change: the game, the room,
    /// how a friend joins.
    pub fn new(screen: Screen, name: String, status: Status, period: Duration) -> Display {
        Display {
            screen,
            name,
            names: BTreeMap::new(),
            status,
            smooth: Smooth::default(),
            smooth_tick: None,
            corrections: 0,
            tick_at: Duration::ZERO,
            period,
            meter: Meter::default(),
            now: Duration::ZERO,
        }
    }

    /// This peer's player's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Tells the person something.
    pub fn tell(&mut self, news: String) {
        if matches!(self.screen, Screen::None { lines: true }) {
            eprintln!("{news}");
        }
        self.status.news.push(news);
        if self.status.news.len() > NEWS_MAX {
            self.status.news.remove(0);
        }
    }

    /// The players that were heard of.
    pub(super) fn names(&self) -> BTreeMap<PlayerId, String> {
        self.names.clone()
    }

    /// The middle of the picture, in tiles.
    pub(super) fn center(&self) -> (f32, f32) {
        self.smooth.newest().map_or((0.0, 0.0), |scene| scene.center)
    }

    /// Makes news of what happened.
    pub(super) fn hear<S: Simulation>(&mut self, event: &Event<S>) {
        if let Event::PlayerJoined { player, name }
        | Event::PlayerNear { player, name }
        | Event::Said { player, name, .. } = event
        {
            self.names.insert(*player, name.clone());
        }
        let named = |player: &PlayerId| self.names.get(player).cloned().unwrap_or_else(|| player.to_string());
        let news = match event {
            Event::PlayerJoined { name, .. } if *name == self.name => return,
            Event::PlayerJoined { name, .. } => format!("{name} is here."),
            Event::Said { name, text, .. } => format!("{name}: {text}"),
            Event::PlayerLeft { player, reason } => format!("{} {reason}.", named(player)),
            Event::Refused { name, refusal, .. } => format!("{name} was not let in: {refusal}."),
            Event::Desync { player, tick, .. } => {
                format!("OUT OF STEP with {} since tick {tick} or before.", named(player))
            }
            Event::EvidenceWanted { .. } | Event::Evidence { .. } | Event::EvidenceComplete { .. } => return,
            Event::Started { .. }
            | Event::PlayerNear { .. }
            | Event::Turn { .. }
            | Event::Checksum { .. }
            | Event::Keyframe { .. }
            | Event::Ended { .. } => return,
        };
        self.tell(news);
    }

    /// Makes news of what a link tells, where no session does.
    pub(super) fn hear_link(&mut self, event: &LinkEvent) {
        match event {
            LinkEvent::SignalingLost(error) => self.tell(format!("Nobody new can join: {error}.")),
            LinkEvent::SignalingBack => self.tell("Others can join again.".to_owned()),
            _ => {}
        }
    }

    /// How long after a picture the next one is due.
    pub(super) fn picture_period(&self) -> Duration {
        match self.screen {
            Screen::View(_) => PICTURE_PERIOD,
            Screen::None { lines: true } => LINE_PERIOD,
            Screen::None { lines: false } => Duration::MAX,
        }
    }

    /// Shows the session as it is now.
    pub(super) fn show(
        &mut self,
        stats: &Stats,
        phase: &Phase,
        effort: impl FnOnce() -> Effort,
        now: Duration,
        scene: impl FnOnce(PlayerId) -> Option<Scene>,
    ) {
        self.now = now;
        self.refresh(stats, phase);
        self.measure(stats, effort);
        let looks = !matches!(self.screen, Screen::None { .. });
        if looks && self.smooth_tick != Some(stats.tick) {
            self.push(stats, scene);
        }
        let moment = (now.saturating_sub(self.tick_at)).as_secs_f32() / self.period.as_secs_f32();
        let time_s = now.as_secs_f32();
        match &mut self.screen {
            Screen::View(view) => {
                self.status.typed = view.line().map(str::to_owned);
                view.show(&self.smooth, moment, &self.status, time_s);
            }
            Screen::None { lines: true } => eprintln!("{}", line(&self.status)),
            Screen::None { lines: false } => {}
        }
    }

    fn push(&mut self, stats: &Stats, scene: impl FnOnce(PlayerId) -> Option<Scene>) {
        if let Some(scene) = stats.player.and_then(scene) {
            let corrections = stats.rollback.map_or(0, |stats| stats.rollbacks + u64::from(stats.regroupings));
            self.smooth.push(scene, corrections > self.corrections);
            (self.smooth_tick, self.tick_at, self.corrections) = (Some(stats.tick), self.now, corrections);
        }
    }

    pub(super) fn refresh(&mut self, stats: &Stats, phase: &Phase) {
        let status = &mut self.status;
        status.phase = describe(phase);
        status.tick = stats.tick;
        (status.checksums_compared, status.desyncs) = (stats.checksums_compared, stats.desyncs);
        status.rollback = stats.rollback;
        // Nobody can join a rollback session that has begun.
        status.join.take_if(|_| stats.rollback.is_some());
        status.peers = stats.players.iter().map(peer_row).collect();
        status.others = status.peers.len().saturating_sub(ROWS_MAX);
        let newest = status.peers.iter().filter_map(|peer| peer.last_check).max_by_key(|check| check.tick);
        status.last_check = newest.or(status.last_check);
        status.peers.sort_by_key(|peer| !(peer.own || peer.sequencer));
        status.peers.truncate(ROWS_MAX);
    }

    /// What is told of some time, once a second at most.
    fn measure(&mut self, stats: &Stats, effort: impl FnOnce() -> Effort) {
        let (now, status) = (self.now, &mut self.status);
        let past = now.saturating_sub(self.meter.at);
        if past >= Duration::from_secs(1) {
            status.relay = stats.relay.map(|relay| RelayRow {
                replicas: relay.replicas,
                cost: effort().to_string(),
                cut_bytes: relay.cut_bytes(),
            });
            let (in_now, out_now) = (stats.traffic.bytes_in, stats.traffic.bytes_out);
            let rate = |now: u64, before: u64| ((now - before) as f32 / past.as_secs_f32()).round() as u32;
            status.bytes_in_per_s = rate(in_now, self.meter.bytes.0);
            status.bytes_out_per_s = rate(out_now, self.meter.bytes.1);
            self.meter = Meter { at: now, bytes: (in_now, out_now) };
        }
    }

    /// What the person did.
    pub(super) fn actions(&mut self) -> Vec<Action> {
        match &mut self.screen {
            Screen::View(view) => view.actions(),
            Screen::None { .. } => Vec::new(),
        }
    }

    /// A picture of a scene with the session's status.
    pub(super) fn picture(&self, draw: Draw, scene: Option<&Scene>) -> Result<Vec<u8>, String> {
        draw(scene, &self.status, self.now.as_secs_f32())
    }
}

fn peer_row(player: &lockstone_net::session::PlayerStats) -> PeerRow {
    let exchange = player.exchange.as_ref();
    PeerRow {
        name: player.name.clone(),
        own: player.own,
        sequencer: player.sequencer,
        rtt_ms: exchange.and_then(|e| e.rtt).map(|rtt| u32::try_from(rtt.as_millis()).unwrap_or(u32::MAX)),
        last_check: exchange.and_then(|e| e.last_check),
    }
}

fn describe(phase: &Phase) -> String {
    match phase {
        Phase::Connecting => "looking for the session".to_owned(),
        Phase::Loading { bytes, total } => format!("loading {} %", bytes * 100 / (*total).max(1)),
        Phase::CatchingUp => "catching up".to_owned(),
        Phase::Waiting { players, needed } => format!("waiting, {players} of {needed} here"),
        Phase::Playing => "playing".to_owned(),
        Phase::Regrouping => "someone is gone, regrouping".to_owned(),
        Phase::OutOfStep => "out of step".to_owned(),
        Phase::Ended(_) => "over".to_owned(),
    }
}

fn line(status: &Status) -> String {
    let Status { phase, tick, bytes_in_per_s, bytes_out_per_s, .. } = status;
    let names = status.peers.iter().map(|peer| [peer.title(), peer.rtt()].join(" ").trim().to_owned());
    let names: Vec<_> = names.chain(status.beyond()).collect();
    let parts = [
        Some(format!("{phase}, tick {tick}")),
        status.served().or(Some(names.join(", "))).filter(|names| !names.is_empty()),
        Some(format!("{bytes_in_per_s} B/s in, {bytes_out_per_s} B/s out")),
        Some(status.verdict()),
        status.corrections(),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}
