# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Routes from Python, changed between two runs."""

from __future__ import annotations

import struct
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

import pytest
from penstock import Device, RoutesError

DESIGN = """
[card]
name = "routes"
ports = 2
xdp.routes = "routes.json"

[[units]]
engine = "xdp"
count = 1
program = "{program}"
"""
PROGRAM = Path(__file__).parent / "firmware" / "routed.c"
INTERFACES = {1: {"mac": "02:00:00:00:00:01"}, 2: {"mac": "02:00:00:00:00:02"}}


def asked(card: Device, address: str) -> tuple[int, int, bytes]:
    """Answer, interface and MAC of the next hop."""
    query = bytes([2, *bytes(7)]) + struct.pack("<I", 1) + bytes(20) + IPv4Address(address).packed
    card.send(bytes(16) + query.ljust(64, b"\0"))
    card.run()
    (frame,) = card.receive(0)
    return struct.unpack_from("<q", frame, 8)[0], struct.unpack_from("<I", frame, 24)[0], frame[74:80]


@pytest.mark.parametrize("target", ["soft", "rtl"])
def test_routes_change_while_programs_go_on(target: str, tmp_path: Path) -> None:
    (tmp_path / "routes.json").write_text(
        '{"interfaces": {"1": {"mac": "02:00:00:00:00:01"}}, "routes": [{"dst": "10.0.0.0/8", "type": "local"}]}'
    )
    (tmp_path / "routes.toml").write_text(DESIGN.format(program=PROGRAM))
    with Device.open(tmp_path / "routes.toml", target) as card:
        assert asked(card, "10.1.0.1") == (4, 1, bytes(6))
        near = {"dst": IPv4Address("10.1.0.1"), "dev": 2, "lladdr": "02:aa:00:00:00:01"}
        routes = [{"dst": "10.0.0.0/8", "dev": 2}, {"dst": IPv4Network("10.2.0.0/16"), "type": "prohibit"}]
        card.set_routes({"interfaces": INTERFACES, "routes": routes, "neighbours": [near]})
        assert asked(card, "10.1.0.1") == (0, 2, bytes.fromhex("02aa00000001"))
        assert asked(card, "10.1.0.2") == (7, 2, bytes(6))
        assert asked(card, "10.2.0.2")[0] == 3
        card.set_routes({"interfaces": INTERFACES, "routes": routes[:1]})
        assert asked(card, "10.1.0.1") == (7, 2, bytes(6))
        assert asked(card, "10.2.0.2")[0] == 7
        with pytest.raises(RoutesError, match="there is no interface 99"):
            card.set_routes({"routes": [{"dst": "default", "dev": 99}]})
        with pytest.raises(RoutesError, match="`10/8` is no destination"):
            card.set_routes({"routes": [{"dst": "10/8"}]})
        assert asked(card, "10.2.0.2")[0] == 7
        card.set_routes({})
        assert asked(card, "10.2.0.2")[0] == -19
        for _ in range(2):
            card.load()
            assert asked(card, "10.1.0.1") == (4, 1, bytes(6))
