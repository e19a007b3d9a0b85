//! libFuzzer's way into [`lockstone_fuzz::wire`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    lockstone_fuzz::wire::check(bytes);
});
