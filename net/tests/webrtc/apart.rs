//! Parties whose players each have a host of their own, and lose each other.

use std::net::SocketAddr;
use std::ops::Range;
use std::process::Command;
use std::time::{Duration, Instant};

use super::hall;
use super::network::{Network, Way, between};
use super::party::{Party, SECOND, assert_one_world};
use super::process::Process;

/// Within 5 s, and what a machine that does other things is late.
pub const WHOLE_WITHIN: Duration = Duration::from_secs(5 + 3);

/// A network, and signaling at its last host.
pub struct Site {
    pub network: Network,
    pub server: SocketAddr,
    pub server_host: u8,
    _process: Process,
}

/// A party at a site: each player is at a host of its own.
pub struct Apart<'a> {
    pub site: &'a Site,
    pub party: Party,
    hosts: Range<u8>,
}

impl Site {
    /// With so many hosts beside signaling's, where the test may have a network.
    pub fn of_test(name: &str, server_host: u8) -> Option<Site> {
        let network = Network::of_test(name, server_host + 1)?;
        let program = network.program(server_host);
        Some(Site::in_network(network, server_host, program))
    }

    /// The same in a network that there is, with signaling by this program at its last host.
    pub fn in_network(network: Network, server_host: u8, program: Command) -> Site {
        let addr = SocketAddr::from((network.address(server_host), 3536));
        let (process, server) = Process::serve_by(program, addr);
        Site { network, server, server_host, _process: process }
    }

    /// A party of players at these hosts, in a room of its own.
    pub fn party(&self, hosts: Range<u8>) -> Apart<'_> {
        self.party_by(hosts.clone().map(|_| self.server), hosts)
    }

    /// The same, of players who find signaling at these addresses.
    pub fn party_by(&self, servers: impl IntoIterator<Item = SocketAddr>, hosts: Range<u8>) -> Apart<'_> {
        let players = servers.into_iter().zip(hosts.clone().map(|host| self.network.program(host)));
        let party = Party::gather(&format!("of-{}", hosts.start), players);
        Apart { site: self, party, hosts }
    }

    /// A relay, and its players.
    pub fn hall(&self, hosts: Range<u8>) -> Apart<'_> {
        let mut party = Party { players: Vec::new(), dead: Vec::new(), begun: Instant::now() };
        for host in hosts.clone() {
            party.enter(self.server, &format!("of-{}", hosts.start), hall::of_hall(self.network.program(host)));
            party.until("all to play", |players| players.iter().all(|player| player.newest().is_some()));
        }
        Apart { site: self, party, hosts }
    }
}

impl Apart<'_> {
    pub fn leader(&self) -> u8 {
        self.party.leader().0 as u8
    }

    /// All ways between these players and those.
    pub fn between(&self, some: &[u8], others: &[u8]) -> Vec<Way> {
        let hosts = |players: &[u8]| players.iter().map(|player| self.hosts.start + player).collect::<Vec<_>>();
        between(&hosts(some), &hosts(others))
    }

    /// All ways between a player and signaling.
    pub fn to_server(&self, player: u8) -> Vec<Way> {
        between(&[self.hosts.start + player], &[self.site.server_host])
    }

    /// What was lost on these ways arrives again: all play one world again.
    pub fn is_whole_again(&mut self, what: &str, ways: &[Way]) {
        self.site.network.mend(ways);
        let takes = self.party.until_whole();
        println!("{what}: all are together again after {takes:?}");
        assert!(takes < WHOLE_WITHIN, "{what}: {takes:?}");
        let whole = Instant::now();
        self.party.pass(2 * SECOND);
        assert_one_world(&self.party.players, whole, 0);
    }
}
