// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! How the host reaches a card's BAR: the resource file of a PCI device, or a simulated card behind a Unix socket.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::ptr::{self, NonNull};
use std::str::FromStr;
use std::time::Duration;

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use super::shell::Shell;

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

    /// Cycles of 4 ns at the last request, if the card counts them.
    fn cycle(&self) -> Option<u64> {
        None
    }

    /// The wires of a simulated card; none of a real one, whose wires end elsewhere.
    fn wires(&mut self) -> Option<&mut dyn Wires> {
        None
    }
}

/// The far ends of a simulated card's Ethernet cables.
pub trait Wires {
    /// Lets so many cycles go by, or fewer when all frames have entered and nothing has moved on the cables for `quiet`
    /// cycles; whether it was so.
    ///
    /// # Errors
    /// The card is gone. The same holds below.
    fn run(&mut self, cycles: u64, quiet: u64) -> io::Result<bool>;

    /// From now on a byte at a port takes so many picoseconds; 80 is line rate.
    ///
    /// # Errors
    /// As above, or the card has no such port. The same holds below.
    fn pace(&mut self, port: u32, picoseconds: u32) -> io::Result<()>;

    /// Sends a frame to a port, behind those before.
    ///
    /// # Errors
    /// As above.
    fn send(&mut self, port: u32, frame: &[u8]) -> io::Result<()>;

    /// Forgets the frames that have not begun to enter.
    ///
    /// # Errors
    /// As above.
    fn forget(&mut self) -> io::Result<()>;

    /// The cycles in which frames have begun to enter at a port since the last call.
    ///
    /// # Errors
    /// As above.
    fn entered(&mut self, port: u32) -> io::Result<Vec<u64>>;

    /// Takes the frames that have left at a port.
    ///
    /// # Errors
    /// As above.
    fn receive(&mut self, port: u32) -> io::Result<Vec<Arrived>>;
}

/// A frame at the far end of a cable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrived {
    /// Cycle of its first beat.
    pub first: u64,
    /// Cycle of its last beat.
    pub last: u64,
    /// Its bytes, without FCS.
    pub bytes: Vec<u8>,
}

/// Where a card is: `sim` or `sim-corundum`, a simulated one that is started for the design, in OpenNIC's shell or
/// another one; `sim:PATH`, the socket of one that runs; or `pci:0000:81:00.0`, a PCI address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A simulated card of one's own, in this shell.
    Own(Shell),
    /// The socket of a simulated card.
    Sim(PathBuf),
    /// A PCI device, by domain, bus, device and function.
    Pci(String),
}

impl Default for Place {
    fn default() -> Self {
        Self::Own(Shell::default())
    }
}

/// A text that names no card.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{0}` names no card: give sim or sim-SHELL, a simulated card of your own, sim:PATH, the socket of one that runs, or pci:0000:81:00.0, the address that lspci -D shows"
)]
pub struct NoPlace(String);

impl FromStr for Place {
    type Err = NoPlace;

    fn from_str(text: &str) -> Result<Self, NoPlace> {
        let is_hex = |part: &str, digits| part.len() == digits && part.bytes().all(|byte| byte.is_ascii_hexdigit());
        match text.split_once(':') {
            None if text == "sim" => Ok(Self::Own(Shell::default())),
            None => {
                let shell = text.strip_prefix("sim-").and_then(|shell| shell.parse().ok());
                shell.map(Self::Own).ok_or_else(|| NoPlace(text.to_owned()))
            }
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
            Self::Own(shell) => write!(f, "sim-{shell}"),
            Self::Sim(path) => write!(f, "sim:{}", path.display()),
            Self::Pci(address) => write!(f, "pci:{address}"),
        }
    }
}

/// A BAR of memory through the resource file that Linux has for it. Linux lets such a file be mapped only; reads and
/// writes of the file itself are for BARs of I/O ports.
pub struct SysfsBar {
    /// Holds the lock.
    _file: File,
    words: NonNull<u32>,
    bytes: usize,
    base: usize,
}

