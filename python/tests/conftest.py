# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of the Python package; importing `built` builds the extension before they import it."""

from __future__ import annotations

import pytest
from built import COMMAND_LINE, ROOT


@pytest.fixture
def command_line() -> list[str]:
    """The command line of this tree."""
    return [str(COMMAND_LINE)]


@pytest.fixture(autouse=True)
def in_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Designs are named as users name them, from the top of the checkout."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("PENSTOCK_ROOT", str(ROOT))
