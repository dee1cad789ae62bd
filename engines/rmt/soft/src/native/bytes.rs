// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Bits of a frame's bytes, in network order, by accesses of 1, 2, 4 and 8 bytes.

use cranelift_codegen::ir::types::{I8, I16, I32, I64};
use cranelift_codegen::ir::{InstBuilder, Type, Value};

use super::function::{Function, byte_flags};
use crate::bits;

/// The types of accesses, the largest first, with their bytes.
const ACCESSES: [(Type, usize); 4] = [(I64, 8), (I32, 4), (I16, 2), (I8, 1)];

impl Function<'_, '_> {
    /// Bits, at most 64, of a piece of the frame that begins at an address and has `length` bytes.
    pub(super) fn read_bits(&mut self, base: Value, length: usize, offset: usize, width: u32) -> Value {
        let (first, end) = (offset / 8, (offset + width as usize).div_ceil(8));
        let unused = (end * 8 - offset) as u32 - width;
        if end - first > 8 {
            // 64 bits in nine bytes.
            let (high, low) = (self.read_bytes(base, length, first, 1), self.read_bytes(base, length, first + 1, 8));
            let all = self.builder.ins().iconcat(low, high);
            let value = self.builder.ins().ushr_imm(all, i64::from(unused));
            let value = self.builder.ins().ireduce(I64, value);
            return self.masked(value, width);
        }
        let value = self.read_bytes(base, length, first, end - first);
        let value = if unused == 0 { value } else { self.builder.ins().ushr_imm(value, i64::from(unused)) };
        if (end - first) * 8 == unused as usize + width as usize { value } else { self.masked(value, width) }
    }

    /// Bytes, at most 8, of a piece of the frame.
    fn read_bytes(&mut self, base: Value, length: usize, first: usize, count: usize) -> Value {
        if let Some((of, bytes)) = ACCESSES.into_iter().find(|(_, bytes)| *bytes == count) {
            return self.read(base, first, of, bytes);
        }
        // One access to more bytes if the piece has them, behind the wanted ones or in front of them.
        let (of, bytes) = if count > 4 { (I64, 8) } else { (I32, 4) };
        if first + bytes <= length {
            let value = self.read(base, first, of, bytes);
            return self.builder.ins().ushr_imm(value, (bytes - count) as i64 * 8);
        }
        if let Some(before) = (first + count).checked_sub(bytes) {
            let value = self.read(base, before, of, bytes);
            return self.masked(value, count as u32 * 8);
        }
        let upper = bytes / 2;
        let (high, low) =
            (self.read_bytes(base, length, first, upper), self.read_bytes(base, length, first + upper, count - upper));
        let high = self.builder.ins().ishl_imm(high, (count - upper) as i64 * 8);
        self.builder.ins().bor(high, low)
    }

    fn read(&mut self, base: Value, at: usize, of: Type, bytes: usize) -> Value {
        let value = self.builder.ins().load(of, byte_flags(), base, at as i32);
        let value = if bytes == 1 { value } else { self.builder.ins().bswap(value) };
        if of == I64 { value } else { self.builder.ins().uextend(I64, value) }
    }

    /// Writes bits, at most 64, to a piece of the frame that begins at an address.
    pub(super) fn write_bits(&mut self, base: Value, offset: usize, width: u32, value: Value) {
        let end = offset + width as usize;
        let (mut at, last) = (offset / 8, end.div_ceil(8));
        while at < last {
            let fits = |(_, bytes): &(Type, usize)| at + bytes <= last;
            let (of, bytes) = ACCESSES.into_iter().find(fits).unwrap_or((I8, 1));
            let (from, to) = (at * 8, (at + bytes) * 8);
            // The bits of the value that these bytes have, in their place.
            let placed = if end > to {
                self.builder.ins().ushr_imm(value, (end - to) as i64)
            } else {
                self.builder.ins().ishl_imm(value, (to - end) as i64)
            };
            let kept_above = (offset.max(from) - from) as u32;
            let kept_below = (to - end.min(to)) as u32;
            let own = bits::mask(bytes as u32 * 8 - kept_above) & !bits::mask(kept_below);
            let word = if kept_above == 0 && kept_below == 0 {
                placed
            } else {
                let before = self.read(base, at, of, bytes);
                let kept = self.builder.ins().band_imm(before, (!own).cast_signed());
                let placed = self.builder.ins().band_imm(placed, own.cast_signed());
                self.builder.ins().bor(kept, placed)
            };
            let word = if of == I64 { word } else { self.builder.ins().ireduce(of, word) };
            let word = if bytes == 1 { word } else { self.builder.ins().bswap(word) };
            self.builder.ins().store(byte_flags(), word, base, at as i32);
            at += bytes;
        }
    }

    /// Bits, up to 128, of a piece of the frame.
    pub(super) fn read_wide(&mut self, base: Value, length: usize, offset: usize, width: u32) -> Value {
        if width <= 64 {
            return self.read_bits(base, length, offset, width);
        }
        let upper = width - 64;
        let high = self.read_bits(base, length, offset, upper);
        let low = self.read_bits(base, length, offset + upper as usize, 64);
        self.builder.ins().iconcat(low, high)
    }
}
