//! What players see beyond what their replicas simulate: a game says it with a [`Horizon`], and a
//! session tells it as a [`DistantView`](crate::session::DistantView).
//!
//! For the eye alone: nothing of it may find its way into the world. The relay sends it at most
//! 5 times a second, and only of the heroes of a player's own party, and of landmarks, which
//! are for everyone.

use lockstone_sim::{Entity, PlayerId, Rules, Vec2, World};

use crate::session::Landmark;
pub use crate::wire::Route;

/// What is seen from afar in a game's worlds. What a game does not say is not seen; a session
/// without a horizon has no distant view.
///
/// The relay and the replicas must have the same one.
pub trait Horizon<R: Rules>: Send + 'static {
    /// The number of a player's party, whose heroes see each other from afar. `None`: nobody sees
    /// that player's hero, and the player nobody's.
    fn party(&self, rules: &R, player: PlayerId) -> Option<u32> {
        let _ = (rules, player);
        None
    }

    /// The route that a hero is on. `None`: it stands, or nobody can foretell where it goes; then
    /// it is seen at samples of its place.
    fn route(&self, rules: &R, hero: &Entity<R::Body>) -> Option<Route> {
        let _ = (rules, hero);
        None
    }

    /// How someone at a place walks a route, the way that it leads found as the rules find it.
    fn set_out(&self, from: Vec2, route: &Route) -> Walk<R> {
        let _ = route;
        Box::new(move |_, _| from)
    }

    /// What everyone sees, wherever they are: a boss that is alive, a portal that is open. Asked 5
    /// times a second, of the whole world. At most [`LANDMARKS_MAX`](crate::limits::LANDMARKS_MAX).
    fn landmarks(&self, world: &World<R>) -> Vec<Landmark> {
        let _ = world;
        Vec::new()
    }
}

/// Nothing is seen from afar.
impl<R: Rules> Horizon<R> for () {}

/// A walk: each call is one tick of it, and tells where that leads.
pub type Walk<R> = Box<dyn FnMut(&R, &mut <R as Rules>::Scratch) -> Vec2 + Send>;
