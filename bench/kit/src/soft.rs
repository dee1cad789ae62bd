// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The time for a frame in native code on one processor, from memory.

use std::path::Path;

use penstock_device::files;

use crate::BenchError;

/// Frames that are timed at once, at least: some hundreds of milliseconds, as Linux counts the time of a thread that
/// runs in ticks of up to 4 ms.
const TIMED: usize = 4_000_000;

/// The number of rounds. The fastest counts, because other work on the machine only slows it down.
const ROUNDS: usize = 5;

/// The file in which Linux has the nanoseconds for which this thread had a processor; time of other work does not
/// count.
const CLOCK: &str = "/proc/thread-self/schedstat";

/// Millions of frames a second, if `run` processes this many frames.
pub fn mpps(frames: usize, run: impl FnMut() -> Result<(), BenchError>) -> Result<f64, BenchError> {
    mpps_of(TIMED, frames, run)
}

/// The same for slow code, of which `timed` frames take some hundreds of milliseconds.
pub fn mpps_of(
    timed: usize,
    frames: usize,
    mut run: impl FnMut() -> Result<(), BenchError>,
) -> Result<f64, BenchError> {
    // Maps and tables get their contents. From here on only the time differs between rounds.
    run()?;
    let runs = timed.div_ceil(frames);
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = processor_time()?;
        for _ in 0..runs {
            run()?;
        }
        best = best.min((processor_time()? - start) / (runs * frames) as f64);
    }
    Ok(1e3 / best)
}

/// Nanoseconds.
fn processor_time() -> Result<f64, BenchError> {
    let text = files::read(Path::new(CLOCK), "benches of native code need a Linux kernel that counts time by thread")?;
    let first = text.split(' ').next().and_then(|word| word.parse().ok());
    first.ok_or_else(|| BenchError::Wrong("time of a thread", format!("{CLOCK} has no time in it")))
}