impl SysfsBar {
    /// Opens the BAR and the region that the shell of a PCI device leaves to the card, as [`SysfsBar::open`].
    ///
    /// # Errors
    /// As there.
    pub fn of_card(devices: &Path, address: &str) -> io::Result<Self> {
        let id = |name| fs::read_to_string(devices.join(address).join(name)).unwrap_or_default();
        let (vendor, device) = (id("vendor"), id("device"));
        let is = |shell: &Shell| shell.pci_ids() == Some((vendor.trim(), device.trim()));
        let (number, base) = Shell::ALL.into_iter().find(is).unwrap_or_default().region();
        Self::open(devices, address, number, base)
    }

    /// Opens BAR `number` of a PCI device and locks it, so that no second process drives the card; `base` is the place
    /// in the BAR where our region begins.
    ///
    /// # Errors
    /// There is no such device, the user may not open it, another process has it, or the BAR ends before `base`.
    pub fn open(devices: &Path, address: &str, number: u32, base: usize) -> io::Result<Self> {
        let path = devices.join(address).join(format!("resource{number}"));
        let file = OpenOptions::new().read(true).write(true).open(&path)?;
        file.try_lock().map_err(|_| io::Error::other("another process drives this card: end it first"))?;
        let bytes = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
        if bytes <= base {
            let text = format!("BAR {number} has {bytes} bytes only, and the card's registers begin at {base:#x}");
            return Err(io::Error::other(text));
        }
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping of a file, at an address of the kernel's choice, aliases no memory of this program.
        let start = unsafe { mmap(ptr::null_mut(), bytes, access, MapFlags::SHARED, &file, 0)? };
        let words = NonNull::new(start.cast()).ok_or_else(|| io::Error::other("the kernel mapped the BAR at zero"))?;
        Ok(Self { _file: file, words, bytes, base })
    }

    /// The word at an offset of our region.
    fn word(&self, offset: u32) -> io::Result<NonNull<u32>> {
        let at = self.base + offset as usize;
        if !at.is_multiple_of(4) || at + 4 > self.bytes {
            return Err(io::Error::other(format!("offset {offset:#x} is no word of the card's BAR")));
        }
        // SAFETY: the word lies within the mapping, which is page-aligned.
        Ok(unsafe { self.words.byte_add(at) })
    }
}

impl Drop for SysfsBar {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and no pointer into it outlives `self`. Should it fail, the process keeps it.
        let _ = unsafe { munmap(self.words.as_ptr().cast(), self.bytes) };
    }
}

impl Bar for SysfsBar {
    fn read(&mut self, offset: u32) -> io::Result<u32> {
        // SAFETY: `word` gives aligned words of the mapping; a device changes them, hence volatile.
        Ok(u32::from_le(unsafe { self.word(offset)?.read_volatile() }))
    }

    fn write(&mut self, offset: u32, value: u32) -> io::Result<()> {
        // SAFETY: as for reads.
        unsafe { self.word(offset)?.write_volatile(value.to_le()) };
        Ok(())
    }

    fn pass(&mut self, cycles: u64) -> io::Result<()> {
        std::thread::sleep(Duration::from_nanos(cycles.saturating_mul(4)));
        Ok(())
    }
}

/// Bytes of a request without a frame.
const REQUEST_BYTES: usize = 9;
/// Writes that wait for each other at most: their answers fit into a socket.
const WRITES: usize = 512;

fn words(kind: u8, first: u32, second: u32) -> impl Iterator<Item = u8> {
    [kind].into_iter().chain(first.to_le_bytes()).chain(second.to_le_bytes())
}

/// A simulated card behind a Unix socket (shell/cards/sim/shell.h has the requests). Its time goes on with
/// requests only.
pub struct SimBar {
    stream: UnixStream,
    cycle: u64,
    /// Requests to write, which PCIe does not wait for: they go with the next other one.
    writes: Vec<u8>,
    /// The card's process, if it is ours. It ends with the stream.
    process: Option<Child>,
}

