// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock ctl capture`: frames at a port of a card that is up, as a capture.

use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal, Read, Write};
use std::net::Shutdown;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::{Args as ClapArgs, ValueEnum};
use penstock_device::files::FileError;
use penstock_engine::note;
use penstock_live::protocol::{self, Request, Way};
use penstock_live::{Copy, Filter};
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::cmd::ctl::{CtlError, Which};

/// Standard output, where a file would be named.
const STDOUT: &str = "-";
/// Time between two looks whether the user has stopped the capture.
const LOOK: Duration = Duration::from_millis(200);

/// Writes frames at a port into a pcapng file, until Ctrl-C or a limit.
#[derive(Debug, ClapArgs)]
pub(crate) struct Capture {
    /// The port: 0, 1, ... or host.
    pub port: String,
    /// The file; `-` is standard output, for example for `wireshark -k -i -`.
    #[arg(short, long, value_name = "FILE")]
    pub write: PathBuf,
    /// End after so many frames.
    #[arg(short, long, value_name = "FRAMES")]
    pub count: Option<u64>,
    /// End after so many seconds.
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds)]
    pub time: Option<Duration>,
    /// Only frames that go this way, as seen by the card.
    #[arg(long, value_enum)]
    pub way: Option<WayName>,
    /// First bytes of each frame that are kept.
    #[arg(short, long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..))]
    pub snap: Option<u32>,
    /// Only these frames, in the common part of tcpdump's language, for example `tcp port 80 and host 192.0.2.1`.
    #[arg(trailing_var_arg = true)]
    pub filter: Vec<String>,
}

/// The direction of frames at a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WayName {
    /// From the interface into the card.
    In,
    /// Out of the card.
    Out,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.001..=1e9).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| format!("`{text}` is no time: give seconds, 0.001 or more"))
}

impl Capture {
    /// Captures, and tells the number of frames on standard error.
    pub(crate) fn run(&self, which: &Which) -> Result<(), CtlError> {
        let filter = (!self.filter.is_empty()).then(|| self.filter.join(" "));
        if let Some(text) = &filter {
            text.parse::<Filter>().map_err(|error| CtlError::Arguments(error.to_string()))?;
        }
        let mut file: Box<dyn Write> = if self.write.as_os_str() == STDOUT {
            if io::stdout().is_terminal() {
                let text = "a capture is no text for a terminal: give -w FILE, or write into a pipe";
                return Err(CtlError::Arguments(text.to_owned()));
            }
            Box::new(io::stdout().lock())
        } else {
            Box::new(File::create(&self.write).map_err(|error| FileError::output(&self.write, error))?)
        };
        let request = Request::Capture {
            port: self.port.clone(),
            way: self.way.map(|way| if way == WayName::In { Way::In } else { Way::Out }),
            filter,
            snap: self.snap.unwrap_or_else(protocol::all_bytes),
            count: self.count,
            ms: self.time.and_then(|time| u64::try_from(time.as_millis()).ok()),
        };
        let stop = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // The second signal ends the program at once.
            let ends = signal_hook::flag::register_conditional_shutdown(signal, 1, Arc::clone(&stop));
            ends.and_then(|_| signal_hook::flag::register(signal, Arc::clone(&stop))).map_err(CtlError::Signals)?;
        }
        let mut client = which.connect()?;
        client.ask(&request)?;
        let mut stream = client.into_stream();
        stream.get_ref().set_read_timeout(Some(LOOK)).map_err(CtlError::Signals)?;
        let mut copy = Copy::default();
        let mut bytes = vec![0; 1 << 16];
        loop {
            if stop.load(Ordering::Relaxed) {
                // The card writes the last block then.
                let _ = stream.get_ref().shutdown(Shutdown::Write);
            }
            let read = match stream.read(&mut bytes) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => continue,
                Err(error) => return Err(FileError::input(&self.write, error, "the card has ended").into()),
            };
            match copy.take(&bytes[..read], &mut file) {
                Ok(()) => {}
                // The reader of the capture has enough.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => break,
                Err(error) => return Err(FileError::output(&self.write, error).into()),
            }
        }
        note!("{} frames captured, {} missed", copy.frames, copy.missed);
        Ok(())
    }
}
