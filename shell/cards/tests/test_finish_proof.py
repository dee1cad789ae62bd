# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Bursts that a memory has begun end when the card is reset, and no answer from before reaches it: proven by SymbiYosys
(shell/cards/formal/finish.sv).
"""

from __future__ import annotations

import pytest
from penstock.proof import prove


@pytest.mark.parametrize("task", ["prove", "cover"])
def test_finish(task: str) -> None:
    """prove: from a reset, and by induction at all times. cover: resets come in the middle of bursts."""
    prove("shell/cards/formal/finish.sby", task)
