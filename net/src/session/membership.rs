//! What a member of a session that outlives its leader keeps, whatever its role: who is in, whose
//! votes count, the newest closed turns, and its own vote.
//!
//! It follows the turns as they become known, and talks to the other members of who leads. It never
//! plays, and never decides what is in a turn.

mod votes;

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use lockstone_sim::{PlayerId, Simulation, Tick};

use super::ingress::Ingress;
use super::minority::Minority;
use super::{Attested, Ballots, Claims, DropReason, Event, Expulsion, Heard, Io, Ledger, Offence, Outbox};
use crate::intake::Given;
use crate::key::PlayerKey;
use crate::limits::{ATTESTED_TICKS, BULK_PACKET_BYTES_MAX, EPOCHS_TOLD_MAX};
use crate::link::{Channel, PeerId};
use crate::members::{Members, Outlook};
use crate::sequencer::History;
use crate::wire::*;

/// What became of a member's vote since it is here, at best. Its player may have had one before, as
/// another peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
    Unnamed,
    /// An electorate names it.
    Named,
    /// A quorum knows of that.
    Known,
}

pub struct Membership {
    pub me: PlayerId,
    peer: PeerId,
    pub members: Members,
    pub ledger: Ledger,
    pub history: History<RawTurn>,
    /// The epoch of the leader that is followed. Turns of those before may be on their way yet.
    epoch: Epoch,
    leader: PlayerId,
    /// How far the turns of each epoch before go: the newest few.
    past: VecDeque<Known>,
    standing: Standing,
    minority: Minority,
    /// Who leads, or led until now, and signs the turns since it began to: whatever epochs it lets
    /// begin, it owes the same.
    signer: PlayerId,
    attested: Attested,
    expulsion: Expulsion,
    claims: Claims,
    ballots: Ballots,
    /// How well other members said that they can lead.
    fitness: BTreeMap<PlayerId, Fitness>,
    /// Who was told how well this one can.
    fitness_told: BTreeMap<PeerId, Fitness>,
    /// The leader told others other turns: nobody's turns go on from these.
    is_contested: bool,
}

impl Membership {
    /// Of that player and peer, let in by a leader. It knows nothing before tick `first`.
    pub fn new((me, peer): (PlayerId, PeerId), leader: Vote, ledger: Ledger, first: Tick, now: Duration) -> Membership {
        let (members, past) = (Members::following(me, leader, now), VecDeque::new());
        let (history, minority) = (History::starting_at(first), Minority::default());
        let (epoch, standing, attested) = (leader.epoch, Standing::Unnamed, Attested::beginning(first, ATTESTED_TICKS));
        let mut membership = Membership {
            me,
            peer,
            members,
            ledger,
            history,
            epoch,
            leader: leader.leader,
            past,
            standing,
            minority,
            signer: leader.leader,
            attested,
            expulsion: Expulsion::default(),
            claims: Claims::default(),
            ballots: Ballots::of((me, peer), None, Epoch::default()),
            fitness: BTreeMap::new(),
            fitness_told: BTreeMap::new(),
            is_contested: false,
        };
        membership.look_up_vote();
        membership
    }

    /// How far the turns go that it has, and the epoch that the next one is of. Of a newer leader
    /// it may have none yet.
    pub fn known(&self) -> Known {
        let (end, newest) = (self.history.open(), (self.epoch, self.leader));
        let past = self.past.iter().find(|past| end < past.end);
        let (epoch, leader) = past.map_or(newest, |past| (past.epoch, past.leader));
        Known { epoch, end, branch: self.ledger.branch, leader }
    }

    /// The epoch of the leader that it follows.
    pub fn followed(&self) -> Epoch {
        self.epoch
    }

    /// What it lacks comes from another than the leader that it followed, and of whose turns it has
    /// none: they may be others.
    pub fn unfollow(&mut self) {
        let Known { epoch, leader, .. } = self.known();
        self.past.retain(|past| past.epoch < epoch);
        (self.epoch, self.leader) = (epoch, leader);
    }

