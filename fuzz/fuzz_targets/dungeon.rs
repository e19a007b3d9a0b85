//! libFuzzer's way into [`lockstone_fuzz::dungeon`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    lockstone_fuzz::dungeon::check(bytes);
});
