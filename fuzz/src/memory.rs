//! Counts what is allocated, so that a check can say how much some bytes may cost.

use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Does something that may hold at most `bytes_max` bytes more at any time than are held now.
pub fn within<T>(bytes_max: usize, work: impl FnOnce() -> T) -> T {
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let result = work();
    let held = ALLOCATOR.peak_usage().saturating_sub(before);
    assert!(held <= bytes_max, "{held} bytes were held, where {bytes_max} are justified");
    result
}