    /// Whether its own hero is in the world and plays, as far as it knows.
    pub fn is_member(&self) -> bool {
        self.ledger.player(self.peer) == Some(self.me)
    }

    /// Whether its vote counts, as far as it knows.
    pub fn has_vote(&self) -> bool {
        self.stands_at(Standing::Named)
    }

    /// Whether others know it, who decide who leads on. Of one that just entered perhaps nobody
    /// does, but its leader.
    pub fn is_known(&self) -> bool {
        self.stands_at(Standing::Known)
    }

    fn stands_at(&self, least: Standing) -> bool {
        self.is_member() && (self.standing >= least || self.ledger.present().count() <= 2)
    }

    /// Takes what the closed turns say of its vote. For that of one that was put out nobody waits.
    fn look_up_vote(&mut self) {
        let electorates = &self.ledger.electorates;
        let found = if electorates.names(self.me) {
            Standing::Known
        } else if electorates.iter().any(|player| player == self.me) {
            Standing::Named
        } else {
            Standing::Unnamed
        };
        self.standing = if self.is_member() { self.standing.max(found) } else { Standing::Unnamed };
    }

    /// This member leads from here on.
    pub fn begin(&mut self, epoch: Epoch) {
        self.unfollow();
        if self.past.len() > EPOCHS_TOLD_MAX {
            self.past.pop_front();
        }
        let mut from = self.known();
        if self.is_contested {
            // So all load the world.
            self.past.clear();
            (from.epoch, from.leader) = (epoch, self.me);
        }
        self.past.push_back(from);
        self.signs_from(self.me, from.end);
        self.ballots.note_mandate(self.members.vote(), self.members.given(), &self.ledger);
        (self.epoch, self.leader, self.is_contested) = (epoch, self.me, false);
    }

    /// What it says as the leader.
    pub fn lead(&self) -> Lead {
        let mut before = Vec::from(self.past.clone());
        let from = before.pop().unwrap_or_default();
        let before = before.try_into().expect("no more are kept");
        Lead { from, before, votes: self.ballots.electors(), ..Lead::default() }
    }

    /// A player leads from a tick on. If another did until now, it owes nothing for that one.
    fn signs_from(&mut self, signer: PlayerId, tick: Tick) {
        if core::mem::replace(&mut self.signer, signer) != signer {
            self.attested = Attested::beginning(tick, ATTESTED_TICKS);
        }
    }

    /// A leader begins an epoch. Returns whether its turns go on from those that are known here.
    pub fn follow(&mut self, lead: Lead, Vote { epoch, leader }: Vote) -> bool {
        let ours = self.known();
        let mut past: VecDeque<_> = lead.before.into_vec().into();
        past.push_back(lead.from);
        let goes_on = past.iter().any(|known| known.is_of_same(&ours) && ours.end <= known.end);
        if goes_on {
            self.signs_from(leader, past.back().map_or(ours.end, |known| known.end));
            (self.past, self.epoch, self.leader) = (past, epoch, leader);
            // The new leader may not have known this member when it said so.
            self.fitness_told.clear();
        }
        goes_on
    }

    /// The turn of the next tick is closed.
    pub fn close(&mut self, inputs: &[RawInput]) {
        if inputs.iter().any(|input| matches!(input, RawInput::Branch(_))) {
            self.attested = Attested::beginning(self.history.open(), ATTESTED_TICKS);
            self.ballots.begin_anew();
        }
        self.attested.closed(self.history.open(), (!inputs.is_empty()).then_some(&inputs));
        self.expulsion.closed(inputs);
        self.ledger.closed(self.history.open(), inputs);
        for player in inputs.iter().filter_map(RawInput::leaver) {
            self.members.forget(player);
            self.ballots.forget(player);
            self.fitness.remove(&player);
        }
        let names =
            |input: &RawInput| matches!(input, RawInput::Electorate(_) | RawInput::Settled | RawInput::Branch(_));
        if inputs.iter().any(names) || !self.is_member() {
            self.look_up_vote();
        }
        self.history.close_with(inputs);
    }

