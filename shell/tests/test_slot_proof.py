# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""No slot is given to two frames and none is lost: proven by SymbiYosys (shell/formal/slots.sv)."""

from __future__ import annotations

import pytest
from penstock.proof import prove


@pytest.mark.parametrize("task", ["prove", "cover"])
def test_slots(task: str) -> None:
    """prove: from a reset, and by induction at all times. cover: the cases of the proof are reachable."""
    prove("shell/formal/slots.sby", task)
