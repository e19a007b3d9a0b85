//! The drawings of figures: a few strokes each.

use super::figures::Pen;
use crate::scene::{Rgb, Shape};

const STEEL: Rgb = Rgb(205, 210, 220);
const WOOD: Rgb = Rgb(140, 92, 50);
const SKIN: Rgb = Rgb(226, 178, 138);
const BONE: Rgb = Rgb(206, 196, 170);
const GOLD: Rgb = Rgb(236, 190, 80);
const EYE: Rgb = Rgb(255, 226, 120);

/// Draws a shape that looks into a direction, in radians.
pub(super) fn draw(pen: &mut Pen<'_>, shape: Shape, facing: f32) {
    // Seen from above at a slant: what points away is shorter.
    let look = (facing.cos(), facing.sin() * 0.6);
    match shape {
        Shape::Hero => hero(pen, look),
        Shape::Beast => beast(pen, look),
        Shape::Archer => archer(pen, look),
        Shape::Mound => mound(pen),
        Shape::Brood => brood(pen, look),
        Shape::Bolt => bolt(pen, facing),
        Shape::Orb => orb(pen),
        Shape::Gem => gem(pen),
        Shape::Flask => flask(pen),
        Shape::Blade => blade(pen),
        Shape::Chest => chest(pen),
        Shape::Bones => bones(pen),
        Shape::Ring => ring(pen),
    }
}

fn hero(pen: &mut Pen<'_>, (lx, ly): (f32, f32)) {
    let hand = (0.24 * lx - 0.20 * ly, -0.40 + 0.18 * ly + 0.1 * lx.abs());
    let tip = (hand.0 + 0.50 * lx + 0.06, hand.1 + 0.50 * ly - 0.30);
    let sword = |pen: &mut Pen<'_>| {
        pen.line(hand, tip, 0.07, STEEL);
        pen.line((hand.0 - 0.08, hand.1 - 0.02), (hand.0 + 0.08, hand.1 + 0.02), 0.06, GOLD);
    };
    if ly < 0.0 {
        sword(pen);
    }
    pen.polygon(
        &[(-0.34, 0.06), (-0.20, -0.62), (0.20, -0.62), (0.34, 0.06), (0.12, 0.13), (-0.12, 0.13)],
        pen.own(0.62),
    );
    pen.polygon(&[(-0.20, -0.10), (-0.17, -0.60), (0.17, -0.60), (0.20, -0.10)], pen.own(1.0));
    pen.line((-0.19, -0.24), (0.19, -0.24), 0.06, WOOD);
    pen.ellipse((-0.22, -0.56), (0.11, 0.09), pen.own(0.82));
    pen.ellipse((0.22, -0.56), (0.11, 0.09), pen.own(0.82));
    pen.circle((0.05 * lx, -0.76), 0.19, pen.own(0.7));
    pen.ellipse((0.05 * lx + 0.06 * lx, -0.74 + 0.04 * ly), (0.12, 0.12), if ly < -0.3 { pen.own(0.6) } else { SKIN });
    if ly >= 0.0 {
        sword(pen);
    }
}

fn beast(pen: &mut Pen<'_>, (lx, ly): (f32, f32)) {
    for (x, y) in [(-0.26, 0.02), (0.22, 0.02), (-0.12, 0.10), (0.30, 0.09)] {
        pen.line((x, y - 0.16), (x + 0.04 * lx, y), 0.08, pen.own(0.55));
    }
    pen.arc([(-0.34 * lx, -0.24), (-0.55 * lx, -0.30), (-0.56 * lx, -0.48)], 0.06, pen.own(0.7));
    pen.ellipse((0.0, -0.22), (0.36, 0.20), pen.own(0.85));
    pen.ellipse((-0.04, -0.30), (0.26, 0.10), pen.own(1.08));
    let head = (0.34 * lx, -0.30 + 0.20 * ly);
    pen.polygon(
        &[(head.0 - 0.14, head.1 - 0.10), (head.0 - 0.11, head.1 - 0.28), (head.0 - 0.02, head.1 - 0.12)],
        pen.own(0.7),
    );
    pen.polygon(
        &[(head.0 + 0.14, head.1 - 0.10), (head.0 + 0.11, head.1 - 0.28), (head.0 + 0.02, head.1 - 0.12)],
        pen.own(0.7),
    );
    pen.circle(head, 0.17, pen.own(1.0));
    pen.ellipse((head.0 + 0.11 * lx, head.1 + 0.06 + 0.04 * ly), (0.10, 0.08), pen.own(0.72));
    pen.circle((head.0 - 0.05 + 0.05 * lx, head.1 - 0.04), 0.032, EYE);
    pen.circle((head.0 + 0.06 + 0.05 * lx, head.1 - 0.04), 0.032, EYE);
}

