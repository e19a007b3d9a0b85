//! The end of a recording that is still going on, in memory: from the keyframe before the last on.
//!
//! ```text
//! | keyframe, events, trees | keyframe, events, trees ... now
//!   a segment is dropped when a third begins
//! ```
//!
//! It must never hold more than [`RING_BYTES_MAX`] for long: trees go first, the oldest of
//! them first, then the older segment. If one segment alone is too large, it holds nothing
//! until the next keyframe.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write};

use lockstone_net::limits::KEYFRAME_TICKS;
use lockstone_net::wire::{LeaveReason, PublicKey, Signed};
use lockstone_sim::{CellId, Checksum, PlayerId, Simulation, Tick, Turn};

use super::entry::{EntryOf, Plain};
use super::events::Events;
use super::format::{Desync, EVENTS_BYTES, Header};
use super::packed::Packed;
use super::rerun::PackedRerun;
use super::tree::{PartSum, Tree, TreeChange};
use super::writer::Writer;

/// What a ring may hold, in bytes of memory.
pub const RING_BYTES_MAX: usize = 16 * 1_024 * 1_024;
/// What an item takes beside its content.
const ITEM_BYTES: usize = 96;
/// Two segments: what is left is one of [`KEYFRAME_TICKS`] at least, once the session
/// is as old as that.
const SEGMENTS_MAX: usize = 2;

/// The last [`KEYFRAME_TICKS`] of a session at least, and twice as many at most, if it tells a
/// keyframe at every multiple of them.
pub struct Ring {
    /// What the recording says it is of, whatever its start.
    header: Header,
    segments: VecDeque<Segment>,
    /// What was not put into a segment yet.
    events: Events,
    /// The tree before the oldest that is held.
    base: Tree,
    names: BTreeMap<PlayerId, String>,
    bytes: usize,
    bytes_max: usize,
}

/// How much of what is held is written, counted from the end.
#[derive(Clone, Copy)]
struct Part {
    segments: usize,
    trees: usize,
}

/// From most to least.
const PARTS: [Part; 5] = [
    Part { segments: SEGMENTS_MAX, trees: usize::MAX },
    Part { segments: SEGMENTS_MAX, trees: 200 },
    Part { segments: SEGMENTS_MAX, trees: 40 },
    Part { segments: 1, trees: 40 },
    Part { segments: 1, trees: 0 },
];

/// From a keyframe, the first item, to the next segment's.
struct Segment {
    start: Tick,
    items: VecDeque<Item>,
}

enum Item {
    Events(Vec<u8>),
    Tree(TreeChange),
    Keyframe(Packed),
    Rerun(PackedRerun),
    Ledger(Vec<u8>),
}

impl Item {
    fn bytes(&self) -> usize {
        let content = match self {
            Item::Events(bytes) => bytes.capacity(),
            Item::Tree(TreeChange { changed, gone }) => {
                changed.capacity() * size_of::<(CellId, PartSum)>() + gone.capacity() * size_of::<CellId>()
            }
            Item::Keyframe(snapshot) => snapshot.bytes().len(),
            Item::Rerun(rerun) => rerun.bytes().len(),
            Item::Ledger(ledger) => ledger.capacity(),
        };
        ITEM_BYTES + content
    }

    fn is_tree(&self) -> bool {
        matches!(self, Item::Tree(_))
    }
}

impl Segment {
    fn bytes(&self) -> usize {
        self.items.iter().map(Item::bytes).sum()
    }
}

impl Ring {
    /// Begins with the state at the header's `start`.
    pub fn new(header: Header, snapshot: Packed) -> Self {
        Ring::bounded(header, snapshot, RING_BYTES_MAX)
    }

    /// As [`new`](Ring::new), with another bound than [`RING_BYTES_MAX`].
    pub fn bounded(header: Header, snapshot: Packed, bytes_max: usize) -> Self {
        let (start, base, names) = (header.start, Tree::default(), BTreeMap::new());
        let (segments, events) = (VecDeque::new(), Events::starting_at(start));
        let mut ring = Ring { header, segments, events, base, names, bytes: 0, bytes_max };
        ring.begin(start, snapshot);
        ring
    }

