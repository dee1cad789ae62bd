# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Third-party objects, those of Debian's xdp-tools: RTL changes frames and maps as native code does, and the filters
act as their entries say.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from system import TARGETS, DesignMaker, assert_twins, run_design, write_capture

OBJECTS = sorted(Path("/usr/lib").glob("*/bpf/*.o"))
pytestmark = pytest.mark.skipif(not OBJECTS, reason="no objects of xdp-tools; apt-get install xdp-tools")

# Objects with several programs, and which is taken; the dispatcher without programs attached lets all pass.
ENTRY = {"xdp-dispatcher": "xdp_dispatcher"}
# Programs of this object trace others in a kernel.
NO_XDP = "xdpdump_bpf"
# Maps of a card in RTL have a value for each context of each unit: what these have by default is more than it holds.
ENTRIES = {"filter_ports": 128, "filter_ipv4": 16, "filter_ipv6": 16, "filter_ethernet": 16}
# The selectors of the filters: flags of source 1, destination 2, TCP 4, UDP 8.
SOURCE, DESTINATION, TCP, UDP = 1, 2, 4, 8
HOST, OTHER = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
# The filters look a port up in network order, so this one is 1, within the map's few entries.
PORT = 256
MAC, MAC_OTHER = bytes([2, 0, 0, 0, 0, 1]), bytes([2, 0, 0, 0, 0, 2])


def frame(mac: bytes, source: bytes, protocol: int, port: int) -> bytes:
    """A frame to that port of 10.0.0.9."""
    body = b"\x00\x09" + port.to_bytes(2, "big")
    # The length in UDP's header, and that of TCP's header.
    body += bytes([0, 32, 0, 0]) + bytes(24) if protocol == 17 else bytes(8) + b"\x50" + bytes(19)
    header = b"\x45\x00" + (20 + len(body)).to_bytes(2, "big") + bytes(4) + bytes([64, protocol, 0, 0])
    return bytes([2, 0, 0, 0, 0, 9]) + mac + b"\x08\x00" + header + source + bytes([10, 0, 0, 9]) + body


FRAMES = [
    frame(mac, source, protocol, port)
    for mac in (MAC, MAC_OTHER)
    for source in (HOST, OTHER)
    for protocol in (6, 17)
    for port in (PORT, 80)
]
ASKED = {
    "filter_ports": (1, DESTINATION | TCP | UDP),
    "filter_ipv4": (int.from_bytes(HOST, "little"), SOURCE),
    "filter_ethernet": (":".join(f"{byte:02x}" for byte in MAC), SOURCE),
}


def matches(name: str, frame: bytes) -> bool:
    """Whether an entry matches a frame, by the name of a filter."""
    port = int.from_bytes(frame[36:38], "big") == PORT
    found = {
        "eth": frame[6:12] == MAC,
        "ip": frame[26:30] == HOST,
        "tcp": frame[23] == 6 and port,
        "udp": frame[23] == 17 and port,
    }
    wanted = name.rsplit("_", 1)[1]
    return any(found.values()) if wanted == "all" else found[wanted]


@pytest.mark.parametrize("path", OBJECTS, ids=lambda path: path.stem)
def test_object(path: Path, make_design: DesignMaker, tmp_path: Path) -> None:
    name = path.stem
    if name == NO_XDP:
        pytest.skip("it has no XDP program")
    keys = {"xdp.entry": ENTRY[name]} if name in ENTRY else {}
    design = make_design(path, units=1, engine="xdp", **keys)
    there = [entries for entries in ENTRIES if entries.encode() + b"\0" in path.read_bytes()]
    sizes = "".join(f"{entries} = {ENTRIES[entries]}\n" for entries in there)
    design.write_text(design.read_text() + "[units.xdp.entries]\n" + sizes)
    options: list[str | Path] = []
    for asked in there:
        if asked in ASKED:
            key, value = ASKED[asked]
            content: Any = [[key, value]]
            (tmp_path / f"{asked}.json").write_text(json.dumps(content))
            options += ["--table", f"{asked}={tmp_path / asked}.json"]
    capture = write_capture(tmp_path / "in.pcap", FRAMES)
    runs, maps = {}, {}
    for target in TARGETS:
        dump = tmp_path / f"maps-{target}"
        runs[target] = run_design(design, [capture], tmp_path / target, target, *options, "--dump", f"map={dump}")
        assert runs[target].status == 0, runs[target].stderr
        maps[target] = {path.name: sorted(json.loads(path.read_text()), key=json.dumps) for path in dump.glob("*.json")}
    assert_twins(runs["soft"], runs["rtl"])
    assert maps["soft"] == maps["rtl"]
    passed = FRAMES
    if name.startswith("xdpfilt_"):
        # Filters that allow stop frames that match an entry; filters that deny let them pass.
        passed = [frame for frame in FRAMES if matches(name, frame) != ("_alw_" in name)]
        assert 0 < len(passed) < len(FRAMES)
    assert sorted(runs["soft"].frames.get("host", [])) == sorted(passed)
