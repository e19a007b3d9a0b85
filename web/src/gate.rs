//! Hides which game it is, and which kind of session: what the page needs of both.

use std::marker::PhantomData;
use std::task::Waker;
use std::time::Duration;

use lockstone::character::{Character, CharacterError, HeroOf, character_of};
use lockstone::default_table;
use lockstone::game::{Game, Wide};
use lockstone::net::matchbox::{Config, MatchboxLink, RoomRole, Turn, is_ice_server};
use lockstone::net::relay::{RelayConfig, RelaySettings, Replica};
use lockstone::net::session::PlayerError;
use lockstone::net::wire::{Fitness, SessionKind, Terms};
use lockstone::net::{Link, Party, PartyConfig, PartySettings, Rollback, RollbackConfig, RollbackSettings, Session};
use lockstone::recording::{Recorded, RecordingError, UnfitError, go_on};
use lockstone::shell::{Clocks, Display, Labels, Memory, Next, Options, Recorder, Screen, Shell, SoloLink};
use lockstone::sim::Tick;
use lockstone::view::Join;

use crate::clock;
use crate::companion;
use crate::ending;
use crate::entry::{Entry, Kind};
use crate::eye::Eye;
use crate::page::{self, KEPT};

/// A game before it is played.
pub(crate) trait Gate {
    fn about(&self) -> String;

    /// What a kept hero is called.
    fn title(&self, character: &str) -> Result<String, String>;

    /// Of which class a hero is that somebody brings in a file.
    fn class(&self, character: &str) -> Result<String, String>;

    fn enter(&self, entry: &Entry, eye: Eye, files: Memory, waker: &Waker) -> Result<Box<dyn Playing>, String>;
}

/// A session that is played.
pub(crate) trait Playing {
    /// One round of a page that is hidden, or is not.
    fn step(&mut self, is_hidden: bool, now: Duration) -> Next;

    /// Keeps what is to outlast the page, as it is by now.
    fn keep(&mut self);

    fn leave(&mut self, now: Duration);

    /// How it went, as JSON.
    fn ending(&mut self) -> String;
}

/// Any game.
pub(crate) struct Any<G>(PhantomData<G>);

/// One whose world can be relayed in parts.
pub(crate) struct Broad<G>(PhantomData<G>);

impl<G> Default for Any<G> {
    fn default() -> Self {
        Any(PhantomData)
    }
}

impl<G> Default for Broad<G> {
    fn default() -> Self {
        Broad(PhantomData)
    }
}

impl<G: Game> Gate for Any<G> {
    fn about(&self) -> String {
        crate::about::<G>().to_string()
    }

    fn title(&self, character: &str) -> Result<String, String> {
        kept::<G>(character).map(|character| character.title)
    }

    fn class(&self, character: &str) -> Result<String, String> {
        let character = character_of::<G>(character.as_bytes());
        character.map(|character| character.class).map_err(|error| {
            format!("The hero in this file cannot come along ({error}): bring another, which a page or program kept.")
        })
    }

    fn enter(&self, entry: &Entry, eye: Eye, files: Memory, waker: &Waker) -> Result<Box<dyn Playing>, String> {
        let (identity, place) = (G::identity(&default_table()), Place { entry, eye, files, waker });
        let hero = hero::<G>(entry)?;
        match entry.kind {
            Kind::Solo | Kind::Party => {
                let settings = PartySettings { seed: entry.seed.into(), emit_trees: true, ..PartySettings::default() };
                let config = PartyConfig::new(settings).map_err(|error| error.to_string())?;
                let terms = config.terms(identity);
                let party = Party::new(config.clone(), identity, &entry.name, hero, build::<G>).map_err(of_name)?;
                let party = party.with_key(entry.player_key()?);
                let party = match &entry.recording {
                    Some(bytes) => party.continuing(recorded::<G>(bytes, terms.kind)?.session),
                    None => party,
                };
                if entry.kind == Kind::Solo && entry.companion {
                    let network = companion::network(entry);
                    let own = place.play::<G, _, _>(party, network.enter(), terms)?;
                    return companion::beside::<G>(own, entry, config, network);
                }
                if entry.kind == Kind::Solo {
                    return place.play::<G, _, _>(party, SoloLink::default(), terms);
                }
                place.play::<G, _, _>(party, link(entry, RoomRole::Peer)?, terms)
            }
            Kind::Rollback => {
                let settings = RollbackSettings::default();
                let players = entry.peers.unwrap_or(settings.players);
                let settings = RollbackSettings { seed: entry.seed.into(), emit_trees: true, players, ..settings };
                let config = RollbackConfig::new(settings).map_err(|error| error.to_string())?;
                let terms = config.terms(identity);
                let rollback = Rollback::new(config, identity, &entry.name, hero, build::<G>).map_err(of_name)?;
                let rollback = rollback.with_key(entry.player_key()?);
                place.play::<G, _, _>(rollback, link(entry, RoomRole::Peer)?, terms)
            }
            Kind::Relay => Err("This game's world cannot be relayed in parts: ask for a link to a party.".to_owned()),
        }
    }
}

