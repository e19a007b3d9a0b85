//! The order in which cells think makes no difference, nor does the number of threads.

use lockstone_sim::world::{Request, Thinking, Thoughts};
use lockstone_sim::{Checksum, Simulation, Tick};
use testkit::storm::{Storm, Turns, Weather, table};

type ThinkAll = fn(&Thinking<'_, Storm>, Tick) -> Vec<Thoughts<Storm>>;

/// The checksum and the requests after each tick.
type Outcome = (Checksum, Vec<Request<u64>>);

fn outcomes(weather: &Weather, think: ThinkAll) -> Vec<Outcome> {
    let (mut world, mut turns) = (weather.world(), Turns::of(weather).with_absences());
    let tick = |_| {
        let turn = turns.next(&world);
        let now = world.tick();
        world.step_with(&turn, |thinking| think(thinking, now));
        (world.checksum(), world.requests().to_vec())
    };
    (0..250).map(tick).collect()
}

fn forwards(thinking: &Thinking<'_, Storm>, _: Tick) -> Vec<Thoughts<Storm>> {
    one_batch(thinking, 0..thinking.len())
}

fn backwards(thinking: &Thinking<'_, Storm>, _: Tick) -> Vec<Thoughts<Storm>> {
    one_batch(thinking, (0..thinking.len()).rev())
}

fn shuffled(thinking: &Thinking<'_, Storm>, now: Tick) -> Vec<Thoughts<Storm>> {
    let mut order: Vec<usize> = (0..thinking.len()).collect();
    table().dice(77, now).shuffle(&mut order);
    one_batch(thinking, order)
}

fn in_a_batch_for_each_cell(thinking: &Thinking<'_, Storm>, now: Tick) -> Vec<Thoughts<Storm>> {
    let mut order: Vec<usize> = (0..thinking.len()).collect();
    table().dice(78, now).shuffle(&mut order);
    order.into_iter().flat_map(|n| one_batch(thinking, [n])).collect()
}

fn on_four_threads(thinking: &Thinking<'_, Storm>, _: Tick) -> Vec<Thoughts<Storm>> {
    std::thread::scope(|scope| {
        let share = |n: usize| (n..thinking.len()).step_by(4);
        let threads: Vec<_> = (0..4).map(|n| scope.spawn(move || one_batch(thinking, share(n)))).collect();
        threads.into_iter().rev().flat_map(|thread| thread.join().expect("no thought panics")).collect()
    })
}

fn one_batch(thinking: &Thinking<'_, Storm>, order: impl IntoIterator<Item = usize>) -> Vec<Thoughts<Storm>> {
    let mut thoughts = Thoughts::default();
    order.into_iter().for_each(|n| thinking.think(n, &mut thoughts));
    vec![thoughts]
}

#[test]
fn cells_think_in_any_order_and_on_any_thread() {
    for seed in 100..112 {
        let weather = Weather::of(seed);
        let expected = outcomes(&weather, forwards);
        assert_eq!(outcomes(&weather, backwards), expected, "backwards, seed {seed}");
        assert_eq!(outcomes(&weather, shuffled), expected, "shuffled, seed {seed}");
        assert_eq!(outcomes(&weather, in_a_batch_for_each_cell), expected, "in many batches, seed {seed}");
        assert_eq!(outcomes(&weather, on_four_threads), expected, "on four threads, seed {seed}");
    }
}

#[test]
fn a_step_equals_a_step_with_the_thinking_done_outside() {
    let weather = Weather::of(7);
    let (mut world, mut turns) = (weather.world(), Turns::of(&weather).with_absences());
    let stepped: Vec<Outcome> = (0..250)
        .map(|_| {
            let turn = turns.next(&world);
            world.step(&turn);
            (world.checksum(), world.requests().to_vec())
        })
        .collect();
    assert_eq!(stepped, outcomes(&weather, forwards));
}
