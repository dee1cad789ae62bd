// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Registers of firmware (engines/rpu/regs/rpu.rdl, rpu_core), and their functions: receive queue, checks of sent
// descriptors, slot set-up, interrupts, timer, debug words.
//
//   receive   done ─> queue of slots (32) ─> descriptor register ─> RECV / RECV_DESC
//   send      store ─> register ─> checked against the slots held ─> register ─> transmit engine    3 cycles, one a cycle
//   set-up    store ─> register ─> checked ─> slot table / dispatcher                      2 cycles, one a cycle
//
// An access is the MEM stage of the core: `rd` or `wr` with address and data out of registers. It takes one cycle; only
// a read of RECV waits (`hold`) until a descriptor is there, or gives up (`retry`) to an interrupt, which returns to
// it; and a send of what has no slot (a request to host memory, a frame that the program made), or the address of the
// next request, waits for the one before (tx_dma.sv).
module core_regs
  import penstock_pkg::*;
  import rpu_pkg::*;
  import rpu_regs_pkg::*;
#(
    parameter int unsigned PmemBytes = 1 << 20,
    parameter int unsigned Accel = 0
) (
    input wire logic  clk,
    input wire logic  rst,
    input wire unit_t unit_id,
    input wire card_t card,
    input wire logic [63:0] timer,
    input wire logic [63:0] ns,  // time of the program

    input  wire logic        rd,
    input  wire logic        wr,
    input  wire logic [8:2]  addr,
    input  wire logic [31:0] wdata,
    input  wire logic [3:0]  be,      // bytes of the word that a store writes
    // of the register at `addr`, decoded while the access was in EX: a register, so that reads are short
    input  wire logic [127:0] line,
    input  wire early_t      early,   // of the access, decoded while it was in EX: the core waits behind it
    output logic [1:0][31:0] rdata,   // in two parts: all but one are zero
    output logic             hold,
    output logic             retry,
    output logic             irq,
    input  wire logic        irq_ready,  // the core would take an interrupt

    // errors and events
    input wire logic        wild,
    input wire logic [15:2] pc,  // of the access
    input wire logic        accel_error,
    input wire logic poke,
    input wire logic evict,

    // broadcast messages
    output logic             bc_listen,
    output logic      [12:2] bc_mask,
    output logic      [12:2] bc_value,
    output logic             bc_next,
    input  wire logic        bc_head_valid,
    input  wire logic [12:2] bc_head,
    input  wire logic        bc_head_load,
    input  wire logic [7:0]  bc_waiting,
    input  wire logic [3:0]  bc_leaving,

    // receive engine
    input wire logic        done,
    input wire slot_index_t done_slot,

    // answers of host memory
    input wire logic        was_read,
    input wire slot_index_t was_read_tag,
    input wire logic        was_read_error,
    input wire logic        wrote,
    input wire slot_index_t wrote_tag,
    input wire logic        wrote_error,

    // slot table
    output logic        place_we,
    output logic        header_we,
    output slot_index_t place_slot,
    output half_t       place_data,
    output slot_index_t head_slot,
    input  wire half_t  head_place,
    input  wire len_t   head_len,
    input  wire port_t  head_src,
    input  wire header_row_t head_header,
    input  wire logic   head_copies,
    output slot_index_t taken_slot,
    input  wire half_t  taken_place,
    input  wire header_row_t taken_header,
    input  wire logic [31:0] taken_hash,
    input  wire time_t  taken_timestamp,
    // the place of the header window in data memory, for the next access
    output logic [14:8] window,
    output slot_index_t send_slot,
    input  wire half_t  send_place,

    // transmit engine
    output logic        send,
    output send_t       send_data,
    input  wire logic   extra_busy,  // what was sent without a slot still has its place in the queue
    input  wire logic   unread,      // a frame that the program made has not been read to its end
    output logic [63:0] mem_addr,
    output host_read_t  mem_read,
    input  wire logic        free,
    input  wire slot_index_t free_slot,

    // dispatcher
    output logic  setup_valid,
    output slot_t setup_count,
    output len_t  setup_size,

    // host
    input  wire logic [63:0] debug_in,
    output logic      [63:0] debug_out,
    output logic             ready_to_evict,
    output logic      [31:0] active,
    output logic      [31:0] held_cycles,
    output logic      [15:0] errors,
    output error_pcs_t       error_pcs,
    input  wire logic        quiet,   // a debugger is at work: time does not count against it
    input  wire logic        data_we,
    input  wire logic [31:0] data_wdata,
    output logic      [31:0] data,    // word that core and host share
    output logic             refused,   // a frame was dropped because its descriptor was refused: one cycle
    output logic             generated  // the program has made a frame: one cycle
);
  function automatic logic at(logic [8:2] a, logic [31:0] register);
    return a == register[8:2];
  endfunction

  // ---- receive queue
  logic queue_valid, head_valid_q, pop;
  slot_index_t queue_slot, head_slot_q, taken_slot_q;
  logic [31:0] head_desc_q;

  fifo_dist #(
      .Width($bits(slot_index_t))
  ) queue (
      .clk,
      .rst,
      .push (done),
      .din  (done_slot),
      .ready(),
      .valid(queue_valid),
      .pop  (!head_valid_q || pop),
      .dout (queue_slot),
      .level()
  );

  // The table looks up the slot that enters the descriptor register, and between two descriptors the present one.
  wire head_load = queue_valid && (!head_valid_q || pop);
  assign head_slot = queue_slot;
  wire recv = early.recv && !retry;
  wire recv_waits = recv && !head_valid_q;
  assign pop = head_valid_q && (recv || early.take);

  half_t head_place_q;
  logic [14:8] head_window_q, window_q;  // header copies of the frame that waits and of the one that was taken
  logic head_copies_q, taken_copies_q;   // whether they have one

  always_ff @(posedge clk) begin
    if (head_load) head_valid_q <= 1'b1;
    else if (pop) head_valid_q <= 1'b0;
    retry <= recv_waits && irq_ready;
    if (rst) begin
      head_valid_q <= 1'b0;
      retry <= 1'b0;
    end
  end

  always_ff @(posedge clk) begin
    if (head_load) begin
      head_slot_q  <= queue_slot;
      head_desc_q  <= {head_src, 8'(queue_slot) + 8'd1, head_len};
      head_place_q <= head_place;
      head_window_q <= head_copies ? head_header[9:3] : '0;
      head_copies_q <= head_copies;
    end
    if (pop) begin
      taken_slot_q   <= head_slot_q;
      taken_copies_q <= head_copies_q;
    end
    if (rst) taken_copies_q <= 1'b0;
    window_q <= rst ? '0 : window;
  end

  assign taken_slot = taken_slot_q;
  assign window = pop ? head_window_q : window_q;

  // ---- stores that send
  typedef enum logic [2:0] {
    SendFrame   = 3'd0,
    SendRelease = 3'd1,
    SendToUnit  = 3'd2,
    SendSlots   = 3'd3,
    SendHostWrite = 3'd4,
    SendHostRead  = 3'd5
  } send_type_e;

  logic [31:0] desc_low_q, desc_high_q;
  logic s_valid_q, s_pointer_q, s_frame_q;  // s_frame: it is a frame in a slot, or the slot alone
  logic [2:0] s_type_q;
  logic [31:0] s_desc_q, s_data_q;
  logic s_long_q;          // the length is that of no frame
  logic [7:0] s_index_q;  // number of the slot, less one

  wire store_send = wr && at(addr, RPU_CORE_SEND);
  // The unit has one place for a frame without a slot or a request to host memory: the next one waits in its store.
  // Every write of SEND_DESC_TYPE waits in the same way, whatever it sends, so its data need not be decoded in this
  // cycle.
  logic no_slot_q;               // SEND_DESC_LOW names no slot
  logic s_host_q, s_generate_q;  // what is in the register is a request; a frame without a slot
  logic x_generate_q;            // the same of the register behind it
  logic extra_sent_q;            // either was sent in one of the last two cycles: `extra_busy` does not show it yet
  wire extra_held = extra_busy || extra_sent_q;
  wire extra_waits = extra_held && (early.typed || early.host_addr || (early.pointer && no_slot_q));
  wire store_typed = early.typed && !extra_waits;
  wire store_from = early.pointer && !extra_waits;
  wire is_host = wdata[2:0] == SendHostWrite || wdata[2:0] == SendHostRead;
  wire is_frame = wdata[2:0] == SendFrame || wdata[2:0] == SendToUnit;
  wire store_generates = no_slot_q && (store_from || (store_typed && is_frame));

  assign hold = recv_waits || extra_waits;

  always_ff @(posedge clk) begin
    if (wr && !extra_waits && at(addr, RPU_CORE_DRAM_ADDR_LOW)) mem_addr[31:0] <= wdata;
    if (wr && !extra_waits && at(addr, RPU_CORE_DRAM_ADDR_HIGH)) mem_addr[63:32] <= wdata;
    if (store_typed) mem_read <= '{place: desc_high_q[19:1], len: desc_low_q[15:0]};
  end

  // A descriptor may be written in parts of any width and order, because another store sends it. A program begins with
  // an empty one.
  always_ff @(posedge clk) begin
    for (int unsigned b = 0; b < 4; b++) begin
      if (wr && at(addr, RPU_CORE_SEND_DESC_LOW) && be[b]) desc_low_q[8*b+:8] <= wdata[8*b+:8];
      if (wr && (at(addr, RPU_CORE_SEND_DESC_HIGH) || at(addr, RPU_CORE_SEND_FROM)) && be[b])
        desc_high_q[8*b+:8] <= wdata[8*b+:8];
    end
    if (wr && at(addr, RPU_CORE_SEND_DESC_LOW) && be[2]) no_slot_q <= wdata[23:16] == 0;
    if (rst) begin
      desc_low_q  <= '0;
      desc_high_q <= '0;
      no_slot_q   <= 1'b1;
    end
  end

  always_ff @(posedge clk) begin
    if (store_send || store_from || store_typed) begin
      s_pointer_q <= !store_send;
      s_type_q <= store_typed ? wdata[2:0] : SendFrame;
      s_desc_q <= store_send ? wdata : desc_low_q;
      s_long_q <= (store_send ? wdata[15:0] : desc_low_q[15:0]) > 16'(MaxFrame);
      s_index_q <= (store_send ? wdata[23:16] : desc_low_q[23:16]) - 8'd1;
      s_data_q <= store_typed ? desc_high_q : wdata;
    end
    s_valid_q <= store_send || store_from || store_typed;
    s_frame_q <= store_send || (store_from && !no_slot_q) ||
        (store_typed && !is_host && wdata[2:0] != SendSlots && !(is_frame && no_slot_q));
    s_host_q <= store_typed && is_host;
    s_generate_q <= store_generates;
    extra_sent_q <= (store_typed && is_host) || store_generates || s_host_q || s_generate_q;
    if (rst) begin
      s_valid_q <= 1'b0;
      s_frame_q <= 1'b0;
      s_host_q <= 1'b0;
      s_generate_q <= 1'b0;
      extra_sent_q <= 1'b0;
    end
  end

  wire len_t s_len = s_desc_q[15:0];
  wire port_t s_port = s_desc_q[31:24];
  wire slot_index_t s_slot = slot_index_t'(s_index_q);
  wire s_exists = s_index_q < 8'(MaxSlots);

  logic [31:0] held_q, held_d;
  wire s_held = s_exists && held_q[s_slot];

  // The destination of the frame, and whether it exists.
  port_t dst;
  logic dst_exists;

  always_comb begin
    dst = s_port;
    dst_exists = 1'b0;
    if (s_type_q > SendSlots) begin
      dst = s_type_q == SendHostWrite ? PortHostMem : PortHostRead;
    end else if (s_type_q == SendToUnit) begin
      dst = PortUnit + s_port;
      dst_exists = s_port < 8'(card.unit_count);
    end else if (s_port < 8'd2) begin
      dst = PortEthHigh + s_port;
      dst_exists = s_port < 8'(card.port_count);
    end else if (s_port == PortHost || s_port == PortLoopback) begin
      dst_exists = 1'b1;
    end else if (s_port >= PortEthHigh && s_port < PortEthHigh + 8'(MaxPorts)) begin
      dst_exists = s_port < PortEthHigh + 8'(card.port_count);
    end else if (s_port >= PortUnit) begin
      dst_exists = s_port < PortUnit + 8'(card.unit_count);
    end
  end

  // A pointer into packet memory must name a place from which the transmit engine can rotate back; any other means the
  // slot's place.
  wire moved = s_pointer_q && s_data_q[31:20] == 12'h010 && 32'(s_data_q[19:0]) < PmemBytes;
  wire frame_fits = !s_long_q && (!moved || (s_data_q[5:4] == 0 && !s_data_q[0]));

  // Host memory takes any part of packet memory that begins where a frame may begin.
  wire [20:0] s_end = {1'b0, s_data_q[19:0]} + {5'd0, s_len};
  wire host_fits = s_exists && s_len != 0 && moved && frame_fits && 32'(s_end) <= PmemBytes;
  wire refuse_host = s_host_q && !host_fits;

  // A frame that the program made has only its pointer. Over loopback it would hold the core until another unit has
  // room, and units that hold each other so would not come free again.
  wire s_loops = s_type_q == SendToUnit || s_port == PortLoopback || s_port >= PortUnit;
  wire generate_fits = s_len != 0 && moved && frame_fits;
  wire refuse_generate_dst = s_generate_q && (!dst_exists || s_loops);
  wire refuse_generate = s_generate_q && dst_exists && !s_loops && !generate_fits;
  wire generates = s_generate_q && dst_exists && !s_loops && generate_fits;

  wire release_only = s_type_q == SendRelease;
  wire drop = s_len == 0;
  wire refuse_slot = s_frame_q && !s_held;
  wire refuse_dst = s_frame_q && s_held && !release_only && !drop && !dst_exists;
  wire refuse_frame = s_frame_q && s_held && !release_only && !drop && dst_exists && !frame_fits;

  assign send_slot = s_slot;
  wire gives_back = s_frame_q && s_held;

  always_ff @(posedge clk) begin
    send_data <= '{
        generated: s_generate_q,
        slot: s_slot,
        // Only of a frame that is held, without waiting to know that: nothing else is sent when it is not.
        discard: s_frame_q && (release_only || drop || !dst_exists || !frame_fits),
        blocked: drop || release_only,
        len: s_host_q && s_type_q == SendHostRead ? len_t'(HostReadBytes) : s_len,
        dst: dst,
        start: moved ? s_data_q[19:1] : send_place
    };
    send <= gives_back || (s_host_q && host_fits) || generates;
    x_generate_q <= s_generate_q;
    if (rst) begin
      send <= 1'b0;
      x_generate_q <= 1'b0;
    end
  end

  always_ff @(posedge clk) begin
    refused <= refuse_frame || refuse_dst;
    generated <= generates;
    if (rst) begin
      refused <= 1'b0;
      generated <= 1'b0;
    end
  end

  // ---- slots held by the firmware, from taking the descriptor to giving it back, and slots that hold a frame
  always_comb begin
    held_d = held_q;
    if (gives_back) held_d[s_slot] = 1'b0;
    if (pop) held_d[head_slot_q] = 1'b1;
  end

  always_ff @(posedge clk) begin
    held_q <= held_d;
    if (free) active[free_slot] <= 1'b0;
    if (done) active[done_slot] <= 1'b1;
    held_cycles <= (gives_back || (held_q == 0 && !head_valid_q)) ? 32'd0 : held_cycles + 32'(!quiet);
    if (rst) begin
      held_q <= '0;
      active <= '0;
      held_cycles <= '0;
    end
  end

  // ---- host memory flags
  logic [31:0] host_flags_q, host_flags_d;

  always_comb begin
    host_flags_d = host_flags_q;
    if (wr && at(addr, RPU_CORE_DRAM_FLAG_WR)) host_flags_d = wdata;
    if (wr && at(addr, RPU_CORE_DRAM_FLAG_RST)) host_flags_d[slot_index(wdata[5:0])] = 1'b0;
    if (was_read) host_flags_d[was_read_tag] = 1'b1;
    if (wrote) host_flags_d[wrote_tag] = 1'b1;
  end

  always_ff @(posedge clk) begin
    host_flags_q <= host_flags_d;
    if (rst) host_flags_q <= '0;
  end

  // ---- broadcast messages
  assign bc_next = wr && at(addr, RPU_CORE_BC_RELEASE);

  always_ff @(posedge clk) begin
    if (wr && at(addr, RPU_CORE_BC_FILTER_MASK)) bc_mask <= wdata[12:2];
    if (wr && at(addr, RPU_CORE_BC_FILTER_VALUE)) bc_value <= wdata[12:2];
    if (wr && at(addr, RPU_CORE_BC_LISTEN)) bc_listen <= wdata[0];
    if (rst) begin
      bc_mask <= '0;
      bc_value <= '0;
      bc_listen <= 1'b0;
    end
  end

  // ---- slot set-up
  logic u_valid_q;
  logic u_header_q;
  logic [5:0] u_slot_q;
  logic [31:0] slot_addr_q;

  always_ff @(posedge clk) begin
    if (wr && at(addr, RPU_CORE_SLOT_ADDR)) slot_addr_q <= wdata;
    u_valid_q <= wr && at(addr, RPU_CORE_UPDATE_SLOT);
    u_header_q <= wdata[8];
    u_slot_q <= wdata[5:0];
    if (rst) u_valid_q <= 1'b0;
  end

  wire u_exists = u_slot_q >= 6'd1 && u_slot_q <= 6'(MaxSlots);
  wire u_header_fits = slot_addr_q[31:15] == 17'h00100 && slot_addr_q[14:13] != 2'd3 && slot_addr_q[4:0] == 0;
  wire u_place_fits =
      slot_addr_q[31:20] == 12'h010 && 32'(slot_addr_q[19:0]) < PmemBytes && slot_addr_q[5:4] == 0 && !slot_addr_q[0];
  wire setup = s_valid_q && s_type_q == SendSlots;
  // New places would take memory from slots that hold frames.
  wire setup_fits = s_exists && active == 0;

  assign header_we = u_valid_q && u_header_q && u_exists && u_header_fits;
  assign place_we = u_valid_q && !u_header_q && u_exists && u_place_fits;
  assign place_slot = slot_index(u_slot_q);
  assign place_data = slot_addr_q[19:1];

  always_ff @(posedge clk) begin
    setup_valid <= setup && setup_fits;
    setup_count <= s_desc_q[21:16];
    setup_size  <= s_len;
    if (rst) setup_valid <= 1'b0;
  end

  // ---- interrupts
  logic [15:0] flags_q, flags_d, mask_q;
  logic [31:0] interval_q, countdown_q;
  wire timer_due = interval_q != 0 && countdown_q == 32'd1;

  // found late in their cycle, so they count in the next one
  logic bad_descriptor_q, bad_destination_q;
  always_ff @(posedge clk) begin
    bad_descriptor_q  <= (refuse_slot || refuse_frame || refuse_host || refuse_generate) && !rst;
    bad_destination_q <= (refuse_dst || refuse_generate_dst) && !rst;
  end

  wire bad_slot = (u_valid_q && !header_we && !place_we) || (setup && !setup_fits);

  always_comb begin
    flags_d = flags_q;
    if (wr && at(addr, RPU_CORE_INTERRUPT_ACK)) flags_d &= ~wdata[15:0];
    flags_d[IntTimer] |= timer_due;
    flags_d[IntPacket] |= head_load;
    flags_d[IntHostMemory] |= was_read || wrote;
    flags_d[IntBroadcast] |= bc_head_load;
    flags_d[IntPoke] |= poke;
    flags_d[IntEvict] |= evict;
    flags_d[IntWild] |= wild;
    flags_d[IntDescriptor] |= bad_descriptor_q;
    flags_d[IntDestination] |= bad_destination_q;
    flags_d[IntSlot] |= bad_slot;
    flags_d[IntAccelerator] |= accel_error;
    flags_d[IntHostError] |= (was_read && was_read_error) || (wrote && wrote_error);
  end

  // The PC of the instruction that caused an error: setup is checked in the cycle after the store, a descriptor one
  // cycle later.
  logic [15:2] stored_pc_q, judged_pc_q;
  always_ff @(posedge clk) begin
    stored_pc_q <= pc;
    judged_pc_q <= stored_pc_q;
    if (wild) error_pcs.wild <= pc;
    if (bad_descriptor_q) error_pcs.descriptor <= judged_pc_q;
    if (bad_destination_q) error_pcs.destination <= judged_pc_q;
    if (bad_slot) error_pcs.slot <= stored_pc_q;
  end

  always_ff @(posedge clk) begin
    flags_q <= flags_d;
    irq <= (flags_d & (mask_q | IntErrors)) != 0;
    errors <= errors | (flags_q & IntErrors);
    if (wr && at(addr, RPU_CORE_MASK_WRITE)) mask_q <= wdata[15:0];
    if (wr && at(addr, RPU_CORE_TIMER_INTERVAL)) begin
      interval_q  <= wdata;
      countdown_q <= wdata;
    end else if (interval_q != 0) countdown_q <= timer_due ? interval_q : countdown_q - 32'd1;
    if (rst) begin
      flags_q <= '0;
      irq <= 1'b0;
      errors <= '0;
      mask_q <= '0;
      interval_q <= '0;
    end
  end

  // ---- words
  initial data = '0;  // it outlasts resets, and reads the same in each run before it is written

  logic [31:0] timer_high_q, ns_high_q;

  always_ff @(posedge clk) begin
    if (wr && at(addr, RPU_CORE_DEBUG_OUT_L)) debug_out[31:0] <= wdata;
    if (wr && at(addr, RPU_CORE_DEBUG_OUT_H)) debug_out[63:32] <= wdata;
    if (data_we) data <= data_wdata;
    else if (wr && at(addr, RPU_CORE_DATA)) data <= wdata;
    if (wr && at(addr, RPU_CORE_READY_TO_EVICT)) ready_to_evict <= wdata[0];
    if (rd && at(addr, RPU_CORE_TIMER_L)) timer_high_q <= timer[63:32];
    if (rd && at(addr, RPU_CORE_TIME_L)) ns_high_q <= ns[63:32];
    if (rst) begin
      debug_out <= '0;
      ready_to_evict <= 1'b0;
    end
  end

  // ---- reads
  wire [3:0] taken_offset = {taken_place[2:0], 1'b0};

  function automatic logic [31:0] chosen(logic [31:0] register, logic [31:0] value);
    return {32{line[register[8:2]]}} & value;
  endfunction

  always_comb begin
    rdata[0] =
        chosen(RPU_CORE_RECV_DESC_LOW, head_valid_q ? head_desc_q : 32'd0) |
        chosen(RPU_CORE_RECV_DESC_HIGH, {12'h010, head_place_q, 1'b0}) |
        chosen(RPU_CORE_DRAM_FLAGS, host_flags_q) |
        chosen(RPU_CORE_READY, {8'd1, 8'd1, 7'd0, !extra_held, 7'd0, head_valid_q}) |
        chosen(RPU_CORE_CORE_ID, 32'(unit_id)) |
        chosen(RPU_CORE_TIMER_L, timer[31:0]) |
        chosen(RPU_CORE_TIMER_H, timer_high_q) |
        chosen(RPU_CORE_TIME_L, ns[31:0]) |
        chosen(RPU_CORE_TIME_H, ns_high_q) |
        chosen(RPU_CORE_INTERRUPT_FLAGS, 32'(flags_q)) |
        chosen(RPU_CORE_MASK_READ, 32'(mask_q)) |
        chosen(RPU_CORE_IMEM_SIZE, ImemBytes) |
        chosen(RPU_CORE_DMEM_SIZE, DmemBytes) |
        chosen(RPU_CORE_PMEM_SIZE, PmemBytes) |
        chosen(RPU_CORE_SEG_SIZE, PmemBytes) |
        chosen(RPU_CORE_SEG_COUNT, 32'd1) |
        chosen(RPU_CORE_BC_SIZE, BroadcastBytes);

    rdata[1] =
        chosen(RPU_CORE_SEND_DESC_LOW, desc_low_q) |
        chosen(RPU_CORE_SEND_DESC_HIGH, desc_high_q) |
        chosen(RPU_CORE_BC_FILTER_MASK_READ, {19'd0, bc_mask, 2'd0}) |
        chosen(RPU_CORE_BC_FILTER_VALUE_READ, {19'd0, bc_value, 2'd0}) |
        chosen(RPU_CORE_BC_ADDR, bc_head_valid ? {19'h00403, bc_head, 2'd0} : '0) |
        chosen(RPU_CORE_OCCUPANCY, {15'd0, unread || s_generate_q || x_generate_q, 4'd0, bc_leaving, bc_waiting}) |
        chosen(RPU_CORE_MAX_SLOTS, MaxSlots) |
        chosen(RPU_CORE_DEBUG_IN_L, debug_in[31:0]) |
        chosen(RPU_CORE_DEBUG_IN_H, debug_in[63:32]) |
        chosen(RPU_CORE_ACTIVE_SLOTS, active) |
        chosen(RPU_CORE_RECV, head_desc_q) |
        chosen(RPU_CORE_RECV_HDR, taken_copies_q ? {17'h00100, taken_header, 1'b0, taken_offset} : '0) |
        chosen(RPU_CORE_RECV_DATA, {12'h010, taken_place, 1'b0}) |
        chosen(RPU_CORE_RECV_HASH, taken_hash) |
        chosen(RPU_CORE_RECV_TIME, taken_timestamp) |
        chosen(RPU_CORE_ACCEL, Accel) |
        chosen(RPU_CORE_DATA, data);
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst && done) assert (!active[done_slot]) else $error("%m: a frame came into a slot that is in use");
`endif
endmodule

`default_nettype wire
