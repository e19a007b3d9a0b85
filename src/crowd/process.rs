//! The relay of a crowd as a process of its own: the shell that `relay` runs plays it once more, at
//! the pace of the play, with its recording and its statistics, and hears what it heard. What it
//! sends is carried to peers that listen only, so that the carrier has its work too.

use std::any::Any;
use std::collections::{BTreeMap, VecDeque};

use lockstone_net::{Channel, Link, LinkEvent, PeerId};

use super::Crowd;
use crate::game::Wide;
use crate::shell::{Clocks, Display, Effort, Labels, Memory, Options, Recorder, Screen, Shell};

/// A carrier whose other ends are in other processes.
pub struct Carrier<L> {
    /// The relay's end.
    pub link: L,
    /// Who is connected with it.
    pub peers: Vec<PeerId>,
    /// What keeps the other ends alive.
    pub guard: Box<dyn Any>,
}

/// What is heard again. What is sent goes to whoever stands for its receiver.
struct Again<L> {
    heard: VecDeque<LinkEvent>,
    carrier: Carrier<L>,
    is_live: bool,
    stand_ins: BTreeMap<PeerId, PeerId>,
}

impl<L: Link> Link for Again<L> {
    fn poll(&mut self) -> Option<LinkEvent> {
        if self.heard.is_empty() {
            while self.carrier.link.poll().is_some() {}
        }
        self.heard.pop_front()
    }

    fn send(&mut self, to: PeerId, channel: Channel, bytes: Vec<u8>) {
        let Again { carrier, stand_ins, is_live, .. } = self;
        if !stand_ins.contains_key(&to) {
            stand_ins.extend(carrier.peers.pop().map(|peer| (to, peer)));
        }
        if let (true, Some(peer)) = (*is_live, stand_ins.get(&to)) {
            carrier.link.send(*peer, channel, bytes);
        }
    }
}

impl<G: Wide> Crowd<G> {
    /// What the relay costs as a process of its own: it plays once more what was [run](Crowd::run),
    /// and its ticks are measured by these clocks. What it sends goes to the carrier's peers.
    pub fn effort<L: Link>(&self, clocks: Clocks, carrier: Carrier<L>) -> Effort {
        let terms = self.options.relay.terms(self.identity);
        let labels = Labels { game: G::NAME, terms, name: "relay".to_owned(), room: String::new() };
        let display = Display::new(Screen::None { lines: false }, &labels, None);
        let recorder = Recorder::new(labels, Memory::default(), None).expect("memory has room for no file").beside();
        let options = Options { clocks, measured_ticks: Some(self.options.ticks), ..Options::default() };
        let link = Again { heard: VecDeque::new(), carrier, is_live: false, stand_ins: BTreeMap::new() };
        let mut shell = Shell::<G, _, _>::new((self.relay)(), link, recorder, display, options);
        let mut began = None;
        for (now, heard) in self.driver.hub().link.rounds() {
            if now >= self.gathered {
                let (wall, first) = *began.get_or_insert_with(|| ((clocks.wall)(), now));
                std::thread::sleep((wall + (now - first)).saturating_sub((clocks.wall)()));
                shell.link_mut().is_live = true;
            }
            shell.link_mut().heard.extend(heard);
            shell.step(now);
        }
        shell.effort()
    }
}
