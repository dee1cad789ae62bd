# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""A card of xdp units, from Python."""

from __future__ import annotations

import struct
from pathlib import Path

from penstock import Device

NUMBERED = Path(__file__).resolve().parents[2] / "device" / "tests" / "firmware" / "numbered.c"


def test_loaded_again_maps_begin_anew(target: str, tmp_path: Path) -> None:
    """A unit without a program has nothing to count; loaded a second time, it counts from 0."""
    design = tmp_path / "design.toml"
    design.write_text(
        f"""
        [card]
        name = "test"
        ports = 2
        [[units]]
        engine = "xdp"
        count = 1
        program = "{NUMBERED}"
        """
    )
    with Device.open(design, target) as card:
        for _ in range(2):
            card.load()
            card.send([bytes(60)] * 5)
            before = [struct.unpack("<Q", data[12:20])[0] for data in card.run().at(0)]
            assert sorted(before) == [0, 1, 2, 3, 4]
