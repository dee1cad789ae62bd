# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""A block of the rmt engine against a model in plain Python (machine.py): random programs of several tenants on both
lanes, swaps and host writes under load, registers that lanes share, rate, latency, and what the host may ask.
"""

from __future__ import annotations

import itertools
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cocotb
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import machine
from block_bench import CLONES, FIRST_COUNT, Bench, beats
from machine import M32, Machine, Result
from machine_random import Program, Write, nodes, pack, random_frame, random_program, second, unit, units
from penstock import regs
from penstock.hdl import simulate

STAGE_CYCLES, OTHER_CYCLES = 8, 37
Config = list[Write]
NO_DIGEST = (0, 0)  # of EXIT: no record goes to the host
NO_HEAD = (*(0,) * 9, *NO_DIGEST)  # and no header is added or removed
WHOLE = {machine.TENANT, machine.CHECK, machine.EXIT, machine.GROUP, machine.CLONE}  # memories that no stage has
CHANGED = {machine.REGISTER, machine.COUNTER}  # memories that frames change
PLUSARGS = [f"+first_count={FIRST_COUNT}"]
BATCH, BATCH_NS = 150, 700  # frames that meet the same time, and the time between two batches


def machines(bench: Bench, programs: list[Program]) -> Machine:
    model = Machine(bench.stages)
    for program in programs:
        for write in [*present(bench, program.writes), program.enable]:
            model.write(*write)
    return model


def present(bench: Bench, writes: Config) -> Config:
    """Those writes whose memories the stages have. Without its rows, a search of the model finds nothing either."""
    return [write for write in writes if write[:2] not in bench.lacks]


def send_random(bench: Bench, model: Machine, port: int, tenant: int) -> None:
    data, mark = random_frame(bench.rng), bench.rng.getrandbits(32)
    bench.send(port, data, tenant, mark, [model.carry(port, data, tenant, mark)])


@dataclass
class Draw:
    programs: list[Program]
    tenants: list[int]
    model: Machine
    frames: list[tuple[int, bytes, int, int, list[Result]]]  # arguments of Bench.send


def draw(bench: Bench, gone: int) -> Draw:
    """Programs and frames, drawn until the frames hit entries of each kind and meet all verdicts, the usual errors of
    the parser and an end that is too short. `gone` is a tenant without a program.
    """
    rng = bench.rng
    for _ in range(20):
        # A tenant with registers has all its frames on one port: else the lanes' order would decide.
        tenants = rng.sample([tenant for tenant in range(64) if tenant != gone], 8)
        programs = [
            random_program(rng, tenant, rng.randrange(2), bench.stages, part, n < 6, n % 2)
            for n, (tenant, part) in enumerate(zip(tenants, rng.sample(range(16), 8), strict=True))
        ]
        model = machines(bench, programs)
        frames = []
        model.colors.clear()
        for at in range(600):
            n = rng.randrange(8)
            model.now = at // BATCH * BATCH_NS
            port, tenant = n % 2, gone if rng.random() < 0.05 else tenants[n]
            data, mark = random_frame(rng), rng.getrandbits(32)
            frames.append((port, data, tenant, mark, [model.carry(port, data, tenant, mark)]))
        hits = {one.kind for one in model.searched if one.hit}
        verdicts = {result.kind for frame in frames for result in frame[4]}
        if hits == {1, 2, 3} and len(verdicts) == 4 and model.errors >= {0, 1, 4, 5} and model.refused_lengths:
            return Draw(programs, tenants, model, frames)
    raise AssertionError("20 draws leave something out")


@cocotb.test()
async def random_programs(dut: Any) -> None:
    """Frames of many tenants, each with its program; tenants of one lane are in banks and partitions beside those of
    the other one.
    """
    bench = Bench(dut, 1)
    await bench.start()
    gone = 0
    moved: set[int] = set()
    colors: set[int] = set()  # that meters gave
    for turn in range(3):
        drawn = draw(bench, gone)
        bench.drive("now", 0)
        for program in drawn.programs:
            bench.write([*present(bench, program.writes), program.enable])
        bench.into, bench.out = [((1.0, 1.0), (1.0, 1.0)), ((0.7, 1.0), (0.8, 0.5)), ((1.0, 0.3), (1.0, 1.0))][turn]
        await bench.settle()
        read_rows(bench, [write for write in present(bench, drawn.programs[0].writes) if write[0] not in CHANGED])
        for at in range(0, len(drawn.frames), BATCH):
            bench.drive("now", at // BATCH * BATCH_NS)
            for frame in drawn.frames[at : at + BATCH]:
                bench.send(*frame)
            await bench.drain()
        for program in drawn.programs:
            counters = range(program.ROWS * program.part, program.ROWS * (program.part + 1))
            read_counters(bench, drawn.model, counters)
        await bench.settle()
        moved |= drawn.model.moved
        colors |= set(drawn.model.colors)
        assert max(drawn.model.refused_lengths) < 14
        bench.write([(machine.TENANT, 0, tenant, (0,)) for tenant in drawn.tenants])
        # A program that comes later would find the ternary rows.
        rows = [
            row
            for program in drawn.programs
            for row in range(program.ROWS * program.part, program.ROWS * (program.part + 1))
        ]
        cleared = [(machine.TERNARY, stage, row, (0,) * 9) for row in rows for stage in range(bench.stages)]
        bench.write(present(bench, cleared))
        await bench.settle()
        gone = drawn.tenants[0]
    assert colors == {0, 1, 2}
    assert len(moved) > 20 and min(moved) < -64 and max(moved) > 0


def read_counters(bench: Bench, model: Machine, counters: range) -> None:
    for stage in range(bench.stages):
        for counter in counters:
            bench.select(machine.COUNTER, stage, counter)
            for n, word in enumerate(model.read(machine.COUNTER, stage, counter)):

                def compare(value: int, err: bool, wanted: int = word) -> None:
                    assert (value, err) == (wanted, False)

                bench.access(False, regs.RMT_BLOCK_DATA + 4 * n, 0, compare)


def read_rows(bench: Bench, writes: list[Write]) -> None:
    """The host reads a word of some rows of each memory, beside the frames."""
    latest = {write[:3]: write[3] for write in writes}
    memories = {key[:2] for key in latest}
    for memory in sorted(memories):
        keys = sorted(key for key in latest if key[:2] == memory)
        for key in bench.rng.sample(keys, min(len(keys), 4)):
            word = bench.rng.randrange(len(latest[key]))

            def compare(value: int, err: bool, wanted: int = latest[key][word]) -> None:
                assert (value, err) == (wanted, False)

            bench.select(*key)
            bench.access(False, regs.RMT_BLOCK_DATA + 4 * word, 0, compare)


@cocotb.test()
async def rate_and_latency(dut: Any) -> None:
    """A frame in seven of eight cycles on each port; of stateful tenants a frame in each cycle on both ports together.
    A lone frame's latency: a frame that meets the host's slot waits a cycle for the next one.
    """
    bench = Bench(dut, 2)
    await bench.start()
    rng = bench.rng
    programs = [random_program(rng, t, 0, bench.stages, t, t < 2, t % 2, heads=False) for t in range(4)]
    for program in programs:
        bench.write([*program.writes, program.enable])
    await bench.settle()
    for stateful, rate in ((False, 7 / 8), (True, 1 / 2)):
        model = machines(bench, programs)
        for program in programs:
            bench.write([write for write in program.writes if write[0] == machine.REGISTER])
        await bench.settle()
        for port in bench.ports:
            port.gone.clear()
        count = 1500
        for _ in range(count):
            for p in range(2):
                tenant = p if stateful else p + 2
                data, mark = rng.randbytes(rng.randint(14, 80)), rng.getrandbits(32)
                bench.send(p, data, tenant, mark, [model.carry(p, data, tenant, mark)])
        start = bench.cycle
        await bench.drain()
        cycles = max(frame.left for port in bench.ports for frame in port.gone) - start
        assert cycles <= count / rate + 200, f"{count} frames took {cycles} cycles"
    for length in (60, 80, 128, 1500):
        cycles = OTHER_CYCLES + STAGE_CYCLES * bench.stages + (length > 80)
        assert sorted(await latencies(bench, 0, length)) == [cycles] * 7 + [cycles + 1], (length, cycles)


async def latencies(bench: Bench, port: int, length: int) -> list[int]:
    """Cycles of frames that are alone in the block, by the cycle of eight in which they come."""
    found = []
    for phase in range(8):
        while bench.cycle % 8 != phase:
            await bench.step()
        frame = bench.send(port, bench.rng.randbytes(length), 63, 0, [])
        frame.results = [Result("onward", frame.data, 0)]
        while bench.ports[port].waiting or bench.ports[port].inside:
            await bench.step()
        found.append(frame.left - frame.taken)
    return found


@cocotb.test()
async def host_slows_no_frame(dut: Any) -> None:
    """A frame of a tenant without state takes the same cycles whether the host writes or not."""
    bench = Bench(dut, 6)
    await bench.start()
    alone = [await latencies(bench, port, 60) for port in range(2)]
    bench.write([(machine.WAY, 0, n % 8, (0,) * 9) for n in range(1000)])
    beside = [await latencies(bench, port, 60) for port in range(2)]
    assert bench.accesses and beside == alone, (alone, beside)


def tags(tenant: int, push: bool, stages: int) -> Config:
    """A program that puts a word of 0 behind Ethernet, or takes away the word that is there."""
    states = [(pack((4, 5), (4, 10)), 0, pack((1, 0), (16, 16)), 0 if not push else 8 << 6, *(0,) * 8)]
    states.append((pack((4, 0), (1, 5), (1, 10)), 0, pack((4, 16)), 8 << 6, *(0,) * 8))
    writes: Config = [(machine.PARSER, depth, 8 * tenant, state) for depth, state in enumerate(states)]
    ethernet = [pack((1, 6), (2 if word == 0 else 3, 8)) for word in range(4)]
    tag = pack((32, 0), (push, 7), (3, 8))
    head = (pack(*((ethernet[n], 10 * n) for n in range(3))), pack((ethernet[3], 0), (tag, 10)), *(0,) * 7)
    writes += [
        (machine.CHECK, 0, tenant, (0, 0, 0, 3 << 6)),
        (machine.EXIT, 0, tenant, (0, 0, 0, 3 << 6, *head, *NO_DIGEST)),
    ]
    for n in range(stages):
        writes += [(machine.KEY, n, tenant, (0,) * 12), (machine.ACTION, n, 8 * tenant, (0,) * 29)]
    return [*writes, (machine.TENANT, 0, tenant, (1,))]


@cocotb.test()
async def rate_of_heads(dut: Any) -> None:
    """Frames that become four bytes longer or shorter take no more cycles than the beats that they have on one side;
    at 64 bytes they pass at the machine's rate.
    """
    bench = Bench(dut, 12)
    await bench.start()
    rng = bench.rng
    model = Machine(bench.stages)
    for write in [*tags(4, True, bench.stages), *tags(5, False, bench.stages)]:
        model.write(*write)
        bench.write([write])
    await bench.settle()
    count = 400
    for tenant, change in ((4, 4), (5, -4)):
        for length in (60, 64, 76, 82, 126, 132, 193, 260):
            for _ in range(count):
                for p in range(2):
                    data = rng.randbytes(length)
                    frame = bench.send(p, data, tenant, 0, [model.carry(p, data, tenant, 0)])
                    assert len(frame.results[0].frame) == length + change
            start = bench.cycle
            await bench.drain()
            cycles = max(frame.left for port in bench.ports for frame in port.gone) - start
            least = max(1, beats(length), beats(length + change))
            assert cycles <= count * least + 200, (length, change, cycles, least)


def longer(tenant: int, halves: int, stages: int) -> Config:
    """A program that puts so many halves of 0 in front of each frame."""
    words = [pack((32, 0), (1, 7), (3 if 2 * n + 1 < halves else 1, 8)) if 2 * n < halves else 0 for n in range(27)]
    return changing(tenant, (0, 0, pack((1, 0)), 8 << 6, *(0,) * 8), words, stages)


def shorter(tenant: int, halves: int, stages: int) -> Config:
    """A program that takes so many halves from the front of each frame that has the words where they are."""
    end = halves + 1  # of the window, which begins with a half of 0
    count = (end + 1) // 2
    words = [pack((3 if 2 * n + 1 < end else 1, 8)) if 2 * n < end else 0 for n in range(27)]
    return changing(tenant, (pack((count, 5), (count, 10)), 0, pack((4 * count, 16)), 8 << 6, *(0,) * 8), words, stages)


def changing(tenant: int, state: tuple[int, ...], words: list[int], stages: int) -> Config:
    """A program with one state and these words of the new head."""
    head = [pack(*((word, 10 * n) for n, word in enumerate(words[at : at + 3]))) for at in range(0, 27, 3)]
    writes: Config = [(machine.PARSER, 0, 8 * tenant, state)]
    writes += [
        (machine.CHECK, 0, tenant, (0, 0, 0, 3 << 6)),
        (machine.EXIT, 0, tenant, (0, 0, 0, 3 << 6, *head, *NO_DIGEST)),
    ]
    for n in range(stages):
        writes += [(machine.KEY, n, tenant, (0,) * 12), (machine.ACTION, n, 8 * tenant, (0,) * 29)]
    return [*writes, (machine.TENANT, 0, tenant, (1,))]


@cocotb.test()
async def heads_of_all_lengths(dut: Any) -> None:
    """Frames of each length around the ends of beats become longer and shorter by amounts around the ends of beats. A
    folded frame's tail may leave in a beat that it has for itself.
    """
    bench = Bench(dut, 14)
    await bench.start()
    rng = bench.rng
    model = Machine(bench.stages)
    amounts = [1, 7, 8, 9, 24, 25, 31, 32, 33, 39, 40, 41, 52]
    programs = [longer(n, halves, bench.stages) for n, halves in enumerate([*amounts, 53, 54])]
    programs += [shorter(20 + n, halves, bench.stages) for n, halves in enumerate(amounts)]
    for program in programs:
        for write in program:
            model.write(*write)
        bench.write(program)
    await bench.settle()
    cases = [(tenant, length) for tenant in [*range(15), *range(20, 33)] for length in [*range(14, 146), 192, 193, 208]]
    rng.shuffle(cases)
    bench.out = (1.0, 0.7)
    for tenant, length in cases:
        for p in range(2):
            data = rng.randbytes(length)
            bench.send(p, data, tenant, 0, [model.carry(p, data, tenant, 0)])
    await bench.drain()
    assert model.moved >= {2 * n for n in (*amounts, 53, 54)} | {-2 * n for n in amounts}


@cocotb.test()
async def drops_keep_their_order(dut: Any) -> None:
    """Frames wait at the output, and behind them a frame of two beats is dropped of which the first beat is cut away:
    the drop is reported behind all but the first of them, at whatever rate they are taken.
    """
    bench = Bench(dut, 13)
    await bench.start()
    rng = bench.rng
    model = Machine(bench.stages)
    # Frames of less than 84 bytes are dropped.
    for write in shorter(5, 35, bench.stages):
        model.write(*write)
        bench.write([write])
    await bench.settle()

    def send(length: int, tenant: int) -> None:
        for p in range(2):
            data = rng.randbytes(length)
            bench.send(p, data, tenant, 0, [model.carry(p, data, tenant, 0)])

    for ahead in range(4):
        bench.out = (0.0, 0.0)
        for _ in range(ahead):
            send(60, 4)  # a tenant without a program
        send(83, 5)
        send(60, 4)
        for _ in range(200):
            await bench.step()
        assert all(len(port.gone) == (ahead <= 1) for port in bench.ports)
        bench.out = (1.0, 1.0)
        await bench.drain()
        for port in bench.ports:
            port.gone.clear()
    for rate in (0.2, 0.5, 0.8):
        bench.out = (rate, 1.0 - rate)
        for _ in range(300):
            send(*rng.choice([(267, 4), (60, 4), (81, 5), (83, 5), (84, 5), (130, 5)]))
        await bench.drain()


def group_row(queue: int, bank: int, group: int) -> int:
    return 128 * queue + 64 * bank + group


def group_words(ports: list[int], places: list[int] | None = None) -> tuple[int, ...]:
    """The row of a group: 256 is the host. Copies that are not there have a port all the same."""
    copies = [1] * 8
    for place, port in zip(places or range(8), ports, strict=False):
        copies[place] = 1 << 15 | port
    return tuple(copies[n] | copies[n + 1] << 16 for n in range(0, 8, 2))


def copying(
    tenant: int, bank: int, queue: int, halves: int, stages: int, prunes: bool = False, removes: bool = False
) -> Config:
    """A program of which bytes 14 and 15 say the group, with so many halves of 0 in front of each frame; or one that
    removes the first 98 bytes of a frame, if it has so many.
    """
    bt = 64 * bank + tenant
    words = [pack((32, 0), (1, 7), (3 if 2 * n + 1 < halves else 1, 8)) if 2 * n < halves else 0 for n in range(27)]
    if removes:
        words = [pack((3, 8)) if n >= 2 else 0 for n in range(27)]
    head = [pack(*((word, 10 * n) for n, word in enumerate(words[at : at + 3]))) for at in range(0, 27, 3)]
    # Words 0 to 4 of the window go behind the head's words.
    first, count = (2, 25) if removes else (22, 5)
    state = (pack((first, 0), (count, 5), (count, 10)), 0, pack((1, 0), (4 * count - 2, 16)), 8 << 6, *(0,) * 8)
    copies = pack((3, 6), (1, 14), (2 * (first + 4), 15), (queue, 21), (prunes, 24))
    writes: Config = [(machine.PARSER, 0, 8 * bt + n, state) for n in range(2)]  # ports' frames, and controllers'
    writes.append((machine.CHECK, 0, bt, (0, 0, 0, 3 << 6)))
    writes.append((machine.EXIT, 0, bt, (0, 0, 0, copies, *head, *NO_DIGEST)))
    for n in range(stages):
        writes += [(machine.KEY, n, bt, (0,) * 12), (machine.ACTION, n, 8 * bt, (0,) * 29)]
    return [*writes, (machine.TENANT, 0, tenant, (1 | bank << 1,))]


@cocotb.test()
async def copies_of_groups(dut: Any) -> None:
    """Frames of all lengths go to random groups, beside frames that have none, on both lanes; some become longer, and
    some lose more than a beat. A group that is empty, or that no program can have, has no copies. Some programs send no
    copy to the port at which the frame came. A group changes between two frames.
    """
    bench = Bench(dut, 17)
    await bench.start()
    rng = bench.rng
    model = Machine(bench.stages)
    shapes = [(n, rng.randrange(2), n, halves) for n, halves in enumerate((0, 0, 1, 8, 32, 33, -1, 44))]
    for tenant, bank, queue, halves in shapes:
        rows = [(machine.GROUP, 0, group_row(queue, b, group), (0,) * 4) for b in range(2) for group in range(64)]
        program = copying(tenant, bank, queue, halves, bench.stages, tenant % 2 == 1, removes=halves < 0)
        for write in [*rows, *program]:
            model.write(*write)
            bench.write([write])
    groups = [1, 2, 31, 62, 63]
    await bench.settle()

    def change(group: int) -> None:
        for _, bank, queue, _ in shapes:
            ports = [rng.choice([0, 1, 255, 256]) for _ in range(rng.randint(1, 8))]
            row = (
                machine.GROUP,
                0,
                group_row(queue, bank, group),
                group_words(ports, rng.sample(range(8), len(ports))),
            )
            model.write(*row)
            bench.write([row])

    lengths = [14, 15, 16, 18, 60, 64, 65, 79, 80, 81, 127, 128, 129, 300, 700]
    for turn in range(3):
        for group in groups:
            change(group)
        await bench.settle()
        bench.into = [(1.0, 1.0), (1.0, 1.0), (1.0, 0.15)][turn]
        bench.out = [(1.0, 1.0), (0.8, 0.5), (1.0, 0.4)][turn]
        for _ in range(400):
            tenant = rng.randrange(9)
            group = rng.choice([*groups, 0, 0, 0, 64, 65, 0x4001, 40])
            data = rng.randbytes(14) + group.to_bytes(2, "big") + rng.randbytes(rng.choice(lengths))
            data = data[: max(14, len(data) - 16)] if rng.random() < 0.1 else data
            p, mark = rng.randrange(2), rng.getrandbits(32)
            bench.send(p, data, tenant, mark, [model.carry(p, data, tenant, mark)])
            # Copies find room: their queues hold 64 beats.
            while (
                any(
                    frames and sum(beats(len(f.data) + 96) for f in frames) > 16
                    for port in bench.ports
                    for frames in port.kept.values()
                )
                or len(bench.ports[p].waiting) > 3
            ):
                await bench.step()
        await bench.drain()
    assert not any(port.lost for port in bench.ports)
    made = [frame.copied for port in bench.ports for frame in port.gone if frame.copied]
    assert set(made) == set(range(1, 9)) and len(made) > 300


@cocotb.test()
async def copies_take_nothing_from_others(dut: Any) -> None:
    """A tenant sends all frames to a group of eight. Beside it, on the same lane, another one fills what is left of the
    line's rate: it loses nothing, and a frame waits for one copy at most. Copies of a third tenant find room in their
    own queue. What finds no room is lost as a whole, and reported.
    """
    bench = Bench(dut, 18)
    await bench.start()
    rng = bench.rng
    model = Machine(bench.stages)
    program = [*copying(1, 0, 0, 0, bench.stages), *copying(2, 1, 5, 0, bench.stages)]
    program += [(machine.GROUP, 0, group_row(0, 0, 7), group_words([0, 1] * 4))]
    program += [(machine.GROUP, 0, group_row(5, 1, 7), group_words([1, 256]))]
    for write in program:
        model.write(*write)
    bench.write(program)
    await bench.settle()
    longest = 40
    sent = {1: 0, 2: 0, 3: 0}
    for n in range(3000):
        tenant = 2 if n % 24 == 23 else rng.choice([1, 3])
        size = rng.choice([60, 64 * longest - 70]) if tenant == 1 and rng.random() < 0.1 else 60
        data = rng.randbytes(14) + bytes([0, 7]) + rng.randbytes(size - 16)
        result = model.carry(0, data, tenant, 0) if tenant < 3 else Result("onward", data, 0)
        bench.send(0, data, tenant, 0, [result])
        sent[tenant] += 1
        # A port at its line rate brings a beat in three of five cycles.
        for _ in range(beats(size) * 5 // 3 + (n % 3 != 0)):
            await bench.step()
        assert len(bench.ports[0].waiting) <= longest, "the port is held"
    await bench.drain()
    gone = bench.ports[0].gone
    count = {tenant: sum(frame.tenant == tenant for frame in gone) for tenant in sent}
    assert count[2] == sent[2] and count[3] == sent[3]
    assert bench.ports[0].lost == sent[1] - count[1] > 500 and count[1] > 100
    bound = OTHER_CYCLES + STAGE_CYCLES * bench.stages + longest + 8
    waits = [frame.left - frame.taken for frame in gone if frame.tenant == 3]
    assert max(waits) <= bound, (max(waits), bound)
    assert sorted(waits)[len(waits) // 2] <= bound - longest


def punting(tenant: int, bank: int, queue: int, halves: int, stages: int, spec: int) -> Config:
    """As [`copying`], of frames that all have this `egress_spec`, and whose frames to the host go to the controller."""
    writes = copying(tenant, bank, queue, halves, stages, prunes=tenant % 2 == 1)
    check, leave = 64 * bank + tenant, next(write for write in writes if write[0] == machine.EXIT)
    row = list(leave[3])
    row[3] |= 1 << 25
    verdict = (machine.CHECK, 0, check, (1 << 16 | spec, 0, 0, 3 << 6))
    return [write for write in writes if write[0] != machine.CHECK and write != leave] + [
        verdict,
        (*leave[:3], tuple(row)),
    ]


def cloning(
    tenant: int, bank: int, queue: int, halves: int, stages: int, raw: bool, spec: int = 0, punts: bool = False
) -> Config:
    """As [`copying`], with bytes 16 and 17 as the clone session. Clones are the frame as it came, or as it leaves."""
    writes = copying(tenant, bank, queue, halves, stages, removes=halves < 0)
    bt = 64 * bank + tenant
    first = 2 if halves < 0 else 22
    made: Config = []
    for memory, stage, row, words in writes:
        row_of = list(words)
        if memory == machine.EXIT:
            row_of[3] |= pack((2 * (first + 4) + 1, 26), (punts, 25))
            row_of[13] |= pack((1, 30), (raw, 31))
        made.append((memory, stage, row, tuple(row_of)))
    return [write for write in made if write[0] != machine.CHECK] + [
        (machine.CHECK, 0, bt, (1 << 16 | spec, 0, 0, 3 << 6))
    ]


@cocotb.test()
async def clones_leave_beside_frames(dut: Any) -> None:
    """Frames of all lengths are cloned, as they came or as they leave, by programs that change their length or not. Of
    some frames copies leave instead, some go to the controller, and some are dropped, of which only clones of the frame
    as it came leave. Sessions are empty, or have numbers that no program can have.
    """
    bench = Bench(dut, 57)
    await bench.start()
    rng = bench.rng
    model = Machine(bench.stages)
    shapes = [(0, False, 0), (0, True, 0), (1, True, 1), (33, True, 1), (44, False, 0), (-1, True, 0), (-1, False, 1)]
    shapes += [(8, True, 511)]
    # With these, a copy and a clone of one frame have the same bytes, so the test could not tell which of them has
    # left.
    alike = [n for n, (halves, raw, _) in enumerate(shapes) if not raw or halves == 0]
    program: Config = []
    for n, (halves, raw, spec) in enumerate(shapes):
        bank, punts = rng.randrange(2), n in (1, 4)
        rows = [(memory, 0, group_row(n, b, g), (0,) * 4) for memory in (machine.GROUP, machine.CLONE)
                for b in range(2) for g in range(64)]  # fmt: skip
        program += [*rows, *cloning(n, bank, n, halves, bench.stages, raw, 510 if punts else spec, punts)]
        for number in (1, 5, 62, 63):
            for memory in (machine.GROUP, machine.CLONE):
                ports = [rng.choice([0, 1, 255, 256]) for _ in range(rng.choice([1, 1, 2, 3, 7]))]
                ports += [512 + bank] * (rng.randrange(2) if memory == machine.GROUP or not punts else 0)
                words = group_words(ports, rng.sample(range(8), len(ports)))
                program.append((memory, 0, group_row(n, bank, number), words))
    for write in program:
        model.write(*write)
    bench.write(program)
    await bench.settle()
    lengths = [18, 19, 60, 63, 64, 65, 79, 80, 81, 127, 128, 129, 192, 300, 700]
    kinds: set[tuple[str, bool]] = set()
    for into, out in (((1.0, 1.0), (1.0, 1.0)), ((1.0, 1.0), (0.7, 0.4)), ((0.5, 0.8), (1.0, 0.5))):
        bench.into, bench.out = into, out
        for _ in range(300):
            tenant, group = rng.randrange(len(shapes) + 1), rng.choice([0, 0, 0, 0, 1, 5, 63])
            session = rng.choice([0, 1, 1, 5, 5, 62, 63, 64, 40, 0x4001])
            if tenant in alike and group:
                session = 0
            data = rng.randbytes(14) + group.to_bytes(2, "big") + session.to_bytes(2, "big")
            data += rng.randbytes(rng.choice(lengths) - 18 + rng.randrange(2))
            p, mark = rng.randrange(2), rng.getrandbits(32)
            result = model.carry(p, data, tenant, mark)
            kinds.add((result.kind, bool(result.clones)))
            bench.send(p, data, tenant, mark, [result])
            # Copies and clones find room.
            while len(bench.ports[p].waiting) > 3 or any(
                frames and sum(beats(len(f.data) + 96) for f in frames) > 16
                for port in bench.ports
                for frames in (*port.kept.values(), *port.packets.values())
            ):
                await bench.step()
        await bench.drain()
    assert not any(port.lost or port.unseen or any(port.kept.values()) for port in bench.ports)
    assert kinds >= {(kind, cloned) for kind in ("port", "copies", "drop") for cloned in (False, True)}, kinds


@cocotb.test()
async def clones_take_nothing_from_others(dut: Any) -> None:
    """A tenant clones all its frames eight times. Its own frames and those of others leave all the same, and copies of
    a multicast group beside them. Clones that find no room are counted, whole.
    """
    bench = Bench(dut, 58)
    await bench.start()
    rng = bench.rng
    model = Machine(bench.stages)
    program = cloning(1, 0, 0, 0, bench.stages, True) + cloning(2, 1, 5, 0, bench.stages, False, 1)
    program += [(machine.CLONE, 0, group_row(0, 0, 7), group_words([0, 1] * 4))]
    program += [(machine.CLONE, 0, group_row(5, 1, 9), group_words([1, 256]))]
    program += [(machine.GROUP, 0, group_row(5, 1, 7), group_words([0, 1]))]
    for write in program:
        model.write(*write)
    bench.write(program)
    await bench.settle()

    sent = {1: 0, 2: 0, 3: 0}
    copies, owed = 0, 0.0
    for n in range(1500):
        tenant = 2 if n % 24 == 23 else rng.choice([1, 3])
        group = 7 if tenant == 2 and n % 48 == 47 else 0
        size = rng.choice([60, 1500]) if tenant == 1 and rng.random() < 0.1 else 60
        copies += group != 0
        data = rng.randbytes(14) + bytes([0, group, 0, 9 if tenant == 2 else 7]) + rng.randbytes(size - 18)
        p = n % 2
        result = model.carry(p, data, tenant, 0) if tenant < 3 else Result("onward", data, 0)
        bench.send(p, data, tenant, 0, [result])
        sent[tenant] += 1
        # A port at its line rate brings a beat in three of five cycles.
        owed += beats(size) * 5 / 6
        while owed >= 1:
            await bench.step()
            owed -= 1
        assert len(bench.ports[p].waiting) <= 40, "the port is held"
    await bench.drain()
    left = [frame.tenant for port in bench.ports for frame in port.gone]
    assert {tenant: left.count(tenant) for tenant in sent} == sent and copies > 20
    assert not any(port.lost for port in bench.ports)
    lost = await bench.count(regs.RMT_BLOCK_LOST_CLONES)
    assert lost == sum(port.clones_lost + sum(map(len, port.kept.values())) for port in bench.ports) > 100
    assert not any(port.kept.get(CLONES + 5) for port in bench.ports), "clones of the other tenant"


@cocotb.test()
async def frames_to_controllers(dut: Any) -> None:
    """Frames of all lengths go to controllers of four tenants, alone or beside copies of a group; the host takes their
    pieces at once, or when it likes. Nothing is lost while it does.
    """
    bench = Bench(dut, 31)
    await bench.start()
    rng = bench.rng
    model = Machine(bench.stages)
    shapes = [(0, 0, 3, 0, 510), (9, 1, 1, 1, 510), (62, 0, 0, 33, 510), (63, 1, 7, 8, 1)]
    for tenant, bank, queue, halves, spec in shapes:
        for group, ports in ((1, [512 + bank]), (2, [0, 512 + bank, 1]), (3, [256]), (63, [512 + bank, 0])):
            row = (machine.GROUP, 0, group_row(queue, bank, group), group_words(ports))
            model.write(*row)
            bench.write([row])
        program = punting(tenant, bank, queue, halves, bench.stages, spec)
        for write in program:
            model.write(*write)
        bench.write(program)
    await bench.settle()
    lengths = [14, 15, 31, 32, 33, 47, 48, 60, 63, 64, 65, 79, 80, 81, 95, 96, 97, 112, 127, 128, 129, 161, 300, 700]
    for takes, out in ((1.0, 1.0), (0.2, 0.6)):
        bench.host_takes, bench.out = takes, (out, out)
        for _ in range(300):
            tenant, group = rng.choice([0, 9, 62, 63]), rng.choice([0, 0, 1, 2, 3, 63])
            data = rng.randbytes(14) + group.to_bytes(2, "big") + rng.randbytes(rng.choice(lengths))
            data = data[: max(16, len(data) - 16)]
            p, mark = rng.randrange(2), rng.getrandbits(32)
            bench.send(p, data, tenant, mark, [model.carry(p, data, tenant, mark)])
            while len(bench.ports[p].waiting) > 1 or any(
                frames and sum(beats(len(f.data) + 96) for f in frames) > 16
                for port in bench.ports
                for frames in (*port.kept.values(), *port.packets.values())
            ):
                await bench.step()
        await bench.drain()
    assert not any(port.lost or port.unseen for port in bench.ports) and bench.packets > 250
    kinds = {result.kind for port in bench.ports for frame in port.gone for result in frame.results}
    assert kinds == {"copies", "port"}


@cocotb.test()
async def controllers_take_nothing_from_others(dut: Any) -> None:
    """A host that takes no frames for controllers holds no frame, and no copy: frames that find no room are lost and
    counted. Those that were kept come later, whole.
    """
    bench = Bench(dut, 37)
    await bench.start()
    rng = bench.rng
    model = Machine(bench.stages)
    program = punting(5, 1, 2, 0, bench.stages, 510) + copying(6, 0, 3, 0, bench.stages)
    program += [(machine.GROUP, 0, group_row(3, 0, 1), group_words([0, 1]))]
    program += [(machine.GROUP, 0, group_row(2, 1, 1), group_words([512 + 1, 1]))]
    for write in program:
        model.write(*write)
    bench.write(program)
    await bench.settle()

    def send(p: int, tenant: int, group: int, length: int) -> None:
        data = rng.randbytes(14) + group.to_bytes(2, "big") + rng.randbytes(length)
        bench.send(p, data, tenant, 0, [model.carry(p, data, tenant, 0)])

    bench.host_takes, bench.compares = 0.0, False
    for _ in range(260):
        for p in range(2):
            send(p, 5, 0, rng.choice([44, 60, 112, 300]))
            send(p, 5, 1, 40)
            send(p, 6, 1, 44)
            send(p, 6, 1, 44)
            while len(bench.ports[p].waiting) > 1 or any(len(frames) > 6 for frames in bench.ports[p].kept.values()):
                await bench.step()
    await bench.drain()
    assert not any(port.lost or any(port.kept.values()) for port in bench.ports), "frames and copies of others"
    lost = await bench.count(regs.RMT_BLOCK_LOST_PACKETS)
    sent = sum(len(frames) for port in bench.ports for frames in port.packets.values())
    bench.host_takes = 1.0
    for _ in range(8000):
        await bench.step()
    missed = sum(port.unseen + sum(map(len, port.packets.values())) for port in bench.ports)
    assert missed == lost > 100 and bench.packets == sent - lost > 100
    for port in bench.ports:
        port.packets.clear()
        port.came.clear()
    bench.compares = True
    for p in range(2):
        for length in (44, 300):
            send(p, 5, 0, length)
    await bench.drain()
    assert bench.packets == sent - lost + 4


@cocotb.test()
async def frames_of_controllers(dut: Any) -> None:
    """Controllers' frames of all lengths enter beside those of port 0, which lose nothing: to a port, onward, back to
    the controller, to a group without the port at which they came, which they have none of. The machine ignores frames
    that are too short or too long, and what comes behind them is as if they had not been.
    """
    bench = Bench(dut, 41)
    await bench.start()
    rng = bench.rng
    model = Machine(bench.stages)
    program: Config = []
    for tenant, bank, queue, spec in ((1, 0, 1, 510), (3, 1, 2, 1), (5, 0, 3, 0)):
        program += punting(tenant, bank, queue, 0, bench.stages, spec)
        program += [(machine.GROUP, 0, group_row(queue, bank, 1), group_words([0, 1, 256, 512 + bank]))]
    program += digesting_port(8, bench.stages)
    for write in program:
        model.write(*write)
    bench.write(program)
    await bench.settle()
    lengths = [14, 15, 16, 31, 32, 33, 60, 64, 65, 79, 80, 81, 96, 97, 128, 129, 300, 1024, 4095, 4096]
    for into, out in ((1.0, 1.0), (0.6, 0.8), (0.0, 1.0)):
        bench.into, bench.out = (into, 1.0), (out, out)
        for length in lengths:
            tenant = rng.choice([1, 3, 5, 7, 8])
            data = rng.randbytes(length)
            if length >= 16 and tenant in (1, 3, 5):
                group = 1 if length in (31, 80, 300) else 0
                data = data[:14] + group.to_bytes(2, "big") + data[16:]
            bench.inject(data, tenant, model)
            for _ in range(30 if into else 0):
                frame = rng.randbytes(rng.choice([14, 60, 64, 81, 200]))
                bench.send(0, frame, 7, 0, [Result("onward", frame, 0)])
            await bench.drain()
        # The first frame's end is missing.
        for length in (13, 1, 0, 4097, 16384):
            whole = list(bench.from_host)
            bench.inject(rng.randbytes(max(length, 1)), 7, model)
            bench.ports[0].injected.pop()
            if length == 0:
                bench.from_host[-1] = bench.from_host[-1][:56] + bytes(8)
            if length == 16384:
                bench.from_host = type(bench.from_host)([*whole, *list(bench.from_host)[:3]])
            bench.inject(rng.randbytes(70), 7, model)
            await bench.drain()
    assert not any(port.lost or port.unseen for port in bench.ports) and bench.packets > 5
    ports = {frame.result.target for port in bench.ports for frame in port.gone if frame.injected and frame.result}
    assert bench.told >= 3 and ports >= {0, 1}


def digesting_port(tenant: int, stages: int) -> Config:
    """A program that sends a digest of each frame, with the port at which it came."""
    return telling(tenant, 0, 3, stages)


def telling(tenant: int, bank: int, flag: int, stages: int) -> Config:
    """A program that sends a digest of each frame: six words of its bytes, the mark, the frame's length and the bits
    with the flag, the last ones first.
    """
    bt = 64 * bank + tenant
    words = [31, 28, 27, 5, 4, 0, 6, 7, 8, 9]
    digest = (
        pack(*((word, 5 * n) for n, word in enumerate(words[:6]))),
        pack(*((word, 5 * n) for n, word in enumerate(words[6:])), (1 << flag, 20)),
    )
    state = (pack((4, 0), (6, 5), (6, 10)), 0, pack((24, 16)), 8 << 6, *(0,) * 8)
    writes: Config = [(machine.PARSER, 0, 8 * bt + n, state) for n in range(2)]  # ports' frames, and controllers'
    writes.append((machine.CHECK, 0, bt, (0, 0, 0, 3 << 6)))
    writes.append((machine.EXIT, 0, bt, (0, 0, 0, 3 << 6, *(0,) * 9, *digest)))
    sets = units(unit(2, (31, 20 + flag, 1), value=1))
    for n in range(stages):
        writes += [(machine.KEY, n, bt, (0,) * 12), (machine.ACTION, n, 8 * bt, (*sets, *(0,) * 5))]
    return [*writes, (machine.TENANT, 0, tenant, (1 | bank << 1,))]


@cocotb.test()
async def digests_reach_the_host(dut: Any) -> None:
    """Each frame of four tenants sends a digest. A host that takes none holds no frame: what finds its lane's queue
    full is lost and counted, and the records that were kept come in their order.
    """
    bench = Bench(dut, 23)
    await bench.start()
    rng = bench.rng
    model = Machine(bench.stages)
    for n, tenant in enumerate((0, 9, 62, 63)):
        program = telling(tenant, n % 2, [0, 11, 5, 6][n], bench.stages)
        for write in program:
            model.write(*write)
        bench.write(program)
    await bench.settle()

    def send(count: int) -> None:
        for _ in range(count):
            for p in range(2):
                data, mark = rng.randbytes(rng.randint(24, 80)), rng.getrandbits(32)
                tenant = rng.choice((0, 9, 62, 63))
                bench.send(p, data, tenant, mark, [model.carry(p, data, tenant, mark)])

    for takes in (1.0, 0.3):
        bench.host_takes = takes
        send(150)
        await bench.drain()
    assert bench.told == 600
    bench.host_takes, count = 0.0, 700
    bench.compares = False
    send(count)
    start = bench.cycle
    await bench.drain()
    assert bench.cycle - start < count * 8 / 7 + 200, "frames waited"
    lost = await bench.count(regs.RMT_BLOCK_LOST)
    bench.host_takes = 1.0
    bench.record_cycles.clear()
    for _ in range(20 * 2 * count):
        await bench.step()
    for p, port in enumerate(bench.ports):
        came = [record for record in bench.records if record[3] == p]
        kept = [frame.results[0].record for frame in port.came[: len(came)]]
        assert len(came) == 513 and [record[:8] + bytes(8) + record[16:] for record in came] == kept
    assert len(bench.records) + lost == 2 * count and lost
    # Two records were made already when the host stopped taking, one of each lane.
    assert [sum(record[3] == p for record in bench.records) for p in range(2)] == [513, 513]
    cycles = bench.record_cycles[2:]
    assert {after - before for before, after in itertools.pairwise(cycles)} == {12}, "cycles between two records"
    for port in bench.ports:
        port.came.clear()
    bench.records.clear()
    bench.compares = True
    send(50)
    await bench.drain()
    assert bench.told == 700


def counter(stage: int, tenant: int, bank: int, stages: int) -> Config:
    """A program that adds 1 to register 5 of its segment and shows what it was in bytes 14 to 17."""
    bt = 64 * bank + tenant
    action = (
        *(0,) * 24,
        pack((3, 0), (4, 4), (31, 14), (1, 28)),
        pack((1, 27)),
        pack((5, 0), (1, 16)),
        *(0,) * 2,
    )
    writes: Config = [(machine.PARSER, 0, 8 * bt, (pack((5, 5), (5, 10)), 0, pack((16, 16)), 8 << 6, *(0,) * 8))]
    writes += [(machine.CHECK, 0, bt, (0, 0, 0, 3 << 6)), (machine.EXIT, 0, bt, (1 << 4, 0, 0, 3 << 6, *NO_HEAD))]
    for n in range(stages):
        writes.append((machine.KEY, n, bt, (0,) * 12))
        writes.append((machine.ACTION, n, 8 * bt, action if n == stage else (0,) * 29))
        writes.append((machine.SEGMENT, n, bt, (pack((100, 0), (6, 16)), 0, 0)))
    writes.append((machine.REGISTER, stage, 105, (0,)))
    return writes


@cocotb.test()
async def lanes_share_a_register(dut: Any) -> None:
    """Both lanes count with one register, one behind the other and with the host between: each number comes once, in
    order on each lane.
    """
    bench = Bench(dut, 3)
    await bench.start()
    rng = bench.rng
    stage = rng.randrange(bench.stages)
    # Register 5 is the segment's last one.
    bench.write(counter(stage, 7, 1, bench.stages))
    bench.write([(machine.TENANT, 0, 7, (7,))])
    await bench.settle()
    total = 0
    bench.into = (0.9, 0.8)
    for _ in range(400):
        for p in range(2):
            frame = bench.send(p, rng.randbytes(60), 7, 0, [])
            frame.results = [Result("onward", with_number(frame.data, n), 0) for n in range(801)]
            total += 1
    seen: list[int] = []
    for _ in range(30):
        bench.select(machine.REGISTER, stage, 105)
        bench.access(False, regs.RMT_BLOCK_DATA, 0, lambda value, _: seen.append(value))
    await bench.drain()
    lanes = [[number_of(frame) for frame in port.gone] for port in bench.ports]
    assert all(lane == sorted(lane) for lane in lanes)
    assert sorted(lanes[0] + lanes[1]) == list(range(total))
    assert seen == sorted(seen) and 0 < max(seen) <= total and len(set(seen)) > 10


def with_number(data: bytes, number: int) -> bytes:
    return data[:14] + number.to_bytes(4, "big") + data[18:]


def number_of(frame: Any) -> int:
    return int.from_bytes(frame.result.frame[14:18], "big")


def register_program(bench: Bench, tenant: int, base: int, size: int) -> Config:
    """Bytes 14 to 17 say which register, 18 to 21 are the operand; the result of a random operation goes to bytes 22 to
    25. They are in the words that operands of registers see.
    """
    rng = bench.rng
    # A state that only advances, and one that extracts.
    writes: Config = [(machine.PARSER, 0, 8 * tenant, (pack((4, 10)), 0, pack((16, 16)), 0, *(0,) * 8))]
    writes.append((machine.PARSER, 1, 8 * tenant, (pack((24, 0), (3, 5)), 0, pack((12, 16)), 8 << 6, *(0,) * 8)))
    writes += [
        (machine.CHECK, 0, tenant, (0, 0, 0, 3 << 6)),
        (machine.EXIT, 0, tenant, (1 << 26, 0, 0, 3 << 6, *NO_HEAD)),
    ]
    for n in range(bench.stages):
        here = n == tenant % bench.stages
        operation = pack((rng.randrange(1, 12), 0), (26, 4), (31, 14), (rng.randrange(2), 27), (1, 28))
        operands = second(8 + 24 - 19) | second(8 + 25 - 19) << 16
        array = pack((rng.choice([0, 1, 2]), 0), (rng.choice([2, 3, 4]), 16))
        action = (*(0,) * 24, operation, operands, array, 0, 0) if here else (0,) * 29
        writes.append((machine.KEY, n, tenant, (0,) * 12))
        writes.append((machine.ACTION, n, 8 * tenant, action))
        writes.append((machine.SEGMENT, n, tenant, (pack((base, 0), (size, 16)), 0, 0)))
    return writes


@cocotb.test()
async def registers_have_bounds(dut: Any) -> None:
    """Tenants' segments lie side by side; operations at the ends of arrays and segments, and far behind them."""
    bench = Bench(dut, 8)
    await bench.start()
    rng = bench.rng
    model = Machine(bench.stages)
    tenants = list(range(16))
    base = 4095
    writes: Config = []
    for tenant in tenants:
        size = rng.choice([1, 2, 3, 4])
        writes += [
            *register_program(bench, tenant, base % 4096, size),
            (machine.TENANT, 0, tenant, (1 if tenant % 5 == 4 else 5,)),
        ]
        writes += [
            (machine.REGISTER, tenant % bench.stages, (base + n) % 4096, (rng.getrandbits(32),))
            for n in range(size + 4)
        ]
        base += size
    for write in writes:
        model.write(*write)
    bench.write(writes)
    await bench.settle()
    for _ in range(1200):
        # Neighbours' operations go by in the order of one lane.
        tenant = rng.choice(tenants)
        index = rng.choice([0, 1, 2, 3, 4, 5, 1 << 16, (1 << 16) + 1, M32, rng.getrandbits(32)])
        data = bytes(14) + index.to_bytes(4, "big") + rng.randbytes(42)
        bench.send(0, data, tenant, 7, [model.carry(0, data, tenant, 7)])
    await bench.drain()
    assert len({frame.result.frame[22:26] for frame in bench.ports[0].gone if frame.result}) > 400


