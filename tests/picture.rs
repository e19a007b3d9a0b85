//! Pictures of a garden: another game draws its own figures and its own ground with the engine's
//! neutral parts.

use std::collections::BTreeSet;
use std::time::Duration;

use lockstone::net::PeerId;
use lockstone::net::session::{DelayStats, Exchange, Loss, PlayerStats, RoundTrip, StallStats, Stats, TrafficByClass};
use lockstone::scene::{
    Area, AreaKind, Chart, Drawing, Figure, Grain, Ground, GroundTile, Hit, Ink, Life, Part, Place, Rgb, Scene, Skill,
};
use lockstone::sim::{CellId, CellRect, PlayerId, mix64};
use lockstone::view::Status;
use lockstone::view::dragging::Under;
use lockstone::view::frame::{Desk, Frame, PANEL, Shown, Spot, TILE};

/// The world's part of the picture, in pixels each way.
const SIDE: usize = 640;
/// The garden, in tiles each way, and its middle.
const GARDEN: usize = 20;
const MIDDLE: Place = (10.0, 10.0);
/// Pixels of a figure's own unit, for a figure of one tile.
const UNIT: f32 = TILE * 1.2;

/// Width and height of the corner with the map, in pixels.
const MAP: (usize, usize) = (165, 110);

const LEAVES: Rgb = Rgb(60, 140, 50);
const PETALS: Rgb = Rgb(200, 80, 160);
const BARK: Rgb = Rgb(100, 60, 20);
const LAWN: Rgb = Rgb(70, 120, 60);

/// Of pictures of a ruin. They change when pictures are meant to look otherwise, and never to make
/// them faster.
const DIGESTS: [u64; 4] = [0x3cf1_6ab0_c96f_9ada, 0xef54_fe4a_07c7_ef99, 0xe3d2_4626_ee49_b10f, 0x3bac_7ba4_d47b_07e5];

/// A trunk, a crown of the figure's own colour with a lighter top, and a branch.
const TREE: Drawing = Drawing::of(|_, draw| {
    draw(Part::Line((0.0, 0.0), (0.0, -0.5), 0.16, Ink::Of(BARK)));
    draw(Part::Oval((0.0, -0.9), (0.5, 0.4), Ink::Own(1.0)));
    draw(Part::Polygon(&[(-0.3, -1.2), (0.3, -1.2), (0.0, -1.6)], Ink::Own(1.5)));
    draw(Part::Curve([(0.0, -0.3), (0.6, -0.3), (0.6, -0.6)], 0.08, Ink::Of(BARK)));
});
/// Points to where it looks.
const VANE: Drawing = Drawing { bright: true, ..Drawing::of(vane) };
const LAMP: Drawing = Drawing { bright: true, shadow: false, shine: Some((0.8, 1.5)), ..Drawing::DISC };

fn vane(facing: f32, draw: &mut lockstone::scene::Draw<'_>) {
    draw(Part::Line((0.0, 0.0), (facing.cos(), facing.sin()), 0.1, Ink::Own(1.0)));
}

/// Lawn all over, lit everywhere alike.
fn garden(figures: Vec<Figure>, light: u8) -> Scene {
    let tiles = vec![GroundTile { symbol: '"', color: LAWN, raised: false, light }; GARDEN * GARDEN];
    Scene { center: MIDDLE, ground: Ground { width: GARDEN, tiles, ..Ground::default() }, figures, ..Scene::default() }
}

struct Picture(Vec<[u8; 3]>);

impl Picture {
    fn of(scene: &Scene) -> Picture {
        Picture::with(scene, &Status { game: "garden", ..Status::default() })
    }

    fn with(scene: &Scene, status: &Status) -> Picture {
        let mut frame = Frame::new(SIDE + PANEL as usize, SIDE);
        frame.draw(Some(scene), status, 0.0);
        let rgb = |pixel: u32| pixel.to_be_bytes()[1..].try_into().expect("three of four bytes");
        Picture(frame.pixels().map(rgb).collect())
    }

