// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Fmax of a block on ECP5, the median of its placements, and its critical path.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::registry::{Form, Router, Sources};
use super::tools::{Tools, inside, read_commands, used_files};
use super::{SynthError, cache, harness, io_error};

/// The ECP5 has no large memories, so they become block memories. ECP5 block memories differ from UltraScale's in the
/// value that a port reads while the other one writes; no logic is built to correct this.
const MEMORIES: &str = "setattr -set ram_style \"block\" a:ram_style=ultra; setattr -set no_rw_check 1 m:*; ";

/// Placements of a block that the router may fail to connect before the block counts as not measured.
const MAX_UNROUTED: usize = 2;
/// The error messages of router2 and router1.
const ROUTER_FAILS: [&str; 2] = ["Failed to route", "Routing design failed"];

/// Speed of a block.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Timing {
    /// Placements, slowest first.
    pub runs: Vec<Placement>,
    /// Seeds that the router could not connect; others replaced them.
    pub unrouted: Vec<u32>,
    /// How many of all these an earlier run has made of the same netlist with the same tools.
    pub kept: usize,
}

/// One placement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Placement {
    pub seed: u32,
    pub fmax_mhz: f64,
    /// The path that limits Fmax.
    pub path: CriticalPath,
}

/// A path from register to register.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct CriticalPath {
    pub start: String,
    pub end: String,
    pub delay_ns: f64,
    /// Cells between the two registers.
    pub levels: usize,
    /// Delay and net of each step, in order.
    pub steps: Vec<(f64, String)>,
}

impl Timing {
    /// The median placement.
    pub(crate) fn median(&self) -> &Placement {
        &self.runs[self.runs.len() / 2]
    }
}

/// The use of the placements in the repository.
#[derive(Debug, Clone)]
pub(crate) struct Repository {
    /// The folder of the block's placements, relative to the repository.
    pub folder: PathBuf,
    /// Repeats existing placements.
    pub again: bool,
    /// Puts the block's placements there.
    pub save: bool,
}

/// Measures `sources` in `folder`, relative to the repository. The router may need an hour to connect a block, so each
/// placement is kept as soon as it exists, and used while netlist and tools stay the same.
pub(crate) fn measure(
    tools: &Tools,
    sources: &Sources,
    folder: &Path,
    repository: &Repository,
) -> Result<Timing, SynthError> {
    let absolute = tools.root.join(folder);
    fs::create_dir_all(&absolute).map_err(io_error(&absolute))?;
    // Nobody else changes the netlist while it is placed.
    let lock = absolute.join("lock");
    let _alone = File::create(&lock).and_then(|file| file.lock().map(|()| file)).map_err(io_error(&lock))?;
    let recipe = Recipe::of(sources, folder);
    let netlist = recipe.netlist(tools, sources)?;
    let mut timing = Timing { runs: Vec::new(), unrouted: Vec::new(), kept: 0 };
    for seed in 1.. {
        if timing.runs.len() == sources.placements as usize {
            break;
        }
        let place = recipe.place(seed);
        let key = format!("{}\n{place}\n{netlist}", tools.versions);
        let here = folder.join(format!("placement{seed}.json"));
        let saved = repository.folder.join(format!("{seed}.json"));
        let kept = || [&here, &saved].into_iter().find_map(|path| cache::load(&tools.root, path, &key));
        let run = match (!repository.again).then(kept).flatten() {
            Some(run) => {
                timing.kept += 1;
                run
            }
            None => {
                let run = run_nextpnr(tools, folder, seed, &place, timing.unrouted.len() < MAX_UNROUTED)?;
                cache::store(&tools.root, &here, &key, Vec::new(), &run)?;
                run
            }
        };
        if repository.save {
            cache::store(&tools.root, &saved, &key, Vec::new(), &run)?;
        }
        match run {
            Some(run) => timing.runs.push(run),
            None => timing.unrouted.push(seed),
        }
    }
    timing.runs.sort_by(|a, b| a.fmax_mhz.total_cmp(&b.fmax_mhz));
    Ok(timing)
}

