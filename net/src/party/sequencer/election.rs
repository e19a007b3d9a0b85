//! How a sequencer comes to lead, when it may close ticks, and how it gives way: who has a vote, as
//! the closed turns name it, and whose it hears.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use lockstone_sim::{PlayerId, Simulation, Tick};

use super::{Entry, Guest, InputDelay, Justice, Meeting, Sequencing};
use crate::link::PeerId;
use crate::party::config::PartyConfig;
use crate::party::whole::Whole;
use crate::replica::{Estate, Mandate};
use crate::sequencer::{Capacity, Waiting};
use crate::session::{Applicants, DropReason, Io, Leader, Outbox, Role, Roll, Schedule};
use crate::wire::*;

/// So long does a member keep its vote that is not heard.
const VOTE_KEPT: Duration = Duration::from_secs(3);

/// A member that knows no turn of so long backs nobody: what is closed meanwhile is lost if the
/// others elect another.
const UNKNOWN_MAX: Duration = Duration::from_secs(2);

/// A member that can lead better is handed over to after so long: who has just come in may not have
/// said yet how well it can, and a page that is hidden may be seen again at once.
const BETTER_FOR: Duration = Duration::from_secs(1);

/// An election that takes longer is no more one that the leader of until now is likely to win.
const UNDECIDED_MAX: Duration = Duration::from_secs(2);

/// The time in which a peer leads without a break.
pub(super) struct Reign {
    /// The tick whose turn changed the electorate last, until that is settled.
    changed: Option<Tick>,
    /// Players who said goodbye: they promised never to vote again.
    pub resigned: BTreeSet<PlayerId>,
    /// Peers that are gone, as long as their players have a vote: their goodbye may come later than
    /// the turn that says so.
    pub removed: BTreeMap<PeerId, PlayerId>,
    /// When a quorum was heard last.
    pub backed_at: Duration,
    /// When this peer could close ticks again after it could not. Nobody's silence counts before.
    resumed_at: Duration,
    /// When this peer was last known to lead.
    led_at: Duration,
    /// Who could lead better than this peer, and since when.
    better: Option<(PlayerId, Duration)>,
    backing: Backing,
}

/// By what a sequencer closes ticks, if it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Backing {
    /// A quorum is heard.
    Quorum,
    /// It leads without one: as a branch, once the next turn says so.
    Branch(Vote),
    /// Too few are heard: it can close none.
    TooFew,
    /// Too few were heard for so long that it leads no more.
    GivenUp,
}

impl Reign {
    pub fn beginning(now: Duration) -> Reign {
        Reign {
            changed: None,
            resigned: BTreeSet::new(),
            removed: BTreeMap::new(),
            backed_at: now,
            resumed_at: now,
            led_at: now,
            better: None,
            backing: Backing::Quorum,
        }
    }

    /// Whether the next turn is the first of a branch.
    pub fn begins_branch(&self) -> bool {
        matches!(self.backing, Backing::Branch(_))
    }

    /// Whether this peer hears too few to close a tick.
    pub fn waits(&self) -> bool {
        matches!(self.backing, Backing::TooFew | Backing::GivenUp)
    }
}

