//! The game that the checker's tests plant faults into is sound without one, and lively enough
//! for them to matter.

use lockstone::sim::{Input, Simulation};
use testkit::faulty::{self, Being, Fault, Party, Sim};

const SEED: u64 = 5;

#[test]
fn it_is_large_and_lively() {
    let mut party = Party::new(SEED, Fault::None, 4);
    let (mut commands, mut requests) = (0, 0);
    for _ in 0..1000 {
        let turn = party.tick();
        commands += turn.inputs.iter().filter(|input| matches!(input, Input::Command(..))).count();
        requests += turn.inputs.iter().filter(|input| matches!(input, Input::Request(..))).count();
    }
    let world = &party.world;
    let all = || world.cells().flat_map(|cell| world.actors(cell).iter().chain(world.props(cell)));
    let awake = world.cells().filter(|&cell| world.light(cell) > 0).count();
    let beasts = all().filter(|entity| matches!(entity.body, Being::Beast(_))).count();
    println!(
        "{} entities, {beasts} beasts, {awake} cells awake, {commands} commands, {requests} requests",
        all().count()
    );
    assert!(all().count() > 1500 && awake > 60 && commands > 100 && requests > 0);
    assert!(world.facts().cairns > 0, "{:?}", world.facts());
}

#[test]
fn its_faults_change_it_but_for_those_that_need_more_than_one_run() {
    let turns = faulty::turns(SEED, 2, 120);
    let root = |fault| {
        let mut world: Sim = faulty::world(SEED, fault);
        turns.iter().for_each(|turn| world.step(turn));
        world.checksum()
    };
    let sound = root(Fault::None);
    assert_eq!(sound, root(Fault::None));
    // A panic ends the run.
    for (name, fault) in Fault::ALL.into_iter().skip(1).filter(|(_, fault)| *fault != Fault::Panic) {
        let unseen = matches!(fault, Fault::Thread | Fault::Alias | Fault::Scene);
        let unseen = unseen || fault == Fault::Debug && !cfg!(debug_assertions);
        assert_eq!(root(fault) == sound, unseen, "{name}");
    }
}