    /// The colour at a place of the world, moved by so many pixels.
    fn at(&self, (x, y): Place, (dx, dy): (f32, f32)) -> [u8; 3] {
        let pixel = |at: f32, middle: f32, by: f32| ((at - middle) * TILE + by).round() as isize + SIDE as isize / 2;
        let (x, y) = (pixel(x, MIDDLE.0, dx), pixel(y, MIDDLE.1, dy));
        self.0[y as usize * (SIDE + PANEL as usize) + x as usize]
    }

    /// The same in a figure's own units from its foot.
    fn of_figure(&self, pos: Place, (x, y): (f32, f32)) -> [u8; 3] {
        self.at(pos, (x * UNIT, y * UNIT))
    }
}

/// Whether a colour is another, but for the dimmed edges of the picture.
fn is_about([r, g, b]: [u8; 3], Rgb(red, green, blue): Rgb) -> bool {
    [(r, red), (g, green), (b, blue)].into_iter().all(|(a, b)| a.abs_diff(b) <= 6)
}

fn by(Rgb(r, g, b): Rgb, light: f32) -> Rgb {
    let by = |value: u8| (f32::from(value) * light).min(255.0) as u8;
    Rgb(by(r), by(g), by(b))
}

#[test]
fn each_part_is_where_the_game_puts_it_in_the_colour_it_says() {
    // A bright drawing is shown in full light, which a test can know.
    let tree = Drawing { bright: true, ..TREE };
    let (green, pink) = ((10.0, 11.0), (12.0, 11.0));
    let picture =
        Picture::of(&garden(vec![Figure::new(green, 'T', tree, LEAVES), Figure::new(pink, 'T', tree, PETALS)], 255));
    let lawn = Picture::of(&garden(Vec::new(), 255));
    for (pos, own) in [(green, LEAVES), (pink, PETALS)] {
        let parts = [((0.0, -0.2), BARK), ((0.2, -0.9), own), ((0.0, -1.35), by(own, 1.5)), ((0.45, -0.375), BARK)];
        for (place, color) in parts {
            let drawn = picture.of_figure(pos, place);
            assert!(is_about(drawn, by(color, 1.2)), "{place:?}: {drawn:?} is not {color:?}");
        }
        let rim = picture.of_figure(pos, (0.5, -0.9));
        assert!(rim.iter().all(|&value| value < 110), "the rim {rim:?} is dark");
        let beside = (0.8, -1.5);
        assert_eq!(picture.of_figure(pos, beside), lawn.of_figure(pos, beside), "beside it is lawn");
    }
}

#[test]
fn the_names_of_two_side_by_side_do_not_lie_over_each_other() {
    let bright = Drawing { bright: true, ..Drawing::DISC };
    let named =
        |x, name: &str, color| Figure { label: Some(name.to_owned()), ..Figure::new((x, 11.0), '@', bright, color) };
    let both = [named(9.5, "Companion 1", LEAVES), named(11.0, "Companion 2", PETALS)];
    let written = |figures: &[Figure], color| {
        let picture = Picture::of(&garden(figures.to_vec(), 255));
        picture.0.into_iter().filter(|&pixel| is_about(pixel, by(color, 1.3))).count()
    };
    for (figure, color) in both.iter().zip([LEAVES, PETALS]) {
        let alone = written(std::slice::from_ref(figure), color);
        assert!(alone > 50, "{alone} pixels of a name");
        assert_eq!(written(&both, color), alone, "{:?}", figure.label);
    }
}

#[test]
fn a_drawing_turns_with_its_figure() {
    for n in 0..8u8 {
        let facing = f32::from(n) * std::f32::consts::TAU / 8.0;
        let figure = Figure { facing: Some(facing), ..Figure::new(MIDDLE, '+', VANE, PETALS) };
        let picture = Picture::of(&garden(vec![figure], 255));
        let along = |part: f32| picture.of_figure(MIDDLE, (facing.cos() * part, facing.sin() * part));
        assert!(is_about(along(0.8), by(PETALS, 1.2)), "{facing}: {:?}", along(0.8));
        assert!(!is_about(along(-0.8), by(PETALS, 1.2)), "{facing}: not to the back");
    }
}

