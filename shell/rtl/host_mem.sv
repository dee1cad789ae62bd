// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Host memory for the units: a destination that takes their requests and a source that delivers the answers
// (penstock_pkg.sv has their format).
//
//   clusters ─> buffers (frame_gather) ─┬─> host_write ─> AXI4 AW, W, B ─┐
//                                       └─> host_read  ─> AXI4 AR, R    ─┴─> answer register ─> switch_in
//
// Any address, any length up to a longest frame. Writes are carried out in the order in which they come here, and so
// are reads; a read that has to see a write must be asked for after the write was answered. A request waits only for
// host memory, never for another unit.
module host_mem
  import penstock_pkg::*, shell_pkg::*;
#(
    parameter int unsigned Clusters = 4
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic [Clusters-1:0] in_valid,
    input wire beat_t in_beat[Clusters],
    output logic [Clusters-1:0] room,

    frame_if.src answers,  // `meta` with all beats of a frame
    axi_write_if.mgr axi_write,
    axi_read_if.mgr  axi_read,

    output host_event_t events
);
  frame_if gathered ();
  frame_gather #(
      .Clusters(Clusters)
  ) i_gather (
      .clk,
      .rst,
      .in_valid,
      .in_beat,
      .room,
      .stuck(1'b0),
      .dropped(),
      .frames(gathered),
      .tail()
  );

  // ---- writes
  frame_if writes ();
  logic write_done_valid, write_done_pop;
  host_write_done_t write_done;
  wire is_read = gathered.meta.dst == PortHostRead;

  assign writes.valid = gathered.valid && !is_read;
  assign writes.data = gathered.data;
  assign writes.last = gathered.last;
  assign writes.meta = gathered.meta;

  host_write i_write (
      .clk,
      .rst,
      .frames(writes),
      .axi(axi_write),
      .done_valid(write_done_valid),
      .done_pop(write_done_pop),
      .done(write_done)
  );

  // ---- reads
  logic read_ready, read_done_valid, read_done_pop, read_done_last;
  logic [DataW-1:0] read_data;
  host_read_t asked;
  host_request_t request;
  host_read_done_t read_done;

  assign gathered.ready = is_read ? read_ready : writes.ready;
  assign asked = gathered.data[$bits(host_read_t)-1:0];
  assign request = '{
          addr: {gathered.meta.timestamp, gathered.meta.hash},
          unit_id: gathered.meta.unit_id,
          tag: gathered.meta.slot,
          len: asked.len,
          place: asked.place
      };

  host_read i_read (
      .clk,
      .rst,
      .request(gathered.valid && is_read && read_ready),
      .request_data(request),
      .ready(read_ready),
      .axi(axi_read),
      .done_valid(read_done_valid),
      .done_pop(read_done_pop),
      .done(read_done),
      .done_data(read_data),
      .done_last(read_done_last)
  );

  // ---- answers: one register; writes, which need one beat, come between the frames of reads
  logic inside_q;  // a read's frame has begun
  host_answer_t answer;
  wire step = !answers.valid || answers.ready;
  wire of_write = write_done_valid && !inside_q;

  assign write_done_pop = step && !inside_q;
  assign read_done_pop = step && !of_write;
  assign answer = '{
          error: of_write ? write_done.error : read_done.error,
          write: of_write,
          unused: '0,
          place: of_write ? '0 : read_done.place
      };

  always_ff @(posedge clk) begin
    if (step) begin
      answers.valid <= of_write || read_done_valid;
      if (!of_write && read_done_valid) inside_q <= !read_done_last;
    end
    if (rst) begin
      answers.valid <= 1'b0;
      inside_q <= 1'b0;
    end
  end

  always_ff @(posedge clk) begin
    if (step) begin
      answers.data <= read_data;
      answers.last <= of_write || read_done_last;
      answers.meta <= '{
          len: of_write ? len_t'(1) : read_done.len,
          src: PortHostMem,
          unit_id: of_write ? write_done.unit_id : read_done.unit_id,
          slot: of_write ? write_done.tag : read_done.tag,
          hash: answer,
          default: '0
      };
    end
    events.write <= step && of_write && !rst;
    events.read <= step && !of_write && read_done_valid && read_done_last && !rst;
    events.error <= answer.error;
    events.bytes <= of_write ? write_done.len : read_done.len;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst && gathered.valid && is_read)
      assert (gathered.last && asked.len != 0 && asked.len <= len_t'(MaxFrame))
        else $error("%m: a read request that is none");
`endif
endmodule

`default_nettype wire
