// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The front of the xdp engine's compiler: an XDP object as it runs in Linux goes in.

pub mod btf;
pub mod check;
pub mod insn;
pub mod maps;
pub mod object;
