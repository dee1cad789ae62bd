// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//
// The two calls of liblz4 that Verilator's FST writer makes, so that waves need no library installed.
// The output is a valid LZ4 block that holds one run of literals: not smaller, and read by every FST viewer.
#pragma once

#include <cstring>

// Upper bound of what LZ4_compress_default writes for `size` bytes.
inline int LZ4_compressBound(int size) { return size + size / 255 + 16; }

// Writes `size` bytes as one literal run (LZ4 block format: token, length bytes, literals). Returns the bytes written.
inline int LZ4_compress_default(const char* source, char* target, int size, int) {
    char* out = target;
    *out++ = static_cast<char>((size < 15 ? size : 15) << 4);
    if (size >= 15) {
        int rest = size - 15;
        for (; rest >= 255; rest -= 255) *out++ = static_cast<char>(255);
        *out++ = static_cast<char>(rest);
    }
    std::memcpy(out, source, static_cast<size_t>(size));
    return static_cast<int>(out - target) + size;
}
