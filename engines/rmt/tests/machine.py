# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The machine of the rmt engine in plain Python, written from engines/rmt/machine.md: memories of rows, and what
becomes of a frame.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, replace

TENANT, CHECK, EXIT, PARSER, KEY, ACTION, SEGMENT, REGISTER, WAY = range(9)
LEAF, TERNARY, TARGET, COUNTER, LPM = range(12, 17)
GROUP, METER, CLONE = 19, 20, 21
DEPTHS, WAYS, LEVELS, BRANCH_BITS, WORDS, EXTRACTED = 8, 4, 3, 4, 32, 27
BUCKETS, REGISTERS, LEAVES, ROWS, COUNTERS, METERS = 1024, 4096, 4096, 512, 1024, 1024  # at most
LEAF_BITS = LEVELS * BRANCH_BITS
# Rows and words of each memory; LPM levels are separate
SHAPES = {
    TENANT: (64, 1),
    CHECK: (128, 4),
    EXIT: (128, 15),
    PARSER: (1024, 12),
    KEY: (128, 12),
    ACTION: (1024, 29),
    SEGMENT: (128, 3),
    REGISTER: (REGISTERS, 1),
    **{WAY + way: (BUCKETS, 9) for way in range(WAYS)},
    LEAF: (LEAVES, 5),
    TERNARY: (ROWS, 9),
    TARGET: (ROWS, 5),
    **{LPM + level: (16**level, 15) for level in range(LEVELS)},
    COUNTER: (COUNTERS, 4),
    GROUP: (1024, 4),
    METER: (METERS, 6),
    CLONE: (1024, 4),
}
MOMENT = 72  # bits of a meter's moments
SHORT, HEADER, TIMEOUT, WINDOW = 1, 4, 5, 7
M32 = 0xFFFFFFFF
MAX_FRAME = 16384
CONTROLLER = 510  # the port of a controller


def bits(word: int, high: int, low: int | None = None) -> int:
    """Bits [high:low] of a word."""
    low = high if low is None else low
    return word >> low & (1 << high - low + 1) - 1


def signed6(value: int) -> int:
    return value - 64 if value & 32 else value


def crcs(key: bytes) -> tuple[int, int]:
    """The CRC-32 and the CRC-16 of a stage's key, from 0 on."""
    both = []
    for polynomial in (0xEDB88320, 0xA001):
        crc = 0
        for byte in key:
            crc ^= byte
            for _ in range(8):
                crc = crc >> 1 ^ (polynomial if crc & 1 else 0)
        both.append(crc)
    return both[0], both[1]


def crc64(data: bytes) -> int:
    """CRC-64/ECMA-182, bit by bit."""
    crc = 0
    for byte in data:
        crc ^= byte << 56
        for _ in range(8):
            crc = (crc << 1 ^ (0x42F0E1EBA9EA3693 if crc >> 63 else 0)) & (1 << 64) - 1
    return crc


@dataclass(frozen=True)
class Result:
    """The fate of a frame. `kind`: onward (unchanged), port, host, drop, copies."""

    kind: str
    frame: bytes
    mark: int
    target: int = 0
    refused: bool = False
    copies: tuple[int, ...] = ()  # ports in their order; 256: the host, 512 + bank: the controller
    clones: tuple[int, ...] = ()  # the same of clones, which leave beside it
    clone: bytes = b""
    raw: bool = False  # clones are the frame as it came, with its mark
    queue: int = 0  # of its copies and clones
    record: bytes | None = None  # for the host, with 0 as its time


@dataclass
class Searched:
    """A search of a stage, for those who choose entries from it."""

    stage: int
    kind: int
    key: tuple[int, int, int, int]
    hit: bool


