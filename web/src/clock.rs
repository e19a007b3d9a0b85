//! The page's time.

use std::sync::LazyLock;
use std::time::Duration;

use web_time::Instant;

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The time since the page was first asked for it.
pub(crate) fn now() -> Duration {
    START.elapsed()
}
