# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""A tenant's frames, state and latency do not depend on other tenants: proven by SymbiYosys (engines/rmt/formal; what
is proven and what is not: engines/rmt/machine.md, Proof).
"""

from __future__ import annotations

import pytest
from penstock.proof import prove

FOLDER = "engines/rmt/formal"


@pytest.mark.parametrize("task", ["transition", "finish", "stage", "exact", "prefix", "action"])
def test_frame(task: str) -> None:
    """A frame's way through a module, from any state: the same in both runs."""
    prove(f"{FOLDER}/frames.sby", task)


@pytest.mark.parametrize("task", ["rows", "first"])
def test_ternary(task: str) -> None:
    """A row matches the frames of its own bank and tenant only; the first row that matched is the result."""
    prove(f"{FOLDER}/ternary.sby", task)


@pytest.mark.parametrize("task", ["lane0", "lane1"])
def test_entry(task: str) -> None:
    """A frame enters in time with its own tenant's row, which only the host writes."""
    prove(f"{FOLDER}/entry.sby", task)


def test_registers() -> None:
    """No operation of another tenant touches a register of the segment."""
    prove(f"{FOLDER}/state.sby", "registers")


def test_memory() -> None:
    """A row is what the host wrote, and a frame reads it: what the other proofs take for granted."""
    prove(f"{FOLDER}/memory.sby", "prove")


def test_vlan() -> None:
    """A frame's tenant follows from all bits of its VLAN id."""
    prove(f"{FOLDER}/vlan.sby", "prove")
