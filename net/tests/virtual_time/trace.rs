//! What happens in a session is told as `tracing` events, each with who tells it, and where.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Once;

use lockstone_net::LinkEvent;
use lockstone_net::link::LinkError;
use lockstone_net::memory::{Driver, Weather};
use lockstone_net::party::{Party, PartySettings};
use lockstone_sim::Tick;
use testkit::sessions::rollback::kill;
use testkit::sessions::*;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// What was told: how loudly, and the fields with the message among them.
type Told = Vec<(Level, BTreeMap<&'static str, String>)>;

thread_local! {
    /// What is told in this test's thread, up to a level, if it listens.
    static TOLD: RefCell<Option<(Level, Told)>> = const { RefCell::new(None) };
}

/// Listens to sessions, for the whole program: one that comes and goes with a test may miss what
/// another test told first at the same moment.
struct Keeper;

#[derive(Default)]
struct Fields(BTreeMap<&'static str, String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}").trim_matches('"').to_owned());
    }
}

impl Subscriber for Keeper {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "lockstone::session"
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        TOLD.with_borrow_mut(|told| {
            let level = *event.metadata().level();
            let Some((_, told)) = told.as_mut().filter(|(most, _)| level <= *most) else { return };
            let mut fields = Fields::default();
            event.record(&mut fields);
            told.push((level, fields.0));
        });
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

fn told(level: Level, play: impl FnOnce()) -> Told {
    static LISTENS: Once = Once::new();
    LISTENS.call_once(|| tracing::subscriber::set_global_default(Keeper).expect("nobody else listens"));
    TOLD.set(Some((level, Told::new())));
    play();
    TOLD.take().map(|(_, told)| told).unwrap_or_default()
}

/// The events of a message that one peer told.
fn of<'t>(told: &'t Told, message: &str, me: &str) -> Vec<(Level, &'t BTreeMap<&'static str, String>)> {
    let is_it =
        |fields: &BTreeMap<_, String>| fields["message"] == message && fields.get("me").is_some_and(|by| by == me);
    told.iter().filter(|(_, fields)| is_it(fields)).map(|(level, fields)| (*level, fields)).collect()
}

fn run(driver: &mut Driver<Party<Mixer>>, s: u64) {
    let until = driver.now() + secs(s);
    driver.run_until(until);
}

#[test]
fn joins_losses_returns_takeovers_and_stalls_are_told() {
    let told = told(Level::INFO, || {
        let build = |seed| Mixer::new(seed, 64).keeping(2_000);
        let party = |n| party_of(PartySettings::default(), IDENTITY, &format!("player {n}"), build);
        let mut driver = gather(1, Weather::clear(ms(50)), (0..4).map(party), |_, link| link);
        // Unheard for so long that it is away, and back.
        let (lonely, others) = (driver.peer(3), [0, 1, 2].map(|seat| driver.peer(seat)));
        others.iter().for_each(|other| driver.network.set_cut(lonely, *other, true));
        run(&mut driver, 12);
        others.iter().for_each(|other| driver.network.set_cut(lonely, *other, false));
        run(&mut driver, 12);
        kill(&mut driver, 0, false);
        run(&mut driver, 3);
        let now = driver.now();
        driver.seats[0].session.handle(LinkEvent::SignalingLost(LinkError::Ended("gone".to_owned())), now);
        driver.seats[0].session.handle(LinkEvent::SignalingBack, now);
        driver.seats[2].session.leave(now);
        run(&mut driver, 1);
    });
    let one = |message: &str| {
        let events = of(&told, message, "1");
        assert_eq!(events.len(), 1, "{message}: {events:?}");
        events[0]
    };
    assert_eq!(of(&told, "joined", "1").len(), 4);
    assert_eq!(one("started").0, Level::INFO);
    let (level, away) = one("away");
    assert_eq!((level, &*away["player"], &*away["epoch"]), (Level::WARN, "3", "0"));
    assert!(away["tick"].parse::<u32>().is_ok_and(|tick| tick > 200) && away["reason"].contains("not heard"));
    assert_eq!(one("back").1["player"], "3");
    let (level, takeover) = one("takeover");
    assert_eq!((level, &*takeover["leader"], &*takeover["epoch"]), (Level::WARN, "1", "1"));
    let left: Vec<_> = of(&told, "left", "1").into_iter().map(|(_, left)| &*left["player"]).collect();
    assert_eq!(left, ["0", "3"], "who has no key, and is not there any more, does not come back");
    assert_eq!(one("signaling lost").0, Level::WARN);
    one("signaling back");
    assert_eq!(of(&told, "stall", "3")[0].0, Level::WARN);
    let stalled = &of(&told, "stall over", "3")[0].1["stalled_ms"];
    assert!(stalled.parse::<u32>().is_ok_and(|ms| ms > 500), "{stalled}");
    assert!(told.iter().all(|(level, _)| *level <= Level::INFO), "nobody listens to the figures");
}

#[test]
fn differences_are_told_as_errors_and_figures_to_who_listens() {
    let told = told(Level::DEBUG, || {
        let odd = Some((1, Tick(300)));
        let mut driver = testkit::sessions::odd_party(1, 2, odd, Weather::clear(ms(50)), PartySettings::default());
        run(&mut driver, 20);
    });
    let desync = of(&told, "desync", "0");
    assert_eq!((desync.len(), desync[0].0, &*desync[0].1["player"]), (1, Level::ERROR, "1"));
    assert!(desync[0].1["differs_at"].parse::<u32>().is_ok_and(|tick| (300..=320).contains(&tick)));
    for me in ["0", "1"] {
        let (figures, exchange) = (of(&told, "figures", me), of(&told, "exchange", me));
        assert!(!figures.is_empty() && !exchange.is_empty(), "{me}");
        let rtt: f32 = exchange[0].1["rtt_ms"].parse().expect("a number");
        assert!((99.0..103.0).contains(&rtt), "{rtt}");
        assert_eq!((figures[0].0, &*figures[0].1["stalls"]), (Level::DEBUG, "0"));
    }
}
