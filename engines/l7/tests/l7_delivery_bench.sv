// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// l7_delivery with flat ports for messages of one packet, which are whole in one cycle and decided in the next. Their
// headers and payload are zeros, and they go to a queue of the host.
module l7_delivery_bench
  import penstock_pkg::*, l7_pkg::*;
#(
    parameter int unsigned Ports = 2
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic     send,
    input wire msg_t     slot,
    input wire app_t     app,
    input wire port_no_t port,
    input wire logic [13:0] len,  // bytes of payload

    input  wire logic [Ports-1:0] popped,
    output logic      [Ports-1:0] push,
    output logic      [Ports-1:0] crowded
);
  logic decided_q;
  msg_t slot_q;
  app_t app_q;
  port_no_t port_q;
  decided_t decided;
  head_t head;
  whole_t whole;
  packet_at_t at;

  always_comb begin
    decided = '0;
    decided.kind = DecideHost;
    head = '0;
    head.port = port;
    whole = '0;
    whole.received[0] = 1'b1;
    whole.len = len;
    at = '0;
    at.len = len;
  end

  always_ff @(posedge clk) begin
    decided_q <= send && !rst;
    slot_q <= slot;
    app_q <= app;
    port_q <= port;
  end

  l7_delivery #(
      .Ports(Ports)
  ) dut (
      .clk,
      .rst,
      .decided_valid(decided_q),
      .decided_slot(slot_q),
      .decided_app(app_q),
      .decided_port(port_q),
      .decided_stuck(1'b0),
      .decided,
      .whole_we(send),
      .whole_expired(1'b0),
      .whole_slot(slot),
      .whole_app(app),
      .whole,
      .mem_we(1'b0),
      .mem_page('0),
      .mem_beat('0),
      .mem_data('0),
      .link_we(1'b0),
      .link_from('0),
      .at_we(send),
      .at_slot(slot),
      .at_number('0),
      .at,
      .head_we(send),
      .head_slot(slot),
      .head,
      .page_give(),
      .page_give_id(),
      .slot_give(),
      .slot_give_id(),
      .give_app(),
      .popped,
      .push,
      .push_last(),
      .push_data(),
      .push_meta(),
      .push_tail(),
      .push_verdict(),
      .crowded,
      .counted(),
      .busy()
  );
endmodule

`default_nettype wire
