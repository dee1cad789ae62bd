// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Third-party programs in `xdp-rows`: the kernel's samples, compiled from Debian's linux-source-6.1, and the objects
//! of Debian's xdp-tools. Packages that are not installed are skipped with a message.
//!
//! Some samples have changed since the paper: xdp1 and xdp2 copy the headers to the stack with bpf_xdp_load_bytes(),
//! and the programs that redirect count the fates of frames.

use std::collections::BTreeMap;
use std::env::consts::ARCH;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use penstock_bench::parameters;
use penstock_bench::row::{
    Better::{Higher, Lower},
    Row,
};
use penstock_device::{Root, note};
use penstock_xdp_compiler::back::Compiled;
use penstock_xdp_compiler::card::place;
use penstock_xdp_compiler::check::check;
use penstock_xdp_compiler::ir::CONTEXTS;
use penstock_xdp_compiler::object::{Entry, Object};
use penstock_xdp_compiler::source;
use penstock_xdp_compiler::translate::translate;
use penstock_xdp_host::Lanes;
use serde_json::json;

use crate::programs;

/// The way out if a package is not installed.
const PACKAGES: &str = "apt-get install linux-source-6.1 libbpf-dev xz-utils xdp-tools";
const ARCHIVE: &str = "/usr/src/linux-source-6.1.tar.xz";
const HEADERS: &str = "/usr/include/bpf/bpf_helpers.h";
/// Samples for which the paper has rows, by the names of our programs.
const PAPERS: [(&str, &str); 6] = [
    ("xdp1_kern.c", "xdp1"),
    ("xdp2_kern.c", "xdp2"),
    ("xdp_adjust_tail_kern.c", "xdp_adjust_tail"),
    ("xdp_router_ipv4.bpf.c", "router_ipv4"),
    ("xdp_rxq_info_kern.c", "rxq_info"),
    ("xdp_tx_iptunnel_kern.c", "tx_ip_tunnel"),
];

/// An object of others.
struct Other {
    /// The file, and its origin.
    name: String,
    /// The object, or the reason why it could not be read or compiled.
    bytes: Result<Vec<u8>, String>,
    paper: Option<&'static programs::Program>,
}

/// Compiles all that is installed.
pub(crate) fn run(root: &Root, report: &mut dyn FnMut(&[Row])) {
    for (what, others) in [("the kernel's samples", samples(root)), ("the objects of xdp-tools", Ok(tools()))] {
        match others {
            Ok(others) if others.is_empty() => note!("skipped: {what} are not installed; {PACKAGES}"),
            Ok(others) => others.iter().for_each(|other| {
                if let Err(why) = rows(other, report) {
                    note!("skipped: {}: {why}", other.name);
                }
            }),
            Err(why) => note!("skipped: {what}: {why}; {PACKAGES}"),
        }
    }
}

/// Objects that xdp-tools loads.
fn tools() -> Vec<Other> {
    let folder = PathBuf::from(format!("/usr/lib/{ARCH}-linux-gnu/bpf"));
    let read = |(name, path): (String, PathBuf)| Other {
        name: format!("xdp-tools {name}"),
        bytes: fs::read(path).map_err(|error| error.to_string()),
        paper: None,
    };
    files(&folder, &[".o"]).into_iter().map(read).collect()
}

/// The kernel's samples, compiled as all C is here, with headers of the machine and what engines/xdp/bench/cards/linux
/// has in place of a kernel's own.
fn samples(root: &Root) -> Result<Vec<Other>, String> {
    if !Path::new(ARCHIVE).exists() || !Path::new(HEADERS).exists() {
        return Ok(vec![]);
    }
    let folder = unpacked(root)?;
    let mut others = Vec::new();
    for (name, path) in files(&folder, &["_kern.c", ".bpf.c"]) {
        // xdp_sample is linked to other samples: engines/xdp/bench/cards/linux/sample.h replaces it.
        if !name.starts_with("xdp") || name.starts_with("xdp_sample.") {
            continue;
        }
        let mut flags: Vec<OsString> = ["-w", "-include", "vmlinux.h", "-I"].map(OsString::from).to_vec();
        flags.extend([root.join("engines/xdp/bench/cards/linux").into(), "-I".into(), folder.clone().into()]);
        if name.ends_with(".bpf.c") {
            flags.extend(["-include", "sample.h"].map(OsString::from));
        }
        let installed = ["/usr/include".to_owned(), format!("/usr/include/{ARCH}-linux-gnu")];
        flags.extend(installed.into_iter().flat_map(|folder| ["-idirafter".into(), folder.into()]));
        flags.push(format!("-D__{ARCH}__").into());
        let object = root.join("build").join(format!("{name}-{}.o", std::process::id()));
        let compiled = source::compile(&path, root.path(), &flags, &object);
        let bytes = compiled.map(|compiled| compiled.object).map_err(|error| error.to_string());
        let ours = PAPERS.iter().find(|(sample, _)| *sample == name).map(|(_, ours)| *ours);
        let paper = programs::PROGRAMS.iter().find(|program| Some(program.name) == ours);
        others.push(Other { name: format!("linux-6.1 {name}"), bytes, paper });
    }
    Ok(others)
}

