# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Routes for programs: on both targets the results equal plain Python's for the same table."""

from __future__ import annotations

import json
import random
import struct
from collections import Counter
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
from netns import LEFT, Net, Up, finish
from system import TARGETS, DesignMaker, run_design, write_capture
from test_xdp import CAPTURE, SEND

PROGRAM = Path(__file__).parent / "firmware" / "routed.c"
# Results of the helper, with Linux' numbers.
FOUND, NOT_FORWARDED, FORWARDING_OFF, NO_NEIGHBOUR, TOO_LONG = 0, 4, 5, 7, 8
KINDS = {"blackhole": 1, "unreachable": 2, "prohibit": 3, "local": NOT_FORWARDED}
OUTPUT, SKIP_NEIGHBOUR = 2, 4
SHORT = 2  # the program gives the helper too short a struct

Table = dict[str, Any]


def a_table(rng: random.Random) -> Table:
    """Prefixes inside of each other, some of them twice, neighbours on and off their routes."""
    interfaces = {
        str(number): {"mac": rng.randbytes(6).hex(":"), "mtu": rng.choice([576, 1500, 9000]), "forwards": number != 3}
        for number in (1, 2, 3, 16)
    }
    routes: list[dict[str, object]] = []
    neighbours: list[dict[str, object]] = []
    for _ in range(60):
        if rng.random() < 0.5:
            bits = rng.choice([0, 7, 8, 16, 23, 24, 31, 32])
            address: IPv4Address | IPv6Address = an_address(rng, 4)
            gateway = IPv4Address(f"192.0.2.{rng.randrange(4)}")
        else:
            bits = rng.choice([0, 3, 32, 48, 64, 127, 128])
            address, gateway = an_address(rng, 6), IPv4Address(f"192.0.2.{rng.randrange(4)}")
        # With bits after the prefix, which have no meaning.
        route: dict[str, object] = {"dst": f"{address}/{bits}", "metric": rng.randrange(1, 1 << 32)}
        kind = rng.choice(["unicast"] * 8 + list(KINDS))
        if kind != "unicast":
            route["type"] = kind
        else:
            route["dev"] = rng.choice([1, 1, 2, 16, 9])
            if rng.random() < 0.5:
                hop = rng.choice([gateway, IPv6Address(f"fe80::{rng.randrange(1, 4)}")])
                route["gateway"] = str(hop)
        routes.append(route)
        if rng.random() < 0.3:
            routes.append({**route, "metric": rng.randrange(1, 1 << 32), "dev": 2, "type": "unicast"})
    hops = {str(route["gateway"]) for route in routes if "gateway" in route}
    near = {str(an_address(rng, family)) for family in (4, 6) for _ in range(20)}
    for text in sorted(hops | near):
        for dev in (1, 2, 16):
            if rng.random() < 0.7:
                neighbours.append({"dst": text, "dev": dev, "lladdr": rng.randbytes(6).hex(":")})
    return {"interfaces": interfaces, "routes": routes, "neighbours": neighbours}


def an_address(rng: random.Random, family: int) -> IPv4Address | IPv6Address:
    """One of few, so that prefixes meet."""
    if family == 4:
        return IPv4Address(bytes([10, rng.randrange(2), rng.randrange(2), rng.randrange(4)]))
    return IPv6Address(bytes([0x20, 1, 0xD, 0xB8, 0, rng.randrange(2), *bytes(9), rng.randrange(4)]))


def network(text: str) -> IPv4Network | IPv6Network:
    return ip_network(text, strict=False)


def ask(table: Table, query: bytes, flags: int, size: int) -> tuple[int, bytes]:
    """The result of Linux' helper for a table, and its changes of the struct."""
    if size < 64 or flags & ~7:
        return -22, query
    if query[0] not in (2, 10):
        return -97, query
    dest = ip_address(query[32:36] if query[0] == 2 else query[32:48])
    length, ifindex = struct.unpack_from("<HI", query, 6)
    incoming = table["interfaces"].get(str(ifindex))
    if incoming is None:
        return -19, query
    if not incoming["forwards"] and not flags & OUTPUT:
        return FORWARDING_OFF, query
    inside = [route for route in table["routes"] if dest in network(route["dst"])]
    if not inside:
        return NOT_FORWARDED, query
    route = min(inside, key=lambda route: (-network(route["dst"]).prefixlen, route["metric"]))
    if route.get("type", "unicast") != "unicast":
        return KINDS[route["type"]], query
    out = table["interfaces"].get(str(route["dev"]))
    if out is None:
        return NOT_FORWARDED, query
    left = bytearray(query)
    if length > out["mtu"]:
        struct.pack_into("<H", left, 6, out["mtu"])
        return TOO_LONG, bytes(left)
    struct.pack_into("<II", left, 8, route["dev"], route["metric"])
    hop = ip_address(route.get("gateway", str(dest)))
    if "gateway" in route:
        left[0] = 2 if hop.version == 4 else 10
        left[32 : 32 + len(hop.packed)] = hop.packed
    if not flags & SKIP_NEIGHBOUR:
        known = [near for near in table["neighbours"] if (near["dst"], near["dev"]) == (str(hop), route["dev"])]
        if not known:
            return NO_NEIGHBOUR, bytes(left)
        left[52:64] = bytes.fromhex(out["mac"].replace(":", "") + known[0]["lladdr"].replace(":", ""))
    if length:
        struct.pack_into("<H", left, 6, out["mtu"])
    left[48:52] = bytes(4)
    return FOUND, bytes(left)


