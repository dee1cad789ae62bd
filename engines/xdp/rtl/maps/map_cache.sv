// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Which rows of a bank are on the chip, when there are more of them than it has memory for: a cache of the card's
// memory, direct mapped, in lines of sixteen rows.
//
//   Idle ─> Drain ─┬─> Evict ─> Write ─┬─> Fetch ─> Fill ─┬─> Settle ─> Idle
//                  │  rows to a queue  │     rows to      │
//                  └───────────────────┴─────memory───────┘
//
// One line at a time. The victim line is invalidated first; accesses that already hit it finish within eight cycles. It
// uses free cycles of the bank: one read each round for the waiting request (`turn`), and writes in cycles without
// other writes. A line that was not written since it came is not written back, nor is one fetched that will be written
// as a whole (`blank`).
//
// The line may be used while Settle ends. Until a pass that looked for it just before has decided, no other line is
// wanted: that pass would want the same line again, and take it away from itself.
//
// After configuration line i holds rows 16 i and the following ones, as if they had been fetched; a bank whose maps lie
// in its first rows therefore never waits.
module map_cache
  import map_pkg::*;
  import maps_pkg::*;
#(
    parameter int unsigned Rows   = 65536,  // of 16 bytes, a power of two
    parameter int unsigned OnChip = 16384   // of them, a power of two
) (
    input wire logic clk,
    input wire logic rst,

    // The row read, and the row that may be marked: hit or miss, one cycle later
    input  wire logic [2:0][$clog2(Rows)-1:0] look_row,
    output logic [2:0]                        look_absent,

    // The row to write: hit or miss
    input  wire logic [$clog2(Rows)-1:0] put_row,
    output logic                         put_absent,

    // The halves that were written
    input wire logic [1:0]                     written,
    input wire logic [1:0][$clog2(OnChip)-1:0] written_at,
    input wire logic                           written_fill,

    // A row whose line is wanted: taken in Idle
    input  wire logic                    want,
    input  wire logic [$clog2(Rows)-1:0] want_row,
    input  wire logic                    want_blank,
    output logic                         busy,

    // Rows of the line that gives way
    input  wire logic                      turn,        // one may be read
    output logic                           evicts,      // it is to be this one:
    output logic [$clog2(OnChip)-1:0]      evicts_at,
    input  wire logic                      evicted,     // and was this
    input  wire data_t                     evicted_row,

    // Rows of the new one
    input  wire logic                 fill_free,  // nobody else writes
    output logic                      fill,
    output logic [$clog2(OnChip)-1:0] fill_at,
    output data_t                     fill_row,

    // To the card's memory
    output logic                             line_write,   // a line is ready, until its rows are taken
    output logic                             line_read,    // a line is wanted, until `line_taken`
    output logic [$clog2(Rows/LineRows)-1:0] line,
    input  wire logic                        line_taken,
    output data_t                            line_row,
    input  wire logic                        line_pop,
    input  wire logic                        line_written,
    input  wire logic                        coming,
    input  wire data_t                       coming_row,
    output logic                             coming_pop
);
  localparam int unsigned RowW = $clog2(Rows);
  localparam int unsigned AtW = $clog2(OnChip);
  localparam int unsigned InW = $clog2(LineRows);
  localparam int unsigned TagW = RowW - AtW;
  localparam int unsigned IndexW = AtW - InW;
  localparam int unsigned Lines = 1 << IndexW;
  localparam int unsigned Visible = 4;  // cycles from the write of a row until it can be read
  localparam int unsigned Decide = 2;   // cycles from a look at `holds` until its pass wants a line
  typedef logic [RowW-1:0] at_t;
  typedef logic [TagW-1:0] tag_t;
  typedef logic [IndexW-1:0] index_t;

  // The rows of each line; initially zeros, to match the initial lines.
  typedef struct packed {
    logic none;
    tag_t tag;
  } holds_t;

  typedef enum logic [2:0] {
    Idle,
    Drain,
    Evict,
    Write,
    Fetch,
    Fill,
    Settle
  } state_e;

  (* ram_style = "distributed" *) holds_t holds[Lines];
  initial for (int unsigned l = 0; l < Lines; l++) holds[l] = '0;

  function automatic index_t index_of(at_t row);
    return row[AtW-1:InW];
  endfunction
  function automatic tag_t tag_of(at_t row);
    return row[RowW-1:AtW];
  endfunction

  for (genvar l = 0; l < 3; l++) begin : gen_look
    wire holds_t here = holds[index_of(look_row[l])];
    always_ff @(posedge clk) look_absent[l] <= here != {1'b0, tag_of(look_row[l])};
  end
  wire holds_t put_here = holds[index_of(put_row)];
  assign put_absent = put_here != {1'b0, tag_of(put_row)};

  state_e state_q;
  index_t index_q;
  tag_t tag_q;
  holds_t old_q;
  logic blank_q, dirty_q;
  logic [1:0] dirty;             // the line that gives way: its halves were written
  logic [InW:0] asked_q, moved_q;  // rows that were asked for, that have come
  assign busy = state_q != Idle;
  for (genvar h = 0; h < 2; h++) begin : gen_written
    (* ram_style = "distributed" *) logic marks[Lines];
    initial for (int unsigned l = 0; l < Lines; l++) marks[l] = 1'b0;
    always_ff @(posedge clk) if (written[h]) marks[written_at[h][AtW-1:InW]] <= !written_fill;
    assign dirty[h] = marks[index_q];
  end

  wire ends = state_q == Settle && moved_q == (InW + 1)'(Decide);
  wire begins = state_q == Idle && want;
  always_ff @(posedge clk) begin
    if (begins) holds[index_of(want_row)] <= '{none: 1'b1, tag: '0};
    else if (ends) holds[index_q] <= '{none: 1'b0, tag: tag_q};
  end

  assign evicts = state_q == Evict && turn && !asked_q[InW];
  assign evicts_at = {index_q, asked_q[InW-1:0]};
  fifo_dist #(
      .Width($bits(data_t)),
      .Depth(LineRows)
  ) i_evicted (
      .clk,
      .rst,
      .push (evicted),
      .din  (evicted_row),
      .ready(),
      .valid(),
      .pop  (line_pop),
      .dout (line_row),
      .level()
  );

  assign line_write = state_q == Write && !moved_q[InW];
  assign line_read = state_q == Fetch;
  assign line = state_q == Fetch ? {tag_q, index_q} : {old_q.tag, index_q};

  assign coming_pop = state_q == Fill && coming && fill_free;
  assign fill = coming_pop;
  assign fill_at = {index_q, moved_q[InW-1:0]};
  assign fill_row = coming_row;

  always_ff @(posedge clk) begin
    unique case (state_q)
      Idle: begin
        index_q <= index_of(want_row);
        tag_q <= tag_of(want_row);
        blank_q <= want_blank;
        old_q <= holds[index_of(want_row)];
        asked_q <= '0;
        moved_q <= (InW + 1)'(8);
        if (want) state_q <= Drain;
      end
      Drain: begin
        dirty_q <= !old_q.none && dirty != '0;
        moved_q <= moved_q - 1'b1;
        if (moved_q == '0) begin
          moved_q <= dirty_q || !blank_q ? '0 : (InW + 1)'(Decide);
          state_q <= dirty_q ? Evict : blank_q ? Settle : Fetch;
        end
      end
      Evict: begin
        if (evicts) asked_q <= asked_q + 1'b1;
        if (evicted) moved_q <= moved_q + 1'b1;
        if (moved_q[InW]) begin
          moved_q <= '0;
          state_q <= Write;
        end
      end
      Write: begin
        if (line_pop) moved_q <= moved_q + 1'b1;
        if (line_written) begin
          moved_q <= blank_q ? (InW + 1)'(Decide) : '0;
          state_q <= blank_q ? Settle : Fetch;
        end
      end
      Fetch: if (line_taken) state_q <= Fill;
      Fill: begin
        if (fill) moved_q <= moved_q + 1'b1;
        if (moved_q[InW]) begin
          moved_q <= (InW + 1)'(Visible + Decide);
          state_q <= Settle;
        end
      end
      // Written rows are read after the write, and passes that looked before it decide.
      default: begin
        moved_q <= moved_q - 1'b1;
        if (moved_q == '0) state_q <= Idle;
      end
    endcase
    if (rst) state_q <= Idle;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      assert (!evicted || state_q == Evict) else $error("%m: a row that nobody has asked for");
      assert (!line_pop || state_q == Write) else $error("%m: rows are taken that are not there");
    end
  end
`endif
endmodule

`default_nettype wire
