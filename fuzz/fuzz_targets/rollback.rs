//! libFuzzer's way into [`lockstone_fuzz::rollback`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    lockstone_fuzz::rollback::check(bytes);
});