impl<G: Wide> Gate for Broad<G> {
    fn about(&self) -> String {
        Any::<G>::default().about()
    }

    fn title(&self, character: &str) -> Result<String, String> {
        Any::<G>::default().title(character)
    }

    fn class(&self, character: &str) -> Result<String, String> {
        Any::<G>::default().class(character)
    }

    fn enter(&self, entry: &Entry, eye: Eye, files: Memory, waker: &Waker) -> Result<Box<dyn Playing>, String> {
        if entry.kind != Kind::Relay {
            return Any::<G>::default().enter(entry, eye, files, waker);
        }
        let (identity, hero) = (G::identity(&default_table()), hero::<G>(entry)?);
        let settings = RelaySettings { emit_trees: true, ..RelaySettings::default() };
        let config = RelayConfig::new(settings).map_err(|error| error.to_string())?;
        let terms = config.terms(identity);
        let replica = Replica::<G::Rules>::new(config, identity, &entry.name, hero, build::<G>).map_err(of_name)?;
        let replica = replica.with_key(entry.player_key()?).with_horizon(G::horizon());
        let place = Place { entry, eye, files, waker };
        place.play::<G, _, _>(replica, link(entry, RoomRole::Player)?, terms)
    }
}

pub(crate) fn build<G: Game>(seed: u64) -> G::Sim {
    G::build(seed, default_table())
}

fn hero<G: Game>(entry: &Entry) -> Result<HeroOf<G>, String> {
    let none = || format!("There is no hero {:?}: choose one of {}.", entry.hero, G::HEROES.join(", "));
    let hero = G::hero(&entry.hero, &entry.name).ok_or_else(none)?;
    let hero = if entry.bot { hero } else { G::led_by_person(hero) };
    match &entry.character {
        Some(text) => G::bring(hero, &kept::<G>(text)?.hero).map_err(|why| unfit(CharacterError::Impossible(why))),
        None => Ok(hero),
    }
}

/// What this browser keeps.
fn kept<G: Game>(text: &str) -> Result<Character<HeroOf<G>>, String> {
    character_of::<G>(text.as_bytes()).map_err(unfit)
}

fn unfit(cause: CharacterError) -> String {
    format!("The hero that this browser keeps cannot come along ({cause}): begin anew, which lays it aside.")
}

/// What the page is to go on with.
fn recorded<G: Game>(bytes: &[u8], kind: SessionKind) -> Result<Recorded<G::Sim>, String> {
    let game = (G::NAME, &G::identity(&default_table()));
    go_on(bytes, game, kind, build::<G>).map_err(|error| {
        let advice = match error {
            UnfitError::Kind(_) => "begin another session",
            UnfitError::Recording(RecordingError::Different { .. }) | UnfitError::Continue(_) => {
                "open it in the page of the build that recorded it"
            }
            UnfitError::Recording(_) | UnfitError::Panicked(_) => "try another",
        };
        format!("This recording cannot be gone on with: {error}; {advice}.")
    })
}

pub(crate) fn of_name(error: PlayerError) -> String {
    format!("{error}; choose another name.")
}

