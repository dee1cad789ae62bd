# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Maps of XDP programs: what they count and look up, to be read and filled between runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from penstock import _native


class Maps(Mapping[str, "Map"]):
    """The maps of the programs that are loaded, by name. Global variables are the maps `.data`, `.bss` and `.rodata`.

    When several groups of units have a map of one name, it is called "GROUP.NAME".
    """

    def __init__(self, card: _native.Card) -> None:
        self._card = card

    def __getitem__(self, name: str) -> Map:
        """Raises KeyError, with the names that are there."""
        there = self._card.maps()
        for about in there:
            if about[0] == name:
                return Map(self._card, about)
        raise KeyError(f"there is no map {name!r}; there are: {', '.join(about[0] for about in there)}")

    def __iter__(self) -> Iterator[str]:
        return (about[0] for about in self._card.maps())

    def __len__(self) -> int:
        return len(self._card.maps())

    def __repr__(self) -> str:
        return f"<maps {', '.join(self)}>"


class Records(NamedTuple):
    """What programs sent to the host."""

    records: list[bytes] | list[tuple[int, bytes]]
    """Oldest first; of a perf event array each with the processor (unit * 16 + context) that sent it."""
    lost: int
    """How many found no room since the load, or were left behind by a program that was stopped."""


class Map:
    """A map: `map[key]`, `map[key] = value`, `del map[key]`, `key in map`, `len(map)`, and iteration over its keys.

    By what the object says of types, numbers are int, arrays are lists and structs are dicts; unions, and whatever has no type, are
    bytes. Keys and values are given so, too, or all as bytes; text is read as on the command line ("192.0.2.1"). Fields that a dict
    leaves out are 0. Of per-CPU kinds a value is a list, with one value for each of `processors`; what is given may also be a single
    value, for all.

    Raises MapError for what does not fit, and KeyError where there is no such entry.
    """

    def __init__(self, card: _native.Card, about: _native.MapAbout) -> None:
        self._card = card
        self.name, self.kind, key, value, self.max_entries, self.read_only, processors = about
        self.key_type, self.key_bytes = key
        self.value_type, self.value_bytes = value
        self.processors = range(*processors)
        """Of per-CPU kinds, the processors (unit * 16 + context) that have values; else none."""

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name!r}: {self.key_type} to {self.value_type}, {self.max_entries} entries>"

    def __getitem__(self, key: Any) -> Any:
        value = self._card.map_get(self.name, key)
        if value is None:
            raise KeyError(key)
        return value

    def __setitem__(self, key: Any, value: Any) -> None:
        self._card.map_set(self.name, key, value, "any")

    def __delitem__(self, key: Any) -> None:
        if not self._card.map_delete(self.name, key):
            raise KeyError(key)

    def __contains__(self, key: Any) -> bool:
        return self._card.map_get(self.name, key) is not None

    def __iter__(self) -> Iterator[Any]:
        return (key for key, _ in self.items())

    def __len__(self) -> int:
        """How many entries there are; of an array all that it has."""
        return len(self.items())

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of a key, or the default."""
        value = self._card.map_get(self.name, key)
        return default if value is None else value

    def set(self, key: Any, value: Any, *, when: str = "any") -> None:
        """Sets an entry; `when="noexist"` only a new one, `when="exist"` only one that is there."""
        self._card.map_set(self.name, key, value, when)

    def items(self) -> list[tuple[Any, Any]]:
        """All keys with their values: of arrays in order, of others in none to rely on."""
        return self._card.map_entries(self.name)

    def keys(self) -> list[Any]:
        """All keys. Not a set: a struct is a dict, which has no hash."""
        return [key for key, _ in self.items()]

    def values(self) -> list[Any]:
        """All values."""
        return [value for _, value in self.items()]

    def take(self) -> Records:
        """Of a ring buffer or a perf event array: the records that wait, each once. Such a map has no entries."""
        records, lost = self._card.map_take(self.name)
        if self.kind == "perf_event_array":
            return Records([(processor or 0, record) for processor, record in records], lost)
        return Records([record for _, record in records], lost)

    def update(self, entries: Mapping[Any, Any] | list[tuple[Any, Any]]) -> None:
        """Sets many entries."""
        for key, value in entries.items() if isinstance(entries, Mapping) else entries:
            self[key] = value

    def clear(self) -> None:
        """Takes all entries out. Raises MapError for an array, whose entries are always there."""
        for key in self.keys():
            del self[key]
