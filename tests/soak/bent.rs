//! A production session with something wrong: in what it is asked and tells, or in what it says to
//! the others. With the latter in every peer, a rule of the protocol is broken.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range as Span;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lockstone::net::LinkEvent;
use lockstone::net::limits::COMMANDS_PER_PACKET_MAX;
use lockstone::net::link::PeerId;
use lockstone::net::session::{
    BranchError, CommandError, Event, EvidenceError, Phase, SayError, Session, Stats, Transmit,
};
use lockstone::net::wire::{self, Branch, CommandBytes, Electorate, Epoch, Message, RawInput, RawTurn, Turns};
use lockstone::sim::{Checksum, Input, PlayerId, Tick, Turn};
use lockstone::soak;
use testkit::faulty::{self, Order, Sim};

/// From then on.
const FROM: Duration = Duration::from_secs(5);
/// What is acknowledged early waits for so long.
const WAIT: Duration = Duration::from_secs(1);

/// These ticks a peer discards that discards some.
const DISCARDED: Span<Tick> = Tick(120)..Tick(130);

/// A session with something wrong.
pub struct Bent<T: Session> {
    session: T,
    fault: Option<Bend>,
    now: Cell<Duration>,
    me: Option<PeerId>,
    /// What is to go wrong once has.
    done: bool,
    /// The commands that each peer has reported, and when. The session hears of them later.
    reported: BTreeMap<PeerId, Vec<(Duration, CommandBytes)>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bend {
    /// Each command is given twice.
    Twice,
    /// Commands are taken, and not given.
    Swallows,
    /// Of one turn it tells that it was empty.
    ForgetsTurn,
    /// It tells one wrong checksum.
    LiesOnce,
    /// It plays some ticks that nobody else keeps, and loads the world anew.
    Discards,
    /// It does nothing any more.
    Stalls,
    /// It leaves, and nobody told it to.
    Deserts,
    /// Commands are swallowed in every other run.
    Whimsical,
    Panics,
    /// A vote is no promise: each member hears that it is voted for.
    VotesForAll,
    /// Nobody knows more than who is elected, whatever it knows.
    HidesTurns,
    /// Each counts its own vote alone.
    CountsItself,
    /// Commands are acknowledged before they are in a closed turn.
    AcknowledgesEarly,
    /// Only who leads keeps what the world asks for.
    ForgetsRequests,
    /// All branches have one name.
    NamesBranchesAlike,
}

/// The next run's whim.
static WHIM: AtomicBool = AtomicBool::new(false);

impl<T: Session<Sim = Sim>> Bent<T> {
    pub fn new(session: T, fault: Option<Bend>) -> Bent<T> {
        let whim = fault == Some(Bend::Whimsical) && WHIM.fetch_xor(true, Ordering::Relaxed);
        let fault = if whim { Some(Bend::Swallows) } else { fault };
        Bent { session, fault, now: Cell::default(), me: None, done: false, reported: BTreeMap::new() }
    }

    fn is(&self, bend: Bend) -> bool {
        self.fault == Some(bend) && self.now.get() >= FROM
    }

    /// Lets the session do something.
    fn act(&mut self, act: impl FnOnce(&mut T)) {
        let stats = (self.fault == Some(Bend::ForgetsRequests)).then(|| self.session.stats());
        faulty::hush(stats.is_some_and(|stats| stats.sequencer() != stats.player));
        act(&mut self.session);
        faulty::hush(false);
    }

    /// What a packet to another peer becomes.
    fn said(&self, to: PeerId, bytes: Vec<u8>) -> Vec<u8> {
        let Ok((epoch, mut message)) = wire::decode(&bytes) else { return bytes };
        match &mut message {
            Message::Stand(stand) if self.is(Bend::VotesForAll) && stand.vote.epoch > Epoch(0) => {
                stand.vote.leader = player_of(to);
                // Whoever breaks a promise signs the other one as well.
                let sign = |me: PeerId| stand.vote.signed(stand.known.branch, me, &soak::key(player_of(me).0));
                stand.proof = stand.proof.and(self.me.map(sign));
            }
            Message::Stand(stand) if self.is(Bend::HidesTurns) => stand.known.end = Tick(0),
            Message::Turns(turns) if self.is(Bend::AcknowledgesEarly) => {
                let reported = self.reported.get(&to).map_or(0, |commands| commands.len() as u32);
                turns.commands_taken = turns.commands_taken.max(reported);
            }
            _ => return bytes,
        }
        wire::encode(epoch, &message)
    }

