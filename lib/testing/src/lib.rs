// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! For tests: random numbers, campaigns of random cases, and reports of tests that cannot run everywhere.

mod campaign;
pub mod damage;
mod numbers;

pub use campaign::{Alone, Campaign, Counting, Tried, alone, most_held};
pub use numbers::Numbers;

use std::fmt::Display;
use std::io::Write;

/// Reports the running test as skipped. The test then returns, or goes on with the checks that are possible. libtest
/// counts it as passed, because it has no way to skip a running test, and it hides the test's output. The report
/// therefore goes directly to the standard error stream, from which `./penstock test` counts the test as skipped.
///
/// ```
/// if std::env::var_os("DATA_OF_OTHERS").is_none() {
///     return penstock_testing::skipped("DATA_OF_OTHERS is not set");
/// }
/// ```
pub fn skipped(reason: impl Display) {
    let thread = std::thread::current();
    // libtest names a test's thread after the test.
    let name = thread.name().unwrap_or("a test");
    // A test whose report cannot be written has no other way to report it.
    let _ = writeln!(std::io::stderr(), "SKIPPED {name}: {reason}");
}