    /// Own commands, in order: those of the turns that are kept, which another leader may not know,
    /// and those that are `pending`.
    pub fn given(&self, pending: Given) -> Given {
        let turns = (self.history.oldest().0..self.history.open().0).flat_map(|tick| self.history.inputs(Tick(tick)));
        let own = |input: &RawInput| match input {
            RawInput::Command(player, command) if *player == self.me => Some(command.clone()),
            _ => None,
        };
        let mut commands: Vec<_> = turns.filter_map(own).collect();
        let closed = self.ledger.commands(self.me);
        let first = closed.saturating_sub(commands.len() as u32);
        commands.extend(pending.since(closed));
        Given { first, commands }
    }

    /// Its player wants another out, and all others are told. Returns whether that is another
    /// member.
    pub fn vote_out<S: Simulation>(&mut self, player: PlayerId, now: Duration, out: &mut Outbox<S>) -> bool {
        let counts = self.is_member() && self.voted_out(self.me, player, now, out);
        let others = self.ledger.present().filter(|(other, _)| counts && *other != self.me);
        for (_, other) in others {
            out.reliably(self.members.promised(), other.peer, &Message::VoteOut(player));
        }
        counts
    }

    /// A member wants another out. Returns whether that is one.
    pub fn voted_out<S: Simulation>(
        &mut self,
        by: PlayerId,
        player: PlayerId,
        now: Duration,
        out: &mut Outbox<S>,
    ) -> bool {
        let members = self.ledger.present().count();
        let counts = by != player && self.ledger.present().any(|(other, _)| other == player);
        if counts && self.expulsion.vote(by, player, now) {
            let votes = self.expulsion.votes(player, now);
            out.events.push_back(Event::VoteOut { by, player, votes, members });
        }
        counts
    }

    /// A member says how well it can lead.
    pub fn fitness_of(&mut self, player: PlayerId, fitness: Fitness) {
        self.fitness.insert(player, fitness);
    }

    /// Tells others how well this one can lead, if they were told, or take it for, something else.
    fn tell_fitness<S: Simulation>(&mut self, fitness: Fitness, ingress: &Ingress, out: &mut Outbox<S>) {
        let others = self.ledger.present().filter(|(player, _)| *player != self.me).map(|(_, member)| member.peer);
        let others: Vec<_> = others.filter(|peer| ingress.is_connected(*peer)).collect();
        self.fitness_told.retain(|peer, _| others.contains(peer));
        for peer in others {
            if self.fitness_told.get(&peer).copied().unwrap_or_default() != fitness {
                self.fitness_told.insert(peer, fitness);
                out.reliably(Epoch::default(), peer, &Message::Fitness(fitness));
            }
        }
    }

    /// Whether a quorum wants a member out.
    pub fn is_unwanted(&self, player: PlayerId, now: Duration) -> bool {
        self.is_quorum(|voter| self.expulsion.wants(voter, player, now))
    }

    /// As whom the leader signs, and with which key, if it has one.
    fn author(&self) -> Option<(Author, PublicKey)> {
        let member = self.ledger.members.get(&self.signer)?;
        Some((Author::of(self.ledger.branch, member.peer), member.key?))
    }

    /// Signs its own turns as the leader, if there are more of them. Returns whether it did.
    pub fn attest(&mut self, key: &PlayerKey) -> bool {
        let Some((author, public)) = self.author() else { return false };
        self.attested.sign(author, (key, &public))
    }

    /// What the leader signed last, as far as is known.
    pub fn attestation(&self) -> Option<&Attestation> {
        self.attested.newest()
    }

    /// A member tells what the leader signed. Returns whether it is the leader itself, and the
    /// others are to be told.
    pub fn told(&mut self, by: PlayerId, attestation: Attestation) -> bool {
        let Some((author, key)) = self.author() else { return false };
        if self.ledger.player(author.peer) == Some(by) {
            return self.attested.told(attestation, author, &key);
        }
        self.attested.passed_on(by, attestation);
        false
    }

