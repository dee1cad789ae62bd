// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock up`: the card in native code between real interfaces, or a card behind a BAR.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;

use clap::Args as ClapArgs;
use penstock_device::fpga::{self, FpgaDevice, LiveCard, NoPlace, Place};
use penstock_device::{Design, DesignError, DeviceError, ForGroup, LiveDevice, Override, Policy, Port, Root, Target};
use penstock_live::{ControlError, Driver, Live, LiveError, Setup, control, exporter};

use crate::card::{Card, CardError};
use crate::cmd::run::{self, TargetName};
use crate::cmd::servers::{ServerError, Servers};
use crate::cmd::tables::Tables;
use crate::daemon::{self, DaemonError};
use crate::files::{self, FileError};
use crate::log;
use crate::show::Bar;
use crate::status::Look;
use crate::web::{self, Token, TokenError};

/// Puts a card between interfaces of this machine, as a bump in the wire, until Ctrl-C. With --target fpga: takes a card
/// behind a BAR into use.
///
/// Interfaces need the right CAP_NET_RAW (root has it; AF_XDP needs more). `penstock ctl` and `penstock top` talk to it;
/// docs/live.md is a guide.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// Manifest of the card, for example designs/forward.toml.
    pub design: PathBuf,
    /// The target that runs the design: soft or fpga.
    #[arg(long, value_enum, default_value_t = TargetName::Soft)]
    pub target: TargetName,
    /// Where the card is, on fpga: sim:SOCKET or pci:0000:81:00.0 [default: sim, a simulated card of its own]
    #[arg(long)]
    pub card: Option<String>,
    /// Interface at an Ethernet port, for example `0=eth1`. Repeatable. The ports of a card on fpga have cables of their
    /// own; of a simulated one, interfaces can be at the other ends.
    #[arg(long = "port", value_name = "PORT=IFACE", value_parser = port)]
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
    #[error("give at least one interface: --port PORT=IFACE, for example --port 0=eth1; only cards on fpga need none")]
    NoPort,
    #[error("a card on rtl carries no frames of interfaces; give --target fpga for a simulated card")]
    OnRtl,
    #[error("--card needs --target fpga")]
    CardElsewhere,
    #[error(transparent)]
    Place(#[from] NoPlace),
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error(transparent)]
    Token(#[from] TokenError),
    #[error(transparent)]
    File(#[from] FileError),
}

/// Carries frames until a signal arrives.
pub(crate) fn run(args: &Args, root: &Root) -> Result<(), UpError> {
    let place = place(args)?;
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
    let mut live = match &place {
        None => Live::open(root, &design, image, &setup)?,
        Some(place) => {
            if !setup.interfaces.is_empty() {
                fpga::accept(place)?;
            }
            let open = || {
                let mut bar = Bar::new(design.units());
                let device = FpgaDevice::open(root, &design, place, &mut |progress| bar.show(progress));
                bar.finish();
                Ok(Box::new(LiveCard::new(device?)) as Box<dyn LiveDevice>)
            };
            Live::on(root, &design, image, &setup, open)?
        }
    };
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

    let mut places: Vec<String> =
        setup.interfaces.iter().map(|(port, interface)| format!("{port} = {interface}")).collect();
    if places.is_empty() {
        places.push("its ports have cables of their own".into());
    }
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

/// Where the card is; None: in this process.
fn place(args: &Args) -> Result<Option<Place>, UpError> {
    match Target::from(args.target) {
        Target::Rtl => Err(UpError::OnRtl),
        Target::Soft if args.card.is_some() => Err(UpError::CardElsewhere),
        Target::Soft if args.ports.is_empty() => Err(UpError::NoPort),
        Target::Soft => Ok(None),
        Target::Fpga => Ok(Some(args.card.as_deref().map_or(Ok(Place::default()), str::parse)?)),
    }
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
