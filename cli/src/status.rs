// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A live card, in words and tables, for `up`, `ctl` and `top`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use penstock_device::{BlockCounters, UnitState, WIRE_OVERHEAD};
use penstock_live::protocol::{PortStatus, ProgramAbout, Request, Status, UnitStatus};
use penstock_live::{Client, ControlError, Link};
use serde_json::Value as Json;

use crate::show::grouped;

/// Column heads of the table of ports.
pub(crate) const PORT_HEADS: [&str; 9] =
    ["port", "interface", "in frames", "Mpps", "Gb/s", "out frames", "Mpps", "Gb/s", "drops"];
/// Column heads of the table of units.
pub(crate) const UNIT_HEADS: [&str; 9] =
    ["unit", "state", "held", "in frames", "out frames", "made", "blocked", "refused", "at"];

/// Two states of a card; rates are the difference. The first may be from before the card was up.
pub(crate) struct Look<'a> {
    before: Option<&'a Status>,
    now: &'a Status,
}

impl<'a> Look<'a> {
    /// Rates since the card is up.
    pub(crate) fn since_start(now: &'a Status) -> Self {
        Self { before: None, now }
    }

    /// Rates since an earlier state.
    pub(crate) fn since(before: &'a Status, now: &'a Status) -> Self {
        // Another card at the same socket has counted from zero.
        Self { before: Some(before).filter(|before| before.process == now.process), now }
    }

    /// The card in a line.
    pub(crate) fn head(&self) -> String {
        let Status { design, programs, seconds, driver, .. } = self.now;
        let name = |program: &PathBuf| program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let programs: Vec<String> = programs.iter().map(name).collect();
        format!("{design} ({}), up for {seconds:.0} s, {driver}", programs.join(", "))
    }

    /// Rows of the table of ports.
    pub(crate) fn ports(&self) -> Vec<[String; 9]> {
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
    pub(crate) fn units(&self) -> Vec<[String; 9]> {
        self.now.units.iter().map(|one| unit(one, grouped)).collect()
    }

    /// The table of ports in lines of at most `width` letters: with short numbers if whole ones do not fit.
    pub(crate) fn port_lines(&self, width: usize) -> Vec<String> {
        let whole = table(&PORT_HEADS, &self.ports());
        if whole.lines().all(|line| line.chars().count() <= width) {
            return whole.lines().map(str::to_owned).collect();
        }
        let mut rows = self.ports();
        for (row, port) in rows.iter_mut().zip(&self.now.ports) {
            row[2] = short(port.rx_frames);
            row[5] = short(port.tx_frames);
            row[8] = short(port.drops.values().sum());
        }
        let mut heads = PORT_HEADS;
        (heads[2], heads[5]) = ("in", "out");
        table(&heads, &rows).lines().map(str::to_owned).collect()
    }

    /// The table of units in lines, where numbers are short if whole ones do not fit into `width` letters. The place of
    /// a program may still be longer.
    pub(crate) fn unit_lines(&self, width: usize) -> Vec<String> {
        let whole = self.units();
        // The last column is text, and may be longer.
        let numbers = |rows: &[[String; 9]]| {
            let cut: Vec<[String; 9]> = rows
                .iter()
                .map(|row| {
                    let mut row = row.clone();
                    row[8].clear();
                    row
                })
                .collect();
            table(&UNIT_HEADS, &cut).lines().map(|line| line.chars().count()).max().unwrap_or(0)
        };
        let rows = match numbers(&whole) + 12 <= width {
            true => whole,
            false => self.now.units.iter().map(|one| unit(one, short)).collect(),
        };
        let mut heads = UNIT_HEADS;
        if rows != self.units() || numbers(&rows) + 12 > width {
            (heads[3], heads[4]) = ("in", "out");
        }
        table(&heads, &rows).lines().map(str::to_owned).collect()
    }

    /// Reasons for drops at each port, a line for each port that has some.
    pub(crate) fn drop_lines(&self) -> Vec<String> {
        let ports = self.now.ports.iter().filter(|port| !port.drops.is_empty());
        ports.map(|port| format!("dropped at {}: {}", port.port, drops(&port.drops))).collect()
    }

    /// Everything, as plain text.
    pub(crate) fn text(&self, more: &More) -> String {
        let mut text = self.head() + "\n\n";
        text += &table(&PORT_HEADS, &self.ports());
        text += "\n";
        text += &table(&UNIT_HEADS, &self.units());
        more.lines().iter().for_each(|line| text += &format!("{line}\n"));
        text += &format!("\ndrops: {}\n", drops(&self.now.drops));
        for fault in &self.now.faults {
            text += &format!("fault: {fault}\n");
        }
        text
    }

    /// Ports and drops alone: the card's summary at its end.
    pub(crate) fn summary(&self) -> String {
        format!("{}\n{}drops: {}\n", self.head(), table(&PORT_HEADS, &self.ports()), drops(&self.now.drops))
    }
}

/// Answers of a card beside its status: inline blocks with the counters of their engines, and tables of programs.
#[derive(Debug, Clone, Default)]
pub(crate) struct More {
    /// Inline blocks.
    pub blocks: Vec<BlockCounters>,
    /// Programs.
    pub programs: Vec<ProgramAbout>,
}

impl More {
    /// Asks a card.
    pub(crate) fn ask(client: &mut Client) -> Result<Self, ControlError> {
        let counters = client.ask(&Request::Counters)?.counters;
        let blocks = counters.and_then(|counters| counters.inline).map_or(Vec::new(), |inline| inline.blocks);
        Ok(Self { blocks, programs: client.ask(&Request::Programs)?.programs.unwrap_or_default() })
    }

