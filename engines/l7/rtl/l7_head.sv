// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Headers of a message that is joined from several packets, which are packets of QNP: lengths, checksums and the number
// of packets, by shape.
// Combinational; the checksum is a sum of three words of 16 bits and two carries.
module l7_head
  import penstock_pkg::*, l7_pkg::*;
(
    input  wire logic   [8*HeadBytes-1:0] head,
    input  wire shape_t                   shape,
    input  wire head_lengths_t            lengths,
    input  wire logic                     joins,    // of several packets; otherwise nothing changes
    output logic        [8*HeadBytes-1:0] edited
);
  function automatic logic [15:0] swap(logic [15:0] bytes);
    return {bytes[7:0], bytes[15:8]};
  endfunction

  // Update of a checksum by the difference of a word (RFC 1624)
  function automatic logic [15:0] updated(logic [15:0] checksum, logic [15:0] was, logic [15:0] is);
    logic [17:0] sum;
    logic [16:0] folded;
    sum = {2'b0, ~checksum} + {2'b0, ~was} + {2'b0, is};
    folded = {1'b0, sum[15:0]} + {15'b0, sum[17:16]};
    return ~(folded[15:0] + {15'b0, folded[16]});
  endfunction

  logic [8*HeadBytes-1:0] by_shape[4];
  for (genvar s = 0; s < 4; s++) begin : gen_shape
    localparam int unsigned L3 = s % 2 == 1 ? 18 : 14;
    localparam int unsigned L4 = s >= 2 ? L3 + 40 : L3 + 20;
    always_comb begin
      by_shape[s] = head;
      if (s >= 2) by_shape[s][8*(L3+4)+:16] = swap(lengths.ip);
      else begin
        by_shape[s][8*(L3+2)+:16] = swap(lengths.ip);
        by_shape[s][8*(L3+10)+:16] = swap(updated(swap(head[8*(L3+10)+:16]), swap(head[8*(L3+2)+:16]), lengths.ip));
      end
      by_shape[s][8*(L4+4)+:16] = swap(lengths.udp);
      by_shape[s][8*(L4+6)+:16] = '0;
      by_shape[s][8*(L4+18)+:8] = 8'd1;
    end
  end
  assign edited = joins ? by_shape[{shape.v6, shape.vlan}] : head;
endmodule

`default_nettype wire
