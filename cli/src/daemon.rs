// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A card in the background: `up --daemon`, and the messages of systemd's protocol (sd_notify(3)).

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use penstock_live::protocol::Request;
use penstock_live::{Client, ControlError, control};
use sd_notify::NotifyState;

/// Time between two looks at a card that is starting.
const LOOK: Duration = Duration::from_millis(100);
/// Lines of the log that tell why a card has not started.
const LAST_LINES: usize = 20;

/// Why no card is in the background.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DaemonError {
    #[error("{}: {source}; give another file: --log FILE", path.display())]
    Log { path: PathBuf, source: io::Error },
    #[error("cannot start a process in the background: {0}")]
    Start(io::Error),
    #[error("the card has not started ({status}); the end of {}:\n{last}", log.display())]
    Ended { status: ExitStatus, log: PathBuf, last: String },
    #[error(transparent)]
    Control(#[from] ControlError),
}

/// A file that goes with this value.
struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        // Nobody uses it any more.
        let _ = fs::remove_file(&self.0);
    }
}

/// Starts this command again in a session of its own, without `--daemon` and `--log`, and waits until its card carries
/// frames. Returns its process.
pub(crate) fn start(log: &Path) -> Result<u32, DaemonError> {
    let failed = |source| DaemonError::Log { path: log.to_path_buf(), source };
    let out = File::options().create(true).append(true).open(log).map_err(failed)?;
    let before = out.metadata().map_err(failed)?.len();
    let err = out.try_clone().map_err(failed)?;
    let place = control::folder()?.join(format!("start-{}.notify", std::process::id()));
    let ready = UnixDatagram::bind(&place).map_err(DaemonError::Start)?;
    let _removed = Removed(place.clone());
    ready.set_read_timeout(Some(LOOK)).map_err(DaemonError::Start)?;
    let program = env::current_exe().map_err(DaemonError::Start)?;
    let mut command = Command::new(program);
    command.args(without_daemon(env::args_os().skip(1)));
    command.env("NOTIFY_SOCKET", &place).stdin(Stdio::null()).stdout(out).stderr(err);
    // SAFETY: between fork and exec the child only makes one system call.
    unsafe { command.pre_exec(|| Ok(rustix::process::setsid().map(drop)?)) };
    let mut child = command.spawn().map_err(DaemonError::Start)?;
    loop {
        let mut message = [0; 4096];
        if let Ok(length) = ready.recv(&mut message)
            && message[..length].split(|byte| *byte == b'\n').any(|line| line == b"READY=1")
        {
            return Ok(child.id());
        }
        if let Some(status) = child.try_wait().map_err(DaemonError::Start)? {
            let written = fs::read(log).unwrap_or_default();
            let written = String::from_utf8_lossy(written.get(before as usize..).unwrap_or_default()).into_owned();
            let lines: Vec<&str> = written.lines().collect();
            let last = lines[lines.len().saturating_sub(LAST_LINES)..].join("\n");
            return Err(DaemonError::Ended { status, log: log.to_path_buf(), last });
        }
    }
}

/// The words of a command, without those that are about the background.
fn without_daemon(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words = words;
    let mut left = Vec::new();
    while let Some(word) = words.next() {
        if word == "--log" {
            // Its value
            words.next();
        } else if word != "--daemon" && !word.as_encoded_bytes().starts_with(b"--log=") {
            left.push(word);
        }
    }
    left
}

/// Tells the service manager that the card carries frames. If it watches the card, a thread from now on tells it that
/// the card's own thread answers.
pub(crate) fn ready(status: &str, socket: &Path) {
    // Without a service manager there is nobody to tell, and one that is gone is no reason to stop.
    let _ = sd_notify::notify(&[NotifyState::Ready, NotifyState::Status(status)]);
    if let Some(period) = sd_notify::watchdog_enabled() {
        let socket = socket.to_path_buf();
        thread::spawn(move || watch(&socket, period));
    }
}

/// Tells the service manager that the card is ending.
pub(crate) fn stopping() {
    let _ = sd_notify::notify(&[NotifyState::Stopping]);
}

/// Sends a sign of life twice in each period, as long as the card answers within one.
fn watch(socket: &Path, period: Duration) {
    loop {
        let Ok(mut client) = Client::connect(socket) else { return };
        if client.set_timeout(period).is_ok() {
            while client.ask(&Request::Status).is_ok() {
                let _ = sd_notify::notify(&[NotifyState::Watchdog]);
                thread::sleep(period / 2);
            }
        }
        thread::sleep(period / 2);
    }
}

/// The log of a card that is not given another: beside its control socket.
pub(crate) fn log_beside(socket: &Path) -> PathBuf {
    socket.with_extension(OsStr::new("log"))
}