    /// What a packet of another peer becomes.
    fn heard(&mut self, from: PeerId, bytes: Vec<u8>) -> Vec<u8> {
        let Ok((epoch, mut message)) = wire::decode(&bytes) else { return bytes };
        match &mut message {
            Message::Report(report) if self.fault == Some(Bend::AcknowledgesEarly) => {
                let (waits, now) = (self.is(Bend::AcknowledgesEarly), self.now.get());
                let reported = self.reported.entry(from).or_default();
                let known = (reported.len() as u32).saturating_sub(report.first_command) as usize;
                reported.extend(report.commands.iter().skip(known).map(|command| (now, command.clone())));
                let told = reported.iter().take_while(|(at, _)| !waits || now >= *at + WAIT);
                let told: Vec<_> = told.map(|(_, command)| command.clone()).collect();
                let first = told.len().saturating_sub(COMMANDS_PER_PACKET_MAX);
                report.first_command = first as u32;
                report.commands = told[first..].to_vec().try_into().expect("they are as many");
            }
            Message::Turns(turns) | Message::Fetched(turns) if self.fault == Some(Bend::CountsItself) => {
                let Some(me) = self.session.stats().player else { return bytes };
                *turns = counting(me, turns);
            }
            _ => return bytes,
        }
        wire::encode(epoch, &message)
    }
}

/// Players who enter one after the other are numbered as their peers are.
fn player_of(peer: PeerId) -> PlayerId {
    PlayerId(peer.arrival() as u16)
}

/// Turns in which nobody has a vote but one player.
fn counting(me: PlayerId, turns: &Turns) -> Turns {
    let alone = Electorate { members: vec![me].try_into().expect("it is one"), senior: me };
    let counted = |input: &RawInput| match input {
        RawInput::Electorate(_) => RawInput::Electorate(alone.clone()),
        other => other.clone(),
    };
    let of = |turn: &RawTurn| turn.iter().map(counted).collect::<Vec<_>>().try_into().expect("they are as many");
    let all = turns.turns.iter().map(|(after, turn)| (*after, of(turn))).collect::<Vec<_>>();
    Turns { turns: all.try_into().expect("they are as many"), ..turns.clone() }
}

impl<T: Session<Sim = Sim>> Session for Bent<T> {
    type Sim = Sim;

    fn handle(&mut self, event: LinkEvent, now: Duration) {
        if let LinkEvent::Entered(me) = event {
            self.me = Some(me);
        }
        let event = match event {
            LinkEvent::Packet { from, channel, bytes } => {
                LinkEvent::Packet { from, channel, bytes: self.heard(from, bytes) }
            }
            other => other,
        };
        if !self.is(Bend::Stalls) {
            self.act(|session| session.handle(event, now));
        }
    }

    fn advance(&mut self, now: Duration) {
        self.now.set(now);
        assert!(!self.is(Bend::Panics), "a planted panic");
        if self.is(Bend::Deserts) && !self.done {
            self.done = true;
            self.session.leave(now);
        }
        if !self.is(Bend::Stalls) {
            self.act(|session| session.advance(now));
        }
    }

    fn command(&mut self, command: Order) -> Result<(), CommandError> {
        if self.is(Bend::Swallows) {
            return Ok(());
        }
        if self.is(Bend::Twice) {
            self.session.command(command)?;
        }
        self.session.command(command)
    }

    fn say(&mut self, text: &str) -> Result<(), SayError> {
        self.session.say(text)
    }

    fn give_evidence(&mut self, bytes: Vec<u8>) -> Result<(), EvidenceError> {
        self.session.give_evidence(bytes)
    }

    fn leave(&mut self, now: Duration) {
        self.session.leave(now);
    }

    fn poll_transmit(&mut self) -> Option<Transmit> {
        let Transmit { to, channel, bytes } = self.session.poll_transmit()?;
        Some(Transmit { to, channel, bytes: self.said(to, bytes) })
    }

    fn poll_event(&mut self) -> Option<Event<Sim>> {
        let event = self.session.poll_event()?;
        let is_command = |input: &Input<Sim>| matches!(input, Input::Command(..));
        Some(match event {
            Event::Turn { tick, turn }
                if self.is(Bend::ForgetsTurn) && !self.done && turn.inputs.iter().any(is_command) =>
            {
                self.done = true;
                Event::Turn { tick, turn: Turn::EMPTY }
            }
            Event::Checksum { tick, checksum, tree } if self.is(Bend::LiesOnce) && !self.done => {
                self.done = true;
                Event::Checksum { tick, checksum: Checksum(checksum.0 ^ 1), tree }
            }
            Event::Checksum { tick, checksum, tree } if self.is(Bend::Discards) && DISCARDED.contains(&tick) => {
                Event::Checksum { tick, checksum: Checksum(checksum.0 ^ 1), tree }
            }
            Event::Checksum { tick, .. } if self.is(Bend::Discards) && !self.done && tick >= DISCARDED.end => {
                self.done = true;
                let player = self.session.stats().player.expect("it plays");
                Event::Started { tick, seed: 0, player, snapshot: Vec::new() }
            }
            Event::Branch { leader, .. } if self.is(Bend::NamesBranchesAlike) => {
                Event::Branch { branch: Branch(7), leader }
            }
            event => event,
        })
    }

    fn go_on_as_branch(&mut self) -> Result<(), BranchError> {
        self.session.go_on_as_branch()
    }

    fn wake_at(&self) -> Duration {
        if self.is(Bend::Stalls) { Duration::MAX } else { self.session.wake_at() }
    }

    fn simulation(&self) -> Option<&Sim> {
        self.session.simulation()
    }

    fn phase(&self) -> Phase {
        self.session.phase()
    }

    fn stats(&self) -> Stats {
        self.session.stats()
    }

    fn settled(&self) -> Tick {
        self.session.settled()
    }
}
