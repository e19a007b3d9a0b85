//! A process that answers: what it says is compared line by line as it comes.
//!
//! It must never be waited for without an end. A process that does not write its next line in time
//! is ended, and all are ended when this is stopped. The loop is [`Question::compare`].

use std::io::{self, BufRead, BufReader, Read, Write};
use std::ops::ControlFlow;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use lockstone_sim::Tick;
use lockstone_sim::codec;
use lockstone_sim::journal::Journal;

use super::reference::{End, Odd, Reference};
use crate::check::answer::GREETING;
use crate::inspect::Inspect;

/// So often whoever looks on is asked whether to go on, while nothing is said.
const POLL: Duration = Duration::from_millis(100);
/// Lines that are read ahead of what is compared.
const LINES_AHEAD: usize = 64;
/// The largest journal that is read.
const JOURNAL_BYTES_MAX: usize = 64 << 20;

/// What a child is asked.
pub(super) struct Question<'q, 'r, S: Inspect> {
    /// All that it is given.
    pub input: Arc<[u8]>,
    /// A child of this profile would show nothing.
    pub unlike: Option<&'q str>,
    /// How long it may take for a line.
    pub answer_time: Duration,
    pub reference: &'q Reference<'r, S>,
    pub plays: &'q mut dyn FnMut(Tick) -> ControlFlow<()>,
}

/// Why an answer tells nothing of the game's checksums.
enum Unclear {
    /// It is not there.
    Nothing,
    /// It does not begin in time.
    Silent,
    /// It comes from a build of the same kind.
    Alike,
    /// It ends in the middle, or hangs.
    Broke(String),
    /// The observer has stopped it.
    Stopped,
}

impl<S: Inspect> Question<'_, '_, S> {
    /// Lets a child play, and compares what it says tick by tick.
    pub fn ask(mut self, command: &mut Command) -> End<S> {
        let program = command.get_program().to_string_lossy().into_owned();
        let mut child = match Running::start(command, self.input.clone()) {
            Ok(child) => child,
            Err(error) => {
                return End::Skipped(format!("{program} cannot be started ({error}): install it, or build it again"));
            }
        };
        let told = self.compare(&child.lines);
        let within = self.answer_time.as_secs_f32();
        match told {
            Ok(end) => end,
            Err(Unclear::Stopped) => End::stopped(),
            Err(Unclear::Silent) => End::Skipped(format!("{program} did not answer within {within} s, and was ended")),
            Err(Unclear::Nothing) => {
                let complaint = child.complaint();
                End::Skipped(format!("{program} does not answer: {complaint} Build it again, from the same sources"))
            }
            Err(Unclear::Alike) => {
                let unlike = self.unlike.unwrap_or_default();
                End::Skipped(format!("{program} is a {unlike} build too: name one of the other kind"))
            }
            Err(Unclear::Broke(cause)) => End::Broke(format!("{program}: {cause}. {}", child.complaint())),
        }
    }

    fn compare(&mut self, lines: &Receiver<String>) -> Result<End<S>, Unclear> {
        let greeting = self.next(lines, None)?;
        let build = greeting.strip_prefix(GREETING).ok_or(Unclear::Nothing)?;
        if self.unlike.is_some_and(|unlike| build.split_whitespace().next() == Some(unlike)) {
            return Err(Unclear::Alike);
        }
        let reference = self.reference;
        let mut met = 0;
        for (tick, root, _) in reference.moments() {
            if (self.plays)(tick).is_break() {
                return Err(Unclear::Stopped);
            }
            if self.next(lines, Some(tick))? != format!("{tick} {root}") {
                return self.odd(tick, build, lines);
            }
            met += 1;
        }
        Ok(End::Met(met))
    }

