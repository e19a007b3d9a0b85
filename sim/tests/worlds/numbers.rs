//! Fixed point, vectors and angles against wide integers; trigonometry against floats.
#![allow(clippy::disallowed_types, reason = "the reference values of the trigonometry are floats")]

use std::f64::consts::TAU;

use lockstone_sim::{Angle, Fx, Vec2, codec};
use proptest::prelude::*;

const ONE: i128 = 4096;

/// Steps of all sizes: anything, near zero, near a whole number, at the ends.
fn steps() -> impl Strategy<Value = i32> {
    prop_oneof![
        any::<i32>(),
        -20_000..20_000,
        (-300_000..300_000, -1..=1).prop_map(|(n, d)| n * 4096 + d),
        prop_oneof![Just(i32::MIN), Just(i32::MIN + 1), Just(i32::MAX), Just(i32::MAX - 1), Just(0)],
    ]
}

fn fx() -> impl Strategy<Value = Fx> {
    steps().prop_map(Fx::from_bits)
}

fn vec2() -> impl Strategy<Value = Vec2> {
    (fx(), fx()).prop_map(|(x, y)| Vec2::new(x, y))
}

fn wide(value: Fx) -> i128 {
    value.to_bits().into()
}

fn saturated(steps: i128) -> Fx {
    Fx::from_bits(steps.clamp(i32::MIN.into(), i32::MAX.into()) as i32)
}

