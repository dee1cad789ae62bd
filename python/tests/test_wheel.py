# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The wheel, as docs/python.md builds it, works outside the checkout."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from penstock import engines

ROOT = Path(__file__).resolve().parents[2]
TRY = """
import penstock
print(penstock.__file__)
with penstock.Device.open(ROOT + "/designs/forward.toml") as card:
    card.send(b"wheel" * 20, port=1)
    assert card.receive(0) == [b"wheel" * 20]
"""


@pytest.mark.long
def test_the_wheel_works_elsewhere(tmp_path: Path) -> None:
    (command,) = re.findall(r"^build/venv/bin/(maturin build .*)$", (ROOT / "docs/python.md").read_text(), re.MULTILINE)
    # Without optimization, which is quicker to build: the wheel has the same contents.
    command = command.replace("--out build/wheels", f"--out {tmp_path} --profile dev")
    # Its own folder: maturin's settings would make cargo build everything again, for this and for the next build.
    env = {**os.environ, "CARGO_TARGET_DIR": str(ROOT / "build" / "wheels" / "target")}
    subprocess.run([sys.executable, "-m", *command.split()], cwd=ROOT, env=env, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    assert re.fullmatch(r"penstock-[\d.]+-cp311-abi3-.*\.whl", wheel.name)
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"penstock/_native.abi3.so", "penstock/_native.pyi", "penstock/py.typed", "penstock/regs.py"} <= names
    # Modules of engines are links in the checkout.
    assert {f"{name.replace('.', '/')}.py" for name in engines.MODULES} <= names
    assert not any(("test" in name and "pytest" not in name) or "hdl" in name or ".rs" in name for name in names)

    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target"]
    subprocess.run([*pip, str(tmp_path / "site"), str(wheel)], check=True, capture_output=True)
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "site"), "PENSTOCK_ROOT": str(ROOT)}
    python = [sys.executable, "-c", TRY.replace("ROOT", repr(str(ROOT)))]
    done = subprocess.run(python, cwd=tmp_path, env=env, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(tmp_path / "site" / "penstock" / "__init__.py")
    del env["PENSTOCK_ROOT"]
    done = subprocess.run(python, cwd=tmp_path, env=env, check=False, capture_output=True, text=True)
    assert done.returncode == 1 and "set PENSTOCK_ROOT to the checkout" in done.stderr.splitlines()[-1]