impl SimBar {
    /// Connects to a simulated card.
    ///
    /// # Errors
    /// Nobody listens there.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::on(UnixStream::connect(path)?, None)
    }

    /// Starts a simulated card of one's own, whose MACs' clocks run faster than the card's by `drift` ppm.
    ///
    /// # Errors
    /// The program cannot be started.
    pub fn start(program: &Path, drift: f64) -> io::Result<Self> {
        let (stream, other) = UnixStream::pair()?;
        // In a group of its own, so that Ctrl-C ends its host, which then ends it.
        let mut command = Command::new(program);
        command.arg("-").arg(drift.to_string()).stdin(OwnedFd::from(other)).process_group(0);
        let process = command.spawn()?;
        Self::on(stream, Some(process))
    }

    fn on(stream: UnixStream, process: Option<Child>) -> io::Result<Self> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let mut bar = Self { stream, cycle: 0, writes: Vec::new(), process };
        bar.ask(b'T', 0, 0, &[])?;
        Ok(bar)
    }

    /// Sends a request behind the writes that wait, and takes the word of its answer.
    fn ask(&mut self, kind: u8, first: u32, second: u32, bytes: &[u8]) -> io::Result<u32> {
        let mut request = std::mem::take(&mut self.writes);
        let writes = request.len() / REQUEST_BYTES;
        request.extend(words(kind, first, second));
        request.extend(bytes);
        // A card that has another owner answers and goes: the answer tells more than a broken pipe.
        let sent = self.stream.write_all(&request);
        let answered = (0..writes).try_for_each(|_| self.answer().map(|_| ())).and_then(|()| self.answer());
        match (answered, sent) {
            (Err(error), Err(broken)) if error.kind() == io::ErrorKind::UnexpectedEof => Err(broken),
            (answered, _) => answered,
        }
    }

    /// Takes the word of an answer.
    fn answer(&mut self) -> io::Result<u32> {
        let [status] = self.take()?;
        let word = self.word()?;
        self.cycle = self.long()?;
        match status {
            0 => Ok(word),
            1 => Err(io::Error::other("the simulated card has no such port")),
            3 => Err(io::Error::other("another process drives this card: end it first")),
            _ => {
                let mut text = vec![0; word.min(4096) as usize];
                self.stream.read_exact(&mut text)?;
                Err(io::Error::new(io::ErrorKind::InvalidData, String::from_utf8_lossy(&text).into_owned()))
            }
        }
    }

    fn take<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.stream.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn word(&mut self) -> io::Result<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn long(&mut self) -> io::Result<u64> {
        self.take().map(u64::from_le_bytes)
    }
}

impl Drop for SimBar {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            // It may be in the middle of a long request. Should it not end, it ends with the stream.
            let _ = process.kill().and_then(|()| process.wait());
        }
    }
}

impl Bar for SimBar {
    fn read(&mut self, offset: u32) -> io::Result<u32> {
        self.ask(b'R', offset, 0, &[])
    }

    fn write(&mut self, offset: u32, value: u32) -> io::Result<()> {
        self.writes.extend(words(b'W', offset, value));
        if self.writes.len() < WRITES * REQUEST_BYTES { Ok(()) } else { self.pass(0) }
    }

    fn pass(&mut self, cycles: u64) -> io::Result<()> {
        self.run(cycles, 0).map(|_| ())
    }

    fn cycle(&self) -> Option<u64> {
        Some(self.cycle)
    }

    fn wires(&mut self) -> Option<&mut dyn Wires> {
        Some(self)
    }
}

impl Wires for SimBar {
    fn run(&mut self, cycles: u64, quiet: u64) -> io::Result<bool> {
        let short = |cycles: u64| u32::try_from(cycles).unwrap_or(u32::MAX);
        self.ask(b'T', short(cycles), short(quiet), &[]).map(|word| word == 1)
    }

