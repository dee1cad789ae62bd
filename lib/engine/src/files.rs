// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Files that a user names: if one cannot be read or written, the error has the file and the way out.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The way out in messages about an input that should be a capture.
pub const CAPTURE: &str = "give a capture (pcap or pcapng), and behind it, if not 0, its port: FILE@1 or FILE@host";
/// The way out in messages about an input that should be a block list.
pub const BLOCK_LIST: &str = "give a block list, one prefix a line, for example designs/blocklist.txt";
/// Bytes of the longest file that is read whole: rules of a whole collection are a tenth of it.
pub const LONGEST: u64 = 256 << 20;
/// The way out in messages about an output.
const OUTPUT: &str = "choose a place that can be written, in a folder that is there";

/// A file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}; {way_out}", path.display())]
pub struct FileError {
    path: PathBuf,
    source: io::Error,
    way_out: &'static str,
}

impl FileError {
    /// An input that cannot be read; `way_out` names a correct one.
    pub fn input(path: &Path, source: io::Error, way_out: &'static str) -> Self {
        Self { path: path.to_path_buf(), source, way_out }
    }

    /// An output that cannot be written.
    pub fn output(path: &Path, source: io::Error) -> Self {
        Self::input(path, source, OUTPUT)
    }
}

/// Whether an input is a file that can be opened: asked before something that knows less about it opens it.
/// A pipe is not tried: it can be opened only once.
pub fn readable(path: &Path, way_out: &'static str) -> Result<(), FileError> {
    let checked = fs::metadata(path).and_then(|about| match about {
        about if about.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        about if about.is_file() => fs::File::open(path).map(drop),
        _ => Ok(()),
    });
    checked.map_err(|source| FileError::input(path, source, way_out))
}

/// Reads at most [`LONGEST`] bytes: an input without an end, such as a device, is an error.
pub fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match fs::File::open(path)?.take(LONGEST + 1).read_to_end(&mut bytes)? as u64 {
        0..=LONGEST => Ok(bytes),
        _ => Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("more than {} MiB", LONGEST >> 20))),
    }
}

/// Reads a text, as [`bytes`] does.
pub fn text(path: &Path) -> io::Result<String> {
    String::from_utf8(bytes(path)?).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Reads a text, as [`bytes`] does; `way_out` names a correct input.
pub fn read(path: &Path, way_out: &'static str) -> Result<String, FileError> {
    text(path).map_err(|source| FileError::input(path, source, way_out))
}

/// Whether an output can be written later; the check leaves no file. A pipe or a device is not tried.
pub fn writable(path: &Path) -> Result<(), FileError> {
    let checked = match fs::metadata(path) {
        Ok(about) if about.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(about) if !about.is_file() => Ok(()),
        Ok(_) => fs::OpenOptions::new().append(true).open(path).map(drop),
        Err(_) => fs::File::create_new(path).and_then(|_| fs::remove_file(path)),
    };
    checked.map_err(|source| FileError::output(path, source))
}

/// Writes a file.
pub fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), FileError> {
    fs::write(path, content).map_err(|source| FileError::output(path, source))
}

/// Removes a file, if it exists.
pub fn remove(path: &Path) -> Result<(), FileError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(FileError::output(path, error)),
        _ => Ok(()),
    }
}

/// Makes a folder and those above it.
pub fn make_folder(path: &Path) -> Result<(), FileError> {
    fs::create_dir_all(path).map_err(|source| FileError::output(path, source))
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    /// Opening a pipe blocks until a writer opens it, and closing it ends the writer's output.
    #[test]
    fn a_pipe_is_left_to_its_reader() {
        let pipe = std::env::temp_dir().join(format!("penstock-pipe-{}", std::process::id()));
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let (done, answer) = mpsc::channel();
        let asked = pipe.clone();
        std::thread::spawn(move || done.send(readable(&asked, CAPTURE).is_ok()));
        assert_eq!(answer.recv_timeout(Duration::from_secs(10)), Ok(true));
        fs::remove_file(pipe).unwrap();
    }

    #[test]
    fn an_input_without_an_end_is_refused() {
        let text = read(Path::new("/dev/zero"), CAPTURE).unwrap_err().to_string();
        assert!(text.contains("more than 256 MiB"), "{text}");
    }

    #[test]
    fn an_error_names_the_file_and_the_way_out() {
        let folder = std::env::temp_dir();
        let missing = folder.join("penstock-no-such-file");
        for error in [
            readable(&missing, CAPTURE).unwrap_err(),
            readable(&folder, CAPTURE).unwrap_err(),
            read(&missing, CAPTURE).unwrap_err(),
        ] {
            let text = error.to_string();
            assert!(text.starts_with(folder.to_str().unwrap()) && text.ends_with(CAPTURE), "{text}");
        }
        for text in [write(&missing.join("file"), ""), writable(&missing.join("file"))] {
            let text = text.unwrap_err().to_string();
            assert!(text.contains("penstock-no-such-file/file: ") && text.ends_with(OUTPUT), "{text}");
        }
    }
}
