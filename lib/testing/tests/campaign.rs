// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A campaign finds cases that panic, that take too much memory, and that leave memory behind.
#![allow(clippy::unwrap_used)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use penstock_testing::{Alone, Campaign, Counting, Numbers, alone};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The message of a campaign that fails.
fn failure(alone: &Alone, campaign: Campaign, case: impl FnMut(&mut Numbers)) -> String {
    let panic = catch_unwind(AssertUnwindSafe(|| campaign.run(alone, case))).unwrap_err();
    let text = panic.downcast_ref::<String>().cloned();
    text.unwrap_or_else(|| (*panic.downcast_ref::<&str>().unwrap()).to_owned())
}

#[test]
fn what_a_campaign_finds() {
    let alone = alone();
    let campaign = Campaign { cases: 100, most_bytes: 1 << 20, most_left: 1 << 20, longest: Duration::from_secs(10) };
    let tried = campaign.run(&alone, |numbers| drop(numbers.bytes(1 << 19)));
    assert!(tried.cases == 100 && tried.largest >= 1 << 19 && tried.left < 1 << 12, "{tried}");

    let mut count = 0;
    let panics = |_: &mut Numbers| {
        count += 1;
        assert!(count < 42, "the answer");
    };
    assert_eq!(failure(&alone, campaign, panics), "the answer");
    assert_eq!(count, 42);

    let text = failure(&alone, campaign, |numbers| drop(numbers.bytes(1 << 21)));
    assert!(text.starts_with("case 1 takes ") && text.ends_with(" bytes"), "{text}");

    let mut kept = Vec::new();
    let text = failure(&alone, campaign, |numbers| kept.push(numbers.bytes(1 << 15)));
    assert!(text.ends_with(" bytes stay behind"), "{text}");
}
