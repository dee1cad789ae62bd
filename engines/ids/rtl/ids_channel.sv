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
// an older value of it is on the way to memory waits until the memory has answered.
//
// A line that cannot be read is empty. So is one whose last write failed, for memory may have an older value of it: the
// channel remembers up to Bad such lines until they are written again, and if there are more, no line of the channel
// can be read until `clear`.
//
// Up to InFlight lines are under way in each direction. `room` is a register: eight more of each can come after it.
module ids_channel
  import ids_pkg::*;
#(
    parameter int unsigned LineW = 18  // of the number of a line in the channel
) (
    input wire logic clk,
    input wire logic rst,

    input  wire logic clear,   // no line is in memory any more; nothing is under way
    output logic      room,
    output logic      idle,    // nothing is under way
    output logic [1:0] failed,  // a write, and a read, that memory answered with an error

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
  localparam int unsigned Bad = 8;
  localparam logic [1:0] Okay = 2'b00;

  // ---- how many are under way
  logic [CountW-1:0] reads_q, writes_q;
  always_ff @(posedge clk) begin
    reads_q <= reads_q + CountW'(read) - CountW'(valid && pop);
    writes_q <= writes_q + CountW'(write) - CountW'(mem.bvalid);
    room <= reads_q <= CountW'(InFlight - Room) && writes_q <= CountW'(InFlight - Room);
    idle <= reads_q == '0 && writes_q == '0 && !read && !write;
    if (rst) begin
      idle <= 1'b0;
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

  // ---- lines whose last write failed
  logic [Bad-1:0] bad_q, bad_same, bad_free;
  logic [LineW-1:0] bad_at_q[Bad];
  logic all_bad_q, write_failed;
  always_comb begin
    write_failed = mem.bvalid && mem.bresp != Okay;
    for (int unsigned n = 0; n < Bad; n++) bad_same[n] = bad_q[n] && bad_at_q[n] == open_at_q[first_q];
    bad_free = ~bad_q & (bad_q + 1'b1);
  end
  always_ff @(posedge clk) begin
    if (mem.bvalid && !write_failed) bad_q <= bad_q & ~bad_same;
    if (write_failed && bad_same == '0) begin
      bad_q <= bad_q | bad_free;
      all_bad_q <= all_bad_q || bad_free == '0;
      for (int unsigned n = 0; n < Bad; n++) if (bad_free[n]) bad_at_q[n] <= open_at_q[first_q];
    end
    if (clear || rst) begin
      bad_q <= '0;
      all_bad_q <= 1'b0;
    end
  end

  // ---- reads
  logic wants, ask, waits, asking_q, asked_valid, wanted_bad, asked_bad;
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
    wanted_bad = all_bad_q;
    for (int unsigned n = 0; n < Bad; n++) wanted_bad |= bad_q[n] && bad_at_q[n] == wanted_at;
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
      .Width(1 + $bits(fetch_t)),
      .Depth(InFlight)
  ) i_asked (
      .clk,
      .rst,
      .push (ask),
      .din  ({wanted_bad, wanted}),
      .ready(),
      .valid(asked_valid),
      .pop  (mem.rvalid && mem.rlast),
      .dout ({asked_bad, asked}),
      .level()
  );

  logic [HeadW-1:0] head_q;
  logic head_failed_q, read_failed;
  whole_t came;
  always_ff @(posedge clk)
    if (mem.rvalid && !mem.rlast) begin
      head_q <= mem.rdata[HeadW-1:0];
      head_failed_q <= mem.rresp != Okay;
    end

  always_comb begin
    came = {head_q, mem.rdata[StateW-1:0]};
    read_failed = mem.rvalid && mem.rlast && (head_failed_q || mem.rresp != Okay);
    if (read_failed || asked_bad) came.valid = 1'b0;
  end

  always_ff @(posedge clk) failed <= rst ? '0 : {write_failed, read_failed};

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
  logic second_beat_q;
  always_ff @(posedge clk) second_beat_q <= !rst && (mem.rvalid ? !mem.rlast : second_beat_q);
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!ask || !waits) else $error("%m: a line is read before its write has an answer");
      assert (!mem.rvalid || asked_valid) else $error("%m: a line that nobody asked for");
      assert (!mem.rvalid || mem.rlast || !second_beat_q) else $error("%m: a line of more than two beats");
      assert (!mem.bvalid || open_q[first_q]) else $error("%m: an answer to no write");
      assert (!write || !open_q[free_q]) else $error("%m: more writes than there is room for");
    end
`endif
endmodule

`default_nettype wire
