// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A user plugin, as OpenNIC's build.tcl takes it.

use std::fs;

use penstock_engine::Root;

use super::{CONSTRAINTS, Clocks, HEAD, Project, ProjectError, constraints};

/// Boards that OpenNIC's shell has, and their CMACs.
pub(super) const BOARDS: [(&str, u32); 6] =
    [("au45n", 2), ("au50", 1), ("au55c", 2), ("au200", 2), ("au250", 2), ("au280", 2)];
/// The file by which a folder is known as such a project.
pub(super) const MARK: &str = "penstock_322mhz.sv";
const SOURCES: [&str; 2] = ["shell/cards/opennic/plugin.f", "shell/cards/opennic/card_clock.sv"];
/// Ports of box_322mhz.
const BOX: &str = "shell/cards/opennic/box_322mhz.toml";
const CLOCKS: Clocks = Clocks { card: 4.0, registers: 8.0, mac: 3.103, memory: 0.0 };

/// A port of the box that the plugin stands in.
struct BoxPort {
    name: String,
    output: bool,
    width: u32,
    per_port: bool,
}

/// The ports of the box, from its table.
fn box_ports(root: &Root) -> Result<Vec<BoxPort>, ProjectError> {
    let path = root.join(BOX);
    let text = fs::read_to_string(&path).map_err(|source| ProjectError::File { path: path.clone(), source })?;
    let wrong = |problem: String| ProjectError::Source { path: path.clone(), problem };
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| wrong(error.to_string()))?;
    let rows = table.get("port").and_then(toml::Value::as_array).ok_or_else(|| wrong("no ports".into()))?;
    rows.iter()
        .map(|row| {
            let port = || {
                Some(BoxPort {
                    name: row.get("name")?.as_str()?.to_owned(),
                    output: row.get("direction")?.as_str()? == "output",
                    width: u32::try_from(row.get("width")?.as_integer()?).ok()?,
                    per_port: row.get("per_port")?.as_bool()?,
                })
            };
            port().ok_or_else(|| wrong(format!("not a port: {row}")))
        })
        .collect()
}

/// The module that gives the plugin its parameters and its clock; its ports are those of the box.
fn wrapper(project: &Project<'_>, ports: &[BoxPort]) -> String {
    let hardware = &project.hardware;
    let declared = ports.iter().map(|port| {
        let direction = if port.output { "output logic     " } else { "input  wire logic" };
        let width = port.width * if port.per_port { hardware.ports } else { 1 };
        let range = if width > 1 || port.per_port { format!("[{}:0] ", width - 1) } else { String::new() };
        format!("    {direction} {range}{}", port.name)
    });
    let parameters = hardware.parameters().map(|(name, value)| format!("      .{name}({value})"));
    let parameters: Vec<_> = parameters.chain([format!("      .Design({})", project.hash())]).collect();
    let connections: Vec<_> = ports.iter().map(|port| format!("      .{}", port.name)).collect();
    format!(
        "// {HEAD}\n// Written by `penstock fpga init`: the card {name} as a plugin of OpenNIC's box_322mhz.\n`default_nettype none\n\n\
         module penstock_322mhz (\n{ports}\n);\n  logic card_clk, card_lock;\n  card_clock i_clock (\n      .axil_aclk,\n      \
         .rst(!box_rstn),\n      .card_clk,\n      .card_lock\n  );\n  opennic_plugin #(\n{parameters}\n  ) i_plugin (\n      \
         .card_clk,\n      .card_lock,\n{connections}\n  );\nendmodule\n\n`default_nettype wire\n",
        name = project.name(),
        ports = declared.collect::<Vec<_>>().join(",\n"),
        parameters = parameters.join(",\n"),
        connections = connections.join(",\n"),
    )
}

/// The file that the box includes: one instance, with the box's own names.
fn instance(ports: &[BoxPort]) -> String {
    let connections: Vec<_> = ports.iter().map(|port| format!("  .{0}({0})", port.name)).collect();
    format!("// {HEAD}\npenstock_322mhz penstock_322mhz_inst (\n{}\n);\n", connections.join(",\n"))
}

/// Writes the plugin; gives the commands that build it.
pub(super) fn write(project: &Project<'_>) -> Result<Vec<String>, ProjectError> {
    let ports = box_ports(project.root)?;
    let mut script = format!("# {HEAD}\n# OpenNIC's build.tcl sources this in the project's folder.\n");
    for name in project.put_sources(&SOURCES)? {
        script += &format!("read_verilog -quiet -sv {name}\n");
    }
    script += &format!("read_verilog -quiet -sv {MARK}\nread_xdc -unmanaged {CONSTRAINTS}\n");
    project.put("build_box_322mhz.tcl", &script)?;
    project.put(MARK, &wrapper(project, &ports))?;
    project.put(CONSTRAINTS, &constraints(project.design.ports, project.memories, &CLOCKS))?;
    project.put("box_322mhz/user_plugin_322mhz_inst.vh", &instance(&ports))?;
    let none = format!("// {HEAD}\n// The plugin is all that box_322mhz has: its registers need no crossbar.\n");
    project.put("box_322mhz/box_322mhz_address_map_inst.vh", &none)?;
    project.put("box_322mhz/box_322mhz_address_map.v", &none)?;
    project.put("box_322mhz/box_322mhz_axi_crossbar.tcl", &none.replace("//", "#"))?;
    let place = fs::canonicalize(project.folder).unwrap_or_else(|_| project.folder.to_path_buf());
    Ok(vec![
        "cd open-nic-shell/script".to_owned(),
        format!(
            "vivado -mode batch -source build.tcl -tclargs -board {} -num_cmac_port {} -user_plugin {} -impl 1 -post_impl 1 -rebuild 1",
            project.board,
            project.design.ports,
            place.display()
        ),
    ])
}
