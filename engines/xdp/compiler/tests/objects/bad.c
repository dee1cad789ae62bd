/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* A program for each rule that it breaks. The comment before it is a part of the checker's message; Linux must refuse
 * the program as well, unless it is marked "here only". Linux refuses programs marked "newer" only from some version
 * on, so the test does not ask it. */
#include <packet.h>

#include "map.h"

MAP(array, ARRAY, 4, 16, 8, 0);
MAP(hash, HASH, 8, 16, 8, 0);
MAP(programs, PROG_ARRAY, 4, 4, 8, 0);
MAP(events, PERF_EVENT_ARRAY, 4, 4, 8, 0);
MAP(ports, DEVMAP, 4, 4, 8, 0);
MAP(sockets, XSKMAP, 4, 4, 8, 0);
MAP(ring, RINGBUF, 0, 0, 4096, 0);
MAP(fixed, ARRAY, 4, 16, 8, 128); /* BPF_F_RDONLY_PROG */

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
  __uint(key_size, 4);
  __uint(max_entries, 4);
  __array(
      values, struct {
        __uint(type, BPF_MAP_TYPE_ARRAY);
        __uint(key_size, 4);
        __uint(value_size, 16);
        __uint(max_entries, 8);
      });
} outer SEC(".maps");

volatile const __u32 constant = 3;
__u32 variable;

/* A program in the instructions themselves; maps are named by %[map]. */
#define ASM(name, text, ...)                                      \
  SEC("xdp") __attribute__((naked)) int name(struct xdp_md *ctx) { \
    asm volatile(text ::__VA_ARGS__ : );                          \
  }
#define M(map) [map] "i"(&map)

/* A function that programs call. */
#define FUNCTION(name, text) \
  __attribute__((naked, used)) static int name(void) { asm volatile(text); }
FUNCTION(returns_r6, "r0 = r6; exit;")
FUNCTION(takes_400, "*(u64 *)(r10 - 400) = 0; r0 = 0; exit;")
FUNCTION(returns_stack, "r0 = r10; exit;")
FUNCTION(stores_stack, "*(u64 *)(r1 + 0) = r10; r0 = 0; exit;")
FUNCTION(calls_itself, "call calls_itself; r0 = 0; exit;")
FUNCTION(ninth, "r0 = 0; exit;")
FUNCTION(eighth, "call ninth; exit;")
FUNCTION(seventh, "call eighth; exit;")
FUNCTION(sixth, "call seventh; exit;")
FUNCTION(fifth, "call sixth; exit;")
FUNCTION(fourth, "call fifth; exit;")
FUNCTION(third, "call fourth; exit;")
FUNCTION(second, "call third; exit;")
__attribute__((naked, used)) static int tail_calls(void) {
  asm volatile("r2 = %[programs] ll; r3 = 0; call 12; r0 = 1; exit;" ::M(programs) :);
}

/* Registers. */

/* refused: r3 is read before anything was written to it; give the variable a value */
ASM(unset, "r0 = r3; exit;")
/* refused: r2 is read after a call, which leaves nothing in r1 to r5 */
ASM(after_call, "r2 = 0; call 7; r0 = r2; exit;")
/* refused: r0 has no value when the program ends; return an action, such as XDP_DROP, on every path */
ASM(no_result, "exit;")
/* refused: r6 is read before */
ASM(unset_in_function, "r6 = 1; call returns_r6; r0 = 0; exit;")
/* refused, here only: r0 is the context when the program ends */
ASM(pointer_result, "r0 = r1; exit;")

/* The packet. */

/* refused: bytes 0 to 0 of the packet are used, and nothing says that they are there; add `if (data + 1 > data_end)
 * return XDP_DROP;` */
ASM(unchecked, "r2 = *(u32 *)(r1 + 0); r0 = *(u8 *)(r2 + 0); exit;")
/* refused: bytes 12 to 13 of the packet are used, and only 13 are known to be there; add `if (data + 14 > data_end)
 * return XDP_DROP;` */
ASM(one_byte_short,
    "r2 = *(u32 *)(r1 + 0); r3 = *(u32 *)(r1 + 4); r0 = 1; r4 = r2; r4 += 13; if r4 > r3 goto 1f;"
    "r0 = *(u16 *)(r2 + 12); 1: exit;")
