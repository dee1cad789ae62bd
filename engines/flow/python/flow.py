# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The inline chain: contexts, registers and events of the flow engine's elements, to be read and
changed between runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

from penstock import _native
from penstock.result import Counters

__all__ = [
    "Context",
    "Element",
    "ElementCounters",
    "Event",
    "Flow",
    "FlowCounters",
    "FlowError",
    "flow_counters",
]


class FlowError(_native.ServiceError):
    """The card has no flow block, or the block refuses a value."""


def asked(card: _native.Card, do: str, **words: Any) -> Any:
    """The answer of the card's service of flow blocks."""
    ask: Any = {do: words} if words else do
    try:
        return json.loads(card.ask("flow", json.dumps(ask, default=str)))
    except (_native.ServiceError, _native.UnsupportedError) as error:
        raise FlowError(str(error)) from None


@dataclass(frozen=True, slots=True)
class Context:
    """An element's context of a flow."""

    key: dict[str, int | str]
    """Fields by name; addresses are text. With `biflow` the side that comes first is the source."""
    state: str
    registers: dict[str, int]
    """Flow registers by name."""
    ends: int | None
    """µs until its time (`for`) is over; None: it has none."""
    ends_then: str | None
    """The state that it then goes to; None: it is removed."""
    idle: int | None
    """µs for which it may have no frames; None: for ever."""
    idle_left: int | None
    """What is left of that."""
    idle_then: str | None


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a context, or because of one."""

    kind: str
    """new, expired, evicted, full or notified."""
    element: str
    time: int
    """In µs."""
    key: dict[str, int | str]
    state: str
    """Before it expired or gave way; else as the row has left it."""
    registers: dict[str, int]


@dataclass(frozen=True, slots=True)
class ElementCounters:
    """Counters of an element."""

    name: str
    """BLOCK.ELEMENT when there are several flow blocks."""
    frames: int
    """Frames that entered it."""
    keyless: int
    """Frames that lack a field of the key."""
    unmatched: int
    """Frames that match no row."""
    unkept: int
    """Frames whose row would have made a context when there was no room."""
    expired: int
    """Contexts that expired."""
    evicted: int
    """Contexts that gave way to others."""
    contexts: int
    """Contexts that there are now."""
    rows: tuple[tuple[int, int], ...]
    """For each row its line in the program and the frames that took it."""


@dataclass(frozen=True, slots=True)
class FlowCounters:
    """Counters of all flow blocks of a card."""

    frames: int
    """Frames that entered the first one."""
    blocked: int
    """Frames that programs dropped."""
    refused: int
    """Frames that were sent to ports that the card does not have."""
    events_lost: int
    """Events that were lost, as too many waited for the host."""
    changes: int
    """How often rows were changed: counters of rows count since the last change."""
    elements: tuple[ElementCounters, ...]


def flow_counters(counters: Counters) -> FlowCounters | None:
    """The counts of flow blocks, from all counters of a card; None if it has no flow block."""
    blocks = [] if counters.inline is None else [block for block in counters.inline.blocks if block.engine == "flow"]
    if counters.inline is None or not blocks:
        return None
    elements = []
    for block in blocks:
        prefix = f"{block.name}." if len(blocks) > 1 else ""
        for element in block.own["elements"]:
            rows = tuple((row["line"], row["frames"]) for row in element["rows"])
            name = element["name"] if element["name"].startswith(prefix) else prefix + element["name"]
            elements.append(ElementCounters(**{**element, "name": name, "rows": rows}))
    return FlowCounters(
        frames=blocks[0].frames,
        blocked=sum(block.blocked for block in blocks),
        refused=counters.inline.refused,
        events_lost=sum(block.own["events_lost"] for block in blocks),
        changes=sum(block.own["changes"] for block in blocks),
        elements=tuple(elements),
    )


class Flow(Mapping[str, "Element"]):
    """The elements of the inline chain, by name; those of several inline blocks are called "BLOCK.ELEMENT".

    Raises FlowError on a card without inline blocks.
    """

    def __init__(self, card: _native.Card) -> None:
        self._card = card

    def __getitem__(self, name: str) -> Element:
        """Raises KeyError, with the names that exist."""
        there = asked(self._card, "list")
        for about in there:
            if about["name"] == name:
                return Element(self._card, about)
        raise KeyError(f"there is no element {name!r}; there are: {', '.join(about['name'] for about in there)}")

    def __iter__(self) -> Iterator[str]:
        return (about["name"] for about in asked(self._card, "list"))

    def __len__(self) -> int:
        return len(asked(self._card, "list"))

    def __repr__(self) -> str:
        return f"<elements {', '.join(self)}>"

    @property
    def time(self) -> int:
        """The clock of the chain in µs. It follows the times of captures; frames without a capture have no time, so set
        the clock for them.

        It never goes back: an earlier time changes nothing.
        """
        now: int = asked(self._card, "time", us=None)
        return now

    @time.setter
    def time(self, micros: int) -> None:
        asked(self._card, "time", us=micros)

    def events(self) -> list[Event]:
        """The events that wait, each once, the oldest first."""
        return [Event(**event) for event in asked(self._card, "events")]

    def change(self, program: str | PathLike[str], block: str = "") -> None:
        """Goes on with the rows of another program, of several inline blocks in `block`. Contexts, registers and
        counters stay.

        Raises ProgramError, or FlowError when elements, keys, states or registers are others; then nothing has changed.
        """
        try:
            self._card.swap(block or None, program)
        except (_native.ServiceError, _native.UnsupportedError) as error:
            raise FlowError(str(error)) from None


class Element:
    """An element: `element[key]`, `del element[key]`, `key in element`, `len(element)`, and iteration over its
    contexts.

    A key is a mapping by the fields' names, a sequence in their order, or, of one field, its value; addresses are text
    or `ipaddress` objects.
    """

    def __init__(self, card: _native.Card, about: dict[str, Any]) -> None:
        self._card = card
        self.name: str = about["name"]
        self.key: tuple[str, ...] = tuple(about["key"] or ())
        """Fields of its key; none: it has no contexts."""
        self.biflow: bool = about["biflow"]
        """Whether both directions have one context."""
        self.states: tuple[str, ...] = tuple(about["states"])
        """Names of its states; a flow without a context is in the first."""
        self.flow_registers: tuple[str, ...] = tuple(about["flow"])
        """Names of the registers of each flow."""
        self.size: int | None = about["of"]
        """How many contexts it holds; None: it has none."""

    def __repr__(self) -> str:
        return f"<element {self.name!r}: key {', '.join(self.key) or 'none'}, {self.size or 0} contexts at most>"

    def __getitem__(self, key: Any) -> Context:
        context = self.get(key)
        if context is None:
            raise KeyError(key)
        return context

    def __delitem__(self, key: Any) -> None:
        if not asked(self._card, "delete", element=self.name, key=key):
            raise KeyError(key)

    def __contains__(self, key: Any) -> bool:
        return self.get(key) is not None

    def __iter__(self) -> Iterator[Context]:
        words: dict[str, Any] = {"element": self.name}
        while True:
            answer = asked(self._card, "dump", **words)
            yield from map(context_of, answer["contexts"])
            if "next" not in answer:
                return
            # A large table comes in slices.
            words["from"] = answer["next"]

    def __len__(self) -> int:
        """The number of contexts, including expired ones that have not been visited since."""
        count: int = self._about()["contexts"]
        return count

    def get(self, key: Any) -> Context | None:
        """The context of a flow; None if the flow has no context."""
        found = asked(self._card, "get", element=self.name, key=key)
        return context_of(found[0]) if found else None

    def insert(
        self,
        key: Any,
        state: str | None = None,
        registers: Mapping[str, int] | None = None,
        *,
        ends: int | None = None,
        ends_then: str | None = None,
        idle: int | None = None,
        idle_then: str | None = None,
    ) -> None:
        """Adds a context, or replaces that of the same flow. Arguments that are left out have the values of a new flow;
        times are in µs.

        Raises FlowError if the element lacks a state or register, or if the table is full.
        """
        context: dict[str, Any] = {"registers": dict(registers or {})}
        if state is not None:
            context["state"] = state
        for name, micros, then in (("for", ends, ends_then), ("idle", idle, idle_then)):
            if micros is not None:
                context[name] = {"us": micros, "then": then}
        asked(self._card, "insert", element=self.name, key=key, context=context)

    def clear(self) -> None:
        """Removes all contexts."""
        asked(self._card, "clear", element=self.name)

    @property
    def registers(self) -> dict[str, int]:
        """The registers of the element (`global`), by name."""
        registers: dict[str, int] = self._about()["registers"]
        return registers

    def set(self, **registers: int) -> None:
        """Sets registers of the element: `element.set(next_port=1024)`."""
        asked(self._card, "set", element=self.name, registers=registers)

    def tell(self, *kinds: str) -> None:
        """Only events of these kinds are kept from now on, of "new", "expired", "evicted", "full" and "notified";
        without any, none. After a load all are.
        """
        asked(self._card, "tell", element=self.name, kinds=list(kinds))

    def _about(self) -> dict[str, Any]:
        return next(about for about in asked(self._card, "list") if about["name"] == self.name)


def context_of(tree: dict[str, Any]) -> Context:
    """A context as the extension gives it."""
    ends, idle = tree.get("for", {}), tree.get("idle", {})
    return Context(
        key=tree["key"],
        state=tree["state"],
        registers=tree["registers"],
        ends=ends.get("us"),
        ends_then=ends.get("then"),
        idle=idle.get("us"),
        idle_left=idle.get("left"),
        idle_then=idle.get("then"),
    )