fn square_sum(x: i128, y: i128) -> i128 {
    x * x + y * y
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn sums_saturate(a in fx(), b in fx(), many in prop::collection::vec(fx(), 0..9)) {
        prop_assert_eq!(a + b, saturated(wide(a) + wide(b)));
        prop_assert_eq!(a - b, saturated(wide(a) - wide(b)));
        prop_assert_eq!(-a, saturated(-wide(a)));
        prop_assert_eq!(a.abs(), saturated(wide(a).abs()));
        prop_assert_eq!(many.iter().copied().sum::<Fx>(), saturated(many.iter().copied().map(wide).sum()));
    }

    #[test]
    fn products_are_rounded_to_the_nearest_step_and_saturate(a in fx(), b in fx(), n in steps()) {
        prop_assert_eq!(a * b, saturated((wide(a) * wide(b) + ONE / 2).div_euclid(ONE)));
        prop_assert_eq!(a * n, saturated(wide(a) * i128::from(n)));
        prop_assert_eq!(a * Fx::ONE, a);
    }

    #[test]
    fn quotients_are_rounded_to_the_nearest_step_and_saturate(a in fx(), b in fx()) {
        if b == Fx::ZERO {
            let extreme = [Fx::MIN, Fx::ZERO, Fx::MAX][(wide(a).signum() + 1) as usize];
            prop_assert_eq!(a / b, extreme);
        } else {
            // q is the nearest, halves upwards: q - 1/2 <= a / b < q + 1/2, all multiplied by 2b.
            let (num, den) = (wide(a) * ONE * wide(b).signum(), wide(b).abs());
            let q = (2 * num + den).div_euclid(2 * den);
            prop_assert_eq!(a / b, saturated(q));
            prop_assert_eq!(Fx::ratio(a.to_bits(), b.to_bits()), a / b);
        }
    }

    #[test]
    fn assigning_operators_do_the_same(a in fx(), b in fx(), n in steps()) {
        let assigned = |change: fn(&mut Fx, Fx)| { let mut c = a; change(&mut c, b); c };
        prop_assert_eq!(assigned(|c, b| *c += b), a + b);
        prop_assert_eq!(assigned(|c, b| *c -= b), a - b);
        prop_assert_eq!(assigned(|c, b| *c *= b), a * b);
        prop_assert_eq!(assigned(|c, b| *c /= b), a / b);
        let mut c = a;
        c *= n;
        prop_assert_eq!(c, a * n);
    }

    #[test]
    fn whole_numbers_lie_where_they_should(a in fx(), n in any::<i32>()) {
        prop_assert_eq!(i128::from(a.floor()), wide(a).div_euclid(ONE));
        prop_assert_eq!(i128::from(a.ceil()), -(-wide(a)).div_euclid(ONE));
        prop_assert_eq!(i128::from(a.round()), (wide(a) + ONE / 2).div_euclid(ONE));
        prop_assert_eq!(wide(a.fract()), wide(a).rem_euclid(ONE));
        prop_assert_eq!(wide(a.signum()), wide(a).signum() * ONE);
        prop_assert_eq!(Fx::int(n), saturated(i128::from(n) * ONE));
    }

    #[test]
    fn roots_are_rounded_down(a in fx()) {
        let root = wide(a.sqrt());
        let square = wide(a).max(0) * ONE;
        prop_assert!(root * root <= square && square < (root + 1) * (root + 1));
    }

    #[test]
    fn interpolation_ends_exactly(a in fx(), b in fx(), t in fx()) {
        prop_assert_eq!(a.lerp(b, Fx::ZERO), a);
        prop_assert_eq!(a.lerp(b, Fx::ONE), b);
        let way = ((wide(b) - wide(a)) * wide(t) + ONE / 2).div_euclid(ONE);
        prop_assert_eq!(a.lerp(b, t), saturated(wide(a) + way));
    }

    #[test]
    fn decimals_are_exact(a in fx()) {
        let text = a.to_string();
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        prop_assert!(!fraction.ends_with('0') && text != "-0");
        let digits: i128 = format!("{whole}{fraction:0<12}").parse().unwrap();
        prop_assert_eq!(digits, wide(a) * 244_140_625);
    }

    #[test]
    fn values_are_encoded_as_their_steps(a in fx(), b in fx(), turn in any::<u16>()) {
        let bytes = codec::compact(&a);
        prop_assert_eq!(&bytes, &codec::compact(&a.to_bits()));
        prop_assert_eq!(codec::read::<Fx>(&bytes, 5).unwrap(), a);
        prop_assert_eq!(codec::compact(&Vec2::new(a, b)), codec::compact(&(a.to_bits(), b.to_bits())));
        prop_assert_eq!(codec::compact(&Angle(turn)), codec::compact(&turn));
    }

    #[test]
    fn lengths_and_distances_are_exact(a in vec2(), b in vec2(), radius in fx()) {
        let squared = square_sum(wide(a.x) - wide(b.x), wide(a.y) - wide(b.y));
        prop_assert_eq!(i128::from(a.distance_squared(b)), squared.min(i64::MAX.into()));
        prop_assert_eq!(a.within(b, radius), wide(radius) >= 0 && squared <= wide(radius) * wide(radius));
        let distance = wide(a.distance(b));
        prop_assert!(distance * distance <= squared);
        prop_assert!(squared < (distance + 1) * (distance + 1) || a.distance(b) == Fx::MAX);
        prop_assert_eq!(a.length_squared(), a.distance_squared(Vec2::ZERO));
        prop_assert_eq!(a.length(), a.distance(Vec2::ZERO));
    }

    #[test]
    fn a_radius_includes_its_end(a in vec2(), radius in 0..1 << 20) {
        let (end, radius) = (a + Vec2::new(Fx::from_bits(radius), Fx::ZERO), Fx::from_bits(radius));
        prop_assert!(a.within(end, radius));
        if wide(end.x) - wide(a.x) == wide(radius) {
            prop_assert!(!a.within(end, radius - Fx::EPSILON));
        }
    }

    #[test]
    fn normalized_vectors_have_length_one(v in vec2()) {
        let unit = v.normalized();
        if v == Vec2::ZERO {
            prop_assert_eq!(unit, v);
            return Ok(());
        }
        let length = (square_sum(wide(v.x), wide(v.y)) as f64).sqrt();
        for (part, whole) in [(unit.x, v.x), (unit.y, v.y)] {
            prop_assert!((wide(part) as f64 - wide(whole) as f64 * 4096.0 / length).abs() < 0.6);
        }
        let unit_length = (unit.length_squared() as f64).sqrt() / 4096.0;
        prop_assert!((unit_length - 1.0).abs() < 0.0002, "{unit_length}");
    }

    #[test]
    fn a_clamped_vector_never_exceeds_its_limit(v in vec2(), max in fx()) {
        let clamped = v.clamp_length(max);
        let limit = wide(max).max(0);
        let (x, y) = (wide(clamped.x), wide(clamped.y));
        prop_assert!(square_sum(x, y) <= limit * limit);
        if square_sum(wide(v.x), wide(v.y)) <= limit * limit {
            prop_assert_eq!(clamped, v);
            return Ok(());
        }
        let short = (limit - 3 - limit / 200_000_000).max(0);
        prop_assert!(square_sum(x, y) >= short * short, "{} is too short", clamped);
        // Same direction: each coordinate is less than a step off the line.
        prop_assert!((wide(v.x) * y - wide(v.y) * x).abs() <= wide(v.x).abs() + wide(v.y).abs());
        prop_assert!(x * wide(v.x) >= 0 && y * wide(v.y) >= 0);
    }

    #[test]
    fn a_stride_is_never_exceeded_and_always_leads_nearer(start in vec2(), target in vec2(), step in 2..i32::MAX) {
        let step = Fx::from_bits(step);
        let end = start.toward(target, step);
        prop_assert!(start.within(end, step));
        prop_assert!(end == target || end.distance_squared(target) < start.distance_squared(target)
            || start.distance_squared(target) == i64::MAX);
        prop_assert_eq!(end == target, start.within(target, step));
    }

    #[test]
    fn a_walk_arrives_exactly(start in vec2(), way in (-400_000..400_000, -400_000..400_000), step in 400..9000) {
        let target = start + Vec2::new(Fx::from_bits(way.0), Fx::from_bits(way.1));
        // Each step falls short by less than 3.
        let ticks = start.distance(target).to_bits() / (step - 3) + 1;
        let end = (0..ticks).fold(start, |at, _| at.toward(target, Fx::from_bits(step)));
        prop_assert_eq!(end, target);
    }

    #[test]
    fn vectors_compute_by_coordinate(a in vec2(), b in vec2(), t in fx()) {
        prop_assert_eq!(a + b, Vec2::new(a.x + b.x, a.y + b.y));
        prop_assert_eq!(a - b, Vec2::new(a.x - b.x, a.y - b.y));
        prop_assert_eq!(-a, Vec2::new(-a.x, -a.y));
        prop_assert_eq!(a * t, Vec2::new(a.x * t, a.y * t));
        prop_assert_eq!(a / t, Vec2::new(a.x / t, a.y / t));
        prop_assert_eq!(a.lerp(b, t), Vec2::new(a.x.lerp(b.x, t), a.y.lerp(b.y, t)));
        prop_assert_eq!([a, b].into_iter().sum::<Vec2>(), a + b);
        let product = wide(a.x) * wide(b.x) + wide(a.y) * wide(b.y);
        prop_assert_eq!(a.dot(b), saturated((product + ONE / 2).div_euclid(ONE)));
    }

    #[test]
    fn the_direction_of_a_point_is_the_nearest_angle(y in fx(), x in fx()) {
        let turns = f64::from(y.to_bits()).atan2(f64::from(x.to_bits())) / TAU;
        let error = (f64::from(Angle::atan2(y, x).0) - turns * 65_536.0).rem_euclid(65_536.0);
        prop_assert!(error.min(65_536.0 - error) < 0.52, "{y} {x}: {error}");
    }
}

