//! Before tick 0: players find each other, the founder lets them in, and all begin together.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use lockstone_sim::{Input, PlayerId, Simulation, codec};

use super::config::RollbackConfig;
use super::play::{Beginning, Play};
use super::remote::Remote;
use super::timeline::Timeline;
use crate::limits::*;
use crate::link::PeerId;
use crate::session::{Build, DropReason, EndReason, Event, Greeting, Newcomer, Out, Phase};
use crate::wire::*;

pub(super) struct Gather<S: Simulation> {
    config: RollbackConfig,
    terms: Terms,
    build: Rc<Build<S>>,
    me: Member,
    since: Duration,
    role: Role<S>,
}

enum Role<S> {
    /// The room's first peer: lets others in.
    Founder {
        /// The world before tick 0, to see whether heroes fit in.
        simulation: S,
        guests: BTreeMap<PeerId, Member>,
        /// Peers that were refused.
        past: BTreeSet<PeerId>,
    },
    /// Everyone else: waits to be let in.
    Joiner {
        greeting: Greeting,
        /// Whether the founder can be spoken to: then only its word counts.
        founder_is_here: bool,
        /// Players that are there, and that are needed, once the founder has told.
        told: Option<(u8, u8)>,
        /// Where a session is, as another peer told.
        elsewhere: Option<PeerId>,
    },
}

impl<S: Simulation> Gather<S> {
    /// This peer is in the room, as `me`.
    pub fn new(
        config: RollbackConfig,
        terms: Terms,
        build: Rc<Build<S>>,
        newcomer: &Newcomer<S>,
        me: PeerId,
        now: Duration,
    ) -> Self {
        let (name, hero) = (newcomer.name.clone(), newcomer.hero_bytes.clone());
        let role = if me.arrival() == 0 {
            let simulation = build(config.settings().seed);
            Role::Founder { simulation, guests: BTreeMap::new(), past: BTreeSet::new() }
        } else {
            let hello = Hello { protocol: PROTOCOL_VERSION, terms, name: name.clone(), hero: hero.clone() };
            Role::Joiner { greeting: Greeting::new(hello), founder_is_here: false, told: None, elsewhere: None }
        };
        Gather { config, terms, build, me: Member { peer: me, name, hero }, since: now, role }
    }

    pub fn phase(&self) -> Phase {
        match &self.role {
            Role::Founder { guests, .. } => {
                Phase::Waiting { players: guests.len() + 1, needed: self.config.settings().players }
            }
            Role::Joiner { told: Some((players, needed)), .. } => {
                Phase::Waiting { players: usize::from(*players), needed: usize::from(*needed) }
            }
            Role::Joiner { told: None, .. } => Phase::Connecting,
        }
    }

    pub fn advance(&mut self, now: Duration, out: &mut Out<S>) {
        let give_up_at = self.give_up_at();
        match &mut self.role {
            Role::Joiner { told: None, elsewhere, .. } if now >= give_up_at => {
                out.end(elsewhere.map_or(EndReason::NoSession, EndReason::Unreachable));
            }
            Role::Joiner { told: None, greeting, .. } => greeting.advance(now, out),
            _ => {}
        }
    }

    /// When a joiner gives up that nobody has let in, or says hello again.
    pub fn wake_at(&self) -> Duration {
        match &self.role {
            Role::Joiner { told: None, greeting, .. } => self.give_up_at().min(greeting.wake_at()),
            _ => Duration::MAX,
        }
    }

    fn give_up_at(&self) -> Duration {
        self.since + self.config.settings().handshake_timeout
    }

    /// A peer can be spoken to: it may be the founder.
    pub fn connected(&mut self, peer: PeerId, now: Duration, out: &mut Out<S>) {
        if let Role::Joiner { greeting, founder_is_here, .. } = &mut self.role {
            *founder_is_here |= peer.arrival() == 0;
            greeting.connected(peer, now, out);
        }
    }

    /// The carrier lost a peer.
    pub fn disconnected(&mut self, peer: PeerId, out: &mut Out<S>) {
        match &mut self.role {
            Role::Founder { guests, past, .. } => {
                past.remove(&peer);
                if guests.remove(&peer).is_some() {
                    self.tell_guests(out);
                }
            }
            Role::Joiner { .. } if peer.arrival() == 0 => out.end(EndReason::SequencerLost { silent: false }),
            Role::Joiner { greeting, .. } => greeting.settle(peer),
        }
    }

    /// Takes a message of a peer. Returns the session, if it begins with this.
    pub fn handle(&mut self, from: PeerId, message: Message, now: Duration, out: &mut Out<S>) -> Option<Play<S>> {
        let founder = from.arrival() == 0;
        match (&mut self.role, message) {
            (Role::Founder { .. }, Message::Hello(hello)) => return self.hello(from, hello, now, out),
            (Role::Founder { guests, .. }, Message::Bye(_)) => {
                if guests.remove(&from).is_some() {
                    self.tell_guests(out);
                }
            }
            (Role::Joiner { .. }, Message::Hello(_)) => {}
            (Role::Joiner { greeting, elsewhere, .. }, Message::Elsewhere(peer)) => {
                greeting.settle(from);
                *elsewhere = Some(peer);
            }
            // Of a session in progress without its founder any player may say that it takes nobody in.
            (Role::Joiner { founder_is_here, .. }, Message::Refusal(refusal))
                if founder || refusal == Refusal::Begun && !*founder_is_here =>
            {
                let name = self.me.name.as_str().to_owned();
                out.events.push_back(Event::Refused { peer: from, name, refusal: refusal.clone() });
                out.end(EndReason::Refused(refusal));
            }
            (Role::Joiner { told, .. }, Message::Gathering(players, needed)) if founder => {
                *told = Some((players, needed));
            }
            (Role::Joiner { .. }, Message::Form(form)) if founder => return self.begin(&form, now, out),
            (Role::Joiner { .. }, Message::Bye(_)) if founder => out.end(EndReason::SequencerLeft),
            // Others may have begun already.
            (Role::Joiner { .. }, Message::Inputs(_)) => {}
            _ => out.dropped(DropReason::Unexpected),
        }
        None
    }

