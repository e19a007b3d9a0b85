//! What a keeper leaves in a storage, and what it says of it.

use std::sync::mpsc::{self, Receiver};

use lockstone_net::{Identity, PartyConfig};
use testkit::storm::StormWorld;

use super::evidence::BUNDLES_MAX;
use super::*;
use crate::recording::{Entry, Recording};
use crate::shell::storage::Memory;

fn keeper(storage: impl Storage + 'static, target: Target) -> (Keeper<StormWorld>, Receiver<Told>) {
    let identity = Identity { rules: 1, table: 2, config: 0 };
    let terms = PartyConfig::default().terms(identity);
    let labels = Labels { game: "storm", terms, name: "Ada".into(), room: "hall".into() };
    let (told_tx, told) = mpsc::channel();
    (Keeper::new(labels, Box::new(storage), target, told_tx), told)
}

/// Records a world that is loaded anew at ticks 100 and 300, from a file of this name on.
fn record_three(storage: &Memory, name: &str) -> Receiver<Told> {
    let output = storage.clone().create(name.as_ref()).expect("it is free");
    let (mut keeper, told) = keeper(storage.clone(), Target::Asked(name.into(), output));
    for start in [0, 100, 300] {
        keeper.start(Tick(start), 7, PlayerId(0), &[]);
        if start == 0 {
            keeper.name(PlayerId(1), "Bea");
        }
        keeper.reached(Tick(start + 50));
    }
    keeper.end(Tick(400), "left");
    told
}

/// The files, each with the tick at which its recording starts.
fn starts(storage: &Memory) -> Vec<(String, u32)> {
    let start = |file: &[u8]| Header::peek(file).expect("it is a recording").start.0;
    storage.files().iter().map(|(path, file)| (path.display().to_string(), start(file))).collect()
}

#[test]
fn a_world_that_is_loaded_anew_is_recorded_in_a_file_of_its_own() {
    let storage = Memory::default();
    let told = record_three(&storage, "game.lksrec");
    let named = [("game-2.lksrec", 100), ("game-3.lksrec", 300), ("game.lksrec", 0)];
    assert_eq!(starts(&storage), named.map(|(name, start)| (name.to_owned(), start)));
    let named = |entry: &_| matches!(entry, Entry::Name(PlayerId(1), name) if name == "Bea");
    for file in storage.files().values() {
        let recording = Recording::<StormWorld>::read(file).expect("it was just written");
        assert!(recording.entries.iter().any(named), "nobody is told again who is there");
    }
    let recorded = |told: &Told| matches!(told, Told::Recorded(_));
    assert_eq!(told.try_iter().filter(recorded).count(), 3, "each is told");
}

#[test]
fn the_next_recording_keeps_a_name_with_dots_and_passes_over_those_that_are_there() {
    let storage = Memory::default();
    let told = ["a.b-2.lksrec", "a.b.lksrec", "a"].map(|name| record_three(&storage, name));
    let named = [
        ("a", 0),
        ("a-2", 100),
        ("a-3", 300),
        ("a.b-2-2.lksrec", 100),
        ("a.b-2-3.lksrec", 300),
        ("a.b-2.lksrec", 0),
        ("a.b-3.lksrec", 100),
        ("a.b-4.lksrec", 300),
        ("a.b.lksrec", 0),
    ];
    assert_eq!(starts(&storage), named.map(|(name, start)| (name.to_owned(), start)));
    let failed = |told: Told| matches!(told, Told::Failed(_));
    assert!(!told.iter().any(|told| told.try_iter().any(failed)));
}

fn differs(keeper: &mut Keeper<StormWorld>) {
    keeper.start(Tick(0), 7, PlayerId(0), &[]);
    keeper.desync(Desync { player: PlayerId(1), tick: Tick(20), agreed: None, ours: Checksum(1), theirs: Checksum(2) });
}

#[test]
fn what_led_to_a_difference_is_not_lost_where_a_file_of_another_game_has_its_name() {
    let storage = Memory::default();
    for _ in 0..3 {
        let (mut keeper, told) = keeper(storage.clone(), Target::None);
        differs(&mut keeper);
        assert!(told.try_iter().any(|told| matches!(told, Told::Desync(_))));
    }
    let names: Vec<_> = storage.files().into_keys().map(|path| path.display().to_string()).collect();
    let name = |ending| format!("storm-desync-hall-Ada-20{ending}.lksrec");
    assert_eq!(names, [name("-2"), name("-3"), name("")]);
}

#[test]
fn what_led_to_a_difference_and_cannot_be_saved_says_so() {
    struct Full;
    impl Storage for Full {
        fn create(&mut self, _: &Path) -> io::Result<Output> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn remove(&mut self, _: &Path) -> io::Result<()> {
            Ok(())
        }
    }
    let (mut keeper, told) = keeper(Full, Target::None);
    differs(&mut keeper);
    assert_eq!(told.try_iter().filter(|told| matches!(told, Told::Unsaved(_))).count(), 1);
}

#[test]
fn a_recording_that_cannot_go_on_in_another_file_says_so() {
    /// Of one file.
    struct Full(Memory);
    impl Storage for Full {
        fn create(&mut self, path: &Path) -> io::Result<Output> {
            if self.0.files().is_empty() { self.0.create(path) } else { Err(io::ErrorKind::StorageFull.into()) }
        }
        fn remove(&mut self, path: &Path) -> io::Result<()> {
            self.0.remove(path)
        }
    }
    let mut storage = Full(Memory::default());
    let output = storage.create("game".as_ref()).expect("it is the first");
    let (mut keeper, told) = keeper(storage, Target::Asked("game".into(), output));
    keeper.start(Tick(0), 7, PlayerId(0), &[]);
    keeper.start(Tick(100), 7, PlayerId(0), &[]);
    let failed = told.try_iter().filter(|told| matches!(told, Told::Failed(_)));
    assert_eq!(failed.count(), 1);
}

#[test]
fn whoever_claims_differences_for_ever_fills_no_disk() {
    let storage = Memory::default();
    let (mut keeper, told) = keeper(storage.clone(), Target::None);
    keeper.start(Tick(0), 7, PlayerId(0), &[]);
    for minute in 1..=100 {
        keeper.checksum(Tick(1_200 * minute), Checksum(1), &[]);
        keeper.inquire(PlayerId(0), 1 << 20, false);
        while keeper.work() {}
        keeper.complete(vec![PlayerId(1)]);
    }
    assert_eq!(storage.files().len(), BUNDLES_MAX as usize);
    assert_eq!(told.try_iter().filter(|told| matches!(told, Told::PassedOver)).count(), 96);
}
