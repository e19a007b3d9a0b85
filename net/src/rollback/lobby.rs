//! Before tick 0: players find each other, the founder lets them in, and all begin together.

use core::time::Duration;

use lockstone_sim::{Input, PlayerId, Simulation, codec};

use super::config::RollbackConfig;
use super::play::{Beginning, Play};
use super::remote::Remote;
use super::stories::Stories;
use super::timeline::Timeline;
use crate::key::PlayerKey;
use crate::limits::*;
use crate::link::PeerId;
use crate::session::{
    Ballots, Build, CommandError, DropReason, EndReason, Entrant, Event, Greeting, Io, Leader, Outbox, Phase, Role,
    Roll, Stats,
};
use crate::wire::*;

pub struct Lobby<S: Simulation> {
    config: RollbackConfig,
    terms: Terms,
    build: Build<S>,
    key: Option<PlayerKey>,
    me: Member,
    place: Place<S>,
    /// The session, once it has begun.
    begun: Option<Box<dyn Role<S>>>,
}

enum Place<S> {
    /// The room's first peer: lets others in.
    Founder {
        /// The world before tick 0, to see whether heroes fit in.
        simulation: S,
        guests: Roll<Member>,
    },
    /// Everyone else: waits to be let in.
    Joiner {
        greeting: Greeting,
        /// The founder, once it can be spoken to: then only its word counts.
        founder: Option<Leader>,
        /// Players that are there, and that are needed, once the founder has told.
        gathered: Option<(u8, u8)>,
    },
}

impl<S: Simulation> Lobby<S> {
    /// This peer is in the room, as `me`.
    pub(super) fn new(config: RollbackConfig, entrant: &Entrant<S>, me: PeerId, now: Duration) -> Self {
        let (settings, hello) = (config.settings(), entrant.hello());
        let me = Member { peer: me, name: hello.name.clone(), hero: hello.hero.clone(), key: hello.key };
        let place = match Leader::of_room(me.peer) {
            Some(_) => Place::Founder {
                simulation: (entrant.build)(settings.seed),
                guests: Roll::new(entrant.terms, settings.players),
            },
            None => Place::Joiner {
                greeting: Greeting::new(hello, settings.handshake_timeout, now),
                founder: None,
                gathered: None,
            },
        };
        Lobby {
            config,
            terms: entrant.terms,
            build: entrant.build.clone(),
            key: entrant.key.clone(),
            me,
            place,
            begun: None,
        }
    }

    /// Lets a joiner in, or says why not. Begins once all are there.
    fn hello(&mut self, from: PeerId, hello: Hello, io: &mut Io<S>) {
        let Place::Founder { simulation, guests } = &mut self.place else { return };
        if guests.hello(from, &hello, |_| true, &mut io.out).is_none() {
            return;
        }
        if join(simulation, PlayerId(1), &hello.hero).is_none() {
            return guests.refuse(from, hello.name.as_str(), Refusal::Hero, &mut io.out);
        }
        let player = match guests.number(1) {
            Ok(player) => player,
            Err(full) => return guests.refuse(from, hello.name.as_str(), full, &mut io.out),
        };
        guests.insert(from, player, Member { peer: from, name: hello.name, hero: hello.hero, key: hello.key });
        if guests.len() + 1 < self.config.settings().players {
            return self.send_gathering(&mut io.out);
        }
        let mut members: Vec<_> = guests.iter().map(|(_, guest)| guest).chain([&self.me]).cloned().collect();
        members.sort_by_key(|member| member.peer);
        let members = List::try_from(members).expect("the settings allow no more");
        let form = Form { seed: self.config.settings().seed, members };
        for (guest, _) in guests.peers() {
            io.out.reliably(Epoch::default(), guest, &Message::Form(form.clone()));
        }
        self.begin(&form, io);
    }

    fn remove(&mut self, peer: PeerId, out: &mut Outbox<S>) {
        if let Place::Founder { guests, .. } = &mut self.place {
            let left = guests.remove(peer).is_some();
            guests.forget(peer);
            if left {
                self.send_gathering(out);
            }
        }
    }

    fn send_gathering(&self, out: &mut Outbox<S>) {
        if let Place::Founder { guests, .. } = &self.place {
            let (players, needed) = (guests.len() as u8 + 1, self.config.settings().players as u8);
            for (guest, _) in guests.peers() {
                out.reliably(Epoch::default(), guest, &Message::Gathering(players, needed));
            }
        }
    }

