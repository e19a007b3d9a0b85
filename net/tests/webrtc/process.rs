//! A link, a player of a party, or a signaling server in a process of its own, that can be killed
//! or stand still. It is this program again, with one test.

use std::io::{self, BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{self, Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use lockstone_net::party::PartySettings;
use lockstone_net::session::Event;
use lockstone_net::{Link, LinkEvent, Party, PlayerKey};
use lockstone_sim::PlayerId;
use serde::{Deserialize, Serialize};
use testkit::mixer::State;
use testkit::sessions::*;

use super::peers::{Peer, serve_at};
use super::sessions::Player;

const SERVER: &str = "LOCKSTONE_TEST_SERVER";
const ROOM: &str = "LOCKSTONE_TEST_ROOM";
const KEY: &str = "LOCKSTONE_TEST_KEY";
const ENTERED: &str = "it has entered";
const SERVES: &str = "it serves";

/// Whether a bit of this process's world is to turn over in the next tick.
static IS_TO_ERR: AtomicBool = AtomicBool::new(false);

/// What a player tells of each tick that it comes to.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Word {
    pub tick: u32,
    /// Of the world before that tick's turn.
    pub checksum: u64,
    pub player: PlayerId,
    pub leader: Option<PlayerId>,
    /// Those whose heroes are in the world.
    pub players: Vec<PlayerId>,
    /// Those of them who are away.
    pub away: Vec<PlayerId>,
}

/// It is killed when this is dropped.
pub struct Process(Child);

impl Process {
    /// A link.
    pub fn start(server: SocketAddr, room: &str) -> Process {
        Process::run(server, here().env(ROOM, room), Stdio::piped())
    }

    /// A player, known again by a key.
    pub fn play(server: SocketAddr, room: &str, key: u8) -> Process {
        Process::run(server, here().env(ROOM, room).env(KEY, key.to_string()), Stdio::null())
    }

    /// The same by this program as it is run elsewhere, with what it tells, and when.
    pub fn play_by(
        mut program: Command,
        server: SocketAddr,
        room: &str,
        key: u8,
    ) -> (Process, Receiver<(Instant, Word)>) {
        let program = program.env(ROOM, room).env(KEY, key.to_string());
        let mut process = Process::run(server, program, Stdio::piped());
        let words = process.words();
        (process, words)
    }

    /// A signaling server, by this program as it is run elsewhere, and its address.
    pub fn serve_by(mut program: Command, addr: SocketAddr) -> (Process, SocketAddr) {
        let mut process = Process::run(addr, &mut program, Stdio::piped());
        let line = process.await_line(SERVES);
        (process, line.rsplit(' ').next().unwrap().parse().unwrap())
    }

    fn run(server: SocketAddr, program: &mut Command, stdout: Stdio) -> Process {
        program.args(["process::in_a_process_of_its_own", "--exact", "--ignored", "--nocapture"]);
        program.env(SERVER, server.to_string());
        Process(program.stdin(Stdio::piped()).stdout(stdout).spawn().unwrap())
    }

    pub fn await_entered(&mut self) {
        self.await_line(ENTERED);
    }

    fn await_line(&mut self, wanted: &str) -> String {
        let mut lines = BufReader::new(self.0.stdout.as_mut().unwrap()).lines().map_while(Result::ok);
        lines.find(|line| line.contains(wanted)).expect("it says so")
    }

    fn words(&mut self) -> Receiver<(Instant, Word)> {
        let (told, words) = mpsc::channel();
        let lines = BufReader::new(self.0.stdout.take().unwrap()).lines();
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                // Nobody listens any more when the test is over.
                if let Ok(word) = serde_json::from_str(&line)
                    && told.send((Instant::now(), word)).is_err()
                {
                    return;
                }
            }
        });
        words
    }

    /// A bit of its world turns over.
    pub fn err(&mut self) {
        writeln!(self.0.stdin.as_mut().unwrap()).unwrap();
    }

    pub fn stop(&self) {
        self.signal("-STOP");
    }

    pub fn go_on(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        assert!(Command::new("kill").args([signal, &self.0.id().to_string()]).status().unwrap().success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// This program.
pub fn here() -> Command {
    Command::new(std::env::current_exe().unwrap())
}

#[test]
#[ignore = "what other tests run in a process of its own"]
fn in_a_process_of_its_own() {
    let Ok(server) = std::env::var(SERVER) else { return };
    // It must not outlive who started it. A line is the word for a fault.
    thread::spawn(|| {
        io::stdin().lines().map_while(Result::ok).for_each(|_| IS_TO_ERR.store(true, Relaxed));
        process::exit(0);
    });
    let server = server.parse().unwrap();
    match (std::env::var(ROOM), std::env::var(KEY)) {
        (Ok(room), Ok(key)) => play(Player::enter(server, &room, keyed(key.parse().unwrap()))),
        (Ok(room), Err(_)) => idle(Peer::open(server, &room, None)),
        (Err(_), _) => {
            let server = serve_at(server);
            println!("{SERVES} {}", server.local_addr());
            loop {
                thread::park();
            }
        }
    }
}

fn idle(mut peer: Peer) -> ! {
    loop {
        while let Some(event) = peer.link.poll() {
            if let LinkEvent::Entered(_) = event {
                println!("{ENTERED}");
            }
        }
        thread::park_timeout(Duration::from_millis(5));
    }
}

fn play(mut player: Player<Party<Mixer>>) -> ! {
    loop {
        player.advance();
        let stats = player.session.stats();
        for event in player.events.drain(..) {
            if let Event::Checksum { tick, checksum, .. } = event
                && let Some(own) = stats.player
            {
                let (leader, away) = (stats.sequencer(), stats.away.iter().map(|(player, _)| *player).collect());
                let players = stats.players.iter().map(|player| player.player).collect();
                let word = Word { tick: tick.0, checksum: checksum.0, player: own, leader, players, away };
                println!("{}", serde_json::to_string(&word).unwrap());
            }
        }
        thread::park_timeout(Duration::from_millis(5));
    }
}

/// A player of a party whose heroes wait for half an hour.
pub fn keyed(key: u8) -> Party<Mixer> {
    let err = |state: &mut State, _: &_| state.cells[1] ^= u64::from(IS_TO_ERR.swap(false, Relaxed));
    let build = move |seed| Mixer::new(seed, 64).keeping(30 * 60 * 20).with(err);
    let name = format!("player {key}");
    party_of(PartySettings::default(), IDENTITY, &name, build).with_key(PlayerKey::from_bytes([key; 32]))
}