@cocotb.test()
async def headers_end_with_the_frame(dut: Any) -> None:
    """IPv4 with options in frames of all lengths around their ends: bytes 2 to 5 show the parser's result."""
    bench = Bench(dut, 9)
    await bench.start()
    rng = bench.rng
    model = Machine(bench.stages)
    ethernet = (pack((4, 5), (4, 10)), 0, pack((1, 0), (16, 16)), 1 << 6, *(0,) * 8)
    options = pack((5, 0), (5, 5), (5, 10), (1, 15), (10, 16), (9, 21), (1, 27))
    ipv4 = (options, pack((24, 6), (15, 11), (5, 17), (12, 23)), pack((2, 0), (20, 16)), 8 << 6, *(0,) * 8)
    # The first word of options goes to bytes 6 to 9.
    shows = units(unit(1, (1, 0, 32), (31, 0, 32)), unit(1, (2, 0, 32), (10, 0, 32)))
    writes: Config = [(machine.PARSER, 0, 0, ethernet), (machine.PARSER, 1, 1, ipv4)]
    writes += [(machine.CHECK, 0, 0, (0, 0, 0, 3 << 6)), (machine.EXIT, 0, 0, (6, 0, 0, 3 << 6, *NO_HEAD))]
    for n in range(bench.stages):
        writes.append((machine.KEY, n, 0, (0,) * 12))
        writes.append((machine.ACTION, n, 0, (*shows, *(0,) * 5) if n == 0 else (0,) * 29))
    writes.append((machine.TENANT, 0, 0, (1,)))
    for write in writes:
        model.write(*write)
    bench.write(writes)
    await bench.settle()
    for words in range(16):
        for length in range(14, 34):
            frame = rng.randbytes(14) + bytes([0x40 | words]) + rng.randbytes(79)
            size = max(14, length if length < 18 or words < 5 else 14 + 4 * words - 26 + length)
            for port in range(2):
                bench.send(port, frame[:size], 0, 0, [model.carry(port, frame[:size], 0, 0)])
    await bench.drain()
    assert model.errors == {0, 1, 4}


