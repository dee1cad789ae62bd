# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The mark of a message at the host: the queue of its rule and the port of its sender (designs/l7.toml)."""

from __future__ import annotations

import pytest
from penstock import Device
from qnp import Message
from shop import amount, crc
from system import ROOT, TARGETS

PATHS = [b"/customer/%d" % number for number in range(24)]


@pytest.mark.parametrize("target", TARGETS)
def test_a_message_comes_with_its_queue(target: str) -> None:
    review = Message(1, 1, 1, [(1, b"/CA/2024"), (2, b"/CS/Algebra"), (3, b"x" * 2000)])
    other = Message(1, 1, 2, [(1, b"/CA/2023"), (2, b"/EE/Math")], source="10.0.0.2")
    orders = [Message(2, 2, at, [(1, path), (2, amount(1))], dport=8000) for at, path in enumerate(PATHS)]
    wanted = {review.delivered(2): 0, other.delivered(1): 1 | 1 << 16}
    wanted |= {order.delivered(1): 16 + crc(path) % 4 for order, path in zip(orders, PATHS, strict=True)}
    with Device.open(ROOT / "designs/l7.toml", target) as device:
        device.send(reversed(review.packets([1000])))
        device.send(other.packets(), port=1)
        device.send(frame for order in orders for frame in order.packets())
        frames = device.run().frames
    assert {bytes(frame): frame.mark for frame in frames} == wanted
    assert {frame.port for frame in frames} == {"host"}
    assert len({frame.mark for frame in frames}) == 6


@pytest.mark.parametrize("target", TARGETS)
def test_a_frame_of_a_unit_has_no_mark(target: str) -> None:
    """The answer of a unit leaves at a port, where there are no marks."""
    order = Message(2, 2, 5, [(1, b"/order/9"), (2, amount(30))], dport=8000)
    with Device.open(ROOT / "designs/l7.toml", target) as device:
        device.send(order.packets())
        (frame,) = device.run().frames
    assert (frame.port, frame.mark) == (0, 0)
