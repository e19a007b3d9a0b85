//! Whether the other end of a pair lives, and hears this one: asked on a channel of its own, and
//! answered beside the game, which may be busy.
//!
//! It must never say more than it is asked, or more than a few answers a second. Its loop is
//! [`run`].

use std::time::Duration;

use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender};
use futures::{FutureExt, StreamExt, select};
use matchbox_socket::{PeerId, WebRtcChannel};

use super::delay::Delay;

/// The channel's packets.
const QUESTION: &[u8] = &[0];
const ANSWER: &[u8] = &[1];

/// A question that nobody answers within that is asked again.
const ASK_AGAIN: Duration = Duration::from_millis(200);
/// So often in all: who has answered none of them is gone, after a second.
const QUESTIONS: usize = 5;
/// Who asks so often in a row does not hear the answers.
const IN_A_ROW: usize = 3;
/// Between two answers. What is asked in between goes without.
const ANSWER_PAUSE: Duration = Duration::from_millis(50);

/// What the probe finds out about the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// It answers.
    Lives,
    /// It was asked, and left all questions unanswered.
    Silent,
    /// It hears no answer.
    Deaf,
}

/// Answers the other end, and asks it for each doubt, which is then found to live or to be silent.
pub(super) async fn run(
    channel: WebRtcChannel,
    mut doubts: UnboundedReceiver<PeerId>,
    findings: UnboundedSender<Finding>,
) {
    let mut line = Line { channel, findings, pause: None, row: Delay::new(ASK_AGAIN), asked: 0 };
    loop {
        select! {
            heard = line.hear().fuse() => if heard.is_none() { return },
            doubt = doubts.next() => match doubt {
                Some(peer) => {
                    let finding = if line.ask(peer).await { Finding::Lives } else { Finding::Silent };
                    line.find(finding);
                }
                None => return,
            }
        }
    }
}

struct Line {
    channel: WebRtcChannel,
    findings: UnboundedSender<Finding>,
    /// Since the last answer.
    pause: Option<Delay>,
    /// Since the last question: those that come before it ends are a row, of so many by now.
    row: Delay,
    asked: usize,
}

impl Line {
    /// Waits for a packet, and answers it if it asks. Returns whether it is an answer, or nothing
    /// if the pair is over.
    async fn hear(&mut self) -> Option<bool> {
        let (from, bytes) = self.channel.next().await?;
        if *bytes == *QUESTION {
            self.count();
            if self.pause.as_mut().is_none_or(|pause| pause.now_or_never().is_some()) {
                self.pause = Some(Delay::new(ANSWER_PAUSE));
                self.say(ANSWER, from);
            }
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

    /// Counts a question.
    fn count(&mut self) {
        if (&mut self.row).now_or_never().is_some() {
            self.asked = 0;
        }
        self.row.reset(2 * ASK_AGAIN);
        self.asked += 1;
        if self.asked >= IN_A_ROW {
            self.find(Finding::Deaf);
        }
    }

    fn find(&self, finding: Finding) {
        // The pair is over if nobody listens.
        let _ = self.findings.unbounded_send(finding);
    }

    fn say(&mut self, word: &'static [u8], to: PeerId) {
        // An error means that the pair is over, which its socket tells.
        let _ = self.channel.try_send(word.into(), to);
    }
}