#[test]
fn what_stands_throws_a_shadow_and_a_lamp_shines() {
    let beside = |drawing: Drawing, at: (f32, f32)| {
        let lamp = Figure::new(MIDDLE, 'i', drawing, Rgb(250, 220, 120));
        Picture::of(&garden(vec![lamp], 255)).of_figure(MIDDLE, at)
    };
    let sum = |color: [u8; 3]| color.into_iter().map(u32::from).sum::<u32>();
    let plain = Drawing { shadow: false, ..Drawing::DISC };
    let foot = (0.2, 0.1);
    assert!(sum(beside(Drawing::DISC, foot)) + 20 < sum(beside(plain, foot)));
    let near = (0.5, -0.35);
    assert!(sum(beside(plain, near)) + 20 < sum(beside(LAMP, near)));
    let far = (0.0, 2.5);
    assert_eq!(beside(plain, far), beside(LAMP, far), "a shine ends");
}

#[test]
fn a_figure_in_the_dark_is_seen_only_if_it_is_bright_and_a_glow_lights_the_lawn() {
    let middle = |figure: Figure, light| Picture::of(&garden(vec![figure], light)).of_figure(MIDDLE, (0.0, -0.35));
    let disc = Figure::new(MIDDLE, 'o', Drawing::DISC, PETALS);
    let dark = Picture::of(&garden(Vec::new(), 0)).of_figure(MIDDLE, (0.0, -0.35));
    assert_eq!(middle(disc.clone(), 0), dark);
    assert!(is_about(middle(Figure { drawing: LAMP, ..disc.clone() }, 0), Rgb(255, 159, 255)));
    let lawn = |glow| Picture::of(&garden(vec![Figure { glow, ..disc.clone() }], 255)).at(MIDDLE, (60.0, 60.0));
    assert!(lawn(6.0)[0] > lawn(0.0)[0] + 30);
}

#[test]
fn ground_is_plain_until_a_game_gives_it_a_grain() {
    let beds: fn(u32, usize, usize) -> f32 = |_, _, y| if y < 20 { 1.0 } else { 0.5 };
    let mut scene = garden(Vec::new(), 255);
    let near = |picture: &Picture| {
        let pixels = (0..60).flat_map(|y| (0..60).map(move |x| (x as f32, y as f32)));
        pixels.map(|by| picture.at(MIDDLE, by)).collect::<BTreeSet<_>>()
    };
    assert_eq!(near(&Picture::of(&scene)).len(), 1, "one green all over");
    scene.ground.grain = Grain { floor: beds, ..Grain::default() };
    let picture = Picture::of(&scene);
    assert_eq!(near(&picture).len(), 2);
    let [light, dark] = [5.0, 25.0].map(|y| picture.at(MIDDLE, (5.0, y))[1]);
    assert!(light.abs_diff(dark * 2) <= 1, "{light} and {dark}");
}

#[test]
fn life_and_name_are_over_a_figure_and_the_picture_is_always_the_same() {
    let plain = Figure::new(MIDDLE, 'T', TREE, LEAVES);
    let changed = |figure: Figure| {
        let (before, after) = (Picture::of(&garden(vec![plain.clone()], 255)), Picture::of(&garden(vec![figure], 255)));
        let row = |n: usize| n / (SIDE + PANEL as usize);
        let changed = before.0.iter().zip(&after.0).enumerate().filter(|(_, (a, b))| a != b);
        // What has life is also on the map, in the corner.
        let changed = changed.filter(|(n, _)| n % (SIDE + PANEL as usize) < SIDE - MAP.0);
        changed.map(|(n, _)| row(n)).collect::<BTreeSet<_>>()
    };
    assert!(changed(plain.clone()).is_empty());
    let life = changed(Figure { life: Some(Life { left: 3, max: 10 }), ..plain.clone() });
    let label = changed(Figure { label: Some("oak".to_owned()), ..plain.clone() });
    assert!(!life.is_empty() && !label.is_empty());
    assert!(label.iter().chain(&life).all(|&row| row < SIDE / 2), "{label:?}, {life:?}");
    assert!(label.last() < life.first(), "the name is above the bar");
}

