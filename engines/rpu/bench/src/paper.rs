// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Line rate, and the rates of the Rosebud paper.

use penstock_bench::rates::line;
use penstock_bench::wire::{CLOCK_MHZ, LINE_GBPS};

/// Forwarding rate of the paper, Mpps (section 6.1 and Figure 7), where it gives one: its units forward a frame every
/// 16 cycles, its ports take one every other cycle, and 8 units reach 200 Gb/s from 1,024 bytes. Its smallest frames
/// have 64.
pub(crate) fn paper_forward(units: u32, ports: u32, size: usize) -> Option<f64> {
    let line = line(ports, size);
    let units_limit = f64::from(units) * CLOCK_MHZ / 16.0;
    let limit = units_limit.min(f64::from(ports) * CLOCK_MHZ / 2.0);
    let between = ports == 2 && units == 8 && limit > line && size < 1024;
    (size >= 64 && !between).then(|| line.min(limit))
}

/// Forwarding rate aimed at, Mpps: line rate; with 8 units on two ports from 128 bytes.
pub(crate) fn goal_forward(units: u32, ports: u32, size: usize) -> Option<f64> {
    (units >= 16 || ports == 1 || size >= 128).then(|| line(ports, size))
}

/// Forwarding latency of the paper, ns (Equation 1).
pub(crate) fn paper_latency(size: usize) -> f64 {
    size as f64 * 8.0 * (2.0 / LINE_GBPS + 2.0 / 32.0) + 765.0
}

/// Rate of the paper over loopback, Mpps (section 6.3): of line rate 60 % at 64 bytes, 61 % at 65, all from 128 on.
pub(crate) fn paper_loopback(size: usize) -> Option<f64> {
    let share = match size {
        64 => Some(0.60),
        65 => Some(0.61),
        128.. => Some(1.0),
        _ => None,
    };
    share.map(|share| share * line(1, size))
}

/// Rate of the paper's packet generator on 16 units, Mpps (section 6.1): at 64 and 65 bytes 250, from 128 on line rate.
pub(crate) fn paper_generate(units: u32, size: usize) -> Option<f64> {
    match size {
        _ if units != 16 => None,
        64 | 65 => Some(250.0),
        128.. => Some(line(2, size)),
        _ => None,
    }
}

/// Firewall rate of the paper, Mpps (section 7.2): 200 Gb/s from 256 bytes; below, no number.
pub(crate) fn paper_firewall(size: usize) -> Option<f64> {
    (size >= 256).then(|| line(2, size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figure_7() {
        assert_eq!(paper_forward(16, 2, 60), None);
        assert_eq!(paper_forward(16, 2, 64), Some(250.0));
        assert_eq!(paper_forward(16, 1, 64), Some(125.0));
        assert_eq!(paper_forward(16, 2, 128), Some(line(2, 128)));
        assert_eq!(paper_forward(8, 2, 64), Some(125.0));
        assert_eq!(paper_forward(8, 2, 512), None);
        assert_eq!(paper_forward(8, 2, 1024), Some(line(2, 1024)));
        assert_eq!(paper_forward(8, 1, 256), Some(line(1, 256)));
    }

    #[test]
    fn equation_1() {
        assert!((paper_latency(64) - 807.24).abs() < 0.01);
    }
}