@cocotb.test()
async def swap_under_load(dut: Any) -> None:
    """A tenant's program is swapped repeatedly while both lanes are full; the old program is overwritten at once. Each
    frame sees one whole program, and none sees an older one after a newer. A neighbour's frames do not change.
    """
    bench = Bench(dut, 4)
    await bench.start()
    rng = bench.rng
    stages = bench.stages
    neighbours = [random_program(rng, 9 + p, 0, stages, 14 + p, True, p) for p in range(2)]
    model = machines(bench, neighbours)
    for program in neighbours:
        bench.write([*program.writes, program.enable])
    versions = [random_program(rng, 3, n % 2, stages, n % 2, False, 0, lone=False) for n in range(4)]
    singles = [machines(bench, [version]) for version in versions]
    bench.write([*versions[0].writes, versions[0].enable])
    await bench.settle()
    bench.into = (0.2, 0.2)
    newest = 0
    swapped = [0]  # versions that are acknowledged

    def feed() -> None:
        for p in range(2):
            while len(bench.ports[p].waiting) < 4:
                if rng.random() < 0.3:
                    send_random(bench, model, p, 9 + p)
                    continue
                data, mark = random_frame(rng, 90), rng.getrandbits(32)
                possible = range(swapped[-1], min(newest + 2, len(versions)))
                frame = bench.send(p, data, 3, mark, [singles[n].carry(p, data, 3, mark) for n in possible])
                frame.versions = list(possible)  # type: ignore[attr-defined]

    for version in versions[1:]:
        # The other bank has the version before the last one: its frames are gone, or the hardware is wrong.
        bench.write(version.writes)
        bench.write([version.enable], lambda n=newest + 1: swapped.append(n))  # type: ignore[misc]
        while bench.accesses:
            feed()
            await bench.step()
        newest += 1
    for _ in range(200):
        feed()
        await bench.step()
    await bench.drain()
    assert swapped == list(range(len(versions)))
    met = set()
    for port in bench.ports:
        oldest = 0
        for frame in sorted(port.gone, key=lambda frame: frame.taken):
            if frame.tenant != 3:
                continue
            fitting = [n for n, result in zip(frame.versions, frame.results, strict=True) if result == frame.result]  # type: ignore[attr-defined]
            assert max(fitting) >= oldest, "a frame took a program that an earlier one had found gone"
            oldest = max(oldest, min(fitting))
            if len(fitting) == 1:
                met |= set(fitting)
    assert met == set(range(len(versions)))


