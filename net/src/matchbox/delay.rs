//! A time that passes, and has passed from then on. It may be asked again at any time.
//!
//! The timer of `futures_timer` is that natively alone: in a browser it breaks whoever asks it once
//! more.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures::FutureExt;

#[derive(Debug)]
pub(super) struct Delay {
    /// Until it has passed.
    timer: Option<futures_timer::Delay>,
}

impl Delay {
    pub fn new(time: Duration) -> Delay {
        Delay { timer: Some(futures_timer::Delay::new(time)) }
    }

    /// Lets it pass anew, from now on.
    pub fn reset(&mut self, time: Duration) {
        *self = Delay::new(time);
    }
}

impl Future for Delay {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(timer) = &mut self.timer {
            ready!(timer.poll_unpin(cx));
            self.timer = None;
        }
        Poll::Ready(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_passed_stays_so_until_it_begins_anew() {
        let mut delay = Delay::new(Duration::from_millis(1));
        futures::executor::block_on(&mut delay);
        assert!((&mut delay).now_or_never().is_some() && (&mut delay).now_or_never().is_some());
        delay.reset(Duration::from_secs(600));
        assert!((&mut delay).now_or_never().is_none());
    }
}