/* refused: and nothing says that they are there */
ASM(wrong_way,
    "r2 = *(u32 *)(r1 + 0); r3 = *(u32 *)(r1 + 4); r0 = 1; r4 = r2; r4 += 14; if r4 > r3 goto 1f; exit;"
    "1: r0 = *(u8 *)(r2 + 0); exit;")
/* refused: and nothing says that they are there */
ASM(other_wrong_way,
    "r2 = *(u32 *)(r1 + 0); r3 = *(u32 *)(r1 + 4); r0 = 1; r4 = r2; r4 += 14; if r4 < r3 goto 1f;"
    "r0 = *(u8 *)(r2 + 0); 1: exit;")
/* refused: and nothing says that they are there */
ASM(not_before_the_end,
    "r2 = *(u32 *)(r1 + 0); r3 = *(u32 *)(r1 + 4); r0 = 1; if r2 > r3 goto 1f; r0 = *(u8 *)(r2 + 0); 1: exit;")
/* refused: this pointer may be up to 65549 bytes into the packet, more than any packet has */
ASM(far_in_packet,
    "r2 = *(u32 *)(r1 + 0); r3 = *(u32 *)(r1 + 4); r4 = *(u32 *)(r1 + 12); r4 &= 0xffff; r0 = 1; r2 += r4; r5 = r2; "
    "r5 += 14;"
    "if r5 > r3 goto 1f; r0 = *(u8 *)(r2 + 13); 1: exit;")
/* refused: this may be before the packet's beginning, by an offset of -1 */
ASM(before, "r2 = *(u32 *)(r1 + 0); r3 = *(u32 *)(r1 + 4); r0 = 1; r4 = r2; r4 += 14; if r4 > r3 goto 1f;"
            "r0 = *(u8 *)(r2 - 1); 1: exit;")
/* refused: add `if (pointer + 1 > data_end) */
ASM(variable_unchecked,
    "r2 = *(u32 *)(r1 + 0); r3 = *(u32 *)(r1 + 4); r0 = 1; r4 = r2; r4 += 14; if r4 > r3 goto 1f;"
    "r5 = *(u8 *)(r2 + 0); r2 += r5; r0 = *(u8 *)(r2 + 0); 1: exit;")
/* refused: the number that is added to the pointer may be anything; bound it first */
ASM(unbounded,
    "r2 = *(u32 *)(r1 + 0); r6 = r2; r7 = r1; call 5; r6 += r0; r3 = *(u32 *)(r7 + 4); if r6 > r3 goto 1f;"
    "r0 = *(u8 *)(r6 - 1); 1: r0 = 0; exit;")
/* refused: r6 points to where the packet was before bpf_xdp_adjust_head() moved it; read ctx->data and ctx->data_end
 * again */
ASM(moved,
    "r6 = *(u32 *)(r1 + 0); r3 = *(u32 *)(r1 + 4); r0 = 1; r4 = r6; r4 += 14; if r4 > r3 goto 1f;"
    "r2 = 0; call 44; r0 = *(u8 *)(r6 + 0); 1: exit;")
/* refused: 4 bytes at offset 0 of the packet's metadata are used, which has 0 bytes */
ASM(metadata, "r2 = *(u32 *)(r1 + 8); r0 = *(u32 *)(r2 + 0); exit;")
/* refused: r2 is data_end, which leads to no memory */
ASM(the_end, "r2 = *(u32 *)(r1 + 4); r0 = *(u8 *)(r2 - 1); exit;")
/* refused: `r2 += 1` is not allowed on data_end */
ASM(beyond_the_end, "r2 = *(u32 *)(r1 + 4); r2 += 1; r0 = 0; exit;")
/* refused: an atomic operation on the stack is at a place that is known, and this one is computed */
ASM(atomic_computed,
    "r2 = 1; *(u64 *)(r10 - 8) = r2; *(u64 *)(r10 - 16) = r2; r3 = *(u32 *)(r1 + 12); r3 &= 8; r4 = r10; r4 -= 16; "
    "r4 += r3;"
    "lock *(u64 *)(r4 + 0) += r2; r0 = 1; exit;")

/* refused: atomic operations work on the stack and on values of maps, not on a pointer into the packet */
ASM(atomic_on_packet,
    "r2 = *(u32 *)(r1 + 0); r3 = *(u32 *)(r1 + 4); r0 = 1; r4 = r2; r4 += 14; if r4 > r3 goto 1f;"
    "r5 = 1; lock *(u64 *)(r2 + 0) += r5; 1: exit;")