impl<S: Simulation> Sequencing<S> {
    /// Leads on, with all that this peer knows.
    pub(in crate::party) fn take_over(config: PartyConfig, estate: Estate<S>, io: &mut Io<S>) -> Self {
        let Estate { entrant, me, stepper, mut membership, gone, mandate, commands, next_at, compared, .. } = estate;
        let (mut waiting, period) = (Waiting::default(), config.period());
        let mut guests = Roll::new(entrant.terms, config.settings().players_max);
        guests.follow(&membership.ledger, stepper.player);
        let open = membership.history.open();
        for (player, member) in membership.ledger.present() {
            waiting.resume(player, member.commands);
            if player != stepper.player {
                let guest = Guest::new(player, member.key, open, Entry::Untold(None), io.now);
                guests.insert(member.peer, player, guest);
            }
        }
        if let Some((before, comparison)) = compared
            && let Some((_, guest)) = guests.peers_mut().find(|(_, guest)| guest.player == before)
        {
            guest.comparison = comparison;
        }
        for command in commands {
            let _ = waiting.own_command(stepper.player, command);
        }
        let mut reign = Reign::beginning(io.now);
        // A change that was begun may be known to nobody else.
        reign.changed = Some(open).filter(|_| membership.ledger.electorates.settled().is_none());
        reign.resigned.extend(gone.and_then(|(peer, _)| membership.ledger.player(peer)));
        if mandate == Mandate::Offer {
            membership.members.hand_over(stepper.player, io.now);
        }
        membership.members.lead();
        let epoch = membership.members.promised();
        membership.begin(epoch);
        if mandate != Mandate::Quorum {
            (reign.backing, reign.changed) = (Backing::Branch(Vote { epoch, leader: stepper.player }), None);
        }
        let mut sequencing = Sequencing {
            justice: Justice::new(&stepper),
            input_delay: InputDelay::new(config.settings(), period, open.since(stepper.tick()), io.now),
            config,
            entrant,
            leader: Leader { peer: me, epoch },
            membership,
            reign,
            meeting: Meeting::default(),
            stepper,
            waiting,
            applicants: Applicants::new(),
            schedule: None,
            advanced_at: io.now,
            guests,
            offer: None,
        };
        // What was closed long ago is played at once, so that others follow at once.
        sequencing.schedule = Some(Schedule::going_on(sequencing.unclosed(), next_at.max(io.now), period));
        // Its player may be back by now, as another.
        if let Some((peer, reason)) = gone {
            sequencing.remove(peer, reason);
        }
        let lost: Vec<_> = sequencing.guests.peers().map(|(peer, _)| peer).collect();
        for peer in lost {
            match io.ingress.is_connected(peer) {
                false => sequencing.remove(peer, LeaveReason::Lost),
                // They come along once they hear of the branch.
                true if mandate == Mandate::Offer => sequencing.remove(peer, LeaveReason::Silent),
                true => {}
            }
        }
        sequencing.put_out_distrusted(&mut io.out);
        sequencing.flush(io.now, &mut io.out);
        sequencing
    }

    /// Puts those out who are not trusted any more.
    fn put_out_distrusted(&mut self, out: &mut Outbox<S>) {
        let members = &self.membership.members;
        let reason = |(peer, guest): (PeerId, &Guest<S>)| Some((peer, members.distrusted(guest.player)?));
        let distrusted: Vec<_> = self.guests.peers().filter_map(reason).collect();
        for (peer, reason) in distrusted {
            self.put_out(peer, reason, out);
        }
    }

    /// Another leads in this epoch, as it says. Only one of both leads on.
    pub(super) fn rivalled(&mut self, from: PeerId, (by, epoch): (PlayerId, Epoch), lead: &Lead, io: &mut Io<S>) {
        match self.membership.hear_lead(by, epoch, lead, io.now, &mut io.out) {
            true => self.meeting.yields = Some(from),
            false => io.out.dropped(DropReason::Unexpected),
        }
    }

    /// Whether this peer leads, as far as it knows.
    pub(super) fn leads(&self) -> bool {
        let own = Vote { epoch: self.leader.epoch, leader: self.stepper.player };
        self.membership.members.leader() == Some(own)
    }

    /// Whether a quorum was heard lately, and knows what was closed a while ago.
    pub(super) fn is_backed(&self, now: Duration) -> bool {
        self.is_backed_without(None, now)
    }

    /// The same, if a member is to lose its vote.
    pub(super) fn is_backed_without(&self, out: Option<PlayerId>, now: Duration) -> bool {
        let backs = |player| self.hears(player, now) && !self.lags(player) && Some(player) != out;
        self.membership.is_quorum(|player| backs(player) || self.reign.resigned.contains(&player))
    }

    /// Whether a member is not known to know what was closed a while ago.
    fn lags(&self, player: PlayerId) -> bool {
        let unknown = |guest: &Guest<S>| self.membership.history.open().since(guest.feed.known());
        self.member(player).is_some_and(|guest| self.config.period() * unknown(guest) > UNKNOWN_MAX)
    }

