# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Maps that are larger than the chip has memory for, with rows that take each other's place there: no count is lost, on
both targets.
"""

from __future__ import annotations

import random
import struct
from collections import defaultdict
from pathlib import Path

import pytest
from penstock import Device
from system import TARGETS, call, run_design, write_capture

PROGRAM = Path(__file__).parent / "firmware" / "large_maps.c"
# Elements that are so far apart have the same place on the chip.
APART = 16384 * 16


def design(path: Path, map_mib: int) -> Path:
    path.write_text(
        f'[card]\nname = "large"\nports = 2\nxdp.map_mib = {map_mib}\n'
        f'[[units]]\nengine = "xdp"\ncount = 2\nprogram = "{PROGRAM}"\n'
    )
    return path


@pytest.mark.parametrize("target", (*TARGETS, "sim-corundum"))
def test_no_count_is_lost(target: str, tmp_path: Path) -> None:
    """Also on a simulated card, whose maps are on the DDR4 of a board behind Corundum's model."""
    rng = random.Random(16)
    near = rng.sample(range(300_000 - APART), 25)
    elements = near + [index + APART for index in near] + rng.sample(range(300_000), 50)
    keys = [rng.getrandbits(64) for _ in range(60)]
    frames = [
        bytes(14) + struct.pack("<IQ", rng.choice(elements), rng.choice(keys)) + bytes(rng.randrange(34, 60))
        for _ in range(600)
    ]
    counted: dict[object, list[int]] = defaultdict(list)
    place = {"target": "fpga", "card": target} if target == "sim-corundum" else {"target": target}
    with Device.open(design(tmp_path / "large.toml", 16), **place) as card:
        card.send(frames)
        for out in card.run().at(0):
            index, key, of_index, of_key = struct.unpack("<IQII", out[14:34])
            counted["element", index].append(of_index)
            counted["key", key].append(of_key)
        assert sum(map(len, counted.values())) == 2 * len(frames)
        for found in counted.values():
            assert sorted(found) == list(range(len(found)))
        # The host finds the same values, including those that no program has counted.
        for index in (*elements[:60], 299_999):
            assert card.maps["counts"][index] == len(counted["element", index]), index
        assert {key: card.maps["keys"][key] for key in keys} == {key: len(counted["key", key]) for key in keys}
        assert len(card.maps["keys"]) == len(keys)
        card.maps["counts"][299_999] = 7
        card.send([bytes(14) + struct.pack("<IQ", 299_999, 1) + bytes(34)])
        (out,) = card.run().at(0)
        assert struct.unpack("<II", out[26:34]) == (7, 0)


def test_without_memory_it_is_refused(tmp_path: Path) -> None:
    capture = write_capture(tmp_path / "in.pcap", [bytes(60)])
    run = run_design(design(tmp_path / "small.toml", 4), [capture], tmp_path / "out", "rtl")
    assert run.status != 0 and "or the card more memory for maps (xdp.map_mib in [card], up to 16)" in run.stderr, (
        run.stderr
    )
    run = run_design(design(tmp_path / "odd.toml", 5), [capture], tmp_path / "out", "soft")
    assert run.status != 0 and "odd.toml:4: maps have 4 MiB, on the chip, or 8 or 16" in run.stderr, run.stderr


def test_a_card_without_memory_refuses_it(tmp_path: Path) -> None:
    """OpenNIC's box, with the way out: nothing is built, and no project is written."""
    large = design(tmp_path / "large.toml", 8)
    says = (  # a simulated card has one way out more
        "large.toml:4: maps above 4 MiB are in card memory, of which this card has no channel: say 4, or leave the key "
        "out; or take the shell corundum on one of au200, au250, au280, vcu1525{}: OpenNIC's box_322mhz has no port to "
        "a memory"
    )
    simulated = says.format(", or simulate it there: `--card sim-corundum`, of `fpga sim` `--shell corundum`")
    capture = write_capture(tmp_path / "in.pcap", [bytes(60)])
    run = run_design(large, [capture], tmp_path / "out", "fpga")
    assert run.status == 1 and simulated in run.stderr, run.stderr
    done = call("fpga", "sim", large, "--at", tmp_path / "card")
    assert done.returncode == 1 and simulated in done.stderr, done.stderr
    done = call("fpga", "init", large, "--out", tmp_path / "project")
    assert done.returncode == 1 and says.format("") in done.stderr, done.stderr
    # A board of Corundum's without DDR4
    done = call("fpga", "init", large, "--shell", "corundum", "--board", "au55n", "--out", tmp_path / "project")
    assert done.returncode == 1 and "vcu1525: the card uses DDR4, and au55n has none" in done.stderr, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"large.toml", "in.pcap", "out"}
