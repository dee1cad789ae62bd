# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The library for C (engines/l7/c) against servers and clients in Rust (engines/l7/lib/examples/kv)."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from penstock.cargo import example
from qnp_servers import free_address, started_server
from system import ROOT

C = ROOT / "engines/l7/c"


@pytest.fixture(scope="module")
def kv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example in C."""
    if shutil.which("cc") is None:
        pytest.skip("needs cc (Debian: apt-get install gcc)")
    command = ["cargo", "build", "--quiet", "--release", "--locked", "--package", "penstock-qnp-c"]
    subprocess.run(command, cwd=ROOT, check=True)
    library = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "release/libpenstock_qnp_c.a"
    program = tmp_path_factory.mktemp("c") / "kv"
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-I", C / "include"]
    subprocess.run(["cc", *flags, C / "examples/kv.c", library, "-lpthread", "-ldl", "-lm", "-o", program], check=True)
    return program


def asked(kv: Path, *words: str) -> str:
    return subprocess.run([kv, *words], capture_output=True, text=True, check=True, timeout=60).stdout


def test_a_client_in_c_and_a_server_in_rust(kv: Path, tmp_path: Path) -> None:
    with started_server(tmp_path / "store", 4) as (host, port):
        to = f"{host}:{port}"
        assert asked(kv, "get", to, "item:1") == ""
        for number in range(20):
            value = f"{number}" * (1 + 200 * number)
            assert asked(kv, "put", to, f"item:{number % 3}", value) == ""
            assert asked(kv, "get", to, f"item:{number % 3}") == f"{value}\n"
    dump = subprocess.run([example("kv"), "dump", tmp_path / "store"], capture_output=True, text=True, check=True)
    assert dump.stdout == "".join(f"0 0 item:{number % 3}\n" for number in range(20))


def test_a_server_in_c_and_clients_in_rust(kv: Path, tmp_path: Path) -> None:
    host, port = free_address()
    server = subprocess.Popen([kv, "serve", f"{host}:{port}"], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout and server.stdout.readline() == "ready\n"
        words = ["load", f"{host}:{port}", tmp_path / "log", "8", "40", "12"]
        done = subprocess.run([example("kv"), *words], capture_output=True, text=True, check=False, timeout=120)
    finally:
        server.kill()
        out, _ = server.communicate()
    assert done.returncode == 0, done.stderr
    assert Counter(out.splitlines()) == Counter((tmp_path / "log").read_text().splitlines())


def test_faults_are_sentences(kv: Path) -> None:
    host, port = free_address()
    for words, fault in (
        (["get", "nowhere", "item:1"], "`nowhere` is no address with a port, such as 10.0.0.2:7000"),
        (["get", f"{host}:{port}", "x" * 300], "dispatch field 1 has 300 bytes"),
        (["serve", "192.0.2.1:1"], "192.0.2.1:1: "),
    ):
        done = subprocess.run([kv, *words], capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 1 and done.stderr.startswith(f"error: {fault}"), done.stderr