    /// In lines, after an empty one; none if there is nothing to tell.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.blocks.is_empty() {
            let heads = ["block", "engine", "frames", "made", "absorbed", "blocked"];
            let row = |block: &BlockCounters| {
                let name = if block.name.is_empty() { "-".to_owned() } else { block.name.clone() };
                let counts = [block.frames, block.made, block.absorbed, block.blocked].map(grouped);
                let [frames, made, absorbed, blocked] = counts;
                [name, block.engine.clone(), frames, made, absorbed, blocked]
            };
            lines.push(String::new());
            lines.extend(table(&heads, &self.blocks.iter().map(row).collect::<Vec<_>>()).lines().map(str::to_owned));
            for block in &self.blocks {
                let prefix = if block.name.is_empty() { String::new() } else { format!("{}.", block.name) };
                own_counters(&block.own, &prefix, &mut lines);
            }
        }
        let with_tables: Vec<&ProgramAbout> = self.programs.iter().filter(|about| !about.tables.is_empty()).collect();
        if !with_tables.is_empty() {
            lines.push(String::new());
        }
        for about in with_tables {
            let whose = if about.group.is_empty() { about.engine.clone() } else { about.group.clone() };
            lines.push(format!("tables of {whose}: {}", about.tables.join(", ")));
        }
        lines
    }
}

/// A block's own counters that are not zero, in lines.
pub(crate) fn own_lines(block: &BlockCounters) -> Vec<String> {
    let mut lines = Vec::new();
    own_counters(&block.own, "", &mut lines);
    lines.into_iter().map(|line| line.trim_start().to_owned()).collect()
}

/// An engine's own counters that are not zero, a line each for lists of numbers such as rows.
fn own_counters(value: &Json, at: &str, lines: &mut Vec<String>) {
    let number = |value: &Json| value.as_u64().map_or_else(|| value.to_string(), grouped);
    let name = at.trim_end_matches('.');
    match value {
        Json::Number(one) if one.as_f64() != Some(0.0) => lines.push(format!("  {name} = {}", number(value))),
        Json::Object(fields) => {
            fields.iter().for_each(|(name, value)| own_counters(value, &format!("{at}{name}."), lines));
        }
        Json::Array(items) if !items.is_empty() && items.iter().all(Json::is_number) => {
            lines.push(format!("  {name} = {}", items.iter().map(number).collect::<Vec<_>>().join(" ")));
        }
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let name = item["name"].as_str().map_or_else(|| index.to_string(), str::to_owned);
                own_counters(item, &format!("{at}{name}."), lines);
            }
        }
        _ => {}
    }
}

