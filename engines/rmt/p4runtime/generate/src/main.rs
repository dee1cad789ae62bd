// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Writes Rust for a file of protobuf descriptors: `generate DESCRIPTORS FOLDER`. generate.py starts it.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use prost::Message;
use prost_types::FileDescriptorSet;

const HEAD: &str = "// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0\n";

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args_os().skip(1).map(PathBuf::from);
    let (Some(descriptors), Some(folder)) = (arguments.next(), arguments.next()) else {
        return Err("usage: generate DESCRIPTORS FOLDER".into());
    };
    let files = FileDescriptorSet::decode(fs::read(descriptors)?.as_slice())?;
    tonic_prost_build::configure().build_client(false).out_dir(&folder).compile_fds(files)?;
    for file in fs::read_dir(folder)? {
        let file = file?.path();
        let text = fs::read_to_string(&file)?;
        let text = text.trim_start_matches(HEAD);
        fs::write(&file, format!("{HEAD}{text}"))?;
    }
    Ok(())
}
