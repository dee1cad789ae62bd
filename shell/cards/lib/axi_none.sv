// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Stands where a card has no memory: answers every burst with DECERR, so that whoever asks does not wait for ever.
module axi_none #(
    parameter int unsigned IdW = 1
) (
    input wire logic clk,
    input wire logic rst,

    input  wire logic [IdW-1:0] awid,
    input  wire logic           awvalid,
    output logic                awready,
    input  wire logic           wlast,
    input  wire logic           wvalid,
    output logic                wready,
    output logic      [IdW-1:0] bid,
    output logic      [    1:0] bresp,
    output logic                bvalid,
    input  wire logic           bready,

    input  wire logic [IdW-1:0] arid,
    input  wire logic [    7:0] arlen,
    input  wire logic           arvalid,
    output logic                arready,
    output logic      [IdW-1:0] rid,
    output logic      [    1:0] rresp,
    output logic                rlast,
    output logic                rvalid,
    input  wire logic           rready
);
  localparam logic [1:0] DecErr = 2'b11;

  logic address_q, data_q, reading_q;  // a write's address, its last beat, a read
  logic [7:0] left_q;
  assign awready = !address_q;
  assign wready = !data_q;
  assign bvalid = address_q && data_q;
  assign bresp = DecErr;
  assign arready = !reading_q;
  assign rvalid = reading_q;
  assign rlast = left_q == 0;
  assign rresp = DecErr;
  always_ff @(posedge clk) begin
    if (awvalid && awready) bid <= awid;
    if (arvalid && arready) {rid, left_q} <= {arid, arlen};
    else if (rvalid && rready) left_q <= left_q - 1'b1;
    address_q <= address_q ? !(bvalid && bready) : awvalid;
    data_q    <= data_q ? !(bvalid && bready) : wvalid && wlast;
    reading_q <= reading_q ? !(rready && rlast) : arvalid;
    if (rst) {address_q, data_q, reading_q} <= '0;
  end
endmodule

`default_nettype wire
