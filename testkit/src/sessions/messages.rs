//! One message of each kind.

use core::time::Duration;

use lockstone_net::link::{LinkEvent, PeerId};
use lockstone_net::party::PartySettings;
use lockstone_net::session::Session;
use lockstone_net::wire::{self, *};
use lockstone_sim::{CellId, Checksum, Fx, PlayerId, Tick, Vec2};

use super::{list, party};

/// One message of each kind, with every part filled, as it is sent in an epoch.
pub fn messages(epoch: Epoch) -> Vec<Message> {
    let stamp = Stamp { number: 300, echo: Some(Echo { number: 70_000, held_ms: 12 }) };
    let checksums: Checksums = list(vec![(Tick(10), Checksum(u64::MAX)), (Tick(20), Checksum(5))]);
    let command: CommandBytes = list(vec![1, 2, 3]);
    let name = Name::new("Ada").expect("a name");
    let electorate = Electorate { members: list(vec![PlayerId(0), PlayerId(300)]), senior: PlayerId(300) };
    let turn: RawTurn = list(vec![
        RawInput::Electorate(electorate),
        RawInput::Settled,
        RawInput::Branch(Vote { epoch: Epoch(300), leader: PlayerId(2) }),
        RawInput::Leave(PlayerId(3), LeaveReason::Silent),
        RawInput::Away(PlayerId(2), LeaveReason::Lost),
        RawInput::Member(PlayerId(9), PeerId(5 << 64 | 77), Some(PublicKey([6; 32]))),
        RawInput::Back(PlayerId(7), name.clone()),
        RawInput::Join(PlayerId(9), name.clone(), list(vec![8; 40])),
        RawInput::Request(list(vec![7; 300])),
        RawInput::Command(PlayerId(1), command.clone()),
    ]);
    let (end, branch) = (Tick(70_000), Branch(u64::MAX));
    let (fetched, known) = (turn.clone(), Known { epoch: Epoch(299), end, branch, leader: PlayerId(300) });
    let vote = Vote { epoch: Epoch(300), leader: PlayerId(2) };
    let (deaf, proof) = (list(vec![PlayerId(3), PlayerId(700)]), Proof([3; 32], [4; 32]));
    let stand = Stand { vote, doubts: Some(Epoch(301)), known, deaf, proof: Some(proof) };
    let lost = vec![(PlayerId(0), LeaveReason::Silent), (PlayerId(3), LeaveReason::Desync)];
    let attestation = Attestation { end: Tick(70_200), digest: [9; 32], proof: Proof([3; 32], [4; 32]) };
    let key = Some(PublicKey([6; 32]));
    let member = |n: u128| Member { peer: PeerId(n << 64 | 77), name: name.clone(), hero: list(vec![8; 40]), key };
    let inputs = Inputs {
        stamp,
        confirmed: Tick(300),
        received: Tick(70_000),
        from: Tick(u32::MAX - 8),
        inputs: list(vec![None, Some(command.clone()), Some(list(vec![])), None]),
        behind_ticks: -3,
        checksums: checksums.clone(),
        seal: 0,
    };
    let route = Route { end: Vec2::ZERO, step: Fx::HALF, state: 7 };
    let samples = Samples { tick: Tick(899), at: (-70_000, 4), before: list(vec![(4, (-100, 3)), (8, (-300, 9))]) };
    let difference = Difference { what: Subject::Table, session: u128::MAX, joiner: 1 };
    vec![
        hello(),
        Message::Refusal(Refusal::Different(list(vec![difference]))),
        Message::Refusal(Refusal::Full { players_max: 16 }),
        Message::Elsewhere(PeerId(1 << 64 | 77)),
        Message::Welcome(Welcome {
            attempt: 300,
            player: PlayerId(4),
            sequencer: PlayerId(0),
            seed: 11,
            plays: Some(300),
            tick: Tick(1_000),
            snapshot_bytes: 100_000,
            snapshot_digest: 99,
            roster: list(vec![(PlayerId(0), name.clone())]),
        }),
        Message::Chunk(list(vec![9; 500])),
        Message::ChunkAck(16_384),
        Message::Ready,
        Message::Challenge(1 << 40),
        Message::Proof(Proof([3; 32], [4; 32])),
        Message::Meet(Meet {
            ours: Rank { members: 300, age: 20, branch: Branch(1 << 40) },
            yours: Some(Rank::default()),
        }),
        Message::Survey(Survey { tick: Tick(70_000), disputed: Tick(300) }),
        Message::Parts(Parts {
            tick: Tick(70_000),
            checksum: Checksum(1),
            disputed: Some(Checksum(u64::MAX)),
            rest: Some(Checksum(2)),
            cells: list(vec![(CellId::new(0, 0), Checksum(3)), (CellId::new(300, 1), Checksum(u64::MAX))]),
            more: true,
        }),
        Message::Repair(None),
        Message::Repair(Some(Repair {
            tick: Tick(70_000),
            checksum: Checksum(1),
            bytes: 100_000,
            digest: u128::MAX,
            is_proven: true,
        })),
        Message::Turns(Turns {
            stamp,
            from: Tick(8),
            ticks: 9,
            turns: list(vec![(0, turn.clone()), (8, turn)]),
            commands_taken: 3,
            checksums: checksums.clone(),
        }),
        Message::Report(Report {
            stamp,
            known: Tick(70),
            missing: true,
            first_command: 3,
            commands: list(vec![command.clone(), command]),
            checksums,
            distant: Some(Tick(68)),
        }),
        Message::Desync(DesyncNotice { tick: Tick(5), agreed: None, ours: Checksum(1), theirs: Checksum(2) }),
        Message::Bye(LeaveReason::Left),
        Message::Removed(LeaveReason::TooSlow),
        Message::Ending,
        Message::Gathering(2, 4),
        Message::Form(Form { seed: u64::MAX, members: list(vec![member(0), member(1), member(2), member(3)]) }),
        Message::Inputs(inputs.sealed(epoch)),
        Message::Inputs(Inputs::default().sealed(epoch)),
        Message::Regroup(Regroup {
            lost: list(lost.clone()),
            stand: stand.clone(),
            votes: list(vec![(PlayerId(1), Proof([3; 32], [4; 32]))]),
        }),
        Message::Inquiry(Inquiry::default()),
        Message::Inquiry(Inquiry {
            witnesses: list(vec![(PlayerId(0), PeerId(77)), (PlayerId(300), PeerId(1 << 64 | 77))]),
        }),
        Message::Parcel(Parcel::Announced { bytes: 100_000, digest: u128::MAX }),
        Message::Parcel(Parcel::Chunk(list(vec![9; 500]))),
        Message::Parcel(Parcel::Received(4_096)),
        Message::Distant(Distant {
            tick: Tick(900),
            sights: list(vec![
                (PlayerId(1), None),
                (PlayerId(2), Some(Track::Route { since: Tick(850), from: Vec2::ZERO, route })),
                (PlayerId(300), Some(Track::Samples(samples))),
            ]),
            landmarks: list(vec![1, 2, 3]),
        }),
        Message::Say(ChatLine::new("Wer da?").expect("a line")),
        Message::Said(Said { player: PlayerId(300), name, line: ChatLine::new("é").expect("a line") }),
        Message::Stand(stand),
        Message::Heir(Heir { number: 300, peer: Some(PeerId(1 << 64 | 77)) }),
        Message::Heir(Heir { number: 0, peer: None }),
        Message::VoteOut(PlayerId(300)),
        Message::Odd(PlayerId(300)),
        Message::Vouch(Vouch { key: PublicKey([7; 32]), proof: Proof([8; 32], [9; 32]) }),
        Message::Fitness(Fitness::Slow),
        Message::Attested(attestation.clone()),
        Message::PassedOn(PlayerId(300), attestation),
        Message::Fetch(Tick(70_000)),
        Message::Fetched(Turns { from: Tick(8), ticks: 9, turns: list(vec![(0, fetched)]), ..Turns::default() }),
        Message::Lead(Lead {
            from: known,
            before: list(vec![Known::default()]),
            gone: list(lost),
            votes: list(vec![(PlayerId(3), proof), (PlayerId(300), proof)]),
        }),
        Message::TwoVotes(TwoVotes {
            voter: PlayerId(300),
            epoch: Epoch(301),
            votes: [(PlayerId(3), proof), (PlayerId(4), proof)],
        }),
    ]
}

/// A hello that the session lets in, as a party sends it.
fn hello() -> Message {
    let mut joiner = party(PartySettings::default(), "Ada");
    joiner.handle(LinkEvent::Entered(PeerId(5 << 64)), Duration::ZERO);
    joiner.handle(LinkEvent::Connected(PeerId(0)), Duration::ZERO);
    let packet = joiner.poll_transmit().expect("it says hello");
    match wire::decode(&packet.bytes).expect("a message").1 {
        Message::Hello(hello) => {
            Message::Hello(Hello { key: Some(PublicKey([6; 32])), promised: Epoch(300), attempt: 300, ..hello })
        }
        other => panic!("it says hello, and not {other:?}"),
    }
}
