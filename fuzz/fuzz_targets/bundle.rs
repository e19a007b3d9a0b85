//! libFuzzer's way into [`lockstone_fuzz::bundle`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    lockstone_fuzz::bundle::check(bytes);
});
