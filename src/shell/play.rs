//! How people and bots play, and what they see.

use std::time::Duration;

use lockstone_net::relay::Companion;
use lockstone_net::session::Phase;
use lockstone_net::{Link, Session};
use lockstone_sim::{Fx, PlayerId, Simulation, Vec2};

use super::Shell;
use super::display::Names;
use crate::game::Game;
use crate::scene::{Mark, Rgb, Scene};
use crate::view::Action;

/// Heroes of the party that are seen from afar.
const COMPANION: Rgb = Rgb(150, 210, 240);
/// What is typed to hear what can be typed: a game says it, and the engine adds its own.
const HELP: &str = "help";
/// What is pressed or typed to see what the hero carries.
const INVENTORY: [&str; 2] = ["i", "inventory"];
/// How far a walking key leads, in tiles.
const WALK_TILES: f32 = 2.5;

impl<G: Game, L: Link, T: Session<Sim = G::Sim>> Shell<G, L, T> {
    pub(super) fn let_bot_play(&mut self) {
        let (Some(bot), Some(sim), Some(player)) = (&mut self.bot, self.session.simulation(), self.player) else {
            return;
        };
        if sim.tick() == self.bot_saw || self.session.phase() != Phase::Playing {
            return;
        }
        self.bot_saw = sim.tick();
        if let Some(command) = bot.decide(sim, player) {
            self.spoke = true;
            if let Err(error) = self.session.command(command) {
                tracing::debug!("the bot's command was not taken: {error}");
            }
        }
    }

    /// Shows the world if a picture is due and can be shown, and does what the person wants.
    pub(super) fn look(&mut self, now: Duration) {
        if now < self.picture_at || !self.display.is_ready() {
            return;
        }
        self.picture_at = now.saturating_add(self.display.picture_period());
        let lists = self.display.lists;
        let scene = |player, names: &Names| scene_of::<G>(&self.session, player, names, lists);
        self.display.show(self.session.stats(), &self.session.phase(), || self.meter.effort(), now, scene);
        for action in self.display.actions() {
            match self.player {
                _ if action == Action::Quit => self.leave(now),
                _ if action == Action::Figures => self.display.toggle_figures(),
                _ if action == Action::Sound => self.switch_sound(),
                _ if action == Action::Keys => self.display.tell_keys(&self.session.stats().players),
                Some(player) => self.act(player, action),
                None => {}
            }
        }
    }

    fn act(&mut self, player: PlayerId, action: Action) {
        self.spoke = true;
        let Some(sim) = self.session.simulation() else { return };
        let command = match action {
            Action::Quit | Action::Figures | Action::Sound | Action::Keys => return,
            Action::Branch => {
                if let Err(error) = self.session.go_on_as_branch() {
                    self.display.tell(format!("Not done: {error}."));
                }
                return;
            }
            Action::Mute(name) => return self.display.mute(&name),
            Action::VoteOut(name) => {
                let vote = |player| self.session.vote_out(player).map_err(|error| format!("Not done: {error}."));
                if let Err(sentence) = self.display.player_named(&name).and_then(vote) {
                    self.display.tell(sentence);
                }
                return;
            }
            Action::Click(at, pointer) => G::click(sim, player, place(at), pointer),
            Action::Drag(from, to) => G::drag(sim, player, &from, to.as_deref()).filter(|_| self.display.lists),
            Action::Walk((x, y)) => {
                let (cx, cy) = self.display.center();
                let at = (cx + f32::from(x) * WALK_TILES, cy + f32::from(y) * WALK_TILES);
                G::click(sim, player, place(at), crate::scene::Pointer::Primary)
            }
            Action::Say(text) => {
                if let Err(error) = self.session.say(&text) {
                    self.display.tell(format!("Not said: {error}."));
                }
                return;
            }
            Action::Type(text) if INVENTORY.contains(&&*text) && G::inventory(sim, player).is_some() => {
                self.display.lists = !self.display.lists;
                return;
            }
            Action::Type(text) => match G::typed(sim, player, &text) {
                Ok(command) => Some(command),
                Err(sentence) => {
                    self.display.tell_once(sentence);
                    if text == HELP {
                        self.display.tell(format!("{}.", self.display.keys()));
                        if !G::KEYS.is_empty() {
                            self.display.tell(format!("{}.", G::KEYS));
                        }
                        self.display.tell("/stats: round trips, loss, and all that is measured.".to_owned());
                        self.display.tell("/sound: hear nothing of the world; once more: hear it.".to_owned());
                        self.display.tell("/branch: go on without those who are cut off, if they are.".to_owned());
                        self.display.tell("/mute NAME: hear nothing more of a player; once more: hear it.".to_owned());
                        self.display.tell("/keys: compare them with others', and nobody is between you.".to_owned());
                        self.display.tell("/out NAME: vote a player out of a party; a quorum decides.".to_owned());
                    }
                    None
                }
            },
        };
        if let Some(command) = command
            && let Err(error) = self.session.command(command)
        {
            self.display.tell(format!("Not done: {error}."));
        }
    }

    /// The picture of the end, just before this peer left, as a PNG file. There is none if it
    /// was not asked for.
    ///
    /// # Errors
    /// What the encoder says.
    pub fn take_picture(&mut self) -> Option<Result<Vec<u8>, String>> {
        self.last_picture.take().or_else(|| self.picture())
    }

    pub(super) fn picture(&mut self) -> Option<Result<Vec<u8>, String>> {
        let draw = self.options.picture?;
        self.display.refresh(self.session.stats(), &self.session.phase());
        let scene = self
            .player
            .and_then(|player| scene_of::<G>(&self.session, player, &self.display.names, self.display.lists));
        Some(self.display.picture(draw, scene.as_ref()))
    }
}

/// What a player sees: what is simulated here, and marks for what is told from afar. It `lists`
/// what the hero carries, or not.
fn scene_of<G: Game>(
    session: &impl Session<Sim = G::Sim>,
    player: PlayerId,
    names: &Names,
    lists: bool,
) -> Option<Scene> {
    let sim = session.simulation()?;
    let view = session.distant();
    let companion = |one: &Companion| Mark {
        pos: tiles(one.at),
        symbol: '\u{25c7}',
        color: COMPANION,
        label: names.get(&one.player).cloned().unwrap_or_else(|| one.player.to_string()),
    };
    let marks = view.companions.iter().map(companion);
    let landmarks = view.landmarks.iter().filter_map(|landmark| G::landmark(sim, landmark));
    let mut scene = G::scene(sim, player);
    scene.marks.extend(marks.chain(landmarks));
    if let Some(list) = G::inventory(sim, player).filter(|_| lists) {
        (scene.notes, scene.lists) = (list, true);
    }
    Some(scene)
}

/// A place of the world as one of a view.
fn tiles(at: Vec2) -> (f32, f32) {
    let float = |value: Fx| value.to_bits() as f32 / (1 << Fx::FRACTION_BITS) as f32;
    (float(at.x), float(at.y))
}

/// A place of a view as one of the world. Views are free to be inexact: what comes of it
/// travels as a command.
fn place((x, y): (f32, f32)) -> Vec2 {
    let fx = |value: f32| Fx::from_bits((value * (1 << Fx::FRACTION_BITS) as f32) as i32);
    Vec2::new(fx(x), fx(y))
}
