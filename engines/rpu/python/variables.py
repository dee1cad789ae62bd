# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Variables of C programs by their names."""

from __future__ import annotations

import json
from collections.abc import Iterator, MutableMapping
from typing import Any

from penstock import _native

__all__ = ["UnitVariables", "VariableError", "Variables"]


class VariableError(_native.ServiceError, KeyError):
    """A variable does not exist, or does not hold the value."""

    __str__ = Exception.__str__


class Variables:
    """The variables of each unit's program: `device.variables[0]` is `device.units[0].variables`."""

    def __init__(self, card: _native.Card) -> None:
        self._card = card

    def __getitem__(self, unit: int) -> UnitVariables:
        return UnitVariables(self._card, unit)


class UnitVariables(MutableMapping[str, Any]):
    """The variables of a unit's program that have a place in its data memory, by name.

    `variables["table"]` reads one, `variables["table[3].count"] = 7` sets a part of one, between two frames. Numbers,
    bools and enums are numbers, bools and names; arrays are lists, arrays of `char` text, structs dicts. A static
    variable of a function is called "FUNCTION.NAME". Variables that the compiler keeps in registers or removes are
    missing; `volatile` ones never are.
    """

    def __init__(self, card: _native.Card, unit: int) -> None:
        self._card = card
        self._unit = unit

    def _ask(self, do: str, **words: Any) -> Any:
        ask = json.dumps({"do": do, "unit": self._unit, **words}, default=_plain)
        try:
            return json.loads(self._card.ask("var", ask))
        except _native.ServiceError as error:
            raise VariableError(str(error)) from None

    def __getitem__(self, name: str) -> Any:
        return self._ask("get", name=name)["values"][0]["value"]

    def __setitem__(self, name: str, value: Any) -> None:
        """Members of a struct that the value leaves out stay as they are."""
        self._ask("set", name=name, value=value)

    def __delitem__(self, name: str) -> None:
        raise VariableError(f"{name} cannot be removed: a program keeps its variables")

    def __iter__(self) -> Iterator[str]:
        return (variable["name"] for variable in self._ask("list")["variables"])

    def __len__(self) -> int:
        return len(self._ask("list")["variables"])

    def __repr__(self) -> str:
        return f"<variables of unit {self._unit}: {', '.join(self)}>"

    def types(self) -> dict[str, str]:
        """The types of the variables, by name."""
        return {variable["name"]: variable["type"] for variable in self._ask("list")["variables"]}


def _plain(value: object) -> object:
    """NumPy's numbers and enum members, which json does not know."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "__index__"):
        return value.__index__()
    raise TypeError(f"a variable takes numbers, text, lists and dicts, not {type(value).__name__}")
