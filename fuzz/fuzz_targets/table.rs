//! libFuzzer's way into [`lockstone_fuzz::table`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    lockstone_fuzz::table::check(bytes);
});
