# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Results as notebooks and data scientists use them: pandas, NumPy, HTML, short reprs, types and the version."""

from __future__ import annotations

import tomllib
from html.parser import HTMLParser
from typing import get_args

import numpy as np
import penstock
import pytest
from built import ROOT
from penstock import Counters, DesignError, Device, Frame, PenstockError, device


def test_frames_as_a_table(target: str) -> None:
    with Device.open("designs/forward.toml", target, units=2) as card:
        card.send([bytes([2]) * size for size in (60, 100, 1514)], port=0)
        card.send(bytes(60), port=1)
        result = card.run()
    table = result.to_pandas()
    assert list(table.columns)[:3] == ["data", "length", "port"] and len(table) == 4
    assert sorted(table["length"]) == [60, 60, 100, 1514]
    assert table.groupby("port")["length"].sum().to_dict() == {0: 60, 1: 1674}
    assert str(table["source"].dtype) == "Int64" and table["unit"].isna().all()
    latencies = result.latencies
    assert isinstance(latencies, np.ndarray) and latencies.dtype == np.float64
    if target == "soft":
        assert len(latencies) == 0 and table["latency_ns"].isna().all()
    else:
        assert list(latencies) == list(table["latency_ns"]) and latencies.min() > 100


def test_a_run_without_frames() -> None:
    with Device.open("designs/forward.toml", units=1) as card:
        result = card.run()
    assert len(result.to_pandas()) == 0 and "<table></table>" == result._repr_html_()


class Cells(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.feed(text)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_a_result_in_a_notebook() -> None:
    with Device.open("designs/forward.toml", "rtl", units=2) as card:
        card.send([bytes(60)] * 3)
        card.send(bytes(5))
        result = card.run()
    cells = Cells(result._repr_html_()).texts
    pairs = dict(zip(cells[::2], cells[1::2], strict=True))
    assert pairs["left at 1"] == "3" and pairs["dropped: runt"] == "1" and pairs["cycles"] == str(result.cycles)
    assert pairs["latency, p50 / p99 / most"].endswith(" ns")
    hostile = type(result)(
        **{name: getattr(result, name) for name in result.__slots__ if name != "faults"}, faults=("<script>",)
    )
    assert "<script>" not in hostile._repr_html_() and "<script>" in Cells(hostile._repr_html_()).texts


def test_reprs_are_short() -> None:
    with Device.open("designs/forward.toml", "rtl", units=2) as card:
        card.send(bytes(1514))
        result = card.run()
    (frame,) = result.frames
    assert repr(frame).startswith("<Frame of 1514 B at port 1, sent as 0, ") and repr(frame).endswith(" ns>")
    assert repr(result.counters.ports[1]).startswith("PortCounters(tx_frames=1, tx_bytes=1514")
    assert "rx" not in repr(result.counters.ports[1])
    assert isinstance(result.counters, Counters) and len(repr(result.counters)) < 600
    assert (
        repr(Frame(b"abc", "host", None, 3, 0, None, None, None, None, 0)) == "<Frame of 3 B at host, made by unit 3>"
    )


def test_the_version() -> None:
    assert penstock.__version__ == tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    assert "__version__" in dir(penstock) and (ROOT / "python/penstock/py.typed").exists()


@pytest.mark.parametrize("policy", get_args(device.Policy))
def test_the_literal_types_are_those_of_the_card(policy: device.Policy) -> None:
    Device.open("designs/forward.toml", policy=policy, units=1).close()
    for wrong in ({"policy": "random"}, {"target": "hard"}):
        with pytest.raises(PenstockError) as refused:
            Device.open("designs/forward.toml", **wrong)
        # The message names all words.
        words = get_args(device.Policy if "policy" in wrong else device.Target)
        assert isinstance(refused.value, DesignError | PenstockError)
        assert all(word in str(refused.value) for word in words), refused.value
