// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! File lists of SystemVerilog sources: one path a line, relative to the list; `-f LIST` includes another; `//` and `#`
//! start comments.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// Source files, canonical, each once, in the order in which they were added.
#[derive(Debug, Default)]
pub struct Sources {
    /// The files.
    pub files: Vec<PathBuf>,
    seen: BTreeSet<PathBuf>,
}

/// A list or a file that it names cannot be read.
#[derive(Debug)]
pub struct Unreadable {
    /// The list or the file.
    pub path: PathBuf,
    /// Why.
    pub source: io::Error,
}

impl Sources {
    /// Adds a source file or, if the name ends in `.f`, the files of a list.
    pub fn add(&mut self, path: &Path) -> Result<(), Unreadable> {
        let unreadable = |source| Unreadable { path: path.to_path_buf(), source };
        let path = path.canonicalize().map_err(unreadable)?;
        if !self.seen.insert(path.clone()) {
            return Ok(());
        }
        if path.extension().is_none_or(|extension| extension != "f") {
            self.files.push(path);
            return Ok(());
        }
        let text = std::fs::read_to_string(&path).map_err(unreadable)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        for line in text.lines() {
            let line = line.split("//").next().unwrap_or("").split('#').next().unwrap_or("").trim();
            let entry = line.strip_prefix("-f ").unwrap_or(line).trim();
            if !entry.is_empty() {
                self.add(&folder.join(entry))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn lists_include_each_other() {
        let top =
            std::env::temp_dir().join(format!("penstock-{}-lists-{}", env!("CARGO_PKG_NAME"), std::process::id()));
        fs::create_dir_all(top.join("sub")).unwrap();
        for (name, text) in [
            ("a.sv", ""),
            ("sub/b.sv", ""),
            ("top.f", "// comment\n-f sub/sub.f\na.sv # twice\na.sv\n\n-f top.f\n"),
            ("sub/sub.f", "b.sv\n../a.sv\n"),
        ] {
            fs::write(top.join(name), text).unwrap();
        }
        let mut sources = Sources::default();
        sources.add(&top.join("top.f")).unwrap();
        let names: Vec<_> = sources.files.iter().map(|f| f.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["b.sv", "a.sv"]);
        fs::write(top.join("wrong.f"), "none.sv").unwrap();
        assert!(sources.add(&top.join("wrong.f")).unwrap_err().path.ends_with("none.sv"));
        fs::remove_dir_all(top).unwrap();
    }
}
