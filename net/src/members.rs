//! Who leads a session, decided by its members: when the leader is lost, another takes over, and
//! never do two lead in the same epoch.
//!
//! ```text
//! follows ─ leader not heard ─► doubts ─ a quorum doubts ─► voted ─ a quorum for one ─► follows
//!    ▲                            │ ▲                         │                         or leads
//!    └─────── leader heard ───────┘ └───── nobody won ────────┘
//! ```
//!
//! A doubt promises nothing, so a member that alone hears nobody disturbs nobody. A vote is a
//! promise: to follow nobody of an older epoch, and to vote for nobody else in this one. Any two
//! quorums have a member in common, so one epoch has one leader, and a new leader learns of every
//! turn that a quorum knew.
//!
//! A party and a rollback session differ in a [`Policy`]. What a session knows of its members
//! beside their stands it says as an [`Outlook`].
//!
//! It knows no world, no packet and no clock, and never decides what is played. Its loop is
//! [`Members::advance`].

mod electorate;
mod poll;

pub use electorate::{Electorate, Electorates};
use poll::Poll;

use core::cmp::Ordering;
use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use lockstone_sim::PlayerId;

use crate::limits::PLAYERS_MAX;
use crate::wire::{Epoch, Fitness, Known, LeaveReason, Stand, Vote};

/// A leader that is not heard for so long is doubted.
pub const SUSPICION: Duration = Duration::from_millis(600);
/// So long is a member heard that says nothing.
pub const LEASE: Duration = Duration::from_millis(1_500);
/// Between two tellings of the same stand.
pub const REPEAT: Duration = Duration::from_millis(100);
/// A doubt counts for so long: it is told again until it is withdrawn.
pub const DOUBT_LASTS: Duration = Duration::from_millis(450);
/// From a vote to the next doubt, if it made nobody the leader.
const ELECTION: Duration = Duration::from_millis(600);
/// From an election to the next that a leader calls for itself.
const GIVE_WAY_INTERVAL: Duration = Duration::from_secs(2);
/// For the sake of one member all vote again at most so often in such a time.
const INDULGENCES_MAX: u32 = 3;
const INDULGENCE: Duration = Duration::from_secs(60);
/// How long a member waits for the stands of the rest once it has heard a quorum: to vote as they
/// do, and once elected to learn of newer turns.
const GRACE: Duration = Duration::from_millis(150);
/// Of those who lead on, one that says nothing for so long is not heard.
const DEAF_AFTER: Duration = Duration::from_millis(300);
/// So many epochs at most may another be ahead.
pub const EPOCHS_AHEAD_MAX: u32 = 1_000;

/// What differs between kinds of sessions.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// A leader that is not heard for so long is doubted. `None`: nobody follows what a leader says
    /// all the time, and the session itself finds out who is lost. A doubt is then no doubt of the
    /// leader, which takes part in deciding.
    suspicion: Option<Duration>,
}

impl Policy {
    /// Members follow the turns that their leader closes.
    pub const PARTY: Policy = Policy { suspicion: Some(SUSPICION) };
    /// Members play among their like. Who is elected waits for everyone whom it has not lost.
    #[cfg(feature = "rollback")]
    pub const ROLLBACK: Policy = Policy { suspicion: None };
}

/// What a session knows of its members beside their stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outlook {
    /// Members that are lost: nobody waits for them, or votes for them if another can lead.
    pub lost: BTreeSet<PlayerId>,
    /// Members one of which has lost the other, though a third hears both: one of them errs, or
    /// lies. They lead if nobody else can, and nobody votes for one because another does.
    pub torn: BTreeSet<PlayerId>,
    /// Members with whom this one has no connection, though others may. Who leads has one with each
    /// that follows.
    pub apart: BTreeSet<PlayerId>,
    /// Whether all others are sure to doubt as this member does: someone said goodbye to all.
    pub unanimous: bool,
    /// How well members can lead who do not keep time.
    pub fitness: BTreeMap<PlayerId, Fitness>,
}

