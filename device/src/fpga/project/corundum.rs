// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A folder of Corundum for a board, beside the board's own: it takes over the board's Makefile and configuration, and
//! has the card as its application.
//!
//! Corundum's vivado.mk includes `../$(CONFIG)` before it uses the lists of files: that is where the card's come in.

use super::{CONSTRAINTS, Clocks, HEAD, Project, ProjectError, constraints};

/// Boards of Corundum's fpga/mqnic/Alveo/fpga_100g, and their MACs.
pub(super) const BOARDS: [(&str, u32); 6] =
    [("au50", 1), ("au55n", 2), ("au200", 2), ("au250", 2), ("au280", 2), ("vcu1525", 2)];
/// The file by which a folder is known as such a project.
pub(super) const MARK: &str = "app.mk";
const SOURCES: &str = "shell/cards/corundum/app.f";
/// The package with the design's parameters: the project has one of its own.
const DESIGN: &str = "rtl/shell/cards/corundum/card_design_pkg.sv";
/// The core's clock is the card's and that of the registers.
const CLOCKS: Clocks = Clocks { card: 4.0, registers: 4.0, mac: 3.103, memory: 3.333 };
/// Where the boards are.
const PLACE: &str = "corundum/fpga/mqnic/Alveo/fpga_100g";

/// The package that gives the application block its parameters.
fn package(project: &Project<'_>) -> String {
    let mut text = format!(
        "// {HEAD}\n// Written by `penstock fpga init`: the card {name}.\npackage card_design_pkg;\n",
        name = project.name()
    );
    let hash = [("Design", project.hash())];
    for (name, value) in project.hardware.parameters().chain(hash) {
        text += &format!("  localparam {} {name} = {value};\n", kind(name));
    }
    text + "endpackage\n"
}

/// The type of a parameter.
fn kind(name: &str) -> &'static str {
    match name {
        "Design" => "logic [127:0]",
        "BlockEngine" => "logic [penstock_pkg::MaxBlocks-1:0][7:0]",
        "BlockParam" => "logic [penstock_pkg::MaxBlocks-1:0][63:0]",
        "Engine" => "logic [penstock_pkg::MaxUnits-1:0][7:0]",
        "UnitParam" => "logic [penstock_pkg::MaxUnits-1:0][31:0]",
        _ => "int unsigned",
    }
}

/// The configuration of the board's memory: off if the card does not use it. The board's own configuration has set up the
/// controllers only if they were on.
fn ddr(memories: u32) -> String {
    if memories == 0 {
        return "dict set params DDR_ENABLE 0\n".to_owned();
    }
    format!(
        r#"dict set params DDR_ENABLE 1
dict set params DDR_CH {memories}
set ddr4 [get_ips ddr4_0]
set_property CONFIG.C0.DDR4_AxiIDWidth [dict get $params AXI_DDR_ID_WIDTH] $ddr4
dict set params AXI_DDR_DATA_WIDTH [get_property CONFIG.C0.DDR4_AxiDataWidth $ddr4]
dict set params AXI_DDR_ADDR_WIDTH [get_property CONFIG.C0.DDR4_AxiAddressWidth $ddr4]
"#
    )
}

/// The configuration: the board's, and what the application needs of it.
fn config(board: &str, ports: u32, memories: u32) -> String {
    let ddr = ddr(memories);
    format!(
        r#"# {HEAD}
# The board's configuration, with the card as its application, and a port for each interface.
source ../{board}/config.tcl
foreach {{name value}} {{
    IF_COUNT {ports}
    PORTS_PER_IF 1
    SCHED_PER_IF 1
    APP_ID 32'h504e4650
    APP_ENABLE 1
    APP_CTRL_ENABLE 1
    APP_DMA_ENABLE 0
    APP_AXIS_DIRECT_ENABLE 1
    APP_AXIS_SYNC_ENABLE 0
    APP_AXIS_IF_ENABLE 0
    APP_STAT_ENABLE 0
    AXIL_APP_CTRL_ADDR_WIDTH 24
}} {{
    dict set params $name $value
}}
{ddr}configure_bar $pcie 0 2 [dict get $params AXIL_APP_CTRL_ADDR_WIDTH]
set param_list {{}}
dict for {{name value}} $params {{
    lappend param_list $name=$value
}}
set_property generic $param_list [get_filesets sources_1]
"#
    )
}

/// Writes the folder; gives the commands that build it.
pub(super) fn write(project: &Project<'_>) -> Result<Vec<String>, ProjectError> {
    let board = format!("fpga_{}", project.board.to_uppercase());
    let mut list = format!("# {HEAD}\n# The card and its constraints, for Corundum's lists of files.\n");
    for name in project.put_sources(&[SOURCES])? {
        list += &format!("SYN_FILES += ./{name}\n");
    }
    list += &format!("XDC_FILES += ./{CONSTRAINTS}\n");
    project.put(DESIGN, &package(project))?;
    project.put(MARK, &list)?;
    let makefile = format!(
        "# {HEAD}\n# Written by `penstock fpga init`: Corundum with the card {} as its application. The folder stands beside {board}.\n\
         CONFIG = $(notdir $(CURDIR))/{MARK}\ninclude ../{board}/Makefile\n",
        project.name()
    );
    project.put("Makefile", &makefile)?;
    project.put("config.tcl", &config(&board, project.design.ports, project.memories))?;
    project.put(CONSTRAINTS, &constraints(project.design.ports, project.memories, &CLOCKS))?;
    let place = format!("{PLACE}/{board}_app_penstock");
    Ok(vec![format!("cp -r {} {place}", project.folder.display()), format!("make -C {place}")])
}
