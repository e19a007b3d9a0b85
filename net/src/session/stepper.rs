//! The simulation of one peer, stepped by turns as bytes. Every peer that plays turns has one: both
//! roles of a party, both ends of a relay session. It is the only place where their worlds change.
//! The world that it [shows](Stepper::shown) may be ahead of it.

use core::ops::RangeInclusive;
use std::collections::BTreeMap;

use lockstone_sim::codec::CodecError;
use lockstone_sim::{Checksum, Input, PlayerId, Simulation, Tick, Turn, codec};

use super::{Build, DropReason, Event, Exchange, Following, Founded, Ledger, Outbox, PlayerStats, Right};
use crate::ahead::Ahead;
use crate::limits::*;
use crate::wire::{Name, Nearby, RawInput};

pub struct Stepper<S: Simulation> {
    /// The confirmed world.
    pub simulation: S,
    pub player: PlayerId,
    /// That of the session: who leads it later may have settings of its own.
    pub seed: u64,
    /// The players who are here.
    pub roster: BTreeMap<PlayerId, Name>,
    /// Those who were, and are away.
    away: BTreeMap<PlayerId, Name>,
    /// This world's newest checksums.
    pub checksums: BTreeMap<Tick, Checksum>,
    settings: Following,
    /// What the turns that were played say beside the world. Those of a part do not say it.
    pub ledger: Option<Box<Ledger>>,
    /// The tick of the keyframe that was told last.
    keyframe: Option<Tick>,
    /// Once it has looked ahead.
    ahead: Option<Box<Ahead<S>>>,
}

impl<S: Simulation> Stepper<S> {
    /// Sets up the world of a session as its founder begins it.
    pub fn found(founded: Founded<S>, settings: Following, out: &mut Outbox<S>) -> Self {
        let Founded { seed, mut simulation, ledger, player } = founded;
        let snapshot = simulation.encoded();
        Stepper::begin(simulation, snapshot, (player, seed), Some(ledger), settings, out)
    }

    /// Sets up a world as it begins here, and tells so. `snapshot` is the simulation's state,
    /// serialised; `ledger` what goes with it, where that is known.
    pub fn begin(
        simulation: S,
        snapshot: Vec<u8>,
        (player, seed): (PlayerId, u64),
        ledger: Option<Ledger>,
        settings: Following,
        out: &mut Outbox<S>,
    ) -> Self {
        let (roster, away, checksums) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let (ledger, keyframe, ahead) = (ledger.map(Box::new), None, None);
        let mut stepper =
            Stepper { simulation, player, seed, roster, away, checksums, settings, ledger, keyframe, ahead };
        stepper.emit_start(snapshot, out);
        stepper
    }

    pub fn tick(&self) -> Tick {
        self.simulation.tick()
    }

    /// Whether this peer's own hero is in the world.
    pub fn plays(&self) -> bool {
        self.roster.contains_key(&self.player)
    }

    /// A line of figures for each player. `exchange` has those of the exchange with a player's
    /// peer, if there is one.
    pub fn players(&self, sequencer: PlayerId, exchange: impl Fn(PlayerId) -> Option<Exchange>) -> Vec<PlayerStats> {
        let line = |(player, name): (&PlayerId, &Name)| PlayerStats {
            player: *player,
            name: name.as_str().to_owned(),
            own: *player == self.player,
            sequencer: *player == sequencer,
            exchange: exchange(*player),
            key: None,
        };
        self.roster.iter().map(line).collect()
    }

    /// Who is away, as the closed turns say, with the names that are known here.
    pub fn away(&self, ledger: &Ledger) -> Vec<(PlayerId, Option<String>)> {
        let named = |player| self.away.get(&player).map(|name| name.as_str().to_owned());
        ledger.away().map(|(player, _)| (player, named(player))).collect()
    }

    /// A player is in the world, and is called so.
    pub fn enrol(&mut self, player: PlayerId, name: &Name, out: &mut Outbox<S>) {
        self.roster.insert(player, name.clone());
        out.events.push_back(Event::PlayerJoined { player, name: name.as_str().to_owned() });
    }

    /// Other players' heroes came into the part of the world that is known here, or went out of it.
    pub fn meet(&mut self, nearby: Nearby, out: &mut Outbox<S>) {
        for player in nearby.went.iter().filter(|player| **player != self.player) {
            self.roster.remove(player);
            self.away.remove(player);
        }
        for (player, name) in nearby.came.into_vec().into_iter().filter(|(player, _)| *player != self.player) {
            if self.roster.insert(player, name.clone()).is_none() {
                out.events.push_back(Event::PlayerNear { player, name: name.as_str().to_owned() });
            }
        }
    }