/// Walls, hills of light, a grain and figures, looked at from between the tiles.
fn ruin() -> Scene {
    let stones: fn(u32, usize, usize) -> f32 = |n, x, y| 0.7 + 0.6 * lockstone::scene::noise(n, x, y);
    let mut scene = garden(Vec::new(), 0);
    for (n, tile) in scene.ground.tiles.iter_mut().enumerate() {
        let (x, y) = (n % GARDEN, n / GARDEN);
        tile.raised = x * 7 % 5 == y * 3 % 4;
        tile.light = ((x * 37 + y * 91) % 256) as u8;
        tile.color = Rgb((x * 11) as u8, (y * 12) as u8, 90);
    }
    scene.ground.grain = Grain { floor: stones, top: stones, face: stones };
    let tree = |n: u8| {
        let pos = (3.3 + f32::from(n) * 1.7, 4.1 + f32::from(n) * 1.3);
        let plain = Figure::new(pos, 'T', TREE, PETALS);
        Figure { life: Some(Life { left: n.into(), max: 9 }), label: Some("oak".to_owned()), ..plain }
    };
    scene.figures = (0..9).map(tree).collect();
    scene
}

#[test]
fn pictures_are_the_same_to_the_bit_wherever_and_however_they_are_drawn() {
    let mut frame = Frame::of_world(601, 437);
    let centers = [(10.0, 10.0), (9.37, 11.81), (0.4, 18.9), (-30.0, 10.0)];
    let digests = centers.map(|center| {
        frame.draw(Some(&Scene { center, ..ruin() }), &Status::default(), 0.0);
        frame.pixels().fold(0, |sum, pixel| mix64(sum ^ u64::from(pixel)))
    });
    assert_eq!(digests, DIGESTS, "of {centers:?}: {digests:#018x?}");
}

/// Rows and columns in which two pictures differ.
fn difference(before: &Picture, after: &Picture) -> (BTreeSet<usize>, BTreeSet<usize>) {
    let changed = before.0.iter().zip(&after.0).enumerate().filter(|(_, (a, b))| a != b).map(|(n, _)| n);
    changed.map(|n| (n / (SIDE + PANEL as usize), n % (SIDE + PANEL as usize))).unzip()
}

#[test]
fn a_hero_out_of_sight_has_an_arrow_at_the_edge_and_a_place_on_the_map() {
    let friend = |pos, is_hero| Figure { is_hero, name: Some("Ann".to_owned()), ..Figure::new(pos, '@', TREE, PETALS) };
    let nobody = Picture::of(&garden(Vec::new(), 255));
    let (rows, columns) = difference(&nobody, &Picture::of(&garden(vec![friend((-9.0, 10.0), true)], 255)));
    let on_map = |column: &usize| *column >= SIDE - MAP.0;
    assert!(columns.iter().any(on_map) && rows.iter().any(|row| *row < MAP.1));
    assert!(columns.iter().filter(|column| !on_map(column)).all(|column| *column < 80), "to the left: {columns:?}");
    assert!(rows.range(SIDE / 2 - 20..SIDE / 2 + 40).count() > 20, "half-way down: {rows:?}");
    let thing = Picture::of(&garden(vec![friend((-9.0, 10.0), false)], 255));
    assert!(difference(&nobody, &thing).0.is_empty(), "a thing has none");
}

