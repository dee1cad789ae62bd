// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Programs as native code.
//!
//! Parser and checks of checksums, ingress, egress, updates of checksums, deparser and each action are a function each.
//! All have the same three arguments: the [`Work`] of a frame, its slots, and the frame's bytes, or the arguments of an
//! action. Fields are slots in memory. All values between two statements are values of the code generator, 64 or 128
//! bits each.

mod bytes;
mod checksum;
mod control;
mod deparser;
mod function;
mod parser;
#[cfg(test)]
mod tests;
mod value;

use std::mem::ManuallyDrop;

use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{AbiParam, Signature, UserFuncName};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, default_libcall_names};
use penstock_rmt_compiler::ir::Program;

use crate::header::Header;
use crate::machine::Sum;
use crate::operation::Operation;
use crate::slots::{Place, Slots};
use crate::work::Work;
use function::Function;

/// A function in native code.
pub(crate) type Entry = unsafe extern "C" fn(*mut Work<'_>, *mut u64, *mut u8) -> u64;

/// Why there is no native code for a program.
#[derive(Debug, thiserror::Error)]
#[error("no native code for the program {program}: {why}; the target rtl needs none")]
pub struct NativeError {
    program: String,
    why: String,
}

impl NativeError {
    /// For a program, and why.
    pub fn new(program: &str, why: impl Into<String>) -> Self {
        Self { program: program.to_owned(), why: why.into() }
    }
}

/// A program's native code.
pub(crate) struct Native {
    module: ManuallyDrop<JITModule>,
    /// Parses a frame and verifies its checksums.
    pub enter: Entry,
    pub ingress: Entry,
    pub egress: Entry,
    /// Computes the checksums that a frame leaves with, then runs the statements of the deparser.
    pub update: Entry,
    /// Writes the headers where they stand in the frame, if they are still the same ones in the same order. Gives 1
    /// then. It takes no `Work`.
    pub deparse: Entry,
    pub actions: Vec<Entry>,
}

/// Native code, and the data that it names by number.
pub(crate) struct Made {
    pub native: Native,
    pub slots: Slots,
    pub operations: Vec<Operation>,
    pub sums: Vec<Sum>,
    pub selects: Vec<Vec<Place>>,
    pub kept: Vec<Vec<Place>>,
}

/// The translator of a program.
struct Maker<'p> {
    program: &'p Program,
    instances: &'p [Header],
    slots: Slots,
    operations: Vec<Operation>,
    sums: Vec<Sum>,
    selects: Vec<Vec<Place>>,
    kept: Vec<Vec<Place>>,
}

impl Made {
    /// Translates a program.
    pub(crate) fn new(program: &Program, instances: &[Header], slots: Slots) -> Result<Self, NativeError> {
        let error = |why: String| NativeError::new(&program.name, why);
        let mut maker = Maker {
            program,
            instances,
            slots,
            operations: Vec::new(),
            sums: Vec::new(),
            selects: Vec::new(),
            kept: Vec::new(),
        };
        let native = Compiler::new().and_then(|compiler| compiler.program(&mut maker)).map_err(error)?;
        let Maker { slots, operations, sums, selects, kept, .. } = maker;
        Ok(Self { native, slots, operations, sums, selects, kept })
    }
}

impl std::fmt::Debug for Native {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Native").finish_non_exhaustive()
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        // SAFETY: taken once, here. A tenant owns its machine, and its code does not run when it is dropped.
        unsafe { ManuallyDrop::take(&mut self.module).free_memory() };
    }
}

/// The code generator.
struct Compiler {
    module: JITModule,
    shared: FunctionBuilderContext,
    signature: Signature,
}

impl Compiler {
    fn new() -> Result<Self, String> {
        // The verifier finds faults of the translator, in debug builds.
        let verify = if cfg!(debug_assertions) { "true" } else { "false" };
        let flags = [("opt_level", "speed"), ("enable_verifier", verify)];
        let builder = JITBuilder::with_flags(&flags, default_libcall_names()).map_err(text)?;
        let module = JITModule::new(builder);
        let mut signature = module.make_signature();
        signature.params = vec![AbiParam::new(I64); 3];
        signature.returns.push(AbiParam::new(I64));
        Ok(Self { module, shared: FunctionBuilderContext::new(), signature })
    }

    fn program(mut self, maker: &mut Maker<'_>) -> Result<Native, String> {
        let program = maker.program;
        let enter = self.function(maker, |function| {
            function.parser(&program.parser);
            function.verify(&program.verify);
        })?;
        let ingress = self.function(maker, |function| function.block(&program.ingress))?;
        let egress = self.function(maker, |function| function.block(&program.egress))?;
        let update = self.function(maker, |function| {
            function.update(&program.update);
            function.block(&program.deparse);
        })?;
        let deparse = self.function(maker, |function| function.deparser(&program.deparser))?;
        let actions = program.actions.iter().map(|action| {
            self.function(maker, |function| {
                function.params(&action.params);
                function.block(&action.body);
            })
        });
        let actions: Vec<FuncId> = actions.collect::<Result<_, String>>()?;
        self.module.finalize_definitions().map_err(text)?;
        let entry = |id: FuncId| {
            let code = self.module.get_finalized_function(id);
            // SAFETY: all functions have this signature.
            unsafe { std::mem::transmute::<*const u8, Entry>(code) }
        };
        let actions = actions.into_iter().map(entry).collect();
        let [enter, ingress, egress, update, deparse] = [enter, ingress, egress, update, deparse].map(entry);
        Ok(Native { module: ManuallyDrop::new(self.module), enter, ingress, egress, update, deparse, actions })
    }

    /// Translates a function. Where its body does not end it, it gives 0.
    fn function(&mut self, maker: &mut Maker<'_>, body: impl FnOnce(&mut Function)) -> Result<FuncId, String> {
        let id = self.module.declare_anonymous_function(&self.signature).map_err(text)?;
        let mut context = self.module.make_context();
        context.func.signature = self.signature.clone();
        context.func.name = UserFuncName::user(0, id.as_u32());
        let mut function = Function::new(FunctionBuilder::new(&mut context.func, &mut self.shared), maker);
        body(&mut function);
        function.end();
        self.module.define_function(id, &mut context).map_err(text)?;
        Ok(id)
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
