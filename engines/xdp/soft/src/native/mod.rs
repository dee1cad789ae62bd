// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Programs as native code.
//!
//! Each function of a program becomes a native one with the same eight arguments: where the memory's address 0 is, the
//! engine's state, r1 to r5, and r10. Registers are variables of the code generator, which finds places for them.

mod arith;
mod calls;
mod function;
mod memory;

use std::collections::{BTreeMap, VecDeque, btree_map};
use std::mem::ManuallyDrop;

use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{self, AbiParam, Signature, UserFuncName};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, default_libcall_names};
use penstock_xdp_compiler::check::{Facts, MapRef};
use penstock_xdp_compiler::insn::{Callee, Code, Insn};
use penstock_xdp_maps::{MapId, Maps};

use crate::state::State;
pub(crate) use function::Fault;
use function::Function;

/// The native form of a program or function.
pub(crate) type Entry = unsafe extern "C" fn(*mut u8, *mut State, u64, u64, u64, u64, u64, u64) -> u64;

/// Arguments of a function beside r1 to r5 and r10: the memory's base and the state.
const ARGUMENTS: usize = 8;
/// Stack of a function whose use of it is not known.
pub(crate) const FRAME_BYTES: u32 = 512;
/// The least that a function takes of the stack, so that calls do not nest for ever.
const MIN_FRAME: u32 = 64;

/// Why there is no native code.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum NativeError {
    #[error("instruction {slot} (`{insn}`) {what}")]
    Insn { slot: usize, insn: Insn, what: &'static str },
    #[error("no native code on this machine: {0}")]
    Generator(String),
}

/// How accesses of memory are kept where they may go.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Guard {
    /// The checker has seen them: addresses are masked, in case it erred.
    Masked,
    /// The checker has not run: each access is compared with the given memory and the stack, and any other stops the
    /// program.
    Bounded { start: u64, bytes: u64 },
}

/// What is translated.
pub(crate) struct Source<'a> {
    pub code: &'a Code,
    pub guard: Guard,
    /// The checker's facts, for checked programs.
    pub facts: Option<&'a Facts>,
    /// By the slot at which a function begins, its bytes of stack.
    pub frames: BTreeMap<usize, u32>,
    pub maps: &'a Maps,
    /// By a map's index in the object; None: the map was not made.
    pub ids: &'a [Option<MapId>],
}

impl Source<'_> {
    /// The stack that a function takes.
    fn frame(&self, entry: usize) -> u32 {
        self.frames.get(&entry).map_or(FRAME_BYTES, |bytes| bytes.next_multiple_of(8).max(MIN_FRAME))
    }

    /// The map that a call works on, when it is the same on all paths.
    fn only_map(&self, slot: usize) -> Option<MapId> {
        let maps = &self.facts?.insns.get(slot)?.maps;
        match (maps.len(), maps.first()?) {
            (1, MapRef::Of(map)) => self.ids.get(*map as usize).copied().flatten(),
            _ => None,
        }
    }
}

/// A program's native code.
pub(crate) struct Native {
    module: ManuallyDrop<JITModule>,
    entry: Entry,
}

impl Native {
    /// Translates a program from its first slot on, and the functions it calls.
    pub(crate) fn new(source: &Source) -> Result<Native, NativeError> {
        let mut module = module()?;
        let mut signature = module.make_signature();
        signature.params = vec![AbiParam::new(I64); ARGUMENTS];
        signature.returns.push(AbiParam::new(I64));
        let mut functions = BTreeMap::new();
        let mut waiting = VecDeque::from([0]);
        while let Some(slot) = waiting.pop_front() {
            if let btree_map::Entry::Vacant(function) = functions.entry(slot) {
                function.insert(module.declare_anonymous_function(&signature).map_err(generator)?);
                waiting.extend(function::reachable(source.code, slot).into_iter().filter_map(|slot| {
                    let called = matches!(source.code.get(slot), Some(Insn::Call(Callee::Local(_))));
                    source.code.target(slot).filter(|_| called)
                }));
            }
        }
        let mut shared = FunctionBuilderContext::new();
        for (slot, id) in &functions {
            define(&mut module, &mut shared, source, &functions, &signature, (*slot, *id))?;
        }
        module.finalize_definitions().map_err(generator)?;
        let code = module.get_finalized_function(functions[&0]);
        // SAFETY: the function was declared with this signature.
        let entry = unsafe { std::mem::transmute::<*const u8, Entry>(code) };
        Ok(Native { module: ManuallyDrop::new(module), entry })
    }

    /// The program's first function.
    pub(crate) fn entry(&self) -> Entry {
        self.entry
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        // SAFETY: taken once, here; the owner of this ensures that nothing runs the code any more.
        unsafe { ManuallyDrop::take(&mut self.module).free_memory() };
    }
}

fn generator(error: impl std::fmt::Display) -> NativeError {
    NativeError::Generator(error.to_string())
}

fn module() -> Result<JITModule, NativeError> {
    // The verifier finds faults of the translator, in debug builds.
    let verify = if cfg!(debug_assertions) { "true" } else { "false" };
    let flags = [("opt_level", "speed"), ("enable_verifier", verify)];
    let builder = JITBuilder::with_flags(&flags, default_libcall_names()).map_err(generator)?;
    Ok(JITModule::new(builder))
}

/// Translates one function.
fn define(
    module: &mut JITModule,
    shared: &mut FunctionBuilderContext,
    source: &Source,
    functions: &BTreeMap<usize, FuncId>,
    signature: &Signature,
    (slot, id): (usize, FuncId),
) -> Result<(), NativeError> {
    let mut context = module.make_context();
    context.func.signature = signature.clone();
    context.func.name = UserFuncName::user(0, id.as_u32());
    let builder = FunctionBuilder::new(&mut context.func, shared);
    let called = |callee: usize, function: &mut ir::Function| {
        functions.get(&callee).map(|id| module.declare_func_in_func(*id, function))
    };
    Function::new(builder, source, signature, slot, called).translate()?;
    module.define_function(id, &mut context).map_err(generator)
}
