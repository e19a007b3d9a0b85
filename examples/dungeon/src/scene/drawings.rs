//! How the window draws what is in the dungeon: a few parts each, in the figure's own size.

use lockstone::scene::Ink::{Of, Own};
use lockstone::scene::Part::{Curve, Line, Oval, Polygon};
use lockstone::scene::{Draw, Drawing, Ink, Part, Place, Rgb};

const STEEL: Ink = Of(Rgb(205, 210, 220));
const WOOD: Ink = Of(Rgb(140, 92, 50));
const SKIN: Ink = Of(Rgb(226, 178, 138));
const BONE: Ink = Of(Rgb(206, 196, 170));
const HOLLOW: Ink = Of(Rgb(30, 24, 20));
const GOLD: Ink = Of(Rgb(236, 190, 80));
const EYE: Ink = Of(Rgb(255, 226, 120));

/// A body with a head, and what it holds pointing where it looks.
pub(super) const HERO: Drawing = Drawing::of(hero);
/// A four-legged or crawling body.
pub(super) const BEAST: Drawing = Drawing::of(beast);
/// An upright body with a bow or a staff.
pub(super) const ARCHER: Drawing = Drawing::of(archer);
/// A heap that lies still.
pub(super) const MOUND: Drawing = Drawing::of(mound);
/// A large round body.
pub(super) const BROOD: Drawing = Drawing::of(brood);
/// A short streak.
pub(super) const BOLT: Drawing = Drawing { bright: true, shine: Some((0.75, 0.9)), ..Drawing::of(bolt) };
/// A round light.
pub(super) const ORB: Drawing = Drawing { parts: orb, ..BOLT };
/// A small thing to pick up.
pub(super) const GEM: Drawing = Drawing { shine: Some((0.30, 0.8)), ..Drawing::of(gem) };
/// A bottle.
pub(super) const FLASK: Drawing = Drawing::of(flask);
/// A blade.
pub(super) const BLADE: Drawing = Drawing::of(blade);
/// A box.
pub(super) const CHEST: Drawing = Drawing::of(chest);
/// Remains, or a dead hero.
pub(super) const BONES: Drawing = Drawing { shadow: false, ..Drawing::of(bones) };
/// A ring on the ground: a goal, a portal.
pub(super) const RING: Drawing = Drawing { shadow: false, shine: GEM.shine, ..Drawing::of(ring) };

/// The direction of a look, seen from above at a slant: what points away is shorter.
fn slanted(facing: f32) -> (f32, f32) {
    (facing.cos(), facing.sin() * 0.6)
}

fn disc(center: Place, radius: f32, ink: Ink) -> Part<'static> {
    Oval(center, (radius, radius), ink)
}

fn hero(facing: f32, draw: &mut Draw<'_>) {
    let (lx, ly) = slanted(facing);
    let hand = (0.24 * lx - 0.20 * ly, -0.40 + 0.18 * ly + 0.1 * lx.abs());
    let tip = (hand.0 + 0.50 * lx + 0.06, hand.1 + 0.50 * ly - 0.30);
    let sword = |draw: &mut Draw<'_>| {
        draw(Line(hand, tip, 0.07, STEEL));
        draw(Line((hand.0 - 0.08, hand.1 - 0.02), (hand.0 + 0.08, hand.1 + 0.02), 0.06, GOLD));
    };
    if ly < 0.0 {
        sword(draw);
    }
    draw(Polygon(
        &[(-0.34, 0.06), (-0.20, -0.62), (0.20, -0.62), (0.34, 0.06), (0.12, 0.13), (-0.12, 0.13)],
        Own(0.62),
    ));
    draw(Polygon(&[(-0.20, -0.10), (-0.17, -0.60), (0.17, -0.60), (0.20, -0.10)], Own(1.0)));
    draw(Line((-0.19, -0.24), (0.19, -0.24), 0.06, WOOD));
    draw(Oval((-0.22, -0.56), (0.11, 0.09), Own(0.82)));
    draw(Oval((0.22, -0.56), (0.11, 0.09), Own(0.82)));
    draw(disc((0.05 * lx, -0.76), 0.19, Own(0.7)));
    draw(Oval((0.05 * lx + 0.06 * lx, -0.74 + 0.04 * ly), (0.12, 0.12), if ly < -0.3 { Own(0.6) } else { SKIN }));
    if ly >= 0.0 {
        sword(draw);
    }
}