@cocotb.test()
async def host_between_frames(dut: Any) -> None:
    """Entries change under load: one that moves is never missed, and rows of many words change at once."""
    bench = Bench(dut, 5)
    await bench.start()
    rng = bench.rng
    stages = bench.stages
    tenant, bt, size, base = 5, 5, 3, 16
    key = (0x00010203, 0, 0, 0)
    program = counter(0, tenant, 0, stages)
    program += [(machine.KEY, 0, bt, (pack((1, 0), (4, 13)), pack((base, 8), (size, 24)), 0, 0, M32, *(0,) * 7))]
    # Hit: the first two parameters go to bytes 14 to 21.
    shows = units(*(unit(2, (4 + u, 0, 32), b=second(4 + 3 * u)) for u in range(2)))
    program += [(machine.ACTION, 0, 8 * bt + 2, (*shows, *(0,) * 5)), (machine.ACTION, 0, 8 * bt, (0,) * 29)]
    program += [(machine.EXIT, 0, bt, (3 << 4, 0, 0, 3 << 6, *NO_HEAD))]
    program += [(machine.PARSER, 0, 8 * bt, (pack((6, 5)), 0, pack((16, 16)), 8 << 6, *(0,) * 8))]
    program += [(machine.WAY + way, 0, base + n, (0,) * 9) for way in range(4) for n in range(1 << size)]
    bench.write([*program, (machine.TENANT, 0, tenant, (1,))])
    buckets = Machine(stages).buckets(base, size, key)

    def entry(number: int) -> tuple[int, ...]:
        return (pack((1, 0), (tenant, 1), (2, 7)), *key, number, 1, 2, number)

    bench.write([(machine.WAY, 0, buckets[0], entry(0))])
    await bench.settle()
    number = old = 0
    for _ in range(40):
        new = rng.choice([way for way in range(machine.WAYS) if way != old])
        moved = [
            (machine.WAY + new, 0, buckets[new], entry(number + 1)),
            (machine.WAY + old, 0, buckets[old], (0,) * 9),
        ]
        bench.write(moved)
        old = new
        while bench.accesses:
            for p in range(2):
                while len(bench.ports[p].waiting) < 3:
                    data = rng.randbytes(14) + key[0].to_bytes(4, "big") + rng.randbytes(rng.choice([42, 60]))
                    frame = bench.send(p, data, tenant, 0, [])
                    frame.results = [
                        Result("onward", data[:14] + n.to_bytes(4, "big") * 2 + data[22:], 0)
                        for n in (number, number + 1)
                    ]
            await bench.step()
        number += 1
    await bench.drain()
    assert all(len(port.gone) > 500 for port in bench.ports)


