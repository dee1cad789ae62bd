// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `run --dump`: the tables of services, as files.

use std::path::{Path, PathBuf};

use penstock_device::{Device, DeviceError, EngineError};
use penstock_engine::{Dump, Request};
use penstock_registry::engines;
use serde_json::Value as Json;

use crate::files::{self, FileError};

/// Why tables were not written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DumpError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error("--dump {0}=...: there is no service of this name that gives tables; there are: {1}")]
    Service(String, String),
}

/// Finds out whether a service's tables can be written into a folder, and makes it.
pub(crate) fn check(service: &str, folder: &Path) -> Result<(), DumpError> {
    dump_of(service)?;
    files::make_folder(folder)?;
    Ok(files::writable(&list_of(service, folder))?)
}

/// How a service gives its tables.
fn dump_of(service: &str) -> Result<Dump, DumpError> {
    let with_tables = || engines().iter().flat_map(|engine| engine.services()).filter(|one| one.dump.is_some());
    with_tables().find(|one| one.name == service).and_then(|one| one.dump).ok_or_else(|| {
        let there = with_tables().map(|one| one.name).collect::<Vec<_>>().join(", ");
        DumpError::Service(service.to_owned(), there)
    })
}

/// The list of the files that a dump has written.
fn list_of(service: &str, folder: &Path) -> PathBuf {
    folder.join(format!("{service}s.txt"))
}

/// Writes a service's tables into a folder; they replace the files of an earlier dump there.
pub(crate) fn write(device: &mut dyn Device, service: &str, folder: &Path) -> Result<(), DumpError> {
    let dump = dump_of(service)?;
    let mut ask = |ask: Json| {
        let request = Request { service: service.to_owned(), ask };
        device.call(&request).map_err(|error| match error {
            DeviceError::Engine(error) => error,
            error => EngineError::unsupported(error.to_string()),
        })
    };
    let mut texts = dump(&mut ask)?;
    texts.sort();
    files::make_folder(folder)?;
    // Only files that an earlier dump has written are removed.
    let list = list_of(service, folder);
    if list.exists() {
        let earlier = files::read(&list, "remove it, or choose another folder")?;
        for name in earlier.lines().filter(|name| name.ends_with(".json") && !name.contains('/')) {
            files::remove(&folder.join(name))?;
        }
    }
    files::write(&list, texts.iter().map(|(name, _)| format!("{name}\n")).collect::<String>())?;
    texts.iter().try_for_each(|(name, text)| files::write(&folder.join(name), text))?;
    Ok(())
}
