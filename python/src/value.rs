// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Keys and values of maps as Python's objects: int, bytes, list, dict; what goes in may also be text, as on the command line.

use penstock_device::Value;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyInt, PyList, PyString, PyTuple};

/// Lists and dicts nest no deeper than that.
const MAX_DEPTH: usize = 32;

/// What Python gives.
pub fn from_py(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    from_py_at(object, 0)
}

fn from_py_at(object: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    if depth > MAX_DEPTH {
        return Err(PyTypeError::new_err("a key or value that nests so deep is none of a map"));
    }
    let inner = |object: Bound<'_, PyAny>| from_py_at(&object, depth + 1);
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(Value::Bytes(bytes.as_bytes().to_vec()));
    }
    if let Ok(bytes) = object.cast::<PyByteArray>() {
        return Ok(Value::Bytes(bytes.to_vec()));
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Value::Text(text.to_str()?.to_owned()));
    }
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        return object.try_iter()?.map(|item| inner(item?)).collect::<PyResult<_>>().map(Value::List);
    }
    if let Ok(fields) = object.cast::<PyDict>() {
        let field = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| Ok((name.extract()?, inner(value)?));
        return fields.iter().map(field).collect::<PyResult<_>>().map(Value::Record);
    }
    // Numbers of NumPy and members of enums, too; no float.
    if object.is_instance_of::<PyInt>() || object.hasattr("__index__")? {
        let whole = object.call_method0("__index__")?;
        let number = whole.extract::<i64>().map(i128::from).or_else(|_| whole.extract::<u64>().map(i128::from));
        return number.map(Value::Int).map_err(|_| PyTypeError::new_err(format!("{whole} has more than 64 bits")));
    }
    let kind = object.get_type().name()?.to_string();
    Err(PyTypeError::new_err(format!("keys and values of maps are int, bytes, str, list or dict, not {kind}")))
}

/// What Python gets.
pub fn to_py<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        // Numbers of shapes have 64 bits at most.
        Value::Int(number) => match u64::try_from(*number) {
            Ok(number) => number.into_pyobject(py)?.into_any(),
            Err(_) => (*number as i64).into_pyobject(py)?.into_any(),
        },
        Value::Bytes(bytes) => PyBytes::new(py, bytes).into_any(),
        Value::Text(text) => PyString::new(py, text).into_any(),
        Value::List(values) => {
            let values = values.iter().map(|value| to_py(py, value)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, values)?.into_any()
        }
        Value::Record(fields) => {
            let dict = PyDict::new(py);
            for (name, value) in fields {
                dict.set_item(name, to_py(py, value)?)?;
            }
            dict.into_any()
        }
    })
}