def frames_of(rng: random.Random, count: int) -> list[bytes]:
    frames = []
    for _ in range(count):
        query = bytearray(rng.randbytes(64))
        family = rng.choice([2, 2, 2, 10, 10, 10, 3])
        query[0] = family
        length, ifindex = (
            rng.choice([0, 60, 576, 577, 1500, 9001, 0xFFFF]),
            rng.choice([1, 1, 1, 2, 3, 16, 17, 32, 1 << 31]),
        )
        struct.pack_into("<HI", query, 6, length, ifindex)
        address = an_address(rng, 6 if family == 10 else 4)
        query[32 : 32 + len(address.packed)] = address.packed
        how = rng.choice([0, 1]) | (SHORT if rng.random() < 0.02 else 0)
        flags = rng.choice([0, 0, 0, 1, OUTPUT, SKIP_NEIGHBOUR, 7, 8, 128])
        frames.append(bytes([how, flags]) + bytes(14) + bytes(query))
    return frames


def answered(table: Table, frame: bytes) -> bytes:
    result, left = ask(table, frame[16:], frame[1], 32 if frame[0] & SHORT else 64)
    return frame[:8] + struct.pack("<q", result) + left


def test_routes(make_design: DesignMaker, tmp_path: Path) -> None:
    rng = random.Random(83)
    table = a_table(rng)
    frames = frames_of(rng, 1000)
    expected = [answered(table, frame) for frame in frames]
    results = Counter(struct.unpack_from("<q", frame, 8)[0] for frame in expected)
    assert set(results) == {-97, -22, -19, *range(6), NO_NEIGHBOUR, TOO_LONG} and min(results.values()) > 2, results
    file = tmp_path / "routes.json"
    file.write_text(json.dumps(table))
    capture = write_capture(tmp_path / "in.pcap", frames)
    design = make_design(PROGRAM, units=2, engine="xdp", policy="round-robin")
    for target in TARGETS:
        run = run_design(design, [capture], tmp_path / target, target, "--table", f"xdp.routes={file}")
        assert run.status == 0, run.stderr
        missing = Counter(expected) - Counter(run.frames["port0"])
        assert not missing, f"{target}: {[frame.hex(' ', 8) for frame in list(missing)[:5]]}"
        assert len(run.frames["port0"]) == len(frames)


@pytest.mark.parametrize("target", TARGETS)
def test_without_routes_there_is_no_device(target: str, make_design: DesignMaker, tmp_path: Path) -> None:
    frames = [bytes(16) + bytes([2]) + bytes(7) + struct.pack("<I", 1) + bytes(52)] * 3
    capture = write_capture(tmp_path / "in.pcap", frames)
    run = run_design(make_design(PROGRAM, units=1, engine="xdp"), [capture], tmp_path / "out", target)
    assert run.frames["port0"] == [answered({"interfaces": {}}, frame) for frame in frames]


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ({"route": []}, "unknown field `route`"),
        ({"routes": [{"dst": "10.0.0.0/33"}]}, "route to 10.0.0.0/33: such addresses have 32 bits"),
        ({"routes": [{"dst": "default", "dev": 32}]}, "route to 0.0.0.0/0: there is no interface 32"),
        ({"interfaces": {"77": {"mac": "02:00:00:00:00:01"}}}, "interfaces: there is no interface 77"),
        (
            {"routes": [{"dst": f"10.{n // 256}.{n % 256}.0/24", "type": "local"} for n in range(2049)]},
            "2049 prefixes of IPv4, neighbours of routes without a gateway among them; a card takes 2048",
        ),
    ],
)
def test_what_is_wrong_with_routes(table: Table, told: str, make_design: DesignMaker, tmp_path: Path) -> None:
    file = tmp_path / "routes.json"
    file.write_text(json.dumps(table))
    capture = write_capture(tmp_path / "in.pcap", [bytes(80)])
    design = make_design(PROGRAM, units=1, engine="xdp")
    run = run_design(design, [capture], tmp_path / "out", "soft", "--table", f"xdp.routes={file}")
    assert run.status == 1 and run.stderr.startswith("error: ") and told in run.stderr, run.stderr