fn archer(pen: &mut Pen<'_>, (lx, ly): (f32, f32)) {
    pen.polygon(&[(-0.20, 0.06), (-0.13, -0.66), (0.13, -0.66), (0.20, 0.06), (0.0, 0.12)], pen.own(0.72));
    pen.polygon(&[(-0.13, -0.16), (-0.12, -0.64), (0.12, -0.64), (0.13, -0.16)], pen.own(0.95));
    pen.circle((0.0, -0.78), 0.17, pen.own(0.55));
    pen.ellipse((0.05 * lx, -0.76 + 0.03 * ly), (0.11, 0.12), BONE);
    pen.circle((0.05 * lx - 0.04, -0.78), 0.028, Rgb(180, 30, 24));
    pen.circle((0.05 * lx + 0.05, -0.78), 0.028, Rgb(180, 30, 24));
    // The bow stands across the look.
    let (cx, cy) = (0.30 * lx, -0.42 + 0.26 * ly);
    let (px, py) = (-ly * 0.42, lx * 0.42 - 0.10 * (1.0 - lx.abs()));
    pen.line((cx + px, cy + py), (cx - px, cy - py), 0.015, BONE);
    pen.arc([(cx + px, cy + py), (cx + 0.34 * lx, cy + 0.34 * ly), (cx - px, cy - py)], 0.055, WOOD);
}

fn mound(pen: &mut Pen<'_>) {
    pen.ellipse((0.0, -0.08), (0.42, 0.18), pen.own(0.6));
    pen.ellipse((-0.10, -0.18), (0.26, 0.18), pen.own(0.8));
    pen.ellipse((0.16, -0.16), (0.20, 0.14), pen.own(0.95));
    pen.ellipse((0.02, -0.26), (0.14, 0.10), pen.own(1.1));
    pen.line((-0.20, -0.16), (-0.10, -0.13), 0.02, Rgb(20, 14, 10));
}

fn brood(pen: &mut Pen<'_>, (lx, ly): (f32, f32)) {
    for side in [-1.0f32, 1.0] {
        for (n, reach) in [0.52, 0.60, 0.56].into_iter().enumerate() {
            let y = -0.26 + n as f32 * 0.12;
            pen.arc([(0.2 * side, y), (reach * side, y - 0.26), ((reach + 0.06) * side, y + 0.20)], 0.06, pen.own(0.5));
        }
    }
    pen.ellipse((-0.16 * lx, -0.34), (0.38, 0.34), pen.own(0.75));
    pen.ellipse((-0.16 * lx, -0.44), (0.24, 0.18), pen.own(0.95));
    for (x, y) in [(-0.10, -0.50), (0.06, -0.42), (-0.02, -0.30)] {
        pen.circle((x - 0.16 * lx, y), 0.06, pen.own(1.35));
    }
    let head = (0.26 * lx, -0.22 + 0.22 * ly);
    pen.circle(head, 0.19, pen.own(0.9));
    for (x, y) in [(-0.09, -0.05), (0.0, -0.09), (0.09, -0.05), (-0.04, 0.02), (0.05, 0.02)] {
        pen.circle((head.0 + x, head.1 + y), 0.03, Rgb(240, 70, 60));
    }
}

