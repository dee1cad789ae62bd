// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Made-up rules with the shape of open sets, and sessions of HTTP, DNS, TLS and SMTP, for benches and tests. Rules and
//! sessions are drawn apart from each other: a stated share of the sessions meets a rule on purpose, others only by
//! chance.

mod frames;
mod rules;
mod sessions;
mod words;

pub use frames::{Frame, Traffic, traffic};
pub use rules::{Rules, Trigger, rules};