/// Places and routes once; nothing when the router cannot connect all and that `may_fail`.
fn run_nextpnr(
    tools: &Tools,
    folder: &Path,
    seed: u32,
    place: &str,
    may_fail: bool,
) -> Result<Option<Placement>, SynthError> {
    let log = folder.join(format!("nextpnr{seed}.log"));
    match tools.nextpnr(&log, &place.split(' ').collect::<Vec<_>>()) {
        Err(SynthError::Tool { message, .. }) if may_fail && ROUTER_FAILS.iter().any(|text| message.contains(text)) => {
            return Ok(None);
        }
        other => other?,
    }
    let path = tools.root.join(folder).join(format!("report{seed}.json"));
    let text = fs::read_to_string(&path).map_err(io_error(&path))?;
    placement(seed, &text).map(Some).map_err(|message| SynthError::Output { path, message })
}

/// Instructions for the tools about a block.
struct Recipe<'a> {
    folder: &'a Path,
    router: Router,
    elaborate: String,
    synthesize: String,
}

impl<'a> Recipe<'a> {
    fn of(sources: &Sources, folder: &'a Path) -> Self {
        let top = &sources.top;
        let file = |name: &str| inside(&folder.join(name));
        let read = read_commands(sources, folder);
        let (elaborate, harness_file, placed) = match sources.form {
            Form::Block => (
                format!("{read}; blackbox {top}; write_json {}", file("ports.json")),
                format!("read_verilog {}; {MEMORIES}", file("harness.v")),
                "harness",
            ),
            Form::Bare => (read, String::new(), top.as_str()),
        };
        let synthesize = format!(
            "read_rtlil {}; {harness_file}\
             synth_ecp5 -top {placed} -json {}",
            file("block.il"),
            file("netlist.json"),
        );
        Self { folder, router: sources.router, elaborate, synthesize }
    }

    /// Makes `netlist.json` unless it exists; returns its hash.
    fn netlist(&self, tools: &Tools, sources: &Sources) -> Result<String, SynthError> {
        let key =
            format!("{}\n{}\n{}\n", tools.versions, self.elaborate, self.synthesize) + &harness::verilog("top", &[]);
        let (kept, path) = (self.folder.join("netlist.kept.json"), self.folder.join("netlist.json"));
        if let Some(hash) = cache::load::<String>(&tools.root, &kept, &key)
            && netlist_hash(&tools.root.join(&path)).is_ok_and(|now| now == hash)
        {
            return Ok(hash);
        }
        let absolute = tools.root.join(self.folder);
        tools.yosys(&self.folder.join("elaborate.log"), &self.elaborate)?;
        if sources.form == Form::Block {
            write_harness(&absolute, &sources.top)?;
        }
        let used = used_files(&tools.root, self.folder, sources)?;
        tools.yosys(&self.folder.join("yosys.log"), &self.synthesize)?;
        let hash = netlist_hash(&tools.root.join(&path))?;
        cache::store(&tools.root, &kept, &key, used, &hash)?;
        Ok(hash)
    }

    /// Arguments of nextpnr-ecp5.
    fn place(&self, seed: u32) -> String {
        let file = |name: &str| inside(&self.folder.join(name));
        let router = self.router.name();
        format!(
            "--85k --package CABGA756 --router {router} --lpf-allow-unconstrained --timing-allow-fail --quiet \
             --json {} --seed {seed} --report {}",
            file("netlist.json"),
            file(&format!("report{seed}.json")),
        )
    }
}