#[test]
fn who_is_pointed_at_is_told_with_its_life() {
    let life = Some(Life { left: 7, max: 9 });
    let oak = Figure { name: Some("oak".to_owned()), life, ..Figure::new(MIDDLE, 'T', TREE, LEAVES) };
    let scene = garden(vec![oak], 255);
    let pointed = |at| {
        let mut frame = Frame::of_world(SIDE, SIDE);
        frame.point(at);
        frame.draw(Some(&scene), &Status::default(), 0.0);
        frame.pixels().collect::<Vec<_>>()
    };
    let middle = SIDE as f32 / 2.0;
    let nothing = pointed(None);
    assert_eq!(pointed(Some((60.0, 60.0))), nothing, "there is nobody");
    let told = pointed(Some((middle, middle - 12.0)));
    let rows: BTreeSet<_> = (0..told.len()).filter(|&n| told[n] != nothing[n]).map(|n| n / SIDE).collect();
    assert!(rows.len() > 30 && rows.iter().all(|row| *row < 60), "above: {rows:?}");
}

#[test]
fn skills_are_told_below_and_hits_beside_who_was_hit() {
    let scene = garden(Vec::new(), 255);
    let skill = |ready| Scene { skills: vec![Skill { key: 'K', name: "whirl", ready, count: None }], ..scene.clone() };
    let (plain, ready, used) = (Picture::of(&scene), Picture::of(&skill(1.0)), Picture::of(&skill(0.4)));
    let (rows, _) = difference(&plain, &ready);
    assert!(!rows.is_empty() && rows.iter().all(|row| *row > SIDE - 60), "{rows:?}");
    assert!(!difference(&ready, &used).0.is_empty(), "whether it is ready is told");
    let hit = |age| Hit { pos: MIDDLE, size: 1.0, by: -12, is_hero: false, age };
    let rows = |age| difference(&plain, &Picture::of(&Scene { hits: vec![hit(age)], ..scene.clone() })).0;
    let (first, last) = (rows(0.0), rows(0.6));
    assert!(first.iter().all(|row| row.abs_diff(SIDE / 2) < 60), "{first:?}");
    assert!(last.first() < first.first(), "it floats up");
    assert!(rows(1.0).is_empty(), "it is forgotten");
}

#[test]
fn who_was_hit_just_now_flashes() {
    let of = |flash| {
        let disc = Figure { flash, ..Figure::new(MIDDLE, 'o', Drawing { bright: true, ..Drawing::DISC }, LEAVES) };
        Picture::of(&garden(vec![disc], 255)).of_figure(MIDDLE, (0.0, -0.35))
    };
    assert!(of(1.0).iter().zip(of(0.0)).all(|(flashing, calm)| *flashing > calm + 20));
}

/// A session of three, of whom one is away.
fn session(loss: Loss) -> Status {
    let player = |n: u16, name: &str, exchange| PlayerStats {
        player: PlayerId(n),
        name: name.to_owned(),
        own: n == 0,
        sequencer: n == 1,
        exchange,
        key: None,
    };
    let ms = Duration::from_millis;
    let exchange = Exchange {
        peer: PeerId(1),
        round_trip: Some(RoundTrip { last: ms(99), smoothed: ms(102), jitter: ms(7) }),
        loss,
        traffic: TrafficByClass::default(),
        checksums_compared: 0,
        desyncs: 0,
        last_check: None,
    };
    let stats = Stats {
        players: vec![player(0, "Ann", None), player(1, "Bob", Some(exchange))],
        away: vec![(PlayerId(2), Some("Cid".to_owned()))],
        delay: DelayStats { commands: 2, last_ticks: 4, max_ticks: 5, sum_ticks: 9 },
        stalls: StallStats { count: 2, time: ms(1_300), longest: ms(900) },
        ..Stats::default()
    };
    Status { game: "garden", stats, ..Status::default() }
}