    /// Plays the next turn, at its end with what the simulation is given from outside. Returns the
    /// checksum after it, if one is due.
    pub fn play(&mut self, raw: &[RawInput], given: Vec<S::Given>, out: &mut Outbox<S>) -> Option<(Tick, Checksum)> {
        let tick = self.simulation.tick();
        let turn = turn(raw, given, || out.dropped(DropReason::BadInput));
        // It is told before it is played: if the rules panic in it, it is on record.
        let is_told = !turn.inputs.is_empty();
        if is_told {
            out.events.push_back(Event::Turn { tick, turn });
        }
        let turn = match out.events.back() {
            Some(Event::Turn { turn, .. }) if is_told => turn,
            _ => &Turn::EMPTY,
        };
        self.simulation.step(turn);
        if let Some(ledger) = &mut self.ledger {
            let refused = ledger.played(tick, raw, &self.simulation);
            out.stats.drops.add(DropReason::RequestFlood, refused);
        }
        if let Some(ahead) = &mut self.ahead {
            ahead.played(turn);
        }
        raw.iter().for_each(|input| self.follow_roster(input, out));
        self.check(out)
    }

    /// Looks as many ticks ahead as are wanted, and at most may be, by what is known or assumed of
    /// ticks. Returns how many ticks it has simulated.
    pub fn look_ahead(
        &mut self,
        build: &Build<S>,
        ticks: (RangeInclusive<u32>, u32),
        turn: impl Fn(Tick) -> Turn<S>,
        out: &mut Outbox<S>,
    ) -> u32 {
        let seed = self.seed;
        let ahead = self.ahead.get_or_insert_with(|| Box::new(Ahead::new(build(seed))));
        ahead.look(&mut self.simulation, self.player, ticks, turn, out.stats.ahead.get_or_insert_default())
    }

    /// The world as this peer's player sees it: the predicted one, if it has looked ahead from this
    /// tick.
    pub fn shown(&self) -> &S {
        self.ahead.as_ref().and_then(|ahead| ahead.predicted(self.tick())).unwrap_or(&self.simulation)
    }

    /// Puts in what is right, if a state of the promised checksum comes of it, and tells the world
    /// anew.
    pub fn repair(&mut self, right: &Right, promised: Checksum, out: &mut Outbox<S>) -> Result<(), CodecError> {
        let (tick, before) = (self.tick(), self.simulation.snapshot());
        let put = match right.is_whole {
            true => self.simulation.restore_from(&right.bytes),
            false => self.simulation.replace_parts(&right.bytes),
        };
        let is_right = self.simulation.tick() == tick && self.simulation.checksum() == promised;
        if put.is_err() || !is_right {
            self.simulation.restore(&before);
        }
        self.simulation.retire(before);
        put?;
        if !is_right {
            return Err(CodecError::Malformed("another state than was promised"));
        }
        (self.ahead, self.keyframe) = (None, None);
        self.checksums.clear();
        // An odd world may have asked for other things.
        if let Some(ledger) = &mut self.ledger {
            ledger.resume_requests(right.requests.clone().into_vec(), core::iter::empty());
        }
        let snapshot = self.simulation.encoded();
        let checksum = self.emit_start(snapshot, out);
        if tick.0.is_multiple_of(self.settings.checksum_interval_ticks) {
            self.checksums.insert(tick, checksum);
        }
        Ok(())
    }

    /// Tells a world that begins with this state, which is serialised too, and all that goes with
    /// it. Returns its checksum: a world that was read from bytes has its say before anything
    /// changes it.
    fn emit_start(&mut self, snapshot: Vec<u8>, out: &mut Outbox<S>) -> Checksum {
        let (tick, seed, player) = (self.tick(), self.seed, self.player);
        out.events.push_back(Event::Started { tick, seed, player, snapshot });
        self.emit_branch(None, out);
        self.emit_ledger(out);
        // Those who are in the session already are known by keys.
        let members = self.ledger.iter().flat_map(|ledger| &ledger.members);
        out.events.extend(members.map(|(&player, member)| Event::Member { player, key: member.key }));
        self.emit_checksum(out)
    }

    /// Tells a copy of the state as it is now, if it was not told yet.
    pub fn emit_keyframe(&mut self, out: &mut Outbox<S>) {
        let tick = self.simulation.tick();
        if self.keyframe.replace(tick) != Some(tick) {
            out.events.push_back(Event::Keyframe { tick, snapshot: self.simulation.snapshot() });
        }
    }