fn beast(facing: f32, draw: &mut Draw<'_>) {
    let (lx, ly) = slanted(facing);
    for (x, y) in [(-0.26, 0.02), (0.22, 0.02), (-0.12, 0.10), (0.30, 0.09)] {
        draw(Line((x, y - 0.16), (x + 0.04 * lx, y), 0.08, Own(0.55)));
    }
    draw(Curve([(-0.34 * lx, -0.24), (-0.55 * lx, -0.30), (-0.56 * lx, -0.48)], 0.06, Own(0.7)));
    draw(Oval((0.0, -0.22), (0.36, 0.20), Own(0.85)));
    draw(Oval((-0.04, -0.30), (0.26, 0.10), Own(1.08)));
    let head = (0.34 * lx, -0.30 + 0.20 * ly);
    draw(Polygon(
        &[(head.0 - 0.14, head.1 - 0.10), (head.0 - 0.11, head.1 - 0.28), (head.0 - 0.02, head.1 - 0.12)],
        Own(0.7),
    ));
    draw(Polygon(
        &[(head.0 + 0.14, head.1 - 0.10), (head.0 + 0.11, head.1 - 0.28), (head.0 + 0.02, head.1 - 0.12)],
        Own(0.7),
    ));
    draw(disc(head, 0.17, Own(1.0)));
    draw(Oval((head.0 + 0.11 * lx, head.1 + 0.06 + 0.04 * ly), (0.10, 0.08), Own(0.72)));
    draw(disc((head.0 - 0.05 + 0.05 * lx, head.1 - 0.04), 0.032, EYE));
    draw(disc((head.0 + 0.06 + 0.05 * lx, head.1 - 0.04), 0.032, EYE));
}

fn archer(facing: f32, draw: &mut Draw<'_>) {
    let (lx, ly) = slanted(facing);
    draw(Polygon(&[(-0.20, 0.06), (-0.13, -0.66), (0.13, -0.66), (0.20, 0.06), (0.0, 0.12)], Own(0.72)));
    draw(Polygon(&[(-0.13, -0.16), (-0.12, -0.64), (0.12, -0.64), (0.13, -0.16)], Own(0.95)));
    draw(disc((0.0, -0.78), 0.17, Own(0.55)));
    draw(Oval((0.05 * lx, -0.76 + 0.03 * ly), (0.11, 0.12), BONE));
    draw(disc((0.05 * lx - 0.04, -0.78), 0.028, Of(Rgb(180, 30, 24))));
    draw(disc((0.05 * lx + 0.05, -0.78), 0.028, Of(Rgb(180, 30, 24))));
    // The bow stands across the look.
    let (cx, cy) = (0.30 * lx, -0.42 + 0.26 * ly);
    let (px, py) = (-ly * 0.42, lx * 0.42 - 0.10 * (1.0 - lx.abs()));
    draw(Line((cx + px, cy + py), (cx - px, cy - py), 0.015, BONE));
    draw(Curve([(cx + px, cy + py), (cx + 0.34 * lx, cy + 0.34 * ly), (cx - px, cy - py)], 0.055, WOOD));
}

fn mound(_: f32, draw: &mut Draw<'_>) {
    draw(Oval((0.0, -0.08), (0.42, 0.18), Own(0.6)));
    draw(Oval((-0.10, -0.18), (0.26, 0.18), Own(0.8)));
    draw(Oval((0.16, -0.16), (0.20, 0.14), Own(0.95)));
    draw(Oval((0.02, -0.26), (0.14, 0.10), Own(1.1)));
    draw(Line((-0.20, -0.16), (-0.10, -0.13), 0.02, Of(Rgb(20, 14, 10))));
}

fn brood(facing: f32, draw: &mut Draw<'_>) {
    let (lx, ly) = slanted(facing);
    for side in [-1.0f32, 1.0] {
        for (n, reach) in [0.52, 0.60, 0.56].into_iter().enumerate() {
            let y = -0.26 + n as f32 * 0.12;
            draw(Curve([(0.2 * side, y), (reach * side, y - 0.26), ((reach + 0.06) * side, y + 0.20)], 0.06, Own(0.5)));
        }
    }
    draw(Oval((-0.16 * lx, -0.34), (0.38, 0.34), Own(0.75)));
    draw(Oval((-0.16 * lx, -0.44), (0.24, 0.18), Own(0.95)));
    for (x, y) in [(-0.10, -0.50), (0.06, -0.42), (-0.02, -0.30)] {
        draw(disc((x - 0.16 * lx, y), 0.06, Own(1.35)));
    }
    let head = (0.26 * lx, -0.22 + 0.22 * ly);
    draw(disc(head, 0.19, Own(0.9)));
    for (x, y) in [(-0.09, -0.05), (0.0, -0.09), (0.09, -0.05), (-0.04, 0.02), (0.05, 0.02)] {
        draw(disc((head.0 + x, head.1 + y), 0.03, Of(Rgb(240, 70, 60))));
    }
}

