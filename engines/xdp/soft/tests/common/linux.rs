// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Programs in the kernel, run by BPF_PROG_TEST_RUN.

use std::os::fd::{AsRawFd, OwnedFd};

use penstock_xdp_compiler::insn::{Imm64, Insn};
use penstock_xdp_compiler::maps::{Contents, Map};
use penstock_xdp_compiler::object::{Attach, Object, Program};

use super::bpf::{Attr, KernelMap};

const PROG_LOAD: libc::c_long = 5;
const TEST_RUN: libc::c_long = 10;
const TYPE_XDP: u32 = 6;

/// An object's maps in the kernel.
pub(crate) fn maps(object: &Object) -> Vec<KernelMap> {
    let maps: Vec<_> = object.maps.iter().map(map).collect();
    for (map, kernel) in object.maps.iter().zip(&maps) {
        let (Contents::Names(names), true) = (&map.contents, map.shape.kind().unwrap().of_maps()) else { continue };
        for (index, name) in names {
            let inner = &maps[object.map(name).unwrap().0 as usize];
            kernel.set(&index.to_ne_bytes(), &inner.fd.as_raw_fd().to_ne_bytes(), 0).unwrap();
        }
    }
    maps
}

fn map(map: &Map) -> KernelMap {
    let inner = map.inner.as_ref().map(|inner| KernelMap::new(inner, None).unwrap());
    let made = KernelMap::new(&map.shape, inner.as_ref()).unwrap();
    if let Contents::Data { bytes, read_only } = &map.contents {
        made.set(&[0; 4], bytes, 0).unwrap();
        if *read_only {
            made.freeze().unwrap();
        }
    }
    made
}

/// Loads a program; the error is the end of the verifier's words.
pub(crate) fn load(object: &Object, maps: &[KernelMap], program: &Program) -> Result<OwnedFd, String> {
    let fd = |map: u32| maps[map as usize].fd.as_raw_fd();
    let mut bytes = Vec::new();
    for (_, insn) in program.code.iter() {
        let insn = match insn {
            Insn::LoadImm64 { dst, imm: Imm64::Map(map) } => Insn::LoadImm64 { dst, imm: Imm64::MapFd(fd(map)) },
            Insn::LoadImm64 { dst, imm: Imm64::MapValue { map, offset } } => {
                Insn::LoadImm64 { dst, imm: Imm64::MapFdValue { fd: fd(map), offset } }
            }
            insn => insn,
        };
        let (first, second) = insn.encode();
        bytes.extend(first);
        bytes.extend(second.into_iter().flatten());
    }
    let code: Vec<u64> = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_ne_bytes(*word)).collect();
    let license = std::ffi::CString::new(object.license.as_deref().unwrap_or("")).unwrap();
    let attach = match program.attach {
        Attach::Xdp => 0,
        Attach::Devmap => 33,
        Attach::Cpumap => 35,
    };
    let attr = || {
        Attr::new()
            .word(0, TYPE_XDP)
            .word(4, code.len() as u32)
            .long(8, code.as_ptr() as u64)
            .bytes(16, license.as_bytes_with_nul())
            .word(68, attach)
    };
    attr().open(PROG_LOAD).map_err(|error| {
        let mut log = vec![0u8; 1 << 20];
        let at = log.as_mut_ptr() as u64;
        let _ = attr().word(24, 1).word(28, 1 << 20).long(32, at).open(PROG_LOAD);
        let end = log.iter().position(|byte| *byte == 0).unwrap();
        let text = String::from_utf8_lossy(&log[..end]).into_owned();
        format!("{error}: {}", text.lines().rev().take(4).collect::<Vec<_>>().join(" / "))
    })
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub result: u32,
    pub meta: Vec<u8>,
    pub data: Vec<u8>,
}

/// Runs a program on a frame that arrived on the loopback, interface 1.
pub(crate) fn run(program: &OwnedFd, meta: &[u8], data: &[u8]) -> Outcome {
    let frame: Vec<u8> = meta.iter().chain(data).copied().collect();
    let word = |value: usize| (value as u32).to_ne_bytes();
    let mut context = [0u8; 24];
    context[..4].copy_from_slice(&word(meta.len()));
    context[4..8].copy_from_slice(&word(frame.len()));
    let mut out = vec![0u8; 4096];
    let (out_at, context_at) = (out.as_mut_ptr() as u64, context.as_mut_ptr() as u64);
    let mut attr = Attr::new()
        .fd(0, program)
        .word(8, frame.len() as u32)
        .word(12, out.len() as u32)
        .bytes(16, &frame)
        .long(24, out_at)
        .word(32, 1)
        .word(40, 24)
        .word(44, 24)
        .long(48, context_at)
        .long(56, context_at);
    attr.call(TEST_RUN).unwrap();
    out.truncate(attr.written(12) as usize);
    let meta_bytes = u32::from_ne_bytes(context[..4].try_into().unwrap()) as usize;
    let data = out.split_off(meta_bytes);
    Outcome { result: attr.written(4), meta: out, data }
}

/// Keeps this thread on processor 0: per-CPU maps then have their values there.
pub(crate) fn stay() {
    // SAFETY: a set of processors, all zeros, is valid, and lives through the call.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(0, &mut set);
        assert_eq!(libc::sched_setaffinity(0, size_of_val(&set), &raw const set), 0);
    }
}