/// One member's view of who leads.
pub struct Members {
    me: PlayerId,
    policy: Policy,
    outlook: Outlook,
    /// The newest vote given. That of a joiner is for the leader that let it in.
    vote: Vote,
    /// The newest that is a promise of its own, and not the choice of others.
    given: Option<Vote>,
    voted_at: Duration,
    course: Course,
    /// When each other was heard last.
    heard: BTreeMap<PlayerId, Duration>,
    /// What each other told last of who leads.
    stands: BTreeMap<PlayerId, Told>,
    told_at: Option<Duration>,
    /// When it began to tell its doubts.
    doubted_at: Option<Duration>,
    /// Members that this one does not hear, as far as it found out while it is open who leads.
    deaf: BTreeSet<PlayerId>,
    /// When a quorum was first known to doubt as this member does.
    quorum_at: Option<Duration>,
    /// The newest epoch that this member was elected for and did not lead.
    declined: Option<Epoch>,
    /// Members that are to be put out for what they did, and why. This one votes for none of them.
    distrusted: BTreeMap<PlayerId, LeaveReason>,
    /// For whose sake all voted again while this member led: since when, and how often.
    indulged: BTreeMap<PlayerId, (Duration, u32)>,
}

/// What another member told.
#[derive(Clone, Debug)]
struct Told {
    stand: Stand,
    at: Duration,
    /// Whether its vote is shown to be a promise of its own. Else it elects nobody.
    is_proven: bool,
}

impl Told {
    /// Whether its doubts still count.
    fn is_fresh(&self, now: Duration) -> bool {
        now < self.at.saturating_add(DOUBT_LASTS)
    }
}

/// How far a member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    /// The leader it voted for leads. It may be this member.
    Follows,
    /// It would vote for another, if others would. If it followed its leader until now, it goes on
    /// to do so as soon as it hears of it.
    Doubts { followed: bool },
    /// Its vote is given, and not decided.
    Voted,
    /// A quorum voted for this member, at that time: it collects what the others know.
    Elected(Duration),
}

impl Members {
    /// A member that was let in by a leader, or founded the session.
    pub fn following(me: PlayerId, leader: Vote, now: Duration) -> Members {
        Members {
            me,
            policy: Policy::PARTY,
            outlook: Outlook::default(),
            vote: leader,
            given: None,
            voted_at: now,
            course: Course::Follows,
            heard: BTreeMap::from([(leader.leader, now)]),
            stands: BTreeMap::new(),
            told_at: None,
            doubted_at: None,
            deaf: BTreeSet::new(),
            quorum_at: None,
            declined: None,
            distrusted: BTreeMap::new(),
            indulged: BTreeMap::new(),
        }
    }

    /// Who leads, as far as it is decided.
    pub fn leader(&self) -> Option<Vote> {
        matches!(self.course, Course::Follows | Course::Doubts { followed: true }).then_some(self.vote)
    }

    /// The oldest epoch whose turns this member may take.
    pub fn promised(&self) -> Epoch {
        self.vote.epoch
    }

    /// The newest vote of this member.
    pub fn vote(&self) -> Vote {
        self.vote
    }

    /// The newest vote that this member gave by its own choice.
    pub fn given(&self) -> Option<Vote> {
        self.given
    }

    /// A member was heard: of the leader only what it says as the leader counts.
    pub fn heard(&mut self, from: PlayerId, now: Duration) {
        self.heard.insert(from, now);
        let is_leader = from == self.vote.leader && self.is_trusted(from);
        if self.course == (Course::Doubts { followed: true }) && is_leader {
            self.course = Course::Follows;
        }
    }

    /// A player is no member any more.
    pub fn forget(&mut self, player: PlayerId) {
        self.stands.remove(&player);
        self.heard.remove(&player);
        self.indulged.remove(&player);
        self.distrusted.remove(&player);
    }

    /// A member is to be put out, for a reason. If it leads, this one wants another, whatever it
    /// hears.
    pub fn distrust(&mut self, player: PlayerId, reason: LeaveReason) {
        self.distrusted.insert(player, reason);
        if player == self.vote.leader {
            self.suspect();
        }
    }

    /// Whether a member may lead.
    pub fn is_trusted(&self, player: PlayerId) -> bool {
        self.distrusted(player).is_none()
    }

    /// Why a member is to be put out, if it is.
    pub fn distrusted(&self, player: PlayerId) -> Option<LeaveReason> {
        self.distrusted.get(&player).copied()
    }

    /// What each other said last that it knows.
    pub fn claims(&self) -> impl Iterator<Item = (PlayerId, Known)> {
        self.stands.iter().map(|(player, told)| (*player, told.stand.known))
    }

    /// What some members said counts no more, by who said it, and what it knows.
    pub fn unhear(&mut self, counts_no_more: impl Fn(PlayerId, Known) -> bool) {
        self.stands.retain(|player, told| !counts_no_more(*player, told.stand.known));
    }

