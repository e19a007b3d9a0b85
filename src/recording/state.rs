//! A simulation's state as bytes, and back.

use lockstone_sim::Simulation;
use lockstone_sim::codec::CodecError;

/// The state that a simulation is in, serialised.
pub fn encoded<S: Simulation>(simulation: &mut S) -> Vec<u8> {
    let snapshot = simulation.snapshot();
    simulation.encode(&snapshot)
}

/// Goes over to a serialised state.
///
/// # Errors
/// [`CodecError`] if the bytes are no state of this simulation: it stays in its own then.
pub fn restore_from<S: Simulation>(simulation: &mut S, bytes: &[u8]) -> Result<(), CodecError> {
    let snapshot = simulation.decode(bytes)?;
    simulation.restore(&snapshot);
    simulation.retire(snapshot);
    Ok(())
}