#[test]
fn the_panel_tells_loss_who_is_away_and_all_figures_to_who_asks() {
    let scene = garden(Vec::new(), 255);
    let rows = |before: &Status, after: &Status| {
        let (before, after) = (Picture::with(&scene, before), Picture::with(&scene, after));
        let changed = before.0.iter().zip(&after.0).enumerate().filter(|(_, (a, b))| a != b).map(|(n, _)| n);
        let (width, side) = (SIDE + PANEL as usize, SIDE);
        let (rows, columns): (BTreeSet<_>, BTreeSet<_>) = changed.map(|n| (n / width, n % width)).unzip();
        assert!(columns.iter().all(|column| *column >= side), "the world is as it was");
        rows.len()
    };
    let clear = session(Loss { expected: 400, recent_expected: 128, ..Loss::default() });
    let lossy = session(Loss { expected: 400, lost: 10, recent_expected: 128, recent_lost: 6 });
    assert_eq!(rows(&clear, &clear), 0);
    assert!((1..20).contains(&rows(&clear, &lossy)), "what is lost is told in the player's line");
    let here = Status { stats: Stats { away: Vec::new(), ..clear.stats.clone() }, ..clear.clone() };
    assert!(rows(&here, &clear) > 5, "who is away has a line");
    let asked = Status { figures: true, ..clear.clone() };
    assert!(rows(&clear, &asked) > 40, "figures take lines");
    assert!(asked.details().len() >= 3 && clear.details().is_empty());
}

/// A mark of a kind on four tiles around the middle.
fn marked(kind: AreaKind) -> Picture {
    let area = Area { low: (8.0, 8.0), high: (12.0, 12.0), kind, label: String::new() };
    Picture::of(&Scene { areas: vec![area], ..garden(Vec::new(), 255) })
}

#[test]
fn a_marked_part_of_the_world_is_told_from_others_by_more_than_its_colour() {
    let kinds = [AreaKind::Differs, AreaKind::Suspect, AreaKind::Chosen, AreaKind::Cone];
    let plain = Picture::of(&garden(Vec::new(), 255));
    // Which pixels are painted, whatever their colour.
    let painted = kinds.map(|kind| {
        let marked = marked(kind);
        let pixels: Vec<bool> = plain.0.iter().zip(&marked.0).map(|(before, after)| before != after).collect();
        assert_eq!(marked.at((7.0, 7.0), (0.0, 0.0)), plain.at((7.0, 7.0), (0.0, 0.0)), "{kind:?} stays within");
        assert_ne!(marked.at((8.0, 10.0), (2.0, 0.0)), plain.at((8.0, 10.0), (2.0, 0.0)), "{kind:?} has an edge");
        // How bright it is, without its colour, tells patterns apart.
        let bright = |pixel: &[u8; 3]| pixel.iter().map(|value| u32::from(*value)).sum::<u32>();
        let inside: Vec<u32> = (0..96).map(|n| bright(&marked.at((8.5, 9.0), (n as f32, 0.0)))).collect();
        let steps = inside.windows(2).filter(|two| two[0].abs_diff(two[1]) > 24).count();
        (pixels.iter().filter(|is_painted| **is_painted).count(), steps)
    });
    let [differs, suspect, chosen, cone] = painted;
    assert!(suspect.1 > differs.1 && differs.1 > chosen.1, "crossed, hatched, plain: {painted:?}");
    assert!(cone.0 * 4 < chosen.0, "a cone is an outline: {painted:?}");
}

fn desk(worlds: usize) -> (Desk, Shown) {
    let scene = || (garden(Vec::new(), 255), "as it was recorded".to_owned());
    let chart = Chart {
        size: (12, 12),
        marks: vec![(CellId::new(3, 4), AreaKind::Differs)],
        cone: Some(CellRect { low: CellId::new(2, 3), high: CellId::new(4, 5) }),
        ..Chart::default()
    };
    let shown = Shown {
        game: "garden".into(),
        tells_hero: true,
        worlds: std::iter::repeat_with(scene).take(worlds).collect(),
        chart: Some(chart),
        place: (0.25, "tick 40".into()),
        ..Shown::default()
    };
    let mut desk = Desk::new(1_280, 720);
    desk.draw(&shown);
    (desk, shown)
}

