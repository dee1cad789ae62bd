// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock up`: the card in native code between real interfaces.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;

use clap::Args as ClapArgs;
use penstock_device::{Design, DesignError, ForGroup, Override, Policy, Port, Root};
use penstock_live::{ControlError, Driver, Live, LiveError, Setup, control, exporter};

use crate::card::{Card, CardError};
use crate::cmd::run;
use crate::cmd::servers::{ServerError, Servers};
use crate::cmd::tables::Tables;
use crate::daemon::{self, DaemonError};
use crate::files::{self, FileError};
use crate::log;
use crate::status::Look;
use crate::web::{self, Token, TokenError};

/// Puts a card between interfaces of this machine, as a bump in the wire, until Ctrl-C.
///
/// Needs the right CAP_NET_RAW (root has it; AF_XDP needs more). `penstock ctl` and `penstock top` talk to it;
/// docs/live.md is a guide.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// Manifest of the card, for example designs/forward.toml.
    pub design: PathBuf,
    /// Interface at an Ethernet port, for example `0=eth1`. Repeatable.
    #[arg(long = "port", value_name = "PORT=IFACE", value_parser = port, required = true)]
    pub ports: Vec<(Port, String)>,
    /// Interface at the host's queue.
    #[arg(long, value_name = "IFACE")]
    pub host: Option<String>,
    /// Write how it was at the end as JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Use this program instead of the design's; of several groups of units or blocks, for the named one. Repeatable.
    #[arg(long = "program", value_name = "[GROUP=]FILE", value_parser = run::program)]
    pub programs: Vec<ForGroup<PathBuf>>,
    /// Files of tables.
    #[command(flatten)]
    pub tables: Tables,
    /// Build the card with this many units; with several groups, in the named group. Repeatable.
    #[arg(long, value_name = "[GROUP=]COUNT", value_parser = run::units)]
    pub units: Vec<ForGroup<u32>>,
    /// Dispatch by this policy: round-robin, least-loaded, flow-hash or flow-hash-drop.
    #[arg(long, value_parser = run::policy)]
    pub policy: Option<Policy>,
    /// Driver between interfaces and card: auto, xdp (AF_XDP) or packet (AF_PACKET). `auto` takes AF_XDP if frames come
    /// from a wire and the kernel allows it; otherwise it prints the reason.
    #[arg(long, default_value = "auto", value_parser = driver)]
    pub driver: Driver,
    /// The place of the control socket [default: by the name of the design, in the user's runtime folder]
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// Serve all counters for Prometheus at this address, for example 127.0.0.1:9560, at /metrics.
    #[arg(long, value_name = "ADDRESS")]
    pub metrics: Option<String>,
    /// Serve a page that shows the card at this address, for example 127.0.0.1:8080.
    #[arg(long, value_name = "ADDRESS")]
    pub web: Option<String>,
    /// File with a token of at least 16 letters, which only its owner may read. Whoever has it can change the card from
    /// the page.
    #[arg(long, value_name = "FILE", requires = "web")]
    pub web_token: Option<PathBuf>,
    /// Go on in the background: the command ends when the card carries frames, or with the reason why it does not.
    #[arg(long)]
    pub daemon: bool,
    /// File for the messages of a card in the background [default: beside the control socket]
    #[arg(long, value_name = "FILE", requires = "daemon")]
    pub log: Option<PathBuf>,
    /// Form of messages: text, or json for a line of JSON each, with its time.
    #[arg(long, value_enum, default_value_t, value_name = "FORM")]
    pub log_format: log::Format,
    /// Servers of engines.
    #[command(flatten)]
    pub servers: Servers,
}

