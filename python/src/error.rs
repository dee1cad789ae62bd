// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Errors as Python exceptions, with the messages of the command line.

use penstock_device::capture::CaptureError as DeviceCaptureError;
use penstock_device::files::FileError as DeviceFileError;
use penstock_device::{DesignError as DeviceDesignError, DeviceError, EngineError, ErrorKind, RootError};
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(
    penstock,
    PenstockError,
    PyException,
    "Whatever Penstock could not do; the message says the way out."
);
create_exception!(penstock, DesignError, PenstockError, "A design, or a change of one, that is no card.");
create_exception!(penstock, ProgramError, PenstockError, "A program that does not compile or does not fit.");
create_exception!(penstock, TableError, PenstockError, "A list that is no table of an accelerator.");
create_exception!(penstock, CaptureError, PenstockError, "A capture that cannot be read or written.");
create_exception!(penstock, FileError, PenstockError, "A file that cannot be read or written.");
create_exception!(penstock, BuildError, PenstockError, "The model of the card's RTL could not be built.");
create_exception!(penstock, CardError, PenstockError, "The card did not come up, or broke a contract of its own.");
create_exception!(penstock, AccessError, PenstockError, "There is no such register or memory.");
create_exception!(penstock, ServiceError, PenstockError, "A service that does not do what it was asked.");
create_exception!(penstock, UnsupportedError, PenstockError, "The target or the card cannot do this.");

/// Puts the exceptions into the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    for class in [
        py.get_type::<PenstockError>(),
        py.get_type::<DesignError>(),
        py.get_type::<ProgramError>(),
        py.get_type::<TableError>(),
        py.get_type::<CaptureError>(),
        py.get_type::<FileError>(),
        py.get_type::<BuildError>(),
        py.get_type::<CardError>(),
        py.get_type::<AccessError>(),
        py.get_type::<ServiceError>(),
        py.get_type::<UnsupportedError>(),
    ] {
        module.add(class.name()?, &class)?;
    }
    Ok(())
}

/// An error of the device crate on its way to Python.
#[derive(Debug)]
pub enum Error {
    /// No checkout.
    Root(RootError),
    /// The design.
    Design(DeviceDesignError),
    /// An engine.
    Engine(EngineError),
    /// A file.
    File(DeviceFileError),
    /// A capture.
    Capture(DeviceCaptureError),
    /// The device.
    Device(DeviceError),
    /// A word that is none of those there are.
    Word(String),
}

macro_rules! from {
    ($($variant:ident($error:ty)),*) => {
        $(impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Self::$variant(error)
            }
        })*
    };
}
from!(
    Root(RootError),
    Design(DeviceDesignError),
    Engine(EngineError),
    File(DeviceFileError),
    Capture(DeviceCaptureError),
    Device(DeviceError)
);

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        match error {
            Error::Root(e) => PenstockError::new_err(e.to_string()),
            Error::Design(e) => DesignError::new_err(e.to_string()),
            Error::Engine(e) => match e.kind {
                ErrorKind::File => FileError::new_err(e.to_string()),
                ErrorKind::Program => ProgramError::new_err(e.to_string()),
                ErrorKind::Service("table") => TableError::new_err(e.to_string()),
                ErrorKind::Service(_) => ServiceError::new_err(e.to_string()),
                ErrorKind::Unsupported => UnsupportedError::new_err(e.to_string()),
                ErrorKind::Card => CardError::new_err(e.to_string()),
            },
            Error::File(e) => FileError::new_err(e.to_string()),
            Error::Capture(e) => CaptureError::new_err(e.to_string()),
            Error::Device(e @ DeviceError::Build(_)) => BuildError::new_err(e.to_string()),
            Error::Device(DeviceError::Engine(e)) => Error::Engine(e).into(),
            Error::Device(e @ DeviceError::Card(penstock_device::CardError::Access(_))) => {
                AccessError::new_err(e.to_string())
            }
            Error::Device(e @ DeviceError::Card(_)) => CardError::new_err(e.to_string()),
            Error::Device(e @ DeviceError::HostMemory { .. }) => AccessError::new_err(e.to_string()),
            Error::Device(e @ DeviceError::Fpga(_)) => CardError::new_err(e.to_string()),
            Error::Device(
                e @ (DeviceError::NoPort(_)
                | DeviceError::Unsupported(_)
                | DeviceError::NotOnFpga { .. }
                | DeviceError::Silence { .. }),
            ) => UnsupportedError::new_err(e.to_string()),
            Error::Word(text) => UnsupportedError::new_err(text),
        }
    }
}