    /// The leader is known to be gone, or gave up. It may be this member.
    pub fn suspect(&mut self) {
        if self.course == Course::Follows {
            self.doubt();
        }
    }

    /// This member votes for another in the next epoch, or for itself: it leads and is to lead no
    /// more, or goes on without the others.
    pub fn hand_over(&mut self, heir: PlayerId, now: Duration) {
        self.give_vote(Vote { epoch: self.next_epoch(), leader: heir }, now);
    }

    /// Whether the last vote was long ago, so that this member may hand over for the sake of ease.
    pub fn is_settled(&self, now: Duration) -> bool {
        now >= self.voted_at + GIVE_WAY_INTERVAL
    }

    /// Whether this member may do something for the sake of another that costs all a moment: it
    /// does so rarely.
    pub fn indulge(&mut self, player: PlayerId, now: Duration) -> bool {
        self.indulged.retain(|_, (since, _)| now < *since + INDULGENCE);
        let (_, times) = self.indulged.entry(player).or_insert((now, 0));
        *times += 1;
        *times <= INDULGENCES_MAX
    }

    /// How well a member can lead, as far as is known.
    pub fn fitness(&self, player: PlayerId) -> Fitness {
        self.outlook.fitness.get(&player).copied().unwrap_or_default()
    }

    /// The leader is gone for good, and had a vote beside one other: it would vote for that.
    /// Returns the vote.
    pub fn resigned(&mut self, leader: PlayerId, heir: PlayerId) -> Vote {
        let vote = Vote { epoch: self.next_epoch(), leader: heir };
        let stand = Stand::of(vote, Known::default());
        self.stands.insert(leader, Told { stand, at: Duration::MAX, is_proven: true });
        vote
    }

    /// Whether another member was heard lately. A leader that does not hear a quorum must close
    /// nothing: it may have been replaced.
    pub fn hears(&self, player: PlayerId, now: Duration) -> bool {
        self.heard.get(&player).is_some_and(|heard| now < *heard + LEASE)
    }

    /// Whether another said something lately, be it of who leads.
    pub fn reaches(&self, player: PlayerId, now: Duration) -> bool {
        let told = self.stands.get(&player).filter(|told| told.at <= now);
        self.hears(player, now) || told.is_some_and(|told| now < told.at + LEASE)
    }

    /// When another member was heard last; if never, when its word began to count here.
    pub fn silent_since(&self, player: PlayerId) -> Duration {
        self.heard.get(&player).copied().unwrap_or_default().max(self.voted_at)
    }

    /// Takes what another member says, and whether its vote is shown to be a promise of its own.
    /// Returns whether it is to be told our [stand](Members::stand): it does not know what is
    /// decided.
    pub fn take(&mut self, from: PlayerId, stand: Stand, is_proven: bool, now: Duration) -> bool {
        let ahead = stand.newest().0.saturating_sub(self.vote.epoch.0);
        let overtaken = self.stands.get(&from).is_some_and(|told| told.stand.vote.epoch > stand.vote.epoch);
        if from == self.me || ahead > EPOCHS_AHEAD_MAX || overtaken {
            return false;
        }
        let Stand { vote, doubts, .. } = stand;
        self.stands.insert(from, Told { stand, at: now, is_proven });
        if from == self.vote.leader {
            let leads_on = vote.leader == from && vote.epoch > self.vote.epoch;
            let follows = self.policy.suspicion.is_some() && self.leader().is_some();
            match doubts {
                // It wants to lead on in another epoch.
                _ if leads_on && follows && self.is_trusted(from) => {
                    self.give_vote(vote, now);
                    return false;
                }
                // What the leader itself doubts, nobody needs to wait for.
                Some(doubts) if doubts > self.vote.epoch && self.course == Course::Voted => self.doubt(),
                Some(doubts) if doubts > self.vote.epoch => self.suspect(),
                // It hands over.
                None if vote.epoch > self.vote.epoch => self.suspect(),
                None if vote == self.vote => self.heard(from, now),
                _ => {}
            }
        }
        // A leader says it only as long as it waits for votes.
        let unknowing = doubts.is_some() || vote.epoch < self.vote.epoch || from == self.vote.leader;
        unknowing && self.course == Course::Follows
    }

    /// Whether who speaks in an epoch is to be told our [stand](Members::stand): it does not know
    /// that another began.
    pub fn has_left(&self, epoch: Epoch) -> bool {
        epoch < self.vote.epoch && self.course == Course::Follows
    }

