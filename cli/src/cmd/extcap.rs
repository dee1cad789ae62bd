// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock extcap`: ports of cards that are up, as interfaces of Wireshark.
//!
//! Wireshark runs each program of its extcap folder with the options below, and reads the program's answers from its
//! output (Wireshark Developer's Guide, "Extcap: Developer Reference").

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, ValueEnum};
use penstock_device::files::{self, FileError};
use penstock_engine::{say, say::plain};
use penstock_live::protocol::{PortStatus, Request};
use penstock_live::{Client, ControlError, Filter, control};

use crate::cmd::capture::{Capture, WayName};
use crate::cmd::ctl::{CtlError, Which};

/// Shows ports of cards that are up in Wireshark. `--install` is for people, the other options are for Wireshark.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// Write a script into Wireshark's folder for such programs ("Extcap path" in About, Folders), after which
    /// Wireshark lists the ports.
    #[arg(long, value_name = "FOLDER")]
    pub install: Option<PathBuf>,
    /// List the interfaces.
    #[arg(long)]
    pub extcap_interfaces: bool,
    /// The interface that the other options are about.
    #[arg(long, value_name = "NAME")]
    pub extcap_interface: Option<String>,
    /// List its link types.
    #[arg(long)]
    pub extcap_dlts: bool,
    /// List its options.
    #[arg(long)]
    pub extcap_config: bool,
    /// Wireshark's version.
    #[arg(long, value_name = "VERSION")]
    pub extcap_version: Option<String>,
    /// Capture.
    #[arg(long, requires = "fifo")]
    pub capture: bool,
    /// The pipe that the capture goes to.
    #[arg(long, value_name = "PATH")]
    pub fifo: Option<PathBuf>,
    /// Only frames that pass this filter; without --capture, it is only checked.
    #[arg(long, value_name = "FILTER")]
    pub extcap_capture_filter: Option<String>,
    /// Only frames that go this way.
    #[arg(long, value_enum)]
    pub way: Option<Ways>,
}

/// Directions to choose from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Ways {
    /// Both.
    Both,
    /// From the interface into the card.
    In,
    /// Out of the card.
    Out,
}

/// Why Wireshark gets no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExtcapError {
    #[error(transparent)]
    Control(#[from] ControlError),
    #[error(transparent)]
    Ctl(#[from] CtlError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error("there is no interface `{0}`: list them with --extcap-interfaces")]
    Interface(String),
    #[error("say what to do: --install FOLDER for Wireshark's folder, or an option that Wireshark gives")]
    Nothing,
}

/// A port of a card that is up.
struct Interface {
    socket: PathBuf,
    /// The card's design.
    design: String,
    port: PortStatus,
}

impl Interface {
    /// The name by which Wireshark knows it.
    fn value(&self) -> String {
        let safe = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        format!("penstock-{}-{}", self.design.chars().map(safe).collect::<String>(), self.port.port)
    }

    /// What people read.
    fn display(&self) -> String {
        let at = self.port.interface.as_ref().map_or_else(String::new, |name| format!(", {name}"));
        // Braces would end the value.
        plain(&format!("Penstock {}: {}{at}", self.design, self.port.port)).replace(['{', '}'], "")
    }

    /// As `penstock ctl capture` names the port.
    fn port_name(&self) -> String {
        self.port.port.trim_start_matches("port").to_owned()
    }
}

/// Answers Wireshark, or installs itself.
pub(crate) fn run(args: &Args) -> Result<(), ExtcapError> {
    if let Some(folder) = &args.install {
        return install(folder);
    }
    if args.extcap_interfaces {
        say!("extcap {{version={}}}{{display=Penstock}}", env!("CARGO_PKG_VERSION"));
        for interface in interfaces()? {
            say!("interface {{value={}}}{{display={}}}", interface.value(), interface.display());
        }
        return Ok(());
    }
    let name = args.extcap_interface.as_ref().ok_or(ExtcapError::Nothing)?;
    if args.extcap_dlts {
        say!("dlt {{number=1}}{{name=EN10MB}}{{display=Ethernet}}");
    } else if args.extcap_config {
        say!("arg {{number=0}}{{call=--way}}{{display=Direction}}{{type=selector}}{{tooltip=As seen by the card}}");
        for (value, display) in [("both", "both"), ("in", "into the card"), ("out", "out of the card")] {
            say!("value {{arg=0}}{{value={value}}}{{display={display}}}{{default={}}}", value == "both");
        }
    } else if let (true, Some(fifo)) = (args.capture, &args.fifo) {
        capture(name, fifo, args)?;
    } else if let Some(filter) = &args.extcap_capture_filter {
        // Wireshark shows whatever is printed as the filter's fault.
        if let Err(error) = filter.parse::<Filter>() {
            say!("{error}");
        }
    } else {
        return Err(ExtcapError::Nothing);
    }
    Ok(())
}

fn interfaces() -> Result<Vec<Interface>, ControlError> {
    let mut all = Vec::new();
    for socket in control::all()? {
        // A card that ends meanwhile has no ports.
        let status = Client::connect(&socket).and_then(|mut card| card.ask(&Request::Status));
        if let Some(status) = status.ok().and_then(|reply| reply.status) {
            let of = |port| Interface { socket: socket.clone(), design: status.design.clone(), port };
            all.extend(status.ports.into_iter().map(of));
        }
    }
    Ok(all)
}

fn capture(name: &str, fifo: &Path, args: &Args) -> Result<(), ExtcapError> {
    let found = interfaces()?.into_iter().find(|interface| interface.value() == name);
    let interface = found.ok_or_else(|| ExtcapError::Interface(name.to_owned()))?;
    let capture = Capture {
        port: interface.port_name(),
        write: fifo.to_owned(),
        count: None,
        time: None,
        way: match args.way {
            Some(Ways::In) => Some(WayName::In),
            Some(Ways::Out) => Some(WayName::Out),
            Some(Ways::Both) | None => None,
        },
        snap: None,
        filter: args.extcap_capture_filter.iter().filter(|text| !text.trim().is_empty()).cloned().collect(),
    };
    Ok(capture.run(&Which { design: None, socket: Some(interface.socket), json: false })?)
}

/// Writes the script that Wireshark runs: this command, as it was called.
fn install(folder: &Path) -> Result<(), ExtcapError> {
    let path = folder.join("penstock");
    let failed = |error: io::Error| FileError::output(&path, error);
    let command = std::env::current_exe().map_err(failed)?;
    let root = std::env::var_os("PENSTOCK_ROOT")
        .map_or_else(String::new, |root| format!("PENSTOCK_ROOT={} ", quoted(&root.to_string_lossy())));
    let text = format!("#!/bin/sh\n{root}exec {} extcap \"$@\"\n", quoted(&command.to_string_lossy()));
    files::make_folder(folder)?;
    files::write(&path, text)?;
    fs::set_permissions(&path, Permissions::from_mode(0o755)).map_err(failed)?;
    say!("{}: Wireshark lists the ports of cards that are up", path.display());
    Ok(())
}

/// A word of the shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
