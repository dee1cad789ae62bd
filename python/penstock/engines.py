# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""What engines add to the package. Written by tools/registry.py from engines/*/python; change those."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock import _native
    from penstock.flow import (
        Context,
        Element,
        ElementCounters,
        Event,
        Flow,
        FlowCounters,
        FlowError,
        flow_counters,
    )
    from penstock.maps import (
        Map,
        MapError,
        Maps,
        Records,
    )
    from penstock.variables import (
        UnitVariables,
        VariableError,
        Variables,
    )

__all__ = [
    "Context",
    "Element",
    "ElementCounters",
    "Event",
    "Flow",
    "FlowCounters",
    "FlowError",
    "Map",
    "MapError",
    "Maps",
    "Records",
    "UnitVariables",
    "VariableError",
    "Variables",
    "flow_counters",
]

MODULES = (
    "penstock.flow",
    "penstock.maps",
    "penstock.variables",
)


class OfEngines:
    """The attributes of a device that engines add."""

    def __init__(self, card: _native.Card) -> None:
        from penstock.flow import Flow
        from penstock.maps import Maps
        from penstock.variables import Variables

        self.flow = Flow(card)
        """The elements of the inline chain, by name; those of several inline blocks are called "BLOCK.ELEMENT"."""
        self.maps = Maps(card)
        """The maps of the programs that are loaded, by name."""
        self.variables = Variables(card)
        """The variables of each unit's program: `device.variables[0]` is `device.units[0].variables`."""
