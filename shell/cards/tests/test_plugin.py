# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The plugin of OpenNIC's box: its ports are the box's. For all shells: each of the card's crossings has its
constraint, and no other.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from built import COMMAND_LINE
from penstock.data import DATA
from penstock.hdl import ROOT, filelist

PLUGIN = ROOT / "shell/cards/opennic/opennic_plugin.sv"
TABLE = ROOT / "shell/cards/opennic/box_322mhz.toml"
FACTS = DATA / "cards/opennic-box_322mhz.json"
Port = tuple[str, str, int, bool]  # name, direction, width, one for each CMAC
PARAMETERS = r"(?:#\(\n(?: +\..*\n)+ +\) )?"  # of an instance, one a line
CROSSINGS = ("sync_bits", "reset_bridge", "cross_word")


def table() -> list[Port]:
    rows = tomllib.loads(TABLE.read_text())["port"]
    return [(row["name"], row["direction"], row["width"], row["per_port"]) for row in rows]


def width(text: str, ports: str) -> tuple[int, bool]:
    """Bits of a range, and whether it grows with the ports."""
    per_port = ports in text
    limits = re.fullmatch(r"\[(.*)-1:0\]|\[(\d+):0\]|", text.replace(" ", ""))
    assert limits, text
    if limits[1]:
        return int(limits[1].replace(f"*{ports}", "").replace(ports, "1")), per_port
    return int(limits[2]) + 1 if limits[2] else 1, per_port


def declared(path: Path, ports: str) -> list[Port]:
    """The ports of a module that we wrote; of one that has a number instead of a parameter, each as wide as for one
    port of that number.
    """
    text = path.read_text()
    rows = re.findall(r"^ {4}(input|output)\s+(?:wire )?logic\s*(\[[^\]]*\])?\s*(\w+)(?=,|$)", text, re.MULTILINE)
    return [(name, way, *width(range_, ports)) for way, range_, name in rows]


def test_table_has_the_facts() -> None:
    if not FACTS.exists():
        pytest.skip(f"no list of the box's ports: {FACTS}")
    facts = [
        (p["name"], p["direction"], *width(p["range"], "NUM_CMAC_PORT")) for p in json.loads(FACTS.read_text())["ports"]
    ]
    assert facts == table()


def test_plugin_has_the_ports_of_the_box() -> None:
    ports = [
        port
        for port in declared(PLUGIN, "Ports")
        if port[0] not in ("card_clk", "card_lock", "unit_rst", "design_hash")
    ]
    assert sorted(ports) == sorted(table())


def written(folder: Path, *options: str, design: Path = ROOT / "designs/forward.toml") -> Path:
    """A project of a design in this folder."""
    command = [
        COMMAND_LINE,
        "fpga",
        "init",
        design,
        "--board",
        "au280",
        "--out",
        folder,
        *options,
    ]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0 and "never built" in done.stdout, done.stderr
    return folder


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("project"))


def test_wrapper_has_the_ports_of_the_box(project: Path) -> None:
    wanted = [(name, way, bits * (2 if per_port else 1)) for name, way, bits, per_port in table()]
    found = [(name, way, bits) for name, way, bits, _ in declared(project / "penstock_322mhz.sv", "no parameter")]
    assert found == wanted
    # The box's names, each once, to the ports of the same name
    rows = re.findall(
        r"^  \.(\w+)\((\w+)\),?$", (project / "box_322mhz/user_plugin_322mhz_inst.vh").read_text(), re.MULTILINE
    )
    assert rows == [(name, name) for name, *_ in table()]


def test_project_has_all_files_that_its_script_reads(project: Path) -> None:
    read = re.findall(
        r"^read_(?:verilog -quiet -sv|xdc -unmanaged) (\S+)$",
        (project / "build_box_322mhz.tcl").read_text(),
        re.MULTILINE,
    )
    assert len(read) > 100 and all((project / file).exists() for file in read) and max(Counter(read).values()) == 1
    assert str(ROOT) not in "".join(path.read_text() for path in project.rglob("*") if path.is_file())
    for name in ("axi_crossbar.tcl", "address_map.v", "address_map_inst.vh"):
        assert (project / f"box_322mhz/box_322mhz_{name}").exists()


def instances(module: str, sources: dict[str, str], path: str = "") -> Iterator[tuple[str, str]]:
    """Path and module of each crossing below a module of ours. Copies of a block are `gen_port[*].`."""
    text = sources[module]
    for found in re.finditer(rf"^( +)(\w+) {PARAMETERS}(i_\w+) \(", text, re.MULTILINE):
        indent, child, name = found.groups()
        # The block that it stands in: the last one that begins a step further out
        blocks = re.findall(
            rf"^{indent[2:]}(?:end else )?(for|if|begin).*begin : (gen_\w+)$", text[: found.start()], re.MULTILINE
        )
        block = f"{blocks[-1][1]}{'[*]' if blocks[-1][0] == 'for' else ''}." if len(indent) > 2 else ""
        place = f"{path}{block}{name}"
        if child in CROSSINGS:
            yield place, child
        if child in sources and child not in ("sync_bits", "reset_bridge"):
            yield from instances(child, sources, f"{place}/")


