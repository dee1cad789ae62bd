// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// An inline block of the ids engine (engines/inline_block.sv has the contract, engines/ids/machine.md the machine).
//
//   port p ─> ids_parse ─> ids_window ─> ids_filter ─> ids_exact ─> ids_out ─> out
//             store          │  └──────────── bodies ────────────────^ │
//                        ids_flow: flow lines ──> card memory          ├─> log of the port
//                        of all ports                                  └─> ids_records ─> host
//
// Two ports share a filter and an exact table: lane 0 and lane 1 of its memories. A port takes a beat a cycle, 128
// Gb/s; a folded frame, of 65 to 80 bytes, takes two cycles. A port waits for its own output and for frames of the same
// set of flows at all ports, each for its search and, if its line is in card memory, for that line. It also waits while
// the queues of any channel of card memory are full. Frames that no rule can match, with their line on the chip, leave
// about 50 cycles after their last beat.
module ids_block
  import penstock_pkg::*, ids_pkg::*;
#(
    parameter int unsigned Ports  = 2,
    parameter int unsigned Number = 0,           // of the block; this engine makes no frames
    // Powers of two: sets of flow lines [7:0], entries of a way [15:8], rows of a log [23:16]; 0: the usual 8, 11, 13.
    // Buckets of flow lines in card memory [31:24]; 0: none. With them the usual sets are 11.
    parameter logic [63:0] Param  = '0
) (
    input wire logic        clk,
    input wire logic        rst,
    input wire logic [63:0] now,  // ns

    frame_if.snk         frames  [Ports],
    input wire tail_t    tails   [Ports],
    input wire verdict_t verdicts[Ports],

    frame_if.src     out         [Ports],
    output tail_t    out_tails   [Ports],
    output verdict_t out_verdicts[Ports],

    output block_event_t events[Ports],
    output logic [Ports-1:0] crowded,
    output logic         busy,

    cfg_if.snk cfg,  // 24 address bits
    axi_if.mgr mem[MemoryChannels]
);
  localparam int unsigned BucketsLog2 = 32'(Param[31:24]);
  localparam int unsigned SetsLog2 = Param[7:0] != '0 ? 32'(Param[7:0]) : BucketsLog2 == 0 ? 8 : 11;
  localparam int unsigned EntriesLog2 = Param[15:8] == '0 ? 11 : 32'(Param[15:8]);
  localparam int unsigned RowsLog2 = Param[23:16] == '0 ? 13 : 32'(Param[23:16]);
  localparam int unsigned Filters = (Ports + 1) / 2;

  if (SetsLog2 < 1 || SetsLog2 > 14 || EntriesLog2 < 4 || EntriesLog2 > 16 || RowsLog2 < 9 || RowsLog2 > 15) begin : gen_shape
    $error("ids_block: sets 1 to 14, entries 4 to 16 and rows 9 to 15, as powers of two");
  end

  // How long the host takes is counted in cycles, for the card's time can be held and set.
  logic [31:0] elapsed_q;  // ns
  always_ff @(posedge clk) elapsed_q <= rst ? '0 : elapsed_q + 32'd4;

  // ---- control
  logic ips, late_drops, follow, bank, enable, other_bank_busy, clear_flows, flows_ready;
  logic [6:0] tell;
  tunnel_t [Tunnels-1:0] tunnels;
  logic [31:0] timeout;
  logic [15:0] age, verdict_ticket, map_index;
  logic map_write, verdict_drop, entry_write, record_valid, record_pop, taken, evicted, fetched, records_full;
  logic [4:0] memory_errors;
  logic [2:0] map_select;
  logic [1:0] map_value;
  logic [Filters-1:0] map_done, holds;
  logic [Ways-1:0] entry_way;
  logic [EntriesLog2-1:0] entry_index;
  entry_t entry;
  logic [30:0] record;
  logic [Ports-1:0] verdict, log_read, lost, late, decided, told, found, unchecked, searched;
  logic [RowsLog2-1:0] log_row;
  logic [DataW-1:0] log_data[Ports];
  row_t log_head[Ports];

  // ---- between the ports and what they share
  logic [Ports-1:0] lookup_valid, lookup_ready, answer_valid, answer_pop, update_valid, update_ready, tell_valid, tell_ready;
  logic [Ports:0] mark_valid, mark_ready;
  request_t lookup[Ports];
  answer_t answer[Ports];
  update_t update[Ports];
  mark_t mark[Ports+1];
  row_t told_at[Ports];

  logic x_valid[Ports], x_last[Ports], x_bank[Ports];
  logic [BeatBytes-1:0] x_mask[Ports];
  span_t x[Ports];
  logic [Ports-1:0] result_valid, result_bank;
  result_t result[Ports];
  logic [Ports-1:0] busy_of, other_busy;

  for (genvar p = 0; p < int'(Ports); p++) begin : gen_port
    logic body_valid, body_pop, request_valid, request_pop, pushed, info_pushed, popped, dropped;
    logic [1:0] log_we;
    body_t body, passed;
    request_t request;
    info_t info;
    logic [1:0] begins;
    logic [1:0][RowsLog2-2:0] log_at;
    logic [1:0][DataW-1:0] log_in, log_out;

    ids_parse i_parse (
        .clk,
        .rst,
        .enable,
        .tell,
        .tunnels,
        .frames(frames[p]),
        .tail(tails[p]),
        .verdict(verdicts[p]),
        .body_valid,
        .body_pop,
        .body,
        .request_valid,
        .request_pop,
        .request
    );

    assign lookup[p] = request;
    assign searched[p] = x_valid[p];

    ids_window #(
        .Port(p)
    ) i_window (
        .clk,
        .rst,
        .bank,
        .hold(p % 2 == 0 && holds[p/2]),
        .request_valid,
        .request_pop,
        .request,
        .lookup_valid(lookup_valid[p]),
        .lookup_ready(lookup_ready[p]),
        .answer_valid(answer_valid[p]),
        .answer_pop(answer_pop[p]),
        .answer(answer[p]),
        .update_valid(update_valid[p]),
        .update_ready(update_ready[p]),
        .update(update[p]),
        .body_valid,
        .body_pop,
        .body,
        .x_valid(x_valid[p]),
        .x_last(x_last[p]),
        .x_bank(x_bank[p]),
        .x_mask(x_mask[p]),
        .x(x[p]),
        .begins,
        .out_push(pushed),
        .out_body(passed),
        .info_push(info_pushed),
        .info,
        .out_popped(popped),
        .log_head(log_head[p])
    );

    ids_out #(
        .Port(p),
        .RowsLog2(RowsLog2)
    ) i_out (
        .clk,
        .rst,
        .now,
        .elapsed(elapsed_q),
        .ips,
        .late_drops,
        .follow,
        .timeout,
        .push(pushed),
        .din(passed),
        .popped,
        .info_push(info_pushed),
        .info_in(info),
        .result_push(result_valid[p]),
        .result_in(result[p]),
        .out(out[p]),
        .out_tail(out_tails[p]),
        .out_verdict(out_verdicts[p]),
        .log_we,
        .log_row(log_at),
        .log_data(log_in),
        .tell_valid(tell_valid[p]),
        .tell_ready(tell_ready[p]),
        .tell_full(records_full),
        .tell(told_at[p]),
        .mark_valid(mark_valid[p]),
        .mark_ready(mark_ready[p]),
        .mark(mark[p]),
        .verdict(verdict[p]),
        .verdict_ticket,
        .verdict_drop,
        .dropped,
        .decided(decided[p]),
        .told(told[p]),
        .found(found[p]),
        .unchecked(unchecked[p]),
        .late(late[p]),
        .lost(lost[p])
    );

    for (genvar k = 0; k < 2; k++) begin : gen_log
      ram_sdp #(
          .Width(DataW),
          .Depth(1 << (RowsLog2 - 1)),
          .Ultra(1'b1)
      ) i_rows (
          .clk,
          .we(log_we[k]),
          .waddr(log_at[k]),
          .wdata(log_in[k]),
          .re(log_read[p]),
          .raddr(log_row[RowsLog2-1:1]),
          .rdata(log_out[k])
      );
    end
    // ids_regs holds the row until it has the answer.
    assign log_data[p] = log_out[log_row[0]];

    // ---- frames in the block, and those that are searched in each bank
    logic starts_q;
    logic [11:0] inside_q;
    logic [9:0] searching_q[2];

    assign events[p] = '{made: 1'b0, absorbed: 1'b0, dropped: dropped, reason: ReasonBlocked};
    assign busy_of[p] = inside_q != '0;
    assign other_busy[p] = searching_q[!bank] != '0;

    always_ff @(posedge clk) begin
      if (frames[p].valid && frames[p].ready) starts_q <= frames[p].last;
      inside_q <= inside_q + 12'(frames[p].valid && frames[p].ready && starts_q) -
          12'(out[p].valid && out[p].ready && out[p].last) - 12'(dropped);
      for (int unsigned k = 0; k < 2; k++)
        searching_q[k] <= rst ? '0 : searching_q[k] + 10'(begins[k]) - 10'(result_valid[p] && result_bank[p] == 1'(k));
      if (rst) begin
        starts_q <= 1'b1;
        inside_q <= '0;
      end
    end
  end
  assign busy = busy_of != '0;
  assign crowded = '0;
  assign other_bank_busy = other_busy != '0;

  // ---- filters: one for two ports
  for (genvar f = 0; f < int'(Filters); f++) begin : gen_filter
    localparam int unsigned Lanes = 32'(f) * 2 + 1 < Ports ? 2 : 1;
    logic y_valid[Lanes], y_last[Lanes], y_bank[Lanes];
    logic [BeatBytes-1:0] y_long[Lanes], y_short[Lanes];
    span_t y[Lanes];

    ids_filter #(
        .Lanes(Lanes)
    ) i_filter (
        .clk,
        .rst,
        .x_valid(x_valid[2*f+:Lanes]),
        .x_last(x_last[2*f+:Lanes]),
        .x_bank(x_bank[2*f+:Lanes]),
        .x_mask(x_mask[2*f+:Lanes]),
        .x(x[2*f+:Lanes]),
        .y_valid,
        .y_last,
        .y_bank,
        .y_long,
        .y_short,
        .y,
        .write(map_write),
        .write_map(map_select),
        .write_index(map_index),
        .write_value(map_value),
        .write_done(map_done[f]),
        .hold(holds[f])
    );

    ids_exact #(
        .Lanes(Lanes),
        .EntriesLog2(EntriesLog2)
    ) i_exact (
        .clk,
        .rst,
        .y_valid,
        .y_last,
        .y_bank,
        .y_long,
        .y_short,
        .y,
        .result_valid(result_valid[2*f+:Lanes]),
        .result_bank(result_bank[2*f+:Lanes]),
        .result(result[2*f+:Lanes]),
        .write(entry_write),
        .write_bank(!bank),
        .write_way(entry_way),
        .write_index(entry_index),
        .write_entry(entry)
    );
  end

  ids_flow #(
      .Ports(Ports),
      .SetsLog2(SetsLog2),
      .BucketsLog2(BucketsLog2)
  ) i_flow (
      .clk,
      .rst,
      .now(now[43:28]),
      .age,
      .clear(clear_flows),
      .ready(flows_ready),
      .lookup_valid,
      .lookup_ready,
      .lookup,
      .answer_valid,
      .answer_pop,
      .answer,
      .update_valid,
      .update_ready,
      .update,
      .mark_valid,
      .mark_ready,
      .mark,
      .mem(mem),
      .taken,
      .evicted,
      .fetched,
      .failed(memory_errors)
  );

  ids_records #(
      .Ports(Ports)
  ) i_records (
      .clk,
      .rst,
      .tell_valid,
      .tell_ready,
      .tell(told_at),
      .full(records_full),
      .valid(record_valid),
      .pop(record_pop),
      .head(record)
  );

  ids_regs #(
      .Ports(Ports),
      .EntriesLog2(EntriesLog2),
      .SetsLog2(SetsLog2),
      .RowsLog2(RowsLog2),
      .Filters(Filters)
  ) i_regs (
      .clk,
      .rst,
      .cfg(cfg),
      .ips,
      .late_drops,
      .follow,
      .bank,
      .enable,
      .tell,
      .tunnels,
      .timeout,
      .age,
      .other_bank_busy,
      .clear_flows,
      .flows_ready,
      .map_write,
      .map_select,
      .map_index,
      .map_value,
      .map_done,
      .entry_write,
      .entry_way,
      .entry_index,
      .entry,
      .record_valid,
      .record,
      .record_pop,
      .verdict,
      .verdict_ticket,
      .verdict_drop,
      .mark_valid(mark_valid[Ports]),
      .mark_ready(mark_ready[Ports]),
      .mark(mark[Ports]),
      .log_read,
      .log_row,
      .log_data,
      .log_head,
      .taken,
      .evicted,
      .fetched,
      .memory_errors,
      .lost,
      .late,
      .decided,
      .told,
      .found,
      .unchecked,
      .searched
  );
endmodule

`default_nettype wire
