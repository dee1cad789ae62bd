# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The queue between two clocks loses, doubles and reorders nothing, and never overflows: proven by SymbiYosys
(shell/cards/formal/two_clocks.sv).
"""

from __future__ import annotations

import pytest
from penstock.proof import prove


@pytest.mark.parametrize("task", ["prove", "cover"])
def test_fifo_async(task: str) -> None:
    """prove: from a reset, and by induction at all times. cover: the queue fills, and words come out."""
    prove("shell/cards/formal/fifo_async.sby", task)