fn link(entry: &Entry, role: RoomRole) -> Result<MatchboxLink, String> {
    let Entry { signal, room, key, stun, turn, turn_user, turn_password, .. } = entry.clone();
    let turn = turn.zip(turn_user).zip(turn_password);
    let turn = turn.map(|((url, user), password)| Turn { url, user, password });
    if turn.as_ref().is_some_and(|turn| !turn.is_well_formed()) {
        return Err("The TURN server that the link names is none: ask for the whole link.".to_owned());
    }
    if !stun.iter().all(|url| is_ice_server(url, "stun")) {
        return Err("The STUN server that the link names is none: ask for the whole link.".to_owned());
    }
    Ok(MatchboxLink::open(Config { url: signal, room, key, stun, turn, role, ..Config::default() }))
}

/// Where and how a session is played, whichever it is.
struct Place<'p> {
    entry: &'p Entry,
    eye: Eye,
    files: Memory,
    waker: &'p Waker,
}

impl Place<'_> {
    fn play<G, L, T>(self, session: T, mut link: L, terms: Terms) -> Result<Box<dyn Playing>, String>
    where
        G: Game,
        L: Link + 'static,
        T: Session<Sim = G::Sim> + 'static,
    {
        let Place { entry, eye, files, waker } = self;
        link.wake_with(waker);
        let kind = terms.kind;
        let labels = Labels { game: G::NAME, terms, name: entry.name.clone(), room: entry.room.clone() };
        let recorder = Recorder::new(labels.clone(), files, Some(&labels.file()));
        let recorder = recorder.map_err(|error| error.to_string())?;
        let join = entry.join.clone().map(|link| Join { line: String::new(), link: Some(link) });
        let mut display = Display::new(Screen::View(Box::new(eye)), &labels, join);
        let character = entry.character.as_deref().map(kept::<G>).transpose()?;
        match &character {
            Some(Character { title, .. }) => display.tell(format!("Your {title} is back.")),
            None if G::KEEPS && entry.keeps => display.tell("This browser keeps your hero: it comes along.".to_owned()),
            None if G::KEEPS && !entry.bot => {
                display.tell("Your hero is not kept: another tab has it, or the browser keeps nothing.".to_owned());
            }
            None => {}
        }
        let options = Options {
            bot: entry.bot,
            time: entry.seconds.map(|seconds| Duration::from_secs(seconds.into())),
            until: entry.until.map(Tick),
            keep_checksums: entry.checksums,
            keep_parts: entry.checksums,
            clocks: clocks(),
            ..Options::default()
        };
        let mut shell = Shell::<G, L, T>::new(session, link, recorder, display, options).with_rerun(build::<G>);
        shell = shell.with_sound(!entry.mute, |sounds| {
            page::hear(sounds);
            Ok(())
        });
        if entry.keeps {
            let progress = character.map_or(0, |character| character.progress);
            shell = shell.with_character((&entry.hero, progress), |text| {
                KEPT.set(Some(text.to_owned()));
                Ok(())
            });
        }
        Ok(Box::new(Played::new(shell, kind)))
    }
}

/// A browser tells nobody for how long a thread has had a processor: time stands for it.
pub(crate) fn clocks() -> Clocks {
    Clocks { wall: clock::now, thread: clock::now, process: clock::now }
}

/// A session, since a time.
pub(crate) struct Played<G: Game, L: Link, T: Session<Sim = G::Sim>> {
    shell: Shell<G, L, T>,
    kind: SessionKind,
    began: Duration,
}

impl<G: Game, L: Link, T: Session<Sim = G::Sim>> Played<G, L, T> {
    pub fn new(shell: Shell<G, L, T>, kind: SessionKind) -> Self {
        Played { shell, kind, began: clock::now() }
    }
}

impl<G: Game, L: Link, T: Session<Sim = G::Sim>> Playing for Played<G, L, T> {
    fn step(&mut self, is_hidden: bool, now: Duration) -> Next {
        self.shell.set_fitness(if is_hidden { Fitness::Slow } else { Fitness::Page });
        match self.shell.step(now - self.began) {
            Next::At(at) => Next::At(at.saturating_add(self.began)),
            Next::Over => Next::Over,
        }
    }

    fn keep(&mut self) {
        self.shell.keep();
    }

    fn leave(&mut self, now: Duration) {
        self.shell.leave(now - self.began);
    }

    fn ending(&mut self) -> String {
        let obstacle = self.shell.link_mut().obstacle();
        let (reason, report) = self.shell.finish();
        ending::of(&reason, self.kind, obstacle, &report).to_string()
    }
}
