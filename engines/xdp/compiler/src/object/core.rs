// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! CO-RE: relocations that the compiler leaves to the loader because a type may differ in another kernel.
//!
//! Here there is no other kernel. A program reads packets, their metadata, its stack and its maps, so an offset in a
//! packet header or in `xdp_md` is the one in the object, provided that the object declares the type in full.
//! Everything else asks about a kernel.

use crate::btf::{Btf, CoreRelocation, Kind};

/// Types whose layout is fixed by a standard or by Linux' user interface, with their sizes in bytes.
const FIXED: [(&str, u32); 15] = [
    ("xdp_md", 24),
    ("ethhdr", 14),
    ("vlan_hdr", 4),
    ("arphdr", 8),
    ("iphdr", 20),
    ("ipv6hdr", 40),
    ("in_addr", 4),
    ("in6_addr", 16),
    ("ipv6_opt_hdr", 2),
    ("frag_hdr", 8),
    ("tcphdr", 20),
    ("udphdr", 8),
    ("icmphdr", 8),
    ("icmp6hdr", 8),
    ("bpf_fib_lookup", 64),
];

/// Why a CO-RE relocation is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum CoreError {
    #[error(
        "this depends on the layout of `{0}` in a kernel (CO-RE), and there is none here; declare what is read \
         without __attribute__((preserve_access_index))"
    )]
    Kernel(String),
    #[error(
        "`struct {name}` is declared with {found} of its {whole} bytes, so the place of its members is not known; \
         include the header that declares it in full"
    )]
    Partial { name: String, found: u32, whole: u32 },
    #[error("this asks what the running kernel has ({0}, CO-RE), and there is none here; take the question out")]
    Question(&'static str),
    #[error("a CO-RE relocation of the unknown kind {0}")]
    Unknown(u32),
    #[error("a CO-RE relocation names no type")]
    NoType,
}

/// Checks that the instruction can stay as the compiler wrote it.
pub(super) fn check(relocation: &CoreRelocation, btf: &Btf) -> Result<(), CoreError> {
    match relocation.kind {
        // Offset, size, existence and sign of a field, and the shifts of a bit field.
        0..=5 => {}
        // The type's own number.
        6 => return Ok(()),
        7 => return Err(CoreError::Question("the number of a type")),
        8 => return Err(CoreError::Question("whether a type exists")),
        // The size of a type.
        9 => {}
        10 => return Err(CoreError::Question("whether an enumerator exists")),
        11 => return Err(CoreError::Question("the value of an enumerator")),
        12 => return Err(CoreError::Question("whether a type matches")),
        kind => return Err(CoreError::Unknown(kind)),
    }
    let ty = btf.resolve(relocation.ty).ok_or(CoreError::NoType)?;
    let Kind::Record { bytes, .. } = ty.kind else { return Err(CoreError::Kernel(ty.name.clone())) };
    match FIXED.iter().find(|(name, _)| *name == ty.name) {
        None => Err(CoreError::Kernel(format!("struct {}", ty.name))),
        Some((_, whole)) if *whole != bytes => {
            Err(CoreError::Partial { name: ty.name.clone(), found: bytes, whole: *whole })
        }
        Some(_) => Ok(()),
    }
}
