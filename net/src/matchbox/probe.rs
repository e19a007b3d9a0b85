//! Whether the other end of a pair lives: asked on a channel of its own, and answered beside the
//! game, which may be busy.
//!
//! It must never say more than it is asked, or more than a few answers a second. Its loop is
//! [`run`].

use std::time::Duration;

use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender};
use futures::{FutureExt, StreamExt, select};
use futures_timer::Delay;
use matchbox_socket::{PeerId, WebRtcChannel};

/// The channel's packets.
const QUESTION: &[u8] = &[0];
const ANSWER: &[u8] = &[1];

/// A question that nobody answers within that is asked again.
const ASK_AGAIN: Duration = Duration::from_millis(200);
/// So often in all: who has answered none of them is gone, after a second.
const QUESTIONS: usize = 5;
/// Between two answers. What is asked in between goes without.
const ANSWER_PAUSE: Duration = Duration::from_millis(50);

/// Answers the other end, and asks it for each doubt, whose verdict is whether it lives.
pub(super) async fn run(
    channel: WebRtcChannel,
    mut doubts: UnboundedReceiver<PeerId>,
    verdicts: UnboundedSender<bool>,
) {
    let mut line = Line { channel, pause: None };
    loop {
        select! {
            heard = line.hear().fuse() => if heard.is_none() { return },
            doubt = doubts.next() => match doubt {
                Some(peer) => {
                    // The pair is over if nobody listens.
                    let _ = verdicts.unbounded_send(line.ask(peer).await);
                }
                None => return,
            }
        }
    }
}

struct Line {
    channel: WebRtcChannel,
    /// Since the last answer.
    pause: Option<Delay>,
}

impl Line {
    /// Waits for a packet, and answers it if it asks. Returns whether it is an answer, or nothing
    /// if the pair is over.
    async fn hear(&mut self) -> Option<bool> {
        let (from, bytes) = self.channel.next().await?;
        let rested = self.pause.as_mut().is_none_or(|pause| pause.now_or_never().is_some());
        if *bytes == *QUESTION && rested {
            self.pause = Some(Delay::new(ANSWER_PAUSE));
            self.say(ANSWER, from);
        }
        Some(*bytes == *ANSWER)
    }

    /// Asks until there is an answer. A question may have been long under way, so it is none.
    async fn ask(&mut self, peer: PeerId) -> bool {
        for _ in 0..QUESTIONS {
            self.say(QUESTION, peer);
            let mut pause = Delay::new(ASK_AGAIN).fuse();
            loop {
                select! {
                    heard = self.hear().fuse() => match heard {
                        Some(false) => {}
                        answer => return answer.is_some(),
                    },
                    () = pause => break,
                }
            }
        }
        false
    }

    fn say(&mut self, word: &'static [u8], to: PeerId) {
        // An error means that the pair is over, which its socket tells.
        let _ = self.channel.try_send(word.into(), to);
    }
}
