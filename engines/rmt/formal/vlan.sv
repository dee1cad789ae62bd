// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A frame gets the tenant to whom the host has given all 12 bits of its VLAN id at its port, and no other tenant, from
// any state: shell/rtl/tenant_stage.sv as it is, with one port. `vlan` is any id (lib/formal/ram_sdp.sv).
module vlan
  import penstock_pkg::*, shell_pkg::*;
(
    input wire logic clk,

    input wire logic [11:0]      vlan,
    input wire logic             valid,
    input wire logic             ready,
    input wire logic [DataW-1:0] data,
    input wire logic             last,
    input wire frame_meta_t      meta,
    input wire tail_t            tail,
    input wire tenant_write_t    write
);
  frame_if frames[1] ();
  frame_if out[1] ();
  tail_t tails[1];
  tail_t out_tails[1];
  assign frames[0].valid = valid;
  assign frames[0].data = data;
  assign frames[0].last = last;
  assign frames[0].meta = meta;
  assign out[0].ready = ready;
  assign tails[0] = tail;

  tenant_stage #(
      .Ports(1)
  ) i_stage (
      .clk,
      .rst(1'b0),
      .frames,
      .tails,
      .out,
      .out_tails,
      .write,
      .ready()
  );
  always_comb assume (i_stage.gen_port[0].i_tenants.open_watched == vlan);

  wire is_tagged = (data[96+:16] == 16'h0081 || data[96+:16] == 16'hA888) && meta.len >= 16'd16;
  wire writes = i_stage.write_q.valid && i_stage.write_q.ports[0];
  logic seen_q = 1'b0;
  logic plain_q = 1'b0;
  tenant_t expected_q;
  always_ff @(posedge clk) begin
    // A frame that meets a write of its own id finds the tenant before or after.
    seen_q <= valid && frames[0].ready && is_tagged && {data[115:112], data[127:120]} == vlan &&
        !(writes && i_stage.write_q.vlan == vlan);
    plain_q <= valid && frames[0].ready && !is_tagged;
    expected_q <= i_stage.gen_port[0].i_tenants.row_q;
  end
  logic kept_q = 1'b0;
  tenant_t row_q, written_q;
  logic wrote_q;
  always_ff @(posedge clk) begin
    kept_q <= 1'b1;
    row_q <= i_stage.gen_port[0].i_tenants.row_q;
    written_q <= i_stage.write_q.tenant;
    wrote_q <= writes && i_stage.write_q.vlan == vlan;
  end
  always_comb begin
    if (seen_q) assert (out[0].valid && out[0].meta.tenant == expected_q);
    if (plain_q) assert (out[0].valid && out[0].meta.tenant == '0);
    if (kept_q) assert (i_stage.gen_port[0].i_tenants.row_q == (wrote_q ? written_q : row_q));
  end
endmodule

`default_nettype wire
