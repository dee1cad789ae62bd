# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Text that no file of the tree may contain."""

from __future__ import annotations

import re

import pytest
from tree import ROOT, tracked

# The marks that git leaves where it could not merge.
MARKS = re.compile(rb"^(<{7} |>{7} |\|{7} |={7}$)", re.MULTILINE)


def marks(content: bytes) -> list[bytes]:
    return [match[0] for match in MARKS.finditer(content)]


@pytest.mark.parametrize("text", [b"a\n<<<<<<< HEAD\n", b"=======\n", b">>>>>>> theirs"])
def test_a_mark_is_found(text: bytes) -> None:
    assert marks(text)


def test_no_merge_is_half_done() -> None:
    """Every file that git tracks."""
    found = {name: marks((ROOT / name).read_bytes()) for name in tracked() if not (ROOT / name).is_symlink()}
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_no_link_leads_out_of_the_tree() -> None:
    """A link to a folder of one computer is of no use on another."""
    links = [name for name in tracked() if (ROOT / name).is_symlink()]
    assert [name for name in links if not (ROOT / name).resolve().is_relative_to(ROOT)] == []
