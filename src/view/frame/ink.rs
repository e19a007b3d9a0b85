//! Text, boxes and bars on a picture.

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};
use tiny_skia::{Color, Paint, Pixmap, Rect, Transform};

use crate::scene::Rgb;

/// How text looks.
#[derive(Clone, Copy)]
pub(super) struct Font {
    pub size: RasterHeight,
    pub weight: FontWeight,
    pub color: Rgb,
}

impl Font {
    pub const fn small(color: Rgb) -> Font {
        Font { size: RasterHeight::Size16, weight: FontWeight::Regular, color }
    }

    pub const fn bold(color: Rgb) -> Font {
        Font { size: RasterHeight::Size16, weight: FontWeight::Bold, color }
    }

    pub const fn title(color: Rgb) -> Font {
        Font { size: RasterHeight::Size32, weight: FontWeight::Bold, color }
    }

    /// Pixels that a text is wide.
    pub fn width(self, text: &str) -> i32 {
        (text.chars().count() * get_raster_width(self.weight, self.size)) as i32
    }

    /// Writes a text. What lies outside the picture is left out.
    pub fn write(self, pixmap: &mut Pixmap, (x, y): (i32, i32), text: &str) {
        let mut x = x;
        for c in text.chars() {
            let glyph = get_raster(c, self.weight, self.size).or_else(|| get_raster('?', self.weight, self.size));
            let Some(glyph) = glyph else { continue };
            for (dy, row) in glyph.rows().enumerate() {
                for (dx, &cover) in row.iter().enumerate().filter(|(_, cover)| **cover > 0) {
                    blend(pixmap, (x + dx as i32, y + dy as i32), self.color, cover);
                }
            }
            x += glyph.width() as i32;
        }
    }

    /// Writes a text with a dark rim, so that it can be read on anything.
    pub fn write_rimmed(self, pixmap: &mut Pixmap, (x, y): (i32, i32), text: &str) {
        let rim = Font { color: Rgb(0, 0, 0), ..self };
        for (dx, dy) in [(-1, 0), (1, 0), (0, -1), (0, 1)] {
            rim.write(pixmap, (x + dx, y + dy), text);
        }
        self.write(pixmap, (x, y), text);
    }

    /// Cuts a text into lines of at most so many pixels, between words where it can.
    pub fn wrap(self, text: &str, width: i32) -> Vec<String> {
        let fits = (width as usize / get_raster_width(self.weight, self.size)).max(1);
        let mut lines = vec![String::new()];
        for word in text.split_whitespace() {
            // What is longer than a line is cut into lines.
            for piece in word.chars().collect::<Vec<_>>().chunks(fits) {
                let line = lines.last_mut().expect("there is always one");
                match line.chars().count() {
                    0 => line.extend(piece),
                    used if used + 1 + piece.len() <= fits => line.extend([' '].iter().chain(piece)),
                    _ => lines.push(piece.iter().collect()),
                }
            }
        }
        lines
    }
}

fn blend(pixmap: &mut Pixmap, (x, y): (i32, i32), Rgb(r, g, b): Rgb, cover: u8) {
    if x < 0 || y < 0 || x >= pixmap.width() as i32 || y >= pixmap.height() as i32 {
        return;
    }
    let at = y as usize * pixmap.width() as usize + x as usize;
    let pixel = &mut pixmap.data_mut().as_chunks_mut::<4>().0[at];
    for (value, ink) in pixel.iter_mut().zip([r, g, b]) {
        let cover = u32::from(cover);
        *value = ((u32::from(*value) * (255 - cover) + u32::from(ink) * cover) / 255) as u8;
    }
}

/// A paint of one colour.
pub(super) fn paint(Rgb(r, g, b): Rgb, alpha: u8) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color(Color::from_rgba8(r, g, b, alpha));
    paint.anti_alias = true;
    paint
}

/// A filled box.
pub(super) fn fill(pixmap: &mut Pixmap, (x, y, width, height): (f32, f32, f32, f32), color: Rgb, alpha: u8) {
    if let Some(rect) = Rect::from_xywh(x, y, width, height) {
        pixmap.fill_rect(rect, &paint(color, alpha), Transform::identity(), None);
    }
}

/// A bar: so much of its width is filled.
pub(super) fn bar(pixmap: &mut Pixmap, (x, y, width, height): (f32, f32, f32, f32), part: f32, color: Rgb) {
    fill(pixmap, (x - 1.0, y - 1.0, width + 2.0, height + 2.0), Rgb(0, 0, 0), 200);
    fill(pixmap, (x, y, width, height), super::lit(color, [0.22; 3]), 255);
    let filled = (width * part.clamp(0.0, 1.0)).round();
    fill(pixmap, (x, y, filled, height), color, 255);
    fill(pixmap, (x, y, filled, (height / 3.0).floor()), Rgb(255, 255, 255), 46);
}