/// The folder samples/bpf of the kernel's sources: it is taken out of the archive once.
fn unpacked(root: &Root) -> Result<PathBuf, String> {
    let (folder, part) = (root.join("build/linux-source-6.1"), root.join("build/linux-source-6.1.part"));
    if !folder.exists() {
        note!("taking samples/bpf out of {ARCHIVE}, once");
        let tar = || {
            fs::create_dir_all(&part)?;
            let mut tar = Command::new("tar");
            tar.args(["-xJf", ARCHIVE, "--strip-components=3", "-C"]).arg(&part).arg("linux-source-6.1/samples/bpf");
            tar.status()
        };
        match tar() {
            Ok(status) if status.success() => {}
            Ok(status) => return Err(format!("{ARCHIVE}: tar: {status}")),
            Err(error) => return Err(format!("{ARCHIVE}: tar: {error}")),
        }
        fs::rename(&part, &folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    Ok(folder)
}

/// Files of a folder with one of those endings, by name; none when there is no such folder.
fn files(folder: &Path, endings: &[&str]) -> BTreeMap<String, PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let named = entries.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())));
    named.filter(|(name, _)| endings.iter().any(|ending| name.ends_with(ending))).collect()
}

/// Reports an object's programs, and those without rows with the reason; an error prevents all of them.
fn rows(other: &Other, report: &mut dyn FnMut(&[Row])) -> Result<(), String> {
    let mut object = Object::read(other.bytes.as_deref()?).map_err(|error| error.to_string())?;
    // If the sample's own loader sets the size of a map, the map has a place for each context of a unit.
    for map in object.maps.iter_mut().filter(|map| map.shape.max_entries == 0) {
        map.shape.max_entries = CONTEXTS;
    }
    for entry in &object.entries {
        let program = format!("{} {}", other.name, entry.name);
        for lanes in Lanes::ALL {
            let compiled = match compiled(&object, entry, lanes) {
                Ok(compiled) => compiled,
                Err(why) => {
                    note!("skipped: {program}: {why}");
                    break;
                }
            };
            let count = compiled.rows.len() as f64;
            let case = parameters(&[("program", json!(program)), ("lanes", json!(lanes.count()))]);
            // At other numbers of lanes the paper has rows before code motion, of what the sample was then.
            let paper = other.paper.filter(|_| lanes == Lanes::FOUR).and_then(|program| program.paper_rows(4));
            let row = |metric, paper, value| Row::new("xdp-rows", &case, metric, [paper, None], value);
            report(&[
                row(("rows", "rows of the whole program", Lower), paper, count),
                row(("ops_a_row", "operations in a row", Higher), None, compiled.operations() as f64 / count),
            ]);
        }
    }
    Ok(())
}

/// The rows of a program on a card for it alone, whether its maps find room there or not.
fn compiled(object: &Object, entry: &Entry, lanes: Lanes) -> Result<Compiled, String> {
    let program = object.program(entry).map_err(|error| error.to_string())?;
    let facts = check(object, &program).map_err(|error| error.to_string())?.facts;
    let placement = place(object, &facts.helpers, CONTEXTS);
    let translated = translate(object, &program, &facts, lanes, &placement.layout);
    Ok(translated.map_err(|error| error.to_string())?.compiled)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use penstock_xdp_host::object_of;

    use super::*;

    #[test]
    fn a_program_that_fails_hides_none_behind_it() {
        let folder = std::env::temp_dir().join(format!("penstock-others-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let source = folder.join("two.c");
        let text = "#include <packet.h>\nSEC(\"xdp\") int wild(struct xdp_md *ctx) { return *(int *)frame_start(ctx); }\n\
                    SEC(\"xdp\") int tame(struct xdp_md *ctx) { return XDP_PASS; }\n";
        fs::write(&source, text).unwrap();
        let bytes = Ok(object_of(&Root::find().unwrap(), &source).unwrap().0);
        let mut programs = BTreeSet::new();
        let other = Other { name: "two".into(), bytes, paper: None };
        rows(&other, &mut |rows: &[Row]| programs.extend(rows.iter().map(|row| row.case["program"].to_string())))
            .unwrap();
        assert_eq!(programs, BTreeSet::from(["\"two tame\"".to_owned()]));
        fs::remove_dir_all(folder).unwrap();
    }
}