    /// Lets a joiner in, or says why not. Begins once all are there.
    fn hello(&mut self, from: PeerId, hello: Hello, now: Duration, out: &mut Out<S>) -> Option<Play<S>> {
        let Role::Founder { simulation, guests, past } = &mut self.role else { return None };
        // Said again before it had the answer.
        if guests.contains_key(&from) {
            return None;
        }
        if past.contains(&from) {
            out.dropped(DropReason::Unexpected);
            return None;
        }
        let differences = self.terms.differences(hello.protocol, &hello.terms);
        let refusal = if !differences.is_empty() {
            Some(Refusal::Different(differences.try_into().expect("one of each kind")))
        } else if join(simulation, PlayerId(1), &hello.hero).is_none() {
            Some(Refusal::Hero)
        } else {
            None
        };
        if let Some(refusal) = refusal {
            self.refuse(from, hello.name.as_str(), refusal, out);
            return None;
        }
        guests.insert(from, Member { peer: from, name: hello.name, hero: hello.hero });
        if guests.len() + 1 < self.config.settings().players {
            self.tell_guests(out);
            return None;
        }
        let mut members: Vec<_> = guests.values().chain([&self.me]).cloned().collect();
        members.sort_by_key(|member| member.peer);
        let members = List::try_from(members).expect("the settings allow no more");
        let form = Form { seed: self.config.settings().seed, members };
        for guest in guests.keys() {
            out.reliably(Epoch::default(), *guest, &Message::Form(form.clone()));
        }
        self.begin(&form, now, out)
    }

    /// Tells both sides that a joiner cannot join.
    pub fn refuse(&mut self, peer: PeerId, name: &str, refusal: Refusal, out: &mut Out<S>) {
        let first = match &mut self.role {
            Role::Founder { past, .. } => past.insert(peer),
            Role::Joiner { .. } => false,
        };
        if !first {
            return out.dropped(DropReason::Unexpected);
        }
        out.reliably(Epoch::default(), peer, &Message::Refusal(refusal.clone()));
        out.events.push_back(Event::Refused { peer, name: name.to_owned(), refusal });
    }

    fn tell_guests(&self, out: &mut Out<S>) {
        if let Role::Founder { guests, .. } = &self.role {
            let (players, needed) = (guests.len() as u8 + 1, self.config.settings().players as u8);
            for guest in guests.keys() {
                out.reliably(Epoch::default(), *guest, &Message::Gathering(players, needed));
            }
        }
    }

    /// All are there: tick 0 is now.
    fn begin(&mut self, form: &Form, now: Duration, out: &mut Out<S>) -> Option<Play<S>> {
        let numbered = || form.members.iter().enumerate().map(|(n, member)| (PlayerId(n as u16), member));
        let Some((player, _)) = numbered().find(|(_, member)| member.peer == self.me.peer) else {
            out.dropped(DropReason::Unexpected);
            return None;
        };
        let mut simulation = (self.build)(form.seed);
        let entries: Option<Vec<_>> =
            numbered().map(|(player, member)| join(&simulation, player, &member.hero)).collect();
        let Some(entries) = entries else {
            out.end(EndReason::Refused(Refusal::Hero));
            return None;
        };
        let snapshot = simulation.snapshot();
        let (tick, bytes) = (simulation.tick(), simulation.encode(&snapshot));
        simulation.retire(snapshot);
        out.events.push_back(Event::Started { tick, seed: form.seed, player, snapshot: bytes });
        for (player, member) in numbered() {
            out.events.push_back(Event::PlayerJoined { player, name: member.name.as_str().to_owned() });
        }
        let settings = self.config.settings();
        // Until then a player has time to speak first.
        let silent_until = now + settings.handshake_timeout.saturating_sub(settings.silence_timeout);
        let others = numbered().filter(|(other, _)| *other != player);
        let remote = |(player, member): (PlayerId, &Member)| {
            Remote::new(member.peer, player, member.name.clone(), silent_until, tick, settings.input_delay_ticks)
        };
        let remotes = others.map(remote).collect();
        let players = numbered().map(|(player, _)| player).collect();
        let (interval_ticks, tell_trees) = (settings.checksum_interval_ticks, settings.tell_trees);
        let timeline = Timeline::new(simulation, players, entries, interval_ticks, tell_trees);
        let (config, name) = (self.config.clone(), self.me.name.clone());
        Some(Play::begin(Beginning { config, player, name, remotes, timeline, silent_until }, now))
    }

    /// Leaves before anything has begun.
    pub fn leave(&mut self, connected: &BTreeSet<PeerId>, out: &mut Out<S>) {
        for peer in connected {
            out.reliably(Epoch::default(), *peer, &Message::Bye(LeaveReason::Left));
        }
        out.end(EndReason::Left);
    }
}

/// A hero's way into the world, if the simulation can read it.
fn join<S: Simulation>(simulation: &S, player: PlayerId, hero: &[u8]) -> Option<Input<S>> {
    let hero = codec::read::<S::Hero>(hero, HERO_BYTES_MAX).ok()?;
    let join = simulation.admit(player, hero);
    (codec::compact(&join).len() <= JOIN_BYTES_MAX).then_some(Input::Join(player, join))
}
