// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The control socket: its place, its server, and the client.
//!
//! Each connection has a thread that reads requests. Requests that touch the card go to the card's own thread, which
//! looks at them between frames. The connection's thread compiles programs and tables, so frames do not wait for the
//! compiler. From the compilation until the programs run no other connection may change any, so the result fits the
//! programs that ran when the compilation began.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;

use penstock_device::{
    Design, DesignError, Device, DeviceError, ForGroup, Image, Override, PartId, PartImage, Port, Root, SoftDevice,
};
use rustix::fs::Mode;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use tracing::info;

use crate::filter::FilterError;
use crate::lines::{self, Line};
use crate::protocol::{Answer, Loaded, ProgramAbout, Reply, Request, Way};
use crate::tap::{Frames, Limits, Tap};

/// Time for another user's request to arrive before it is refused.
const STRANGER: Duration = Duration::from_secs(1);
/// Bytes of the longest request.
const MAX_LINE: u64 = 4 << 20;
/// Connections that wait until they are taken.
const BACKLOG: i32 = 128;
/// Clients at the same time.
const CLIENTS: usize = 128;
/// Time for the rest of a request to arrive.
const REST: Duration = Duration::from_secs(30);
/// Pause after a connection that could not be taken.
const REFUSED: Duration = Duration::from_millis(20);

/// A control socket that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// The folder for sockets is not safe.
    #[error("{}: {problem}; make it a folder of your own that nobody else can enter, or give --socket", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The fault in it.
        problem: String,
    },
    /// Another card has it.
    #[error("{} is in use: this design is up already; stop that one, or give this one another --socket", .0.display())]
    InUse(PathBuf),
    /// Linux takes no socket there.
    #[error("{}: a path of a socket has at most 107 bytes; give a shorter one: --socket PATH", .0.display())]
    Long(PathBuf),
    /// No card serves the socket.
    #[error("no card is up at {}; `penstock up` starts one", .0.display())]
    NotUp(PathBuf),
    /// None is up.
    #[error("no card is up (there is no socket in {}); `penstock up` starts one", .0.display())]
    NoneUp(PathBuf),
    /// Several are up.
    #[error("several cards are up: {}; name one of them", .0.join(", "))]
    Several(Vec<String>),
    /// The connection broke.
    #[error("{}: {source}", path.display())]
    Io {
        /// The socket.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The card understood something else.
    #[error("the card answered what is not understood here ({0}); are both of the same version?")]
    Answer(String),
    /// The card refused.
    #[error("{0}")]
    Refused(String),
}

/// The folder of this user's sockets: $XDG_RUNTIME_DIR or /run/user/UID, else a private folder in /tmp.
pub fn folder() -> Result<PathBuf, ControlError> {
    let fail = |path: &Path, problem: String| ControlError::Folder { path: path.to_path_buf(), problem };
    let user = fs::metadata("/proc/self").map_err(|e| fail(Path::new("/proc/self"), e.to_string()))?.uid();
    let of_user = PathBuf::from(format!("/run/user/{user}"));
    let path = match std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from) {
        Some(path) if path.is_dir() => path.join("penstock"),
        _ if of_user.is_dir() => of_user.join("penstock"),
        _ => PathBuf::from(format!("/tmp/penstock-{user}")),
    };
    match DirBuilder::new().mode(0o700).create(&path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(fail(&path, error.to_string())),
        _ => {}
    }
    // In /tmp any user could have made it.
    let about = fs::symlink_metadata(&path).map_err(|e| fail(&path, e.to_string()))?;
    if !about.is_dir() || about.uid() != user || about.mode() & 0o077 != 0 {
        return Err(fail(&path, "is not a folder that only you can enter".to_string()));
    }
    Ok(path)
}

/// The socket of a design.
pub fn path_of(design: &str) -> Result<PathBuf, ControlError> {
    let plain = |c: char| if c.is_alphanumeric() || "-_".contains(c) { c } else { '-' };
    Ok(folder()?.join(design.chars().map(plain).collect::<String>()).with_extension("sock"))
}

