# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""P4Runtime as a controller of others sees it: finsy, unmodified, and a card that is up."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from netns import CARD, Net, Up
from p4runtime_controllers import finsy_python
from system import ROOT, call

HERE = Path(__file__).parent
DESIGN = ROOT / "designs/rmt.toml"
ADDRESS = "127.0.0.1:9559"


@pytest.fixture(scope="module")
def controller() -> Path:
    """Python with finsy."""
    return finsy_python()


def finsy(net: Net | None, python: Path, job: str, *words: str | Path) -> dict:
    """The output of finsy, which runs in the card's namespace."""
    command = [str(python), str(HERE / "finsy_controller.py"), job, ADDRESS, *map(str, words)]
    command = net.command(CARD, *command) if net else command
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def listed(up: Up, tenant: str, table: str) -> list[dict]:
    return json.loads(up.ctl("--json", "rmt", "entries", "-t", tenant, table))


def test_info_is_text_of_protobuf(controller: Path) -> None:
    """The text that a Rust test expects of our compiler is read by protobuf, which writes the same."""
    info = ROOT / "engines/rmt/p4runtime/tests/kinds.p4info.txtpb"
    assert finsy(None, controller, "text", info) == {"same": True}


def test_info_of_everything_is_text_of_protobuf(controller: Path, tmp_path: Path) -> None:
    info = tmp_path / "control.txtpb"
    done = call("compile", "rmt", HERE / "programs/control.p4", "--p4info", info)
    assert done.returncode == 0, done.stderr
    assert finsy(None, controller, "text", info) == {"same": True}
    found = info.read_text()
    for part in ("action_profiles", "meters", "direct_meters", "controller_packet_metadata", "value_sets", "digests"):
        assert f"\n{part} {{\n" in found, part
    # Padding is no metadata.
    assert "pad" not in found


def test_finsy(net: Net, controller: Path, tmp_path: Path) -> None:
    up = Up(net, tmp_path, DESIGN, "--p4runtime", ADDRESS)
    assert re.search(rf"^p4runtime at {ADDRESS}$", up.head, re.M)
    said = finsy(net, controller, "tables")
    assert said["primary"] and said["version"] == "1.5.0" and said["tables"] == ["next_hops", "routes"]
    assert all(number >> 24 == 2 for number in said["ids"])
    assert len(said["before"]) == 4 and len(said["inserted"]) == 6
    (route,) = set(said["changed"]) - set(said["before"])
    assert "0xac100500/24" in route and "route(next_hop=0x2)" in route
    assert said["default"] == ["drop()"]
    assert said["twice"] == {"1": "ALREADY_EXISTS"}
    assert len(said["after"]) == 7
    # The service sees the same.
    entries = listed(up, "bob", "routes")
    assert {"172.16.5.0/24": 2, "172.17.0.0/16": 7, "172.18.0.0/16": 1}.items() <= {
        one["match"]["hdr.ipv4.dst"]: one.get("params", {}).get("next_hop") for one in entries if "match" in one
    }.items()
    said = finsy(net, controller, "registers")
    assert said == {"before": [[0, 0]], "after": [[0, 41]]}
    said = finsy(net, controller, "backup")
    assert said == {"primary": [True, False], "refused": "PERMISSION_DENIED", "read": 7}
    up.stop()


def test_a_controller_loads_a_program(net: Net, controller: Path, tmp_path: Path) -> None:
    """Eve gets another program, which begins anew; bob keeps his. Requests that do not fit its P4Info are refused."""
    text = (ROOT / "engines/rmt/programs/calculator.p4").read_text()
    source = tmp_path / "other.p4"
    source.write_text(text.replace("left + hdr", "left - hdr").replace("0x5E: bit_xor();", ""))
    up = Up(net, tmp_path, DESIGN, "--p4runtime", ADDRESS)
    before = listed(up, "bob", "routes")
    assert finsy(net, controller, "program", source) == {"first": [4, [0]], "second": [4, [0]]}
    assert listed(up, "bob", "routes") == before
    bob, eve = json.loads(up.ctl("--json", "rmt", "tenants"))
    assert (bob["loads"], eve["loads"], eve["program"]) == (1, 2, "eve.p4")
    up.stop()
