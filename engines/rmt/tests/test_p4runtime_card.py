# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""P4Runtime controllers of others, unmodified, and a device on both targets: finsy and p4runtime-shell set what a card
in hardware has, and frames show that it has an effect.
"""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from device_exchange import Exchange
from p4runtime_controllers import finsy_python, shell_python
from penstock import Device, PenstockError
from system import ROOT, TARGETS

HERE = Path(__file__).parent
PROGRAM = HERE / "programs/card_control.p4"
ANY = "127.0.0.1:0"
LENGTHS = [18, 28, 32, 60, 61, 64, 78, 92, 128, 700, 4092]  # bytes of frames to and from the controller


@pytest.fixture(params=TARGETS, scope="module")
def device(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Device]:
    path = tmp_path_factory.mktemp("card") / "control.toml"
    unit = ROOT / "engines/rpu/programs/forward.c"
    path.write_text(
        '[card]\nname = "control"\nports = 2\n'
        f'[[inline]]\nengine = "rmt"\nrmt.stages = 6\nprogram = "{PROGRAM}"\n'
        f'[[units]]\nengine = "rpu"\ncount = 1\nprogram = "{unit}"\n'
    )
    with Device.open(path, target=request.param) as device:
        yield device


@pytest.fixture(scope="module")
def served(device: Device) -> str:
    """The address of the device's server."""
    return device.serve("p4runtime", ANY)


@pytest.fixture
def address(device: Device, served: str) -> str:
    """The address of the server, with a program that begins anew."""
    ask = {"swap": {"file": "card_control.p4", "source": PROGRAM.read_text()}}
    device.call("rmt", ask)
    return served


