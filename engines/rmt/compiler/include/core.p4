// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// Core library of P4-16, written from the language specification, section "P4 core library".
#ifndef _CORE_P4_
#define _CORE_P4_ // programs ask for this name

error {
    NoError,              // no error
    PacketTooShort,       // the frame ended before the header
    NoMatch,              // no row of a select matches
    StackOutOfBounds,     // an element of a header stack that is not there
    HeaderTooShort,       // a varbit is longer than its maximum
    ParserTimeout,        // the parser ran too long
    ParserInvalidArgument // a length is not a multiple of 8
}

extern packet_in {
    void extract<T>(out T hdr);
    void extract<T>(out T hdr, in bit<32> bits);
    T lookahead<T>();
    void advance(in bit<32> bits);
    bit<32> length();
}

extern packet_out {
    void emit<T>(in T hdr);
}

extern void verify(in bool condition, in error otherwise);
extern bool static_assert(bool check, string message);

action NoAction() {}

match_kind { exact, ternary, lpm }

#endif
