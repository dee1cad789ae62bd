// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The project of a card for a shell: what `penstock fpga init` writes, and the vendor's tool then builds.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use penstock_engine::Root;

use super::Hardware;
use crate::design::{Design, DesignError};
use crate::device::DeviceError;
use crate::file_list;

/// Boards that OpenNIC's shell has, and their CMACs.
const BOARDS: [(&str, u32); 6] = [("au45n", 2), ("au50", 1), ("au55c", 2), ("au200", 2), ("au250", 2), ("au280", 2)];
/// File lists of the card's sources, in the order in which a compiler has to see them.
const LISTS: [&str; 5] =
    ["lib/rtl/rtl.f", "engines/units.f", "engines/inline.f", "shell/rtl/rtl.f", "shell/cards/opennic/plugin.f"];
const CLOCK: &str = "shell/cards/opennic/card_clock.sv";
/// Ports of box_322mhz.
const BOX: &str = "shell/cards/opennic/box_322mhz.toml";
const HEAD: &str = "Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0";
/// Periods of the clocks, ns.
const CARD_NS: f64 = 4.0;
const CMAC_NS: f64 = 3.103;
const AXIL_NS: f64 = 8.0;

/// Why a project cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// There is no such shell.
    #[error("there is no shell `{0}`: give opennic")]
    Shell(String),
    /// There is no such board.
    #[error("OpenNIC has no board `{name}`: give {}", BOARDS.map(|(name, _)| name).join(", "))]
    Board {
        /// What was given.
        name: String,
    },
    /// The board has fewer ports.
    #[error(
        "the design {design} has {ports} ports, and the board {board} has {there}: take a board with more, or say `ports = {there}` in the design"
    )]
    Ports {
        /// Name of the design.
        design: String,
        /// Its ports.
        ports: u32,
        /// The board.
        board: String,
        /// CMACs of the board.
        there: u32,
    },
    /// A part of the design needs what the shell does not have.
    #[error(transparent)]
    Design(#[from] DesignError),
    /// The folder holds something else.
    #[error("{}: the folder is there already and is no project of `penstock fpga init`: give another one", .0.display())]
    Occupied(PathBuf),
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A source of the checkout cannot be used.
    #[error("{}: {problem}", path.display())]
    Source {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// The design's programs cannot be compiled.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// How a crossing between two clocks is constrained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `sync_bits`: from its source register to its first one, with the skew of its bits.
    Bits,
    /// `sync_reset`: to the asynchronous pins of its chain.
    Reset,
    /// `cross_word`: its word, which stands still.
    Word,
}

/// A crossing: where it is below the plugin, and the period of its source.
struct Crossing {
    path: String,
    kind: Kind,
    period_ns: f64,
}

/// All crossings of the plugin.
fn crossings(ports: u32) -> Vec<Crossing> {
    let mut all = Vec::new();
    let mut add = |path: String, kind, period_ns| all.push(Crossing { path, kind, period_ns });
    // The resets of two sides a and b.
    let pair = |add: &mut dyn FnMut(String, Kind, f64), path: &str, a_ns: f64, b_ns: f64| {
        for (side, peer_ns) in [("i_a", b_ns), ("i_b", a_ns)] {
            add(format!("{path}/{side}/i_begun"), Kind::Reset, peer_ns);
            add(format!("{path}/{side}/i_peer_rst"), Kind::Bits, peer_ns);
            add(format!("{path}/{side}/i_peer_seen"), Kind::Bits, peer_ns);
        }
    };
    add("i_axil_rst".into(), Kind::Reset, AXIL_NS);
    add("i_card_rst".into(), Kind::Reset, AXIL_NS);
    pair(&mut add, "i_bar_resets", AXIL_NS, CARD_NS);
    for (word, there_ns, back_ns) in [("i_request", AXIL_NS, CARD_NS), ("i_answer", CARD_NS, AXIL_NS)] {
        add(format!("i_bar/{word}"), Kind::Word, there_ns);
        add(format!("i_bar/{word}/i_there/i_toggle"), Kind::Bits, there_ns);
        add(format!("i_bar/{word}/i_back/i_toggle"), Kind::Bits, back_ns);
    }
    for port in 0..ports {
        let of = |name: &str| format!("gen_port[{port}].{name}");
        add(of("i_mac_rst"), Kind::Reset, AXIL_NS);
        pair(&mut add, &of("i_resets"), CMAC_NS, CARD_NS);
        add(of("i_rx/i_fifo/i_published"), Kind::Bits, CMAC_NS);
        add(of("i_rx/i_fifo/i_read"), Kind::Bits, CARD_NS);
        add(of("i_tx/i_fifo/i_published"), Kind::Bits, CARD_NS);
        add(of("i_tx/i_fifo/i_read"), Kind::Bits, CMAC_NS);
        add(of("i_rx_lost/i_gray"), Kind::Bits, CMAC_NS);
        add(of("i_tx_lost/i_gray"), Kind::Bits, CARD_NS);
        add(of("i_up"), Kind::Bits, CARD_NS);
    }
    all
}

/// The constraints of all crossings, for Vivado.
fn constraints(ports: u32) -> String {
    let mut text = format!(
        "# {HEAD}\n# Crossings of the plugin: each path from clock to clock, and no other, may take longer than a cycle allows.\n"
    );
    for Crossing { path, kind, period_ns } in crossings(ports) {
        let glob = path.replace('[', "\\[").replace(']', "\\]");
        let cells = |name: &str| format!("[get_cells -hier -filter {{NAME =~ *i_plugin/{glob}/{name}_reg*}}]");
        let _ = match kind {
            Kind::Bits => writeln!(
                text,
                "set_max_delay -datapath_only -from {from} -to {to} {period_ns:.3}\nset_bus_skew -from {from} -to {to} {period_ns:.3}",
                from = cells("src_q"),
                to = cells("first_q"),
            ),
            Kind::Reset => writeln!(
                text,
                "set_false_path -to [get_pins -hier -filter {{NAME =~ *i_plugin/{glob}/chain_q_reg*/PRE}}]"
            ),
            Kind::Word => writeln!(
                text,
                "set_max_delay -datapath_only -from {} -to {} {period_ns:.3}",
                cells("word_q"),
                cells("data_q")
            ),
        };
    }
    text
}

/// A port of the box that the plugin stands in.
struct BoxPort {
    name: String,
    output: bool,
    width: u32,
    per_port: bool,
}

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
fn wrapper(design: &Design, hardware: &Hardware, ports: &[BoxPort]) -> String {
    let declared = ports.iter().map(|port| {
        let direction = if port.output { "output logic     " } else { "input  wire logic" };
        let width = port.width * if port.per_port { hardware.ports } else { 1 };
        let range = if width > 1 || port.per_port { format!("[{}:0] ", width - 1) } else { String::new() };
        format!("    {direction} {range}{}", port.name)
    });
    let parameters = hardware.parameters().map(|(name, value)| format!("      .{name}({value})"));
    let hash: String = hardware.hash().iter().map(|word| format!("{word:08x}")).collect();
    let parameters: Vec<_> = parameters.chain([format!("      .Design(128'h{hash})")]).collect();
    let connections: Vec<_> = ports.iter().map(|port| format!("      .{}", port.name)).collect();
    format!(
        "// {HEAD}\n// Written by `penstock fpga init`: the card {name} as a plugin of OpenNIC's box_322mhz.\n`default_nettype none\n\n\
         module penstock_322mhz (\n{ports}\n);\n  logic card_clk, card_lock;\n  card_clock i_clock (\n      .axil_aclk,\n      \
         .rst(!box_rstn),\n      .card_clk,\n      .card_lock\n  );\n  opennic_plugin #(\n{parameters}\n  ) i_plugin (\n      \
         .card_clk,\n      .card_lock,\n{connections}\n  );\nendmodule\n\n`default_nettype wire\n",
        name = design.name.replace(['\n', '\r'], " "),
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

/// Writes the project of a design into a folder; gives the commands that build it.
///
/// # Errors
/// There is no such shell or board, the design does not fit it or needs card memory, or a file cannot be read or written.
pub fn write(
    root: &Root,
    design: &Design,
    shell: &str,
    board: &str,
    folder: &Path,
) -> Result<Vec<String>, ProjectError> {
    if shell != "opennic" {
        return Err(ProjectError::Shell(shell.to_owned()));
    }
    let (_, there) = BOARDS
        .into_iter()
        .find(|(name, _)| *name == board)
        .ok_or_else(|| ProjectError::Board { name: board.to_owned() })?;
    if design.ports > there {
        let (design, ports, board) = (design.name.clone(), design.ports, board.to_owned());
        return Err(ProjectError::Ports { design, ports, board, there });
    }
    // The shell's cards have no channels of card memory.
    let parts = design.parts().map(|part| design.part(part));
    if let Some(fault) = parts.filter_map(penstock_engine::Part::without_memory).next() {
        let (path, unread) = (&design.path, |source| ProjectError::File { path: design.path.clone(), source });
        return Err(DesignError::at(path, &fs::read_to_string(path).map_err(unread)?, fault).into());
    }
    let marks = [folder.join("hardware.json"), folder.join("penstock_322mhz.sv")];
    let is_empty = fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
    if !is_empty && !marks.iter().all(|mark| mark.exists()) {
        return Err(ProjectError::Occupied(folder.to_path_buf()));
    }
    let hardware = Hardware::of(root, design)?;
    let ports = box_ports(root)?;
    let put = |name: &str, text: &str| {
        let path = folder.join(name);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, text));
        made.map_err(|source| ProjectError::File { path, source })
    };
    let unreadable = |file_list::Unreadable { path, source }| ProjectError::File { path, source };
    let mut sources = file_list::Sources::default();
    LISTS.iter().try_for_each(|list| sources.add(&root.join(list))).map_err(unreadable)?;
    sources.add(&root.join(CLOCK)).map_err(unreadable)?;
    let top = fs::canonicalize(root.path()).unwrap_or_else(|_| root.path().to_path_buf());
    let mut script = format!("# {HEAD}\n# OpenNIC's build.tcl sources this in the project's folder.\n");
    for path in &sources.files {
        let text = fs::read_to_string(path).map_err(|source| ProjectError::File { path: path.clone(), source })?;
        // Paths below rtl/ are those of the checkout, so that two files of one name do not meet.
        let name = path.strip_prefix(&top).unwrap_or(path).display().to_string();
        put(&format!("rtl/{name}"), &text)?;
        script += &format!("read_verilog -quiet -sv rtl/{name}\n");
    }
    script += "read_verilog -quiet -sv penstock_322mhz.sv\nread_xdc -unmanaged crossings.xdc\n";
    put("build_box_322mhz.tcl", &script)?;
    put("penstock_322mhz.sv", &wrapper(design, &hardware, &ports))?;
    put("crossings.xdc", &constraints(design.ports))?;
    put("box_322mhz/user_plugin_322mhz_inst.vh", &instance(&ports))?;
    let none = format!("// {HEAD}\n// The plugin is all that box_322mhz has: its registers need no crossbar.\n");
    put("box_322mhz/box_322mhz_address_map_inst.vh", &none)?;
    put("box_322mhz/box_322mhz_address_map.v", &none)?;
    put("box_322mhz/box_322mhz_axi_crossbar.tcl", &none.replace("//", "#"))?;
    let mut parameters: serde_json::Map<String, serde_json::Value> =
        hardware.parameters().map(|(name, value)| (name.to_owned(), value.into())).collect();
    let hash: String = hardware.hash().iter().map(|word| format!("{word:08x}")).collect();
    parameters.insert("Design".into(), format!("128'h{hash}").into());
    let text = serde_json::json!({ "design": design.name, "shell": shell, "board": board, "parameters": parameters });
    put("hardware.json", &format!("{text:#}\n"))?;
    let place = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
    Ok(vec![
        "cd open-nic-shell/script".to_owned(),
        format!(
            "vivado -mode batch -source build.tcl -tclargs -board {board} -num_cmac_port {} -user_plugin {} -impl 1 -post_impl 1",
            design.ports,
            place.display()
        ),
    ])
}
