//! What the mouse's buttons do in a window of X11, one thing after the other.
//!
//! The window library tells only which buttons are down, when it is asked. A click that is shorter
//! than a picture takes would be lost. So the display server is asked to tell them here, over a
//! connection of its own; the library hears nothing of them any more.

use std::error::Error;

use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xinput::{ButtonPressEvent, ConnectionExt, Device, EventMask, XIEventMask};
use x11rb::rust_connection::RustConnection;

use super::{BUTTONS, Press};

/// The buttons' events of one window.
pub(super) struct Buttons(RustConnection);

impl Buttons {
    /// Those of a window that is there.
    ///
    /// # Errors
    /// What the display server says: it may have no events of this kind.
    pub fn of(window: u32) -> Result<Buttons, Box<dyn Error>> {
        let (connection, _) = x11rb::connect(None)?;
        connection.xinput_xi_query_version(2, 0)?.reply()?;
        let mask = vec![XIEventMask::BUTTON_PRESS | XIEventMask::BUTTON_RELEASE];
        let mask = EventMask { deviceid: Device::ALL_MASTER.into(), mask };
        connection.xinput_xi_select_events(window, &[mask])?.check()?;
        connection.flush()?;
        Ok(Buttons(connection))
    }

    /// What happened since the last time.
    pub fn poll(&self) -> Vec<Press> {
        let press = |is_down, event: ButtonPressEvent| {
            // Places are in parts of a pixel.
            let pixels = |place: i32| place as f32 / 65_536.0;
            let (_, _, pointer) = *BUTTONS.iter().find(|(number, ..)| *number == event.detail)?;
            Some(Press { is_down, pointer, at: (pixels(event.event_x), pixels(event.event_y)) })
        };
        let events = std::iter::from_fn(|| self.0.poll_for_event().ok().flatten());
        let presses = events.filter_map(|event| match event {
            Event::XinputButtonPress(event) => press(true, event),
            Event::XinputButtonRelease(event) => press(false, event),
            _ => None,
        });
        presses.collect()
    }
}