/// The sockets of all cards that are up.
pub fn all() -> Result<Vec<PathBuf>, ControlError> {
    let folder = folder()?;
    let entries = fs::read_dir(&folder).map_err(|source| ControlError::Io { path: folder.clone(), source })?;
    let sockets = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let mut up: Vec<PathBuf> = sockets.filter(|path| UnixStream::connect(path).is_ok()).collect();
    up.sort();
    Ok(up)
}

/// The socket of the only card that is up.
pub fn only() -> Result<PathBuf, ControlError> {
    let mut up = all()?;
    let name = |path: &PathBuf| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    match up.len() {
        0 => Err(ControlError::NoneUp(folder()?)),
        1 => Ok(up.remove(0)),
        _ => Err(ControlError::Several(up.iter().map(name).collect())),
    }
}

/// Something for the card's thread to do, and where the answer goes.
pub struct Command {
    pub(crate) what: What,
    pub(crate) answer: Sender<Answer>,
}

/// The actions of a card's thread.
pub(crate) enum What {
    /// All actions without a compilation.
    Request(Request),
    /// Loads programs and tables of some groups of units, by their indices.
    Reload(Box<(Design, Vec<usize>, Image)>),
    /// Gives a part another program.
    Swap(Box<Changed>),
    /// Fills tables of a part again.
    Refill(Box<Changed>),
    /// Copies frames.
    Tap(Tap),
}

/// The new design, and the image of the part that changes.
#[derive(Clone)]
pub(crate) struct Changed {
    /// The design with the change.
    pub design: Design,
    /// The image.
    pub image: PartImage,
}

/// The served socket; the file goes with it.
pub struct Server {
    path: PathBuf,
    pub(crate) commands: Receiver<Command>,
    /// Has something to read when there is a command.
    pub(crate) wake: UnixStream,
    /// The running design: reloads start from it.
    pub(crate) design: Arc<Mutex<Design>>,
}

/// The state that all connections share.
#[derive(Clone)]
struct Shared {
    root: Root,
    design: Arc<Mutex<Design>>,
    /// Held by the thread that changes programs or tables.
    change: Arc<Mutex<()>>,
    /// Programs that wait for a swap, each with its file.
    waiting: Arc<Mutex<BTreeMap<PartId, (PathBuf, PartImage)>>>,
}

/// The present or the next program of a part.
pub(crate) fn about(design: &Design, file: &Path, image: &PartImage) -> ProgramAbout {
    let (group, units) = match image.part {
        PartId::Units(group) => {
            let group = &design.groups[group];
            (&group.name, Some((group.units.start, group.units.end)))
        }
        PartId::Inline(block) => (&design.inline[block].name, None),
    };
    ProgramAbout {
        group: group.clone(),
        engine: image.engine.name().to_owned(),
        units,
        file: file.to_owned(),
        name: image.image.name().map(str::to_owned),
        tables: image.image.tables(),
    }
}

/// Starts a program on a separate card, so that a program that does not start never reaches the live card.
fn try_out(design: &Design, start: impl FnOnce(&mut SoftDevice) -> Result<(), DeviceError>) -> Result<(), String> {
    let tried = SoftDevice::open(design).and_then(|mut device| start(&mut device));
    tried.map_err(|error| format!("{error}; the program before goes on"))
}

/// A socket file that from its creation on no other user may open.
fn listen(path: &Path) -> io::Result<UnixListener> {
    let socket = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    // Linux makes the file with the mode of the socket.
    rustix::fs::fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
    net::bind(&socket, &SocketAddrUnix::new(path)?)?;
    net::listen(&socket, BACKLOG)?;
    Ok(UnixListener::from(socket))
}

/// Answers a client that is not served. If it has gone, it does not need the answer.
fn refuse(mut stream: &UnixStream, why: &str) {
    if let Ok(text) = serde_json::to_string(&Answer::Error(why.to_owned())) {
        let _ = stream.set_nonblocking(true).and_then(|()| writeln!(stream, "{text}"));
    }
}

/// Whether the other end is a process of this user, or of root.
fn is_of_user(stream: &UnixStream) -> io::Result<bool> {
    let peer = net::sockopt::socket_peercred(stream)?.uid;
    Ok(peer.is_root() || peer == rustix::process::geteuid())
}

