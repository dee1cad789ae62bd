// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The xdp engine's compiler: an XDP object as it runs in Linux goes in.

pub mod back;
pub mod bare;
pub mod btf;
pub mod card;
pub mod check;
pub mod helpers;
pub mod insn;
pub mod ir;
pub mod maps;
pub mod object;
pub mod passes;
pub mod prove;
pub mod random;
pub mod rows;
pub mod source;
pub mod translate;
