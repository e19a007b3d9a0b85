//! A link, a player of a party, or a signaling server in a process of its own, that can be killed
//! or stand still. It is this program again, with one test.

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{self, Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use lockstone_net::matchbox::Config;
use lockstone_net::party::PartySettings;
use lockstone_net::session::{Event, Stats};
use lockstone_net::wire::{Branch, Message, Report, Turns};
use lockstone_net::{Link, LinkEvent, Party, PeerId, PlayerKey};
use lockstone_sim::{Checksum, PlayerId, Simulation, Tick};
use serde::{Deserialize, Serialize};
use testkit::mixer::State;
use testkit::sessions::tap::altering;
use testkit::sessions::*;

use super::hall;
use super::peers::Peer;
use super::sessions::Player;
use super::turn;

const SERVER: &str = "LOCKSTONE_TEST_SERVER";
const ROOM: &str = "LOCKSTONE_TEST_ROOM";
const KEY: &str = "LOCKSTONE_TEST_KEY";
const ENTERED: &str = "it has entered";
const SERVES: &str = "it serves";

/// What a process is told to do once.
#[derive(Clone, Copy, Debug)]
pub enum Order {
    /// A bit of its world turns over.
    Err,
    /// It reports a false checksum.
    Lie,
    /// Its player takes the offer to go on as a branch.
    Branch,
}

/// Which orders this process has not followed yet.
static ORDERS: [AtomicBool; 3] = [const { AtomicBool::new(false) }; 3];

impl Order {
    const ALL: [Order; 3] = [Order::Err, Order::Lie, Order::Branch];

    /// Whether it is to be followed now.
    fn is_given(self) -> bool {
        ORDERS[self as usize].swap(false, Relaxed)
    }
}

/// What a player tells.
#[derive(Debug, Serialize, Deserialize)]
pub enum Told {
    Word(Word),
    /// An event that is no turn, in words.
    News(String),
}

/// What a player tells of each tick that it comes to.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Word {
    pub tick: u32,
    /// Of which history.
    pub branch: Branch,
    /// Of the world before that tick's turn.
    pub checksum: u64,
    pub player: PlayerId,
    pub leader: Option<PlayerId>,
    /// Those who play.
    pub players: Vec<PlayerId>,
    /// Those whose heroes wait.
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
    ) -> (Process, Receiver<(Instant, Told)>) {
        let program = program.env(ROOM, room).env(KEY, key.to_string());
        let mut process = Process::run(server, program, Stdio::piped());
        let told = process.told();
        (process, told)
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

    fn told(&mut self) -> Receiver<(Instant, Told)> {
        let (sender, told) = mpsc::channel();
        let lines = BufReader::new(self.0.stdout.take().unwrap()).lines();
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                // Nobody listens any more when the test is over.
                if let Ok(word) = serde_json::from_str(&line)
                    && sender.send((Instant::now(), word)).is_err()
                {
                    return;
                }
            }
        });
        told
    }

    pub fn order(&mut self, order: Order) {
        writeln!(self.0.stdin.as_mut().unwrap(), "{order:?}").unwrap();
    }

    pub fn stop(&self) {
        self.signal("-STOP");
    }

    pub fn go_on(&self) {
        self.signal("-CONT");
    }

    /// How many sockets it has.
    pub fn sockets(&self) -> usize {
        let files = std::fs::read_dir(format!("/proc/{}/fd", self.0.id())).unwrap();
        let places = files.filter_map(|file| std::fs::read_link(file.ok()?.path()).ok());
        places.filter(|place| place.to_string_lossy().starts_with("socket:")).count()
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
    Command::new(program())
}

pub fn program() -> PathBuf {
    std::env::current_exe().unwrap()
}

#[test]
#[ignore = "what other tests run in a process of its own"]
fn in_a_process_of_its_own() {
    let Ok(server) = std::env::var(SERVER) else { return };
    // It must not outlive who started it. Lines are orders.
    thread::spawn(|| {
        for line in io::stdin().lines().map_while(Result::ok) {
            let order = Order::ALL.into_iter().find(|order| format!("{order:?}") == line).expect("an order");
            ORDERS[order as usize].store(true, Relaxed);
        }
        process::exit(0);
    });
    let server = server.parse().unwrap();
    match (std::env::var(ROOM), std::env::var(KEY)) {
        (Ok(room), Ok(key)) if hall::is_meant() => hall::play(server, &room, key.parse().unwrap()),
        (Ok(room), Ok(key)) => {
            let config = Config { turn: turn::named(), ..Config::default() };
            let mut player = Player::enter_by(config, server, &room, keyed(key.parse().unwrap()));
            player.hand = Box::new(altering(lying()));
            play(player)
        }
        (Ok(room), Err(_)) => idle(Peer::open(server, &room, None)),
        (Err(_), _) => {
            let server = turn::serve_at(server);
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

/// Tells what comes to it, as long as it plays.
pub fn play<T: Session>(mut player: Player<T>) -> ! {
    let mut branch = Branch::default();
    loop {
        player.advance();
        if Order::Branch.is_given() {
            player.session.go_on_as_branch().expect("it is offered");
        }
        let stats = player.session.stats();
        for event in player.events.drain(..) {
            if let Event::Branch { branch: now, .. } = event {
                branch = now;
            }
            if let (Event::Ended { .. }, Some(obstacle)) = (&event, player.link.obstacle()) {
                println!("{}", serde_json::to_string(&Told::News(format!("{obstacle:?}"))).unwrap());
            }
            if let Some(told) = told(event, branch, &stats) {
                println!("{}", serde_json::to_string(&told).unwrap());
            }
        }
        thread::park_timeout(Duration::from_millis(5));
    }
}

/// What is told of an event in the history of this name.
fn told<S: Simulation>(event: Event<S>, branch: Branch, stats: &Stats) -> Option<Told> {
    Some(match event {
        Event::Checksum { tick, checksum, .. } => {
            let (leader, away) = (stats.sequencer(), stats.away.iter().map(|(player, _)| *player).collect());
            let players = stats.players.iter().map(|player| player.player).collect();
            let (tick, checksum, player) = (tick.0, checksum.0, stats.player?);
            Told::Word(Word { tick, branch, checksum, player, leader, players, away })
        }
        Event::Turn { .. } | Event::Keyframe { .. } | Event::Ledger { .. } => return None,
        event => Told::News(format!("{event:?}")),
    })
}

/// A hand that makes one checksum false, the next that is told, whenever it is ordered to.
fn lying() -> impl FnMut(PeerId, &mut Message) {
    let (mut lies, mut newest) = (BTreeSet::new(), Tick(0));
    move |_, message| {
        let (Message::Report(Report { checksums, .. }) | Message::Turns(Turns { checksums, .. })) = message else {
            return;
        };
        let told = checksums.iter().map(|(tick, sum)| {
            if *tick > newest {
                newest = *tick;
                lies.extend(Order::Lie.is_given().then_some(newest));
            }
            (*tick, Checksum(sum.0 ^ u64::from(lies.contains(tick))))
        });
        *checksums = list(told.collect());
    }
}

/// A player of a party whose heroes wait for half an hour.
pub fn keyed(key: u8) -> Party<Mixer> {
    let err = |state: &mut State, _: &_| state.cells[1] ^= u64::from(Order::Err.is_given());
    let build = move |seed| Mixer::new(seed, 64).keeping(30 * 60 * 20).with(err);
    let name = format!("player {key}");
    party_of(PartySettings::default(), IDENTITY, &name, build).with_key(PlayerKey::from_bytes([key; 32]))
}
