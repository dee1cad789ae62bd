// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! One measured figure, as every bench and `synth` write it to JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A measured figure beside the published one and ours to reach.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the bench, for example `rpu-forward`.
    pub bench: String,
    /// What was measured: the parameters of the case.
    pub case: BTreeMap<String, Value>,
    /// What the value is: `mpps`, `gbps`, `share`, `latency_ns`, `cycles_per_s`, `lut`, ...
    pub metric: String,
    /// Unit of `paper`, `goal` and `value`.
    pub unit: String,
    /// The published figure, where there is one; with `peer`, a figure that was measured instead.
    pub paper: Option<f64>,
    /// How `paper` came about when no paper gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
    /// The figure the project aims at, where there is one.
    pub goal: Option<f64>,
    /// The figure measured now.
    pub value: f64,
}

impl Row {
    /// A measured figure beside [the published one, ours to reach], where there are any.
    pub fn new(
        bench: &str,
        case: &BTreeMap<String, Value>,
        metric: &str,
        unit: &str,
        [paper, goal]: [Option<f64>; 2],
        value: f64,
    ) -> Self {
        let (bench, case, metric, unit) = (bench.into(), case.clone(), metric.into(), unit.into());
        Self { bench, case, metric, unit, paper, peer: None, goal, value }
    }
}

/// Writes rows as a JSON list, one row a line, so that two results can be compared with `diff`.
pub fn to_json(rows: &[Row]) -> serde_json::Result<String> {
    let lines = rows.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
    Ok(format!("[\n{}\n]\n", lines.join(",\n")))
}