#[test]
fn sines_and_cosines_are_within_their_bound() {
    for turn in 0..=u16::MAX {
        let angle = Angle(turn);
        let (sine, cosine) = (f64::from(turn) / 65_536.0 * TAU).sin_cos();
        for (found, truth) in [(angle.sin(), sine), (angle.cos(), cosine)] {
            let error = (f64::from(found.to_bits()) - truth * 4096.0).abs();
            assert!(error < 0.52, "{angle:?}: {error} steps off");
        }
    }
}

#[test]
fn the_main_directions_are_exact() {
    let (zero, one) = (Fx::ZERO, Fx::ONE);
    let main = [(0, one, zero), (0x4000, zero, one), (0x8000, -one, zero), (0xc000, zero, -one)];
    for (turn, x, y) in main {
        assert_eq!((Angle(turn).cos(), Angle(turn).sin()), (x, y));
        for length in [Fx::EPSILON, Fx::ONE, Fx::MAX] {
            assert_eq!(Angle::atan2(y * length, x * length), Angle(turn));
            assert_eq!((Vec2::new(x, y) * length).normalized(), Vec2::new(x, y));
        }
    }
    for diagonal in [Fx::EPSILON, Fx::MAX, Fx::MIN] {
        assert_eq!(Angle::atan2(diagonal, diagonal), if diagonal > zero { Angle(0x2000) } else { Angle(0xa000) });
    }
    assert_eq!(Angle::atan2(zero, zero), Angle::ZERO);
}

