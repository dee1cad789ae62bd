// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A live card, in words and tables, for `up`, `ctl` and `top`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use penstock_device::{UnitState, WIRE_OVERHEAD};
use penstock_live::Link;
use penstock_live::protocol::{PortStatus, Status, UnitStatus};

use crate::show::grouped;

/// Column heads of the table of ports.
pub const PORT_HEADS: [&str; 9] =
    ["port", "interface", "in frames", "Mpps", "Gb/s", "out frames", "Mpps", "Gb/s", "drops"];
/// Column heads of the table of units.
pub const UNIT_HEADS: [&str; 9] =
    ["unit", "state", "held", "in frames", "out frames", "made", "blocked", "refused", "at"];

/// Two states of a card; rates are the difference. The first may be from before the card was up.
pub struct Look<'a> {
    before: Option<&'a Status>,
    now: &'a Status,
}

impl<'a> Look<'a> {
    /// Rates since the card is up.
    pub fn since_start(now: &'a Status) -> Self {
        Self { before: None, now }
    }

    /// Rates since an earlier state.
    pub fn since(before: &'a Status, now: &'a Status) -> Self {
        // Another card at the same socket has counted from zero.
        Self { before: Some(before).filter(|before| before.process == now.process), now }
    }

    /// The card in a line.
    pub fn head(&self) -> String {
        let Status { design, programs, seconds, driver, .. } = self.now;
        let name = |program: &PathBuf| program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let programs: Vec<String> = programs.iter().map(name).collect();
        format!("{design} ({}), up for {seconds:.0} s, {driver}", programs.join(", "))
    }

    /// Rows of the table of ports.
    pub fn ports(&self) -> Vec<[String; 9]> {
        let before =
            |port: &PortStatus| self.before.and_then(|status| status.ports.iter().find(|old| old.port == port.port));
        self.now.ports.iter().map(|port| self.port(port, before(port))).collect()
    }

    fn port(&self, port: &PortStatus, before: Option<&PortStatus>) -> [String; 9] {
        let seconds = self.now.seconds - self.before.map_or(0.0, |before| before.seconds);
        let rates = |frames: fn(&PortStatus) -> u64, bytes: fn(&PortStatus) -> u64| {
            let count = frames(port).saturating_sub(before.map_or(0, frames));
            let wire = bytes(port).saturating_sub(before.map_or(0, bytes)) + count * WIRE_OVERHEAD;
            let mpps = count as f64 / seconds.max(1e-6) / 1e6;
            let gbps = wire as f64 * 8.0 / seconds.max(1e-6) / 1e9;
            [grouped(frames(port)), format!("{mpps:.4}"), format!("{gbps:.4}")]
        };
        let [rx, rx_mpps, rx_gbps] = rates(|port| port.rx_frames, |port| port.rx_bytes);
        let [tx, tx_mpps, tx_gbps] = rates(|port| port.tx_frames, |port| port.tx_bytes);
        let interface = match (&port.interface, port.link) {
            (Some(name), Some(Link::Down)) => format!("{name} (down)"),
            (Some(name), Some(Link::Gone)) => format!("{name} (gone)"),
            (Some(name), _) => name.clone(),
            (None, _) => "-".to_string(),
        };
        [port.port.clone(), interface, rx, rx_mpps, rx_gbps, tx, tx_mpps, tx_gbps, drops(&port.drops)]
    }

    /// Rows of the table of units.
    pub fn units(&self) -> Vec<[String; 9]> {
        self.now.units.iter().map(unit).collect()
    }

    /// Everything, as plain text.
    pub fn text(&self) -> String {
        let mut text = self.head() + "\n\n";
        text += &table(&PORT_HEADS, &self.ports());
        text += "\n";
        text += &table(&UNIT_HEADS, &self.units());
        text += &format!("\ndrops: {}\n", drops(&self.now.drops));
        for fault in &self.now.faults {
            text += &format!("fault: {fault}\n");
        }
        text
    }