def source_ns(path: str, shell: str) -> float:
    """Period of the clock at which a crossing begins: the rows of docs/cards.md's table of clocks."""
    clocks = {
        "mac": 1e3 / 322.265625,
        "card": 4.0,
        "registers": 8.0 if shell == "opennic" else 4.0,
        "memory": 1e4 / 3e3,
    }
    by_end = {
        "i_rx/i_fifo/i_published": "mac",
        "i_rx/i_fifo/i_read": "card",
        "i_tx/i_fifo/i_published": "card",
        "i_tx/i_fifo/i_read": "mac",
        "i_rx_lost/i_gray": "mac",
        "i_tx_lost/i_gray": "card",
        "i_up": "card",
        "i_request": "registers",
        "i_request/i_there/i_toggle": "registers",
        "i_request/i_back/i_toggle": "card",
        "i_answer": "card",
        "i_answer/i_there/i_toggle": "card",
        "i_answer/i_back/i_toggle": "registers",
        **{f"i_cross/i_{name}/i_published": "card" for name in ("aw", "w", "ar")},
        **{f"i_cross/i_{name}/i_read": "memory" for name in ("aw", "w", "ar")},
        **{f"i_cross/i_{name}/i_published": "memory" for name in ("r", "b")},
        **{f"i_cross/i_{name}/i_read": "card" for name in ("r", "b")},
    }
    if pair := re.search(r"i_(\w+)_resets/i_([ab])/", path):
        # Side b is the card's, and what one side sees is of the other.
        return clocks["card" if pair[2] == "a" else {"bar": "registers", "mem": "memory"}.get(pair[1], "mac")]
    return clocks[next(clock for end, clock in by_end.items() if path.endswith(end))]


# Designs with card memory: maps have one channel, inline blocks eight, and au280 has two ports for them.
FORWARD = "designs/forward.toml"
MAPS = "device/tests/cards/maps.toml"
MESSAGES = "device/tests/cards/messages.toml"


@pytest.mark.parametrize(
    ("shell", "top", "design", "memories"),
    [
        ("opennic", "opennic_plugin", FORWARD, 0),
        ("corundum", "mqnic_app_block", FORWARD, 0),
        ("corundum", "mqnic_app_block", MAPS, 1),
        ("corundum", "mqnic_app_block", MESSAGES, 2),
    ],
)
def test_each_crossing_has_its_constraint(shell: str, top: str, design: str, memories: int, tmp_path: Path) -> None:
    """Found in the sources, not by the list that the constraints are written from."""
    project = written(tmp_path, "--shell", shell, design=ROOT / design)
    assert json.loads((project / "hardware.json").read_text())["memories"] == memories
    files = [*filelist("shell/cards/lib/lib.f"), *(ROOT / "shell/cards" / shell).glob("*.sv")]
    names = ("shell_card", "mac_rx", "mac_tx", "bar_front", "card_memory", "memory_port", "axi_cross")
    files += [ROOT / f"shell/cards/lib/{name}.sv" for name in names]
    sources = {file.stem: file.read_text() for file in files}
    wanted = Counter()
    for path, kind in instances(top, sources):
        copies = memories if "gen_memory." in path else 3 if "[*]" in path else 1
        for port in range(copies):
            wanted[(path.replace("[*]", f"[{port}]"), kind)] += 1
    text = (project / "crossings.xdc").read_text().replace("\\[", "[").replace("\\]", "]")
    cells = r"\[get_cells -hier -filter \{NAME =~ \*(i_shell_card/\S+)/(\w+)_reg\*\}\]"
    ends = rf"-from {cells} -to {cells} ([\d.]+)$"
    delays = re.findall(rf"^set_max_delay -datapath_only {ends}", text, re.MULTILINE)
    skews = re.findall(rf"^set_bus_skew {ends}", text, re.MULTILINE)
    resets = re.findall(
        r"^set_false_path -to \[get_pins -hier -filter \{NAME =~ \*(i_shell_card/\S+)/chain_q_reg\*/PRE\}\]$",
        text,
        re.MULTILINE,
    )
    found = Counter((path, "reset_bridge") for path in resets)
    for path, begin, other, end, period in delays:
        assert path == other and float(period) == pytest.approx(source_ns(path, shell), abs=1e-3)
        found[(path, {("src_q", "first_q"): "sync_bits", ("word_q", "data_q"): "cross_word"}[begin, end])] += 1
    assert len(text.splitlines()) == 2 + len(delays) + len(skews) + len(resets), "a line that nobody knows"
    bits = [row for row in delays if row[1] == "src_q"]
    assert Counter(skews) == Counter(bits) and len(bits) > 20
    assert found == wanted and len(wanted) > 40
    # The registers that the constraints name exist
    for name in ("src_q", "first_q"):
        assert re.search(rf"\b{name}\b +<=", sources["sync_bits"])
    assert (
        "word_q <=" in sources["cross_word"]
        and "data_q <=" in sources["cross_word"]
        and "chain_q <=" in sources["reset_bridge"]
    )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--board", "au999"], "opennic has no board `au999`: give au45n, au50"),
        (["--board", "au50"], "has 2 ports, and the board au50 has 1"),
        (["--shell", "mine"], "there is no shell `mine`: give opennic or corundum"),
        (["--shell", "corundum", "--board", "au45n"], "corundum has no board `au45n`: give au50"),
        (["--shell", "corundum", "--board", "au50"], "has 2 ports, and the board au50 has 1"),
        (["--out", "others"], "the folder is there already and is no project"),
    ],
)
def test_what_does_not_fit_is_refused(words: list[str], says: str, tmp_path: Path) -> None:
    (tmp_path / "others").mkdir()
    (tmp_path / "others/notes").write_text("")
    out = [] if "--out" in words else ["--out", "project"]
    command = [COMMAND_LINE, "fpga", "init", ROOT / "designs/forward.toml", *words, *out]
    env = {**os.environ, "PENSTOCK_ROOT": str(ROOT)}
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path, env=env)
    assert done.returncode in (1, 2) and says in done.stderr, done.stderr
    assert [file.name for file in tmp_path.rglob("*")] == ["others", "notes"]
