// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! What `run` and `ctl` need to debug a unit: where gdb finds it, and a way to the units of a card that is up.

use std::io;
use std::net::TcpListener;

use penstock_debug::gdb::{GdbError, Pace};
use penstock_debug::{DebugError, DeviceWindow, Unit, Window, gdb};
use penstock_device::{Device, Progress, Work};
use penstock_engine::note;
use penstock_live::Client;
use penstock_live::protocol::Request;

/// The default port for gdb.
pub(crate) const PORT: u16 = 3333;

/// A unit that is to be debugged, and the TCP port of this machine at which gdb finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Debugged {
    pub unit: u32,
    pub port: u16,
}

/// Why nothing is debugged.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DebuggerError {
    #[error(transparent)]
    Debug(#[from] DebugError),
    #[error(transparent)]
    Gdb(#[from] GdbError),
    #[error("port {port} of this machine: {source}; give another one, or 0 for any that is free")]
    Listen { port: u16, source: io::Error },
    #[error("waiting for Ctrl-C: {0}")]
    Signal(#[source] io::Error),
    #[error("there is no unit {unit}; the card has units 0..{}", .units - 1)]
    NoUnit { unit: u32, units: u32 },
}

impl Debugged {
    /// Parses `UNIT` or `UNIT:PORT`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (unit, port) = text.split_once(':').map_or((text, None), |(unit, port)| (unit, Some(port)));
        match (unit.parse(), port.map_or(Ok(PORT), str::parse)) {
            (Ok(unit), Ok(port)) => Ok(Self { unit, port }),
            _ => Err(format!("`{text}` is no unit: write its number, or UNIT:PORT")),
        }
    }

    /// Listens at its port, on this machine only, and prints the port.
    pub(crate) fn listen(self) -> Result<TcpListener, DebuggerError> {
        let fail = |source| DebuggerError::Listen { port: self.port, source };
        let listener = TcpListener::bind(("127.0.0.1", self.port)).map_err(fail)?;
        let port = listener.local_addr().map_err(fail)?.port();
        note!("gdb finds unit {} with: target remote localhost:{port}", self.unit);
        Ok(listener)
    }
}

/// Halts a unit of a device that is to be loaded, at its first instruction.
pub(crate) fn halt_first(device: &mut dyn Device, debugged: Debugged, units: u32) -> Result<(), DebuggerError> {
    let unit = debugged.unit;
    if unit >= units {
        return Err(DebuggerError::NoUnit { unit, units });
    }
    Ok(Unit::new(DeviceWindow { device, unit }).halt()?)
}

/// Serves gdb while the frames that were sent to a device are on their way.
pub(crate) fn debug_run(
    device: &mut dyn Device,
    debugged: Debugged,
    listener: &TcpListener,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), DebuggerError> {
    let mut unit = Unit::new(DeviceWindow { device, unit: debugged.unit });
    let mut work = |window: &mut DeviceWindow<'_>| match window.device.work(progress)? {
        Work::Moving => Ok(Pace::Busy),
        Work::Waiting => Ok(Pace::Idle),
        Work::Done => Ok(Pace::End),
    };
    Ok(gdb::serve(&mut unit, listener, &mut work, &mut |text| note!("{text}"))?)
}

/// A unit of a card that is up.
pub(crate) struct LiveWindow {
    pub client: Client,
    pub unit: u32,
}

impl Window for LiveWindow {
    fn read(&mut self, address: u32) -> Result<u32, DebugError> {
        let reply = self.client.ask(&Request::MemRead { unit: self.unit, address, count: 1 });
        let words = reply.map_err(|error| DebugError::Card(error.to_string()))?.words.unwrap_or_default();
        words.first().copied().ok_or_else(|| DebugError::Card("the card answered without a word".to_string()))
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), DebugError> {
        let request = Request::MemWrite { unit: self.unit, address, values: vec![value] };
        self.client.ask(&request).map(drop).map_err(|error| DebugError::Card(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_named_with_or_without_a_port() {
        assert_eq!(Debugged::parse("3"), Ok(Debugged { unit: 3, port: PORT }));
        assert_eq!(Debugged::parse("15:0"), Ok(Debugged { unit: 15, port: 0 }));
        assert!(["", ":", "3:", ":3", "3:70000", "-1", "x"].iter().all(|text| Debugged::parse(text).is_err()));
    }
}
