// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Services of xdp units at work: requests and answers in JSON, and their words on the command line.

pub mod map;
pub mod routes;
