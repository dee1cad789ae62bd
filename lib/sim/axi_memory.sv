// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none
`ifndef SYNTHESIS

// A channel of card memory for simulations: one DDR4 channel or HBM pseudo-channel at 250 MHz. It keeps written bytes;
// all other bytes are `Fresh`.
//
// Timing, in cycles of 4 ns:
// - An answer comes Latency cycles (150 ns with the queue) after its burst had its turn, and RowMiss later if a row had
//   to be opened.
// - The data bus moves a beat a cycle. Direction changes cost Turn.
// - A bank opens a row at least RowCycle after its last one; the channel opens one every RowGap. This limits random
//   rows to 50 million accesses a second.
// - Every RefreshGap (7.8 µs) all banks stop for Refresh (350 ns) and close their rows.
//
// Up to Queue bursts wait. Those that hit an open row go first, then the oldest whose bank is ready; bursts of one ID
// and direction keep their order. A burst that has waited for Patience goes before all others.
module axi_memory #(
    parameter longint Bytes      = 1 << 30,  // a power of two; an address beyond is answered with an error
    parameter logic [7:0]  Fresh      = 8'hA5,
    parameter longint Latency    = 34,
    parameter longint RowMiss    = 7,
    parameter longint RowCycle   = 12,
    parameter longint RowGap     = 5,
    parameter longint Turn       = 3,
    parameter longint RefreshGap = 1950,
    parameter longint Refresh    = 88,
    parameter longint Queue      = 32,
    parameter longint Patience   = 500
) (
    input wire logic clk,
    input wire logic rst,
    axi_if.sub       link
);
  localparam int unsigned DataW = link.DATA_W;
  localparam longint BeatBytes = longint'(DataW) / 8;
  localparam int unsigned IdW = link.ID_W;
  localparam longint Banks = 16;
  localparam longint RowBytes = 1024;  // of a bank; the next kilobyte is in the next bank
  localparam logic [1:0] Okay = 2'b00;
  localparam logic [1:0] DecErr = 2'b11;

  typedef struct packed {
    logic write;
    logic [IdW-1:0] id;
    logic [39:0] addr;
    logic [8:0] beats;
    logic [63:0] since;
  } burst_t;

  typedef struct packed {
    logic [63:0] due;
    logic [IdW-1:0] id;
    logic error;
    logic last;
    logic [DataW-1:0] data;
  } answer_t;

  logic [DataW-1:0] store[longint];  // by the beat's number
  burst_t waiting[$];
  burst_t writes[$];  // addresses whose data have not come whole
  longint written;  // beats of the first of them that have
  answer_t reads[$];
  answer_t dones[$];
  longint now, bank_at[Banks], row_at, bus_at, refresh_at;
  longint open[Banks];  // row, or -1
  logic direction;

  function automatic logic [DataW-1:0] word(longint at);
    // Not in one expression: a lookup may create the entry.
    if (store.exists(at) != 0) return store[at];
    return {BeatBytes{Fresh}};
  endfunction

  function automatic int bank_of(burst_t burst);
    return int'(longint'(burst.addr) / RowBytes % Banks);
  endfunction

  function automatic longint row_of(burst_t burst);
    return longint'(burst.addr) / RowBytes / Banks;
  endfunction

  // Which of the bursts that wait is next; -1: none can be
  function automatic int chosen();
    logic [(2 << IdW) - 1:0] seen = '0;  // IDs and directions with an older burst
    int found = -1;
    for (int i = 0; i < waiting.size(); i++) begin
      automatic burst_t one = waiting[i];
      automatic int bank = bank_of(one);
      if (!seen[{one.write, one.id}]) begin
        if (open[bank] == row_of(one)) return i;
        if (found < 0 && bank_at[bank] <= now && row_at <= now) found = i;
      end
      seen[{one.write, one.id}] = 1'b1;
      if (i == 0 && now - longint'(one.since) > longint'(Patience)) return found;
    end
    return found;
  endfunction

  // Carries a burst out
  task automatic serve(burst_t burst);
    automatic int bank = bank_of(burst);
    automatic bit hit = open[bank] == row_of(burst);
    automatic longint first = now + (burst.write == direction ? 64'd0 : Turn);
    automatic longint at = longint'(burst.addr) / BeatBytes;
    automatic bit outside = longint'(burst.addr) + longint'(burst.beats) * BeatBytes > longint'(Bytes);
    if (!hit) begin
      open[bank] = row_of(burst);
      bank_at[bank] = now + RowCycle;
      row_at = now + RowGap;
    end
    direction = burst.write;
    bus_at = first + longint'(burst.beats);
    first += longint'(Latency) + (hit ? 0 : longint'(RowMiss));
    if (burst.write) begin
      if (dones.size() != 0 && longint'(dones[$].due) > first) first = longint'(dones[$].due);
      dones.push_back('{due: first, id: burst.id, error: outside, last: 1'b1, data: '0});
    end else begin
      for (longint i = 0; i < longint'(burst.beats); i++) begin
        if (reads.size() != 0 && longint'(reads[$].due) >= first) first = longint'(reads[$].due) + 1;
        reads.push_back('{
            due: first,
            id: burst.id,
            error: outside,
            last: i + 1 == longint'(burst.beats),
            data: outside ? '0 : word(at + i)
        });
      end
    end
  endtask

  // A model of queues: each cycle is a program.
  // verilog_lint: waive-start always-ff-non-blocking
  // verilator lint_off BLKSEQ
  always_ff @(posedge clk) begin
    now = now + 1;
    // Requests
    if (link.awvalid && link.awready)
      writes.push_back('{write: 1'b1, id: link.awid, addr: 40'(link.awaddr), beats: 9'(link.awlen) + 9'd1, since: now});
    if (link.arvalid && link.arready)
      waiting.push_back('{write: 1'b0, id: link.arid, addr: 40'(link.araddr), beats: 9'(link.arlen) + 9'd1, since: now});
    if (link.wvalid && link.wready) begin
      automatic longint at = longint'(writes[0].addr) / BeatBytes + written;
      automatic logic [DataW-1:0] value = word(at);
      for (int i = 0; i < int'(BeatBytes); i++) if (link.wstrb[i]) value[8*i+:8] = link.wdata[8*i+:8];
      if (at < longint'(Bytes) / BeatBytes) store[at] = value;
      written++;
      if (link.wlast) begin
        automatic burst_t whole = writes.pop_front();
        whole.since = now;
        waiting.push_back(whole);
        written = 0;
      end
    end
    // The banks
    if (now >= refresh_at) begin
      refresh_at = now + RefreshGap;
      bus_at = now + Refresh;
      for (int b = 0; b < int'(Banks); b++) open[b] = -1;
    end
    if (bus_at <= now && waiting.size() != 0 && reads.size() < 2 * int'(Queue)) begin
      automatic int next = chosen();
      if (next >= 0) begin
        serve(waiting[next]);
        waiting.delete(next);
      end
    end
    // Answers
    link.bvalid <= 1'b0;
    if (dones.size() != 0 && longint'(dones[0].due) <= now) begin
      automatic answer_t done = dones.pop_front();
      link.bvalid <= 1'b1;
      link.bid <= done.id;
      link.bresp <= done.error ? DecErr : Okay;
    end
    link.rvalid <= 1'b0;
    if (reads.size() != 0 && longint'(reads[0].due) <= now) begin
      automatic answer_t beat = reads.pop_front();
      link.rvalid <= 1'b1;
      link.rid <= beat.id;
      link.rdata <= beat.data;
      link.rresp <= beat.error ? DecErr : Okay;
      link.rlast <= beat.last;
    end
    link.arready <= waiting.size() < int'(Queue) - 2 && !rst;
    link.awready <= waiting.size() + writes.size() < int'(Queue) - 4 && !rst;
    link.wready <= writes.size() != 0 && !rst;
    if (rst) begin
      now = 0;
      waiting.delete();
      writes.delete();
      reads.delete();
      dones.delete();
      written = 0;
      row_at = 0;
      bus_at = 0;
      refresh_at = RefreshGap;
      direction = 1'b0;
      for (int b = 0; b < int'(Banks); b++) begin
        open[b] = -1;
        bank_at[b] = 0;
      end
      link.bvalid <= 1'b0;
      link.rvalid <= 1'b0;
    end
  end
  // verilator lint_on BLKSEQ
  // verilog_lint: waive-stop always-ff-non-blocking
endmodule

`endif

`default_nettype wire
