//! The processes of a demo: peers that are started, heard word by word, and waited for.

use std::process::Stdio;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use crate::cli::child::{Peer, Word, bot_words};
use crate::cli::failure::Failure;
use crate::cli::{args, stopped};
use crate::game::Game;
use crate::shell::Report;

/// How much longer than the game all of it may take: connecting, leaving, a busy machine.
pub(super) const GRACE: Duration = Duration::from_secs(60);
/// The room in which they meet.
pub(super) const ROOM: &str = "demo";

/// Which process said what; nothing once it has ended.
type Heard = (usize, Option<Word>);

pub(super) struct Cast {
    pub seats: Vec<Seat>,
    words: (Sender<Heard>, Receiver<Heard>),
    /// What is said if they come no further in time, before the ticks that they came to.
    stuck: String,
    /// Since when the pace of their ticks counts, if it does.
    pub measured: Option<Instant>,
}

pub(super) struct Seat {
    pub process: Peer,
    /// The last tick that it told, and when.
    pub at: Option<(u32, Instant)>,
    /// The first that it told once the pace counted.
    pub from: Option<(u32, Instant)>,
    /// The longest time between two that it told since.
    pub longest: Duration,
    pub report: Option<Report>,
    pub is_over: bool,
}

/// The words of a bot, of which the first is number 0.
pub(super) fn bot<G: Game>(args: &args::Demo, n: usize, url: &str) -> Vec<String> {
    let hero = G::HEROES.iter().cycle().nth(n).copied().unwrap_or_default();
    let mut words = bot_words(&format!("Bot-{}", n + 1), hero, ROOM, url);
    if args.plant_fault && n + 1 == usize::from(args.peers) {
        words.push("--plant-fault".to_owned());
    }
    words
}

impl Cast {
    /// Nobody yet.
    pub fn new(stuck: String) -> Cast {
        Cast { seats: Vec::new(), words: mpsc::channel(), stuck, measured: None }
    }

    /// One more comes.
    pub fn start(&mut self, words: &[String]) -> Result<(), Failure> {
        let mut process = Peer::start(words, Stdio::piped(), Stdio::piped())?;
        process.listen(self.seats.len(), self.words.0.clone());
        self.seats.push(Seat { process, at: None, from: None, longest: Duration::ZERO, report: None, is_over: false });
        Ok(())
    }

    /// Hears one word.
    pub fn listen(&mut self, deadline: Instant) -> Result<(), Failure> {
        stopped("the demo")?;
        match self.words.1.recv_timeout(Duration::from_millis(100)) {
            Ok((n, Some(Word::Tick(tick)))) => self.seats[n].tick(tick, self.measured.is_some()),
            Ok((n, Some(Word::Report(report)))) => self.seats[n].report = Some(*report),
            Ok((n, None)) => {
                let seat = &mut self.seats[n];
                seat.is_over = true;
                if seat.report.is_none() {
                    return Err(Failure::new(format!("peer {} ended early {}", n + 1, seat.process.last_words())));
                }
            }
            Err(RecvTimeoutError::Timeout) if Instant::now() < deadline => {}
            Err(_) => {
                let (stuck, at): (_, Vec<_>) = (&self.stuck, self.ticks().collect());
                return Err(Failure::new(format!("{stuck} {at:?}; see whether WebRTC works on this machine")));
            }
        }
        Ok(())
    }

    /// The ticks that they have come to.
    pub fn ticks(&self) -> impl Iterator<Item = u32> {
        self.seats.iter().map(|seat| seat.at.map_or(0, |(tick, _)| tick))
    }
}

impl Seat {
    fn tick(&mut self, tick: u32, measured: bool) {
        let now = Instant::now();
        if let (true, Some((_, before))) = (measured && self.from.is_some(), self.at) {
            self.longest = self.longest.max(now - before);
        }
        self.at = Some((tick, now));
        if measured {
            self.from.get_or_insert((tick, now));
        }
    }
}