def said_by(python: Path, script: str, *words: str | Path) -> Any:
    command = [str(python), str(HERE / script), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def finsy(device: Device, job: str, address: str, *words: Path) -> Any:
    """What finsy says; it can have frames sent into port 0."""
    exchange = Exchange(device)
    try:
        return said_by(finsy_python(), "finsy_control.py", job, address, json.dumps(exchange.command), *words)
    finally:
        exchange.end()


def test_groups(device: Device, address: str) -> None:
    said = finsy(device, "groups", address)
    assert said["before"] == said["gone"] == [] and said["group"] == ["08030000"] * 2
    assert said["groups"] == [["0", "0#7"]] and said["twice"][0][0] == "ALREADY_EXISTS"
    assert [one[0] for one in said["far"]] == (["UNIMPLEMENTED"] if device.target == "rtl" else [])


def test_clones(device: Device, address: str) -> None:
    said = finsy(device, "clones", address)
    assert said["before"] == said["gone"] == ["09090000"] and said["other"] == ["09080000"]
    assert said["clones"] == ["09090000"] * 3 and said["fewer"] == ["09090000"] * 2
    assert said["sessions"] == [[9, ["0", "0#1"]]] and said["twice"][0][0] == "ALREADY_EXISTS"
    codes = ["UNIMPLEMENTED"] if device.target == "rtl" else []
    assert [one[0] for one in said["far"]] == [one[0] for one in said["cut"]] == codes


def test_meters(device: Device, address: str) -> None:
    said = finsy(device, "meters", address)
    assert said["colors"] == said["direct"] == [0, 0, 1, 2, 2]
    assert said["others"] == said["green"] == [0] * 5 and said["reset"] == [[0] * 5] * 2
    assert said["read"] == [None, None, [1, 3], None] and said["direct read"] == [2]
    assert [one[0] for one in said["outside"] + said["wrong"]] == ["OUT_OF_RANGE", "INVALID_ARGUMENT"]


def test_digests(device: Device, address: str) -> None:
    said = finsy(device, "digests", address)
    assert said["config"] == [10] and said["gone"] == 0
    assert said["first"] == [[5, 0], [6, 0]] and said["second"] == [7] and said["acknowledged"] == [5]


def test_packets(device: Device, address: str) -> None:
    said = finsy(device, "packets", address)
    assert said["to"] == [] and said["in"] == [0, 0x2A, "012a0000"]
    assert said["out"] == ["00010203"]


def test_lengths_of_packets(device: Device, served: str) -> None:
    """Frames of all lengths to the controller, and from it; a card in hardware takes frames of up to 4,096 bytes."""
    del served
    rng = random.Random(3)
    frames = [bytes([1, n % 128, 0, 0]) + rng.randbytes(length - 4) for n, length in enumerate(LENGTHS)]
    device.send(frames)
    device.run()
    answer = device.call("rmt", {"stream": {}})
    assert isinstance(answer, dict) and [bytes.fromhex(one) for one in answer["packets"]] == [
        bytes([0, frame[1]]) + frame for frame in frames
    ]
    assert device.receive("host") == device.receive(0) == []
    for length in LENGTHS:
        out = bytes(4) + b"\x00" + rng.randbytes(length - 1)
        device.call("rmt", {"send": {"frame": out.hex()}})
        device.run()
        assert device.receive(0) == [out[4:]], length
    if device.target == "rtl":
        for length in (13, 4097):
            with pytest.raises(PenstockError, match=f"the frame has {length} bytes .* takes 14 to 4096"):
                device.call("rmt", {"send": {"frame": bytes(length).hex()}})
    events = device.call("rmt", {"events": {}})
    assert isinstance(events, dict) and events["lost_packets"] == 0


def test_direct_counters(device: Device, address: str) -> None:
    said = finsy(device, "counters", address)
    assert said["counted"] == [2, 48] and said["set"] == [101, 25] and said["metadata"] == ["note"]


def test_reconcile(device: Device, address: str) -> None:
    said = finsy(device, "pipeline", address, PROGRAM)
    assert said == {"reconciled": "OK", "kept": [0x32], "groups": 1, "refused": "FAILED_PRECONDITION", "still": [0x32]}


def test_p4runtime_shell(device: Device, address: str) -> None:
    exchange = Exchange(device)
    try:
        said = said_by(shell_python(), "shell_control.py", address, json.dumps(exchange.command), "card")
    finally:
        exchange.end()
    assert said["entry"] == ["03010011"] and said["counter"] == [1] and said["gone"] == ["03010000"]
    assert "ALREADY_EXISTS" in said["twice"]
    assert said["meter"] == ["04000000", "04000001", "04000002"]
    assert said["group"] == ["08050000"] * 2 and said["groups"] == [[[0, 1], [0, 2]]]
    assert said["clone"] == ["09060000"] * 2
    assert said["packet in"] == ["01090000" + bytes(range(20)).hex(), ["00", "09"]]
    assert said["packet out"] == ["00060000"] and said["digest"] == ["04", "00"]


@pytest.mark.parametrize("target", TARGETS)
def test_finsy(target: str, tmp_path: Path) -> None:
    """The design of the guide: entries of the router, eve's register, a second controller, another program."""
    with Device.open(ROOT / "designs/rmt.toml", target=target) as device:
        address = device.serve("p4runtime", ANY)

        def job(name: str, *words: Path) -> Any:
            return said_by(finsy_python(), "finsy_controller.py", name, address, *words)

        said = job("tables")
        assert said["primary"] and said["tables"] == ["next_hops", "routes"]
        assert (len(said["before"]), len(said["inserted"]), len(said["after"])) == (4, 6, 7)
        (route,) = set(said["changed"]) - set(said["before"])
        assert "0xac100500/24" in route and "route(next_hop=0x2)" in route
        assert said["default"] == ["drop()"] and said["twice"] == {"1": "ALREADY_EXISTS"}
        assert job("registers") == {"before": [[0, 0]], "after": [[0, 41]]}
        assert job("backup") == {"primary": [True, False], "refused": "PERMISSION_DENIED", "read": 7}
        source = tmp_path / "other.p4"
        text = (ROOT / "engines/rmt/programs/calculator.p4").read_text()
        source.write_text(text.replace("left + hdr", "left - hdr").replace("0x5E: bit_xor();", ""))
        assert job("program", source) == {"first": [4, [0]], "second": [4, [0]]}
        tenants = device.call("rmt", "tenants")
        assert isinstance(tenants, list) and [one["loads"] for one in tenants] == [1, 2]


def test_what_is_no_server(device: Device, served: str) -> None:
    with pytest.raises(PenstockError, match="no server `p5runtime`"):
        device.serve("p5runtime", ANY)
    with pytest.raises(PenstockError, match=f"at work at {served} already"):
        device.serve("p4runtime", ANY)
    with Device.open(ROOT / "designs/forward.toml") as other, pytest.raises(PenstockError, match="has none"):
        other.serve("p4runtime", ANY)


def test_the_end_of_a_device_is_that_of_its_server() -> None:
    """A controller's stream ends, and the address is free at once."""
    device = Device.open(ROOT / "designs/rmt.toml")
    address = device.serve("p4runtime", ANY)
    with Device.open(ROOT / "designs/rmt.toml") as other, pytest.raises(PenstockError, match=address):
        other.serve("p4runtime", address)
    command = [str(finsy_python()), str(HERE / "stream_control.py"), address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as controller:
        assert controller.stdout and controller.stdout.readline() == "open\n"
        device.close()
        assert controller.communicate(timeout=20)[0] == "UNAVAILABLE the server closes\n"
    with pytest.raises(PenstockError, match="closed"):
        device.serve("p4runtime", ANY)
    with Device.open(ROOT / "designs/rmt.toml") as other:
        assert other.serve("p4runtime", address) == address
