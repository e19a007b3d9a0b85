//! What the person at this peer sees: the view that was chosen, the session's status, the news.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use lockstone_net::session::{Event, Phase, PlayerStats, Stats, Traffic};
use lockstone_net::text::escaped;
use lockstone_net::{LinkEvent, PublicKey};
use lockstone_sim::{PlayerId, Simulation, Tick};

use super::effort::Effort;
use super::keeper::Labels;
use crate::output::say;
use crate::scene::Scene;
use crate::view::smooth::Smooth;
use crate::view::{Action, Draw, Join, Status, View, last_check, loss, rtt, title, typing};

/// News that are kept.
const NEWS_MAX: usize = 18;
/// Between two pictures.
const PICTURE_PERIOD: Duration = Duration::from_millis(33);
/// Without a view, a line is printed this often.
const LINE_PERIOD: Duration = Duration::from_secs(5);

/// What players are called.
pub(super) type Names = BTreeMap<PlayerId, String>;

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
    /// This peer's player's name.
    pub(super) name: String,
    /// How others join, until they can.
    join: Option<Join>,
    player: Option<PlayerId>,
    /// Those of the players that were heard of, each another.
    pub(super) names: Names,
    /// By which the session knows them.
    keys: BTreeMap<PlayerId, PublicKey>,
    /// The other players of a whole world who are there.
    others: BTreeSet<PlayerId>,
    muted: BTreeSet<PlayerId>,
    /// Whether it lists what the hero carries.
    pub(super) lists: bool,
    status: Status,
    smooth: Smooth,
    smooth_tick: Option<Tick>,
    /// Corrections that the newest scene shows already.
    corrections: u64,
    tick_at: Duration,
    period: Duration,
    /// When payload was measured, and what had travelled by then.
    measured: (Duration, Traffic),
    now: Duration,
}

impl Display {
    /// A screen for a session as it is recorded, and how others join it.
    pub fn new(screen: Screen, labels: &Labels, join: Option<Join>) -> Display {
        Display {
            screen,
            name: labels.name.clone(),
            join,
            player: None,
            names: BTreeMap::new(),
            keys: BTreeMap::new(),
            others: BTreeSet::new(),
            muted: BTreeSet::new(),
            lists: false,
            status: Status { game: labels.game, room: labels.room.clone(), ..Status::default() },
            smooth: Smooth::default(),
            smooth_tick: None,
            corrections: 0,
            tick_at: Duration::ZERO,
            period: Duration::from_secs(1) / labels.terms.ticks_per_s,
            measured: Default::default(),
            now: Duration::ZERO,
        }
    }

    /// Shows the keys that the game knows.
    pub(super) fn know_keys(&mut self, keys: &'static str) {
        self.status.keys = keys;
    }

    /// Tells the person something.
    pub fn tell(&mut self, news: String) {
        let news = escaped(news);
        if matches!(self.screen, Screen::None { lines: true }) {
            say(&news);
        }
        self.status.news.push(news);
        if self.status.news.len() > NEWS_MAX {
            self.status.news.remove(0);
        }
    }

    /// The same, unless it is what was told last: a key that is pressed again says nothing new.
    pub(super) fn tell_once(&mut self, news: String) {
        if self.status.news.last() != Some(&news) {
            self.tell(news);
        }
    }

    /// Shows how others join, once they can: who is refused invites nobody. Returns it then, if it
    /// may be printed as well.
    pub(super) fn invite(&mut self, phase: impl FnOnce() -> Phase) -> Option<&Join> {
        if self.join.is_none() || !matches!(phase(), Phase::Waiting { .. } | Phase::Playing) {
            return None;
        }
        self.status.join = self.join.take();
        let prints = !matches!(&self.screen, Screen::View(view) if view.is_where_messages_go());
        self.status.join.as_ref().filter(|_| prints)
    }