    /// What the session knows of the members by now.
    pub fn regard(&mut self, outlook: Outlook) {
        self.outlook = outlook;
    }

    /// Does what is due. Returns the stand, if it is to be told to all. `own` is what this member
    /// knows.
    pub fn advance(&mut self, own: Known, electorates: &Electorates, now: Duration) -> Option<Stand> {
        self.change_course(own, electorates, now);
        self.listen(electorates, now);
        let due = self.course != Course::Follows && self.told_at.is_none_or(|told| now >= told + REPEAT);
        due.then(|| {
            self.told_at = Some(now);
            self.stand(own)
        })
    }

    /// What this member says.
    pub fn stand(&self, own: Known) -> Stand {
        let doubts = matches!(self.course, Course::Doubts { .. }).then(|| self.next_epoch());
        let deaf = self.deaf.iter().take(PLAYERS_MAX).copied().collect::<Vec<_>>();
        let deaf = deaf.try_into().expect("no more are taken");
        Stand { doubts, deaf, ..Stand::of(self.vote, own) }
    }

    /// When [`advance`](Members::advance) has something to do.
    pub fn wake_at(&self) -> Duration {
        let told = self.told_at.map_or(Duration::ZERO, |told| told + REPEAT);
        match self.course {
            Course::Follows if self.vote.leader == self.me => Duration::MAX,
            Course::Follows => self.suspicious_at(),
            Course::Doubts { .. } | Course::Voted | Course::Elected(_) => told,
        }
    }

    /// What those know who voted for this member, once it is elected and all others had time to
    /// say so. It fetches the newest of it, asks again, as newer turns may name other members, and
    /// [leads](Members::lead) on.
    pub fn elected(&self, electorates: &Electorates, now: Duration) -> Option<BTreeMap<PlayerId, Known>> {
        let Course::Elected(at) = self.course else { return None };
        let voted = |(player, told): (&PlayerId, &Told)| {
            (told.stand.vote == self.vote && told.is_proven).then_some((*player, told.stand.known))
        };
        let voters: BTreeMap<_, _> = self.stands.iter().filter_map(voted).collect();
        let has_voted = |player| player == self.me || voters.contains_key(&player);
        let awaited = |player| !has_voted(player) && !self.outlook.lost.contains(&player);
        let ready = now >= at + GRACE || !electorates.iter().any(awaited);
        (ready && electorates.is_quorum(has_voted)).then_some(voters)
    }

    /// Who knows more turns of the leader that this member doubts than it does itself. Once it has
    /// voted, only the one that it voted for, or anyone, if that is itself. They say who has a
    /// vote. But another may be elected by that vote, and go on from what this member knew then:
    /// they are not to be played yet.
    pub fn knowing_more(&self, own: Known, now: Duration) -> Vec<PlayerId> {
        let (Course::Doubts { .. } | Course::Voted) = self.course else { return Vec::new() };
        let asks_anyone = self.vote.epoch == own.epoch || self.vote.leader == self.me;
        let counts = |player: &PlayerId| asks_anyone || *player == self.vote.leader;
        let knows = |stand: &Stand| stand.known.is_of_same(&own) && stand.known.end > own.end;
        let players = self.stands.keys().copied().filter(counts);
        players.filter(|player| self.fresh(*player, now).is_some_and(knows)).collect()
    }

    /// The one that this member voted for says that it leads. That is believed as far as it hears
    /// members whom this one does not: it knows how they voted. Returns whether it is followed.
    pub fn led(&mut self, vote: Vote, electorates: &Electorates, now: Duration) -> bool {
        let open = matches!(self.course, Course::Voted | Course::Doubts { followed: false });
        let votes = |player| self.backs(player, vote);
        let says = self.stands.get(&vote.leader).map(|told| &told.stand);
        let vouched = |player| self.deaf.contains(&player) && says.is_some_and(|stand| !stand.deaf.contains(&player));
        let led = open && self.vote == vote && electorates.is_quorum(|player| votes(player) || vouched(player));
        if led {
            self.follow(vote, now);
        }
        led
    }

    /// This member leads from now on.
    pub fn lead(&mut self) {
        self.course = Course::Follows;
    }

    /// This member may have voted in an epoch up to that one, and forgotten it. It votes in none of
    /// these again.
    pub fn skip(&mut self, promised: Epoch) {
        self.declined = Some(promised).filter(|promised| *promised > self.vote.epoch);
    }

