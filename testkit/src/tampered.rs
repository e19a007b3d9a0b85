//! A world in which one bit of the state is turned over at a tick, as when memory fails: on one
//! peer of a session alone.

use lockstone_sim::codec::{self, CodecError};
use lockstone_sim::world::{Given, Request, Snapshot, StateBit, StatePart, Zone};
use lockstone_sim::{CellId, Checksum, Dice, Input, PlayerId, Rules, Simulation, Tick, Turn, World, tamper};

use crate::storm::table;

/// A world that goes wrong.
pub struct Tampered<R: Rules> {
    pub world: World<R>,
    flip: Option<Flip>,
}

/// When a bit is turned over, and by which draws it is picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flip {
    pub tick: Tick,
    pub case: u64,
}

impl<R: Rules> Tampered<R> {
    pub fn new(world: World<R>, flip: Option<Flip>) -> Tampered<R> {
        Tampered { world, flip }
    }

    fn turn_over(&mut self, case: u64) {
        let parts = entities(&self.world);
        if !parts.is_empty() {
            let (_, turned) = turn_any(&mut self.world, &parts, &mut table().dice(case, Tick(0)));
            self.world.restore(&turned);
        }
    }
}

/// The entities of a world, by cell and id, and how long each one's encoding is.
pub fn entities<R: Rules>(world: &World<R>) -> Vec<(StatePart, usize)> {
    let len = |fields: Vec<codec::Field>| fields.last().map_or(0, |last| last.bytes.end);
    let mut parts = Vec::new();
    for cell in world.cells() {
        let entities = world.actors(cell).iter().chain(world.props(cell));
        parts.extend(entities.map(|e| (StatePart::Entity(cell, e.id), len(codec::fields(e)))));
    }
    // In the order of their names: that of the cells is no part of the state.
    parts.sort();
    parts
}

/// Any bit of those parts of the state, as long as there is such a state.
pub fn turn_any<R: Rules>(
    world: &mut World<R>,
    parts: &[(StatePart, usize)],
    dice: &mut Dice<'_>,
) -> (StateBit, Snapshot<R>) {
    let before = world.snapshot();
    loop {
        let &(of, bytes) = dice.pick(parts).expect("there are parts");
        let bit = StateBit { of, byte: dice.below(bytes as u32) as usize, bit: dice.below(8) as u8 };
        if let Some(turned) = tamper::with_bit_turned(&before, &bit) {
            return (bit, turned);
        }
    }
}

/// The turn as the world within takes it.
pub fn plain<R: Rules>(turn: &Turn<Tampered<R>>) -> Turn<World<R>> {
    Turn { inputs: turn.inputs.iter().map(inner).collect() }
}

fn inner<R: Rules>(input: &Input<Tampered<R>>) -> Input<World<R>> {
    match input.clone() {
        Input::Command(player, command) => Input::Command(player, command),
        Input::Join(player, join) => Input::Join(player, join),
        Input::Leave(player) => Input::Leave(player),
        Input::Request(request) => Input::Request(request),
        Input::Given(given) => Input::Given(given),
        Input::Away(player) => Input::Away(player),
        Input::Back(player) => Input::Back(player),
    }
}

impl<R: Rules> Simulation for Tampered<R> {
    type Command = R::Command;
    type Hero = R::Hero;
    type Join = <World<R> as Simulation>::Join;
    type Request = Request<R::Fact>;
    type Given = Given;
    type Snapshot = Snapshot<R>;

    fn tick(&self) -> Tick {
        self.world.tick()
    }

    fn step(&mut self, turn: &Turn<Self>) {
        self.world.step(&plain(turn));
        if let Some(Flip { case, .. }) = self.flip.take_if(|flip| flip.tick == self.world.tick()) {
            self.turn_over(case);
        }
    }

    fn requests(&self) -> &[Self::Request] {
        self.world.requests()
    }

    fn admit(&self, player: PlayerId, hero: R::Hero) -> Self::Join {
        self.world.admit(player, hero)
    }

    fn away_ticks(&self) -> u32 {
        self.world.away_ticks()
    }

    fn snapshot(&mut self) -> Snapshot<R> {
        self.world.snapshot()
    }

    fn restore(&mut self, snapshot: &Snapshot<R>) {
        self.world.restore(snapshot);
    }

    fn checksum(&mut self) -> Checksum {
        self.world.checksum()
    }

    fn tree(&mut self) -> Vec<(CellId, Checksum)> {
        self.world.tree()
    }

    fn rest_checksum(&mut self) -> Option<Checksum> {
        self.world.rest_checksum()
    }

    fn encode_parts(&self, snapshot: &Snapshot<R>, cells: &[CellId], rest: bool) -> Vec<u8> {
        self.world.encode_parts(snapshot, cells, rest)
    }

    fn replace_parts(&mut self, bytes: &[u8]) -> Result<(), CodecError> {
        self.world.replace_parts(bytes)
    }

    fn encode(&self, snapshot: &Snapshot<R>) -> Vec<u8> {
        self.world.encode(snapshot)
    }

    fn decode(&self, bytes: &[u8]) -> Result<Snapshot<R>, CodecError> {
        self.world.decode(bytes)
    }
}

/// Turns over some bits of one number of one entity. Returns whose, and which.
pub fn scribble<R: Rules>(world: &mut World<R>, dice: &mut Dice<'_>, bits: u32) -> (StatePart, String) {
    let is_core = |cell: &CellId| world.area().zone(*cell) == Zone::Core;
    let mut cells: Vec<_> = world.cells().filter(|cell| is_core(cell) && !world.actors(*cell).is_empty()).collect();
    cells.sort();
    let cell = *dice.pick(&cells).expect("somebody is there");
    let entity = dice.pick(world.actors(cell)).expect("the cell is not empty");
    let fields = codec::fields(entity).into_iter().filter(|field| field.path.starts_with("body"));
    let numbers: Vec<_> = fields.filter(|field| field.kind == codec::FieldKind::Number).collect();
    let (of, field) = (StatePart::Entity(cell, entity.id), dice.pick(&numbers).expect("beings have numbers").clone());
    let mut taken: Vec<u32> = (0..field.bytes.len() as u32 * 8).collect();
    dice.shuffle(&mut taken);
    for bit in taken.into_iter().take(bits as usize) {
        let bit = StateBit { of, byte: field.bytes.start + bit as usize / 8, bit: (bit % 8) as u8 };
        let turned = tamper::with_bit_turned(&world.snapshot(), &bit).expect("every number is one");
        world.restore(&turned);
    }
    (of, field.path)
}