/* The context. */

/* refused: the context has no 4-byte field at offset 24 */
ASM(no_field, "r0 = *(u32 *)(r1 + 24); exit;")
/* refused: the context has no 4-byte field at offset 20 */
ASM(egress, "r0 = *(u32 *)(r1 + 20); exit;")
/* refused: the context has no 2-byte field at offset 0 */
ASM(half_a_field, "r0 = *(u16 *)(r1 + 0); exit;")
/* refused: the context cannot be written */
ASM(write_context, "r0 = 0; *(u32 *)(r1 + 12) = r0; exit;")
/* refused: `r1 += 4` is not allowed on the context */
ASM(moved_context, "r1 += 4; r0 = *(u32 *)(r1 + 0); exit;")

/* The stack. */

/* refused, here only: byte -8 of the stack is read before anything was written there; set the whole variable to zero
 * first */
ASM(unset_stack_for_helper, "*(u32 *)(r10 - 4) = 0; r1 = %[hash] ll; r2 = r10; r2 += -8; call 1; r0 = 0; exit;", M(hash))
/* refused, here only: byte -8 of the stack is read */
ASM(unset_stack, "r0 = *(u64 *)(r10 - 8); exit;")
/* refused: 8 bytes at offset -520 of the stack are outside its 512 bytes */
ASM(deep, "*(u64 *)(r10 - 520) = 0; r0 = 0; exit;")
/* refused: the map's key has 8 bytes, more than there are on the stack from this pointer on (offset -4); give the
 * address of a variable */
ASM(short_key, "*(u32 *)(r10 - 4) = 0; r1 = %[hash] ll; r2 = r10; r2 += -4; call 1; r0 = 0; exit;", M(hash))
/* refused: 1 bytes at offset 0 of the stack are outside */
ASM(above, "*(u8 *)(r10 + 0) = 0; r0 = 0; exit;")
/* refused: 4 bytes at offset -6 of the stack are not aligned */
ASM(unaligned, "*(u32 *)(r10 - 6) = 0; r0 = 0; exit;")
/* refused: 1 bytes at offset -16 to 239 of the stack are outside its 512 bytes */
ASM(index_unchecked, "r2 = *(u32 *)(r1 + 12); r2 &= 255; r3 = r10; r3 += r2; *(u8 *)(r3 - 16) = 1; r0 = 0; exit;")
/* refused: storing 4 bytes is not allowed on a pointer to the stack */
ASM(half_a_pointer, "*(u32 *)(r10 - 8) = r10; r0 = 0; exit;")
/* refused: reading 4 bytes is not allowed on a pointer to the stack */
ASM(half_of_a_pointer, "*(u64 *)(r10 - 8) = r10; r0 = *(u32 *)(r10 - 8); exit;")
/* refused: the stacks of the functions that run at once have 832 bytes, the limit is 512 */
ASM(two_stacks, "*(u64 *)(r10 - 400) = 0; call takes_400; r0 = 0; exit;")
/* refused: a pointer to this function's stack is returned */
ASM(returned_stack, "call returns_stack; r0 = 0; exit;")
/* refused: a pointer to the stack is stored in the stack of a caller */
ASM(stack_in_caller, "r1 = r10; r1 += -8; call stores_stack; r0 = 0; exit;")

/* Maps. */

/* refused: r0 may be null: the lookup may have found nothing; add `if (!value) return XDP_PASS;` */
ASM(null, "*(u64 *)(r10 - 8) = 0; r1 = %[hash] ll; r2 = r10; r2 += -8; call 1; r0 = *(u64 *)(r0 + 0); exit;", M(hash))
/* refused: 8 bytes at offset 12 of the value of hash are used, which has 16 bytes; check the index */
ASM(behind_value,
    "*(u64 *)(r10 - 8) = 0; r1 = %[hash] ll; r2 = r10; r2 += -8; call 1; if r0 == 0 goto 1f;"
    "r0 = *(u64 *)(r0 + 12); exit; 1: r0 = 0; exit;",
    M(hash))