    /// All are there: tick 0 is now.
    fn begin(&mut self, form: &Form, io: &mut Io<S>) {
        let (out, now) = (&mut io.out, io.now);
        let numbered = || form.members.iter().enumerate().map(|(n, member)| (PlayerId(n as u16), member));
        let Some((player, _)) = numbered().find(|(_, member)| member.peer == self.me.peer) else {
            return out.dropped(DropReason::Unexpected);
        };
        let mut simulation = (self.build)(form.seed);
        let entries: Option<Vec<_>> =
            numbered().map(|(player, member)| join(&simulation, player, &member.hero)).collect();
        let Some(entries) = entries else { return out.end(EndReason::Refused(Refusal::Hero)) };
        let (tick, seed, snapshot) = (simulation.tick(), form.seed, simulation.encoded());
        out.events.push_back(Event::Started { tick, seed, player, snapshot });
        for (player, member) in numbered() {
            out.events.push_back(Event::PlayerJoined { player, name: member.name.as_str().to_owned() });
            out.events.push_back(Event::Member { player, key: member.key });
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
        let keys = numbered().filter_map(|(player, member)| Some((player, member.peer, member.key?)));
        let stories = Stories::new(player, self.key.clone(), keys, tick);
        let (interval_ticks, emit_trees) = (settings.checksum_interval_ticks, settings.emit_trees);
        let timeline = Timeline::new(simulation, players, entries, interval_ticks, emit_trees);
        let (config, terms, name) = (self.config.clone(), self.terms, self.me.name.clone());
        let again = self.build.clone();
        let build = Box::new(move || again(seed));
        let ballots = Ballots::of((player, self.me.peer), self.key.clone(), Epoch::default());
        let beginning =
            Beginning { config, terms, player, name, seed, remotes, timeline, build, stories, ballots, silent_until };
        self.begun = Some(Box::new(Play::begin(beginning, now)));
    }
}

impl<S: Simulation> Role<S> for Lobby<S> {
    fn connected(&mut self, peer: PeerId, io: &mut Io<S>) {
        if let Place::Joiner { greeting, founder, .. } = &mut self.place {
            *founder = founder.or(Leader::of_room(peer));
            greeting.connected(peer, io.now, &mut io.out);
        }
    }

    fn disconnected(&mut self, peer: PeerId, io: &mut Io<S>) {
        match &mut self.place {
            Place::Founder { .. } => self.remove(peer, &mut io.out),
            Place::Joiner { founder: Some(founder), .. } if founder.peer == peer => {
                io.out.end(EndReason::SequencerLost { silent: false });
            }
            Place::Joiner { greeting, .. } => greeting.disconnected(peer),
        }
    }

    fn foreign(&mut self, from: PeerId, refusal: Refusal, io: &mut Io<S>) {
        match &mut self.place {
            Place::Founder { guests, .. } => guests.refuse(from, "", refusal, &mut io.out),
            Place::Joiner { .. } => io.out.dropped(DropReason::Unexpected),
        }
    }

    fn epoch(&self) -> Option<Epoch> {
        None
    }

    fn handle(&mut self, from: PeerId, _: Epoch, message: Message, io: &mut Io<S>) {
        if let Place::Founder { .. } = &self.place {
            return match message {
                Message::Hello(hello) => self.hello(from, hello, io),
                Message::Bye(_) => self.remove(from, &mut io.out),
                _ => io.out.dropped(DropReason::Unexpected),
            };
        }
        let Place::Joiner { greeting, founder, gathered } = &mut self.place else { return };
        let of_founder = Leader::of_room(from).is_some();
        match message {
            // Others may have begun already.
            Message::Hello(_) | Message::Inputs(_) => {}
            Message::Elsewhere(peer) => greeting.sent_on(from, peer, io.now),
            // Of a session in progress without its founder any player may say that it
            // takes nobody in.
            Message::Refusal(refusal) if of_founder || refusal == Refusal::Begun && founder.is_none() => {
                greeting.refused(from, refusal, &mut io.out);
            }
            Message::Gathering(players, needed) if of_founder => *gathered = Some((players, needed)),
            Message::Form(form) if of_founder => self.begin(&form, io),
            Message::Bye(_) if of_founder => io.out.end(EndReason::SequencerLeft),
            _ => io.out.dropped(DropReason::Unexpected),
        }
    }

    fn advance(&mut self, io: &mut Io<S>) {
        if let Place::Joiner { gathered: None, greeting, .. } = &mut self.place {
            greeting.advance(io.now, &mut io.out);
        }
    }

    /// A joiner that nobody has let in says hello again, and gives up.
    fn wake_at(&self, _: Duration) -> Duration {
        match &self.place {
            Place::Joiner { gathered: None, greeting, .. } => greeting.wake_at(),
            _ => Duration::MAX,
        }
    }

    fn command(&mut self, _: CommandBytes) -> Result<(), CommandError> {
        Err(CommandError::NotPlaying)
    }

    fn say(&mut self, _: ChatLine, _: &mut Io<S>) {}

    fn leave(&mut self, io: &mut Io<S>) {
        for peer in io.ingress.peers() {
            io.out.reliably(Epoch::default(), peer, &Message::Bye(LeaveReason::Left));
        }
    }

    fn phase(&self) -> Phase {
        match &self.place {
            Place::Founder { guests, .. } => {
                Phase::Waiting { players: guests.len() + 1, needed: self.config.settings().players }
            }
            Place::Joiner { gathered: Some((players, needed)), .. } => {
                Phase::Waiting { players: usize::from(*players), needed: usize::from(*needed) }
            }
            Place::Joiner { gathered: None, .. } => Phase::Connecting,
        }
    }

    /// The world that all begin with is not there yet.
    fn simulation(&self) -> Option<&S> {
        None
    }

    fn figures(&self, _: &mut Stats, _: &Outbox<S>) {}

    fn is_over(&self) -> bool {
        self.begun.is_some()
    }

    fn next(mut self: Box<Self>, _: &mut Io<S>) -> Box<dyn Role<S>> {
        self.begun.take().unwrap_or(self)
    }
}

/// A hero's way into the world, if the simulation can read it.
fn join<S: Simulation>(simulation: &S, player: PlayerId, hero: &[u8]) -> Option<Input<S>> {
    let hero = codec::read::<S::Hero>(hero, HERO_BYTES_MAX).ok()?;
    let join = simulation.admit(player, hero);
    (codec::compact(&join).len() <= JOIN_BYTES_MAX).then_some(Input::Join(player, join))
}