    /// Finds out whether a leader that is trusted tells different turns. Then this member votes for
    /// another.
    pub fn audit(&mut self) -> Option<Offence> {
        let (author, key) = self.author()?;
        let leader = self.ledger.player(author.peer).filter(|leader| self.members.is_trusted(*leader))?;
        let offence = self.attested.find(author, &key)?;
        if offence != Offence::Differs {
            self.is_contested = true;
            self.members.distrust(leader, LeaveReason::Distrusted);
        }
        Some(offence)
    }

    /// The two signatures of a leader that told different turns.
    pub fn signed(&self, offence: Offence) -> Vec<Signed> {
        let Offence::Equivocates(signed) = offence else { return Vec::new() };
        let Some((author, key)) = self.author() else { return Vec::new() };
        let player = self.ledger.player(author.peer);
        let of = |attestation| Some(Signed { player: player?, key, author, word: Word::Span(attestation) });
        signed.into_iter().filter_map(of).collect()
    }

    /// Whether the turns that it knows are in doubt.
    pub fn is_contested(&self) -> bool {
        self.is_contested
    }

    /// The player of another member, whose word counts.
    pub fn player(&self, peer: PeerId) -> Option<PlayerId> {
        self.ledger.player(peer).filter(|player| *player != self.me)
    }

    /// Whether those members can decide.
    pub fn is_quorum(&self, present: impl Fn(PlayerId) -> bool) -> bool {
        self.ledger.electorates.is_quorum(present)
    }

    /// Whether this member hears too few for so long that its player may go on without them.
    pub fn may_branch(&self) -> bool {
        self.minority.may_branch()
    }

    /// Whether a peer is, or was, another member.
    pub fn is_of_member(&self, peer: PeerId) -> bool {
        self.ledger.members.iter().any(|(player, member)| *player != self.me && member.peer == peer)
    }

    /// Does what is due, and tells the others, if there is something to tell. No turn was closed
    /// since a time; whoever goes on is waited for so long.
    pub fn advance<S: Simulation>(&mut self, (since, patience): (Duration, Duration), io: &mut Io<S>) {
        let Io { ingress, out, fitness: own_fitness, now, .. } = io;
        let (now, own_fitness) = (*now, *own_fitness);
        self.look_at_claims(now);
        let others = self.ledger.present().filter(|(player, _)| *player != self.me);
        let apart = others.filter(|(_, member)| !ingress.is_connected(member.peer)).map(|(player, _)| player);
        let (apart, mut fitness): (BTreeSet<_>, _) = (apart.collect(), self.fitness.clone());
        fitness.extend((own_fitness != Fitness::default()).then_some((self.me, own_fitness)));
        let leader = self.members.vote().leader;
        let is_better = fitness.get(&leader).copied().unwrap_or_default() > own_fitness;
        // A leader without a connection to some loses them: it is better led as it is.
        let told = if is_better && !apart.is_empty() { Fitness::Slow } else { own_fitness };
        self.members.regard(Outlook { apart, fitness, ..Outlook::default() });
        // As long as its hero never entered, its number may become another's.
        if self.is_member() {
            let reached = |player| player == self.me || self.members.reaches(player, now);
            self.minority.look(&self.ledger.electorates, reached, now.saturating_sub(since), patience, out);
            self.tell_fitness(told, ingress, out);
        }
        let Some(stand) = self.members.advance(self.known(), &self.ledger.electorates, now) else { return };
        let stand = self.ballots.signed(stand, self.members.given());
        for (_, member) in self.ledger.present().filter(|(player, _)| *player != self.me) {
            out.send(Epoch::default(), member.peer, Channel::Unreliable, &Message::Stand(stand.clone()));
        }
    }

    /// A peer says that it leads. Returns whether it is followed from now on: if this member voted
    /// for it, and does not hear itself who leads.
    pub fn led(&mut self, by: PeerId, epoch: Epoch, now: Duration) -> bool {
        let leader = self.player(by);
        leader.is_some_and(|leader| self.members.led(Vote { epoch, leader }, &self.ledger.electorates, now))
    }