    /// The keys that the view knows beside the game's.
    pub(super) fn keys(&self) -> &'static str {
        match &self.screen {
            Screen::View(view) => view.keys(),
            Screen::None { .. } => typing::KEYS,
        }
    }

    /// The middle of the picture, in tiles.
    pub(super) fn center(&self) -> (f32, f32) {
        self.smooth.newest().map_or((0.0, 0.0), |scene| scene.center)
    }

    /// Makes news of what happened.
    pub(super) fn hear<S: Simulation>(&mut self, event: &Event<S>) {
        if let Event::PlayerJoined { player, name }
        | Event::PlayerNear { player, name }
        | Event::PlayerBack { player, name }
        | Event::Said { player, name, .. } = event
        {
            self.enrol(*player, name);
        }
        if let Event::Started { player, .. } = event {
            self.player = Some(*player);
            self.others.clear();
        }
        if let Event::Member { player, key } = event {
            self.keys.remove(player);
            self.keys.extend(key.map(|key| (*player, key)));
        }
        let named = |player: &PlayerId| self.names.get(player).cloned().unwrap_or_else(|| player.to_string());
        let news = match event {
            Event::PlayerJoined { player, .. } if self.player == Some(*player) => return,
            Event::PlayerJoined { player, .. } => format!("{} is here.", named(player)),
            Event::Said { player, .. } if self.muted.contains(player) => return,
            Event::Said { player, text, .. } => format!("{}: {text}", named(player)),
            Event::PlayerBack { player, .. } => format!("{} is back.", named(player)),
            // Of whom nobody has heard yet there is nothing to tell.
            Event::PlayerAway { player, .. } | Event::PlayerLeft { player, .. } if !self.names.contains_key(player) => {
                return;
            }
            Event::PlayerAway { player, reason } => format!("{} {reason}, and may come back.", named(player)),
            Event::PlayerLeft { player, reason } => format!("{} {reason}.", named(player)),
            Event::HoldsUp { player } => {
                format!("{0} holds everyone up. The others will go on without {0} if that lasts.", named(player))
            }
            Event::Intercepted { .. } => {
                "A peer is not heard any more, as its key does not fit the connection: it lies, \
                or someone is between you, as a dishonest server can be. Meet by another server."
                    .to_owned()
            }
            Event::Minority { reached, members, may_branch: false } => {
                format!("Only {reached} of {members} can be reached, you included. You wait for the others.")
            }
            Event::Minority { reached, members, may_branch: true } => format!(
                "Still only {reached} of {members} can be reached. /branch goes on without the others; or wait for them."
            ),
            Event::Branch { leader: Some(leader), .. } => {
                format!("{} goes on without the others, in a branch of the session.", named(leader))
            }
            Event::Yielded => "The others were met again: you go over to them, to your hero there.".to_owned(),
            Event::Refused { name, refusal, .. } => format!("{name} was not let in: {refusal}."),
            Event::Desync { player, tick, .. } => {
                format!("OUT OF STEP with {} since tick {tick} or before.", named(player))
            }
            Event::Repaired { player, tick, cells, is_proven } => {
                let what = if *cells == 0 { String::new() } else { format!(" ({cells} cells)") };
                let doubt = if *is_proven { "" } else { " Nobody could tell whose was right." };
                format!("The world of {} was put right at tick {tick}{what}.{doubt}", named(player))
            }
            Event::Liar { player } => {
                format!("{} reported a false checksum of a world that is right, and is put out.", named(player))
            }
            Event::VoteOut { by, player, votes, members } => {
                let who = if self.player == Some(*player) { "you".to_owned() } else { named(player) };
                format!("{} wants {who} out ({votes} of {members}). /out NAME votes so, too.", named(by))
            }
            Event::Distrusted { player, is_proven: true } => {
                format!("{} told some of you something else than others, as its signatures prove.", named(player))
            }
            Event::Distrusted { player, is_proven: false } => {
                format!("{} does not sign what it tells, and is not trusted any more.", named(player))
            }
            Event::Started { .. } | Event::PlayerNear { .. } | Event::Ended { .. } => return,
            Event::Turn { .. } | Event::Checksum { .. } | Event::Keyframe { .. } => return,
            Event::Ledger { .. } | Event::Member { .. } | Event::Signed(_) | Event::ReferenceWanted { .. } => return,
            Event::Branch { leader: None, .. } => return,
            Event::EvidenceWanted { .. } | Event::Evidence { .. } | Event::EvidenceComplete { .. } => return,
        };
        self.tell(news);
        self.count(event);
    }

    /// Gives a player a name that no other has.
    fn enrol(&mut self, player: PlayerId, name: &str) {
        let is_own = self.player == Some(player);
        let mut others = self.names.iter().filter(|(other, _)| **other != player);
        let taken = name == self.name || others.any(|(_, theirs)| theirs == name);
        let name = if taken && !is_own { format!("{name} ({})", player.0 + 1) } else { name.to_owned() };
        self.names.insert(player, name);
    }

    /// Tells the person when it is the last one there.
    fn count<S: Simulation>(&mut self, event: &Event<S>) {
        match event {
            Event::PlayerJoined { player, .. } | Event::PlayerBack { player, .. } if self.player != Some(*player) => {
                self.others.insert(*player);
            }
            Event::PlayerAway { player, .. } | Event::PlayerLeft { player, .. }
                if self.others.remove(player) && self.others.is_empty() =>
            {
                let join = if self.status.join.is_some() { " Others can still join you." } else { "" };
                self.tell(format!("You are the only one here now.{join}"));
            }
            _ => {}
        }
    }

    /// The other player that is called so.
    ///
    /// # Errors
    /// A sentence, if nobody is.
    pub(super) fn player_named(&self, name: &str) -> Result<PlayerId, String> {
        let is_called = |(_, theirs): &(&PlayerId, &String)| theirs.to_lowercase() == name.to_lowercase();
        let other = self.names.iter().filter(|(player, _)| self.player != Some(**player)).find(is_called);
        let all = self.names.iter().filter(|(player, _)| self.others.contains(player)).map(|(_, name)| name.as_str());
        other.map(|(player, _)| *player).ok_or_else(|| match Vec::from_iter(all) {
            all if all.is_empty() => "Nobody else is here.".to_owned(),
            all => format!("No other is called {name:?}: {} are here.", all.join(", ")),
        })
    }

    /// Tells everyone's key, and whether it was proven for the very connection.
    pub(super) fn tell_keys(&mut self, players: &[PlayerStats]) {
        self.tell("Ask each other, by another way, whether you see the same keys:".to_owned());
        let lines: Vec<_> = players.iter().map(|player| self.line_of_keys(player)).collect();
        lines.into_iter().for_each(|line| self.tell(line));
    }

    fn line_of_keys(&self, stats: &PlayerStats) -> String {
        let name = self.names.get(&stats.player).unwrap_or(&stats.name);
        match (stats.key, self.keys.get(&stats.player)) {
            (Some(key), _) if stats.own => format!("{name} (you): {}", key.short()),
            (Some(key), Some(told)) if key != *told => {
                format!("{name}: {}, but others know it by {}: somebody lies", key.short(), told.short())
            }
            (Some(key), _) => format!("{name}: {} (nobody is between you)", key.short()),
            (None, Some(told)) => format!("{name}: {} (as the session tells)", told.short()),
            (None, None) => format!("{name}: no key is known here"),
        }
    }

    /// Tells nothing more that a player says, or all of it again.
    pub(super) fn mute(&mut self, name: &str) {
        let news = match self.player_named(name) {
            Ok(player) if self.muted.remove(&player) => format!("{} is heard again.", self.names[&player]),
            Ok(player) => {
                self.muted.insert(player);
                format!("{} is not heard any more. /mute once more hears it again.", self.names[&player])
            }
            Err(sentence) => sentence,
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

    /// The person wants to see all figures, or no more.
    pub(super) fn toggle_figures(&mut self) {
        self.status.figures = !self.status.figures;
    }

    /// Whether sound is on, where there is any.
    pub(super) fn show_sound(&mut self, is_on: bool) {
        self.status.sound = Some(is_on);
    }

    /// Between two ticks.
    pub(super) fn period(&self) -> Duration {
        self.period
    }

    /// Whether the world is seen.
    pub(super) fn shows(&self) -> bool {
        matches!(self.screen, Screen::View(_))
    }

    /// Whether a picture can be shown that is due.
    pub(super) fn is_ready(&self) -> bool {
        match &self.screen {
            Screen::View(view) => view.is_ready(),
            Screen::None { .. } => true,
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
        stats: Stats,
        phase: &Phase,
        effort: impl FnOnce() -> Effort,
        now: Duration,
        scene: impl FnOnce(PlayerId, &Names) -> Option<Scene>,
    ) {
        self.now = now;
        self.refresh(stats, phase);
        self.measure(effort);
        if self.shows() && self.smooth_tick != Some(self.status.stats.tick) {
            self.push(scene);
        }
        let moment = (now.saturating_sub(self.tick_at)).as_secs_f32() / self.period.as_secs_f32();
        let time_s = now.as_secs_f32();
        match &mut self.screen {
            Screen::View(view) => {
                self.status.typed = view.line().map(str::to_owned);
                view.show(&self.smooth, moment, &self.status, time_s);
            }
            Screen::None { lines: true } => say(line(&self.status)),
            Screen::None { lines: false } => {}
        }
    }

    fn push(&mut self, scene: impl FnOnce(PlayerId, &Names) -> Option<Scene>) {
        let Stats { tick, player, rollback, ahead, .. } = self.status.stats;
        if let Some(scene) = player.and_then(|player| scene(player, &self.names)) {
            let corrections = rollback.map_or(0, |stats| stats.rollbacks + u64::from(stats.regroupings));
            let corrections = corrections + ahead.map_or(0, |stats| stats.rollbacks);
            self.smooth.push(scene, corrections > self.corrections);
            (self.smooth_tick, self.tick_at, self.corrections) = (Some(tick), self.now, corrections);
        }
    }

    pub(super) fn refresh(&mut self, mut stats: Stats, phase: &Phase) {
        let status = &mut self.status;
        status.phase = describe(phase);
        // Nobody can join a rollback session that has begun.
        status.join.take_if(|_| stats.rollback.is_some());
        let newest = stats.players.iter().filter_map(last_check).max_by_key(|check| check.tick);
        status.last_check = newest.or(status.last_check);
        for player in &mut stats.players {
            if let Some(name) = self.names.get(&player.player) {
                player.name.clone_from(name);
            }
        }
        stats.players.sort_by_key(|player| !(player.own || player.sequencer));
        status.stats = stats;
    }

    /// What is told of some time, once a second at most.
    fn measure(&mut self, effort: impl FnOnce() -> Effort) {
        let (status, (at, before)) = (&mut self.status, self.measured);
        let past = self.now.saturating_sub(at);
        if past >= Duration::from_secs(1) {
            let traffic = status.stats.traffic;
            let rate = |now: u64, before: u64| ((now - before) as f32 / past.as_secs_f32()).round() as u32;
            status.relay = status.stats.relay.map(|relay| (relay, effort().to_string()));
            status.bytes_in_per_s = rate(traffic.bytes_in, before.bytes_in);
            status.bytes_out_per_s = rate(traffic.bytes_out, before.bytes_out);
            self.measured = (self.now, traffic);
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

fn describe(phase: &Phase) -> String {
    match phase {
        Phase::Connecting => "looking for the session".to_owned(),
        Phase::Loading { bytes, total } => format!("loading {} %", bytes * 100 / (*total).max(1)),
        Phase::CatchingUp => "catching up".to_owned(),
        Phase::Waiting { players, needed } => format!("waiting, {players} of {needed} here"),
        Phase::Playing => "playing".to_owned(),
        Phase::StandingBy => "standing by".to_owned(),
        Phase::Returning => "the session was lost; looking for it".into(),
        Phase::Regrouping => "someone is gone, regrouping".to_owned(),
        Phase::OutOfStep => "out of step".to_owned(),
        Phase::Ended(_) => "over".to_owned(),
    }
}

fn line(status: &Status) -> String {
    let Status { phase, stats, bytes_in_per_s, bytes_out_per_s, .. } = status;
    let words = |player| [title(player), rtt(player), loss(player)].join(" ").trim().to_owned();
    let names = status.listed().map(words).chain(status.away()).chain(status.beyond());
    let names: Vec<_> = names.collect();
    let parts = [
        Some(format!("{phase}, tick {}", stats.tick)),
        status.served().or(Some(names.join(", "))).filter(|names| !names.is_empty()),
        Some(format!("{bytes_in_per_s} B/s in, {bytes_out_per_s} B/s out")),
        Some(status.verdict()),
        status.corrections(),
        status.stalls(),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}