    /// Ports and drops alone: the card's summary at its end.
    pub fn summary(&self) -> String {
        format!("{}\n{}drops: {}\n", self.head(), table(&PORT_HEADS, &self.ports()), drops(&self.now.drops))
    }
}

fn unit(unit: &UnitStatus) -> [String; 9] {
    let state = match unit.vitals.state {
        UnitState::Running => "running",
        UnitState::Disabled => "disabled",
        UnitState::Halted => "halted",
        UnitState::Dead => "dead",
    };
    [
        format!("{} {}", unit.unit, unit.group).trim_end().to_string(),
        state.to_string(),
        format!("{}/{}", unit.vitals.held, unit.vitals.slots),
        grouped(unit.rx_frames),
        grouped(unit.tx_frames),
        grouped(unit.generated),
        grouped(unit.blocked),
        grouped(unit.refused),
        unit.vitals.at.clone(),
    ]
}

/// Reasons and counts in words.
pub fn drops(reasons: &BTreeMap<String, u64>) -> String {
    let words: Vec<String> = reasons.iter().map(|(reason, count)| format!("{reason} {}", grouped(*count))).collect();
    if words.is_empty() { "none".to_string() } else { words.join(", ") }
}

/// A table in columns of the necessary width; the last column is not padded.
fn table<const N: usize>(heads: &[&str; N], rows: &[[String; N]]) -> String {
    let width =
        |column: usize| rows.iter().map(|row| row[column].len()).chain([heads[column].len()]).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let line = |cells: Vec<&str>| {
        let padded: Vec<String> = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        padded.join("  ").trim_end().to_string() + "\n"
    };
    rows.iter().fold(line(heads.to_vec()), |text, row| text + &line(row.iter().map(String::as_str).collect()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use penstock_device::Vitals;

    use super::*;

    fn status(seconds: f64, frames: u64, process: u32) -> Status {
        let port = PortStatus {
            port: "port0".to_string(),
            interface: Some("veth0".to_string()),
            link: Some(Link::Down),
            rx_frames: frames,
            rx_bytes: 76 * frames,
            tx_frames: 0,
            tx_bytes: 0,
            drops: [("runt".to_string(), 1234)].into(),
        };
        let vitals = Vitals { state: UnitState::Dead, slots: 32, held: 7, at: "pc=0x8".to_string() };
        let unit = UnitStatus {
            unit: 3,
            group: String::new(),
            vitals,
            rx_frames: 5,
            tx_frames: 4,
            blocked: 1,
            refused: 0,
            generated: 0,
            errors: 0,
        };
        Status {
            design: "test".to_string(),
            manifest: PathBuf::new(),
            programs: vec![PathBuf::from("a/b.c")],
            driver: "wire".to_string(),
            process,
            seconds,
            ports: vec![port],
            units: vec![unit],
            drops: BTreeMap::new(),
            faults: vec!["unit 3 hangs".to_string()],
        }
    }

    #[test]
    fn rates_are_those_between_two_looks() {
        let (before, now) = (status(10.0, 1_000_000, 1), status(12.0, 5_000_000, 1));
        // 4 million frames of 100 B on the wire in 2 s: 2 Mpps, 1.6 Gb/s.
        assert_eq!(Look::since(&before, &now).ports()[0][2..5], ["5,000,000", "2.0000", "1.6000"]);
        assert_eq!(Look::since_start(&now).ports()[0][3], "0.4167");
        assert_eq!(Look::since(&status(10.0, 9, 2), &now).ports()[0][3], "0.4167");
    }

    #[test]
    fn text_has_all() {
        let text = Look::since_start(&status(2.0, 10, 1)).text();
        for words in [
            "test (b.c), up for 2 s, wire",
            "veth0 (down)",
            "runt 1,234",
            "3     dead   7/32",
            "pc=0x8",
            "drops: none",
            "fault: unit 3 hangs",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
    }
}
