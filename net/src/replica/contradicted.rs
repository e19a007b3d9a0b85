//! A leader that tells other checksums than its members', and gives way to nobody.
//!
//! ```text
//! a difference ─► Desync to the leader and all members ─► a quorum had one world, and not its
//!                    └─► an honest leader hands over          └─► it still leads: it lies
//! ```
//!
//! How an honest one finds that its world is the odd one is in `party/sequencer/repair`. It must
//! never be deposed by what fewer than a quorum say. Its loop is [`Contradicted::advance`].

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use lockstone_sim::{Checksum, PlayerId, Tick};

use super::{Place, Replica, Share};
use crate::session::{Event, Io, OnDesync};
use crate::wire::{DesyncNotice, LeaveReason, Message};

/// An honest leader has handed over by then.
const GIVES_WAY_WITHIN: Duration = Duration::from_secs(5);

/// What members say of their leader's checksums.
#[derive(Default)]
pub(super) struct Contradicted {
    /// What they had at a tick of which the leader told them another, until this world is there.
    told: BTreeMap<PlayerId, (Tick, Checksum)>,
    /// Those who had the same as this member.
    by: BTreeSet<PlayerId>,
    /// Since when they are a quorum.
    since: Option<Duration>,
}

impl Contradicted {
    pub fn told(&mut self, by: PlayerId, tick: Tick, theirs: Checksum) {
        self.told.insert(by, (tick, theirs));
    }

    /// Whether a quorum has waited long enough for the leader to hand over.
    fn advance(
        &mut self,
        ours: &BTreeMap<Tick, Checksum>,
        is_quorum: impl Fn(&BTreeSet<PlayerId>) -> bool,
        now: Duration,
    ) -> bool {
        let Contradicted { told, by, since } = self;
        told.retain(|player, (tick, theirs)| {
            if ours.get(tick) == Some(theirs) {
                by.insert(*player);
            }
            ours.last_key_value().is_none_or(|(newest, _)| newest < tick)
        });
        is_quorum(by) && now >= *since.get_or_insert(now) + GIVES_WAY_WITHIN
    }
}

impl<F: Share> Replica<F> {
    /// Tells the other members of a difference from the leader.
    pub(super) fn contradict(&mut self, notice: DesyncNotice, io: &mut Io<F::Sim>) {
        let Place::Joined(session) = &mut self.place else { return };
        let Some(succession) = session.succession.as_mut() else { return };
        let me = succession.membership.me;
        succession.contradicted.told(me, notice.tick, notice.ours);
        let others =
            succession.membership.ledger.present().filter(|(player, _)| ![me, session.sequencer].contains(player));
        for (_, other) in others {
            io.out.reliably(session.leader.epoch, other.peer, &Message::Desync(notice));
        }
    }

    /// Follows a leader no more that lies about its world.
    pub(super) fn depose_liar(&mut self, io: &mut Io<F::Sim>) {
        if self.settings.on_desync != OnDesync::Repair {
            return;
        }
        let Place::Joined(session) = &mut self.place else { return };
        let (Some(succession), Some(stepper)) = (&mut session.succession, session.life.stepper()) else { return };
        let (membership, leader) = (&mut succession.membership, session.sequencer);
        let is_quorum = |by: &BTreeSet<PlayerId>| membership.is_quorum(|player| by.contains(&player));
        let is_due = succession.contradicted.advance(&stepper.checksums, is_quorum, io.now);
        if is_due && membership.members.is_trusted(leader) {
            membership.members.distrust(leader, LeaveReason::Lied);
            session.comparison.acquit(&mut io.out);
            io.out.events.push_back(Event::Liar { player: leader });
            self.elect(io);
        }
    }
}
