# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""One clock on both targets: programs see the times of a capture's frames in turns, and the time that Python sets."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import pytest
from penstock import Device, PenstockError, UnsupportedError
from system import TARGETS, DesignMaker

BURST, TOKEN_NS = 3, 1 << 20

# A token bucket. Frames that find a token leave, with the time in bytes 2 to 9.
BUCKETS = {
    "rpu": """
#include <penstock.h>

int main(void) {
  uint64_t last = 0;
  uint32_t tokens = 3;
  pn_init();
  for (;;) {
    pn_desc_t frame = pn_recv();
    uint64_t now = pn_time(), earned = (now - last) >> 20;
    volatile uint32_t *words = (volatile uint32_t *)(uintptr_t)(pn_data() + 2);
    if (earned) {
      tokens = earned > 3 - tokens ? 3 : tokens + (uint32_t)earned;
      last = now;
    }
    words[0] = (uint32_t)now;
    words[1] = (uint32_t)(now >> 32);
    if (tokens) {
      tokens--;
      pn_send(frame ^ pn_port(1));
    } else {
      pn_drop(frame);
    }
  }
}
""",
    "xdp": """
#include <packet.h>

struct bucket {
  __u64 last, spent;
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __type(key, __u32);
  __type(value, struct bucket);
  __uint(max_entries, 1);
} buckets SEC(".maps");

SEC("xdp") int limit(struct xdp_md *ctx) {
  __u8 *frame = frame_start(ctx);
  __u32 zero = 0;
  if ((void *)(frame + 10) > frame_end(ctx)) return XDP_DROP;
  struct bucket *bucket = bpf_map_lookup_elem(&buckets, &zero);
  if (!bucket) return XDP_DROP;
  __u64 now = bpf_ktime_get_ns(), earned = (now - bucket->last) >> 20;
  if (earned) {
    bucket->spent = earned > bucket->spent ? 0 : bucket->spent - earned;
    bucket->last = now;
  }
  __builtin_memcpy(frame + 2, &now, 8);
  if (bucket->spent >= 3) return XDP_DROP;
  bucket->spent++;
  return XDP_TX;
}
""",
}
START = 1_700_000_000_123_456_789
# Waits in ns: bursts, a token's worth and a little less, an hour.
WAITS = [0, 1, 1, 1, TOKEN_NS, 5, TOKEN_NS - 1, 1, 3 * TOKEN_NS, 0, 0, 0, 3600 * 10**9, 0, 0, 0, 0, TOKEN_NS]


def passes(times: Iterable[int]) -> list[int]:
    """Which frames find a token."""
    tokens, last, out = BURST, 0, []
    for number, now in enumerate(times):
        earned = (now - last) // TOKEN_NS
        if earned:
            tokens, last = min(BURST, tokens + earned), now
        if tokens:
            tokens -= 1
            out.append(number)
    return out


def write_times(path: Path, times: Iterable[int]) -> Path:
    """A capture with a frame at each of these times, in ns."""
    data = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 1 << 18, 1)
    for number, ns in enumerate(times):
        data += struct.pack("<IIII", *divmod(ns, 10**9), 60, 60) + bytes(59) + bytes([number])
    path.write_bytes(data)
    return path


def seen(data: bytes) -> int:
    return int.from_bytes(data[2:10], "little")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("engine", BUCKETS)
def test_a_token_bucket(engine: str, target: str, make_design: DesignMaker, tmp_path: Path) -> None:
    (tmp_path / "bucket.c").write_text(BUCKETS[engine])
    times = [START]
    for wait in WAITS:
        times.append(times[-1] + wait)
    capture = write_times(tmp_path / "times.pcap", times)
    with Device.open(make_design(tmp_path / "bucket.c", units=1, engine=engine), target=target) as card:
        card.send_capture(capture)
        frames = card.run(rate="turns").frames
        assert [frame.source for frame in frames] == passes(times)
        assert [seen(frame.data) for frame in frames] == [times[number] for number in passes(times)]
        # The frames that leave have the capture's times, on `rtl` with the latency on top.
        for frame in frames:
            assert frame.time_ns - times[frame.source or 0] in (range(1) if target == "soft" else range(1, 100_000))
        # Behind the run the time goes on.
        assert times[-1] <= card.time < times[-1] + 60 * 10**9
        # Python sets the time of frames without a time, also to earlier ones.
        card.load()
        later = [5 * TOKEN_NS + time - START for time in times]
        out = []
        for number, now in enumerate(later):
            card.time = now
            card.send(bytes(60))
            out += [(number, seen(frame.data)) for frame in card.run(rate="turns").frames]
        assert out == [(number, later[number]) for number in passes(later)]
        assert card.time == later[-1]
        card.time = None
        card.send([bytes(60)] * 3)
        card.run()
        assert card.time > later[-1]


