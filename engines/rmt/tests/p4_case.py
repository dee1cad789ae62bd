# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""A random P4 program with everything that it works on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import p4_tree as p4
from p4_interpreter import Bucket, State
from p4_tree import Entry, Expr


@dataclass
class Case:
    """A program with everything that it works on."""

    program: p4.Program
    frames: list[tuple[int, int, bytes]]
    """Port, time in ns, bytes."""
    entries: list[Entry] = field(default_factory=list)
    rates: dict[tuple[str, Any], dict[str, int]] = field(default_factory=dict)
    """Of cells of meters by name and number, of entries by table and number."""
    groups: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    sessions: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    sets: dict[str, list[int]] = field(default_factory=dict)
    members: dict[tuple[str, int], tuple[str, list[int]]] = field(default_factory=dict)
    member_groups: dict[tuple[str, int], list[tuple[int, int]]] = field(default_factory=dict)
    features: set[str] = field(default_factory=set)


@dataclass
class Scope:
    """Where statements are: what they can read and write."""

    place: str  # ingress, egress, action, sub, function, parser
    readable: list[Expr]
    writable: list[Expr]
    headers: list[Expr] = field(default_factory=list)
    tables: list[p4.Table] = field(default_factory=list)
    actions: list[p4.Function] = field(default_factory=list)
    subs: list[p4.Object] = field(default_factory=list)
    objects: list[p4.Object] = field(default_factory=list)
    params: list[Expr] = field(default_factory=list)

    def inner(self) -> Scope:
        return replace(self, readable=list(self.readable), writable=list(self.writable))


def state_of(case: Case) -> State:
    """The state in which the program begins."""
    state = State(
        groups=case.groups,
        sessions=case.sessions,
        sets=case.sets,
        members=case.members,
        member_groups=case.member_groups,
    )
    for entry in case.entries:
        state.entries.setdefault(entry.table, []).append(entry)
    state.meters = {name: Bucket(rates, 0) for name, rates in case.rates.items()}
    return state