impl Server {
    /// Refuses the place of another card's socket, or one where none can be.
    pub fn check(path: &Path) -> Result<(), ControlError> {
        if UnixStream::connect(path).is_ok() {
            return Err(ControlError::InUse(path.to_path_buf()));
        }
        let io = |source: io::Error| ControlError::Io { path: path.to_path_buf(), source };
        if SocketAddrUnix::new(path).is_err() {
            return Err(ControlError::Long(path.to_path_buf()));
        }
        if fs::symlink_metadata(path).is_ok_and(|about| !about.file_type().is_socket()) {
            return Err(io(io::ErrorKind::AddrInUse.into()));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let is_folder = fs::metadata(folder).map_err(io)?.is_dir();
        is_folder.then_some(()).ok_or_else(|| io(io::ErrorKind::NotADirectory.into()))
    }

    /// Serves a card of this design.
    pub fn start(path: &Path, root: &Root, design: &Design) -> Result<Self, ControlError> {
        let io = |source| ControlError::Io { path: path.to_path_buf(), source };
        Self::check(path)?;
        // Removes the socket of a killed card; nothing else is removed.
        if fs::symlink_metadata(path).is_ok_and(|about| about.file_type().is_socket()) {
            fs::remove_file(path).map_err(io)?;
        }
        let listener = listen(path).map_err(|source| match source.kind() {
            io::ErrorKind::InvalidFilename => ControlError::Long(path.to_path_buf()),
            _ => io(source),
        })?;
        let (sender, commands) = mpsc::channel();
        let (wake, waker) = UnixStream::pair().map_err(io)?;
        for end in [&wake, &waker] {
            end.set_nonblocking(true).map_err(io)?;
        }
        let design = Arc::new(Mutex::new(design.clone()));
        let shared =
            Shared { root: root.clone(), design: design.clone(), change: Arc::default(), waiting: Arc::default() };
        // Each client has a copy.
        let clients = Arc::new(());
        thread::spawn(move || {
            for stream in listener.incoming() {
                match stream.and_then(|stream| Ok((stream, waker.try_clone()?))) {
                    Ok((stream, _)) if Arc::strong_count(&clients) > CLIENTS => {
                        refuse(&stream, &format!("{CLIENTS} clients are connected already; end one of them"));
                    }
                    Ok((stream, waker)) => {
                        let connection = Connection { shared: shared.clone(), sender: sender.clone(), waker };
                        let client = Arc::clone(&clients);
                        thread::spawn(move || {
                            connection.serve(stream);
                            drop(client);
                        });
                    }
                    // Most likely out of descriptors: the error would return at once.
                    Err(_) => thread::sleep(REFUSED),
                }
            }
        });
        Ok(Self { path: path.to_path_buf(), commands, wake, design })
    }

    /// Reads and discards the bytes at `wake`.
    pub(crate) fn quiet(&mut self) {
        let mut bytes = [0; 64];
        while matches!(self.wake.read(&mut bytes), Ok(1..)) {}
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The next card recognises a remaining file.
        let _ = fs::remove_file(&self.path);
    }
}

/// One client.
struct Connection {
    shared: Shared,
    sender: Sender<Command>,
    waker: UnixStream,
}

impl Connection {
    fn serve(&self, stream: UnixStream) {
        let Ok(mut out) = stream.try_clone() else { return };
        if !is_of_user(&stream).unwrap_or(false) {
            // If the server closes a stream with an unread request, the client sees a reset instead of the refusal. One
            // read takes any ordinary request; a stranger who sends slowly holds this thread no longer than that.
            let _ = stream.set_read_timeout(Some(STRANGER));
            let _ = (&stream).read(&mut [0; 4096]);
            refuse(&stream, "this card belongs to another user, who alone controls it");
            return;
        }
        if stream.set_read_timeout(Some(REST)).is_err() {
            return;
        }
        let mut lines = BufReader::new(stream);
        let mut line = Vec::new();
        loop {
            line.clear();
            // A client may wait between two requests, but not within one.
            let whole = loop {
                match lines::next(&mut lines, MAX_LINE, &mut line) {
                    Ok(Line::End) => return,
                    Ok(found) => break found == Line::Whole,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock && line.is_empty() => {}
                    Err(_) => return,
                }
            };
            let request = if whole { Some(serde_json::from_slice(&line)) } else { None };
            let answer = match request {
                None => {
                    let most = MAX_LINE >> 20;
                    Answer::Error(format!("a request has up to {most} MiB, and this one has more: give shorter files"))
                }
                Some(Ok(Request::Capture { port, way, filter, snap, count, ms })) => {
                    match self.tap(&port, way, filter.as_deref(), snap) {
                        Ok(frames) => {
                            let limits = Limits { count, time: ms.map(Duration::from_millis) };
                            if out.write_all(b"{\"ok\":{}}\n").is_ok() {
                                // A reader that is gone or too slow has ended its capture.
                                let _ = frames.write(&out, &self.design().name, limits);
                            }
                            return;
                        }
                        Err(why) => Answer::Error(why),
                    }
                }
                Some(Ok(request)) => self.answer_and_log(request),
                Some(Err(error)) => Answer::Error(format!("this is no request: {error}")),
            };
            let Ok(mut text) = serde_json::to_string(&answer) else { return };
            text.push('\n');
            if out.write_all(text.as_bytes()).is_err() {
                return;
            }
        }
    }