/// Hash of a netlist as nextpnr uses it; source places of its cells do not count.
fn netlist_hash(path: &Path) -> Result<String, SynthError> {
    let text = fs::read_to_string(path).map_err(io_error(path))?;
    let mut hash = Sha256::new();
    for line in text.lines().filter(|line| !line.contains("src\": \"")) {
        hash.update(line.trim_end_matches(','));
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Writes `harness.v` around the block whose ports are in `ports.json`.
fn write_harness(folder: &Path, top: &str) -> Result<(), SynthError> {
    let json = folder.join("ports.json");
    let text = fs::read_to_string(&json).map_err(io_error(&json))?;
    let ports = harness::ports(&text, top).map_err(|message| SynthError::Output { path: json, message })?;
    let verilog = folder.join("harness.v");
    fs::write(&verilog, harness::verilog(top, &ports)).map_err(io_error(&verilog))
}

/// Reads nextpnr's report.
fn placement(seed: u32, report: &str) -> Result<Placement, String> {
    let report: Value = serde_json::from_str(report).map_err(|error| error.to_string())?;
    let clocks = report["fmax"].as_object().ok_or("no fmax in it")?;
    let fmax_mhz = clocks
        .values()
        .filter_map(|clock| clock["achieved"].as_f64())
        .min_by(f64::total_cmp)
        .ok_or("no clock in it: has the block a port clk?")?;
    let inside =
        |path: &&Value| ["from", "to"].iter().all(|end| path[end].as_str().is_some_and(|e| e.starts_with("posedge")));
    let paths = report["critical_paths"].as_array().ok_or("no critical paths in it")?;
    let path = paths.iter().find(inside).map(|path| critical_path(&path["path"])).unwrap_or_default();
    Ok(Placement { seed, fmax_mhz, path })
}

fn critical_path(path: &Value) -> CriticalPath {
    let steps = path.as_array().map(Vec::as_slice).unwrap_or_default();
    let cell =
        |step: Option<&Value>, end: &str| step.and_then(|s| s[end]["cell"].as_str()).map(signal_of).unwrap_or_default();
    let delay = |step: &Value| step["delay"].as_f64().unwrap_or(0.0);
    CriticalPath {
        start: cell(steps.first(), "from"),
        end: cell(steps.last(), "to"),
        delay_ns: steps.iter().map(delay).sum(),
        levels: steps.iter().filter(|step| step["type"] == "logic").count(),
        steps: steps
            .iter()
            .map(|step| {
                let what = match step["type"].as_str() {
                    Some("routing") => format!("net {}", step["net"].as_str().unwrap_or("?")),
                    other => format!("{} {}", other.unwrap_or("?"), step["to"]["cell"].as_str().unwrap_or("?")),
                };
                (delay(step), what)
            })
            .collect(),
    }
}

/// The name that a cell had in the source, without the suffix of technology mapping.
fn signal_of(cell: &str) -> String {
    let mapped =
        ["_TRELLIS_FF_", "_LUT4_", "_PFUMX_", "_L6MUX21_", "_CCU2C_", "_DPR16X4_", "_TRELLIS_DPR16X4_", "_DP16KD_"];
    let end = mapped.iter().filter_map(|suffix| cell.find(suffix)).min().unwrap_or(cell.len());
    cell[..end].trim_start_matches("dut.").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"{"fmax": {"clk": {"achieved": 87.5, "constraint": 12}}, "critical_paths": [
        {"from": "async", "to": "posedge clk", "path": []},
        {"from": "posedge clk", "to": "posedge clk", "path": [
          {"type": "clk-to-q", "delay": 0.5, "from": {"cell": "dut.a_q_TRELLIS_FF_Q_3"}, "to": {"cell": "dut.a_q_TRELLIS_FF_Q_3"}},
          {"type": "routing", "delay": 1.0, "net": "dut.a_q[3]", "from": {"cell": "x"}, "to": {"cell": "y"}},
          {"type": "logic", "delay": 0.25, "from": {"cell": "y"}, "to": {"cell": "y"}},
          {"type": "routing", "delay": 1.0, "net": "n", "from": {"cell": "y"}, "to": {"cell": "dut.b_q_LUT4_D"}}]}]}"#;

    #[test]
    fn reads_the_path_between_registers() {
        let placement = placement(2, REPORT).unwrap();
        assert_eq!((placement.seed, placement.fmax_mhz), (2, 87.5));
        let path = placement.path;
        assert_eq!((path.start.as_str(), path.end.as_str(), path.levels), ("a_q", "b_q", 1));
        assert_eq!(path.delay_ns, 2.75);
        assert_eq!(path.steps[1], (1.0, "net dut.a_q[3]".to_string()));
    }

    #[test]
    fn a_netlist_is_the_same_wherever_its_cells_stand_in_the_source() {
        let path = std::env::temp_dir().join(format!("penstock-netlist-{}.json", std::process::id()));
        let hash = |text: &str| {
            fs::write(&path, text).unwrap();
            netlist_hash(&path).unwrap()
        };
        let first = hash("\"src\": \"a.sv:1.2\",\n\"type\": \"LUT4\"");
        assert_eq!(first, hash("\"src\": \"a.sv:9.2\",\n\"type\": \"LUT4\""));
        assert_ne!(first, hash("\"src\": \"a.sv:1.2\",\n\"type\": \"CCU2C\""));
        fs::remove_file(&path).unwrap();
    }

    #[test]
    fn report_without_a_clock_is_an_error() {
        assert!(placement(1, r#"{"fmax": {}, "critical_paths": []}"#).is_err());
    }
}
