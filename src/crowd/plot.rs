//! Cost against the number of players, as a picture.

use plotters::coord::Shift;
use plotters::prelude::*;

use super::report::CrowdReport;

const SIZE: (u32, u32) = (900, 760);
const INK: RGBColor = RGBColor(40, 40, 48);

/// A line of the picture: its name, its colour, and its value in a report.
type Line = (&'static str, RGBColor, fn(&CrowdReport) -> f64);

const TRAFFIC: [Line; 4] = [
    ("flooding: every turn to everyone", RGBColor(196, 78, 82), |report| report.flooding.bytes / 1_000.0),
    ("state replication, simulating nothing", RGBColor(221, 132, 82), |report| report.replication.bytes / 1_000.0),
    ("relay, down", RGBColor(76, 114, 176), |report| report.down.bytes / 1_000.0),
    ("relay, up", RGBColor(85, 168, 104), |report| report.up.bytes / 1_000.0),
];
const TIME: [Line; 2] = [
    ("a tick of the relay, alone on its machine", RGBColor(76, 114, 176), |report| {
        report.relay_alone.mean_us / 1_000.0
    }),
    ("a tick of a replica", RGBColor(85, 168, 104), |report| report.replica.mean_us / 1_000.0),
];

/// Draws reports of different numbers of players as an SVG.
///
/// # Errors
/// What the drawing says, which for a picture in memory it never does.
pub fn plot(reports: &[CrowdReport]) -> Result<String, String> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        draw(&area, reports).map_err(|error| error.to_string())?;
    }
    Ok(svg)
}

fn draw<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    reports: &[CrowdReport],
) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
    area.fill(&WHITE)?;
    let spread = reports.first().map_or("", |report| report.spread);
    let (top, bottom) = area.split_vertically(SIZE.1 * 3 / 5);
    chart(&top, reports, &format!("{spread}: kB/s a player, what packets cost included"), &TRAFFIC)?;
    chart(&bottom, reports, "milliseconds of one core", &TIME)?;
    area.present()
}

/// Lines over the number of players. Both axes are logarithmic: what is even on them
/// grows in proportion.
fn chart<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    reports: &[CrowdReport],
    caption: &str,
    lines: &[Line],
) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
    let values = || lines.iter().flat_map(|(.., value)| reports.iter().map(value)).filter(|value| *value > 0.0);
    let (low, high) = (values().fold(f64::MAX, f64::min) / 2.0, values().fold(f64::MIN_POSITIVE, f64::max) * 2.0);
    let players = || reports.iter().map(|report| f64::from(report.players));
    let (fewest, most) = (players().fold(f64::MAX, f64::min) * 0.9, players().fold(1.0, f64::max) * 1.1);
    let mut chart = ChartBuilder::on(area)
        .margin(16)
        .caption(caption, ("sans-serif", 20).into_font().color(&INK))
        .x_label_area_size(36)
        .y_label_area_size(64)
        .build_cartesian_2d((fewest..most).log_scale().with_key_points(players().collect()), (low..high).log_scale())?;
    let label = ("sans-serif", 15).into_font().color(&INK);
    let whole = |players: &f64| format!("{players:.0}");
    chart
        .configure_mesh()
        .x_desc("players")
        .label_style(label.clone())
        .x_label_formatter(&whole)
        .light_line_style(WHITE)
        .bold_line_style(INK.mix(0.12))
        .draw()?;
    for (name, colour, value) in lines {
        let points = || reports.iter().map(|report| (f64::from(report.players), value(report)));
        chart
            .draw_series(LineSeries::new(points(), colour.stroke_width(2)))?
            .label(*name)
            .legend(|(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
        chart.draw_series(points().map(|point| Circle::new(point, 3, colour.filled())))?;
    }
    chart
        .configure_series_labels()
        .label_font(label)
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.85))
        .border_style(INK.mix(0.3))
        .draw()
}