    /// A turn was played.
    pub fn turn<S: Simulation>(&mut self, tick: Tick, turn: &Turn<S>) {
        self.events.at(tick, &EntryOf::Turn(turn));
        self.close_if(EVENTS_BYTES);
    }

    /// The checksum of the state before the turn of a tick.
    pub fn checksum(&mut self, tick: Tick, checksum: Checksum) {
        self.events.at(tick, &Plain::Checksum(checksum));
        self.close_if(EVENTS_BYTES);
    }

    /// The parts of the state before the turn of a tick.
    pub fn tree(&mut self, tick: Tick, parts: &[(CellId, Checksum)]) {
        if let Some(change) = self.events.tree(tick, parts) {
            self.close_if(0);
            self.push(Item::Tree(change));
        }
    }

    /// The state before the turn of a tick.
    pub fn keyframe(&mut self, tick: Tick, snapshot: Packed) {
        self.events.pass_to(tick);
        self.close_if(0);
        if self.segments.is_empty() || tick.0.is_multiple_of(KEYFRAME_TICKS) {
            self.begin(tick, snapshot);
        } else {
            self.push(Item::Keyframe(snapshot));
        }
    }

    /// What came out when what is held was played again.
    pub fn rerun(&mut self, rerun: PackedRerun) {
        self.close_if(0);
        self.push(Item::Rerun(rerun));
    }

    /// What the turns so far say beside the last state.
    pub fn ledger(&mut self, ledger: Vec<u8>) {
        self.close_if(0);
        self.push(Item::Ledger(ledger));
    }

    /// Who plays a player that came with the last turn.
    pub fn member(&mut self, player: PlayerId, key: Option<PublicKey>) {
        self.events.push(&Plain::Member(player, key));
    }

    /// Why a player left with the last turn, or is away since.
    pub fn gone(&mut self, player: PlayerId, reason: LeaveReason) {
        self.events.push(&Plain::Gone(player, reason));
    }

    /// What a player signed.
    pub fn signed(&mut self, signed: Signed) {
        self.events.push(&Plain::Signed(signed));
    }

    /// A player's name.
    pub fn name(&mut self, player: PlayerId, name: &str) {
        self.names.insert(player, name.to_owned());
    }

    /// The names that it was told.
    pub fn names(&self) -> &BTreeMap<PlayerId, String> {
        &self.names
    }

    /// A difference was found.
    pub fn desync(&mut self, desync: Desync) {
        self.events.push(&Plain::Desync(desync));
    }

    /// The ticks before this one were played, and nothing more entered them.
    pub fn reached(&mut self, tick: Tick) {
        self.events.pass_to(tick.max(self.events.next));
    }

    /// What it holds, in bytes of memory.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The first tick that was not told yet.
    pub fn tick(&self) -> Tick {
        self.events.next
    }

    /// The tick that a recording of it begins at, if it holds one.
    pub fn start(&self) -> Option<Tick> {
        self.segments.front().map(|segment| segment.start)
    }

    /// Begins a recording with all that is held. It is at this ring's tick then, and can be given
    /// what comes next.
    ///
    /// # Errors
    /// What the output says, or that nothing is held.
    pub fn save<W: Write>(&self, out: W) -> io::Result<Writer<W>> {
        self.save_part(out, Part { segments: SEGMENTS_MAX, trees: usize::MAX })
    }

    /// A recording of all that is held; empty if nothing is.
    pub fn write(&self) -> Vec<u8> {
        self.save(Vec::new()).and_then(Writer::into_output).unwrap_or_default()
    }

    /// A recording of as much as fits into so many bytes: what is left out first is trees, then the
    /// older segment. `None` if nothing fits.
    pub fn write_within(&self, bytes_max: usize) -> Option<Vec<u8>> {
        let written = |part| self.save_part(Vec::new(), part).and_then(Writer::into_output).ok();
        PARTS.into_iter().filter_map(written).find(|bytes| bytes.len() <= bytes_max)
    }

