# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Fixtures for test benches in pytest: every test that opens a card runs on both targets.

In the conftest.py at the top of your tests:

    pytest_plugins = ["penstock.pytest_plugin"]

and in a test:

    def test_forwards(open_device):
        card = open_device("designs/forward.toml")
        card.send(bytes(60))
        card.run()
        assert card.receive(1) == [bytes(60)]

`pytest --penstock-target soft` or `rtl` runs them on one target only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from penstock import Device

TARGETS = ("soft", "rtl")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("penstock")
    group.addoption("--penstock-target", choices=TARGETS, help="run tests that open cards on this target only")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "penstock_target" in metafunc.fixturenames:
        only = metafunc.config.getoption("--penstock-target", default=None)
        metafunc.parametrize("penstock_target", [only] if only else TARGETS, scope="session")


@pytest.fixture
def open_device(penstock_target: Literal["soft", "rtl"]) -> Iterator[Callable[..., Device]]:
    """Opens a card on the target of the test, with the arguments of `penstock.Device.open`, and
    closes it at the end.
    """
    from penstock import Device

    opened: list[Device] = []

    def open_one(design: Any, **options: Any) -> Device:
        device = Device.open(design, penstock_target, **options)
        opened.append(device)
        return device

    yield open_one
    for device in opened:
        device.close()