@cocotb.test()
async def ternary_rows_move(dut: Any) -> None:
    """A row moves under load, and its target changes: first it is copied, then the old one is cleared, so no frame
    misses it. If two rows match, the first one wins.
    """
    bench = Bench(dut, 10)
    await bench.start()
    rng = bench.rng
    stages = bench.stages
    stage, tenant, bt = stages - 1, 9, 64 + 9
    word, mask = 0x00010203, 0x0000FF0F
    program = counter(0, tenant, 1, stages)
    program += [(machine.KEY, stage, bt, (pack((3, 0), (4, 13)), 0, 0, 0, M32, *(0,) * 7))]
    shows = units(*(unit(2, (4 + u, 0, 32), b=second(4 + 3 * u)) for u in range(2)))
    program += [(machine.ACTION, n, 8 * bt, (0,) * 29) for n in range(stages)]
    program += [(machine.ACTION, stage, 8 * bt + 2, (*shows, *(0,) * 5))]
    program += [(machine.EXIT, 0, bt, (3 << 4, 0, 0, 3 << 6, *NO_HEAD))]
    program += [(machine.PARSER, 0, 8 * bt, (pack((6, 5)), 0, pack((16, 16)), 8 << 6, *(0,) * 8))]
    last = bench.rows - 1
    program += [(machine.TERNARY, stage, n, (0,) * 9) for n in range(bench.rows)]

    def line(row: int, number: int, valid: bool = True) -> Config:
        head = pack((valid, 0), (bt, 1))
        return [
            (machine.TARGET, stage, row, (2, number, 1, 2, number)),
            (machine.TERNARY, stage, row, (head, word & mask, 0, 0, 0, mask, 0, 0, 0)),
        ]

    # Behind all others, and never taken: a row that everything fits.
    low = [*line(last, 0xFFFF), (machine.TERNARY, stage, last, (pack((1, 0), (bt, 1)), *(0,) * 8))]
    bench.write([*program, *low, *line(5, 0), (machine.TENANT, 0, tenant, (3,))])
    await bench.settle()
    number, old = 0, 5
    for turn in range(12):
        new = rng.choice([row for row in range(last - 1) if row != old])
        changed = turn % 3 == 2  # the target alone
        if changed:
            bench.write(line(old, number + 1)[:1])
        else:
            # The new row wins only if it is above the old one; else the old one holds until it is cleared.
            bench.write([*line(new, number + 1), (machine.TERNARY, stage, old, (0,) * 9)])
            old = new
        while bench.accesses:
            for p in range(2):
                while len(bench.ports[p].waiting) < 3:
                    key = word & mask | rng.getrandbits(32) & ~mask
                    data = rng.randbytes(14) + key.to_bytes(4, "big") + rng.randbytes(rng.choice([42, 60]))
                    frame = bench.send(p, data, tenant, 0, [])
                    frame.results = [
                        Result("onward", data[:14] + n.to_bytes(4, "big") * 2 + data[22:], 0)
                        for n in (number, number + 1)
                    ]
            await bench.step()
        await bench.drain()
        number += 1
    assert all(len(port.gone) > 300 for port in bench.ports)


