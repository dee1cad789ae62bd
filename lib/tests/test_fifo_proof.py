# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The queues in one clock lose, double and reorder nothing, and never overflow: proven by SymbiYosys
(lib/formal/fifos.sv).
"""

from __future__ import annotations

import pytest
from penstock.proof import prove


@pytest.mark.parametrize("task", ["prove", "cover"])
def test_fifos(task: str) -> None:
    """prove: from a reset, and by induction at all times. cover: the queues fill to the last place and run empty."""
    prove("lib/formal/fifos.sby", task)


@pytest.mark.parametrize("task", ["prove", "cover"])
def test_stages(task: str) -> None:
    """Links with a handshake work with register stages (lib/formal/stages.sv)."""
    prove("lib/formal/stages.sby", task)
