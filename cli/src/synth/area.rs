// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Area of a block on UltraScale+, counted from the cells that yosys maps it to.
//!
//! LUTs are counted before packing, each cell of up to six inputs as one (a packer may place two small ones in one
//! site), and with the LUTs that distributed memories and shift registers take. A half block memory counts 0.5.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::registry::Sources;
use super::tools::{Tools, inside, read_commands, used_files};
use super::{SynthError, cache, io_error};

/// The resources of the device that a block uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Area {
    pub lut: f64,
    pub ff: f64,
    /// In blocks of 36 Kbit.
    pub bram: f64,
    /// In blocks of 288 Kbit.
    pub uram: f64,
    pub dsp: f64,
}

/// Measures `sources`, or takes the kept result; works in `folder`, relative to the repository.
pub(crate) fn measure(tools: &Tools, sources: &Sources, folder: &Path) -> Result<Area, SynthError> {
    let script = format!(
        "{}; synth_xilinx -family xcup -uram -flatten -noiopad -noclkbuf -top {}; tee -o {} stat -json",
        read_commands(sources, folder),
        sources.top,
        inside(&folder.join("stat.json")),
    );
    let recipe = format!("{}\n{script}", tools.versions);
    let kept = folder.join("area.json");
    if let Some(area) = cache::load(&tools.root, &kept, &recipe) {
        return Ok(area);
    }
    fs::create_dir_all(tools.root.join(folder)).map_err(io_error(folder))?;
    tools.yosys(&folder.join("yosys.log"), &script)?;
    let path = tools.root.join(folder).join("stat.json");
    let text = fs::read_to_string(&path).map_err(io_error(&path))?;
    let area = count(&text).map_err(|message| SynthError::Output { path, message })?;
    cache::store(&tools.root, &kept, &recipe, used_files(&tools.root, folder, sources)?, &area)?;
    Ok(area)
}

/// Counts the cells in the output of `stat -json`.
fn count(stat: &str) -> Result<Area, String> {
    let stat: Value = serde_json::from_str(stat).map_err(|error| error.to_string())?;
    let cells = stat["design"]["num_cells_by_type"].as_object().ok_or("no cells in it")?;
    let mut area = Area::default();
    for (name, number) in cells {
        let number = number.as_f64().ok_or_else(|| format!("{name} is not counted by a number"))?;
        match name.as_str() {
            "FDRE" | "FDSE" | "FDCE" | "FDPE" | "LDCE" | "LDPE" => area.ff += number,
            "RAMB36E2" => area.bram += number,
            "RAMB18E2" => area.bram += number / 2.0,
            "URAM288" => area.uram += number,
            "DSP48E2" => area.dsp += number,
            "$scopeinfo" | "CARRY4" | "CARRY8" | "MUXF7" | "MUXF8" | "MUXF9" => {}
            name => area.lut += number * luts_of(name).ok_or_else(|| format!("unknown cell {name}"))?,
        }
    }
    Ok(area)
}

/// LUT sites that a logic or distributed memory cell takes (Xilinx UG974 names the cells, UG574 their sizes).
fn luts_of(cell: &str) -> Option<f64> {
    Some(match cell {
        "LUT1" | "LUT2" | "LUT3" | "LUT4" | "LUT5" | "LUT6" | "INV" => 1.0,
        "SRL16E" | "SRLC32E" | "RAM32X1S" | "RAM64X1S" => 1.0,
        "RAM32X1D" | "RAM64X1D" | "RAM128X1S" => 2.0,
        "RAM32M" | "RAM64M" | "RAM128X1D" | "RAM256X1S" => 4.0,
        "RAM32M16" | "RAM64M8" | "RAM256X1D" | "RAM512X1S" | "RAM32X16DR8" | "RAM64X8SW" => 8.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_cells() {
        let stat = r#"{"design": {"num_cells_by_type": {"LUT6": 10, "INV": 1, "FDRE": 5, "FDSE": 2, "RAM32M16": 2,
            "RAMB18E2": 3, "RAMB36E2": 4, "URAM288": 32, "DSP48E2": 4, "CARRY4": 9}}}"#;
        let area = Area { lut: 27.0, ff: 7.0, bram: 5.5, uram: 32.0, dsp: 4.0 };
        assert_eq!(count(stat).unwrap(), area);
    }

    #[test]
    fn unknown_cell_is_an_error() {
        let stat = r#"{"design": {"num_cells_by_type": {"$mem_v2": 1}}}"#;
        assert!(count(stat).unwrap_err().contains("$mem_v2"));
    }
}
