//! libFuzzer's way into [`lockstone_fuzz::relay`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    lockstone_fuzz::relay::check(bytes);
});
