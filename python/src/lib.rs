// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock._native`: the Device API for Python in its simplest form. python/penstock/device.py is the users'
//! interface.

mod card;
mod error;
mod worker;

use std::any::Any;
use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use penstock_debug::{DebugError, DeviceWindow, Registers, Unit};
use penstock_device::{Departure, ForGroup, Maker, Port, Request, Root, Traffic, capture, window};
use penstock_registry::engines;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyModule};

use crate::card::{Card, Changes};
use crate::error::{CardError, Error, UnsupportedError};
use crate::worker::Worker;

/// The frame's exit, its place among those sent, the unit that made it, its mark, cycles (entered, first, last), time in
/// ns, bytes.
type PyDeparture<'py> = (String, Option<usize>, Option<u8>, u32, (u64, u64, u64), u64, Bound<'py, PyBytes>);

/// A card at work on its own thread.
#[pyclass(frozen, name = "Card", module = "penstock._native")]
struct PyCard {
    /// Handles of servers by name. The servers end in front of the card that they serve.
    servers: Mutex<BTreeMap<&'static str, Serving>>,
    /// None once it is closed.
    worker: Mutex<Option<Arc<Worker<Card>>>>,
}

/// A server at work.
struct Serving {
    address: SocketAddr,
    _handle: Box<dyn Any + Send>,
}

impl PyCard {
    fn call<R: Send + 'static>(
        &self,
        py: Python<'_>,
        job: impl FnOnce(&mut Card) -> R + Send + 'static,
    ) -> PyResult<R> {
        // Each call holds its own reference, so that another thread may close the device meanwhile.
        let worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner).clone();
        worker.ok_or_else(closed)?.call(py, job)
    }

    /// Takes what is at work from the card, which is closed then.
    fn take(&self) -> (BTreeMap<&'static str, Serving>, Option<Arc<Worker<Card>>>) {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        let worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner).take();
        (std::mem::take(&mut *servers), worker)
    }

    /// Does something with a unit as its debugger.
    fn debug<R: Send + 'static>(
        &self,
        py: Python<'_>,
        unit: u32,
        job: impl FnOnce(&mut Unit<DeviceWindow<'_>>) -> Result<R, DebugError> + Send + 'static,
    ) -> PyResult<R> {
        let done = self.call(py, move |card| job(&mut Unit::new(DeviceWindow { device: &mut *card.device, unit })))?;
        done.map_err(|error| match error {
            DebugError::Card(_) => CardError::new_err(error.to_string()),
            _ => UnsupportedError::new_err(error.to_string()),
        })
    }
}

#[pymethods]
impl PyCard {
    /// Opens a design; `package` is a file of the Python package, above which the checkout is searched.
    #[new]
    #[pyo3(signature = (package, design, target, card, programs, tables, units, ports, policy, threads))]
    #[allow(clippy::too_many_arguments)]
    fn open(
        py: Python<'_>,
        package: PathBuf,
        design: PathBuf,
        target: String,
        card: Option<String>,
        programs: Vec<(Option<String>, PathBuf)>,
        tables: BTreeMap<String, PathBuf>,
        units: Vec<(Option<String>, u32)>,
        ports: Option<u32>,
        policy: Option<String>,
        threads: u32,
    ) -> PyResult<Self> {
        let (programs, units) = (for_groups(programs), for_groups(units));
        let changes = Changes { programs, tables, units, ports, policy, threads };
        let make = move |stop| {
            let root = Root::named().unwrap_or_else(|| Root::above(&package))?;
            Card::open(root, &design, &target, card.as_deref(), changes, stop)
        };
        let worker = Worker::start::<Error>(py, make)??;
        Ok(Self { worker: Mutex::new(Some(Arc::new(worker))), servers: Mutex::default() })
    }

    fn close(&self, py: Python<'_>) {
        let (servers, worker) = self.take();
        py.detach(|| {
            // A request that a server has made ends first.
            drop(servers);
            drop(worker);
        });
    }

    /// Name, target, ports, MHz; for each group of units its name, its engine, its first unit, the one after its last, and
    /// its memories: name, name in messages, first byte in a unit's window, bytes.
    #[allow(clippy::type_complexity)]
    fn about(
        &self,
        py: Python<'_>,
    ) -> PyResult<(String, String, u32, u32, Vec<(String, &str, u32, u32, Vec<(&str, &str, u32, u32)>)>)> {
        self.call(py, |card| {
            let design = &card.design;
            let groups = design.groups.iter().map(|group| {
                let memories = group.engine.memories().iter();
                let memories =
                    memories.map(|memory| (memory.name, memory.about, memory.address, memory.size)).collect();
                (group.name.clone(), group.engine.name(), group.units.start, group.units.end, memories)
            });
            (design.name.clone(), card.target.to_string(), design.ports, design.clock_mhz, groups.collect())
        })
    }

    fn load(
        &self,
        py: Python<'_>,
        programs: Vec<(Option<String>, PathBuf)>,
        tables: BTreeMap<String, PathBuf>,
    ) -> PyResult<String> {
        Ok(self.call(py, move |card| card.load(for_groups(programs), tables))??)
    }