@cocotb.test()
async def lanes_count_together(dut: Any) -> None:
    """Both lanes count with one counter without waiting for each other; the host's readings never fall, and the last
    one is complete.
    """
    bench = Bench(dut, 11)
    await bench.start()
    rng = bench.rng
    stage, tenant = rng.randrange(bench.stages), 7
    program = counter(stage, tenant, 0, bench.stages)
    action = (*(0,) * 27, pack((1, 16)), pack((5, 0), (1, 16)))
    program += [(machine.ACTION, stage, 8 * tenant, action)]
    program += [(machine.SEGMENT, stage, tenant, (0, pack((100, 0), (6, 16)), 0))]
    start = (M32 - 100, 3, M32 - 5000, 7)  # the lower words run over
    program += [(machine.COUNTER, stage, 105, start), (machine.TENANT, 0, tenant, (1,))]
    bench.write(program)
    await bench.settle()
    lengths = []
    for _ in range(700):
        for p in range(2):
            lengths.append(rng.choice([60, 61, 300 if len(lengths) % 50 == 0 else 64]))
            frame = bench.send(p, rng.randbytes(lengths[-1]), tenant, 0, [])
            frame.results = [Result("onward", frame.data, 0)]
    seen: list[int] = []
    for _ in range(12):
        bench.select(machine.COUNTER, stage, 105)
        for n in range(4):
            bench.access(False, regs.RMT_BLOCK_DATA + 4 * n, 0, lambda value, _: seen.append(value))
    await bench.drain()
    for port in bench.ports:
        assert port.gone[-1].left - port.gone[0].taken < 700 * 8 / 7 + 200, "the lanes waited for each other"
    bench.select(machine.COUNTER, stage, 105)
    for n in range(4):
        bench.access(False, regs.RMT_BLOCK_DATA + 4 * n, 0, lambda value, _: seen.append(value))
    await bench.settle()
    counts = [(seen[n] | seen[n + 1] << 32, seen[n + 2] | seen[n + 3] << 32) for n in range(0, len(seen), 4)]
    before = (start[0] | start[1] << 32, start[2] | start[3] << 32)
    assert counts == sorted(counts) and len(set(counts)) > 3
    assert counts[-1] == (before[0] + len(lengths), before[1] + sum(lengths))
    # Packets and bytes are read at one time.
    for packets, amount in counts[:-1]:
        assert 60 * (packets - before[0]) <= amount - before[1] <= 300 * (packets - before[0])


def policing(tenant: int, stage: int, cells: int, stages: int, by_frames: bool) -> Config:
    """A program that meters each frame in the cell of byte 14, in this stage, and shows the color in byte 15 and, as
    the next stage copies it, in byte 17.
    """
    writes: Config = [
        (machine.PARSER, 0, 8 * tenant, (pack((15, 0), (8, 5), (8, 10)), 0, pack((16, 16)), 8 << 6, *(0,) * 8))
    ]
    writes += [(machine.CHECK, 0, tenant, (0, 0, 0, 3 << 6))]
    writes += [(machine.EXIT, 0, tenant, (1 << 19, 0, 0, 3 << 6, *NO_HEAD))]
    meters = (pack((10, 0), (19, 4), (16, 9), (7, 14), (1, 28)),)
    tokens = 1 << 11 if by_frames else second(3, 0, 16)
    meters += (second(8, 3, 8) | tokens << 16, pack((0, 0), (cells, 16)))
    copies = units(unit(1, (19, 0, 8), (19, 16, 8)))
    for n in range(stages):
        writes.append((machine.KEY, n, tenant, (0,) * 12))
        writes.append((machine.SEGMENT, n, tenant, (0, 0, pack((1000, 0), (cells, 16)))))
        for action in range(8):
            row = (*(0,) * 24, *meters, *(0,) * 2) if n == stage else (0,) * 29
            if n == stage + 1:
                row = (*copies, *(0,) * 5)
            writes.append((machine.ACTION, n, 8 * tenant + action, row))
    return [*writes, (machine.TENANT, 0, tenant, (5,))]


