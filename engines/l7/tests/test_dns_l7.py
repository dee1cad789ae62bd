# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Two DNS servers behind one address: the resolver of libc asks, and the card chooses the server by the name's zone."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from netns import LEFT, RIGHT, Net, Up
from system import ROOT

NAMES = ROOT / "engines/l7/programs/names.l7"
# Answers each question for an address with ARGV[2]; one server for each interface, as both have the same address.
SERVER = """
    import socket, struct, sys
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, sys.argv[1].encode())
    sock.bind(("10.0.0.2", 53))
    print("ready", flush=True)
    while True:
        asked, client = sock.recvfrom(4096)
        end = asked.index(b"\\0", 12) + 5
        head = asked[:2] + struct.pack(">5H", 0x8580, 1, 1, 0, 0)
        answer = struct.pack(">HHHIH", 0xC00C, 1, 1, 0, 4) + socket.inet_aton(sys.argv[2])
        sock.sendto(head + asked[12:end] + answer, client)
"""
# Sends one datagram whose name is a pointer to itself.
LIAR = """
    import socket
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.sendto(b"\\0\\1\\1\\0\\0\\1" + bytes(6) + b"\\xc0\\x0c\\0\\1\\0\\1", ("10.0.0.2", 53))
    print("ready", flush=True)
"""


@pytest.fixture
def net() -> Iterator[Net]:
    with Net() as made:
        yield made


def ask(net: Net, folder: Path, name: str) -> str:
    """The address that the resolver of libc finds, or nothing."""
    conf = folder / "resolv.conf"
    conf.write_text("nameserver 10.0.0.2\noptions timeout:1 attempts:1\n")
    script = f"mount --bind {conf} /etc/resolv.conf && exec getent ahostsv4 {name}."
    child = net.start(LEFT, "unshare", "--mount", "sh", "-c", script)
    out, _ = child.communicate(timeout=60)
    return out.split(maxsplit=1)[0] if out else ""


def table(text: str) -> list[dict[str, str]]:
    """The lines of an answer, by the names in them."""
    return [dict(part.partition(" ")[::2] for part in line.split(", ")) for line in text.splitlines()]


def test_two_servers_by_zone(net: Net, tmp_path: Path) -> None:
    for tool in ("getent", "unshare"):
        if shutil.which(tool) is None:
            pytest.skip(f"needs {tool}")
    (tmp_path / "names.l7").write_text(NAMES.read_text().replace("port 2", "port 3"))
    design = (ROOT / "designs/l7-dns.toml").read_text().replace("ports = 3", "ports = 4")
    design = design.replace("../engines/l7/programs/names.l7", "names.l7").replace("../engines", str(ROOT / "engines"))
    (tmp_path / "card.toml").write_text(design)
    # The second server is at port 3, with the address of the first one.
    net.run(RIGHT, "ip", "link", "set", "r1", "address", net.ether(RIGHT, "r0"))
    net.run(RIGHT, "ip", "neigh", "replace", "10.0.0.1", "lladdr", net.ether(LEFT, "l0"), "dev", "r1")
    up = Up(net, tmp_path, tmp_path / "card.toml", ports=4)
    for interface, address in (("r0", "192.0.2.1"), ("r1", "192.0.2.3")):
        net.python(RIGHT, SERVER, interface, address)
    for name, address in (
        ("example.org", "192.0.2.1"),
        ("shop.example", "192.0.2.3"),
        ("WWW.Shop.Example", "192.0.2.3"),
        ("a.b.shop.example", "192.0.2.3"),
        ("db.intern.shop.example", "192.0.2.1"),
        ("workshop.example", "192.0.2.1"),
        ("nobody.shop.example", ""),
    ):
        assert ask(net, tmp_path, name) == address, name
    net.python(LEFT, LIAR)
    rules = {rule["rule"]: int(rule["messages"]) for rule in table(up.ctl("l7", "rules")) if rule["message"]}
    assert (rules["shop"], rules["intern"], rules["default"]) == (3, 1, 2)
    assert rules["nobody"] >= 1
    (counters,) = table(up.ctl("l7", "counters"))
    assert int(counters["denied"]) == rules["nobody"] + 1 and counters["malformed"] == "0"
    end = up.stop()
    assert end["faults"] == []
