// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Prints made-up rules: `rules COUNT SEED`.

use std::error::Error;
use std::io::Write;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [count, seed] = arguments.as_slice() else { return Err("rules COUNT SEED".into()) };
    let rules = penstock_ids_samples::rules(count.parse()?, seed.parse()?);
    Ok(std::io::stdout().write_all(rules.text.as_bytes())?)
}
