//! libFuzzer's way into [`lockstone_fuzz::recording`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    lockstone_fuzz::recording::check(bytes);
});