fn bolt(facing: f32, draw: &mut Draw<'_>) {
    let (x, y) = (facing.cos(), facing.sin());
    draw(Line((-0.5 * x, -0.4 - 0.5 * y), (0.3 * x, -0.4 + 0.3 * y), 0.06, Own(0.9)));
    draw(Line((0.1 * x, -0.4 + 0.1 * y), (0.5 * x, -0.4 + 0.5 * y), 0.10, Own(1.4)));
}

fn orb(_: f32, draw: &mut Draw<'_>) {
    draw(disc((0.0, -0.35), 0.26, Own(0.9)));
    draw(disc((-0.02, -0.38), 0.15, Own(1.6)));
}

fn gem(_: f32, draw: &mut Draw<'_>) {
    draw(Polygon(&[(0.0, 0.0), (-0.26, -0.30), (-0.14, -0.46), (0.14, -0.46), (0.26, -0.30)], Own(0.85)));
    draw(Polygon(&[(0.0, 0.0), (-0.10, -0.30), (0.10, -0.30)], Own(1.3)));
    draw(Polygon(&[(-0.10, -0.30), (-0.05, -0.46), (0.05, -0.46), (0.10, -0.30)], Own(1.6)));
}

fn flask(_: f32, draw: &mut Draw<'_>) {
    draw(disc((0.0, -0.20), 0.22, Own(1.0)));
    draw(Polygon(&[(-0.08, -0.36), (-0.08, -0.56), (0.08, -0.56), (0.08, -0.36)], Own(0.7)));
    draw(Line((-0.07, -0.60), (0.07, -0.60), 0.08, WOOD));
    draw(disc((-0.08, -0.25), 0.05, Own(1.9)));
}

fn blade(_: f32, draw: &mut Draw<'_>) {
    draw(Polygon(
        &[(-0.28, -0.02), (-0.20, -0.12), (0.34, -0.52), (0.40, -0.56), (0.36, -0.46), (-0.18, -0.04)],
        Own(1.1),
    ));
    draw(Line((-0.30, -0.20), (-0.10, 0.02), 0.07, GOLD));
    draw(Line((-0.22, -0.08), (-0.36, 0.04), 0.08, WOOD));
}

fn chest(_: f32, draw: &mut Draw<'_>) {
    draw(Polygon(&[(-0.38, 0.04), (-0.38, -0.30), (0.38, -0.30), (0.38, 0.04)], Own(0.75)));
    draw(Polygon(&[(-0.40, -0.28), (-0.34, -0.50), (0.34, -0.50), (0.40, -0.28)], Own(1.0)));
    draw(Line((-0.39, -0.28), (0.39, -0.28), 0.05, GOLD));
    draw(Line((-0.24, -0.48), (-0.26, 0.02), 0.05, GOLD));
    draw(Line((0.24, -0.48), (0.26, 0.02), 0.05, GOLD));
    draw(disc((0.0, -0.22), 0.07, GOLD));
}

fn bones(_: f32, draw: &mut Draw<'_>) {
    draw(Line((-0.28, 0.02), (0.26, -0.14), 0.08, BONE));
    draw(Line((-0.24, -0.14), (0.28, 0.04), 0.08, BONE));
    draw(Oval((0.0, -0.20), (0.15, 0.14), BONE));
    draw(disc((-0.05, -0.20), 0.04, HOLLOW));
    draw(disc((0.06, -0.20), 0.04, HOLLOW));
    draw(Line((-0.04, -0.09), (0.05, -0.09), 0.02, HOLLOW));
}

fn ring(_: f32, draw: &mut Draw<'_>) {
    const POINTS: usize = 24;
    let at = |n: usize| {
        let angle = n as f32 / POINTS as f32 * std::f32::consts::TAU;
        (angle.cos() * 0.5, angle.sin() * 0.32)
    };
    for n in (0..POINTS).step_by(2) {
        draw(Line(at(n), at(n + 1), 0.05, Own(1.1)));
    }
}
