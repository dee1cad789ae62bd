# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The whole card behind a model of each shell: identified, loaded and read over the simulated BAR, with frames at line
rate from MAC to MAC.
"""

from __future__ import annotations

import os
import random
import socket
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from built import COMMAND_LINE
from penstock import regs
from penstock.hdl import ROOT

WINDOW = 0x10000
SHORTEST = 60
# The letters by which a card names its shell
SHELLS = {"opennic": "ONIC", "corundum": "CORU"}


class Host:
    """A host at the socket, written from shell.h's description of it."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(300)
        self.socket.connect(str(path))

    def ask(self, kind: str, first: int = 0, second: int = 0, data: bytes = b"") -> int:
        self.socket.sendall(kind.encode() + struct.pack("<II", first, second) + data)
        status, word, self.cycle = struct.unpack("<BIQ", self._take(13))
        assert status == 0, self._take(word) if status == 2 else f"status {status}"
        return word

    def _take(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            assert part, "the simulated card has ended"
            data += part
        return data

    def send(self, port: int, frame: bytes, *, bad: bool = False) -> None:
        self.ask("B" if bad else "F", port, len(frame), frame)

    def receive(self, port: int) -> list[bytes]:
        frames = []
        for _ in range(self.ask("G", port)):
            size, first, last = struct.unpack("<IQQ", self._take(20))
            assert first <= last <= self.cycle
            frames.append(self._take(size))
        return frames

    def read(self, address: int) -> int:
        self.ask("W", regs.BAR_PAGE, address >> 16)
        return self.ask("R", WINDOW | address & 0xFFFF)


@pytest.fixture(scope="module", params=SHELLS)
def card(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path, Path]]:
    """A simulated card: its shell, its design and its socket."""
    folder = tmp_path_factory.mktemp("card")
    design = folder / "small.toml"
    text = (ROOT / "designs/forward.toml").read_text()
    assert "count = 16" in text and '"../' in text
    design.write_text(text.replace("count = 16", "count = 1").replace('"../', f'"{ROOT}/'))
    path = folder / "socket"
    command = [COMMAND_LINE, "fpga", "sim", design, "--shell", request.param, "--at", path]
    command += ["--drift", os.environ.get("PENSTOCK_DRIFT", "100")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as simulated:
        assert simulated.stdout and simulated.stdout.readline() == "ready\n"
        yield request.param, design, path
        simulated.kill()


def penstock(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND_LINE, "fpga", *words], check=False, capture_output=True, text=True, cwd=ROOT)


def test_a_card_is_identified_loaded_and_carries_frames(card: tuple[str, Path, Path]) -> None:
    shell, design, path = card
    found = penstock("check", f"sim:{path}")
    assert found.returncode == 0 and "2 ports, 1 units, 0 inline blocks" in found.stdout
    assert found.stdout.endswith(f"in the shell {SHELLS[shell]}\n")
    other = penstock("load", ROOT / "designs/forward.toml", "--card", f"sim:{path}")
    assert other.returncode == 1 and "the design forward asks for 2 ports, 16 units" in other.stderr
    loaded = penstock("load", design, "--card", f"sim:{path}")
    assert loaded.returncode == 0, loaded.stderr

    host, rng = Host(path), random.Random(1)
    assert host.read(regs.CARD_MAGIC) == 0x50454E53 and host.read(regs.CARD_PORTS) == 2
    # No register is there: all ones, and counted
    before = host.ask("R", regs.BAR_ERRORS)
    assert host.read(0x0000_0FF0) == 0xFFFFFFFF and host.ask("R", regs.BAR_ERRORS) == before + 1
    assert host.ask("R", regs.BAR_TIMEOUTS) == 0 and host.ask("R", regs.BAR_STATUS) == 0x701
    sent: list[list[bytes]] = [[], []]
    for size in (60, 64, 65, 128, 129, 1500, 9000, 14, 59):
        for port in (0, 1):
            frame = rng.randbytes(size)
            sent[port].append(frame)
            host.send(port, frame)
    host.ask("T", 20000)
    for port in (0, 1):
        # forward.c sends each frame out of the neighbour port
        assert host.receive(port) == [frame.ljust(SHORTEST, b"\0") for frame in sent[1 - port]]
        base = regs.CARD_STREAM_BASE + regs.CARD_STREAM_STRIDE * port
        assert host.read(base + regs.CARD_STREAM_RX_FRAMES) == host.read(base + regs.CARD_STREAM_TX_FRAMES) == 9
        assert host.ask("R", regs.BAR_PORT_BASE + port * regs.BAR_PORT_STRIDE + regs.BAR_PORT_RX_LOST) == 0
    # Frames that the MAC marks bad are dropped, and no others.
    for port in (0, 1):
        host.send(port, rng.randbytes(200), bad=True)
        host.send(port, good := rng.randbytes(200))
        host.ask("T", 5000)
        assert host.receive(1 - port) == [good]
        base = regs.CARD_STREAM_BASE + regs.CARD_STREAM_STRIDE * port
        assert host.read(base + regs.CARD_STREAM_DROP_DAMAGED) == 1