    /// Closes the open tick, if this peer may.
    pub(super) fn close(&mut self, now: Duration) -> bool {
        if !self.leads() {
            return false;
        }
        let branch = match self.reign.backing {
            Backing::Branch(vote) => Some(vote),
            Backing::Quorum | Backing::TooFew | Backing::GivenUp => None,
        };
        if branch.is_none() && !self.is_backed(now) {
            if self.reign.backing == Backing::Quorum {
                self.reign.backing = Backing::TooFew;
            }
            return false;
        }
        if core::mem::replace(&mut self.reign.backing, Backing::Quorum) == Backing::TooFew {
            self.reign.resumed_at = now;
            self.guests.peers_mut().for_each(|(_, guest)| guest.heard_at = now);
        }
        self.reign.backed_at = now;
        let electorate = branch.map_or_else(|| self.electorate(now), |vote| vec![RawInput::Branch(vote)]);
        let tick = self.membership.history.open();
        match electorate.last() {
            Some(RawInput::Electorate(_)) => self.reign.changed = Some(tick),
            Some(_) => self.reign.changed = None,
            None => {}
        }
        let overdue = self.overdue(tick);
        let inputs = self.waiting.take(Capacity::PARTY, self.membership.ledger.requests.next());
        self.membership.close(&[electorate, overdue, inputs].concat());
        true
    }

    /// The leaves of those who were away for too long.
    fn overdue(&mut self, tick: Tick) -> Vec<RawInput> {
        let away_ticks = self.stepper.simulation.away_ticks();
        let overdue = self.membership.ledger.overdue(tick, away_ticks, |player| self.is_absent(player));
        overdue.iter().for_each(|player| self.guests.free(*player));
        overdue.into_iter().map(|player| RawInput::Leave(player, LeaveReason::Away)).collect()
    }

    /// Whether a member was heard lately. This peer hears itself.
    pub(super) fn hears(&self, player: PlayerId, now: Duration) -> bool {
        player == self.stepper.player || self.membership.members.hears(player, now)
    }

    /// The guest that is a member: the peer that the closed turns name. Who comes back is not yet.
    fn member(&self, player: PlayerId) -> Option<&Guest<S>> {
        let member = self.membership.ledger.members.get(&player).filter(|member| member.away.is_none())?;
        self.guests.of(member.peer).filter(|guest| guest.player == player)
    }

    /// What the next turn says of the electorate: everyone whose hero is in the world, and who is
    /// heard. Who falls silent keeps its vote for a while.
    fn electorate(&self, now: Duration) -> Vec<RawInput> {
        let (own, members) = (self.stepper.player, &self.membership.members);
        if let Some(changed) = self.reign.changed {
            let knows = |player| {
                let knows = self.member(player).is_some_and(|guest| guest.knows(changed));
                player == own || knows || self.reign.resigned.contains(&player)
            };
            return if self.membership.is_quorum(knows) { vec![RawInput::Settled] } else { Vec::new() };
        }
        let Some(settled) = self.membership.ledger.electorates.settled() else { return Vec::new() };
        let silent_since = |player| members.silent_since(player).max(self.reign.resumed_at);
        let is_kept = |player| settled.members.contains(&player) && now < silent_since(player) + VOTE_KEPT;
        let next = self.named(|player| {
            player == own || self.member(player).is_some() && (self.hears(player, now) || is_kept(player))
        });
        if next == *settled || !next.members.contains(&own) { Vec::new() } else { vec![RawInput::Electorate(next)] }
    }

    /// The electorate of those members that count, this peer being the senior.
    fn named(&self, counts: impl Fn(PlayerId) -> bool) -> Electorate {
        let members = self.membership.ledger.members.keys().copied().filter(|player| counts(*player));
        let members: Vec<_> = members.collect();
        Electorate { members: members.try_into().expect("no more are let in"), senior: self.stepper.player }
    }