    /// Takes what another says of who leads. Returns whether its word counts here, or may count
    /// where this member's does: who knows newer turns may have come in with one of them.
    pub fn take<S: Simulation>(&mut self, from: PeerId, stand: Stand, now: Duration, out: &mut Outbox<S>) -> bool {
        if stand.known.branch != self.ledger.branch {
            // It goes on with another history, or did not hear yet of this one.
            out.dropped(DropReason::StaleEpoch);
            return true;
        }
        let (player, knows_newer) = (self.player(from), stand.known.epoch > self.epoch);
        if stand.known.exceeds(&self.known()) && player.is_some_and(|player| self.claims.are_idle(player, now)) {
            out.dropped(DropReason::Unexpected);
            return true;
        }
        let is_unknowing = match player {
            None => knows_newer,
            Some(player) => match self.ballots.hear(player, &stand, now, &self.ledger) {
                Heard::Counts { is_proven } => self.members.take(player, stand, is_proven, now),
                heard => {
                    out.dropped(DropReason::BadVote);
                    if let Heard::Two(two) = heard {
                        self.convict(&two, out);
                    }
                    false
                }
            },
        };
        if is_unknowing {
            self.answer(from, out);
        }
        player.is_some() || knows_newer
    }

    /// Tells one who does not know what is decided.
    pub fn answer<S: Simulation>(&mut self, to: PeerId, out: &mut Outbox<S>) {
        let stand = self.stand();
        out.send(Epoch::default(), to, Channel::Unreliable, &Message::Stand(stand));
    }

    /// What those know who elected this member, if it is elected.
    pub fn elected(&self, now: Duration) -> Option<Vec<(PlayerId, Known)>> {
        Some(self.members.elected(&self.ledger.electorates, now)?.into_iter().collect())
    }

    /// Whether a quorum of those who elected this member know no more than it does: so no quorum
    /// does.
    pub fn knows_all(&self, voters: &[(PlayerId, Known)]) -> bool {
        let known = self.known();
        let knows_no_more = |player| voters.iter().any(|(voter, theirs)| *voter == player && !theirs.exceeds(&known));
        self.is_quorum(|player| player == self.me || knows_no_more(player))
    }

    /// Whether it may lead on from what it knows: what the others claim beside that was waited for.
    pub fn knows_enough(&self, voters: &[(PlayerId, Known)], now: Duration) -> bool {
        let known = self.known();
        let mut claim = voters.iter().filter(|(_, theirs)| theirs.exceeds(&known)).map(|(player, _)| *player);
        claim.all(|player| self.claims.is_waited_for(player, now)) && self.knows_all(voters)
    }

    /// While nobody leads, who claims to know turns and does not give them is not heard for long.
    fn look_at_claims(&mut self, now: Duration) {
        if self.members.leader().is_some_and(|vote| vote.epoch == self.epoch) {
            return self.claims.forget();
        }
        let own = self.known();
        self.claims.look(own, self.members.claims(), now);
        if self.is_quorum(|player| self.claims.are_idle(player, now)) {
            // They cannot all be wrong: it is this member that does not get it.
            self.claims.forget();
        }
        let claims = &self.claims;
        self.members.unhear(|player, known| known.exceeds(&own) && claims.are_idle(player, now));
    }

    /// Sends another the turns from a tick on, in the epoch in which it asks. Returns whether they
    /// are known here, and are of no later one.
    pub fn fetched<S: Simulation>(&self, by: PeerId, epoch: Epoch, first: Tick, out: &mut Outbox<S>) -> bool {
        let known = self.epoch <= epoch && (self.history.oldest()..=self.history.open()).contains(&first);
        if known {
            let turns = self.history.cut(first, BULK_PACKET_BYTES_MAX);
            out.send_turns(epoch, by, Channel::Reliable, TurnsKind::Fetched, &turns);
        }
        known
    }
}
