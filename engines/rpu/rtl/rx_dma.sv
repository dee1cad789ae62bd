// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Receive engine: writes frames into packet memory and their first 128 bytes into data memory.
//
//   rx ─> place and header looked up ─> queue ─> rotate by the packet offset ─> row register ─┬─> packet memory, port A (waits for the core)
//                                       (32)                                                  ├─> data memory, wide port: two half rows
//                                                                                             │   (waits for the host and for stores of the core)
//                                                                                             └─> with the last row: slot to the receive queue
//
// A beat becomes a row; the bytes that the rotation pushes out of the last beat become another row. A row stays one
// cycle, or two while its half rows go into data memory. At offset 10, 64 bytes take 3 cycles, 128 bytes 5, and longer
// frames one more for each beat, if there are no other accesses to the memories.
// Data that was read from host memory goes to the address in the answer, and no other byte changes; it gets no header
// copy and no descriptor. An answer without data, to a write or to a read that the card denied, has no bytes: the
// engine raises `wrote` and discards it. A slot's place must not change while a frame arrives in it.
// Latency from rx to the descriptor: 4 cycles and the rows.
module rx_dma
  import penstock_pkg::*;
  import rpu_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input wire logic  rx_valid,
    input wire beat_t rx,       // `meta` with all beats of a frame
    output logic      rx_room,  // for UnitRoom beats (penstock_pkg.sv)
    output logic      stall,    // there is no room

    output logic             info_we,
    output slot_index_t      info_slot,
    output slot_info_t       info_data,

    output slot_index_t      table_slot,
    input  wire half_t       table_place,
    input  wire header_row_t table_header,
    input  wire logic        table_copies,  // the slot has a place for a header copy

    // packet memory
    output logic              row_valid,
    input  wire logic         row_ready,
    output logic [13:0]       row_addr,
    output logic [BeatBytes-1:0] row_be,
    // data memory
    output logic              head_valid,
    input  wire logic         head_ready,
    output logic [31:0]       head_be,
    output header_row_t       head_row,
    output logic [255:0]      head_data,
    output logic [DataW-1:0]  row_data,

    // the frame is in: one cycle
    output logic              done,
    output slot_index_t       done_slot,
    output len_t              done_len,

    // data from host memory is stored, and an answer without data has arrived: one cycle each
    output logic              was_read,
    output slot_index_t       was_read_tag,
    output logic              was_read_error,
    output logic              wrote,
    output slot_index_t       wrote_tag,
    output logic              wrote_error
);
  // ---- queue
  typedef struct packed {
    logic first;
    logic last;
    slot_index_t slot;  // or tag
    len_t len;
    logic answer;       // of host memory
    logic error;        // of an answer
    // of an answer: byte after its last one, in the row of its last beat; above 64 in the next row
    logic [6:0] stop;
    half_t place;       // in packet memory
    header_row_t header; // the header copy's row
    logic [7:0] head_end; // byte after its last one, counted from the start of row 0; 0 when there is none
  } entry_t;

  logic first_q;
  host_answer_t answer;
  entry_t in, head;
  logic head_avail, pop, push;
  logic [5:0] level;
  wire to_write = rx_valid && in.answer && answer.no_data;
  wire [7:0] copied = rx.meta.len > 16'(HeaderBytes) ? 8'(HeaderBytes) : rx.meta.len[7:0];
  wire [6:0] in_tail = {rx.meta.len[5:0] == 0, rx.meta.len[5:0]};

  assign answer = rx.meta.hash;

  assign in = '{
      first: first_q,
      last: rx.last,
      slot: slot_index(rx.meta.slot),
      len: rx.meta.len,
      answer: rx.meta.src == PortHostMem,
      error: answer.error,
      stop: in_tail + {3'b0, answer.place[2:0], 1'b0},
      place: in.answer ? answer.place : table_place,
      header: table_header,
      head_end: table_copies && !in.answer ? copied + {4'b0, table_place[2:0], 1'b0} : 8'd0
  };

  always_ff @(posedge clk) begin
    if (rx_valid) first_q <= rx.last;
    wrote <= to_write;
    wrote_tag <= in.slot;
    wrote_error <= answer.error;
    if (rst) begin
      first_q <= 1'b1;
      wrote   <= 1'b0;
    end
  end

  assign info_we = rx_valid && first_q && !in.answer;
  assign info_slot = in.slot;
  assign table_slot = in.slot;
  assign info_data = '{len: rx.meta.len, src: rx.meta.src, timestamp: rx.meta.timestamp, hash: rx.meta.hash};

  assign push = rx_valid && !to_write;

  // One more: with the word at the output there are at most 32, the depth of `data_mem`.
  fifo_dist #(
      .Width($bits(entry_t)),
      .Room (UnitRoom + 1)
  ) queue (
      .clk,
      .rst,
      .push,
      .din  (in),
      .ready(rx_room),
      .valid(head_avail),
      .pop,
      .dout (head),
      .level(level)
  );
  assign stall = head_avail && !rx_room;  // after a reset there is no room for a cycle, which is no stall

  // The data are in a separate memory and are read from it directly: a register after it would be 512 bits that wait
  // for `pop`.
  (* ram_style = "distributed" *) logic [DataW-1:0] data_mem[32];
  logic [4:0] data_in_q, data_out_q;
  wire [DataW-1:0] beat = data_mem[data_out_q];

  // A beat that is not pushed is overwritten by the next one, so the kind of beat does not control 512 bits.
  always_ff @(posedge clk) if (rx_valid) data_mem[data_in_q] <= rx.data;

  always_ff @(posedge clk) begin
    if (push) data_in_q <= data_in_q + 5'd1;
    if (pop && head_avail) data_out_q <= data_out_q + 5'd1;
    if (rst) begin
      data_in_q  <= '0;
      data_out_q <= '0;
    end
  end

  // ---- rotation
  offset_t off;
  logic [DataW-1:0] rotated;
  logic [111:0] carry_q;  // the top 14 bytes of the beat before
  logic spill_q;          // the row after the last beat is due
  logic [3:0] head_start_q;  // first byte of the frame in row 0

  assign off = spill_q ? head_start_q[3:1] : head.place[2:0];

  always_comb begin
    unique case (off)
      3'd0: rotated = beat;
      3'd1: rotated = {beat[DataW-17:0], carry_q[111-:16]};
      3'd2: rotated = {beat[DataW-33:0], carry_q[111-:32]};
      3'd3: rotated = {beat[DataW-49:0], carry_q[111-:48]};
      3'd4: rotated = {beat[DataW-65:0], carry_q[111-:64]};
      3'd5: rotated = {beat[DataW-81:0], carry_q[111-:80]};
      3'd6: rotated = {beat[DataW-97:0], carry_q[111-:96]};
      3'd7: rotated = {beat[DataW-113:0], carry_q[111-:112]};
    endcase
  end

  // Bytes of the last beat (1..64) and whether the rotation pushes some of them into another row.
  wire [6:0] tail = {head.len[5:0] == 0, head.len[5:0]};
  wire spills = tail + {3'b0, off, 1'b0} > 7'd64;

  // ---- row register
  logic row_q, head_q;          // the row still has to go to packet memory, to data memory
  logic last_q, half_q;
  logic [13:0] addr_q, next_addr_q;
  logic [1:0] index_q;          // 0, 1, 2, then 3 for all others
  header_row_t header_q;
  logic [7:0] head_end_q;       // byte after the last that data memory gets, counted from the start of row 0
  slot_index_t done_slot_q;
  len_t done_len_q;
  logic done_answer_q, done_error_q;
  logic [3:0] spill_stop_q;     // of an answer: byte after the last of what is pushed out

  // Byte of row 0 at which the half row begins that data memory gets now.
  wire [7:0] half_base = {index_q, half_q, 5'b0};
  logic more_halves_q;  // the second half of this row is due as well

  wire row_done = !row_q || row_ready;
  wire head_done = !head_q || (head_ready && !more_halves_q);
  wire empty = row_done && head_done;
  wire load = empty && (spill_q || head_avail);

  assign pop = empty && !spill_q;

  assign row_valid = row_q;
  assign row_addr = addr_q;
  assign head_valid = head_q;
  assign head_row = header_q + header_row_t'({index_q, half_q});
  assign head_data = half_q ? row_data[511:256] : row_data[255:0];
  wire all_in = last_q && (row_q || head_q) && empty;
  assign done = all_in && !done_answer_q;
  assign was_read = all_in && done_answer_q;
  assign was_read_tag = done_slot_q;
  assign was_read_error = done_error_q;
  assign done_slot = done_slot_q;
  assign done_len = done_len_q;

  always_comb begin
    for (int unsigned b = 0; b < 32; b++) begin
      head_be[b] = half_base + 8'(b) >= {4'b0, head_start_q} && half_base + 8'(b) < head_end_q;
    end
  end

  logic [1:0] index_d;
  assign index_d = (!spill_q && head.first) ? 2'd0 : (index_q == 2'd3) ? 2'd3 : index_q + 2'd1;
  wire [7:0] head_end_d = (!spill_q && head.first) ? head.head_end : head_end_q;

  always_ff @(posedge clk) begin
    if (row_q && row_ready) row_q <= 1'b0;
    if (head_q && head_ready) begin
      head_q <= more_halves_q;
      half_q <= 1'b1;
      more_halves_q <= 1'b0;
    end
    if (load) begin
      row_q  <= 1'b1;
      head_q <= index_d != 2'd3 && {index_d, 6'b0} < head_end_d;
      half_q <= 1'b0;
      more_halves_q <= index_d != 2'd3 && {index_d, 6'd32} < head_end_d;
      last_q <= spill_q || (head.last && !spills);
      spill_q <= !spill_q && head.last && spills;
      index_q <= index_d;
    end
    if (rst) begin
      row_q   <= 1'b0;
      head_q  <= 1'b0;
      spill_q <= 1'b0;
    end
  end

  always_ff @(posedge clk) begin
    if (load) begin
      row_data <= rotated;
      if (!spill_q && head.first) begin
        addr_q <= head.place[18:5];
        next_addr_q <= head.place[18:5] + 14'd1;
        header_q <= head.header;
        head_start_q <= {off, 1'b0};
        head_end_q <= head.head_end;
        done_slot_q <= head.slot;
        done_len_q <= head.len;
        done_answer_q <= head.answer;
        done_error_q <= head.error;
      end else begin
        addr_q <= next_addr_q;
        next_addr_q <= next_addr_q + 14'd1;
      end
      // Frames own their slots and get whole rows. Out of registers: packet memory is far away.
      for (int unsigned b = 0; b < BeatBytes; b++)
        row_be[b] <= spill_q ? !done_answer_q || b < 32'(spill_stop_q) :
            !head.answer || ((!head.first || b >= 32'({head.place[2:0], 1'b0})) && (!head.last || b < 32'(head.stop)));
      spill_stop_q <= head.stop[3:0];
      carry_q <= beat[DataW-1-:112];
    end
  end

`ifndef SYNTHESIS
  logic [5:0] waiting;
  assign waiting = level + 6'(head_avail);
  always_ff @(posedge clk)
    if (!rst)
      assert (waiting <= 6'd32 && waiting[4:0] == data_in_q - data_out_q)
        else $error("%m: data without its word, or over another's");
  always_ff @(posedge clk) if (!rst) assert (!rx_valid || waiting < 6'd32) else $error("%m: no place for a beat");
  always_ff @(posedge clk)
    if (!rst && rx_valid && first_q) assert (rx.meta.slot >= 1 && rx.meta.slot <= 6'(MaxSlots))
      else $error("%m: no such slot");
`endif
endmodule

`default_nettype wire