def colored(data: bytes, color: int) -> bytes:
    """The frame as `policing` leaves it."""
    return data[:15] + bytes([color, data[16], color]) + data[18:]


def rates(cir: int, cbs: int, pir: int, pbs: int) -> tuple[int, ...]:
    """The row of a meter, of rates that divide a second."""
    words, depths = [], []
    for rate, burst in ((cir, cbs), (pir, pbs)):
        assert 10**9 * 2**16 % rate == 0
        token = 10**9 * 2**16 // rate
        exponent = max(0, token.bit_length() - 26)
        assert token >> exponent << exponent == token
        words.append(pack((token >> exponent, 0), (exponent, 26)))
        depths += [burst * token & M32, burst * token >> 32]
    return (*words, *depths)


@cocotb.test()
async def meters_color_frames(dut: Any) -> None:
    """Frames of both lanes that come at once take tokens one behind the other: in a cell, exactly as many are green,
    and yellow, as its buckets have tokens. Later the buckets have what their rates give. A row that is written begins
    with full buckets.
    """
    bench = Bench(dut, 19)
    await bench.start()
    rng = bench.rng
    program = policing(3, 0, 8, bench.stages, by_frames=True)
    bench.drive("now", 10**12)
    bursts = [(rng.randint(1, 40), rng.randint(1, 80)) for _ in range(8)]
    cells = [rates(1_000_000, cbs, 2_000_000, pbs) for cbs, pbs in bursts]
    bench.write([*program, *((machine.METER, 0, 1000 + n, row) for n, row in enumerate(cells))])
    await bench.settle()

    async def burst() -> list[list[int]]:
        for port in bench.ports:
            port.gone.clear()
        for _ in range(400):
            cell = rng.choice([0, 0, 0, *range(8), 200])
            for p in range(2):
                data = rng.randbytes(14) + bytes([cell]) + rng.randbytes(45)
                frame = bench.send(p, data, 3, 0, [])
                colors = [0] if cell > 7 else [0, 1, 2]
                frame.results = [Result("onward", colored(data, color), 0) for color in colors]
        await bench.drain()
        seen = [[0, 0, 0] for _ in range(8)]
        for frame in (frame for port in bench.ports for frame in port.gone):
            if frame.data[14] < 8:
                seen[frame.data[14]][frame.result.frame[15]] += 1
        return seen

    tokens = list(bursts)
    for turn in range(2):
        for n, (seen, (green, all_)) in enumerate(zip(await burst(), tokens, strict=True)):
            passed = min(all_, sum(seen))
            assert seen[:2] == [min(green, passed), passed - min(green, passed)], (turn, seen, green, all_)
            # After 3 µs: three tokens and six, if there is room for so many.
            cbs, pbs = bursts[n]
            tokens[n] = min(cbs, green - seen[0] + 3), min(pbs, all_ - passed + 6)
        bench.drive("now", 10**12 + 3000)
    bench.write([(machine.METER, 0, 1000, cells[0])])
    await bench.settle()
    seen = (await burst())[0]
    assert seen[:2] == [min(bursts[0]), bursts[0][1] - min(bursts[0])], (seen, bursts[0])


@cocotb.test()
async def meters_keep_their_rates(dut: Any) -> None:
    """The card's time goes on. Frames of 250 and 500 bytes come to both lanes faster than the rates of their cell: what
    is green and what is yellow takes the rates, over 100 µs to a hundredth.
    """
    bench = Bench(dut, 20)
    await bench.start()
    rng = bench.rng
    program = policing(3, 0, 8, bench.stages, by_frames=False)
    cir, pir = 1_000_000_000, 2_000_000_000
    bench.write([*program, (machine.METER, 0, 1000, rates(cir, 1000, pir, 1000))])
    await bench.settle()
    bench.ticks = True
    start = bench.cycle
    while bench.cycle - start < 25_000:
        for p in range(2):
            if len(bench.ports[p].waiting) < 3:
                data = rng.randbytes(14) + bytes(1) + rng.randbytes(rng.choice([235, 485]))
                frame = bench.send(p, data, 3, 0, [])
                frame.results = [Result("onward", colored(data, color), 0) for color in range(3)]
        await bench.step()
    ns = 4 * (bench.cycle - start)
    for port in bench.ports:
        port.waiting = type(port.waiting)(list(port.waiting)[:1] if port.at or port.offered else [])
    await bench.drain()
    amounts = [0, 0, 0]
    for frame in (frame for port in bench.ports for frame in port.gone):
        if (frame.taken - start) * 4 < ns:
            amounts[frame.result.frame[15]] += len(frame.data)
    green, passed = amounts[0] * 1e9 / ns, (amounts[0] + amounts[1]) * 1e9 / ns
    assert abs(green / cir - 1) < 0.01 and abs(passed / pir - 1) < 0.01 and amounts[2] > amounts[0], amounts


def remembers(tenant: int, low: int, stages: int) -> Config:
    """A program that reads register b in stage 0, of byte 14, into eight bits of bytes 18 to 21 from bit `low` on. In
    each later stage a gate and a key look at the word, and a hit shows itself in the four bytes behind.
    """
    writes: Config = [
        (machine.PARSER, 0, 8 * tenant, (pack((15, 0), (8, 5), (8, 10)), 0, pack((16, 16)), 8 << 6, *(0,) * 8))
    ]
    writes += [(machine.CHECK, 0, tenant, (0, 0, 0, 3 << 6))]
    writes += [(machine.EXIT, 0, tenant, (0xE << 19, 0, 0, 3 << 6, *NO_HEAD))]
    reads = (pack((1, 0), (20, 4), (low, 9), (7, 14), (1, 28)), second(8, 3, 8), pack((0, 0), (256, 16)))
    search = (pack((1, 0), (20, 8), (20, 13)), pack((0, 8), (6, 24)), 1 << low, 1 << low, 0x1FF << low & M32, *(0,) * 7)
    shows = (*units(unit(2, (21, 0, 32), b=second(4))), *(0,) * 5)
    for n in range(stages):
        writes.append((machine.KEY, n, tenant, search if n else (0,) * 12))
        writes.append((machine.SEGMENT, n, tenant, (256 << 16, 0, 0)))
        for action in range(8):
            row = (*(0,) * 24, *reads, *(0,) * 2) if n == 0 else shows if action == 1 else (0,) * 29
            writes.append((machine.ACTION, n, 8 * tenant + action, row))
    return [*writes, (machine.TENANT, 0, tenant, (5,))]


@cocotb.test()
async def results_reach_the_next_stage(dut: Any) -> None:
    """The stage behind a register's takes its result as a key and for its gate."""
    bench = Bench(dut, 16)
    await bench.start()
    rng = bench.rng
    model = Machine(bench.stages)
    program: Config = [(machine.REGISTER, 0, n, (rng.getrandbits(8),)) for n in range(256)]
    for tenant in range(8):
        program += remembers(tenant, rng.randrange(24), bench.stages)
    for write in program:
        model.write(*write)

    def send(check: bool) -> None:
        for tenant in range(8):
            for value in range(256):
                data = rng.randbytes(14) + bytes([value]) + bytes(3) + rng.randbytes(50)
                result = model.carry(0, data, tenant, 0)
                if check:
                    bench.send(0, data, tenant, 0, [result])

    send(False)
    searched = {(each.stage, each.key) for each in model.searched}
    for stage, key in sorted(searched)[::2]:
        way = rng.randrange(machine.WAYS)
        bucket = model.buckets(0, 6, key)[way]
        head = pack((1, 0), (rng.randrange(8), 1), (1, 7))
        entry = (machine.WAY + way, stage, bucket, (head, *key, rng.getrandbits(32), 0, 0, 0))
        model.write(*entry)
        program.append(entry)
    bench.write(program)
    await bench.settle()
    model.searched.clear()
    send(True)
    await bench.drain()
    hits = [each.hit for each in model.searched]
    assert 10 < sum(hits) < len(hits) < 2048, (sum(hits), len(hits))


@cocotb.test()
async def actions_take_the_hash(dut: Any) -> None:
    """CRC-32 and CRC-16 of the key go to the first bytes of the frame, in each stage, by zlib and bit by bit."""
    bench = Bench(dut, 8)
    await bench.start()
    rng = bench.rng
    for stage in range(bench.stages):
        tenant = 10 + stage
        program = [(machine.PARSER, 0, 8 * tenant, (pack((8, 5), (8, 10)), 0, pack((32, 16)), 8 << 6, *(0,) * 8))]
        program += [(machine.CHECK, 0, tenant, (0, 0, 0, 3 << 6))]
        program += [(machine.EXIT, 0, tenant, (3 << 1, 0, 0, 3 << 6, *NO_HEAD))]
        for n in range(bench.stages):
            key = (pack((4, 13), (5, 18), (6, 23)), 7, 0, 0, *(M32,) * 4, *(0,) * 4)
            shows = units(*(unit(2, (1 + u, 0, 32), b=second(1 + u)) for u in range(2)))
            program.append((machine.KEY, n, tenant, key if n == stage else (0,) * 12))
            program.append((machine.ACTION, n, 8 * tenant, (*shows, *(0,) * 5) if n == stage else (0,) * 29))
        bench.write([*program, (machine.TENANT, 0, tenant, (1,))])
    await bench.settle()
    for _ in range(300):
        port, stage = rng.randrange(2), rng.randrange(bench.stages)
        data = rng.randbytes(rng.choice([60, 100]))
        if rng.random() < 0.3:
            data = data[:14] + bytes(15) + data[29:]
        key = data[14:30]
        crc32 = zlib.crc32(key) ^ zlib.crc32(bytes(16))
        found = crc32.to_bytes(4, "big") + machine.crcs(key)[1].to_bytes(4, "big")
        bench.send(port, data, 10 + stage, 0, [Result("onward", data[:2] + found + data[10:], 0)])
    await bench.drain()