/// Why a card is not up, or did not end well.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UpError {
    #[error(transparent)]
    Card(#[from] CardError),
    #[error(transparent)]
    Live(#[from] LiveError),
    #[error(transparent)]
    Control(#[from] ControlError),
    #[error(transparent)]
    Server(#[from] ServerError),
    #[error(transparent)]
    Daemon(#[from] DaemonError),
    #[error(transparent)]
    Design(#[from] DesignError),
    #[error("--{option} {address}: {source}; give an address of this machine and a port, for example 127.0.0.1:9560")]
    Address { option: &'static str, address: String, source: io::Error },
    #[error(transparent)]
    Token(#[from] TokenError),
    #[error(transparent)]
    File(#[from] FileError),
}

/// Carries frames until a signal arrives.
pub(crate) fn run(args: &Args, root: &Root) -> Result<(), UpError> {
    if args.daemon {
        return in_background(args);
    }
    let log = args.log_format;
    log.start();
    let metrics = args.metrics.as_deref().map(|address| Page::open("metrics", address)).transpose()?;
    let web = args.web.as_deref().map(|address| Page::open("web", address)).transpose()?;
    let token = args.web_token.as_deref().map(Token::read).transpose()?;
    let change = Override {
        programs: args.programs.clone(),
        tables: args.tables.0.clone(),
        units: args.units.clone(),
        policy: args.policy,
        ..Override::default()
    };
    let Card { design, image } = Card::read(root, &args.design, change)?;
    let socket = args.socket.clone().map_or_else(|| control::path_of(&design.name), Ok)?;
    let host = args.host.iter().map(|interface| (Port::Host, interface.clone()));
    let interfaces = args.ports.iter().cloned().chain(host).collect();
    let setup = Setup { interfaces, driver: args.driver, socket };
    let mut live = Live::open(root, &design, image, &setup)?;
    // They end with this function.
    let (_servers, mut served) = args.servers.start(&setup.socket)?;
    if let Some(page) = metrics {
        let at = page.serve(|listener| exporter::serve(listener, &setup.socket))?;
        served += &format!("metrics at http://{at}/metrics\n");
    }
    if let Some(page) = web {
        let at = page.serve(|listener| web::serve(listener, &setup.socket, token))?;
        served += &format!("page at http://{at}/\n");
    }

    let places: Vec<String> =
        setup.interfaces.iter().map(|(port, interface)| format!("{port} = {interface}")).collect();
    let mut head = format!("{} is up: {}; {}\n", design.name, places.join(", "), live.driver());
    for (interface, why) in live.without_xdp() {
        head += &format!("{interface}: no AF_XDP: {why}\n");
    }
    for (interface, what) in live.switched_off() {
        head += &format!("{interface}: {what} is off while the card is up\n");
    }
    head += &served;
    head += &format!("control socket {}; Ctrl-C stops it\n", setup.socket.display());
    log.say(&head);
    daemon::ready(head.lines().next().unwrap_or_default(), &setup.socket);
    let status = live.run()?;
    daemon::stopping();
    log.say(&Look::since_start(&status).summary());
    if let Some(path) = &args.json {
        let text = serde_json::to_string_pretty(&status).map_err(|error| FileError::output(path, error.into()))?;
        files::write(path, text + "\n")?;
    }
    Ok(())
}

/// An address at which the card is shown. It is taken before the card is up, so a wrong one costs no frame.
struct Page {
    option: &'static str,
    listener: TcpListener,
    at: SocketAddr,
}

impl Page {
    fn open(option: &'static str, address: &str) -> Result<Self, UpError> {
        let wrong = |source| UpError::Address { option, address: address.to_owned(), source };
        let listener = TcpListener::bind(address).map_err(wrong)?;
        let at = listener.local_addr().map_err(wrong)?;
        Ok(Self { option, listener, at })
    }

    /// Starts its server; returns the address.
    fn serve(self, start: impl FnOnce(TcpListener) -> io::Result<()>) -> Result<SocketAddr, UpError> {
        let Self { option, listener, at } = self;
        start(listener).map_err(|source| UpError::Address { option, address: at.to_string(), source })?;
        Ok(at)
    }
}

/// Starts the card in a process of its own.
fn in_background(args: &Args) -> Result<(), UpError> {
    let name = Design::read(&args.design)?.name;
    let socket = args.socket.clone().map_or_else(|| control::path_of(&name), Ok)?;
    let log = args.log.clone().unwrap_or_else(|| daemon::log_beside(&socket));
    let process = daemon::start(&log)?;
    let text = format!("{name} is up in the background: process {process}; log in {}\n", log.display());
    log::print(&text);
    Ok(())
}

fn driver(word: &str) -> Result<Driver, String> {
    Driver::parse(word).ok_or_else(|| format!("`{word}` is no driver: give auto, xdp or packet"))
}

fn port(text: &str) -> Result<(Port, String), String> {
    match text.split_once('=').map(|(port, interface)| (Port::parse(port), interface)) {
        Some((Some(port), interface)) if !interface.is_empty() => Ok((port, interface.to_string())),
        _ => Err(format!("`{text}` is no port with its interface: write PORT=IFACE, for example 0=eth1")),
    }
}
