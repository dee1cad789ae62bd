# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Penstock from Python: open a card, send frames through it, inspect it.

    from penstock import Device

    with Device.open("designs/forward.toml") as card:
        card.send(bytes(60), port=0)
        card.run()
        assert card.receive(1) == [bytes(60)]

`Device` and all that comes with it need the extension, which `./penstock` builds; the modules for test benches of the
hardware itself (`hdl`, `data`) do not, and are imported by name.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from penstock import engines

if TYPE_CHECKING:
    from penstock._native import (
        AccessError,
        BuildError,
        CaptureError,
        CardError,
        DesignError,
        FileError,
        PenstockError,
        ProgramError,
        ServiceError,
        TableError,
        UnsupportedError,
    )
    from penstock._native import (
        __version__ as __version__,
    )
    from penstock.device import Device, ProgramWarning, RoutesError
    from penstock.engines import *  # noqa: F403
    from penstock.result import (
        BlockCounters,
        Counters,
        FaultError,
        Frame,
        HostMemoryCounters,
        InlineCounters,
        PortCounters,
        Result,
        UnitCounters,
    )
    from penstock.unit import Memory, Registers, Unit

__all__ = [
    "AccessError",
    "BlockCounters",
    "BuildError",
    "CaptureError",
    "CardError",
    "Counters",
    "DesignError",
    "Device",
    "FaultError",
    "FileError",
    "Frame",
    "HostMemoryCounters",
    "InlineCounters",
    "Memory",
    "PenstockError",
    "PortCounters",
    "ProgramError",
    "ProgramWarning",
    "Registers",
    "Result",
    "RoutesError",
    "ServiceError",
    "TableError",
    "Unit",
    "UnitCounters",
    "UnsupportedError",
]
__all__ += engines.__all__
__all__.sort()


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from penstock._native import __version__

        return __version__
    # Not at the top: a program that imports one module of this package must not need the extension.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from penstock import _native, device, result, unit

    modules = (device, result, unit, _native, *map(import_module, engines.MODULES))
    return next(getattr(module, name) for module in modules if hasattr(module, name))


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
