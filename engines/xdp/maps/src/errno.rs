// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Why something was refused, by Linux' numbers: programs see them, negated, as results of helpers.

/// An error number of Linux.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[repr(i32)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum Errno {
    #[error("not permitted: constants stay as the object has them (EPERM)")]
    Perm = 1,
    #[error("there is no such entry (ENOENT)")]
    NoEntry = 2,
    #[error("the map is full, or the key is beyond its entries (E2BIG)")]
    TooBig = 7,
    #[error("there is no room now (EAGAIN)")]
    Again = 11,
    #[error("the length of metadata must be a multiple of 4 and at most 252 (EACCES)")]
    Access = 13,
    #[error("the bytes are not in memory (EFAULT)")]
    Fault = 14,
    #[error("the map has such an entry already (EEXIST)")]
    Exists = 17,
    #[error("there is no such processor (ENODEV)")]
    NoDevice = 19,
    #[error("not valid for a map of this kind (EINVAL)")]
    Invalid = 22,
    #[error("there is no room (ENOSPC)")]
    NoSpace = 28,
    #[error("the number is too large (EOVERFLOW)")]
    Overflow = 75,
    #[error("the entry is another processor's (EOPNOTSUPP)")]
    NotSupported = 95,
    #[error("there are only routes of IPv4 and IPv6 (EAFNOSUPPORT)")]
    Family = 97,
}

impl Errno {
    /// Linux' number.
    pub fn number(self) -> i32 {
        self as i32
    }

    /// The result of a helper: the number, negated.
    pub fn result(self) -> u64 {
        i64::from(-self.number()).cast_unsigned()
    }
}
