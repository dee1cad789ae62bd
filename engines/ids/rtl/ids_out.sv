// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A port's way out of the engine: waits for the filter's result, appends frames to the log, reports frames to the host,
// and in IPS mode holds reported frames.
//
//   bodies ─> store (Depth) ─┬──────────────────────┬─> queue ─> out
//   info   ─> queue ─┐       ├─> hold (IPS) ────────┘
//   result ─> queue ─┴─> DECIDE ─> log: beats, tail, record ─> record FIFO
//
// One beat a cycle; a frame that is logged takes a cycle more for its tail if it is folded. Its record is written beside
// the first beat of the next frame: rows that follow each other are in different banks of the log.
module ids_out
  import penstock_pkg::*, ids_pkg::*;
#(
    parameter int unsigned Port     = 0,
    parameter int unsigned Depth    = 512,
    parameter int unsigned RowsLog2 = 12    // of the log
) (
    input wire logic        clk,
    input wire logic        rst,
    input wire logic [63:0] now,      // the card's time, ns
    input wire logic [31:0] elapsed,  // ns

    input wire logic        ips,
    input wire logic        late_drops,
    input wire logic        follow,
    input wire logic [31:0] timeout,

    input  wire logic    push,
    input  wire body_t   din,
    output logic         popped,
    input  wire logic    info_push,
    input  wire info_t   info_in,
    input  wire logic    result_push,
    input  wire result_t result_in,

    frame_if.src     out,
    output tail_t    out_tail,
    output verdict_t out_verdict,

    // by bank: of even rows, of odd rows
    output logic [1:0]                log_we,
    output logic [1:0][RowsLog2-2:0]  log_row,
    output logic [1:0][   DataW-1:0]  log_data,

    // a frame is reported: the position of its record
    output logic     tell_valid,
    input wire logic tell_ready,
    input wire logic tell_full,  // the FIFO of records: the frame is not told
    output row_t     tell,

    output logic      mark_valid,
    input  wire logic mark_ready,
    output mark_t     mark,

    input wire logic        verdict,
    input wire logic [15:0] verdict_ticket,
    input wire logic        verdict_drop,

    output logic dropped,
    // for counters: one cycle each
    output logic decided,
    output logic told,
    output logic found,
    output logic unchecked,
    output logic late,
    output logic lost
);
  // A frame whose last beat has gone: the data of its record and of its line
  typedef struct packed {
    logic                is_told;
    logic                blind;
    logic                follows;
    line_t               line;
    logic                direction;
    row_t                place;
    logic [DataW-1:0]    data;
  } record_t;

  // ---- what waits
  logic body_valid, body_pop, info_valid, result_valid, load;
  body_t body;
  info_t info;
  result_t result;

  fifo_block #(
      .Width($bits(body_t)),
      .Depth(Depth)
  ) i_store (
      .clk,
      .rst,
      .push,
      .din,
      .valid(body_valid),
      .pop  (body_pop),
      .dout (body)
  );
  fifo_block #(
      .Width($bits(info_t)),
      .Depth(Depth)
  ) i_info (
      .clk,
      .rst,
      .push (info_push),
      .din  (info_in),
      .valid(info_valid),
      .pop  (load),
      .dout (info)
  );
  fifo_block #(
      .Width($bits(result_t)),
      .Depth(Depth)
  ) i_results (
      .clk,
      .rst,
      .push (result_push),
      .din  (result_in),
      .valid(result_valid),
      .pop  (load && info.search),
      .dout (result)
  );
  assign popped = body_pop;

  // ---- DECIDE
  logic frame_q, first_q, to_hold_q, is_told_q, blind_q, done, ends, take;
  logic tail_phase_q, tail_go, record_valid_q, record_free, beat_waits;
  logic [RowsLog2-1:0] row_q, beat_row;
  record_t record_q;
  info_t info_q;
  result_t result_q;
  reasons_t reasons_q;
  logic [255:0] held;
  logic is_told, blind, to_hold, hold_room, hold_ready, hold_pop, hold_drops, out_ready, holding_q, sending_q, record_go;
  logic [15:0] ticket, ticket_q;
  body_t hold_body, out_body;
  logic out_push;

  assign load = info_valid && (!info.search || result_valid) && (!frame_q || done);

  // With its first beat; from the second on as decided then.
  assign is_told = first_q ? reasons_q != '0 : is_told_q;
  assign blind = first_q ? reasons_q != '0 && tell_full : blind_q;
  assign to_hold = first_q ? ips && (reasons_q != '0 || held[info_q.hash]) : to_hold_q;

  always_comb begin
    logic allowed;
    if (to_hold) allowed = !first_q || hold_room;
    else allowed = out_ready && !holding_q && (!first_q || !hold_ready);
    take = frame_q && !tail_phase_q && body_valid && allowed &&
        !(info_q.logs && (beat_waits || (body.last && !body.tail.valid && !record_free)));
  end
  assign body_pop = take;
  assign ends = take && body.last;
  assign tail_go = tail_phase_q && record_free && !beat_waits;
  assign done = tail_go || (ends && !(info_q.logs && body.tail.valid));

  // The record waits until the way to the host and to the flow line is free. A beat of its bank waits for it.
  assign beat_row = first_q ? RowsLog2'(info_q.first) : row_q;
  assign record_go = record_valid_q && (!record_q.is_told || (!tell_valid && !mark_valid));
  assign record_free = !record_valid_q || record_go;
  assign beat_waits = record_go && beat_row[0] == record_q.place[0];

  always_ff @(posedge clk) begin
    if (load) begin
      info_q    <= info;
      result_q  <= info.search ? result : '0;
      reasons_q <= info.reasons;
      if (info.search) begin
        reasons_q.found     <= result.count != '0;
        reasons_q.unchecked <= result.unchecked;
      end
    end
    frame_q <= load || (frame_q && !done);
    if (load) first_q <= 1'b1;
    else if (take) first_q <= 1'b0;
    if (take && first_q) begin
      is_told_q <= is_told;
      blind_q   <= blind;
      to_hold_q <= to_hold;
      ticket_q  <= ticket;
    end
    tail_phase_q <= (ends && info_q.logs && body.tail.valid) || (tail_phase_q && !tail_go);
    record_valid_q <= (done && info_q.logs) || (record_valid_q && !record_go);
    if (rst) begin
      frame_q <= 1'b0;
      tail_phase_q <= 1'b0;
      record_valid_q <= 1'b0;
    end
  end

  // ---- log
  logic [TailW-1:0] tail_q;
  logic [1:0] is_record;  // by bank
  logic [DataW-1:0] record;
  // Bytes of the record, the first one in the lowest bits.
  assign record = {
      result_q.ids,
      {info_q.chain_port, 3'b0, result_q.count},
      reasons_q,
      {info_q.line.gen, info_q.known},
      info_q.prior,
      first_q ? ticket : ticket_q,
      info_q.line.number[15:0],
      info_q.seq,
      {1'b0, info_q.search, info_q.bank, result_q.more, to_hold && is_told, info_q.lookup, info_q.direction, info_q.chained},
      {info_q.line.number[20:16], 3'(Port)},
      info_q.length,
      info_q.start,
      info_q.len,
      now,
      info_q.number,
      info_q.chain,
      info_q.first,
      info_q.place
  };

  assign is_record = record_go ? 2'b01 << record_q.place[0] : 2'b00;

  always_ff @(posedge clk) begin
    for (int unsigned k = 0; k < 2; k++) begin
      log_we[k]   <= is_record[k] || (((take && info_q.logs) || tail_go) && beat_row[0] == 1'(k));
      log_row[k]  <= is_record[k] ? record_q.place[RowsLog2-1:1] : beat_row[RowsLog2-1:1];
      log_data[k] <= is_record[k] ? record_q.data : tail_phase_q ? DataW'(tail_q) : body.data;
    end
    if (take || tail_go) row_q <= beat_row + 1'b1;
    if (take) tail_q <= body.tail.data;
    if (done && info_q.logs) begin
      record_q <= '{
          is_told: is_told,
          blind: blind,
          follows: follow && reasons_q.found && info_q.lookup && !reasons_q.followed,
          line: info_q.line,
          direction: info_q.direction,
          place: info_q.place,
          data: record
      };
    end
    if (rst) log_we <= '0;
  end

  // ---- to the host, and to the flow line; each waits until it is taken
  always_ff @(posedge clk) begin
    if (tell_ready) tell_valid <= 1'b0;
    if (mark_ready) mark_valid <= 1'b0;
    lost <= 1'b0;
    if (record_go && record_q.is_told) begin
      tell_valid <= !record_q.blind;
      lost <= record_q.blind;
      tell <= record_q.place;
      mark <= '{line: record_q.line, direction: record_q.direction, follow: 1'b1, port: '0, place: '0};
      mark_valid <= record_q.follows;
    end
    if (rst) begin
      tell_valid <= 1'b0;
      mark_valid <= 1'b0;
      lost <= 1'b0;
    end
  end

  // ---- hold
  ids_hold i_hold (
      .clk,
      .rst,
      .late_drops,
      .timeout,
      .elapsed,
      .push(take && to_hold),
      .start(first_q),
      .waits(is_told),
      .at_once(blind),
      .bucket(info_q.hash),
      .din(body),
      .ticket,
      .beats(is_folded(info_q.len) ? 11'd1 : beats_of(info_q.len)),
      .room(hold_room),
      .force_late(frame_q && !tail_phase_q && first_q && to_hold && !hold_room),
      .held,
      .verdict,
      .verdict_ticket,
      .verdict_drop,
      .ready(hold_ready),
      .pop(hold_pop),
      .drops(hold_drops),
      .dout(hold_body),
      .late
  );

  // A frame from the hold or one from the store, whole.
  assign hold_pop = hold_ready && !sending_q && (hold_drops || out_ready);
  always_ff @(posedge clk) begin
    if (hold_pop) holding_q <= !hold_body.last;
    if (take && !to_hold) sending_q <= !body.last;
    dropped <= hold_pop && hold_drops && hold_body.last && !rst;
    if (rst) begin
      holding_q <= 1'b0;
      sending_q <= 1'b0;
    end
  end

  assign out_push = (hold_pop && !hold_drops) || (take && !to_hold);
  assign out_body = hold_pop ? hold_body : body;

  body_t leaving;
  fifo_dist #(
      .Width($bits(body_t))
  ) i_out (
      .clk,
      .rst,
      .push (out_push),
      .din  (out_body),
      .ready(out_ready),
      .valid(out.valid),
      .pop  (out.ready),
      .dout (leaving),
      .level()
  );
  assign out.data = leaving.data;
  assign out.last = leaving.last;
  assign out.meta = leaving.meta;
  assign out_tail = leaving.tail;
  assign out_verdict = leaving.verdict;

  // ---- counters
  always_ff @(posedge clk) begin
    decided   <= take && first_q && !rst;
    told      <= take && first_q && is_told && !rst;
    found     <= take && first_q && reasons_q.found && !rst;
    unchecked <= take && first_q && reasons_q.unchecked && !rst;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) assert (!(hold_pop && take && !to_hold)) else $error("%m: two frames leave at once");
`endif
endmodule

`default_nettype wire