    fn save_part<W: Write>(&self, out: W, part: Part) -> io::Result<Writer<W>> {
        let skipped = self.segments.len().saturating_sub(part.segments);
        let mut items = self.segments.range(skipped..).flat_map(|segment| &segment.items);
        let (Some(first), Some(Item::Keyframe(snapshot))) = (self.segments.get(skipped), items.next()) else {
            return Err(io::Error::other("a minute of play was too large to be kept"));
        };
        let header = Header { start: first.start, ..self.header.clone() };
        let mut writer = Writer::begin(out, &header, snapshot)?;
        self.names.iter().for_each(|(player, name)| writer.name(*player, name));
        let mut base = self.base.clone();
        self.segments.range(..skipped).flat_map(|segment| &segment.items).for_each(|item| pass(&mut base, item));
        let trees = items.clone().filter(|item| item.is_tree()).count();
        let (mut trees_skipped, mut base) = (trees.saturating_sub(part.trees), Some(base));
        for item in items {
            match &mut base {
                Some(base) if trees_skipped > 0 && item.is_tree() => {
                    trees_skipped -= 1;
                    pass(base, item);
                }
                _ => write(&mut writer, item, &mut base)?,
            }
        }
        writer.encoded(&self.events.bytes)?;
        writer.resume(self.events.next, self.events.tree.clone())?;
        Ok(writer)
    }

    fn begin(&mut self, start: Tick, snapshot: Packed) {
        if self.segments.len() == SEGMENTS_MAX {
            self.drop_segment();
        }
        let segment = Segment { start, items: VecDeque::from([Item::Keyframe(snapshot)]) };
        self.bytes += segment.bytes();
        self.segments.push_back(segment);
        self.trim();
    }

    /// Puts events into the segment, if they have more than so many bytes.
    fn close_if(&mut self, bytes: usize) {
        if self.events.bytes.len() > bytes {
            let events = self.events.bytes.as_slice().to_vec();
            self.events.bytes.clear();
            self.push(Item::Events(events));
        }
    }

    fn push(&mut self, item: Item) {
        match self.segments.back_mut() {
            Some(segment) => {
                self.bytes += item.bytes();
                segment.items.push_back(item);
                self.trim();
            }
            // Nothing is held until the next keyframe.
            None => pass(&mut self.base, &item),
        }
    }

    fn trim(&mut self) {
        while self.bytes > self.bytes_max && self.drop_tree() {}
        while self.bytes > self.bytes_max && self.drop_segment() {}
    }

    fn drop_segment(&mut self) -> bool {
        let Some(segment) = self.segments.pop_front() else { return false };
        self.bytes -= segment.bytes();
        segment.items.iter().for_each(|item| pass(&mut self.base, item));
        true
    }

    fn drop_tree(&mut self) -> bool {
        let oldest = |segment: &mut Segment| segment.items.remove(segment.items.iter().position(Item::is_tree)?);
        let Some(tree) = self.segments.iter_mut().find_map(oldest) else { return false };
        self.bytes -= tree.bytes();
        pass(&mut self.base, &tree);
        true
    }
}

/// What is no longer held still counts for the trees that come after it.
fn pass(base: &mut Tree, item: &Item) {
    if let Item::Tree(change) = item {
        base.apply(change);
    }
}

/// Writes an item. The first tree that is written is whole: `base` is what came before it.
fn write<W: Write>(writer: &mut Writer<W>, item: &Item, base: &mut Option<Tree>) -> io::Result<()> {
    match item {
        Item::Events(events) => writer.encoded(events),
        Item::Keyframe(snapshot) => writer.packed(snapshot),
        Item::Rerun(rerun) => writer.rerun(rerun),
        Item::Ledger(ledger) => writer.ledger(ledger),
        Item::Tree(change) => match base.take() {
            None => writer.tree_change(change),
            Some(mut tree) => {
                tree.apply(change);
                writer.tree_change(&Tree::default().change_to(&tree))
            }
        },
    }
}
