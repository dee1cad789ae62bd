// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Errors as Python exceptions, with the messages of the command line.

use penstock_device::capture::CaptureError as DeviceCaptureError;
use penstock_device::files::FileError as DeviceFileError;
use penstock_device::flow::FlowError as DeviceFlowError;
use penstock_device::maps::MapError as DeviceMapError;
use penstock_device::{DesignError as DeviceDesignError, DeviceError, ImageError, RootError};
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
create_exception!(penstock, MapError, PenstockError, "A map that is not there, or does not take what it is given.");
create_exception!(
    penstock,
    FlowError,
    PenstockError,
    "The inline chain is not there, or does not take what it is given."
);
create_exception!(penstock, RoutesError, PenstockError, "Routes that no card has, or a file that is none of routes.");
create_exception!(penstock, UnsupportedError, PenstockError, "The target or the card cannot do this.");

/// Puts the exceptions into the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
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
        py.get_type::<MapError>(),
        py.get_type::<FlowError>(),
        py.get_type::<RoutesError>(),
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
    /// Program or tables.
    Image(ImageError),
    /// A capture.
    Capture(DeviceCaptureError),
    /// The device.
    Device(DeviceError),
    /// A map.
    Map(DeviceMapError),
    /// The inline chain.
    Flow(DeviceFlowError),
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
    Image(ImageError),
    Capture(DeviceCaptureError),
    Device(DeviceError),
    Map(DeviceMapError),
    Flow(DeviceFlowError)
);

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        match error {
            Error::Root(e) => PenstockError::new_err(e.to_string()),
            Error::Design(e) => DesignError::new_err(e.to_string()),
            Error::Image(
                e @ (ImageError::Program { .. } | ImageError::Xdp(_) | ImageError::Flow(_) | ImageError::Elements(_)),
            ) => ProgramError::new_err(e.to_string()),
            Error::Image(e @ ImageError::Table(_)) => TableError::new_err(e.to_string()),
            Error::Image(ImageError::File(e)) => file(&e),
            Error::Image(e @ (ImageError::Map(_) | ImageError::Entries(_))) => MapError::new_err(e.to_string()),
            Error::Capture(e) => CaptureError::new_err(e.to_string()),
            Error::Device(e @ DeviceError::Build(_)) => BuildError::new_err(e.to_string()),
            Error::Device(e @ DeviceError::Card(_)) => CardError::new_err(e.to_string()),
            Error::Device(e @ (DeviceError::Access(_) | DeviceError::HostMemory { .. })) => {
                AccessError::new_err(e.to_string())
            }
            Error::Device(e @ DeviceError::Program(_)) => ProgramError::new_err(e.to_string()),
            Error::Image(e @ ImageError::Routes(_)) => RoutesError::new_err(e.to_string()),
            Error::Device(e @ DeviceError::Routes(_)) => RoutesError::new_err(e.to_string()),
            Error::Device(e @ DeviceError::Map(_)) => MapError::new_err(e.to_string()),
            Error::Device(e @ DeviceError::Unsupported(_)) => UnsupportedError::new_err(e.to_string()),
            Error::Map(DeviceMapError::Device(e)) => Error::Device(e).into(),
            Error::Map(e) => MapError::new_err(e.to_string()),
            Error::Flow(e) => FlowError::new_err(e.to_string()),
            Error::Word(text) => UnsupportedError::new_err(text),
        }
    }
}

/// A file that cannot be used.
pub fn file(error: &DeviceFileError) -> PyErr {
    FileError::new_err(error.to_string())
}