    /// Begins to copy frames.
    fn tap(&self, port: &str, way: Option<Way>, filter: Option<&str>, snap: u32) -> Result<Frames, String> {
        let at = Port::parse(port).ok_or_else(|| format!("`{port}` is no port: give 0, 1, ... or host"))?;
        let filter = filter.map(str::parse).transpose().map_err(|error: FilterError| error.to_string())?;
        let (tap, frames) = Tap::new(at, way, filter, snap);
        match self.order(What::Tap(tap)) {
            Answer::Ok(_) => Ok(frames),
            Answer::Error(why) => Err(why),
        }
    }

    /// Has the card's thread do something, and waits for its answer.
    fn order(&self, what: What) -> Answer {
        let gone = || Answer::Error("the card is being stopped".to_string());
        let (answer, answered) = mpsc::channel();
        if self.sender.send(Command { what, answer }).is_err() {
            return gone();
        }
        // When it is full, the card's thread is awake already.
        let _ = (&self.waker).write(&[0]);
        answered.recv().unwrap_or_else(|_| gone())
    }

    /// Answers a request. The log has what changes programs, tables, or the units that get frames.
    fn answer_and_log(&self, request: Request) -> Answer {
        let is_of_log = matches!(
            request,
            Request::Reload { .. }
                | Request::Swap { .. }
                | Request::Table { .. }
                | Request::Ingress { .. }
                | Request::Enable { .. }
                | Request::Disable { .. }
        );
        let words = if is_of_log { serde_json::to_string(&request).ok() } else { None };
        let answer = self.answer(request);
        match (words, &answer) {
            (Some(request), Answer::Ok(_)) => info!(%request, "changed"),
            (Some(request), Answer::Error(why)) => info!(%request, %why, "not changed"),
            (None, _) => {}
        }
        answer
    }

    fn answer(&self, request: Request) -> Answer {
        let changes = matches!(
            request,
            Request::Reload { .. }
                | Request::Load { .. }
                | Request::Swap { .. }
                | Request::Table { .. }
                | Request::Ingress { .. }
        );
        let _only = match changes.then(|| self.shared.change.try_lock()) {
            Some(Err(TryLockError::WouldBlock)) => {
                let text = "programs or tables are being changed already; wait until that is done";
                return Answer::Error(text.to_string());
            }
            // A thread that panicked has not changed anything.
            Some(Err(TryLockError::Poisoned(lock))) => Some(lock.into_inner()),
            Some(Ok(lock)) => Some(lock),
            None => None,
        };
        if let Request::Load { group, program } = request {
            let loaded = self.load(group, program);
            return loaded.map_or_else(Answer::Error, |load| {
                Answer::Ok(Box::new(Reply { load: Some(load), ..Reply::default() }))
            });
        }
        let lists = matches!(request, Request::Programs);
        let mut waited = None;
        let what = match request {
            Request::Reload { group, program, tables } => {
                self.reload(group, program, tables).map(|all| What::Reload(Box::new(all)))
            }
            Request::Swap { group, program } => self.swap(group, program).map(|(changed, has_waited)| {
                waited = has_waited.then_some(changed.image.part);
                What::Swap(Box::new(changed))
            }),
            Request::Table { name, file } => self.table(name, file).map(|changed| What::Refill(Box::new(changed))),
            request => Ok(What::Request(request)),
        };
        match what {
            Err(why) => Answer::Error(why),
            Ok(what) => {
                let mut answer = self.order(what);
                if let Answer::Ok(reply) = &mut answer
                    && lists
                {
                    reply.waiting = Some(self.waiting());
                }
                // One that could not be swapped in waits on.
                if let (Answer::Ok(_), Some(part)) = (&answer, waited) {
                    self.shared.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&part);
                }
                answer
            }
        }
    }