fn bolt(pen: &mut Pen<'_>, facing: f32) {
    let (x, y) = (facing.cos(), facing.sin());
    pen.line((-0.5 * x, -0.4 - 0.5 * y), (0.3 * x, -0.4 + 0.3 * y), 0.06, pen.own(0.9));
    pen.line((0.1 * x, -0.4 + 0.1 * y), (0.5 * x, -0.4 + 0.5 * y), 0.10, pen.own(1.4));
}

fn orb(pen: &mut Pen<'_>) {
    pen.circle((0.0, -0.35), 0.26, pen.own(0.9));
    pen.circle((-0.02, -0.38), 0.15, pen.own(1.6));
}

fn gem(pen: &mut Pen<'_>) {
    pen.polygon(&[(0.0, 0.0), (-0.26, -0.30), (-0.14, -0.46), (0.14, -0.46), (0.26, -0.30)], pen.own(0.85));
    pen.polygon(&[(0.0, 0.0), (-0.10, -0.30), (0.10, -0.30)], pen.own(1.3));
    pen.polygon(&[(-0.10, -0.30), (-0.05, -0.46), (0.05, -0.46), (0.10, -0.30)], pen.own(1.6));
}

fn flask(pen: &mut Pen<'_>) {
    pen.circle((0.0, -0.20), 0.22, pen.own(1.0));
    pen.polygon(&[(-0.08, -0.36), (-0.08, -0.56), (0.08, -0.56), (0.08, -0.36)], pen.own(0.7));
    pen.line((-0.07, -0.60), (0.07, -0.60), 0.08, WOOD);
    pen.circle((-0.08, -0.25), 0.05, pen.own(1.9));
}

fn blade(pen: &mut Pen<'_>) {
    pen.polygon(
        &[(-0.28, -0.02), (-0.20, -0.12), (0.34, -0.52), (0.40, -0.56), (0.36, -0.46), (-0.18, -0.04)],
        pen.own(1.1),
    );
    pen.line((-0.30, -0.20), (-0.10, 0.02), 0.07, GOLD);
    pen.line((-0.22, -0.08), (-0.36, 0.04), 0.08, WOOD);
}

fn chest(pen: &mut Pen<'_>) {
    pen.polygon(&[(-0.38, 0.04), (-0.38, -0.30), (0.38, -0.30), (0.38, 0.04)], pen.own(0.75));
    pen.polygon(&[(-0.40, -0.28), (-0.34, -0.50), (0.34, -0.50), (0.40, -0.28)], pen.own(1.0));
    pen.line((-0.39, -0.28), (0.39, -0.28), 0.05, GOLD);
    pen.line((-0.24, -0.48), (-0.26, 0.02), 0.05, GOLD);
    pen.line((0.24, -0.48), (0.26, 0.02), 0.05, GOLD);
    pen.circle((0.0, -0.22), 0.07, GOLD);
}

fn bones(pen: &mut Pen<'_>) {
    pen.line((-0.28, 0.02), (0.26, -0.14), 0.08, BONE);
    pen.line((-0.24, -0.14), (0.28, 0.04), 0.08, BONE);
    pen.ellipse((0.0, -0.20), (0.15, 0.14), BONE);
    pen.circle((-0.05, -0.20), 0.04, Rgb(30, 24, 20));
    pen.circle((0.06, -0.20), 0.04, Rgb(30, 24, 20));
    pen.line((-0.04, -0.09), (0.05, -0.09), 0.02, Rgb(30, 24, 20));
}

fn ring(pen: &mut Pen<'_>) {
    const POINTS: usize = 24;
    let at = |n: usize| {
        let angle = n as f32 / POINTS as f32 * std::f32::consts::TAU;
        (angle.cos() * 0.5, angle.sin() * 0.32)
    };
    for n in (0..POINTS).step_by(2) {
        pen.line(at(n), at(n + 1), 0.05, pen.own(1.1));
    }
}