/// A number in six letters at most: three digits and a unit if it has more than five.
pub(crate) fn short(number: u64) -> String {
    if number < 100_000 {
        return grouped(number);
    }
    let (mut value, mut units) = (number as f64 / 1e3, ["k", "M", "G", "T", "P", "E"].into_iter());
    let mut unit = units.next().unwrap_or_default();
    // Three digits are rounded: 999.95 would become 1000.
    while value >= 999.5 {
        value /= 1e3;
        unit = units.next().unwrap_or_default();
    }
    let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.digits$} {unit}")
}

fn unit(unit: &UnitStatus, number: fn(u64) -> String) -> [String; 9] {
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
        number(unit.rx_frames),
        number(unit.tx_frames),
        number(unit.generated),
        number(unit.blocked),
        number(unit.refused),
        unit.vitals.at.clone(),
    ]
}

/// Reasons and counts in words.
pub(crate) fn drops(reasons: &BTreeMap<String, u64>) -> String {
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
mod tests {
    use penstock_device::Vitals;
    use serde_json::json;

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
    fn short_numbers_keep_their_size() {
        for (number, text) in [
            (0, "0"),
            (99_999, "99,999"),
            (100_000, "100 k"),
            (123_456, "123 k"),
            (999_499, "999 k"),
            (999_500, "1.00 M"),
            (1_234_567, "1.23 M"),
            (9_996_000, "10.0 M"),
            (99_960_000, "100 M"),
            (45_678_901_234, "45.7 G"),
            (u64::MAX, "18.4 E"),
        ] {
            assert_eq!(short(number), text);
        }
    }

    /// At 80 columns, with the largest counters there are, after as long as line rate takes for them.
    #[test]
    fn no_digit_is_cut() {
        let mut status = status(u64::MAX as f64 / 148.8e6, u64::MAX / 100, 1);
        status.ports[0].tx_frames = u64::MAX;
        for unit in &mut status.units {
            (unit.rx_frames, unit.tx_frames, unit.blocked, unit.refused) = (u64::MAX, u64::MAX, u64::MAX, u64::MAX);
            (unit.generated, unit.vitals.at) = (u64::MAX, "pc=0x8 (filter.c:31 (main))".into());
        }
        let look = Look::since_start(&status);
        let lines = look.port_lines(78);
        assert!(lines.iter().all(|line| line.chars().count() <= 78) && lines[1].contains("18.4 E"), "{lines:#?}");
        let lines = look.unit_lines(78);
        assert!(lines[1].matches("18.4 E").count() == 5 && lines[1].ends_with("(main))"), "{lines:#?}");
        assert!(lines[1].find("pc=").is_some_and(|at| at < 70), "{lines:#?}");
        let whole = look.unit_lines(200);
        assert!(whole[1].contains("18,446,744,073,709,551,615") && whole[0].contains("in frames"), "{whole:#?}");
        assert_eq!(look.drop_lines(), ["dropped at port0: runt 1,234"]);
    }

    #[test]
    fn text_has_all() {
        let own = json!({"elements": [{"name": "knock", "rows": [1, 1234], "evicted": 0, "flows": 77}]});
        let block = BlockCounters { engine: "states".into(), frames: 12_345, own, ..BlockCounters::default() };
        let about = ProgramAbout {
            group: String::new(),
            engine: "objects".into(),
            units: Some((0, 1)),
            file: PathBuf::new(),
            name: None,
            tables: vec!["ports".into(), "rx_cnt".into()],
        };
        let more = More { blocks: vec![block], programs: vec![about] };
        let text = Look::since_start(&status(2.0, 10, 1)).text(&more);
        assert!(!text.contains("evicted"), "{text}");
        for words in [
            "test (b.c), up for 2 s, wire",
            "veth0 (down)",
            "runt 1,234",
            "3     dead   7/32",
            "pc=0x8",
            "drops: none",
            "fault: unit 3 hangs",
            "states  12,345",
            "elements.knock.rows = 1 1,234",
            "elements.knock.flows = 77",
            "tables of objects: ports, rx_cnt",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
    }
}
