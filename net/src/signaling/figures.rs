//! How much a signaling server has to do, for who looks after it.

use core::fmt::{self, Display, Formatter, Write as _};

/// Counts of a server. They tell of nobody in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Open connections, of peers and of those who have not entered.
    pub connections: usize,
    /// How many there may be: 17,408, or fewer if the process may not have the files for them.
    pub connections_max: usize,
    /// How much waits for peers to read it, in bytes.
    pub waiting_bytes: usize,
    /// Rooms that somebody is in.
    pub rooms: usize,
    /// Peers in them.
    pub peers: usize,
    /// How many peers have entered since the server began.
    pub entries: u64,
    /// How many were refused.
    pub refusals: u64,
    /// How often a peer was given credentials for the TURN server, if there is one.
    pub turn_credentials: Option<u64>,
}

impl Figures {
    /// What `GET /?figures` answers: a gauge or counter a line, in the text format of Prometheus.
    pub fn exposition(&self) -> String {
        let mut text = String::new();
        let mut tell = |name: &str, kind: &str, value: u64| {
            let told = write!(text, "# TYPE lockstone_{name} {kind}\nlockstone_{name} {value}\n");
            told.expect("a string takes all");
        };
        tell("connections", "gauge", self.connections as u64);
        tell("connections_max", "gauge", self.connections_max as u64);
        tell("waiting_bytes", "gauge", self.waiting_bytes as u64);
        tell("rooms", "gauge", self.rooms as u64);
        tell("peers", "gauge", self.peers as u64);
        tell("entries_total", "counter", self.entries);
        tell("refusals_total", "counter", self.refusals);
        self.turn_credentials.into_iter().for_each(|given| tell("turn_credentials_total", "counter", given));
        text
    }
}

impl Display for Figures {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Figures { connections, connections_max, rooms, peers, entries, refusals, turn_credentials, .. } = self;
        write!(
            f,
            "Connections: {connections} of {connections_max}. Peers: {peers}, in rooms: {rooms}. Entered so far: {entries}, refused: {refusals}."
        )?;
        turn_credentials.map_or(Ok(()), |given| write!(f, " TURN credentials given: {given}."))
    }
}