    /// This member was elected, but cannot lead: it lacks what it would have to lead on from.
    pub fn decline(&mut self) {
        self.declined = Some(self.vote.epoch);
        self.doubt();
    }

    /// Finds out whom this member does not hear of those who decide.
    fn listen(&mut self, electorates: &Electorates, now: Duration) {
        if self.policy.suspicion.is_none() || self.course == Course::Follows {
            return self.deaf.clone_from(&self.outlook.apart);
        }
        let doubts = matches!(self.course, Course::Doubts { .. });
        // Who follows says nothing, but answers who doubts.
        let answers = doubts && now >= *self.doubted_at.get_or_insert(now) + DEAF_AFTER;
        let speaks = |player| self.fresh(player, now).is_some();
        let is_silent = |player| !speaks(player) && (answers || self.deaf.contains(&player));
        let silent = electorates.iter().filter(|player| *player != self.me && is_silent(*player));
        self.deaf = silent.chain(self.outlook.apart.iter().copied()).collect();
    }

    fn change_course(&mut self, own: Known, electorates: &Electorates, now: Duration) {
        if let Some(vote) = self.winner(electorates) {
            self.follow(vote, now);
        }
        match self.course {
            Course::Follows if self.vote.leader == self.me => self.give_way(electorates, now),
            Course::Follows if now >= self.suspicious_at() || !self.is_trusted(self.vote.leader) => self.suspect(),
            Course::Follows if self.leader_follows_another() && now >= self.voted_at + ELECTION => {
                self.doubt();
                self.course = Course::Doubts { followed: false };
            }
            Course::Voted if now >= self.voted_at + ELECTION => self.doubt(),
            Course::Elected(at) if now >= at + 5 * ELECTION || self.is_deserted(electorates) => self.decline(),
            _ => {}
        }
        if let Course::Doubts { .. } = self.course {
            self.vote_if_doubted(own, electorates, now);
        }
    }

    /// Whether the leader voted for another in its own epoch: somebody told each something else.
    fn leader_follows_another(&self) -> bool {
        self.vote_of(self.vote.leader).is_some_and(|vote| vote.epoch == self.vote.epoch && vote != self.vote)
    }

    /// Whether some of those who elected this member vote in a newer epoch already, and the others
    /// are too few.
    fn is_deserted(&self, electorates: &Electorates) -> bool {
        let moved_on = |player| self.vote_of(player).is_some_and(|vote| vote.epoch > self.vote.epoch);
        electorates.iter().any(moved_on) && !electorates.is_quorum(|player| self.vote_of(player) == Some(self.vote))
    }

    /// For whom a member voted last, as far as this one knows.
    fn vote_of(&self, player: PlayerId) -> Option<Vote> {
        if player == self.me { Some(self.vote) } else { self.stands.get(&player).map(|told| told.stand.vote) }
    }

    /// What a member told lately.
    fn fresh(&self, player: PlayerId, now: Duration) -> Option<&Stand> {
        self.stands.get(&player).filter(|told| told.is_fresh(now)).map(|told| &told.stand)
    }

    /// Whether a member gave this vote, and it can elect.
    fn backs(&self, player: PlayerId, vote: Vote) -> bool {
        self.stands.get(&player).is_some_and(|told| told.stand.vote == vote && told.is_proven)
            || player == self.me && self.vote == vote
    }

    fn suspicious_at(&self) -> Duration {
        let Some(suspicion) = self.policy.suspicion else { return Duration::MAX };
        self.heard.get(&self.vote.leader).map_or(Duration::ZERO, |heard| *heard + suspicion)
    }

    fn doubt(&mut self) {
        self.course = Course::Doubts { followed: self.leader().is_some() };
        (self.quorum_at, self.told_at, self.doubted_at) = (None, None, None);
    }

    /// A leader lets all vote again if somebody has promised not to follow it: for whomever they
    /// want if the others are no quorum, else for itself, so that who voted alone finds back. It
    /// does that rarely for the sake of one member.
    fn give_way(&mut self, electorates: &Electorates, now: Duration) {
        if !self.is_settled(now) {
            return;
        }
        let promised = |told: &Told| {
            let vote = told.stand.vote;
            vote.epoch >= self.vote.epoch && vote != self.vote && told.is_fresh(now)
        };
        let strays = self.stands.iter().filter(|(_, told)| promised(told)).map(|(player, _)| *player);
        let strays: Vec<_> = strays.collect();
        let heard = |player| player == self.me || self.policy.suspicion.is_none() || self.hears(player, now);
        let backed = electorates.is_quorum(|player| heard(player) && !strays.contains(&player));
        self.indulged.retain(|_, (since, _)| now < *since + INDULGENCE);
        let often = |player: &PlayerId| self.indulged.get(player).is_some_and(|(_, times)| *times >= INDULGENCES_MAX);
        if strays.is_empty() || backed && strays.iter().all(often) {
            return;
        }
        for player in strays {
            self.indulged.entry(player).or_insert((now, 0)).1 += 1;
        }
        if backed {
            self.give_vote(Vote { epoch: self.next_epoch(), leader: self.me }, now);
        } else {
            self.doubt();
        }
    }