/* refused: 1 bytes at offset 0 to 31 of the value of hash are used */
ASM(index_in_value,
    "r6 = *(u32 *)(r1 + 12); *(u64 *)(r10 - 8) = 0; r1 = %[hash] ll; r2 = r10; r2 += -8; call 1; if r0 == 0 goto 1f;"
    "r6 &= 31; r0 += r6; r0 = *(u8 *)(r0 + 0); exit; 1: r0 = 0; exit;",
    M(hash))
/* refused: 4 bytes at offset -4 of the value of hash are used */
ASM(before_value,
    "*(u64 *)(r10 - 8) = 0; r1 = %[hash] ll; r2 = r10; r2 += -8; call 1; if r0 == 0 goto 1f;"
    "r0 = *(u32 *)(r0 - 4); exit; 1: r0 = 0; exit;",
    M(hash))
/* refused: the value of .rodata is for reading only */
ASM(write_constant, "r1 = %[constant] ll; r2 = 1; *(u32 *)(r1 + 0) = r2; r0 = 0; exit;", M(constant))
/* refused: 8 bytes at offset 0 of the value of .bss are used, which has 4 bytes */
ASM(behind_variable, "r1 = %[variable] ll; r0 = *(u64 *)(r1 + 0); exit;", M(variable))
/* refused: the value of ports is for reading only */
ASM(write_port,
    "*(u32 *)(r10 - 4) = 0; r1 = %[ports] ll; r2 = r10; r2 += -4; call 1; if r0 == 0 goto 1f; r2 = 1;"
    "*(u32 *)(r0 + 0) = r2; 1: r0 = 0; exit;",
    M(ports))
/* refused: bpf_map_update_elem() does not work on ports, a map of the type devmap; such maps are filled by the host */
ASM(update_port,
    "*(u32 *)(r10 - 4) = 0; r1 = %[ports] ll; r2 = r10; r2 += -4; r3 = r2; r4 = 0; call 2; r0 = 0; exit;", M(ports))
/* refused: bpf_map_lookup_elem() does not work on programs, a map of the type prog_array */
ASM(lookup_program, "*(u32 *)(r10 - 4) = 0; r1 = %[programs] ll; r2 = r10; r2 += -4; call 1; r0 = 0; exit;", M(programs))
/* refused: bpf_redirect_map() does not work on hash, a map of the type hash */
ASM(redirect_to_hash, "r1 = %[hash] ll; r2 = 0; r3 = 0; call 51; exit;", M(hash))
/* refused: r1 is a map, which leads to no memory */
ASM(map_itself, "r1 = %[hash] ll; *(u64 *)(r1 + 0) = 0; r0 = 0; exit;", M(hash))
/* refused: r1 may be null */
ASM(inner_null,
    "*(u32 *)(r10 - 4) = 0; r1 = %[outer] ll; r2 = r10; r2 += -4; call 1; r1 = r0; r2 = r10; r2 += -4; call 1; "
    "r0 = 0; exit;",
    M(outer))
/* refused: 8 bytes at offset 16 of the value of a map in outer are used, which has 16 bytes */
ASM(inner_bounds,
    "*(u32 *)(r10 - 4) = 0; r1 = %[outer] ll; r2 = r10; r2 += -4; call 1; if r0 == 0 goto 1f; r1 = r0; r2 = r10; "
    "r2 += -4;"
    "call 1; if r0 == 0 goto 1f; r0 = *(u64 *)(r0 + 16); exit; 1: r0 = 0; exit;",
    M(outer))

/* Helpers. */