    fn follow_roster(&mut self, input: &RawInput, out: &mut Outbox<S>) {
        match input {
            RawInput::Join(player, name, _) => self.enrol(*player, name, out),
            RawInput::Back(player, name) => {
                self.away.remove(player);
                self.roster.insert(*player, name.clone());
                out.events.push_back(Event::PlayerBack { player: *player, name: name.as_str().to_owned() });
            }
            RawInput::Away(player, reason) => {
                self.away.extend(self.roster.remove_entry(player));
                out.events.push_back(Event::PlayerAway { player: *player, reason: *reason });
            }
            RawInput::Leave(player, reason) => {
                self.away.remove(player);
                self.roster.remove(player);
                out.events.push_back(Event::PlayerLeft { player: *player, reason: *reason });
            }
            RawInput::Command(..) | RawInput::Request(_) => {}
            RawInput::Member(player, _, key) => {
                out.events.push_back(Event::Member { player: *player, key: *key });
            }
            RawInput::Branch(vote) => self.emit_branch(Some(vote.leader), out),
            RawInput::Electorate(_) | RawInput::Settled => {}
        }
    }

    /// Tells what came out of a tick. Returns the checksum, if it is one that is compared.
    fn check(&mut self, out: &mut Outbox<S>) -> Option<(Tick, Checksum)> {
        let tick = self.simulation.tick();
        // First the keyframe: what begins with it has its checksum too.
        if tick.0.is_multiple_of(KEYFRAME_TICKS) {
            self.emit_keyframe(out);
            self.emit_ledger(out);
        }
        let checksum = self.emit_checksum(out);
        if !tick.0.is_multiple_of(self.settings.checksum_interval_ticks) {
            return None;
        }
        self.checksums.insert(tick, checksum);
        if self.checksums.len() > CHECKSUMS_KEPT_MAX {
            self.checksums.pop_first();
        }
        Some((tick, checksum))
    }

    /// Tells which history is played from here on, and who begins it, if someone does.
    fn emit_branch(&self, leader: Option<PlayerId>, out: &mut Outbox<S>) {
        if let Some(ledger) = &self.ledger {
            out.events.push_back(Event::Branch { branch: ledger.branch, leader });
        }
    }

    /// Tells what goes with the state as it is now.
    fn emit_ledger(&self, out: &mut Outbox<S>) {
        if let Some(ledger) = &self.ledger {
            out.events.push_back(Event::Ledger { tick: self.simulation.tick(), ledger: ledger.encode() });
        }
    }

    fn emit_checksum(&mut self, out: &mut Outbox<S>) -> Checksum {
        let (tick, checksum) = (self.simulation.tick(), self.simulation.checksum());
        let tells_tree = self.settings.tree_interval_ticks.is_some_and(|interval| tick.0.is_multiple_of(interval));
        let tree = if tells_tree { self.simulation.tree() } else { Vec::new() };
        out.events.push_back(Event::Checksum { tick, checksum, tree });
        checksum
    }
}

/// A turn as the simulation takes it, with what it is given at the end of it. An input that cannot
/// be read is passed over. Every peer passes over the same ones, because all read the same bytes by
/// the same rules.
pub fn turn<S: Simulation>(raw: &[RawInput], given: Vec<S::Given>, mut passed_over: impl FnMut()) -> Turn<S> {
    let inputs = raw.iter().filter_map(|input| read(input)?.map_err(|_| passed_over()).ok());
    Turn { inputs: inputs.chain(given.into_iter().map(Input::Given)).collect() }
}

/// `None`: it does not concern the simulation.
fn read<S: Simulation>(raw: &RawInput) -> Option<Result<Input<S>, CodecError>> {
    let input = match raw {
        RawInput::Member(..) | RawInput::Electorate(_) | RawInput::Settled | RawInput::Branch(_) => return None,
        RawInput::Command(player, bytes) => {
            codec::read(bytes, COMMAND_BYTES_MAX).map(|command| Input::Command(*player, command))
        }
        RawInput::Join(player, _, bytes) => codec::read(bytes, JOIN_BYTES_MAX).map(|join| Input::Join(*player, join)),
        RawInput::Leave(player, _) => Ok(Input::Leave(*player)),
        RawInput::Away(player, _) => Ok(Input::Away(*player)),
        RawInput::Back(player, _) => Ok(Input::Back(*player)),
        RawInput::Request(bytes) => codec::read(bytes, REQUEST_BYTES_MAX).map(Input::Request),
    };
    Some(input)
}