    fn give_vote(&mut self, vote: Vote, now: Duration) {
        (self.vote, self.given) = (vote, Some(vote));
        (self.voted_at, self.course, self.told_at) = (now, Course::Voted, None);
    }

    /// The epoch that comes next: one that others have voted in already, or the first in which
    /// nobody is known to have.
    fn next_epoch(&self) -> Epoch {
        let others = self.stands.values().map(|told| told.stand.newest());
        let own = self.vote.epoch.max(self.declined.unwrap_or_default());
        others.fold(Epoch(own.0 + 1), Epoch::max)
    }

    /// Votes once a quorum doubts.
    fn vote_if_doubted(&mut self, own: Known, electorates: &Electorates, now: Duration) {
        let poll = Poll::new(self, own, electorates, now);
        if !poll.is_for_another() {
            return;
        }
        let (vote, may_learn_more, is_heard) = (poll.vote(), poll.may_learn_more(), poll.is_heard());
        // If all knew of all others' doubts, all would vote for the same.
        let quorum_at = *self.quorum_at.get_or_insert(now);
        if may_learn_more && now < quorum_at + GRACE {
            return;
        }
        if vote.leader == self.me && !is_heard {
            // It would not learn that it is elected.
            self.declined = Some(vote.epoch);
            return self.doubt();
        }
        self.give_vote(vote, now);
    }

    /// The newest leader that a quorum voted for, if it is news.
    fn winner(&self, electorates: &Electorates) -> Option<Vote> {
        let votes = self.stands.values().filter(|told| told.is_proven).map(|told| told.stand.vote);
        let votes = votes.chain([self.vote]);
        let is_news = |vote: &Vote| match vote.epoch.cmp(&self.vote.epoch) {
            Ordering::Less => false,
            Ordering::Equal => matches!(self.course, Course::Voted | Course::Doubts { followed: false }),
            Ordering::Greater => true,
        };
        let declined = |vote: &Vote| vote.leader == self.me && Some(vote.epoch) <= self.declined;
        let wins = |vote: &Vote| !declined(vote) && electorates.is_quorum(|player| self.backs(player, *vote));
        votes.filter(|vote| is_news(vote) && wins(vote)).max_by_key(|vote| vote.epoch)
    }

    fn follow(&mut self, vote: Vote, now: Duration) {
        self.course = if vote.leader == self.me { Course::Elected(now) } else { Course::Follows };
        (self.vote, self.voted_at, self.told_at) = (vote, now, None);
        self.heard.insert(vote.leader, now);
    }
}

/// What only a session without turns of a leader needs.
#[cfg(feature = "rollback")]
impl Members {
    /// The same in a session of another kind than a party.
    pub fn under(self, policy: Policy) -> Members {
        Members { policy, ..self }
    }

    /// Whether a quorum voted for this member, and it does not lead yet.
    pub fn is_elected(&self) -> bool {
        matches!(self.course, Course::Elected(_))
    }

    /// What those know who vote as this member does, be it that others chose.
    pub fn backers(&self) -> BTreeMap<PlayerId, Known> {
        let back =
            |(player, told): (&PlayerId, &Told)| (told.stand.vote == self.vote).then_some((*player, told.stand.known));
        self.stands.iter().filter_map(back).collect()
    }

    /// Leaves the next epoch to another that is gone only as far as can be known here, and goes on
    /// to the one after it: should the other live, both do not lead in the same.
    pub fn concede(&mut self, leader: PlayerId) {
        self.vote = Vote { epoch: self.next_epoch(), leader };
        self.doubt();
        self.course = Course::Doubts { followed: false };
    }

    /// The one that this member voted for says that it leads: so a quorum voted for it.
    pub fn believe(&mut self) {
        self.course = Course::Follows;
    }
}

#[cfg(test)]
mod tests;
