// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Shared by the tests: objects, frames, and the kernel of this machine, which runs the same programs on the same
//! frames.
#![allow(dead_code, clippy::unwrap_used)]

#[path = "../../../maps/tests/common/mod.rs"]
pub(crate) mod bpf;
pub(crate) mod frames;
pub(crate) mod linux;
#[path = "../../../compiler/tests/common/mod.rs"]
pub(crate) mod objects;
pub(crate) mod twins;

use std::path::{Path, PathBuf};

use penstock_xdp_compiler::object::Object;

/// A shipped program.
pub(crate) fn shipped(name: &str) -> Object {
    read(&objects::root().join(format!("engines/xdp/programs/{name}.c")))
}

/// An object of the compiler's tests.
pub(crate) fn object(name: &str) -> Object {
    read(&objects::root().join(format!("engines/xdp/compiler/tests/objects/{name}.c")))
}

/// An object of these tests.
pub(crate) fn own(name: &str) -> Object {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/objects/{name}.c"));
    read(&path)
}

fn read(path: &Path) -> Object {
    let include = objects::root().join("engines/xdp/compiler/tests/objects");
    Object::read(&objects::compile(path, &["-I", include.to_str().unwrap()])).unwrap()
}