/* refused, here only: the helper bpf_get_current_pid_tgid() is not supported by the xdp engine */
ASM(unknown_helper, "call 14; r0 = 0; exit;")
/* refused: the helper number 9999 is not supported */
ASM(no_helper, "call 9999; r0 = 0; exit;")
/* refused: r1 of bpf_xdp_adjust_head() is the number 0, and must be the context */
ASM(no_context, "r1 = 0; r2 = 0; call 44; r0 = 0; exit;")
/* refused: r1 of bpf_map_lookup_elem() is the number 0, and must be a map */
ASM(no_map, "r1 = 0; r2 = r10; call 1; r0 = 0; exit;")
/* refused: r2 of bpf_map_lookup_elem() is the number 5, and must be a pointer to the key */
ASM(no_key, "r1 = %[hash] ll; r2 = 5; call 1; r0 = 0; exit;", M(hash))
/* refused: the size in r2 of bpf_csum_diff() may be anything; bound it */
ASM(any_size, "r6 = r10; r6 += -8; *(u64 *)(r10 - 8) = 0; call 5; r1 = r6; r2 = r0; r2 >>= 1; r3 = 0; r4 = 0; r5 = 0; call 28; r0 = 0; exit;")
/* refused: the size in r2 of bpf_csum_diff() may be negative */
ASM(negative_size, "r1 = r10; r1 += -8; *(u64 *)(r10 - 8) = 0; r2 = -4; r3 = 0; r4 = 0; r5 = 0; call 28; r0 = 0; exit;")
/* refused: r4 of bpf_perf_event_output() is a pointer into the packet, and must be in a map's value or on the stack */
ASM(packet_event,
    "r6 = *(u32 *)(r1 + 0); r3 = *(u32 *)(r1 + 4); r0 = 1; r4 = r6; r4 += 14; if r4 > r3 goto 1f;"
    "r2 = %[events] ll; r3 = 0; r4 = r6; r5 = 14; call 25; 1: r0 = 0; exit;",
    M(events))
/* refused: 16 bytes at offset -8 of the stack are outside */
ASM(long_size, "r1 = r10; r1 += -8; *(u64 *)(r10 - 8) = 0; r2 = 16; r3 = 0; r4 = 0; r5 = 0; call 28; r0 = 0; exit;")

/* Ring buffers. */

/* refused: the record that was reserved at instruction 4 is neither submitted nor discarded */
ASM(kept_record, "r1 = %[ring] ll; r2 = 8; r3 = 0; call 131; r0 = 0; exit;", M(ring))
/* refused: r2 of bpf_ringbuf_reserve() is a number, and must be a size that is known */
ASM(unknown_record, "r2 = *(u32 *)(r1 + 12); r1 = %[ring] ll; r3 = 0; call 131; r0 = 0; exit;", M(ring))
/* refused: r6 was a record of a ring buffer that was submitted or discarded */
ASM(used_record,
    "r1 = %[ring] ll; r2 = 8; r3 = 0; call 131; if r0 == 0 goto 1f; r6 = r0; r1 = r0; r2 = 0; call 132;"
    "*(u64 *)(r6 + 0) = 0; 1: r0 = 0; exit;",
    M(ring))
/* refused: 8 bytes at offset 4 of the record are used, which has 8 bytes */
ASM(behind_record,
    "r1 = %[ring] ll; r2 = 8; r3 = 0; call 131; if r0 == 0 goto 1f; *(u64 *)(r0 + 4) = 0; r1 = r0; r2 = 0; call 133;"
    "1: r0 = 0; exit;",
    M(ring))

/* refused: the record that was reserved at instruction 5 is open when bpf_tail_call() is called */
ASM(record_and_tail_call,
    "r6 = r1; r1 = %[ring] ll; r2 = 8; r3 = 0; call 131; if r0 == 0 goto 1f; r7 = r0; r1 = r6; r2 = %[programs] ll; "
    "r3 = 0; call 12;"
    "r1 = r7; r2 = 0; call 133; 1: r0 = 0; exit;",
    M(ring), M(programs))

/* The program that a function's tail call leads to comes back to the function's caller. */

/* refused, newer: r6 points to where the packet was before bpf_tail_call() moved it */
ASM(packet_after_tail_call,
    "r6 = *(u32 *)(r1 + 0); r7 = *(u32 *)(r1 + 4); r2 = r6; r2 += 1; r0 = 0; if r2 > r7 goto 1f; call tail_calls;"
    "r0 = *(u8 *)(r6 + 0); 1: exit;")
/* refused, newer: the number that is added to the pointer may be anything; bound it first */
ASM(result_of_tail_call, "call tail_calls; r2 = r10; r2 -= r0; *(u8 *)(r2 + 0) = 1; r0 = 0; exit;")

/* refused: fixed is for reading only */
ASM(update_of_constants,
    "*(u32 *)(r10 - 4) = 0; *(u64 *)(r10 - 24) = 0; *(u64 *)(r10 - 16) = 0; r1 = %[fixed] ll; r2 = r10; r2 += -4; "
    "r3 = r10;"
    "r3 += -24; r4 = 0; call 2; r0 = 0; exit;",
    M(fixed))

/* Numbers and pointers. */

