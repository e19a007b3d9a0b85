//! libFuzzer's way into [`lockstone_fuzz::party`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    lockstone_fuzz::party::check(bytes);
});