    /// Names of the program's tables, and whether each was kept; the compiler's warnings.
    #[allow(clippy::type_complexity)]
    fn swap(&self, py: Python<'_>, group: Option<String>, program: PathBuf) -> PyResult<(Vec<(String, bool)>, String)> {
        Ok(self.call(py, move |card| card.swap(group, program))??)
    }

    fn set_table(&self, py: Python<'_>, name: String, file: PathBuf) -> PyResult<()> {
        Ok(self.call(py, move |card| card.set_table(&name, file))??)
    }

    fn set_time(&self, py: Python<'_>, ns: Option<u64>) -> PyResult<()> {
        Ok(self.call(py, move |card| card.device.set_unit_time(ns))?.map_err(Error::from)?)
    }

    fn set_ingress(&self, py: Python<'_>, groups: Vec<String>) -> PyResult<()> {
        Ok(self.call(py, move |card| card.set_ingress(&groups))??)
    }

    fn send(&self, py: Python<'_>, frames: Vec<Bound<'_, PyBytes>>, port: &str) -> PyResult<()> {
        let port = port_of(port)?;
        let mut traffic = Traffic::default();
        frames.iter().for_each(|frame| traffic.push(port, frame.as_bytes(), 0));
        Ok(self.call(py, move |card| card.send(traffic))??)
    }

    fn send_capture(&self, py: Python<'_>, path: PathBuf, port: &str) -> PyResult<usize> {
        let port = port_of(port)?;
        Ok(self.call(py, move |card| card.send_capture(&path, port))??)
    }

    fn queued(&self, py: Python<'_>) -> PyResult<usize> {
        self.call(py, |card| card.queued())
    }