/* refused: this divides by the constant 0 */
ASM(division, "r0 = 1; .byte 0x37, 0, 0, 0, 0, 0, 0, 0; r0 = 0; exit;")
/* refused: r0 is read before */
ASM(division_of_nothing, ".byte 0x3f, 0x10, 0, 0, 0, 0, 0, 0; exit;")
/* refused: this shifts by 64, beyond the width of the number */
ASM(shift, "r0 = 1; r0 <<= 64; exit;")
/* refused: `r2 *= 2` is not allowed on a pointer to the stack */
ASM(multiplied, "r2 = r10; r2 *= 2; r0 = 0; exit;")
/* refused: a pointer with an offset beyond 2^29 leads nowhere */
ASM(far, "r2 = r10; r2 += 0x7fffffff; r0 = 0; exit;")
/* refused: r2 is a number, which leads to no memory */
ASM(number, "r2 = *(u32 *)(r1 + 12); r0 = *(u32 *)(r2 + 0); exit;")

/* Two paths join: an access is safe on the path that is checked first and unsafe on the other. FAR is as long as states
 * are kept apart. */
#define FAR "goto 5f; 5: goto 6f; 6: r4 += 1; r4 += 1; r4 += 1; r4 += 1; r4 += 1; r4 += 1; r4 += 1; r4 += 1; goto 2f;"

/* refused: 1 bytes at offset 36 of the stack are outside */
ASM(other_number,
    "r2 = *(u32 *)(r1 + 12); r4 = 0; r4 += 1; r4 += 1; r4 += 1; r4 += 1; r4 += 1; if r2 == 7 goto 1f; r3 = 4;" FAR
    "1: r3 = 100; 2: r5 = r10; r5 += r3; *(u8 *)(r5 - 64) = 1; r0 = 0; exit;")
/* refused: 1 bytes at offset 36 of the stack are outside */
ASM(other_number_on_stack,
    "r2 = *(u32 *)(r1 + 12); r4 = 0; r4 += 1; r4 += 1; r4 += 1; r4 += 1; r4 += 1; if r2 == 7 goto 1f; r3 = 4;"
    "*(u64 *)(r10 - 8) = r3;" FAR "1: r3 = 100; *(u64 *)(r10 - 8) = r3; 2: r3 = *(u64 *)(r10 - 8); r5 = r10; r5 += r3;"
    "*(u8 *)(r5 - 64) = 1; r0 = 0; exit;")
/* refused: bytes 0 to 0 of the packet are used, and nothing says that they are there */
ASM(other_check,
    "r2 = *(u32 *)(r1 + 12); r6 = *(u32 *)(r1 + 0); r7 = *(u32 *)(r1 + 4); r8 = r6; r8 += 14; r0 = 0; r4 = 0; r4 += 1;"
    "if r2 == 7 goto 2f; if r8 > r7 goto 1f;" FAR "1: r0 = 0; exit; 2: r0 = *(u8 *)(r6 + 0); exit;")
/* refused: the number that is added to the pointer may be anything; bound it first */
ASM(other_link,
    "r6 = *(u32 *)(r1 + 12); r2 = *(u32 *)(r1 + 16); r4 = 0; r4 += 1; r4 += 1; r4 += 1; r4 += 1; if r2 == 7 goto 1f;"
    "r7 = r6;" FAR "1: r7 = *(u32 *)(r1 + 16); 2: if r7 > 15 goto 3f; r5 = r10; r5 += -64; r5 += r6;"
    "*(u8 *)(r5 + 0) = 1; 3: r0 = 0; exit;")

/* Control. */

/* refused: the loop does not end: after a round everything is as it was before */
ASM(endless, "r0 = 0; 1: if r0 == 0 goto 1b; exit;")
/* refused: no path leads here; take the code out */
ASM(dead_code, "r0 = 0; exit; r0 = 1; exit;")
/* refused: the function ends without exit */
ASM(no_exit, "r0 = 0;")
/* refused: the function calls itself */
ASM(recursion, "call calls_itself; exit;")
/* refused: more than 8 functions run at once */
ASM(nine_functions, "call second; exit;")
/* refused: the check has looked at 1000000 instructions and come to no end; give loops smaller limits */
ASM(long_loop, "r6 = 0; r7 = 100; r7 <<= 32; 1: r6 += 1; if r6 < r7 goto 1b; r0 = 0; exit;")

char _license[] SEC("license") = "GPL";
