// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The contents of a report.

use penstock_bench::wire;

/// Everything on the page.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReportData {
    /// Name of the design.
    pub design: String,
    /// Short facts below the name, such as `flow-hash` or `firewall.c`.
    pub facts: Vec<String>,
    /// Ethernet ports of the card.
    pub ports: usize,
    /// The conclusion of the command that ran it, if it judged the result.
    pub verdict: Option<Verdict>,
    /// One run per target; the first that has cycles is drawn in detail.
    pub runs: Vec<RunData>,
}

/// A conclusion in plain words.
#[derive(Debug, Clone)]
pub(crate) struct Verdict {
    pub good: bool,
    pub headline: String,
    pub reasons: Vec<String>,
}

/// The results of one target.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunData {
    /// `soft` or `rtl`.
    pub target: String,
    pub frames_in: u64,
    /// Made by programs.
    pub generated: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
    /// Frames by destination (`port0`, `host`, …).
    pub frames_out: Vec<(String, u64)>,
    /// Frames by drop reason; the words of docs/architecture.md.
    pub drops: Vec<(String, u64)>,
    /// Line rate terms: with FCS, preamble and gap.
    pub gbps: f64,
    pub mpps: f64,
    /// Card clock, for targets that have one.
    pub clock_mhz: Option<f64>,
    pub cycles: Option<u64>,
    /// Wall clock of the run.
    pub seconds: Option<f64>,
    /// Ethernet ports, in order.
    pub streams: Vec<StreamCounters>,
    pub host: StreamCounters,
    pub loopback: StreamCounters,
    pub units: Vec<UnitCounters>,
    /// By unit the name of its group, where that has one.
    pub groups: Vec<String>,
    /// Faults of the run, in sentences.
    pub faults: Vec<String>,
    /// Frames that left, in the order in which they left; empty when the target keeps no time.
    pub exits: Vec<Exit>,
    /// The slowest of them, the slowest first.
    pub slowest: Vec<Slow>,
}

/// Counters of a port, the host stream or the loopback.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StreamCounters {
    pub rx_frames: u64,
    pub rx_bytes: u64,
    /// All reasons together.
    pub rx_drops: u64,
    /// Cycles in which a frame waited for a slot.
    pub rx_stalls: u64,
    pub tx_frames: u64,
    pub tx_bytes: u64,
    pub tx_stalls: u64,
}

/// Counters of a unit.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct UnitCounters {
    pub rx_frames: u64,
    pub rx_bytes: u64,
    pub tx_frames: u64,
    /// Dropped by its program.
    pub blocked: u64,
    /// Made by its program.
    pub generated: u64,
}

impl UnitCounters {
    /// Frames that it had to do with.
    pub(crate) fn handled(&self) -> u64 {
        self.rx_frames + self.generated
    }
}

/// A frame that left the card.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Exit {
    /// First beat in, ns since the run began.
    pub entered_ns: f64,
    /// Last beat out, ns since the run began.
    pub left_ns: f64,
    pub bytes: u32,
}

/// One of the slowest frames.
#[derive(Debug, Clone)]
pub(crate) struct Slow {
    pub exit: Exit,
    pub source: String,
    pub destination: String,
    /// Five-tuple or Ethernet type, in words.
    pub flow: String,
}

impl Exit {
    pub(crate) fn latency_ns(&self) -> f64 {
        self.left_ns - self.entered_ns
    }

    /// Bytes on the wire: FCS, preamble and gap counted.
    pub(crate) fn wire_bytes(&self) -> f64 {
        wire::bytes(self.bytes as usize) as f64
    }
}

impl RunData {
    pub(crate) fn total_out(&self) -> u64 {
        self.frames_out.iter().map(|(_, n)| n).sum()
    }

    /// A unit for people: its number, and its group.
    pub(crate) fn unit_name(&self, number: usize) -> String {
        match self.groups.get(number).map_or("", String::as_str) {
            "" => format!("Unit {number}"),
            group => format!("Unit {number} ({group})"),
        }
    }

    pub(crate) fn total_drops(&self) -> u64 {
        self.drops.iter().map(|(_, n)| n).sum()
    }

    /// Latencies in ns, ascending.
    pub(crate) fn latencies(&self) -> Vec<f64> {
        let mut all: Vec<f64> = self.exits.iter().map(Exit::latency_ns).collect();
        all.sort_by(f64::total_cmp);
        all
    }
}

/// The value below which a share `p` (0..=1) of the ascending values lie; 0 if there are no values.
pub(super) fn percentile(ascending: &[f64], p: f64) -> f64 {
    let rank = (p * ascending.len() as f64).ceil() as usize;
    ascending.get(rank.max(1) - 1).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::percentile;

    #[test]
    fn percentiles_are_members_of_the_list() {
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(percentile(&values, 0.5), 50.0);
        assert_eq!(percentile(&values, 0.99), 99.0);
        assert_eq!(percentile(&values, 1.0), 100.0);
        assert_eq!(percentile(&[7.0], 0.0), 7.0);
        assert_eq!(percentile(&[], 0.5), 0.0);
    }
}
