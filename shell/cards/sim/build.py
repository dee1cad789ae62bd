# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Builds the model of OpenNIC's shell around a card: `python shell/cards/sim/build.py PROJECT`, where PROJECT is a
folder that `penstock fpga init` has written. The program is PROJECT/sim/opennic_sim; opennic.cpp says how it is used.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "python"))

from penstock.hdl import VERILATOR_ROOT, filelist  # noqa: E402

LISTS = ["lib/rtl/rtl.f", "engines/units.f", "engines/inline.f", "shell/rtl/rtl.f", "shell/cards/opennic/plugin.f"]


def build(project: Path, folder: Path) -> Path:
    """Builds the model of a project's card in a folder; gives the program."""
    parameters: dict[str, str] = json.loads((project / "hardware.json").read_text())["parameters"]
    sources = list(dict.fromkeys(file for name in LISTS for file in filelist(name)))
    folder.mkdir(parents=True, exist_ok=True)
    verilator = [
        str(VERILATOR_ROOT / "bin" / "verilator_bin"),
        *("--cc", "--exe", "-O3", "--x-assign", "fast", "--x-initial", "fast", "--no-timing", "--assert", "-Wno-fatal"),
        *("--output-split", "200000", "--prefix", "Vplugin", "--top-module", "opennic_plugin", "-DPENSTOCK_METASTABLE"),
        *(
            "-CFLAGS",
            f"-std=c++20 -w -DPENSTOCK_PORTS={parameters['Ports']} -DVL_USER_STOP -DVL_USER_FINISH -DVL_USER_FATAL",
        ),
        *("--Mdir", str(folder), "-o", "opennic_sim"),
        *(f"-G{name}={value}" for name, value in parameters.items()),
        *map(str, sources),
        str(ROOT / "shell/cards/sim/opennic.cpp"),
    ]
    env = {**os.environ, "VERILATOR_ROOT": str(VERILATOR_ROOT)}
    quick = ["CFG_CXXFLAGS_PCH_I=-include", "OPT_FAST=-O1", "OPT_SLOW=-O0", "OPT_GLOBAL=-O1"]
    make = ["make", "-C", str(folder), "-f", "Vplugin.mk", "-j", os.environ.get("CARGO_BUILD_JOBS", "2"), *quick]
    with (folder / "build.log").open("w") as log:
        for command in (verilator, make):
            done = subprocess.run(command, check=False, env=env, stdout=log, stderr=subprocess.STDOUT)
            if done.returncode:
                raise SystemExit(f"{command[0]} failed: see {folder / 'build.log'}")
    return folder / "opennic_sim"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    print(build(Path(sys.argv[1]), Path(sys.argv[1]) / "sim"))