    /// It has come elsewhere: to which state, and by what.
    fn odd(&mut self, tick: Tick, build: &str, lines: &Receiver<String>) -> Result<End<S>, Unclear> {
        let state = self.next(lines, Some(tick))?;
        let state = state.strip_prefix("state ").and_then(bytes_of).ok_or_else(|| ended(tick))?;
        let mut odd = self.reference.build();
        let unreadable = |error| Unclear::Broke(format!("its state of tick {tick} cannot be read: {error}"));
        let snapshot = odd.decode(&state).map_err(unreadable)?;
        odd.restore(&snapshot);
        // One that cannot tell is none the worse for it.
        let journal = self.next(lines, Some(tick)).ok();
        let journal = journal.as_deref().and_then(|line| line.strip_prefix("journal ")).and_then(bytes_of);
        let journal = journal.and_then(|bytes| codec::read::<Journal>(&bytes, JOURNAL_BYTES_MAX).ok());
        let (by, journal) = (Some(build.trim().to_owned()), journal.filter(|journal| journal.tick.next() == tick));
        Ok(End::Parted(Box::new(Odd { by, journal, ..Odd::of(odd) })))
    }

    /// The next line: its greeting, or what it says of a tick.
    fn next(&mut self, lines: &Receiver<String>, of: Option<Tick>) -> Result<String, Unclear> {
        let began = Instant::now();
        loop {
            match (lines.recv_timeout(POLL.min(self.answer_time)), of) {
                (Ok(line), _) => return Ok(line),
                (Err(RecvTimeoutError::Disconnected), None) => return Err(Unclear::Nothing),
                (Err(RecvTimeoutError::Disconnected), Some(tick)) => return Err(ended(tick)),
                (Err(RecvTimeoutError::Timeout), _) => {}
            }
            if (self.plays)(of.unwrap_or(self.reference.start())).is_break() {
                return Err(Unclear::Stopped);
            }
            if began.elapsed() >= self.answer_time {
                let within = self.answer_time.as_secs_f32();
                return Err(of.map_or(Unclear::Silent, |tick| {
                    Unclear::Broke(format!("it did not come to tick {tick} within {within} s, and was ended"))
                }));
            }
        }
    }
}

fn ended(tick: Tick) -> Unclear {
    Unclear::Broke(format!("it ended at tick {tick}"))
}

fn bytes_of(hex: &str) -> Option<Vec<u8>> {
    let digit = |digit: u8| char::from(digit).to_digit(16).map(|digit| digit as u8);
    hex.as_bytes().chunks(2).map(|pair| Some(digit(*pair.first()?)? << 4 | digit(*pair.get(1)?)?)).collect()
}

/// A process that is killed when this is dropped. What it says is read on threads of their
/// own, which nobody waits for: what it has started itself may hold its pipes open for as
/// long as it likes.
struct Running {
    child: Child,
    lines: Receiver<String>,
    complaint: Receiver<String>,
}

impl Running {
    fn start(command: &mut Command, input: Arc<[u8]>) -> io::Result<Running> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (line_tx, lines) = mpsc::sync_channel(LINES_AHEAD);
        let (complaint_tx, complaint) = mpsc::channel();
        // If it does not take all of it, it ends early, and that is told.
        thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&input)));
        thread::spawn(move || {
            let lines = stdout.into_iter().flat_map(|out| BufReader::new(out).lines().map_while(io::Result::ok));
            lines.map(|line| line_tx.send(line)).all(|sent| sent.is_ok())
        });
        thread::spawn(move || {
            let mut bytes = Vec::new();
            // What cannot be read was not said, and nobody may want to know.
            let _ = stderr.map(|mut stderr| stderr.read_to_end(&mut bytes));
            let _ = complaint_tx.send(String::from_utf8_lossy(&bytes).trim().to_owned());
        });
        Ok(Running { child, lines, complaint })
    }

    /// What it said on stderr. It is ended first.
    fn complaint(&mut self) -> String {
        self.end();
        self.complaint.recv_timeout(POLL).unwrap_or_default()
    }

    fn end(&mut self) {
        // Either it ended by itself already, or it ends now.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}
