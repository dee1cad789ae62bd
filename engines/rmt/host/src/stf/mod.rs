// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock exec rmt PROG.p4 TEST.stf`: runs a test in STF, the small language in which tests of P4 compilers are
//! written. The test passes if the frames that leave each port are those that `expect` names for this port, in this
//! order, and no others.

mod names;
mod parse;
mod run;
mod statement;
mod switch;

pub(crate) use run::EXEC;
