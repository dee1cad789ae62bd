# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The runner of the test benches: file lists, the key of a cached model, the definition of a failure."""

from __future__ import annotations

from pathlib import Path

import pytest
from penstock import hdl


def test_lists_include_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hdl, "ROOT", tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "top.f").write_text("// comment\n-f sub/sub.f\na.sv # twice\na.sv\n\n")
    (tmp_path / "sub" / "sub.f").write_text("b.sv\n../a.sv\n")
    assert hdl.filelist("top.f") == [tmp_path / "sub" / "b.sv", tmp_path / "a.sv"]


def test_model_is_named_by_all_it_is_made_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = tmp_path / "a.sv", tmp_path / "b.sv"
    a.write_text("module a; endmodule\n")
    b.write_text("module b; endmodule\n")

    def key() -> str:
        return hdl.model_key("a", [a, b], {"Units": 1})

    keys = [
        key(),
        hdl.model_key("b", [a, b], {"Units": 1}),
        hdl.model_key("a", [b, a], {"Units": 1}),
        hdl.model_key("a", [a, b], {"Units": 2}),
    ]
    assert keys[0] == key()
    for name, value in (
        ("VERILATOR_ARGS", [*hdl.VERILATOR_ARGS, "--x"]),
        ("OPTIMISE", "OPT_FAST=-O3"),
        ("tools", lambda: ("5.0", "2.0", "12")),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(hdl, name, value)
            keys.append(key())
    # The same bytes, cut elsewhere
    b.write_text(a.read_text() + b.read_text())
    a.write_text("")
    keys.append(key())
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("cases", "failed"),
    [
        ("", 1),
        ("<testcase/>", 0),
        ("<testcase><skipped/></testcase>", 1),
        ("<testcase/><testcase><skipped/></testcase>", 0),
        ("<testcase/><testcase><failure/></testcase><testcase><error/></testcase>", 2),
    ],
)
def test_what_counts_as_a_failure(cases: str, failed: int, tmp_path: Path) -> None:
    path = tmp_path / "results.xml"
    path.write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
    assert hdl.count_failures(path) == failed
