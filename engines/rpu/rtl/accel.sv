// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The accelerators that a unit can have. `Accel` is the number that firmware and host read in register ACCEL.
module accel #(
    parameter int Accel = 0  // 0 none, 1 ip_prefix
) (
    input wire logic clk,
    input wire logic rst,
    accel_if.accel   bus
);
  if (Accel == 0) begin : gen_none
    accel_none i_none (
        .clk,
        .rst,
        .bus
    );
  end else if (Accel == 1) begin : gen_ip_prefix
    ip_prefix i_ip_prefix (
        .clk,
        .rst,
        .bus
    );
  end else begin : gen_unknown
    $error("%m: there is no accelerator %0d", Accel);
  end
endmodule

`default_nettype wire