def test_as_many_prefixes_as_a_card_takes(make_design: DesignMaker, tmp_path: Path) -> None:
    """A neighbour needs its own entry only on a route without a gateway, to its interface."""
    near = {"dst": "198.51.100.7", "dev": 2, "lladdr": "02:00:00:00:00:97"}
    table: Table = {
        "interfaces": {str(dev): {"mac": f"02:00:00:00:00:0{dev}", "mtu": 1500, "forwards": True} for dev in (1, 2)},
        "routes": [
            *({"dst": f"10.{n // 256}.{n % 256}.0/24", "type": "local", "metric": 0} for n in range(2046)),
            {"dst": "0.0.0.0/0", "gateway": "192.0.2.1", "dev": 1, "metric": 0},
            {"dst": "198.51.100.0/24", "dev": 1, "metric": 0},
        ],
        "neighbours": [{"dst": "192.0.2.1", "dev": 1, "lladdr": "02:00:00:00:00:91"}, near],
    }
    file = tmp_path / "routes.json"
    file.write_text(json.dumps(table))
    queries = [
        bytes([2, *bytes(7)]) + struct.pack("<I", 1) + bytes(20) + IPv4Address(to).packed + bytes(28)
        for to in ("10.7.253.1", "10.7.254.1", "192.0.2.1", "198.51.100.7")
    ]
    frames = [bytes(16) + query for query in queries]
    capture = write_capture(tmp_path / "in.pcap", frames)
    design = make_design(PROGRAM, units=1, engine="xdp")
    run = run_design(design, [capture], tmp_path / "out", "soft", "--table", f"xdp.routes={file}")
    assert run.status == 0, run.stderr
    assert run.frames["port0"] == [answered(table, frame) for frame in frames]
    near["dev"] = 1
    file.write_text(json.dumps(table))
    run = run_design(design, [capture], tmp_path / "out", "soft", "--table", f"xdp.routes={file}")
    assert run.status == 1 and "2049 prefixes of IPv4" in run.stderr, run.stderr


def test_routes_of_a_card_that_is_up(make_design: DesignMaker, net: Net, tmp_path: Path) -> None:
    """They are shown and replaced while it works, and stay when programs change."""
    up = Up(net, tmp_path, make_design(PROGRAM, units=2, engine="xdp"), driver="packet")
    query = bytes([2, *bytes(7)]) + struct.pack("<I", 1) + bytes(20) + IPv4Address("192.0.2.9").packed
    frame = bytes(16) + query.ljust(64, b"\0")

    def answer() -> int:
        receiver = net.python(LEFT, CAPTURE, "l0", "1")
        finish(net.python(LEFT, SEND, "l0", "1", frame.hex()))
        (line,) = finish(receiver).split()
        return struct.unpack_from("<q", bytes.fromhex(line), 8)[0]

    assert up.ctl("routes", "show") == "" and answer() == -19
    table = {
        "interfaces": {"10": {"mac": "02:00:00:00:00:0a"}, "1": {"mac": "02:00:00:00:00:01", "mtu": 900}},
        "routes": [
            {"dst": "default", "gateway": "198.51.100.1", "dev": 1, "metric": 3},
            {"dst": "192.0.2.0/24", "type": "blackhole"},
        ],
        "neighbours": [{"dst": "198.51.100.1", "dev": 1, "lladdr": "02:00:00:00:00:99"}],
    }
    file = tmp_path / "routes.json"
    file.write_text(json.dumps(table))
    assert up.ctl("routes", "load", file) == "" and answer() == 1
    shown = (
        "interface 1: 02:00:00:00:00:01, mtu 900\ninterface 10: 02:00:00:00:00:0a, mtu 1500\n"
        "0.0.0.0/0 via 198.51.100.1 dev 1 metric 3\nblackhole 192.0.2.0/24\n"
        "198.51.100.1 dev 1 lladdr 02:00:00:00:00:99\n"
    )
    assert up.ctl("routes", "show") == shown
    up.ctl("reload")
    up.ctl("prog", "swap")
    assert up.ctl("routes", "show") == shown and answer() == 1
    for text, told in (
        ("{", "EOF while parsing"),
        ('{"routes": [{"dst": "192.0.2.0/24", "dev": 99}]}', "route to 192.0.2.0/24: there is no interface 99"),
        ('{"routes": [{"dst": "192.0.2.0"}], "rules": []}', "unknown field `rules`"),
    ):
        file.write_text(text)
        assert told in up.refusal("routes", "load", file)
    assert "none.json: No such file" in up.refusal("routes", "load", tmp_path / "none.json")
    # The JSON output can be loaded again.
    routes = json.loads(up.ctl("routes", "show", "--json"))
    file.write_text(json.dumps({**routes, "routes": routes["routes"][:1]}))
    up.ctl("routes", "load", file)
    assert up.ctl("routes", "show") == shown.replace("blackhole 192.0.2.0/24\n", "") and answer() == 0
    up.stop()
