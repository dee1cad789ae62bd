# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Maps of XDP programs, which hold their counters and lookup data: read and filled between runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from penstock import _native

__all__ = ["Map", "MapError", "Maps", "Records"]

About = dict[str, Any]
"""What the card says of a map."""


class MapError(_native.ServiceError):
    """A map does not exist, or refuses a value."""


def asked(card: _native.Card, do: str, **words: Any) -> Any:
    """The answer of the card's service of maps."""
    try:
        return json.loads(card.ask("map", json.dumps({"do": do, **words})))
    except _native.ServiceError as error:
        raise MapError(str(error)) from None


def listed(card: _native.Card) -> list[About]:
    """The maps of the card; empty if its programs have no maps."""
    try:
        found: list[About] = asked(card, "list")["maps"]
        return found
    except _native.UnsupportedError:
        return []


def written(value: Any, depth: int = 0) -> Any:
    """A key or a value as the service takes it."""
    if depth > 32:
        raise TypeError("a key or value that nests so deep is none of a map")
    if isinstance(value, bytes | bytearray):
        return {"$bytes": bytes(value).hex()}
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return [written(item, depth + 1) for item in value]
    if isinstance(value, dict):
        if not all(isinstance(name, str) for name in value):
            raise TypeError("fields of a struct are named by str")
        return {name: written(item, depth + 1) for name, item in value.items()}
    # NumPy integers and enum members have an index; floats do not.
    if hasattr(value, "__index__"):
        number = value.__index__()
        if not -(1 << 63) <= number < 1 << 64:
            raise TypeError(f"{number} has more than 64 bits")
        return number
    raise TypeError(f"keys and values of maps are int, bytes, str, list or dict, not {type(value).__name__}")


def read(value: Any) -> Any:
    """A key or a value that the service gave: text there is bytes in hexadecimal."""
    if isinstance(value, str):
        return bytes.fromhex(value.removeprefix("0x"))
    if isinstance(value, list):
        return [read(item) for item in value]
    if isinstance(value, dict):
        return {name: read(item) for name, item in value.items()}
    return value


class Maps(Mapping[str, "Map"]):
    """The maps of the programs that are loaded, by name.

    Global variables are the maps `.data`, `.bss` and `.rodata`. When several groups of units have a map of one name, it
    is called "GROUP.NAME".
    """

    def __init__(self, card: _native.Card) -> None:
        self._card = card

    def __getitem__(self, name: str) -> Map:
        """Raises KeyError, with the names that exist."""
        there = listed(self._card)
        for about in there:
            if about["name"] == name:
                return Map(self._card, about)
        raise KeyError(f"there is no map {name!r}; there are: {', '.join(about['name'] for about in there)}")

    def __iter__(self) -> Iterator[str]:
        return (about["name"] for about in listed(self._card))

    def __len__(self) -> int:
        return len(listed(self._card))

    def __repr__(self) -> str:
        return f"<maps {', '.join(self)}>"


class Records(NamedTuple):
    """The records that programs sent to the host."""

    records: list[bytes] | list[tuple[int, bytes]]
    """Oldest first; of a perf event array each with the processor (unit * 16 + context) that sent it."""
    lost: int
    """How many found no room since the load, or were left behind by a program that was stopped."""


class Map:
    """A map: `map[key]`, `map[key] = value`, `del map[key]`, `key in map`, `len(map)`, and iteration over its keys.

    By the object's types, numbers are int, arrays are lists and structs are dicts; unions, and data without a type, are
    bytes. Keys and values may be given in this form, or all as bytes; text is read as on the command line
    ("192.0.2.1"). Fields that a dict leaves out are 0. A value of a per-CPU kind is a list, with one value for each of
    `processors`; a single value is set for all.

    Raises MapError if a key or value does not fit, and KeyError if the entry does not exist.
    """

    def __init__(self, card: _native.Card, about: About) -> None:
        self._card = card
        self.name: str = about["name"]
        self.kind: str = about["kind"]
        self.max_entries: int = about["max_entries"]
        self.read_only: bool = about["read_only"]
        self.key_type: str = about["key"]
        self.key_bytes: int = about["key_bytes"]
        self.value_type: str = about["value"]
        self.value_bytes: int = about["value_bytes"]
        self.processors = range(*(about.get("processors") or (0, 0)))
        """Of per-CPU kinds, the processors (unit * 16 + context) that have values; else none."""

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name!r}: {self.key_type} to {self.value_type}, {self.max_entries} entries>"

    def __getitem__(self, key: Any) -> Any:
        found = self._find(key)
        if not found:
            raise KeyError(key)
        return found[0]

    def _find(self, key: Any) -> list[Any]:
        """The value of a key in a list, which is empty when there is no such entry."""
        return [read(entry["value"]) for entry in self._entries("get", key=written(key), optional=True)]

    def _entries(self, do: str, **words: Any) -> list[dict[str, Any]]:
        """The card's list of the map's entries."""
        entries: list[dict[str, Any]] = []
        while True:
            answer = asked(self._card, do, name=self.name, **words)
            if "entries" not in answer:
                raise MapError(f"{self.name} has records and no entries; `take()` takes them")
            entries += answer["entries"]
            if "next" not in answer:
                return entries
            # A long map comes in slices.
            words["from"] = answer["next"]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.set(key, value)

    def __delitem__(self, key: Any) -> None:
        if not asked(self._card, "delete", name=self.name, key=written(key), optional=True)["changed"]:
            raise KeyError(key)

    def __contains__(self, key: Any) -> bool:
        return bool(self._find(key))

    def __iter__(self) -> Iterator[Any]:
        return (key for key, _ in self.items())

    def __len__(self) -> int:
        """How many entries there are; of an array all that it has."""
        return len(self.items())

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of a key, or the default."""
        found = self._find(key)
        return found[0] if found else default

    def set(self, key: Any, value: Any, *, when: str = "any") -> None:
        """Sets an entry; `when="noexist"` only a new one, `when="exist"` only an existing one."""
        if when not in ("any", "noexist", "exist"):
            raise _native.UnsupportedError(f"`{when}` says not when: give any, noexist or exist")
        asked(self._card, "set", name=self.name, key=written(key), value=written(value), store=when)

    def items(self) -> list[tuple[Any, Any]]:
        """All keys with their values: of arrays in order, of others in none to rely on."""
        return [(read(entry["key"]), read(entry["value"])) for entry in self._entries("dump")]

    def keys(self) -> list[Any]:
        """All keys. Not a set: a struct is a dict, which has no hash."""
        return [key for key, _ in self.items()]

    def values(self) -> list[Any]:
        """All values."""
        return [value for _, value in self.items()]

    def take(self) -> Records:
        """The waiting records of a ring buffer or a perf event array, each once. Such a map has no entries."""
        taken = asked(self._card, "take", name=self.name)
        records, lost = taken["records"], taken["lost"]
        if self.kind == "perf_event_array":
            return Records([(record["cpu"], read(record["data"])) for record in records], lost)
        return Records([read(record) for record in records], lost)

    def update(self, entries: Mapping[Any, Any] | list[tuple[Any, Any]]) -> None:
        """Sets many entries."""
        for key, value in entries.items() if isinstance(entries, Mapping) else entries:
            self[key] = value

    def clear(self) -> None:
        """Takes all entries out. Raises MapError for an array, whose entries are always there."""
        for key in self.keys():
            del self[key]
