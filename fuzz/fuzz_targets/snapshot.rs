//! libFuzzer's way into [`lockstone_fuzz::snapshot`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    lockstone_fuzz::snapshot::check(bytes);
});
