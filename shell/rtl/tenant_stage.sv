// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Writes the tenant of each frame into its metadata, before the first inline block. The tenant follows from the port
// and the 12-bit id of the frame's first VLAN tag (0x8100 or 0x88A8). Frames without a tag, with id 0 (priority-tagged)
// and with an id that the host has given to nobody are of tenant 0, the system. The tag stays in the frame.
//
//   frames ─┬─> beat register ───────────────────────> out
//           └─> memory of the port: 4096 ids ─> tenant ─┘
//               1
//
// One beat a cycle, folded frames included, so a port has line rate at all sizes. Only `out` holds a port; ports do not
// hold each other. From a reset on the stage clears its memories, an id a cycle: `ready` is low for 4096 cycles, and
// the host's writes wait for it. A frame that meets the write of its own id finds the tenant before or after.
module tenant_stage
  import penstock_pkg::*, shell_pkg::*;
#(
    parameter int unsigned Ports = 2
) (
    input wire logic clk,
    input wire logic rst,

    frame_if.snk      frames[Ports],
    input wire tail_t tails [Ports],

    frame_if.src  out      [Ports],
    output tail_t out_tails[Ports],

    input wire tenant_write_t write,  // only while `ready`
    output logic              ready
);
  localparam int unsigned IdW = 12;
  localparam len_t TaggedFrame = 16;  // shortest frame that has all of its tag's id

  // ---- writes: the clearing, then the host's
  logic [IdW:0] clear_q;
  tenant_write_t write_q;
  assign ready = clear_q[IdW];
  always_ff @(posedge clk) begin
    if (ready) begin
      write_q <= write;
    end else begin
      write_q <= '{valid: 1'b1, vlan: clear_q[IdW-1:0], ports: '1, tenant: '0};
      clear_q <= clear_q + 1'b1;
    end
    if (rst) begin
      clear_q <= '0;
      write_q.valid <= 1'b0;
    end
  end

  for (genvar p = 0; p < Ports; p++) begin : gen_port
    logic takes, valid_q, tagged_q;
    logic [15:0] kind;
    logic [IdW-1:0] vlan;
    tenant_t tenant;
    beat_t beat_q;
    tail_t tail_q;

    assign kind  = {frames[p].data[8*12+:8], frames[p].data[8*13+:8]};
    assign vlan  = {frames[p].data[8*14+:4], frames[p].data[8*15+:8]};
    assign frames[p].ready = !valid_q || out[p].ready;
    assign takes = frames[p].valid && frames[p].ready;

    ram_sdp #(
        .Width($bits(tenant_t)),
        .Depth(1 << IdW)
    ) i_tenants (
        .clk,
        .we(write_q.valid && write_q.ports[p]),
        .waddr(write_q.vlan),
        .wdata(write_q.tenant),
        .re(takes),
        .raddr(vlan),
        .rdata(tenant)
    );

    always_ff @(posedge clk) begin
      if (takes) begin
        beat_q <= '{meta: frames[p].meta, last: frames[p].last, data: frames[p].data};
        tail_q <= tails[p];
        tagged_q <= (kind == 16'h8100 || kind == 16'h88A8) && frames[p].meta.len >= TaggedFrame;
      end
      if (frames[p].ready) valid_q <= frames[p].valid;
      if (rst) valid_q <= 1'b0;
    end

    assign out[p].valid = valid_q;
    assign out[p].data  = beat_q.data;
    assign out[p].last  = beat_q.last;
    assign out_tails[p] = tail_q;
    always_comb begin
      out[p].meta = beat_q.meta;
      out[p].meta.tenant = tagged_q ? tenant : '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) assert (!write.valid || ready) else $error("%m: a tenant is written while the memories are cleared");
`endif
endmodule

`default_nettype wire
