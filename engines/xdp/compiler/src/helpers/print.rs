// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `bpf_trace_printk` and `bpf_trace_vprintk`: format and arguments go into a ring, and the host makes lines of them.
//! The result is therefore the length of the format, and the text that `%s` names is not read.
//!
//! A record begins with the bytes of the format, and of the arguments in its upper half; arguments and format follow.

use super::Code;
use super::copy::copy;
use super::ring::{release, reserve};
use super::writer::Writer;
use crate::insn::Cond;
use crate::ir::{Arg, BinOp, Place, Ring, Space};

/// Bytes of arguments that `bpf_trace_vprintk` takes at most.
const MAX_ARGUMENTS: u64 = 96;
const INVALID: Arg = Arg::Const((-22i64).cast_unsigned());
const ZERO: Arg = Arg::Const(0);

/// Whether a format takes a number for the address of text: `%s`.
pub(super) fn names_text(format: &[u8]) -> bool {
    let mut bytes = format.iter().copied();
    while bytes.any(|byte| byte == b'%') {
        if bytes.find(|byte| !b"-+ 0123456789".contains(byte)) == Some(b's') {
            return true;
        }
    }
    false
}

/// `bpf_trace_printk`.
pub(super) fn values(log: Ring, format: Place, bytes: Arg, values: [Arg; 3]) -> Code<'static> {
    Box::new(move |w| {
        line(w, log, (format, bytes), Arg::Const(8 * values.len() as u64), |w, to| {
            for (at, value) in (0..).step_by(8).zip(values) {
                w.store(Space::Record, to, at, 8, value);
            }
        });
    })
}

/// `bpf_trace_vprintk`.
pub(super) fn array(log: Ring, format: Place, bytes: Arg, data: Place, count: Arg) -> Code<'static> {
    Box::new(move |w| {
        let count = w.low(count);
        let odd = w.bin(BinOp::And, count, Arg::Const(7));
        let odd = w.when(Cond::Eq, odd, ZERO);
        let many = w.when(Cond::Le, count, Arg::Const(MAX_ARGUMENTS));
        line(w, log, (format, bytes), count, |w, to| copy(w, (data.space, data.base), (Space::Record, to), count));
        for block in [odd, many] {
            w.go(block);
            w.done(INVALID);
        }
    })
}

/// Sends a line, with this many bytes of arguments.
fn line(w: &mut Writer, log: Ring, (format, bytes): (Place, Arg), count: Arg, put: impl FnOnce(&mut Writer, Arg)) {
    let bytes = w.low(bytes);
    let all = w.add(bytes, count);
    let all = w.add(all, Arg::Const(8));
    let (record, full) = reserve(w, log, all);
    let counts = w.bin(BinOp::Lsh, count, Arg::Const(32));
    let counts = w.bin(BinOp::Or, counts, bytes);
    w.store(Space::Record, record, 0, 8, counts);
    let to = w.add(record, Arg::Const(8));
    put(w, to);
    let to = w.add(to, count);
    copy(w, (format.space, format.base), (Space::Record, to), bytes);
    release(w, record, false);
    let length = w.sub(bytes, Arg::Const(1));
    w.done(length);
    // The program does not learn that a line is lost: the loss is counted.
    w.go(full);
    let length = w.sub(bytes, Arg::Const(1));
    w.done(length);
}

#[cfg(test)]
mod tests {
    use super::names_text;

    #[test]
    fn text_is_found_in_formats() {
        for (format, names) in [("%s", true), ("%%s", false), ("%d of %-20s", true), ("%d s", false), ("100%", false)] {
            assert_eq!(names_text(format.as_bytes()), names, "{format}");
        }
    }
}
