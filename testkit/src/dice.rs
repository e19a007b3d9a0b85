//! Random numbers of a test.

use lockstone_sim::mix64;

/// Random numbers of a test, from its seed.
#[derive(Default)]
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix64(self.0) % sides
    }
}