#[test]
fn short_vectors_are_clamped_and_walked_as_long_ones() {
    let around = || (-40..=40).flat_map(|x| (-40..=40).map(move |y| Vec2::new(Fx::from_bits(x), Fx::from_bits(y))));
    for max in 0..60 {
        for v in around() {
            let clamped = v.clamp_length(Fx::from_bits(max));
            assert!(clamped.length_squared() <= i64::from(max * max), "{v} to {max} steps");
            assert!(clamped == v || clamped.length().to_bits() >= max - 2, "{v} to {max} steps");
            let nearer = v.toward(Vec2::ZERO, Fx::from_bits(max)).length_squared() < v.length_squared();
            assert!(nearer || max < 2 || v == Vec2::ZERO, "{v} by {max} steps");
        }
    }
}

#[test]
fn the_shortest_steps_lead_nearer_to_targets_far_away() {
    let (near, mut dice) = (Fx::int(349_000), testkit::Dice(11));
    let mut stays = 0;
    for _ in 0..1_000_000 {
        let mut any = || Fx::from_bits(dice.roll(1 << 32) as u32 as i32);
        let (at, target) = (Vec2::new(any(), any()), Vec2::new(any(), any()));
        let apart = |a: Fx, b: Fx| i64::from(a.to_bits()).abs_diff(i64::from(b.to_bits()));
        let leads = |step| {
            let to = at.toward(target, Fx::from_bits(step));
            let gaps = [(at.x, to.x, target.x), (at.y, to.y, target.y)].map(|(at, to, t)| (apart(at, t), apart(to, t)));
            gaps.iter().all(|(before, after)| after <= before) && gaps.iter().any(|(before, after)| after < before)
        };
        assert!(leads(3), "{at} to {target}");
        assert!(leads(2) || !at.within(target, near), "{at} to {target}");
        stays += u32::from(!leads(2));
    }
    assert!(stays > 0, "a shorter step may stay where it is");
}

#[test]
fn a_direction_and_a_length_make_a_vector() {
    for turn in 0..=u16::MAX {
        let (sine, cosine) = (f64::from(turn) / 65_536.0 * TAU).sin_cos();
        for length in [Fx::EPSILON, Fx::ONE, Fx::int(100), Fx::MAX, Fx::MIN] {
            let (v, steps) = (Vec2::from_angle(Angle(turn), length), f64::from(length.to_bits()));
            let (x, y) = (f64::from(v.x.to_bits()) - cosine * steps, f64::from(v.y.to_bits()) - sine * steps);
            assert!(x.hypot(y) < 1.0 + steps.abs() * 5e-6, "{turn} {length}: {v}");
        }
        assert_eq!(Vec2::from_angle(Angle(turn), Fx::int(100)).angle(), Angle(turn));
    }
}

#[test]
fn angles_go_round() {
    assert_eq!(Angle::HALF + Angle::HALF, Angle::ZERO);
    assert_eq!(Angle::ZERO - Angle::QUARTER, Angle(0xc000));
    assert_eq!(-Angle::QUARTER, Angle(0xc000));
    assert_eq!(Angle(0xfff0).turn_to(Angle(0x10)), 0x20);
    assert_eq!(Angle(0x10).turn_to(Angle(0xfff0)), -0x20);
    assert_eq!([90, 180, 450, -90, 1].map(Angle::degrees).map(|a| a.0), [0x4000, 0x8000, 0x4000, 0xc000, 182]);
}

#[test]
fn numbers_read_well() {
    let shown = [Fx::ZERO, Fx::ONE, -Fx::EPSILON, Fx::int(-3) / Fx::int(2), Fx::MIN, Fx::MAX].map(|n| format!("{n:?}"));
    assert_eq!(shown, ["0", "1", "-0.000244140625", "-1.5", "-524288", "524287.999755859375"]);
    assert_eq!(format!("[{:6}|{:.2}|{:+}]", Fx::HALF, Fx::ratio(2, 3), Fx::ONE), "[   0.5|0.67|+1]");
    assert_eq!(format!("{:.1?}", Vec2::new(Fx::ONE, -Fx::HALF)), "(1.0, -0.5)");
}

#[test]
fn constants_can_be_made_at_compile_time() {
    const THIRD: Fx = Fx::ratio(1, 3);
    const DIAGONAL: Vec2 = Vec2::new(Fx::int(3), Fx::int(4)).normalized();
    assert_eq!(THIRD.to_bits(), 1365);
    assert_eq!(DIAGONAL, Vec2::new(Fx::ratio(3, 5), Fx::ratio(4, 5)));
}

#[test]
#[should_panic(expected = "denominator")]
fn a_ratio_over_zero_is_refused() {
    let _ = Fx::ratio(1, 0);
}