    /// Programs that wait for a swap.
    fn waiting(&self) -> Vec<ProgramAbout> {
        let design = self.design();
        let waiting = self.shared.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.values().map(|(file, image)| about(&design, file, image)).collect()
    }

    /// What runs.
    fn design(&self) -> Design {
        self.shared.design.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The running design with other programs and tables, and the groups of units to load: those with a new program or
    /// table, else all. The programs first start on a separate card: a program that does not start there never reaches
    /// the live card.
    fn reload(
        &self,
        group: Option<String>,
        program: Option<PathBuf>,
        tables: BTreeMap<String, PathBuf>,
    ) -> Result<(Design, Vec<usize>, Image), String> {
        let design = self.design();
        let of_program = program.iter().map(|program| design.part_for(group.as_deref(), program));
        let of_tables = tables.keys().map(|name| Ok(design.find_table(name)?.0));
        let units = |part: Result<PartId, DesignError>| match part? {
            PartId::Units(group) => Ok(group),
            PartId::Inline(_) => {
                let text = "an inline block gets another program between two frames: `ctl prog swap`";
                Err(DesignError::Option(text.to_owned()))
            }
        };
        let groups = of_program.chain(of_tables).map(units).collect::<Result<BTreeSet<_>, DesignError>>();
        let mut groups: Vec<usize> = groups.map_err(|error| error.to_string())?.into_iter().collect();
        if groups.is_empty() {
            groups = (0..design.groups.len()).collect();
        }
        let programs = program.into_iter().map(|value| ForGroup { group: group.clone(), value }).collect();
        let change = Override { programs, tables: tables.into_iter().collect(), ..Override::default() };
        let design = design.with(change).map_err(|error| error.to_string())?;
        let image = Image::with_given(&self.shared.root, &design, |_| true).map_err(|error| error.to_string())?;
        try_out(&design, |device| device.load(&image))?;
        Ok((design, groups, image))
    }

    /// The running design with another program for one part, which has started on a separate card first.
    fn with_program(&self, part: PartId, program: PathBuf) -> Result<Changed, String> {
        let mut design = self.design();
        design.set_program(part, program);
        let image = PartImage::alone(&self.shared.root, &design, part).map_err(|error| error.to_string())?;
        match part {
            PartId::Units(_) => try_out(&design, |device| device.swap(&image).map(drop))?,
            // Blocks are loaded with the whole card.
            PartId::Inline(_) => {
                let all = Image::with_given(&self.shared.root, &design, |_| true).map_err(|error| error.to_string())?;
                try_out(&design, |device| device.load(&all))?;
            }
        }
        Ok(Changed { design, image })
    }

    /// The part that a program is for: one of that name, or the only one.
    fn part(&self, design: &Design, group: Option<&str>, program: Option<&Path>) -> Result<PartId, String> {
        let by_name = |name: &str| design.inline.iter().position(|block| block.name == name).map(PartId::Inline);
        let found = match (program, group.and_then(by_name)) {
            (Some(program), _) => design.part_for(group, program),
            (None, Some(block)) => Ok(block),
            (None, None) => design.find("program", group).map(PartId::Units),
        };
        found.map_err(|error| error.to_string())
    }

    /// Has a program of a part wait for a swap.
    fn load(&self, group: Option<String>, program: PathBuf) -> Result<Loaded, String> {
        let part = self.part(&self.design(), group.as_deref(), Some(&program))?;
        let Changed { design, image } = self.with_program(part, program.clone())?;
        let loaded = Loaded { program: about(&design, &program, &image), messages: image.image.messages().to_owned() };
        let mut waiting = self.shared.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.insert(part, (program, image));
        Ok(loaded)
    }

    /// The running design with another program for a part, and whether that program was waiting: the given program, the
    /// waiting one, or the running one. A request without program and group means the only program that waits.
    fn swap(&self, group: Option<String>, program: Option<PathBuf>) -> Result<(Changed, bool), String> {
        let mut design = self.design();
        let waiting = self.shared.waiting.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let part = match (&group, &program, waiting.keys().next()) {
            (None, None, Some(only)) if waiting.len() == 1 => *only,
            _ => self.part(&design, group.as_deref(), program.as_deref())?,
        };
        match (program, waiting.get(&part)) {
            (None, Some((file, image))) => {
                design.set_program(part, file.clone());
                Ok((Changed { design, image: image.clone() }, true))
            }
            (program, _) => {
                let program = program.unwrap_or_else(|| design.program(part).to_owned());
                Ok((self.with_program(part, program)?, false))
            }
        }
    }

    /// The running design with another file for a table.
    fn table(&self, name: String, file: PathBuf) -> Result<Changed, String> {
        let design = self.design();
        let (part, _) = design.find_table(&name).map_err(|error| error.to_string())?;
        let change = Override { tables: vec![(name, file)], ..Override::default() };
        let design = design.with(change).map_err(|error| error.to_string())?;
        let image = PartImage::alone(&self.shared.root, &design, part);
        Ok(Changed { image: image.map_err(|error| error.to_string())?, design })
    }
}

/// A connection to a card that is up.
pub struct Client {
    path: PathBuf,
    lines: BufReader<UnixStream>,
}

impl Client {
    /// Connects to the card at a socket.
    pub fn connect(path: &Path) -> Result<Self, ControlError> {
        let stream = UnixStream::connect(path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => ControlError::NotUp(path.to_path_buf()),
            _ => ControlError::Io { path: path.to_path_buf(), source },
        })?;
        Ok(Self { path: path.to_path_buf(), lines: BufReader::new(stream) })
    }

