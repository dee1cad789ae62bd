// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock fpga build`: runs the vendor's tool on a project, and reads its reports back. No tool was at hand when this
//! was written: its test has a program in the place of Vivado.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, SystemTime};

use penstock_device::fpga::{ReportError, Reports, Shell};
use penstock_engine::say;
use serde::Deserialize;

/// The tool.
const VIVADO: &str = "vivado";
/// Where Corundum has its boards of 100 Gb/s.
const BOARDS: &str = "fpga/mqnic/Alveo/fpga_100g";
/// Precision of the times of files on the file systems that we know.
const TICK: Duration = Duration::from_secs(2);

/// Why nothing was built.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{}: this is no project of `penstock fpga init`: {problem}", project.display())]
    Project { project: PathBuf, problem: String },
    #[error("{}: this is no checkout of {shell}: {missing} is not there; clone it, or give its folder as --checkout", checkout.display())]
    Checkout { checkout: PathBuf, shell: Shell, missing: String },
    #[error("vivado is not in an absolute folder of PATH: source the settings64.sh of your Vivado. It would run:\n{0}")]
    NoTool(String),
    #[error("{step}: {source}")]
    Start { step: String, source: io::Error },
    #[error("{step}: it ended with {status}; its messages stand above")]
    Failed { step: String, status: ExitStatus },
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Report(#[from] ReportError),
    #[error("the build does not meet its timing constraints: its bitstream must not be used")]
    TooSlow,
    #[error("{}: the build has left no report of its timing that can be read; look at the messages above", _0.display())]
    NoTiming(PathBuf),
    #[error("{}: the project and its place in the checkout, {}, are inside each other; move the project out of the checkout", project.display(), place.display())]
    Nested { project: PathBuf, place: PathBuf },
}

/// The parts of hardware.json that a build needs.
#[derive(Deserialize)]
struct About {
    shell: String,
    board: String,
    parameters: Parameters,
}

#[derive(Deserialize)]
struct Parameters {
    #[serde(rename = "Ports")]
    ports: String,
}

/// A program that is run in a folder.
struct Step {
    folder: PathBuf,
    words: Vec<OsString>,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<_> = self.words.iter().map(|word| word.to_string_lossy()).collect();
        write!(f, "    cd {} && {}", self.folder.display(), words.join(" "))
    }
}

/// The steps for a project.
struct Plan {
    /// The project's folder, and its copy that the shell builds.
    copy: Option<(PathBuf, PathBuf)>,
    step: Step,
    /// Where the tool leaves its reports.
    results: PathBuf,
}

impl Plan {
    fn of(project: &Path, checkout: &Path) -> Result<Self, Error> {
        let wrong = |problem: String| Error::Project { project: project.to_path_buf(), problem };
        let path = project.join("hardware.json");
        let text = fs::read_to_string(&path).map_err(|error| wrong(format!("hardware.json: {error}")))?;
        let about: About = serde_json::from_str(&text).map_err(|error| wrong(format!("hardware.json: {error}")))?;
        let shell: Shell =
            about.shell.parse().map_err(|_| wrong(format!("hardware.json: no shell `{}`", about.shell)))?;
        // The words become folders and arguments.
        let is_plain = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !is_plain(&about.board) || !is_plain(&about.parameters.ports) {
            return Err(wrong("hardware.json: board or ports are no words".into()));
        }
        let absolute =
            |path: &Path| fs::canonicalize(path).map_err(|source| Error::File { path: path.to_path_buf(), source });
        let (project, checkout) = (absolute(project)?, absolute(checkout)?);
        let has = |name: &str| {
            let missing = || Error::Checkout { checkout: checkout.clone(), shell, missing: name.to_owned() };
            checkout.join(name).exists().then_some(()).ok_or_else(missing)
        };
        Ok(match shell {
            Shell::OpenNic => {
                has("script/build.tcl")?;
                let words = [VIVADO, "-mode", "batch", "-source", "build.tcl", "-tclargs", "-board", &about.board];
                let mut words: Vec<OsString> = words.map(OsString::from).into();
                words.extend(["-num_cmac_port", &about.parameters.ports, "-user_plugin"].map(OsString::from));
                words.push(project.into_os_string());
                // Without -rebuild, build.tcl leaves an earlier build as it is.
                words.extend(["-impl", "1", "-post_impl", "1", "-rebuild", "1"].map(OsString::from));
                let step = Step { folder: checkout.join("script"), words };
                Self { copy: None, step, results: checkout.join("build") }
            }
            Shell::Corundum => {
                let board = format!("{BOARDS}/fpga_{}", about.board.to_uppercase());
                has(&board)?;
                let place = checkout.join(format!("{board}_app_penstock"));
                if place != project && (place.starts_with(&project) || project.starts_with(&place)) {
                    return Err(Error::Nested { project, place });
                }
                let step = Step { folder: place.clone(), words: vec!["make".into()] };
                Self { copy: Some((project, place.clone())), step, results: place }
            }
        })
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((from, to)) = &self.copy {
            writeln!(f, "    cp -r {}/. {}", from.display(), to.display())?;
        }
        self.step.fmt(f)
    }
}

/// Copies a folder and all in it; files that are there already are written anew.
fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source| Error::File { path, source }
    };
    fs::create_dir_all(to).map_err(failed(to))?;
    for entry in fs::read_dir(from).map_err(failed(from))? {
        let entry = entry.map_err(failed(from))?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type().map_err(failed(&path))?.is_dir() {
            copy(&path, &target)?;
        } else {
            fs::copy(&path, &target).map_err(failed(&target))?;
        }
    }
    Ok(())
}

/// The absolute folders of PATH. Others, and empty ones, would name folders of the checkout, in which the tools run.
fn folders(path: &OsStr) -> Vec<PathBuf> {
    env::split_paths(path).filter(|folder| folder.is_absolute()).collect()
}

/// Builds a project, and prints the reports.
pub(crate) fn run(project: &Path, checkout: &Path) -> Result<(), Error> {
    let plan = Plan::of(project, checkout)?;
    let folders = folders(&env::var_os("PATH").unwrap_or_default());
    if !folders.iter().any(|folder| folder.join(VIVADO).is_file()) {
        return Err(Error::NoTool(plan.to_string()));
    }
    let begin = SystemTime::now() - TICK;
    // A project may stand in its place in the checkout already.
    if let Some((from, to)) = plan.copy.as_ref().filter(|(from, to)| from != to) {
        copy(from, to)?;
    }
    let Step { folder, words } = &plan.step;
    say!("{plan}");
    let [program, arguments @ ..] = &words[..] else { return Ok(()) };
    let step = || plan.step.to_string().trim_start().to_owned();
    let status = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("PATH", env::join_paths(folders).unwrap_or_default())
        .stdin(Stdio::null())
        .status()
        .map_err(|source| Error::Start { step: step(), source })?;
    if !status.success() {
        return Err(Error::Failed { step: step(), status });
    }
    let reports = Reports::of_folder(&plan.results, Some(begin))?;
    say::text(&reports.to_string());
    match &reports.timing {
        Some((_, timing)) if timing.is_met => Ok(()),
        Some(_) => Err(Error::TooSlow),
        None => Err(Error::NoTiming(plan.results)),
    }
}
