// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Host memory for the units: a destination that takes their requests and a source that delivers the answers
// (penstock_pkg.sv has their format).
//
//   clusters ─> buffers (frame_gather) ─> host_bounds ─┬─> host_write ─> AXI4 AW, W, B ─┐
//                                                      └─> host_read  ─> AXI4 AR, R    ─┴─> answer register ─> switch_in
//
// Any address in the range of the unit, any length up to a longest frame. Requests outside the range are denied: they
// are answered in their turn, with an error and without data, and do not reach AXI. Writes are carried out in the order
// in which they come here, and so are reads; a read that has to see a write must be asked for after the write was
// answered. A request waits only for host memory, never for another unit.
module host_mem
  import penstock_pkg::*, shell_pkg::*;
#(
    parameter int unsigned Stages   = 0,  // of the links from the clusters
    parameter int unsigned Clusters = 4
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic [Clusters-1:0] in_valid,
    input wire beat_t in_beat[Clusters],
    output logic [Clusters-1:0] room,

    // ranges of host memory that units reach: host_bounds.sv
    input  wire logic        range_we,
    input  wire unit_t       range_unit,
    input  wire host_range_t range_data,
    output host_range_t      range_shown,

    frame_if.src answers,  // `meta` with all beats of a frame
    axi_write_if.mgr axi_write,
    axi_read_if.mgr  axi_read,

    output host_event_t events
);
  frame_if gathered ();
  frame_gather #(
      .Links(Clusters),
      .Stages(Stages)
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

  frame_if bounded ();
  logic denied, is_read;
  host_bounds i_bounds (
      .clk,
      .rst,
      .range_we,
      .range_unit,
      .range_data,
      .range_shown,
      .requests(gathered),
      .passed(bounded),
      .denied,
      .is_read
  );

  // ---- writes
  frame_if writes ();
  logic write_done_valid, write_done_pop;
  host_write_done_t write_done;

  assign writes.valid = bounded.valid && !is_read;
  assign writes.data = bounded.data;
  assign writes.last = bounded.last;
  assign writes.meta = bounded.meta;

  host_write i_write (
      .clk,
      .rst,
      .frames(writes),
      .denied,
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

  assign bounded.ready = is_read ? read_ready : writes.ready;
  assign asked = bounded.data[$bits(host_read_t)-1:0];
  assign request = '{
          denied: denied,
          addr: {bounded.meta.timestamp, bounded.meta.hash},
          unit_id: bounded.meta.unit_id,
          tag: bounded.meta.slot,
          len: asked.len,
          place: asked.place
      };

  host_read i_read (
      .clk,
      .rst,
      .request(bounded.valid && is_read && read_ready),
      .request_data(request),
      .ready(read_ready),
      .axi(axi_read),
      .done_valid(read_done_valid),
      .done_pop(read_done_pop),
      .done(read_done),
      .done_data(read_data),
      .done_last(read_done_last)
  );

  // ---- answers: one register; those to writes, which need one beat, come between the frames of reads
  logic inside_q;  // a read's frame has begun
  host_answer_t answer;
  wire step = !answers.valid || answers.ready;
  wire of_write = write_done_valid && !inside_q;
  wire no_data = of_write || read_done.denied;
  wire was_denied = of_write ? write_done.denied : read_done.denied;

  assign write_done_pop = step && !inside_q;
  assign read_done_pop = step && !of_write;
  assign answer = '{
          error: of_write ? write_done.error : read_done.error,
          no_data: no_data,
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
          len: no_data ? len_t'(1) : read_done.len,
          src: PortHostMem,
          unit_id: of_write ? write_done.unit_id : read_done.unit_id,
          slot: of_write ? write_done.tag : read_done.tag,
          hash: answer,
          default: '0
      };
    end
    events.denied <= step && (of_write || read_done_valid) && was_denied && !rst;
    events.write <= step && of_write && !was_denied && !rst;
    events.read <= step && !of_write && read_done_valid && read_done_last && !was_denied && !rst;
    events.error <= answer.error && !was_denied;
    events.bytes <= of_write ? write_done.len : read_done.len;
  end
endmodule

`default_nettype wire
