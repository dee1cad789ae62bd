// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! How the host reaches a card's BAR: the resource file of a PCI device, or a simulated card behind a Unix socket.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// Time after which a simulated card counts as gone.
const PATIENCE: Duration = Duration::from_secs(60);

/// A region of a card's address space as PCIe carries accesses to it: 32-bit words, and no word of an access that was
/// refused.
pub trait Bar {
    /// Reads the word at an offset from the region's beginning.
    ///
    /// # Errors
    /// The card is gone.
    fn read(&mut self, offset: u32) -> io::Result<u32>;

    /// Writes a word.
    ///
    /// # Errors
    /// The card is gone.
    fn write(&mut self, offset: u32, value: u32) -> io::Result<()>;

    /// Lets about so many cycles of the card's 250 MHz go by.
    ///
    /// # Errors
    /// The card is gone.
    fn pass(&mut self, cycles: u64) -> io::Result<()>;

    /// The wires of a simulated card; none of a real one, whose wires end elsewhere.
    fn wires(&mut self) -> Option<&mut dyn Wires> {
        None
    }
}

/// The far ends of a simulated card's Ethernet cables.
pub trait Wires {
    /// Sends a frame to a port.
    ///
    /// # Errors
    /// The card is gone, or has no such port.
    fn send(&mut self, port: u32, frame: &[u8]) -> io::Result<()>;

    /// Takes the frames that have left at a port.
    ///
    /// # Errors
    /// As for [`Wires::send`].
    fn receive(&mut self, port: u32) -> io::Result<Vec<Vec<u8>>>;
}

/// Where a card is: `sim:PATH`, the socket of a simulated one, or `pci:0000:81:00.0`, a PCI address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The socket of a simulated card.
    Sim(PathBuf),
    /// A PCI device, by domain, bus, device and function.
    Pci(String),
}

/// A text that names no card.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{0}` names no card: give sim:PATH, the socket of a simulated card, or pci:0000:81:00.0, the address that lspci -D shows"
)]
pub struct NoPlace(String);

impl FromStr for Place {
    type Err = NoPlace;

    fn from_str(text: &str) -> Result<Self, NoPlace> {
        let is_hex = |part: &str, digits| part.len() == digits && part.bytes().all(|byte| byte.is_ascii_hexdigit());
        match text.split_once(':') {
            Some(("sim", path)) if !path.is_empty() => Ok(Self::Sim(path.into())),
            Some(("pci", address)) => {
                let parts: Vec<&str> = address.split([':', '.']).collect();
                match parts[..] {
                    [domain, bus, device, function]
                        if is_hex(domain, 4) && is_hex(bus, 2) && is_hex(device, 2) && is_hex(function, 1) =>
                    {
                        Ok(Self::Pci(address.to_ascii_lowercase()))
                    }
                    _ => Err(NoPlace(text.to_owned())),
                }
            }
            _ => Err(NoPlace(text.to_owned())),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sim(path) => write!(f, "sim:{}", path.display()),
            Self::Pci(address) => write!(f, "pci:{address}"),
        }
    }
}

/// A BAR through the resource file that Linux has for it. The accesses are reads and writes of the file, four bytes
/// each.
pub struct SysfsBar {
    file: File,
    base: u64,
}

impl SysfsBar {
    /// Opens BAR `number` of a PCI device and locks it, so that no second process drives the card; `base` is where our
    /// region begins.
    ///
    /// # Errors
    /// There is no such device, the user may not open it, or another process has it.
    pub fn open(devices: &Path, address: &str, number: u32, base: u64) -> io::Result<Self> {
        let path = devices.join(address).join(format!("resource{number}"));
        let file = OpenOptions::new().read(true).write(true).open(&path)?;
        file.try_lock().map_err(|_| io::Error::other("another process drives this card: end it first"))?;
        Ok(Self { file, base })
    }
}

impl Bar for SysfsBar {
    fn read(&mut self, offset: u32) -> io::Result<u32> {
        let mut word = [0; 4];
        self.file.read_exact_at(&mut word, self.base + u64::from(offset))?;
        Ok(u32::from_le_bytes(word))
    }

    fn write(&mut self, offset: u32, value: u32) -> io::Result<()> {
        self.file.write_all_at(&value.to_le_bytes(), self.base + u64::from(offset))
    }

    fn pass(&mut self, cycles: u64) -> io::Result<()> {
        std::thread::sleep(Duration::from_nanos(cycles * 4));
        Ok(())
    }
}

/// A simulated card behind a Unix socket (shell/cards/sim/opennic.cpp has the requests). Its time goes on with
/// requests only.
pub struct SimBar {
    stream: UnixStream,
}

impl SimBar {
    /// Connects to a simulated card.
    ///
    /// # Errors
    /// Nobody listens there.
    pub fn open(path: &Path) -> io::Result<Self> {
        let stream = UnixStream::connect(path)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { stream })
    }

    /// Sends a request, and takes the word of the answer.
    fn ask(&mut self, kind: u8, first: u32, second: u32, bytes: &[u8]) -> io::Result<u32> {
        let mut request = vec![kind];
        request.extend(first.to_le_bytes());
        request.extend(second.to_le_bytes());
        request.extend(bytes);
        self.stream.write_all(&request)?;
        let [status, word @ ..] = self.take::<5>()?;
        match status {
            0 => Ok(u32::from_le_bytes(word)),
            1 => Err(io::Error::other("the simulated card has no such port")),
            _ => {
                let mut text = vec![0; u32::from_le_bytes(word).min(4096) as usize];
                self.stream.read_exact(&mut text)?;
                Err(io::Error::other(format!("the simulated card broke: {}", String::from_utf8_lossy(&text))))
            }
        }
    }

    fn take<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.stream.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

impl Bar for SimBar {
    fn read(&mut self, offset: u32) -> io::Result<u32> {
        self.ask(b'R', offset, 0, &[])
    }

    fn write(&mut self, offset: u32, value: u32) -> io::Result<()> {
        self.ask(b'W', offset, value, &[]).map(|_| ())
    }

    fn pass(&mut self, cycles: u64) -> io::Result<()> {
        self.ask(b'T', cycles.min(u64::from(u32::MAX)) as u32, 0, &[]).map(|_| ())
    }

    fn wires(&mut self) -> Option<&mut dyn Wires> {
        Some(self)
    }
}

impl Wires for SimBar {
    fn send(&mut self, port: u32, frame: &[u8]) -> io::Result<()> {
        self.ask(b'F', port, frame.len() as u32, frame).map(|_| ())
    }

    fn receive(&mut self, port: u32) -> io::Result<Vec<Vec<u8>>> {
        let count = self.ask(b'G', port, 0, &[])?;
        let mut frames = Vec::new();
        for _ in 0..count {
            let length = u32::from_le_bytes(self.take::<4>()?);
            let mut frame = vec![0; length as usize];
            self.stream.read_exact(&mut frame)?;
            frames.push(frame);
        }
        Ok(frames)
    }
}