@dataclass
class Machine:
    stages: int
    rows: dict[tuple[int, int], dict[int, tuple[int, ...]]] = field(default_factory=dict)
    searched: list[Searched] = field(default_factory=list)
    errors: set[int] = field(default_factory=set)  # of the parser, that have happened
    moved: set[int] = field(default_factory=set)  # bytes by which frames became longer
    refused_lengths: set[int] = field(default_factory=set)
    met: set[tuple[int, int, int]] = field(default_factory=set)  # rows that were read
    now: int = 0  # ns
    moments: dict[tuple[int, int], list[int]] = field(default_factory=dict)  # of meters, by stage and row
    colors: list[int] = field(default_factory=list)  # that meters with rates gave

    def write(self, memory: int, stage: int, row: int, words: tuple[int, ...]) -> None:
        rows, width = SHAPES[memory]
        assert row < rows and len(words) == width
        self.rows.setdefault((memory, stage), {})[row] = words
        if memory == METER:
            self.moments[stage, row] = [self.time(word) for word in words[:2]]

    def read(self, memory: int, stage: int, row: int) -> tuple[int, ...]:
        self.met.add((memory, stage, row))
        return self.rows.get((memory, stage), {}).get(row, (0,) * SHAPES[memory][1])

    # ---- a frame
    def carry(self, port: int, frame: bytes, tenant: int, mark: int) -> Result:
        state = self.read(TENANT, 0, tenant)[0]
        if not bits(state, 0):
            return Result("onward", frame, mark)
        bt = 64 * bits(state, 1) + tenant
        window = self.window(frame)
        vector = [0] * WORDS
        places: dict[int, int] = {}
        error, flags = self.parse(bt, int(port == CONTROLLER), len(frame), window, vector, places)
        self.errors.add(error)
        vector[27] = mark
        vector[28] = len(frame) | port << 16 | tenant << 25
        vector[31] = flags | error << 16
        before, late = list(vector), None  # what stage 0 searches for the longest prefix
        check = self.read(CHECK, 0, bt)
        vector[29] = check[0]
        wrong = self.holds(check[3], 6, 0, vector) and self.checksum(check, vector) != half(
            vector, bits(check[3], 13, 8)
        )
        vector[31] |= wrong << 19
        for stage in range(self.stages):
            before, late = self.stage(stage, bt, bool(bits(state, 2)), vector, before, late)
        out = self.read(EXIT, 0, bt)
        record = self.record(0 if port == CONTROLLER else port, bt, out, vector)
        return replace(self.leave(bt, out, vector, places, window, frame), record=record)

    @staticmethod
    def record(port: int, bt: int, row: tuple[int, ...], vector: list[int]) -> bytes | None:
        sent = vector[31] >> 20 & bits(row[14], 31, 20)
        if not sent:
            return None
        words = [bits(row[13 + n // 6], 5 * (n % 6) + 4, 5 * (n % 6)) for n in range(10)]
        head = bytes([0, 1, bt % 64, port]) + struct.pack("<HHQII", sent << 4 | bt >> 6, 0, 0, vector[27], 0)
        return head + b"".join(struct.pack("<I", vector[word]) for word in words)

    def leave(
        self,
        bt: int,
        out: tuple[int, ...],
        vector: list[int],
        places: dict[int, int],
        window: list[int],
        frame: bytes,
    ) -> Result:
        if self.holds(out[3], 6, 0, vector):
            set_half(vector, bits(out[3], 13, 8), self.checksum(out, vector))
        for word in sorted(places):
            if bits(out[0], word):
                window[places[word]] = vector[word]
        left = self.emit(out, vector, places, window, frame)
        result = self.way(bt, out, vector, left)
        session, queue = half(vector, bits(out[3], 31, 26)), bits(out[3], 23, 21)
        if not bits(out[13], 30) or not 1 <= session < 64:
            return result
        raw = bool(bits(out[13], 31))
        clones = self.copies(CLONE, 128 * queue + (bt & 64) + session)
        if raw:
            if bits(vector[28], 24, 16) == CONTROLLER:
                return result
            return replace(result, clones=clones, clone=frame, raw=True, queue=queue)
        if result.kind == "drop" or left is None:
            return result
        return replace(result, clones=clones, clone=left, queue=queue)

    def way(self, bt: int, out: tuple[int, ...], vector: list[int], left: bytes | None) -> Result:
        """What becomes of a frame, its clones aside."""
        group = half(vector, bits(out[3], 20, 15))
        if bits(out[3], 14) and group:
            queue = bits(out[3], 23, 21)
            copies = self.copies(GROUP, 128 * queue + (bt & 64) + group) if group < 64 else ()
            if bits(out[3], 24):
                copies = tuple(to for to in copies if to != bits(vector[28], 24, 16))
            if left is None or not copies:
                return Result("drop", b"", 0)
            return Result("copies", left, vector[27], copies=copies, queue=queue)
        result = self.verdict(vector, left)
        if result.kind == "host" and bits(out[3], 25):
            return replace(result, kind="copies", copies=(512 + bt // 64,), queue=bits(out[3], 23, 21))
        return result

    def copies(self, memory: int, group: int) -> tuple[int, ...]:
        found = []
        row = self.read(memory, 0, group)
        for copy in (row[n // 2] >> 16 * (n % 2) for n in range(8)):
            if bits(copy, 15):
                punted = 512 + bits(copy, 0) if bits(copy, 9) else 0
                found.append(punted or (256 if bits(copy, 8) else bits(copy, 7, 0)))
        return tuple(found)

    def emit(
        self, row: tuple[int, ...], vector: list[int], places: dict[int, int], window: list[int], frame: bytes
    ) -> bytes | None:
        """The frame that leaves; None if it is too short or too long."""
        head = b""
        end = 2  # of the window, in bytes, up to which it is in the head
        for word in range(EXTRACTED):
            fields = row[4 + word // 3] >> 10 * (word % 3)
            by_place, by_flag = bits(fields, 6), bits(fields, 7)
            is_valid = self.holds(1 << 6 | bits(fields, 5, 0), 6, 0, vector)
            emitted = (by_place or by_flag) and (word in places or not by_place) and (is_valid or not by_flag)
            data = vector[word].to_bytes(4, "big")
            for n in range(2):
                if not bits(fields, 8 + n):
                    continue
                if emitted:
                    head += data[2 * n : 2 * n + 2]
                if word in places:
                    end = max(end, 4 * places[word] + 2 * n + 2)
        first = b"".join(word.to_bytes(4, "big") for word in window)
        length = len(frame) + 2 + len(head) - end
        self.moved.add(len(head) + 2 - end)
        assert length <= MAX_FRAME, "the tests have no frame that becomes so long"
        if length < min(14, len(frame)):
            self.refused_lengths.add(length)
            return None
        return (head + (first + frame[126:])[end:])[:length]

    @staticmethod
    def window(frame: bytes) -> list[int]:
        head = (bytes(2) + frame[:126]).ljust(128, b"\0")
        return [int.from_bytes(head[4 * w : 4 * w + 4], "big") for w in range(WORDS)]

    @staticmethod
    def verdict(vector: list[int], frame: bytes | None) -> Result:
        how, where, mark = bits(vector[29], 17, 16), bits(vector[29], 8, 0), vector[27]
        if how == 3 or (how == 1 and where == 511):
            return Result("drop", b"", 0)
        if how == 1 and 256 <= where != 510:
            return Result("drop", b"", 0, refused=True)
        if frame is None:
            return Result("drop", b"", 0)
        if how == 0:
            return Result("onward", frame, mark)
        if how == 2 or where == 510:
            return Result("host", frame, mark)
        return Result("port", frame, mark, where)

    @staticmethod
    def holds(word: int, mode_at: int, index_at: int, vector: list[int]) -> bool:
        mode, index = bits(word, mode_at + 1, mode_at), bits(word, index_at + 5, index_at)
        bit = bits(vector[30], index) if index < 32 else bits(vector[31], index - 32)
        return [True, bit == 1, bit == 0, False][mode]

    @staticmethod
    def checksum(row: tuple[int, ...], vector: list[int]) -> int:
        covers = row[1] | row[2] << 32
        total = sum(half(vector, h) for h in range(64) if covers >> h & 1)
        while total >> 16:
            total = (total & 0xFFFF) + (total >> 16)
        return ~total & 0xFFFF

    # ---- parser
    def parse(
        self, bt: int, state: int, length: int, window: list[int], vector: list[int], places: dict[int, int]
    ) -> tuple[int, int]:
        """Fills the vector and the places; returns error and flags."""
        offset = flags = 0

        def word(at: int) -> int:
            return window[at] if 0 <= at < WORDS else 0

        def extract(dst: int, count: int, at: int) -> None:
            for i in range(count):
                if dst + i < EXTRACTED:
                    vector[dst + i] = window[at + i]
                    places[dst + i] = at + i

        for depth in range(DEPTHS):
            row = self.read(PARSER, depth, 8 * bt + state)
            dst, count, advance = bits(row[0], 4, 0), bits(row[0], 9, 5), bits(row[0], 14, 10)
            if 4 * offset + bits(row[2], 23, 16) > length + 2:
                return SHORT, flags
            if offset + count > WORDS:
                return WINDOW, flags
            extract(dst, count, offset)
            flags |= bits(row[2], 15, 0)
            more, under = 0, None
            if bits(row[0], 15):
                f = word(offset + signed6(bits(row[1], 5, 0))) >> bits(row[1], 10, 6) & bits(row[1], 16, 11)
                least = bits(row[1], 22, 17)
                if f < least:
                    under = bits(row[1], 26, 23)
                else:
                    more = f - least << bits(row[0], 26)
                    if more > bits(row[0], 25, 21):
                        return HEADER, flags
                    if 4 * (offset + advance + more) > length + 2:
                        return SHORT, flags
                    if offset + advance + more > WORDS:
                        return WINDOW, flags
                    if bits(row[0], 27):
                        extract(bits(row[0], 20, 16), more, offset + advance)
            if offset + advance + more > WORDS:
                return WINDOW, flags
            key = word(offset + signed6(bits(row[3], 5, 0)))
            goto = bits(row[3], 9, 6)
            for case in reversed(range(4)):
                if bits(row[3], 26 + case) and key & row[4 + case] == row[8 + case]:
                    goto = bits(row[3], 13 + 4 * case, 10 + 4 * case)
            goto = goto if under is None else under
            offset += advance + more
            if goto >= 8:
                return goto - 8, flags
            state = goto
        return TIMEOUT, flags

    # ---- a stage
    def stage(
        self, stage: int, bt: int, stateful: bool, vector: list[int], before: list[int], late: Late
    ) -> tuple[list[int], Late]:
        """`late` is what the meter of the stage in front writes; the vector that the action reads, and what the meter
        of this stage writes.
        """
        row = self.read(KEY, stage, bt)
        hit, action, params = False, bits(row[0], 7, 5), (0, 0, 0, 0)
        sources = [bits(row[0], 17, 13), bits(row[0], 22, 18), bits(row[0], 27, 23), bits(row[1], 4, 0)]
        key = tuple(vector[source] & mask for source, mask in zip(sources, row[4:8], strict=True))
        hashes = crcs(b"".join(k.to_bytes(4, "big") for k in key))
        if vector[bits(row[0], 12, 8)] & row[2] == row[3]:
            kind, base, size = bits(row[0], 1, 0), bits(row[1], 23, 8), bits(row[1], 28, 24)
            found = None
            if kind == 1:
                found = self.exact(stage, bt, base, size, key)
            elif kind == 2:
                key = (before[sources[0]] & row[4], *key[1:])
                found = self.lpm(stage, bt, base, size, key[0])
            elif kind == 3:
                found = self.ternary(stage, bt, key)
            if kind:
                self.searched.append(Searched(stage, kind, key, found is not None))
            hit = found is not None
            action, params = found or (bits(row[0], 4, 2), row[8:12])
        inputs = (*hashes, params)
        row = self.read(ACTION, stage, 8 * bt + action)
        if late:
            put(late, vector)
        before = list(vector)
        self.units(row, inputs, vector)
        vector[30] = vector[30] & ~(1 << stage) | hit << stage
        return before, self.state(stage, bt, stateful, row, inputs, before, vector)

    def buckets(self, base: int, size: int, key: tuple[int, ...]) -> list[int]:
        """The bucket of a key in each way."""
        code = crc64(b"".join(k.to_bytes(4, "big") for k in key))
        return [base + (code >> 16 * way & 0xFFFF) % (1 << size) for way in range(WAYS)]

    def exact(
        self, stage: int, bt: int, base: int, size: int, key: tuple[int, ...]
    ) -> tuple[int, tuple[int, ...]] | None:
        for way, bucket in enumerate(self.buckets(base, size, key)):
            row = self.read(WAY + way, stage, bucket)
            if bits(row[0], 0) and bits(row[0], 6, 1) == bt % 64 and row[1:5] == key:
                return bits(row[0], 9, 7), row[5:9]
        return None

    def lpm(self, stage: int, bt: int, base: int, size: int, key: int) -> tuple[int, tuple[int, ...]] | None:
        leaf = 0
        for bit in reversed(range(LEAF_BITS)):  # the way through the tree, a bit of the leaf's number at a time
            if bit < size:
                level = (LEAF_BITS - 1 - bit) // BRANCH_BITS
                node = self.read(LPM + level, stage, leaf >> LEAF_BITS - BRANCH_BITS * level)
                branch = (leaf | 1 << bit) >> LEAF_BITS - BRANCH_BITS * (level + 1) & 15
                taken = node[branch - 1] <= key
            else:
                taken = bool(base >> bit & 1)
            leaf |= taken << bit
        row = self.read(LEAF, stage, leaf)
        if not bits(row[0], 0) or bits(row[0], 6, 1) != bt % 64:
            return None
        return bits(row[0], 9, 7), row[1:5]

    def ternary(self, stage: int, bt: int, key: tuple[int, ...]) -> tuple[int, tuple[int, ...]] | None:
        for n in sorted(self.rows.get((TERNARY, stage), ())):
            row = self.read(TERNARY, stage, n)
            fits = all(k & mask == value for k, value, mask in zip(key, row[1:5], row[5:9], strict=True))
            if bits(row[0], 0) and bits(row[0], 7, 1) == bt and fits:
                target = self.read(TARGET, stage, n)
                return bits(target[0], 2, 0), target[1:5]
        return None

    def units(self, row: tuple[int, ...], inputs: Inputs, vector: list[int]) -> None:
        before = list(vector)
        changes: dict[int, tuple[int, int]] = {}
        for unit in range(8):
            word, operands, immediate = row[3 * unit : 3 * unit + 3]
            a = rotated(before[bits(operands, 4, 0)], bits(operands, 9, 5), bits(operands, 14, 10) + 1)
            b = second(operands >> 16, inputs, before) ^ immediate
            op, dst = bits(word, 3, 0), bits(word, 8, 4)
            if op in (0, 9) or unit not in writers(dst) or not self.holds(word, 19, 21, before):
                continue
            value = [
                0, a, b, a & b, a | b, a ^ b, a + b, a - b, b - a, 0, a == b, a != b, a < b, a >= b, a > b, a <= b
            ][op]  # fmt: skip
            mask, value = insertion(word, int(value) & M32)
            known, put = changes.get(dst, (0, 0))
            changes[dst] = known | mask, put | value
        for dst, (mask, value) in changes.items():
            vector[dst] = vector[dst] & ~mask | value

    def state(
        self,
        stage: int,
        bt: int,
        stateful: bool,
        row: tuple[int, ...],
        inputs: Inputs,
        before: list[int],
        vector: list[int],
    ) -> Late:
        """The count, and the register or the meter of an action, of the vector in front of the stage."""
        if bits(row[27], 16) and self.holds(row[27], 17, 19, before):
            self.count(stage, bt, second(row[27], inputs, before), row[28], before[28] & 0xFFFF)
        word, operands, array = row[24:27]
        op = bits(word, 3, 0)
        if not stateful or not 1 <= op <= 10 or not self.holds(word, 19, 21, before):
            return None
        index, x = (second(operands >> low, inputs, before) for low in (0, 16))
        x ^= bits(operands, 27)
        segment = self.read(SEGMENT, stage, bt)[2 if op == 10 else 0]
        at = bits(array, 15, 0) + index
        inside = index < bits(array, 31, 16) and at < bits(segment, 31, 16)
        if op == 10:
            color = self.color(stage, (bits(segment, 15, 0) + at) % METERS, bits(x, 14, 0)) if inside else 0
            return (bits(word, 8, 4), *insertion(word, color)) if bits(word, 28) else None
        address = (bits(segment, 15, 0) + at) % REGISTERS
        old = self.read(REGISTER, stage, address)[0] if inside else 0
        new = [0, old, x, old + x, old - x, old & x, old | x, old ^ x, max(old, x), min(old, x)][op] & M32
        if inside:
            self.write(REGISTER, stage, address, (new,))
        if bits(word, 28):
            put((bits(word, 8, 4), *insertion(word, new if bits(word, 27) else old)), vector)
        return None

    # ---- meters
    def time(self, pace: int) -> int:
        return 0 if bits(pace, 31) else self.now << 16 & (1 << MOMENT) - 1

    def color(self, stage: int, row: int, tokens: int) -> int:
        """The color of a frame: 0 green, 1 yellow, 2 red."""
        words, full = self.read(METER, stage, row), self.moments.setdefault((stage, row), [0, 0])
        fits, new = [], []
        for bucket in range(2):
            pace, depth = words[bucket], words[2 + 2 * bucket] | words[3 + 2 * bucket] << 32
            cost = tokens * bits(pace, 25, 0) << bits(pace, 30, 26)
            now = self.time(pace)
            begin = full[bucket] if signed(now - full[bucket]) < 0 else now
            fits.append(signed(now + depth - cost - begin) >= 0)
            new.append(begin + cost & (1 << MOMENT) - 1)
        color = 2 if not fits[1] else 1 if not fits[0] else 0
        if color < 2:
            full[1] = new[1]
        if color < 1:
            full[0] = new[0]
        if not bits(words[0], 25, 0):
            return 0
        self.colors.append(color)
        return color

    def count(self, stage: int, bt: int, index: int, array: int, length: int) -> None:
        segment = self.read(SEGMENT, stage, bt)[1]
        at = bits(array, 15, 0) + index
        if index >= bits(array, 31, 16) or at >= bits(segment, 31, 16):
            return
        address = (bits(segment, 15, 0) + at) % COUNTERS
        old = self.read(COUNTER, stage, address)
        packets = (old[0] | old[1] << 32) + 1
        amount = (old[2] | old[3] << 32) + length
        self.write(COUNTER, stage, address, tuple(n >> low & M32 for n in (packets, amount) for low in (0, 32)))


Late = tuple[int, int, int] | None  # word, mask and value of what a meter writes


def put(late: tuple[int, int, int], vector: list[int]) -> None:
    dst, mask, value = late
    vector[dst] = vector[dst] & ~mask | value


def signed(moment: int) -> int:
    moment &= (1 << MOMENT) - 1
    return moment - (moment >> MOMENT - 1 << MOMENT)


Inputs = tuple[int, int, tuple[int, ...]]  # the CRCs of the key, and the parameters


def rotated(value: int, by: int, width: int) -> int:
    """The lowest `width` bits of a word rotated right."""
    return (value >> by | value << 32 - by) & M32 & (1 << width) - 1


def second(word: int, inputs: Inputs, vector: list[int]) -> int:
    """Operand B without the immediate, and the operands of registers, meters and counters."""
    crc32, crc16, params = inputs
    words = [0, crc32, crc16, vector[28], *params, *vector[19:27]]
    return rotated(words[bits(word, 3, 0)], 8 * bits(word, 5, 4), bits(word, 10, 6) + 1)


def writers(word: int) -> set[int]:
    """The units that write a word of the vector."""
    if word == 28:
        return set()
    return set(range(8)) if word >= 29 else {(word + n) % 8 for n in (0, 3, 5)}


def insertion(word: int, value: int) -> tuple[int, int]:
    """Mask and value of what is written, at the lowest bit and width that the word says."""
    low, width = bits(word, 13, 9), bits(word, 18, 14) + 1
    mask = ((1 << width) - 1) << low & M32
    return mask, value << low & mask


def half(vector: list[int], h: int) -> int:
    return vector[h // 2] & 0xFFFF if h % 2 else vector[h // 2] >> 16


def set_half(vector: list[int], h: int, value: int) -> None:
    word = vector[h // 2]
    vector[h // 2] = word & ~0xFFFF | value if h % 2 else word & 0xFFFF | value << 16
