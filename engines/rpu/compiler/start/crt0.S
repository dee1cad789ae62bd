# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
# Where a unit's core starts (address 0) and where it traps (address 4). The host has loaded .data and .rodata already.

    .section .vectors, "ax"
    .globl _start
_start:
    j start
    j trap

    .section .text.start, "ax"
start:
    # A reset clears mscratch, so a bit that is set shows that the program jumped here: through a null pointer.
    csrrsi t0, mscratch, 1
    andi t0, t0, 1
    bnez t0, jumped_to_null
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    la sp, __stack_top
    la t0, __bss_start
    la t1, __bss_end
clear_bss:
    bgeu t0, t1, run
    sw zero, 0(t0)
    addi t0, t0, 4
    j clear_bss
run:
    csrsi mstatus, 8
    call main
    .type main_returned, @function
main_returned:
    j main_returned
    .size main_returned, . - main_returned

# Reports the jump as an exception (1: instruction access fault) of the instruction before its return address.
jumped_to_null:
    addi sp, sp, -16
    sw ra, 0(sp)
    li a0, 1
    addi a1, ra, -4
    call fault_handler
    lw ra, 0(sp)
    addi sp, sp, 16
    ret

# Saves what a C function may change and calls int_handler, or fault_handler(cause, pc) for an exception.
trap:
    addi sp, sp, -64
    sw ra, 0(sp)
    sw t0, 4(sp)
    sw t1, 8(sp)
    sw t2, 12(sp)
    sw t3, 16(sp)
    sw t4, 20(sp)
    sw t5, 24(sp)
    sw t6, 28(sp)
    sw a0, 32(sp)
    sw a1, 36(sp)
    sw a2, 40(sp)
    sw a3, 44(sp)
    sw a4, 48(sp)
    sw a5, 52(sp)
    sw a6, 56(sp)
    sw a7, 60(sp)
    csrr a0, mcause
    bltz a0, interrupt
    csrr a1, mepc
    call fault_handler
    j restore
interrupt:
    call int_handler
restore:
    lw ra, 0(sp)
    lw t0, 4(sp)
    lw t1, 8(sp)
    lw t2, 12(sp)
    lw t3, 16(sp)
    lw t4, 20(sp)
    lw t5, 24(sp)
    lw t6, 28(sp)
    lw a0, 32(sp)
    lw a1, 36(sp)
    lw a2, 40(sp)
    lw a3, 44(sp)
    lw a4, 48(sp)
    lw a5, 52(sp)
    lw a6, 56(sp)
    lw a7, 60(sp)
    addi sp, sp, 64
    mret
