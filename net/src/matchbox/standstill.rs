//! Whether this end stood still for so long that it was silent to its peers: its page was frozen,
//! its process stopped, or its machine asleep.

use std::time::Duration;

use web_time::SystemTime;

/// By then a peer has asked for a second, in vain.
const SILENT_AFTER: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct Standstill {
    /// When this end was last seen to go on. By the time of day: natively no other clock goes on
    /// while a machine sleeps. If somebody sets it, each peer is asked whether it lives, no more.
    seen: SystemTime,
}

impl Default for Standstill {
    fn default() -> Standstill {
        Standstill { seen: SystemTime::now() }
    }
}

impl Standstill {
    /// Whether this end goes on after such a time.
    pub fn is_over(&mut self) -> bool {
        let now = SystemTime::now();
        let before = core::mem::replace(&mut self.seen, now);
        now.duration_since(before).is_ok_and(|time| time > SILENT_AFTER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_standstill_is_noticed_once_and_a_clock_that_is_set_back_is_none() {
        let mut standstill = Standstill::default();
        assert!(!standstill.is_over());
        standstill.seen -= 2 * SILENT_AFTER;
        assert!(standstill.is_over() && !standstill.is_over());
        standstill.seen += 2 * SILENT_AFTER;
        assert!(!standstill.is_over() && !standstill.is_over());
    }
}
