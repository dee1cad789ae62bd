// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A campaign finds cases that take too long.
#![allow(clippy::unwrap_used)]

use std::process::Command;
use std::time::Duration;

use penstock_testing::{Campaign, Counting, alone};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_case_that_takes_too_long_ends_the_process() {
    const NAME: &str = "PENSTOCK_TEST_SLEEPS";
    if std::env::var_os(NAME).is_some() {
        let campaign = Campaign { cases: 1, longest: Duration::from_millis(100), ..Campaign::default() };
        campaign.run(&alone(), |_| std::thread::sleep(Duration::from_secs(3)));
        return;
    }
    let own = Command::new(std::env::current_exe().unwrap())
        .args(["a_case_that_takes_too_long_ends_the_process", "--exact"])
        .env(NAME, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&own.stderr);
    assert!(!own.status.success() && text.contains("case 1 takes more than 100ms"), "{text}");
}
