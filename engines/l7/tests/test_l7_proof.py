# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""A message is delivered once, to one queue, and only whole: proven by SymbiYosys (engines/l7/formal; what is proven
and what is not: engines/l7/machine.md, Proof).
"""

from __future__ import annotations

from penstock.proof import prove

FOLDER = "engines/l7/formal"


def test_pool() -> None:
    """A slot or page has one user at a time."""
    prove(f"{FOLDER}/pool.sby", "prove")


def test_table() -> None:
    """The table finds a key exactly while it is there, with its own slot."""
    prove(f"{FOLDER}/table.sby", "prove")


def test_lane() -> None:
    """A message is reported as whole once, behind its last packet, with each packet once."""
    prove(f"{FOLDER}/lane.sby", "prove")


def test_park() -> None:
    """A message in card memory is whole once, with each packet once, and its pages are a chain of its own."""
    prove(f"{FOLDER}/park.sby", "prove")


def test_channel() -> None:
    """A channel of card memory answers each request once, by the memory or with an error after a silence."""
    prove(f"{FOLDER}/channel.sby", "prove")


def test_delivery() -> None:
    """A message that is whole and decided leaves once, as its decision says, with each packet once."""
    prove(f"{FOLDER}/delivery.sby", "prove")
