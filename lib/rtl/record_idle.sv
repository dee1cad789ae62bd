// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The block's side of its record links when it has no records: it sends none and takes any.
module record_idle (
    record_if.src to_host,
    record_if.snk from_host
);
  assign to_host.valid = 1'b0;
  assign to_host.data = '0;
  assign from_host.ready = 1'b1;
endmodule

`default_nettype wire