    /// Departures, drops by reason, seconds of this machine, result.json.
    #[allow(clippy::type_complexity)]
    fn run<'py>(
        &self,
        py: Python<'py>,
        rate: Option<String>,
    ) -> PyResult<(Vec<PyDeparture<'py>>, Vec<(&'static str, u64)>, f64, String)> {
        let report = self.call(py, move |card| card.run(rate.as_deref()))??;
        let departures = report.run.departures.iter().map(|departure| departure_of(py, departure)).collect();
        Ok((departures, report.run.drops.list().to_vec(), report.run.seconds, report.json))
    }

    fn advance<'py>(&self, py: Python<'py>, cycles: u64) -> PyResult<Vec<PyDeparture<'py>>> {
        let departures = self.call(py, move |card| card.advance(cycles))??;
        Ok(departures.iter().map(|departure| departure_of(py, departure)).collect())
    }

    fn counters(&self, py: Python<'_>) -> PyResult<String> {
        self.call(py, |card| {
            let counters = card.device.counters()?;
            serde_json::to_string(&counters).map_err(|e| Error::Word(e.to_string()))
        })?
        .map_err(PyErr::from)
    }

    fn read(&self, py: Python<'_>, address: u32) -> PyResult<u32> {
        Ok(self.call(py, move |card| card.device.read(address))?.map_err(Error::from)?)
    }

    fn write(&self, py: Python<'_>, address: u32, value: u32) -> PyResult<()> {
        Ok(self.call(py, move |card| card.device.write(address, value))?.map_err(Error::from)?)
    }

    fn unit_read<'py>(&self, py: Python<'py>, unit: u32, address: u32, count: usize) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.call(py, move |card| {
            let mut bytes = vec![0; count];
            window::read(&mut *card.device, unit, address, &mut bytes).map(|()| bytes)
        })?;
        Ok(PyBytes::new(py, &bytes.map_err(Error::from)?))
    }

    fn unit_write(&self, py: Python<'_>, unit: u32, address: u32, data: Vec<u8>) -> PyResult<()> {
        Ok(self.call(py, move |card| window::write(&mut *card.device, unit, address, &data))?.map_err(Error::from)?)
    }

    fn unit_halt(&self, py: Python<'_>, unit: u32) -> PyResult<()> {
        self.debug(py, unit, |unit| unit.halt())
    }

    fn unit_resume(&self, py: Python<'_>, unit: u32) -> PyResult<()> {
        self.debug(py, unit, |unit| unit.release())
    }

    fn unit_step(&self, py: Python<'_>, unit: u32) -> PyResult<bool> {
        self.debug(py, unit, |unit| unit.step())
    }

    /// x0..x31 and the PC.
    fn unit_registers(&self, py: Python<'_>, unit: u32) -> PyResult<Vec<u32>> {
        self.debug(py, unit, |unit| {
            let Registers { x, pc } = unit.registers()?;
            Ok(x.into_iter().chain([pc]).collect())
        })
    }

    /// Numbers as in [`PyCard::unit_registers`].
    fn unit_set_register(&self, py: Python<'_>, unit: u32, number: u32, value: u32) -> PyResult<()> {
        self.debug(
            py,
            unit,
            move |unit| if number < 32 { unit.set_register(number, value) } else { unit.set_pc(value) },
        )
    }

    fn set_host_range(&self, py: Python<'_>, unit: u32, base: u64, limit: u64) -> PyResult<()> {
        Ok(self.call(py, move |card| card.device.set_host_range(unit, base..=limit))?.map_err(Error::from)?)
    }

    fn host_read<'py>(&self, py: Python<'py>, address: u64, count: usize) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.call(py, move |card| {
            let mut bytes = vec![0; count];
            card.device.host_read(address, &mut bytes).map(|()| bytes)
        })?;
        Ok(PyBytes::new(py, &bytes.map_err(Error::from)?))
    }

    fn host_write(&self, py: Python<'_>, address: u64, data: Vec<u8>) -> PyResult<()> {
        Ok(self.call(py, move |card| card.device.host_write(address, &data))?.map_err(Error::from)?)
    }

    /// Sends a request to a service; request and answer are JSON text.
    fn ask(&self, py: Python<'_>, service: String, ask: &str) -> PyResult<String> {
        let ask = serde_json::from_str(ask).map_err(|error| UnsupportedError::new_err(error.to_string()))?;
        let answer = self.call(py, move |card| card.device.call(&Request { service, ask }))?;
        Ok(answer.map_err(Error::from)?.to_string())
    }

    /// Starts a server of an engine at an address, until the card is closed; the address with its port. The server's
    /// requests take their turns with those of Python.
    fn serve(&self, py: Python<'_>, name: &str, address: &str) -> PyResult<String> {
        let servers = engines().iter().flat_map(|engine| engine.servers().iter().map(move |server| (engine, server)));
        let found = servers.into_iter().find(|(_, server)| server.name == name);
        let (engine, server) =
            found.ok_or_else(|| UnsupportedError::new_err(format!("there is no server `{name}`")))?;
        let of = engine.name();
        if !self.call(py, move |card| card.design.parts().any(|part| card.design.engine(part).name() == of))? {
            return Err(UnsupportedError::new_err(format!("`{name}` serves parts of {of}, and the design has none")));
        }
        // No other thread closes the card or starts the server meanwhile. The interpreter is not left, so none waits.
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        let worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(Arc::downgrade);
        let worker = worker.ok_or_else(closed)?;
        if let Some(there) = servers.get(server.name) {
            return Err(UnsupportedError::new_err(format!("`{name}` is at work at {} already", there.address)));
        }
        let wrong = |error: std::io::Error| UnsupportedError::new_err(format!("{name} at {address}: {error}"));
        let listener = TcpListener::bind(address).map_err(wrong)?;
        let at = listener.local_addr().map_err(wrong)?;
        let call = move |request: Request| {
            let answer = Worker::call_apart(&worker, move |card: &mut Card| card.device.call(&request));
            answer.ok_or("the device is closed")?.map_err(|error| error.to_string())
        };
        let handle = (server.start)(listener, Box::new(call)).map_err(wrong)?;
        servers.insert(server.name, Serving { address: at, _handle: handle });
        Ok(at.to_string())
    }

    fn place(&self, py: Python<'_>, unit: u32, pc: u32) -> PyResult<Option<String>> {
        self.call(py, move |card| card.place(unit, pc))
    }

    fn elf<'py>(&self, py: Python<'py>, unit: u32) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let elf = self.call(py, move |card| card.elf(unit).map(<[u8]>::to_vec))?;
        Ok(elf.map(|elf| PyBytes::new(py, &elf)))
    }
}

fn closed() -> PyErr {
    UnsupportedError::new_err("the device is closed; open it anew")
}

/// Writes frames, each with its time in ns, as a capture.
#[pyfunction]
fn write_capture(py: Python<'_>, path: PathBuf, frames: Vec<(u64, Vec<u8>)>) -> PyResult<()> {
    let frames = || frames.iter().map(|(time, bytes)| (*time, bytes.as_slice()));
    Ok(py.detach(|| capture::write(Path::new(&path), frames())).map_err(Error::from)?)
}

/// Values with the names of their groups.
fn for_groups<T>(values: Vec<(Option<String>, T)>) -> Vec<ForGroup<T>> {
    values.into_iter().map(|(group, value)| ForGroup { group, value }).collect()
}

fn port_of(word: &str) -> PyResult<Port> {
    let wrong = || UnsupportedError::new_err(format!("`{word}` is no port; give 0, 1, ... or \"host\""));
    Port::parse(word).ok_or_else(wrong)
}

fn departure_of<'py>(py: Python<'py>, departure: &Departure) -> PyDeparture<'py> {
    let cycles = (departure.entered, departure.first, departure.last);
    let unit = departure.made_by.and_then(Maker::unit);
    (
        departure.to.to_string(),
        departure.input,
        unit,
        departure.mark,
        cycles,
        departure.time_ns,
        PyBytes::new(py, &departure.bytes),
    )
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<PyCard>()?;
    module.add_function(wrap_pyfunction!(write_capture, module)?)?;
    error::register(module)
}
