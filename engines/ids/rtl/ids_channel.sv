// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Flow lines in a channel of card memory: brings lines, and takes back those that leave the chip.
//
//   fetches ─> queue ─> address ─┬─> channel ─> two beats ─> queue ─> fetch and its line
//                 ^              └─> queue of those asked ─────^
//                 └ waits for a write of the same line
//   lines ───> queue ─> address, two beats ─> channel; the answer ends the wait
//
// Line n of the channel has the 128 bytes from 128 n on: its first beat has key, generation and last use, its second
// one both directions. All bursts have ID 0, so reads answer in order and so do writes. A line that is asked for while
// an older value of it is on the way to memory waits until the memory has answered. A line that cannot be read is
// empty.
//
// Up to InFlight lines are under way in each direction. `room` is a register: eight more of each can come after it.
module ids_channel
  import ids_pkg::*;
#(
    parameter int unsigned LineW = 18  // of the number of a line in the channel
) (
    input wire logic clk,
    input wire logic rst,

    output logic room,

    input wire logic             read,
    input wire logic [LineW-1:0] read_at,
    input wire fetch_t           read_in,

    input wire logic             write,
    input wire logic [LineW-1:0] write_at,
    input wire whole_t           write_in,

    output logic      valid,
    input  wire logic pop,
    output fetch_t    fetch,
    output whole_t    line,

    axi_if.mgr mem
);
  localparam int unsigned Room = 8;
  localparam int unsigned CountW = $clog2(InFlight) + 1;
  localparam int unsigned BeatW = 512;
  localparam int unsigned StateW = $bits(direction_t[1:0]);
  localparam int unsigned HeadW = $bits(whole_t) - StateW;
  localparam logic [1:0] Okay = 2'b00;

  // ---- how many are under way
  logic [CountW-1:0] reads_q, writes_q;
  always_ff @(posedge clk) begin
    reads_q <= reads_q + CountW'(read) - CountW'(valid && pop);
    writes_q <= writes_q + CountW'(write) - CountW'(mem.bvalid);
    room <= reads_q <= CountW'(InFlight - Room) && writes_q <= CountW'(InFlight - Room);
    if (rst) begin
      reads_q <= '0;
      writes_q <= '0;
      room <= 1'b0;
    end
  end

  // ---- lines whose writes have no answer, a ring
  logic [InFlight-1:0] open_q;
  logic [LineW-1:0] open_at_q[InFlight];
  logic [CountW-2:0] first_q, free_q;
  always_ff @(posedge clk) begin
    if (mem.bvalid) open_q[first_q] <= 1'b0;
    if (mem.bvalid) first_q <= first_q + 1'b1;
    if (write) open_q[free_q] <= 1'b1;
    if (write) open_at_q[free_q] <= write_at;
    if (write) free_q <= free_q + 1'b1;
    if (rst) begin
      open_q  <= '0;
      first_q <= '0;
      free_q  <= '0;
    end
  end
  assign mem.bready = 1'b1;

  // ---- reads
  logic wants, ask, waits, asking_q, asked_valid;
  logic [LineW-1:0] wanted_at, ask_at_q;
  fetch_t wanted, asked;

  fifo_dist #(
      .Width(LineW + $bits(fetch_t)),
      .Depth(InFlight)
  ) i_wanted (
      .clk,
      .rst,
      .push (read),
      .din  ({read_at, read_in}),
      .ready(),
      .valid(wants),
      .pop  (ask),
      .dout ({wanted_at, wanted}),
      .level()
  );

  always_comb begin
    waits = 1'b0;
    for (int unsigned n = 0; n < InFlight; n++) waits |= open_q[n] && open_at_q[n] == wanted_at;
    ask = wants && !waits && (!asking_q || mem.arready);
  end

  always_ff @(posedge clk) begin
    asking_q <= ask || (asking_q && !mem.arready);
    if (ask) ask_at_q <= wanted_at;
    if (rst) asking_q <= 1'b0;
  end
  assign mem.arvalid = asking_q;
  assign mem.arid = '0;
  assign mem.araddr = 40'({ask_at_q, 7'b0});
  assign mem.arlen = 8'd1;
  assign mem.rready = 1'b1;

  fifo_dist #(
      .Width($bits(fetch_t)),
      .Depth(InFlight)
  ) i_asked (
      .clk,
      .rst,
      .push (ask),
      .din  (wanted),
      .ready(),
      .valid(asked_valid),
      .pop  (mem.rvalid && mem.rlast),
      .dout (asked),
      .level()
  );

  logic [HeadW-1:0] head_q;
  logic failed_q;
  whole_t came;
  always_ff @(posedge clk)
    if (mem.rvalid && !mem.rlast) begin
      head_q   <= mem.rdata[HeadW-1:0];
      failed_q <= mem.rresp != Okay;
    end

  always_comb begin
    came = {head_q, mem.rdata[StateW-1:0]};
    if (failed_q || mem.rresp != Okay) came.valid = 1'b0;
  end

  fifo_dist #(
      .Width($bits(fetch_t) + $bits(whole_t)),
      .Depth(InFlight)
  ) i_back (
      .clk,
      .rst,
      .push (mem.rvalid && mem.rlast),
      .din  ({asked, came}),
      .ready(),
      .valid(valid),
      .pop  (pop),
      .dout ({fetch, line}),
      .level()
  );

  // ---- writes: the address, then the beats
  logic has, addressed_q, second_q, done;
  logic [LineW-1:0] to_at;
  whole_t to_line;

  fifo_dist #(
      .Width(LineW + $bits(whole_t)),
      .Depth(InFlight)
  ) i_lines (
      .clk,
      .rst,
      .push (write),
      .din  ({write_at, write_in}),
      .ready(),
      .valid(has),
      .pop  (done),
      .dout ({to_at, to_line}),
      .level()
  );

  assign done = mem.wvalid && mem.wready && second_q;
  always_ff @(posedge clk) begin
    if (mem.awvalid && mem.awready) addressed_q <= 1'b1;
    if (mem.wvalid && mem.wready) second_q <= !second_q;
    if (done) addressed_q <= 1'b0;
    if (rst) begin
      addressed_q <= 1'b0;
      second_q <= 1'b0;
    end
  end
  assign mem.awvalid = has && !addressed_q;
  assign mem.awid = '0;
  assign mem.awaddr = 40'({to_at, 7'b0});
  assign mem.awlen = 8'd1;
  assign mem.wvalid = has && addressed_q;
  assign mem.wdata = second_q ? BeatW'(to_line.states) : BeatW'(HeadW'(to_line >> StateW));
  assign mem.wstrb = '1;
  assign mem.wlast = second_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!ask || !waits) else $error("%m: a line is read before its write has an answer");
      assert (!mem.rvalid || asked_valid) else $error("%m: a line that nobody asked for");
      assert (!mem.rvalid || mem.rlast || !second_beat_q) else $error("%m: a line of more than two beats");
      assert (!mem.bvalid || open_q[first_q]) else $error("%m: an answer to no write");
      assert (!write || !open_q[free_q]) else $error("%m: more writes than there is room for");
    end
  logic second_beat_q;
  always_ff @(posedge clk) second_beat_q <= !rst && (mem.rvalid ? !mem.rlast : second_beat_q);
`endif
endmodule

`default_nettype wire
