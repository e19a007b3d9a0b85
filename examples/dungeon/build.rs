//! Numbers the rules: peers of other sources are refused.

fn main() {
    // What only draws, steers and starts.
    lockstone_digest::rules("src", &["src/bot.rs", "src/bot", "src/input.rs", "src/main.rs", "src/scene"]);
}
