//! The ordinary world in ggrs: it is cloned into the cell, with its checksum, and cloned
//! back from there.

use ggrs::{Config, GgrsRequest, PredictDefault, SessionBuilder, SyncTestSession};
use lockstone_sim::{Simulation, Turn};
use testkit::contest::ordinary::Ordinary;
use testkit::contest::play::Play;

struct Types;

impl Config for Types {
    type Input = u8;
    type InputPredictor = PredictDefault;
    type State = Ordinary;
    type Address = usize;
}

pub struct OrdinarySession {
    session: SyncTestSession<Types>,
    world: Ordinary,
    players: usize,
}

impl OrdinarySession {
    pub fn new(play: &Play, players: usize, distance: usize) -> OrdinarySession {
        let session = SessionBuilder::<Types>::new()
            .with_num_players(players)
            .expect("there are players")
            .with_max_prediction_window(distance + 1)
            .with_check_distance(distance)
            .start_synctest_session()
            .expect("the distance is within the prediction");
        OrdinarySession { session, world: Ordinary::new(play), players }
    }

    pub fn advance(&mut self) {
        for player in 0..self.players {
            self.session.add_local_input(player, 0).expect("it is a player");
        }
        for request in self.session.advance_frame().expect("it comes out the same") {
            match request {
                GgrsRequest::SaveGameState { cell, frame } => {
                    let checksum = self.world.checksum().0;
                    cell.save(frame, Some(self.world.snapshot()), Some(checksum.into()));
                }
                GgrsRequest::LoadGameState { cell, .. } => self.world = cell.load().expect("it was saved"),
                GgrsRequest::AdvanceFrame { .. } => self.world.step(&Turn::EMPTY),
            }
        }
    }
}
