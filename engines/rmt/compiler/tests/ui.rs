// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Messages: each program of `ui/` with the text that it leads to. With `PENSTOCK_WRITE_UI=1` the texts are written
//! anew, to be read before they are kept.

use std::path::Path;

use penstock_rmt_compiler::backend::Pipeline;

#[test]
fn messages_are_as_they_were_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui");
    let files = std::fs::read_dir(&folder).expect("the folder is there");
    let mut wrong = Vec::new();
    let mut count = 0;
    for file in files.map(|entry| entry.expect("it can be read").path()) {
        if file.extension().is_none_or(|ending| ending != "p4") {
            continue;
        }
        count += 1;
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&file).expect("it can be read");
        let said = match penstock_rmt_compiler::compile(&name, &text) {
            Err(faults) => faults.to_string(),
            Ok(compiled) => {
                compiled.lower(&Pipeline::new(3)).map_or_else(|faults| faults.to_string(), |_| "no fault".to_owned())
            }
        };
        let kept = file.with_extension("txt");
        if std::env::var_os("PENSTOCK_WRITE_UI").is_some() {
            std::fs::write(&kept, format!("{said}\n")).expect("it can be written");
        }
        if std::fs::read_to_string(&kept).unwrap_or_default() != format!("{said}\n") {
            wrong.push(format!("{name}:\n{said}"));
        }
    }
    assert!(count > 5);
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
