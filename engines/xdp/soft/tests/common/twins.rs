// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A program here and in the kernel, with the same maps; here alone where bpf() is not allowed.

use std::os::fd::OwnedFd;

use penstock_xdp_compiler::maps::MapKind;
use penstock_xdp_compiler::object::{Object, Program};
use penstock_xdp_maps::{MapId, Store};
use penstock_xdp_soft::{Engine, Frame, Input, ProgramId};

use super::bpf::{KernelMap, allowed, processors};
use super::linux::{self, Outcome};

/// An object's maps, twice.
pub(crate) struct Twins {
    pub object: Object,
    pub engine: Engine,
    /// None: bpf() is not allowed.
    pub kernel: Option<Vec<KernelMap>>,
}

/// A program, twice.
pub(crate) struct Pair {
    pub ours: ProgramId,
    pub theirs: Option<OwnedFd>,
}

impl Twins {
    pub(crate) fn new(object: Object) -> Twins {
        linux::stay();
        let engine = Engine::new(&object, processors()).unwrap();
        let kernel = allowed().then(|| linux::maps(&object));
        Twins { object, engine, kernel }
    }

    pub(crate) fn map(&self, name: &str) -> MapId {
        self.engine.map(&self.object, name).unwrap()
    }

    /// Sets an entry in both.
    pub(crate) fn set(&mut self, map: &str, key: &[u8], value: &[u8]) {
        let id = self.map(map);
        self.engine.maps().set(id, key, value, Store::Any).unwrap();
        if let Some(kernel) = &self.kernel {
            kernel[self.object.map(map).unwrap().0 as usize].set(key, value, 0).unwrap();
        }
    }

    /// Loads the program of that name in both.
    pub(crate) fn load(&mut self, name: &str) -> Pair {
        let entry = self.object.entries.iter().find(|entry| entry.name == name).unwrap();
        let program = self.object.program(entry).unwrap();
        self.add(&program)
    }

    pub(crate) fn add(&mut self, program: &Program) -> Pair {
        let ours = self.engine.add(&self.object, program).unwrap();
        let theirs = self.kernel.as_ref().map(|kernel| linux::load(&self.object, kernel, program).unwrap());
        Pair { ours, theirs }
    }

    /// Runs both on a frame and compares the results.
    pub(crate) fn run(&mut self, pair: &Pair, meta: &[u8], data: &[u8]) -> Outcome {
        let ours = self.ours(pair, meta, data);
        if let Some(theirs) = &pair.theirs {
            assert_eq!(ours, linux::run(theirs, meta, data), "metadata {meta:02x?}, frame {data:02x?}");
        }
        ours
    }

    /// Runs ours alone.
    pub(crate) fn ours(&mut self, pair: &Pair, meta: &[u8], data: &[u8]) -> Outcome {
        let mut frame = Frame { data: data.to_vec(), meta: meta.to_vec() };
        let verdict = self.engine.run(pair.ours, &mut frame, &Input { ifindex: 1, ..Input::default() }).unwrap();
        assert!(!verdict.stopped);
        Outcome { result: verdict.result, meta: frame.meta, data: frame.data }
    }

    /// The same is in all maps.
    pub(crate) fn same_maps(&mut self) {
        let Some(kernel) = &self.kernel else { return };
        for (kernel, map) in kernel.iter().zip(&self.object.maps) {
            let (kind, bytes) = (map.shape.kind().unwrap(), map.shape.value_bytes as usize);
            use MapKind::{ArrayOfMaps, Cpumap, HashOfMaps, PerfEventArray, ProgArray, Ringbuf, Xskmap};
            if matches!(kind, ArrayOfMaps | HashOfMaps | ProgArray | PerfEventArray | Cpumap | Xskmap | Ringbuf) {
                continue;
            }
            let id = self.engine.map(&self.object, &map.name).unwrap();
            let stride = if kind.per_cpu() { bytes.next_multiple_of(8) } else { bytes };
            // The padding that rounds values up is not compared.
            let cut = |value: &[u8]| value.chunks(stride).map(|value| value[..bytes].to_vec()).collect::<Vec<_>>();
            let ours = self.engine.maps().dump(id).unwrap();
            let mut ours: Vec<_> = ours.into_iter().map(|(key, value)| (key, cut(&value))).collect();
            let there = |key: Vec<u8>| kernel.get(&key).ok().map(|value| (key, cut(&value)));
            let mut theirs: Vec<_> = kernel.keys().into_iter().filter_map(there).collect();
            ours.sort();
            theirs.sort();
            assert_eq!(ours.len(), theirs.len(), "entries of {}", map.name);
            for (ours, theirs) in ours.iter().zip(&theirs) {
                assert_eq!(ours, theirs, "map {}", map.name);
            }
        }
    }
}