    /// Limits the time that the card has for an answer. After an error the connection is of no use.
    ///
    /// # Errors
    /// The time is zero.
    pub fn set_timeout(&self, time: Duration) -> io::Result<()> {
        self.lines.get_ref().set_read_timeout(Some(time))
    }

    /// The stream behind the answer to a request: a capture.
    pub fn into_stream(self) -> BufReader<UnixStream> {
        self.lines
    }

    /// Asks, and waits for the answer.
    pub fn ask(&mut self, request: &Request) -> Result<Reply, ControlError> {
        let mut line = serde_json::to_string(request).map_err(|error| ControlError::Answer(error.to_string()))?;
        line.push('\n');
        let path = &self.path;
        let io = |source: io::Error| match source.kind() {
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => ControlError::NotUp(path.clone()),
            _ => ControlError::Io { path: path.clone(), source },
        };
        self.lines.get_mut().write_all(line.as_bytes()).map_err(io)?;
        line.clear();
        if self.lines.read_line(&mut line).map_err(io)? == 0 {
            return Err(ControlError::NotUp(path.clone()));
        }
        match serde_json::from_str(&line).map_err(|error| ControlError::Answer(error.to_string()))? {
            Answer::Ok(reply) => Ok(*reply),
            Answer::Error(why) => Err(ControlError::Refused(why)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::mem::MaybeUninit;
    use std::os::unix::fs::PermissionsExt;

    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};

    use super::*;

    /// There is no time in which others can connect: the file has its rights when it is made, and they never change.
    #[test]
    fn a_socket_is_made_for_its_user_alone() {
        let folder = std::env::temp_dir().join(format!("penstock-listen-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let events = inotify::init(CreateFlags::NONBLOCK).unwrap();
        inotify::add_watch(&events, &folder, WatchFlags::CREATE | WatchFlags::ATTRIB).unwrap();
        let socket = listen(&folder.join("card.sock")).unwrap();
        assert_eq!(fs::metadata(folder.join("card.sock")).unwrap().permissions().mode() & 0o777, 0o600);
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = inotify::Reader::new(&events, &mut buffer);
        let mut seen = Vec::new();
        while let Ok(event) = reader.next() {
            seen.push(event.events());
        }
        assert_eq!(seen, [ReadFlags::CREATE]);
        drop(socket);
        fs::remove_dir_all(&folder).unwrap();
    }
}