    fn pace(&mut self, port: u32, picoseconds: u32) -> io::Result<()> {
        self.ask(b'L', port, picoseconds, &[]).map(|_| ())
    }

    fn send(&mut self, port: u32, frame: &[u8]) -> io::Result<()> {
        self.ask(b'F', port, frame.len() as u32, frame).map(|_| ())
    }

    fn forget(&mut self) -> io::Result<()> {
        self.ask(b'X', 0, 0, &[]).map(|_| ())
    }

    fn entered(&mut self, port: u32) -> io::Result<Vec<u64>> {
        let count = self.ask(b'E', port, 0, &[])?;
        (0..count).map(|_| self.long()).collect()
    }

    fn receive(&mut self, port: u32) -> io::Result<Vec<Arrived>> {
        let count = self.ask(b'G', port, 0, &[])?;
        (0..count)
            .map(|_| {
                let mut bytes = vec![0; self.word()? as usize];
                let (first, last) = (self.long()?, self.long()?);
                self.stream.read_exact(&mut bytes)?;
                Ok(Arrived { first, last, bytes })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: &str = "0000:81:00.0";

    /// A file in place of a BAR: the places of words, those out of reach, and the lock of the one driver.
    #[test]
    fn a_bar_has_words_within_its_bounds_and_one_driver() {
        let devices = std::env::temp_dir().join(format!("penstock-bar-{}", std::process::id()));
        let file = devices.join(ADDRESS).join("resource2");
        fs::create_dir_all(devices.join(ADDRESS)).unwrap();
        fs::write(&file, [0; 0x3000]).unwrap();
        let open = |base| SysfsBar::open(&devices, ADDRESS, 2, base);
        assert!(open(0x3000).is_err_and(|error| error.to_string().contains("12288 bytes only")));
        let mut bar = open(0x2000).unwrap();
        assert!(open(0x2000).is_err_and(|error| error.to_string().contains("another process")));
        bar.write(0, 0x0403_0201).unwrap();
        bar.write(0xFFC, u32::MAX).unwrap();
        assert_eq!((bar.read(0).unwrap(), bar.read(4).unwrap(), bar.read(0xFFC).unwrap()), (0x0403_0201, 0, u32::MAX));
        assert!(bar.read(0x1000).is_err() && bar.write(0x1000, 0).is_err() && bar.read(2).is_err());
        drop(bar);
        let mut expected = vec![0; 0x3000];
        expected[0x2000..0x2004].copy_from_slice(&[1, 2, 3, 4]);
        expected[0x2FFC..].fill(0xFF);
        assert_eq!(fs::read(&file).unwrap(), expected);
        assert!(open(0).is_ok(), "the lock ends with its owner");
        // Corundum's cards are known by their numbers, and their region begins where the BAR does.
        let place = || SysfsBar::of_card(&devices, ADDRESS).map(|bar| bar.base).map_err(|error| error.to_string());
        assert!(place().is_err_and(|error| error.contains("begin at 0x200000")));
        for (name, id) in [("vendor", "0x1234\n"), ("device", "0x1001\n")] {
            fs::write(devices.join(ADDRESS).join(name), id).unwrap();
        }
        assert_eq!(place(), Ok(0));
        fs::remove_dir_all(devices).unwrap();
    }

    #[test]
    fn places_of_cards() {
        let place = |text: &str| text.parse::<Place>().ok();
        assert_eq!(place("sim"), Some(Place::Own(Shell::OpenNic)));
        assert_eq!(place("sim-corundum"), Some(Place::Own(Shell::Corundum)));
        assert_eq!(place("sim:/run/card"), Some(Place::Sim("/run/card".into())));
        assert_eq!(place("pci:0000:81:00.0").map(|place| place.to_string()), Some("pci:0000:81:00.0".into()));
        for text in ["", "sim-", "sim-mine", "sim:", "pci:", "pci:81:00.0", "pci:0000:81:00", "pci:../..:0.0", "usb:1"]
        {
            assert_eq!(place(text), None, "{text}");
        }
    }
}
