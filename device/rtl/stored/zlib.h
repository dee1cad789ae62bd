// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//
// The calls of zlib that Verilator's FST writer makes, so that waves need no library installed. The output is a valid
// zlib stream (RFC 1950) of stored blocks (RFC 1951, 3.2.4): not smaller, and read by every FST viewer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

using Bytef = unsigned char;
using uLong = unsigned long;
using uLongf = unsigned long;
constexpr int Z_OK = 0;
constexpr int Z_BUF_ERROR = -5;

// Upper bound of what compress2 writes for `size` bytes.
inline uLong compressBound(uLong size) { return size + 5 * (size / 65535 + 1) + 6; }

// Writes `size` bytes as a zlib stream; `target_size` is the room on entry and the bytes written on return.
inline int compress2(Bytef* target, uLongf* target_size, const Bytef* source, uLong size, int) {
    if (*target_size < compressBound(size)) return Z_BUF_ERROR;
    Bytef* out = target;
    *out++ = 0x78;
    *out++ = 0x01;
    uLong done = 0;
    do {
        const uLong count = size - done < 65535 ? size - done : 65535;
        *out++ = done + count == size;
        *out++ = static_cast<Bytef>(count);
        *out++ = static_cast<Bytef>(count >> 8);
        *out++ = static_cast<Bytef>(~count);
        *out++ = static_cast<Bytef>(~count >> 8);
        std::memcpy(out, source + done, count);
        out += count;
        done += count;
    } while (done < size);
    uint32_t low = 1, high = 0;
    for (uLong i = 0; i < size; i++) {
        low = (low + source[i]) % 65521;
        high = (high + low) % 65521;
    }
    for (const uint32_t half : {high, low}) {
        *out++ = static_cast<Bytef>(half >> 8);
        *out++ = static_cast<Bytef>(half);
    }
    *target_size = static_cast<uLong>(out - target);
    return Z_OK;
}
