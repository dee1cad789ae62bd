// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Denies requests that have a byte outside the range of host memory that the host has given their unit.
//
//   requests ─┬─> range of the unit, last byte ─> compare ─┐
//             └────────────── wait ────────────────────────┴─> register ─> requests, with `denied`
//               1                               1 cycle
//
// A request is looked up while the last beat of the one before it is in the register. Requests of one beat leave every
// other cycle, and a frame of several beats is followed by a gap of one cycle. A denied request leaves as its last beat
// only. After a reset no unit has a range.
//
// The whole range of a unit changes in one cycle, so no request is compared with half of each range. A request that was
// looked up before the change may still pass.
module host_bounds
  import penstock_pkg::*, shell_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input  wire logic        range_we,    // the unit gets a new range
    input  wire unit_t       range_unit,
    input  wire host_range_t range_data,
    output host_range_t      range_shown, // of `range_unit`, one cycle later

    frame_if.snk requests,
    frame_if.src passed,
    output logic denied,  // with all beats of a frame, as `meta` and `is_read`
    output logic is_read
);
  // ---- ranges, and the units that have one
  (* ram_style = "distributed" *) host_range_t ranges[MaxUnits];
  logic [MaxUnits-1:0] given_q;

  always_ff @(posedge clk) begin
    if (range_we) ranges[range_unit] <= range_data;
    range_shown <= given_q[range_unit] ? ranges[range_unit] : NoRange;
  end

  always_ff @(posedge clk) begin
    if (range_we) given_q[range_unit] <= 1'b1;
    if (rst) given_q <= '0;
  end

  // ---- look-up
  logic inside_q;  // a later beat of a frame is due
  logic known_q;   // the registers below are about the frame at `requests`
  logic given_now_q, read_q;
  host_range_t range_q;
  logic [63:0] first_q;
  logic [64:0] last_q;  // bit 64: beyond the end of the address space

  wire reads = requests.meta.dst == PortHostRead;
  host_read_t asked;
  assign asked = requests.data[$bits(host_read_t)-1:0];
  wire [63:0] first = {requests.meta.timestamp, requests.meta.hash};
  wire len_t less = (reads ? asked.len : requests.meta.len) - len_t'(1);

  wire step, take;
  wire ready = step && (inside_q || known_q);
  assign take = requests.valid && ready;
  assign requests.ready = ready;

  always_ff @(posedge clk) begin
    known_q <= requests.valid && !inside_q && !take;
    if (take) inside_q <= !requests.last;
    if (rst) begin
      known_q  <= 1'b0;
      inside_q <= 1'b0;
    end
  end

  always_ff @(posedge clk) begin
    given_now_q <= given_q[requests.meta.unit_id];
    range_q <= ranges[requests.meta.unit_id];
    first_q <= first;
    last_q <= {1'b0, first} + 65'(less);
    read_q <= reads;
  end

  // ---- compare
  wire outside = !given_now_q || first_q < range_q.base || last_q[64] || last_q[63:0] > range_q.limit;

  // ---- register
  logic valid_q;
  wire dropped = denied && !passed.last;
  assign step = !valid_q || dropped || passed.ready;
  assign passed.valid = valid_q && !dropped;

  always_ff @(posedge clk) begin
    if (step) valid_q <= take;
    if (rst) valid_q <= 1'b0;
  end

  always_ff @(posedge clk) begin
    if (step) begin
      passed.data <= requests.data;
      passed.last <= requests.last;
    end
    if (step && !inside_q) begin
      passed.meta <= requests.meta;
      denied <= outside;
      is_read <= read_q;
    end
  end

`ifndef SYNTHESIS
  // A request that passes lies within the range that its unit had at the look-up.
  host_range_t checked_q;
  always_ff @(posedge clk) if (step && !inside_q) checked_q <= given_now_q ? range_q : NoRange;
  wire [63:0] start = {passed.meta.timestamp, passed.meta.hash};
  wire len_t bytes = is_read ? passed.data[$bits(len_t)-1:0] : passed.meta.len;
  always_ff @(posedge clk)
    if (!rst && passed.valid && !denied)
      assert (start >= checked_q.base && start <= checked_q.limit && 64'(bytes) - 64'd1 <= checked_q.limit - start)
        else $error("%m: unit %0d reaches beyond its range", passed.meta.unit_id);
  always_ff @(posedge clk)
    if (!rst && requests.valid && !inside_q && reads)
      assert (requests.last && asked.len != 0 && asked.len <= len_t'(MaxFrame))
        else $error("%m: a read request that is none");
  always_ff @(posedge clk)
    if (!rst && requests.valid && !inside_q && !reads)
      assert (requests.meta.len != 0) else $error("%m: a write of no bytes");
`endif
endmodule

`default_nettype wire
