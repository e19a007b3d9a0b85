//! A link, or a player of a party, in a process of its own, that can be killed or stand still. It
//! is this program again, with one test.

use std::io::{self, BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{self, Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use lockstone_net::party::PartySettings;
use lockstone_net::{Link, LinkEvent, Party, PlayerKey};
use testkit::sessions::*;

use super::peers::Peer;
use super::sessions::Player;

const SERVER: &str = "LOCKSTONE_TEST_SERVER";
const ROOM: &str = "LOCKSTONE_TEST_ROOM";
const KEY: &str = "LOCKSTONE_TEST_KEY";
const ENTERED: &str = "it has entered";

/// It is killed when this is dropped.
pub struct Process(Child);

impl Process {
    /// A link.
    pub fn start(server: SocketAddr, room: &str) -> Process {
        Process::run(server, room, &mut Command::new(std::env::current_exe().unwrap()))
    }

    /// A player, known again by a key.
    pub fn play(server: SocketAddr, room: &str, key: u8) -> Process {
        Process::run(server, room, Command::new(std::env::current_exe().unwrap()).env(KEY, key.to_string()))
    }

    fn run(server: SocketAddr, room: &str, command: &mut Command) -> Process {
        command.args(["process::in_a_process_of_its_own", "--exact", "--ignored", "--nocapture"]);
        command.env(SERVER, server.to_string()).env(ROOM, room);
        Process(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap())
    }

    pub fn await_entered(&mut self) {
        let lines = BufReader::new(self.0.stdout.as_mut().unwrap()).lines();
        assert!(lines.map_while(Result::ok).any(|line| line.contains(ENTERED)));
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

#[test]
#[ignore = "what other tests run in a process of its own"]
fn in_a_process_of_its_own() {
    let (Ok(server), Ok(room)) = (std::env::var(SERVER), std::env::var(ROOM)) else { return };
    // It must not outlive who started it.
    thread::spawn(|| {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        process::exit(0);
    });
    let server = server.parse().unwrap();
    match std::env::var(KEY) {
        Ok(key) => play(Player::enter(server, &room, keyed(key.parse().unwrap()))),
        Err(_) => idle(Peer::open(server, &room, None)),
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
        thread::park_timeout(Duration::from_millis(5));
    }
}

/// A player of a party whose heroes wait for half an hour.
pub fn keyed(key: u8) -> Party<Mixer> {
    let build = |seed| Mixer::new(seed, 64).keeping(30 * 60 * 20);
    let name = format!("player {key}");
    party_of(PartySettings::default(), IDENTITY, &name, build).with_key(PlayerKey::from_bytes([key; 32]))
}
