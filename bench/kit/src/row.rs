// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! One measured figure, as every bench and `synth` write it to JSON.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::TOLERANCE;

/// A measured figure beside the published one and ours to reach.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the bench, for example `sim-speed`.
    pub bench: String,
    /// The parameters of the measured case.
    pub case: BTreeMap<String, Value>,
    /// The kind of value: `mpps`, `gbps`, `share`, `latency_ns`, `cycles_per_s`, `lut`, ...
    pub metric: String,
    /// Unit of `paper`, `goal` and `value`.
    pub unit: String,
    /// The published figure, if there is one; with `peer`, a measured figure in its place.
    pub paper: Option<f64>,
    /// The origin of `paper` if no paper gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
    /// The project's goal, if there is one.
    pub goal: Option<f64>,
    /// Whether a higher or a lower value is better.
    pub better: Better,
    /// The figure measured now.
    pub value: f64,
}

/// Which way a figure gets better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// More is better, as for rates.
    Higher,
    /// Less is better, as for times.
    Lower,
}

impl Row {
    /// A measured figure beside [the published one, ours to reach], where there are any.
    pub fn new(
        bench: &str,
        case: &BTreeMap<String, Value>,
        (metric, unit, better): (&str, &str, Better),
        [paper, goal]: [Option<f64>; 2],
        value: f64,
    ) -> Self {
        let (bench, case, metric, unit) = (bench.into(), case.clone(), metric.into(), unit.into());
        Self { bench, case, metric, unit, paper, peer: None, goal, better, value }
    }

    /// The figures beside the value that it does not reach: `paper` and `goal`, with their values. A rate may miss one
    /// by what counting whole frames explains.
    pub fn missed(&self) -> Vec<(&'static str, f64)> {
        let falls_behind = |figure: f64| match self.better {
            Better::Higher => self.value < figure * (1.0 - TOLERANCE),
            Better::Lower => self.value > figure,
        };
        let beside = if self.peer.is_some() { "peer" } else { "paper" };
        let figures = [(beside, self.paper), ("goal", self.goal)];
        figures
            .into_iter()
            .filter_map(|(name, figure)| Some((name, figure?)))
            .filter(|(_, f)| falls_behind(*f))
            .collect()
    }
}

/// The measured rows in place of the saved ones of the same case and metric, and the number of saved rows that were not
/// measured now and stay. A run measures only some cases if they are selected, or if a part of the bench needs programs
/// that are not installed.
pub fn beside(before: Vec<Row>, now: Vec<Row>) -> (Vec<Row>, usize) {
    let named = |row: &Row| (row.bench.clone(), row.metric.clone(), row.unit.clone(), format!("{:?}", row.case));
    let places: HashMap<_, _> = now.iter().enumerate().map(|(place, row)| (named(row), place)).collect();
    let mut left: Vec<Option<Row>> = now.into_iter().map(Some).collect();
    let mut kept = 0;
    let mut rows = Vec::new();
    for row in before {
        match places.get(&named(&row)) {
            Some(place) => rows.extend(left[*place].take()),
            None => {
                kept += 1;
                rows.push(row);
            }
        }
    }
    rows.extend(left.into_iter().flatten());
    (rows, kept)
}

/// Writes rows as a JSON list, one row a line, so that two results can be compared with `diff`.
pub fn to_json(rows: &[Row]) -> serde_json::Result<String> {
    let lines = rows.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
    Ok(format!("[\n{}\n]\n", lines.join(",\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_were_not_measured_stay() {
        let row = |size: usize, metric: &str, value: f64| {
            let case = [("size".to_string(), size.into())].into_iter().collect();
            Row::new("b", &case, (metric, "u", Better::Higher), [None, None], value)
        };
        let before = vec![row(64, "mpps", 1.0), row(64, "gbps", 2.0), row(128, "mpps", 3.0)];
        let now = vec![row(128, "mpps", 30.0), row(256, "mpps", 40.0), row(64, "mpps", 10.0)];
        let (rows, kept) = beside(before.clone(), now);
        let values: Vec<f64> = rows.iter().map(|row| row.value).collect();
        assert_eq!((values, kept), (vec![10.0, 2.0, 30.0, 40.0], 1));
        assert_eq!(beside(before.clone(), before.clone()), (before, 0));
    }
}
