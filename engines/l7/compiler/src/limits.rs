// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The limits of the machine: engines/l7/machine.md.

/// Bytes of a source. Rules that fill the card take a tenth of it.
pub const SOURCE: usize = 8 << 20;
/// Letters of a name in a source.
pub const NAME: usize = 255;
/// Applications of a block.
pub const APPLICATIONS: usize = 2;
/// The highest number of a dispatch field.
pub const DISPATCH_NUMBER: u64 = 15;
/// Bytes at the begin of a message that rules see.
pub const SEEN: usize = 256;
/// Bytes of the longest field that rules see: its number and length take two.
pub const LONGEST_FIELD: usize = SEEN - 2;
/// The highest number of a message type.
pub const TYPES: u64 = 15;
/// Queues of the host.
pub const QUEUES: u64 = 1 << 16;
/// Units of a card.
pub const UNITS: u64 = 32;
/// Ethernet ports of a card.
pub const PORTS: u64 = 4;
/// Tenants of a card.
pub const TENANTS: u64 = 64;
/// Bytes of the longest name or key of a protocol other than QNP.
pub const LONGEST_NAME: usize = 250;
/// Bytes of the longest name of a rule for DNS, with its lengths: a query has a header of 12 bytes in front of it, and
/// the end of the name, the type and the class behind it. Only a pointer into the header makes longer ones.
pub const LONGEST_RULE_NAME: usize = SEEN - 12 - 1 - 4;
/// Labels of the longest name.
pub const LABELS: usize = 32;
/// Bytes of the longest connection ID of QUIC.
pub const LONGEST_ID: usize = 20;
/// Alternatives of a row.
pub const ALTERNATIVES: usize = 4;
/// Bytes that an alternative compares.
pub const WINDOW: usize = 32;
/// Bytes that a skip passes.
pub const SKIP: usize = 255;
/// Classes of bytes that `until` tells apart. Class 0 is in no set.
pub const CLASSES: usize = 16;
/// Bits of the number of buckets behind a hash row, at most; the card could have 12. 4,096 values take up to 1,700 rows in
/// 1,024 buckets, which leaves room for as many others that replace them.
pub const BUCKET_BITS: u32 = 10;
/// Rows of a block, for the rules of all applications and those that replace them.
pub const ROWS: usize = 4096;
/// Decisions of a block, for the rules of all applications and those that replace them.
pub const DECISIONS: usize = 8192;
/// Steps after which a matcher gives a message up.
pub const STEPS: usize = 128;
