// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Why an object cannot be read, or a program in it not be put together.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use crate::btf::{BtfError, Line};
use crate::insn::CodeError;

/// An instruction, as a user finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The section that has the function.
    pub section: String,
    /// The function's name.
    pub function: String,
    /// Its slot in the function.
    pub slot: usize,
    /// The source line, if the object has line information.
    pub line: Option<Arc<Line>>,
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(line) = &self.line {
            write!(f, "{}:{}: ", line.file, line.line)?;
        }
        write!(f, "instruction {} of {}() in section `{}`", self.slot, self.function, self.section)
    }
}

/// An error in an object as a whole.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum ObjectError {
    #[error("not an ELF object: {0}; compile the program with `clang -target bpf -O2 -g -c`")]
    Elf(#[from] object::Error),
    #[error("the file is cut off, or damaged: it has {found} B, and speaks of {wanted} B; compile or copy it again")]
    CutOff { found: u64, wanted: u64 },
    #[error("this object is for {0:?}, not for BPF; compile it with `clang -target bpf -O2 -g -c`")]
    Machine(object::Architecture),
    #[error("this object is big-endian; compile it with `-target bpfel`")]
    BigEndian,
    #[error("this is a linked file; give the object that the compiler wrote (`-c`)")]
    Linked,
    #[error("section `{section}`: {what}")]
    Section { section: String, what: &'static str },
    #[error("section `{section}`: {source}; compile again with a clang or gcc that writes BTF, or without -g")]
    Btf { section: &'static str, source: BtfError },
    #[error("map {map} in section `{section}`: {what}")]
    Map { map: String, section: String, what: String },
    #[error("function {function} in section `{section}`: {what}")]
    Function { section: String, function: String, what: &'static str },
    #[error("there is no XDP program: {}; put SEC(\"xdp\") before the function", found(.0))]
    NoProgram(Vec<String>),
}

fn found(sections: &[String]) -> String {
    if sections.is_empty() { "no section has code".into() } else { format!("code is in {}", sections.join(", ")) }
}

/// Why the number of entries of a map was not set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EntriesError {
    /// The map holds global variables.
    #[error("{0} holds global variables, which are one entry")]
    Data(String),
    /// The object has no such map.
    #[error("it has no map {name}; it has {}", there.join(", "))]
    NoMap {
        /// The name that was given.
        name: String,
        /// The names of the object's maps.
        there: Vec<String>,
    },
}

/// Why a program cannot be put together out of its functions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {kind}")]
pub struct LinkError {
    /// The instruction that cannot be linked.
    pub place: Place,
    /// Its fault.
    pub kind: LinkErrorKind,
}

/// The kind of a [`LinkError`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum LinkErrorKind {
    #[error("{0}")]
    Code(CodeError),
    #[error(
        "`{0}` is not defined in this object; link it in (`bpftool gen object`), or, if it is a kernel function \
         (kfunc) or a setting of the kernel (__kconfig, __ksym), do without: there is no kernel here"
    )]
    Undefined(String),
    #[error("relocation of the unknown type {0}")]
    Relocation(u32),
    #[error("a relocation against `{symbol}` in section `{section}`, which holds no map, variable or function")]
    Target { symbol: String, section: String },
    #[error("it names byte {offset} of section `{section}`, where {what}")]
    Nowhere { section: String, offset: i64, what: &'static str },
    #[error("a relocation of an instruction that names no address")]
    NoAddress,
    #[error("the program has more than {0} instructions")]
    TooLong(usize),
    #[error("{0}")]
    Core(#[from] super::CoreError),
}
