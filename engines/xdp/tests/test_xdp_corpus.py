# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Small XDP programs as users write them (engines/xdp/tests/corpus, one idea each): RTL changes frames and maps as
native code does.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from system import ROOT, TARGETS, DesignMaker, assert_twins, run_design, write_capture

CORPUS = ROOT / "engines" / "xdp" / "tests" / "corpus"
# One frame after the other is in the card, as on soft: these programs care about the order.
RATE_GBPS = "0.25"

ADDRESSES = [bytes([10, 0, n % 2, n // 2]) for n in range(6)]
# Entries that a host would have made, by program and map.
ADDRESS = int.from_bytes(ADDRESSES[1], "little")
ENTRIES: dict[str, dict[str, Any]] = {
    "blocklist": {"blocked": {str(ADDRESS): 1}, "ports": {str(0x3500): 1}},
    "blocklist_copies": {"blocked": {str(ADDRESS): 1}},
    "kept_when_blocked": {"blocked": {str(ADDRESS): 1}},
    "to_port": {"blocked": {str(ADDRESS): 1}, "ports": {"0": 2, "1": 1, "2": 16}},
    "to_port_by_tag": {"ports": {"1": 2, "2": 16, "5": 1}},
    "allow_and_block": {
        "allowed": {str(int.from_bytes(ADDRESSES[n], "little")): 1 for n in (1, 2, 3)},
        "blocked": {str(ADDRESS): 1},
    },
}


def traffic() -> list[bytes]:
    """Few addresses, ports and tags, so that flows repeat."""
    rng = random.Random(20)
    frames = []
    for _ in range(48):
        macs = b"".join(bytes([2, 0, 0, 0, 0, rng.randrange(4)]) for _ in range(2))
        tags = b"".join(b"\x81\x00\x00" + bytes([rng.randrange(8)]) for _ in range(rng.choice([0, 0, 0, 1, 2])))
        ports = rng.choice([b"\x00\x35", b"\x00\x50"]) + rng.choice([b"\x00\x35", b"\x1f\x90"])
        body = ports + bytes(12) + rng.randbytes(rng.randrange(40))
        protocol = rng.choice([6, 17, 17, 1])
        if rng.randrange(5):
            options = b"".join(bytes([rng.randrange(4), 4, 0, 0]) for _ in range(rng.choice([0, 0, 0, 1, 3])))
            words = 5 + len(options) // 4
            header = bytes([0x40 | words, 0]) + (4 * words + len(body)).to_bytes(2, "big") + bytes(4)
            header += bytes([rng.choice([1, 64]), protocol, 0, 0])
            packet = b"\x08\x00" + header + rng.choice(ADDRESSES) + rng.choice(ADDRESSES) + options + body
        else:
            header = b"\x60\x00\x00\x00" + len(body).to_bytes(2, "big") + bytes([protocol, rng.choice([1, 64])])
            ends = [bytes([0x20, 1, *bytes(13), rng.randrange(3)]) for _ in range(2)]
            packet = b"\x86\xdd" + header + b"".join(ends) + body
        frame = macs + tags + packet
        frames.append(frame[: rng.randrange(14, 40)] if rng.randrange(12) == 0 else frame)
    return frames


@pytest.mark.parametrize("program", sorted(path.stem for path in CORPUS.glob("*.c")))
def test_corpus(program: str, make_design: DesignMaker, tmp_path: Path) -> None:
    capture = write_capture(tmp_path / "in.pcap", traffic())
    design = make_design(CORPUS / f"{program}.c", units=1, engine="xdp")
    options: list[str | Path] = []
    for name, content in ENTRIES.get(program, {}).items():
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(content))
        options += ["--table", f"{name}={path}"]
    runs, maps = {}, {}
    for target in TARGETS:
        dump = tmp_path / f"maps-{target}"
        rate = ["--rate", RATE_GBPS] if target == "rtl" else []
        runs[target] = run_design(
            design, [capture], tmp_path / target, target, *options, *rate, "--dump", f"map={dump}"
        )
        assert runs[target].status == 0, runs[target].stderr
        # Tables have no order.
        maps[target] = {path.name: sorted(json.loads(path.read_text()), key=json.dumps) for path in dump.glob("*.json")}
    assert_twins(runs["soft"], runs["rtl"])
    assert maps["soft"] == maps["rtl"]
    assert [unit["wild"] for unit in runs["rtl"].result["counters"]["units"]] == [0]
    # Frames take different ways, so that errors can show.
    soft = runs["soft"]
    assert sum(map(bool, soft.frames.values())) + bool(soft.result["drops"]) > 1
