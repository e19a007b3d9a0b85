//! The relay of a crowd as a process of its own: the shell that `relay` runs plays it once more, at
//! the pace of the play, with its recording and its statistics, and hears what it heard. What it
//! sends is carried to peers that listen only, so that the carrier has its work too.

use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use lockstone_net::relay::Relay;
use lockstone_net::wire::Terms;
use lockstone_net::{Channel, Link, LinkEvent, PeerId};

use crate::game::Wide;
use crate::shell::{Clocks, Display, Effort, Labels, Memory, Options, Recorder, Screen, Shell};
use crate::view::Status;

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

/// What the ticks cost that are played from a time on. `rounds` tell what was heard, and when.
pub(super) fn effort<G: Wide, L: Link>(
    relay: Relay<G::Rules>,
    (terms, period): (Terms, Duration),
    (clocks, carrier): (Clocks, Carrier<L>),
    rounds: impl IntoIterator<Item = (Duration, Vec<LinkEvent>)>,
    (from, ticks): (Duration, u32),
) -> Effort {
    let labels = Labels { game: G::NAME, terms, name: "relay".to_owned(), room: String::new() };
    let recorder = Recorder::new(labels, Memory::default(), None).expect("memory has room for no file").beside();
    let display = Display::new(Screen::None { lines: false }, "relay".to_owned(), Status::default(), period);
    let options = Options { clocks, measured_ticks: Some(ticks), ..Options::default() };
    let link = Again { heard: VecDeque::new(), carrier, is_live: false, stand_ins: BTreeMap::new() };
    let mut shell = Shell::<G, _, _>::new(relay, link, recorder, display, options);
    let mut began = None;
    for (now, heard) in rounds {
        if now >= from {
            let (wall, first) = *began.get_or_insert_with(|| ((clocks.wall)(), now));
            std::thread::sleep((wall + (now - first)).saturating_sub((clocks.wall)()));
            shell.link_mut().is_live = true;
        }
        shell.link_mut().heard.extend(heard);
        shell.step(now);
    }
    shell.effort()
}
