// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Compiler of the rmt engine: P4-16 for v1model to a typed program ([`ir`]) and from there to the pipeline of the card.

pub mod ir;
pub mod source;
