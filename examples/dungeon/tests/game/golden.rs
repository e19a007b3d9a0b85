//! The golden checksums hold in this build. CI compares release and wasm32 with the same file.

#[test]
fn golden_checksums_hold() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden.txt");
    let kept = std::fs::read_to_string(path).expect("tests/golden.txt is there");
    assert_eq!(
        testkit::golden::golden(),
        kept,
        "after an intended change: cargo run --release -p dungeon --example golden > tests/golden.txt"
    );
}