#[test]
fn a_viewer_knows_what_is_at_each_pixel_of_its_picture() {
    let (desk, _) = desk(2);
    let world =
        |spot| if let Some(Spot::World(n, (x, y))) = spot { (n, x.round(), y.round()) } else { panic!("{spot:?}") };
    // Each world has half of the picture beside the panel, and the same middle.
    assert_eq!(world(desk.spot((239.0, 350.0))), (0, 10.0, 10.0));
    assert_eq!(world(desk.spot((720.0, 350.0))), (1, 10.0, 10.0));
    assert_eq!(desk.spot((240.0, 10.0)), None, "a title");
    let Some(Spot::Bar(share)) = desk.spot((248.0, 700.0)) else { panic!("no bar") };
    assert!((share - 0.25).abs() < 0.01, "{share}");
    assert_eq!(desk.spot((2.0, 700.0)), Some(Spot::Bar(0.0)));
    assert_eq!(desk.spot((958.0, 700.0)), Some(Spot::Bar(1.0)));
    let cells = (0..720).flat_map(|y| (960..1_280).map(move |x| (x as f32, y as f32)));
    let cells: BTreeSet<_> = cells.filter_map(|at| desk.spot(at)).map(|spot| format!("{spot:?}")).collect();
    assert_eq!(cells.len(), 12 * 12, "every cell of the map");
    assert!(cells.contains(&format!("{:?}", Spot::Cell(CellId::new(11, 11)))));
}

#[test]
fn worlds_side_by_side_are_the_same_picture_twice_if_they_are_equal() {
    let (mut desk, mut shown) = desk(2);
    let column = |desk: &Desk, left: usize| {
        let pixels: Vec<u32> = desk.pixels().collect();
        (30..660).flat_map(|y| pixels[y * 1_280 + left..][..470].to_vec()).collect::<Vec<_>>()
    };
    assert_eq!(column(&desk, 2), column(&desk, 483));
    shown.worlds[1].0.figures.push(Figure::new(MIDDLE, '*', LAMP, PETALS));
    desk.draw(&shown);
    assert_ne!(column(&desk, 2), column(&desk, 483));
    shown.worlds.pop();
    desk.draw(&shown);
    assert!(matches!(desk.spot((720.0, 350.0)), Some(Spot::World(0, _))), "one has all the room");
}

#[test]
fn a_listed_line_is_found_under_the_mouse_and_shown_there_while_it_is_dragged() {
    let notes = vec![
        "weapon: a blade".to_owned(),
        "bag 1: a charm, with so much to tell of it that it takes two rows".to_owned(),
    ];
    let mut scene = Scene { notes, lists: true, ..garden(Vec::new(), 255) };
    let mut frame = Frame::new(SIDE + PANEL as usize, SIDE);
    frame.draw(Some(&scene), &Status::default(), 0.0);
    let x = SIDE as f32 + 40.0;
    let mut found: Vec<_> = (0..SIDE).filter_map(|y| frame.under((x, y as f32))).collect();
    let rows = found.len();
    found.dedup();
    assert_eq!(found, scene.notes.iter().cloned().map(Under::Line).collect::<Vec<_>>());
    assert!(rows > 40, "the longer one takes two rows: {rows} pixels");
    assert_eq!(frame.under((40.0, 40.0)), Some(Under::World));
    let mut pixels = |dragged, at| {
        frame.point(Some(at));
        frame.drag(dragged);
        frame.draw(Some(&scene), &Status::default(), 0.0);
        frame.rgba().to_vec()
    };
    let middle = (SIDE as f32 / 2.0, SIDE as f32 / 2.0);
    assert_ne!(pixels(Some("weapon: a blade"), middle), pixels(None, middle));
    scene.lists = false;
    frame.draw(Some(&scene), &Status::default(), 0.0);
    assert!((0..SIDE).all(|y| frame.under((x, y as f32)).is_none()), "other notes are no list");
}