    /// Takes part in deciding who leads.
    pub(super) fn elect(&mut self, io: &mut Io<S>) {
        self.hand_over_to_better(io);
        let (since, patience) = (self.reign.backed_at, self.settings().silence_timeout);
        self.membership.advance((since, patience), io);
        if self.leads() {
            self.put_out_distrusted(&mut io.out);
            self.reign.led_at = io.now;
            // From now on it is as any other who waits, and lets another be elected.
            if io.now >= since + patience && !self.is_backed(io.now) {
                self.reign.backing = Backing::GivenUp;
                self.membership.members.suspect();
            }
        }
        let known = self.membership.known();
        if let Some(voters) = self.membership.elected(io.now) {
            // One member may claim to know anything: it counts only if the others are too few.
            let is_sure = self.membership.knows_all(&voters);
            let members = &mut self.membership.members;
            if !is_sure && voters.iter().any(|(_, theirs)| theirs.exceeds(&known)) {
                members.decline();
            } else {
                // It led until now, and all vote for it again.
                members.lead();
                self.leader.epoch = members.promised();
                self.membership.begin(self.leader.epoch);
                self.guests.peers_mut().filter(|(_, guest)| guest.plays()).for_each(|(_, guest)| {
                    guest.entry = Entry::Untold(None);
                });
            }
        }
    }

    /// Hands over to a member that can lead better, if there is one.
    fn hand_over_to_better(&mut self, io: &mut Io<S>) {
        let (before, better) = (self.reign.better, self.better(io));
        let known = before.filter(|(player, _)| Some(*player) == better);
        self.reign.better = known.or(better.map(|player| (player, io.now)));
        if let Some((heir, since)) = known
            && io.now >= since + BETTER_FOR
        {
            self.reign.better = None;
            // One that is lost again and again is no better leader.
            if self.membership.members.indulge(heir, io.now) {
                self.membership.members.hand_over(heir, io.now);
            }
        }
    }

    /// The member of the electorate that can lead best, if better than this peer: it is heard, and
    /// knows the turns.
    fn better(&self, io: &Io<S>) -> Option<PlayerId> {
        let (members, electorates) = (&self.membership.members, &self.membership.ledger.electorates);
        let may = self.leads() && self.reign.backing == Backing::Quorum && members.is_settled(io.now);
        let electorate = electorates.settled().filter(|_| may)?;
        let can = |player: &PlayerId| self.hears(*player, io.now) && !self.lags(*player) && members.is_trusted(*player);
        let able = electorate.members.iter().copied().filter(can);
        let (fitness, player) = able.map(|player| (members.fitness(player), player)).min()?;
        (fitness < io.fitness).then_some(player)
    }

    /// Whether another leads, or nobody does and this peer lets others decide.
    pub(super) fn is_deposed(&self) -> bool {
        self.reign.backing == Backing::GivenUp
            || self.successor().is_some()
            || self.advanced_at > self.reign.led_at + UNDECIDED_MAX
    }

    /// The peer of another that leads from now on.
    fn successor(&self) -> Option<PeerId> {
        let vote = self.membership.members.leader().filter(|vote| vote.leader != self.stepper.player);
        let elected = vote.and_then(|vote| Some(self.membership.ledger.members.get(&vote.leader)?.peer));
        elected.or(self.meeting.leader)
    }

    /// Follows another that leads, which may not know those whom this peer let in last.
    pub(super) fn step_down(self, io: &mut Io<S>) -> impl Role<S> + use<S> {
        if let Some(successor) = self.successor() {
            for (peer, _) in self.guests.peers() {
                io.out.reliably(Epoch::default(), peer, &Message::Elsewhere(successor));
            }
        }
        let Sequencing { config, entrant, leader, membership, mut waiting, stepper, schedule, meeting, reign, .. } =
            self;
        let next_at = schedule.map_or(io.now, |schedule| schedule.time_of(stepper.tick()));
        let commands = waiting.withdraw(stepper.player);
        let (me, mandate, progressed) = (leader.peer, Mandate::Quorum, reign.backed_at);
        let (gone, compared) = (None, None);
        let estate =
            Estate { entrant, me, stepper, membership, gone, mandate, commands, next_at, progressed, compared };
        let mut replica = Whole::step_down(config, estate, io);
        if meeting.leader.is_some() {
            // To that one it is no member, but one that comes back.
            replica.seek(io);
        }
        replica
    }
}
