//! Numbers the rules: peers of other sources are refused.

fn main() {
    // What only draws, hears, steers and starts.
    let without = ["src/bot.rs", "src/bot", "src/ear.rs", "src/ear", "src/input.rs", "src/main.rs", "src/scene"];
    lockstone_digest::rules("src", &without);
}
