// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The input and the output of a run of a program.

use crate::ProgramId;

/// A frame, and the metadata before it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Frame {
    /// The frame's bytes, without FCS.
    pub data: Vec<u8>,
    /// Metadata that programs have put before the frame with `bpf_xdp_adjust_meta`.
    pub meta: Vec<u8>,
}

impl Frame {
    /// A frame without metadata.
    pub fn new(data: Vec<u8>) -> Frame {
        Frame { data, meta: Vec::new() }
    }
}

/// Input of a program beside the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Input {
    /// The processor it runs on.
    pub cpu: u32,
    /// The interface on which the frame arrived.
    pub ifindex: u32,
    /// The queue on which it arrived.
    pub queue: u32,
    /// For a program of a device map, the output interface of the frame.
    pub egress: u32,
}

/// The action for a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// `XDP_ABORTED`: dropped; the program met an error.
    Aborted,
    /// `XDP_DROP`
    Drop,
    /// `XDP_PASS`: to the host.
    Pass,
    /// `XDP_TX`: out of the interface on which it arrived.
    Tx,
    /// `XDP_REDIRECT`: to a [`Target`].
    Redirect,
}

/// A port that a frame is redirected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Port {
    /// The interface, as Linux numbers it.
    pub ifindex: u32,
    /// The program that its device map runs on frames to it, with `egress` set.
    pub program: Option<ProgramId>,
}

/// The destination of a redirected frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// To one interface.
    Port(Port),
    /// A copy to each.
    Ports(Vec<Port>),
    /// To a processor, whose program in the cpumap runs there.
    Cpu {
        /// The processor's number.
        cpu: u32,
        /// The program in the cpumap's entry, if it has one.
        program: Option<ProgramId>,
    },
    /// The AF_XDP socket of that queue.
    Socket(u32),
}

/// How a program has decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// What it gave.
    pub result: u32,
    /// Where the frame goes, when that is a redirection. If a program returns it without having named a target, the
    /// frame is dropped.
    pub target: Option<Target>,
    /// It took more jumps and calls than a program may, and was stopped.
    pub stopped: bool,
}

impl Verdict {
    /// The action; a number that is none counts as aborted.
    pub fn action(&self) -> Action {
        match self.result {
            1 => Action::Drop,
            2 => Action::Pass,
            3 => Action::Tx,
            4 => Action::Redirect,
            _ => Action::Aborted,
        }
    }
}
