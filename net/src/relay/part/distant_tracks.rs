//! What a replica's player sees from afar: takes what the relay tells, and follows it to the tick
//! of the replica's own world.
//!
//! It reads the world, and never changes it. Whatever comes, it keeps no more than a party and the
//! landmarks of a world.

use std::collections::{BTreeMap, VecDeque};

use lockstone_sim::{PlayerId, Rules, Simulation, Tick, World, codec};

use crate::limits::*;
use crate::relay::dead_reckoning::DeadReckoning;
use crate::relay::horizon::Horizon;
use crate::session::{Companion, DistantView, Landmark};
use crate::wire::{Distant, Landmarks, Track};

/// Tracks of one hero that wait for their tick.
const TRACKS_MAX: usize = 8;

pub(super) struct DistantTracks<R: Rules> {
    horizon: Box<dyn Horizon<R>>,
    scratch: R::Scratch,
    newest: Option<Tick>,
    companions: BTreeMap<PlayerId, Tracks<R>>,
    landmarks: BTreeMap<u16, Landmark>,
}

/// The track that a hero is on, and those that follow on it, each with the tick from which on it
/// counts. `None`: not seen any more.
type Tracks<R> = VecDeque<(Tick, Option<DeadReckoning<R>>)>;

impl<R: Rules> DistantTracks<R> {
    pub fn new(horizon: Box<dyn Horizon<R>>) -> Self {
        let (companions, landmarks) = Default::default();
        DistantTracks { horizon, scratch: R::Scratch::default(), newest: None, companions, landmarks }
    }

    /// Nothing was told yet, in a session that may be another.
    pub fn begin(&mut self) {
        self.newest = None;
        self.companions.clear();
        self.landmarks.clear();
    }

    /// Takes a packet, if it is newer than what came before. Returns its tick then.
    pub fn take(&mut self, packet: Distant) -> Option<Tick> {
        let landmarks = match packet.landmarks.is_empty() {
            true => Landmarks::default(),
            false => codec::read(&packet.landmarks, LANDMARK_BYTES_MAX).ok()?,
        };
        let unknown = packet.sights.iter().filter(|(player, _)| !self.companions.contains_key(player)).count();
        let old = self.newest.is_some_and(|newest| packet.tick <= newest);
        if old || self.companions.len() + unknown > SIGHTS_MAX {
            return None;
        }
        self.newest = Some(packet.tick);
        for (player, track) in packet.sights.into_vec() {
            self.track(player, packet.tick, track);
        }
        for (number, landmark) in landmarks.into_vec() {
            self.landmarks.remove(&number);
            if let Some((at, state)) = landmark
                && self.landmarks.len() < LANDMARKS_MAX
            {
                self.landmarks.insert(number, Landmark { number, at, state });
            }
        }
        self.newest
    }

    fn track(&mut self, player: PlayerId, tick: Tick, track: Option<Track>) {
        let tracks = self.companions.entry(player).or_default();
        let newest = tracks.back().and_then(|(_, reckoning)| reckoning.as_ref()).map(DeadReckoning::track);
        if newest.is_some() && newest == track.as_ref() {
            return;
        }
        let reckoning = track.map(|track| DeadReckoning::new(track, &*self.horizon));
        let from = reckoning.as_ref().map_or(tick, DeadReckoning::since);
        while tracks.len() == TRACKS_MAX || tracks.back().is_some_and(|(later, _)| *later >= from) {
            tracks.pop_back();
        }
        tracks.push_back((from, reckoning));
    }

    /// Follows everyone to the world's tick.
    pub fn advance(&mut self, world: &World<R>) {
        let (tick, scratch) = (world.tick(), &mut self.scratch);
        self.companions.retain(|_, tracks| {
            while tracks.get(1).is_some_and(|(from, _)| *from <= tick) {
                tracks.pop_front();
            }
            match tracks.front_mut() {
                Some((_, Some(reckoning))) => {
                    reckoning.at(tick, world.rules(), scratch);
                    true
                }
                Some((from, None)) => *from > tick,
                None => false,
            }
        });
    }

    /// The companions and landmarks in the distant view now. A hero that is in the world itself
    /// is not among them.
    pub fn view(&self, world: &World<R>) -> DistantView {
        let companions = self.companions.iter().filter(|(player, _)| world.hero(**player).is_none());
        let placed = companions.filter_map(|(player, tracks)| {
            let reckoning = tracks.front()?.1.as_ref().filter(|reckoning| reckoning.reaches(world.tick()))?;
            Some(Companion { player: *player, at: reckoning.now(world.tick()) })
        });
        DistantView { companions: placed.collect(), landmarks: self.landmarks.values().copied().collect() }
    }
}
