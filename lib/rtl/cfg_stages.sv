// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The register stages of a configuration link: Stages registers for the request, as many for the answer.
//
// The requester sees `ack` late and holds `req` meanwhile. Therefore the far end hides `req` from the cycle after its
// `ack` until the requester's `req` has fallen there, so that an access is carried out once.
module cfg_stages #(
    parameter int unsigned AddrW  = 26,  // of both ends
    parameter int unsigned Stages = 0
) (
    input wire logic clk,
    input wire logic rst,

    cfg_if.snk from,
    cfg_if.src to
);
  if (Stages == 0) begin : gen_wires
    assign to.req = from.req;
    assign to.we = from.we;
    assign to.addr = from.addr;
    assign to.wdata = from.wdata;
    assign from.ack = to.ack;
    assign from.err = to.err;
    assign from.rdata = to.rdata;
  end else begin : gen_stages
    logic req, done_q;
    link_stages #(
        .Stages(Stages)
    ) i_req (
        .clk,
        .rst,
        .d(from.req),
        .q(req)
    );
    link_stages #(
        .Width (1 + AddrW + 32),
        .Stages(Stages)
    ) i_access (
        .clk,
        .rst(1'b0),
        .d({from.we, from.addr, from.wdata}),
        .q({to.we, to.addr, to.wdata})
    );
    always_ff @(posedge clk) done_q <= req && (done_q || to.ack) && !rst;
    assign to.req = req && !done_q;

    link_stages #(
        .Stages(Stages)
    ) i_ack (
        .clk,
        .rst,
        .d(to.ack),
        .q(from.ack)
    );
    link_stages #(
        .Width (33),
        .Stages(Stages)
    ) i_answer (
        .clk,
        .rst(1'b0),
        .d({to.err, to.rdata}),
        .q({from.err, from.rdata})
    );
  end
endmodule

`default_nettype wire