@pytest.mark.parametrize("target", TARGETS)
def test_without_turns_time_goes_on_and_captures_begin_when_they_were_made(
    target: str, make_design: DesignMaker, tmp_path: Path
) -> None:
    (tmp_path / "bucket.c").write_text(BUCKETS["rpu"].replace("if (tokens)", "if (1)"))
    times = [START + 1000 * n for n in range(20)]
    capture = write_times(tmp_path / "times.pcap", times)
    with Device.open(make_design(tmp_path / "bucket.c", units=1), target=target) as card:
        card.send_capture(capture)
        frames = card.run().frames
    told = [seen(frame.data) for frame in frames]
    assert all(early < late for early, late in pairwise(told)) and told[-1] < 10**9
    left = [frame.time_ns for frame in frames]
    if target == "soft":
        assert left == times
    else:
        assert all(early < late for early, late in pairwise(left)) and START < left[0] and left[-1] < START + 100_000


def test_frames_enter_at_the_times_of_their_captures(make_design: DesignMaker, tmp_path: Path) -> None:
    (tmp_path / "bucket.c").write_text(BUCKETS["rpu"].replace("if (tokens)", "if (1)"))
    # Two frames at the same time at two ports, a silence of 10,000 cycles, and a time before the one of the last frame.
    left = [START + ns for ns in (0, 40, 200, 40_200, 40_000)]
    right = [START + ns for ns in (40, 44_000)]
    with Device.open(make_design(tmp_path / "bucket.c", units=2, ports=2), target="rtl") as card:
        card.send_capture(write_times(tmp_path / "left.pcap", left), 0)
        card.send_capture(write_times(tmp_path / "right.pcap", right), 1)
        result = card.run(rate="captured")
        first = min(frame.entered or 0 for frame in result.frames)
        entered = {frame.source: (frame.entered or 0) - first for frame in result.frames}
        assert [entered[number] for number in range(4)] == [0, 10, 50, 10_050]
        # The frame with the earlier time enters as soon as the wire is free.
        assert 10_050 < entered[4] <= 10_053
        assert [entered[number] for number in (5, 6)] == [10, 11_000]
        # A frame that leaves has the captures' time of that cycle.
        for frame in result.frames:
            assert frame.time_ns == START + 4 * ((frame.last or 0) - first)
        told = {frame.source: seen(frame.data) for frame in result.frames}
        assert abs(told[6] - told[0] - 44_000) < 2000
        # A run at another rate does not wait.
        card.send_capture(tmp_path / "left.pcap", 0)
        entries = sorted(frame.entered or 0 for frame in card.run().frames)
        assert len(entries) == 5 and entries[-1] - entries[0] < 1000
        # Time that passed before counts for nothing, and a frame without a time enters at once.
        card.step(20_000)
        card.send(bytes(60), 1)
        card.send_capture(tmp_path / "left.pcap", 0)
        entries = sorted(frame.entered or 0 for frame in card.run(rate="captured").frames)
        assert [entry - entries[0] for entry in entries[1:4]] == [0, 10, 50]
        assert entries[4] - entries[0] == 10_050


def test_a_silence_without_end_is_an_error(make_design: DesignMaker, tmp_path: Path) -> None:
    (tmp_path / "bucket.c").write_text(BUCKETS["rpu"])
    capture = write_times(tmp_path / "days.pcap", [START, START + 1000, START + 86_400 * 10**9])
    with Device.open(make_design(tmp_path / "bucket.c", units=2), target="rtl") as card:
        card.send_capture(capture)
        with pytest.raises(PenstockError, match=r"the next frame of port0 comes 86399 s after .* use the rate `turns`"):
            card.run(rate="captured")
        # The card goes on.
        card.send(bytes(60))
        assert len(card.run().frames) >= 1


def test_soft_has_no_time_between_frames(make_design: DesignMaker, tmp_path: Path) -> None:
    (tmp_path / "bucket.c").write_text(BUCKETS["rpu"])
    with Device.open(make_design(tmp_path / "bucket.c", units=1), target="soft") as card:
        card.send(bytes(60))
        with pytest.raises(UnsupportedError, match="a rate needs target rtl or fpga"):
            card.run(rate="captured")
