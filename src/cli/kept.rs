//! The hero that is kept for a player: in a file, which one process uses at a time.
//!
//! Each class has a file of its own beside the player's key, unless another is named. It must never
//! be written over if it could not be read, nor by two processes in turn.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::args;
use super::failure::Failure;
use super::{files, place};
use crate::character::{Character, CharacterError, HeroOf, character_of};
use crate::game::Game;
use crate::output::say;
use crate::shell::Keep;
use crate::shell::storage::named_after;

const EXTENSION: &str = "character";

/// A file that is this process's alone.
struct Own {
    file: PathBuf,
    _locked: File,
}

/// What a player brings along, and where it is kept.
pub(super) struct Kept<G: Game> {
    /// What is played.
    pub class: Option<String>,
    pub brought: Option<Character<HeroOf<G>>>,
    own: Option<Own>,
}

impl<G: Game> Kept<G> {
    /// Nothing is brought along, and nothing kept.
    pub fn nothing(class: Option<&str>) -> Self {
        Kept { class: class.map(str::to_owned), brought: None, own: None }
    }

    /// That of a person who asks for a class, or for any. Bots keep heroes only in files that are
    /// named.
    pub fn find(args: &args::Keeping, class: Option<&str>, bot: bool) -> Result<Self, Failure> {
        let is_known = class.is_none_or(|class| G::HEROES.contains(&class));
        if !G::KEEPS || !is_known || (bot && args.character.is_none()) {
            return match &args.character {
                Some(_) if !G::KEEPS => Err(Failure::new("this game keeps no heroes: leave out --character")),
                _ => Ok(Kept::nothing(class)),
            };
        }
        let (file, class) = match &args.character {
            Some(file) => (file.clone(), class.map(str::to_owned)),
            None => {
                let Some(folder) = folder::<G>() else { return Ok(Kept::nothing(class)) };
                let class = class.or_else(|| newest::<G>(&folder)).or(G::HEROES.first().copied()).unwrap_or_default();
                (folder.join(class).with_extension(EXTENSION), Some(class.to_owned()))
            }
        };
        let own = match Own::of(&file) {
            Ok(own) => own,
            Err(error) if args.character.is_some() => return Err(Failure::file("use", &file, error)),
            Err(error) => {
                say(format_args!("Your hero is not kept: {error}."));
                return Ok(Kept { class, brought: None, own: None });
            }
        };
        if args.new {
            own.lay_aside()?;
        }
        let brought = own.read::<G>(class.as_deref())?;
        let class = brought.as_ref().map(|brought| brought.class.clone()).or(class);
        Ok(Kept { class, brought, own: Some(own) })
    }

    /// What the kept hero is, how far it has come, and what keeps it from now on: nothing, if it is
    /// not kept.
    pub fn keeper(self) -> Option<(String, u64, Keep)> {
        let progress = self.brought.as_ref().map_or(0, |brought| brought.progress);
        let own = self.own?;
        let class = self.class.or(G::HEROES.first().map(|&class| class.to_owned())).unwrap_or_default();
        let keep = move |text: &str| own.write(text).map_err(|error| format!("{}: {error}", own.file.display()));
        Some((class, progress, Box::new(keep)))
    }

    /// What the person is told about it, once they are in a session.
    pub fn told(&self) -> Option<String> {
        let file = self.own.as_ref()?.file.display();
        Some(match &self.brought {
            Some(Character { title, .. }) => format!("Your {title} is back. --new begins anew."),
            None => format!("Your hero is kept in {file}: it comes along the next time."),
        })
    }
}

impl Own {
    fn of(file: &Path) -> io::Result<Own> {
        let lock = beside(file, "lock");
        let locked = fs::OpenOptions::new().write(true).create(true).truncate(false).open(lock)?;
        locked.try_lock().map_err(|error| match error {
            TryLockError::Error(error) => error,
            TryLockError::WouldBlock => {
                io::Error::other("another process plays with it; name another file with --character")
            }
        })?;
        Ok(Own { file: file.to_owned(), _locked: locked })
    }

    /// The hero in it. None, if there is no such file yet.
    fn read<G: Game>(&self, class: Option<&str>) -> Result<Option<Character<HeroOf<G>>>, Failure> {
        if !self.file.exists() {
            return Ok(None);
        }
        let refused = |error: CharacterError| {
            let advice = "begin anew with --new, which lays it aside, or name another file with --character";
            Failure::file("play on with", &self.file, format!("{error}; {advice}"))
        };
        let character = character_of::<G>(&files::read(&self.file)?).map_err(refused)?;
        if let Some(class) = class.filter(|class| *class != character.class) {
            let file = self.file.display();
            let advice = format!("leave out --hero {class}, or name another file with --character");
            return Err(Failure::new(format!("{file} keeps a {}: {advice}", character.title)));
        }
        Ok(Some(character))
    }

    /// Gives the file another name, whatever it holds: the first that is free.
    fn lay_aside(&self) -> Result<(), Failure> {
        if !self.file.exists() {
            return Ok(());
        }
        let named = |n: u32| named_after(&self.file, &format!("-{n}"));
        let free = (2..).map(named).find(|file| !file.exists()).expect("there are not so many");
        fs::rename(&self.file, &free).map_err(|error| Failure::file("lay aside", &self.file, error))?;
        say(format_args!("Your hero before is in {0}: --character {0} plays it on.", free.display()));
        Ok(())
    }

    /// All of it or nothing, whenever the machine stops.
    fn write(&self, text: &str) -> io::Result<()> {
        let half = beside(&self.file, "part");
        let mut file = File::create(&half)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(half, &self.file)
    }
}

fn folder<G: Game>() -> Option<PathBuf> {
    let folder = place::state_folder()?.join(G::NAME);
    fs::create_dir_all(&folder).ok()?;
    Some(folder)
}

/// The class that was kept last.
fn newest<G: Game>(folder: &Path) -> Option<&'static str> {
    let kept = |class: &&str| -> Option<SystemTime> {
        fs::metadata(folder.join(class).with_extension(EXTENSION)).and_then(|file| file.modified()).ok()
    };
    G::HEROES.iter().filter(|class| kept(class).is_some()).max_by_key(|class| kept(class)).copied()
}

fn beside(file: &Path, extension: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    name.into()
}
