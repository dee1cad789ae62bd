# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The flow table never holds a key twice and never loses one: proven by SymbiYosys
(engines/flow/formal/flow_table.sv).
"""

from __future__ import annotations

import pytest
from penstock.proof import prove

FILE = "engines/flow/formal/flow_table.sby"


def test_prove() -> None:
    """By induction: from a reset, and from any state that the invariants allow to the next state."""
    prove(FILE, "prove")


@pytest.mark.long
def test_cover() -> None:
    """The covered cases are reachable: entries are pushed into the stash and found there, give way, expire, find no
    place.
    """
    prove(FILE, "cover")