def prefixes(stage: int, tenant: int, size: int, base: int, stages: int) -> Config:
    """A program that searches bytes 14 to 17 in a partition of 2^size leaves, and shows parameter 0 of a hit there."""
    writes: Config = [(machine.PARSER, 0, 8 * tenant, (pack((5, 5), (5, 10)), 0, pack((16, 16)), 8 << 6, *(0,) * 8))]
    writes += [(machine.CHECK, 0, tenant, (0, 0, 0, 3 << 6))]
    writes += [(machine.EXIT, 0, tenant, (1 << 4, 0, 0, 3 << 6, *NO_HEAD))]
    shows = (*units(unit(2, (4, 0, 32), b=second(4))), *(0,) * 5)
    search = (pack((2, 0), (4, 13)), pack((base, 8), (size, 24)), 0, 0, M32, *(0,) * 7)
    for n in range(stages):
        writes.append((machine.KEY, n, tenant, search if n == stage else (0,) * 12))
        writes.append((machine.ACTION, n, 8 * tenant, (0,) * 29))
        writes.append((machine.ACTION, n, 8 * tenant + 1, shows))
    return [*writes, (machine.TENANT, 0, tenant, (1,))]


@cocotb.test()
async def partitions_of_prefixes(dut: Any) -> None:
    """Partitions of 1 to 2,048 leaves share a tree, and a partition of 4,096 has the next stage's. Keys around the
    first one of each interval find its leaf. Some leaves are another tenant's, or lead nowhere.
    """
    bench = Bench(dut, 15)
    await bench.start()
    rng = bench.rng
    model = Machine(bench.stages)
    base, parts = 0, []
    for tenant, size in enumerate([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0]):
        parts.append((0, tenant, size, base))
        base += 1 << size
    parts.append((1, 20, 12, 0))
    program: Config = []
    frames = []
    for stage in range(2):
        starts: list[int] = []
        for _, tenant, size, base in (part for part in parts if part[0] == stage):
            own = sorted(rng.choice([rng.getrandbits(32), rng.getrandbits(8), M32]) for _ in range(1 << size))
            starts += own
            edges = [own[1 << n] for n in range(size)] + rng.choices(own, k=12)
            keys = {0, M32} | {min(M32, max(0, edge + by)) for edge in edges for by in (-1, 0, 1)}
            frames += [(tenant, key) for key in keys]
            program += prefixes(stage, tenant, size, base, bench.stages)
        tree = [(machine.LPM + level, stage, row, words) for level, row, words in nodes(starts)]
        owners = [tenant for at, tenant, size, _ in parts if at == stage for _ in range(1 << size)]
        for leaf, owner in enumerate(owners):
            head = pack((rng.random() < 0.9, 0), (owner ^ (rng.random() < 0.1), 1), (1, 7))
            tree.append((machine.LEAF, stage, leaf, (head, leaf, 0, 0, 0)))
        for write in tree:
            model.write(*write)
        # Those rows that the keys meet are enough.
        for tenant, key in frames:
            for _, _, size, base in (part for part in parts if part[:2] == (stage, tenant)):
                model.lpm(stage, tenant, base, size, key)
        program += [write for write in tree if write[:3] in model.met]
    for write in program:
        model.write(*write)
    bench.write(program)
    await bench.settle()
    rng.shuffle(frames)
    found = set()
    for tenant, key in frames:
        data = rng.randbytes(14) + key.to_bytes(4, "big") + rng.randbytes(46)
        frame = bench.send(rng.randrange(2), data, tenant, 0, [])
        frame.results = [model.carry(0, data, tenant, 0)]
        found.add((tenant, frame.results[0].frame[14:18]))
    await bench.drain()
    assert len(found) > 200


@cocotb.test()
async def a_port_that_waits(dut: Any) -> None:
    """A port whose frames are not taken holds its own input in the end and nothing of the other port's."""
    bench = Bench(dut, 6)
    await bench.start()
    rng = bench.rng

    def drawn(p: int) -> Program:
        """A program that drops less than half of its frames: they must fill the port that waits."""
        while True:
            program = random_program(rng, p, 0, bench.stages, p, True, p)
            model = machines(bench, [program])
            results = [model.carry(p, random_frame(rng), p, 0) for _ in range(60)]
            if sum(result.kind == "drop" for result in results) < 30:
                return program

    programs = [drawn(p) for p in range(2)]
    model = machines(bench, programs)
    for program in programs:
        bench.write([*program.writes, program.enable])
    await bench.settle()
    bench.out = (0.0, 1.0)
    for p in range(2):
        for _ in range(1200):
            send_random(bench, model, p, p)
    for _ in range(8000):
        await bench.step()
    assert not bench.ports[1].waiting and not bench.ports[1].inside
    assert bench.ports[0].waiting and bench.ports[0].inside
    bench.out = (1.0, 1.0)
    await bench.drain()


@cocotb.test()
async def what_the_host_may_ask(dut: Any) -> None:
    """Rows of all memories hold what was written, those of another row too; what does not exist is refused."""
    bench = Bench(dut, 7)
    await bench.start()
    rng = bench.rng
    answers: dict[str, tuple[int, bool]] = {}

    def ask(name: str, write: bool, addr: int, data: int = 0) -> None:
        bench.access(write, addr, data, lambda value, err: answers.__setitem__(name, (value, err)))

    ask("shape", False, regs.RMT_BLOCK_SHAPE)
    ask("sizes", False, regs.RMT_BLOCK_SIZES)
    ask("more", False, regs.RMT_BLOCK_MORE)
    ask("tables", False, regs.RMT_BLOCK_TABLES)
    ask("meters", False, regs.RMT_BLOCK_METERS)
    ask("lost", False, regs.RMT_BLOCK_LOST)
    ask("high word", False, regs.RMT_BLOCK_COUNT_H)
    ask("high word write", True, regs.RMT_BLOCK_COUNT_H)
    ask("shape write", True, regs.RMT_BLOCK_SHAPE)
    ask("lost write", True, regs.RMT_BLOCK_LOST)
    ask("tables write", True, regs.RMT_BLOCK_TABLES)
    ask("meters write", True, regs.RMT_BLOCK_METERS)
    for n, addr in enumerate((0x2C, 0x80, 0xFC, 0x180, 0x800000, 0xFFFFFC)):
        ask(f"nothing {n}", False, addr)
    ask("commit read", False, regs.RMT_BLOCK_COMMIT)
    await bench.settle()
    assert answers.pop("shape") == (bench.stages | 8 << 8 | 4 << 16 | 3 << 24, False)
    assert answers.pop("sizes") == (10 | 12 << 8 | 12 << 16 | 2 << 24, False)
    assert answers.pop("more") == (bench.rows.bit_length() - 1 | 10 << 8 | 10 << 16, False)
    assert answers.pop("tables") == (bench.masks[0] | bench.masks[1] << 16, False)
    assert answers.pop("meters") == (bench.masks[2], False)
    assert answers.pop("lost") == (FIRST_COUNT, False)
    assert answers.pop("high word") == (FIRST_COUNT >> 32, False)
    assert answers and all(err for _, err in answers.values())

    shapes = {**machine.SHAPES, machine.TERNARY: (bench.rows, 9), machine.TARGET: (bench.rows, 5)}
    written: list[Write] = []
    for memory, (rows, words) in shapes.items():
        stages = 8 if memory == machine.PARSER else 1 if memory in WHOLE else bench.stages
        for stage in range(stages):
            for row in {0, rows - 1, rng.randrange(rows)}:
                mask = 7 if memory == machine.TENANT else M32
                written.append((memory, stage, row, tuple(rng.getrandbits(32) & mask for _ in range(words))))
    written = present(bench, written)
    bench.write(written)
    read: list[tuple[int, bool]] = []
    for memory, stage, row, words in written:
        bench.select(memory, stage, row)
        for n in range(len(words) + 1):
            bench.access(False, regs.RMT_BLOCK_DATA + 4 * n, 0, lambda value, err: read.append((value, err)))
    await bench.settle()
    wanted = [(word, False) for _, _, _, words in written for word in (*words, 0)]
    assert read == wanted

    refused: list[bool] = []
    for memory, (rows, _) in shapes.items():
        stages = 8 if memory == machine.PARSER else 1 if memory in WHOLE else bench.stages
        for stage, row in ((0, rows), (stages, 0), (0, 0xFFFF), (255, 0)):
            bench.select(memory, stage, row)
            bench.access(True, regs.RMT_BLOCK_COMMIT, 0, lambda _, err: refused.append(err))
            bench.access(False, regs.RMT_BLOCK_DATA, 0, lambda _, err: refused.append(err))
    for memory, stage in ((22, 0), (24, 0), (255, 0), *bench.lacks):
        bench.select(memory, stage, 0)
        bench.access(True, regs.RMT_BLOCK_COMMIT, 0, lambda _, err: refused.append(err))
    await bench.settle()
    assert all(refused)


CASES = [
    "random_programs",
    "rate_and_latency",
    "host_slows_no_frame",
    "rate_of_heads",
    "heads_of_all_lengths",
    "drops_keep_their_order",
    "copies_of_groups",
    "copies_take_nothing_from_others",
    "clones_leave_beside_frames",
    "clones_take_nothing_from_others",
    "digests_reach_the_host",
    "frames_to_controllers",
    "controllers_take_nothing_from_others",
    "frames_of_controllers",
    "lanes_share_a_register",
    "registers_have_bounds",
    "headers_end_with_the_frame",
    "swap_under_load",
    "host_between_frames",
    "ternary_rows_move",
    "lanes_count_together",
    "partitions_of_prefixes",
    "results_reach_the_next_stage",
    "meters_color_frames",
    "meters_keep_their_rates",
    "actions_take_the_hash",
    "a_port_that_waits",
    "what_the_host_may_ask",
]


# A pipeline whose stages do not have all kinds of tables, and those that have ternary ones have more rows
SOME = {"Ternary": 0b10, "Prefixes": 0b01, "Meters": 0b01, "TernaryW": 9}


@pytest.mark.parametrize(
    "case", ["random_programs", "ternary_rows_move", "meters_color_frames", "what_the_host_may_ask"]
)
def test_stages_that_differ(case: str) -> None:
    sources = ["engines/rmt/rtl/rtl.f", "engines/rmt/tests/rmt_bench.sv"]
    simulate("rmt_bench", sources, Path(__file__).stem, SOME, testcase=case, plusargs=PLUSARGS)


@pytest.mark.parametrize("case", CASES)
def test_rmt_block(case: str) -> None:
    sources = ["engines/rmt/rtl/rtl.f", "engines/rmt/tests/rmt_bench.sv"]
    simulate("rmt_bench", sources, Path(__file__).stem, testcase=case, plusargs=PLUSARGS)
