// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Finds the packets of messages among a port's frames. Other frames go straight on, in order.
//
//   frames ─> in ──────> find ────────> check ─┬─> straight (queue)
//             beat and   headers by     filter └─> packet, to the lane
//             the next   shape          rows
//             1          2              3 cycles; one beat a cycle
//
// A beat waits in `in` for the next one of its frame, because headers and payload beats span two. A frame holds those
// behind it of its port, in `check` until the lane takes it or the queue of straight frames has room. A packet waits
// only for its turn in the lane, which refuses none.
//
// `headers` are those of four shapes, by VLAN tag and IP version, so that each field has four places in a frame; each
// payload byte has seven in its beat, because an application of another protocol than QNP has payload behind UDP.
module l7_filter
  import penstock_pkg::*, l7_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input wire filter_row_t [FilterRows-1:0] rows,
    input wire logic [Apps-1:0] plain,  // the application's messages have no QNP header

    frame_if.snk         frames,
    input wire tail_t    tail,
    input wire verdict_t verdict,

    output logic        straight_valid,
    input  wire logic   straight_pop,
    output logic        straight_last,
    output logic [DataW-1:0] straight_data,
    output frame_meta_t straight_meta,
    output tail_t       straight_tail,
    output verdict_t    straight_verdict,

    output logic      packet_valid,
    input  wire logic packet_take,
    output packet_t   packet,

    output logic busy
);
  /* verilator no_inline_module */  // the model compiles it once for all instances
  typedef struct packed {
    logic             first;
    logic             last;
    frame_meta_t      meta;
    verdict_t         verdict;
    tail_t            tail;
    logic [DataW-1:0] data;
  } beat_in_t;

  // Headers of a frame as they were found, before anything was compared
  typedef struct packed {
    logic is_udp;
    logic is_qnp;  // long enough for a QNP header
    shape_t shape;
    logic [127:0] source;
    logic [15:0] ip_len;  // what the IP header says of bytes: with IPv6 from the UDP header on, with IPv4 also its own 20
    logic [15:0] sport;
    logic [15:0] dport;
    logic [15:0] udp_len;
    logic [7:0] app_id;
    logic [7:0] mtype;
    logic [31:0] id;
    logic [7:0] count;
    logic [7:0] number;
    logic [7:0] flag;
    logic [7:0] segments;
    logic [8*(HeadBytes-BeatBytes)-1:0] rest;  // the head's bytes from 64 on
  } found_headers_t;

  // Bytes of the next beat that payload of this beat may take: it begins at byte 62 at most
  localparam int unsigned NextBytes = 62;

  logic in_valid_q, find_valid_q, check_valid_q;
  logic in_go, find_ready, check_ready, check_take;
  logic first_q;
  beat_in_t in_q, find_q, check_q;
  found_headers_t found, found_q;
  logic [8*NextBytes-1:0] find_next_q;  // behind the beat
  logic [DataW-1:0] check_udp_q, check_qnp_q;  // payload behind UDP, and behind a header of QNP

  // ---- 1: a beat, and the next one of its frame
  assign in_go = in_valid_q && find_ready && (in_q.last || frames.valid);
  assign frames.ready = !in_valid_q || in_go;
  assign find_ready = !find_valid_q || check_ready;
  assign check_ready = !check_valid_q || check_take;

  always_ff @(posedge clk) begin
    if (frames.valid && frames.ready) begin
      first_q <= frames.last;
      in_q <= '{first: first_q, last: frames.last, meta: frames.meta, verdict: verdict, tail: tail, data: frames.data};
    end
    in_valid_q <= (frames.valid && frames.ready) || (in_valid_q && !in_go);
    if (rst) begin
      first_q <= 1'b1;
      in_valid_q <= 1'b0;
    end
  end

  // ---- 2: fields, by shape
  localparam int unsigned L3 = 14;  // bytes in front of the IP header, without a tag
  logic [2*DataW-1:0] pair;
  logic [8*70-1:0] l3;  // from the IP header on: IPv6, UDP, QNP
  logic [8*30-1:0] l4;
  logic [15:0] ethertype;
  logic v4, v6;

  function automatic logic [15:0] be16(logic [15:0] wire_order);
    return {wire_order[7:0], wire_order[15:8]};
  endfunction

  always_comb begin
    // In a folded frame the tail follows; other frames of one beat have no further bytes.
    pair = {in_q.last ? DataW'(in_q.tail.data) : frames.data, in_q.data};
    found = '0;
    found.shape.vlan = be16(pair[8*12+:16]) == 16'h8100;
    l3 = found.shape.vlan ? pair[8*(L3+4)+:8*70] : pair[8*L3+:8*70];
    ethertype = found.shape.vlan ? be16(pair[8*16+:16]) : be16(pair[8*12+:16]);
    v4 = ethertype == 16'h0800 && l3[7:0] == 8'h45 && l3[8*9+:8] == 8'd17 && {l3[8*6+:6], l3[8*7+:8]} == '0;
    v6 = ethertype == 16'h86DD && l3[7:4] == 4'd6 && l3[8*6+:8] == 8'd17;
    found.shape.v6 = v6;
    l4 = v6 ? l3[8*40+:8*30] : l3[8*20+:8*30];
    found.is_udp = (v4 || v6) && in_q.meta.len >= len_t'(head_bytes('{plain: 1'b1, v6: v6, vlan: found.shape.vlan}));
    found.is_qnp = (v4 || v6) && in_q.meta.len >= len_t'(head_bytes(found.shape));
    found.source = v6 ? l3[8*8+:128] : 128'(l3[8*12+:32]);
    found.ip_len = v6 ? be16(l3[8*4+:16]) : be16(l3[8*2+:16]);
    found.sport = be16(l4[0+:16]);
    found.dport = be16(l4[8*2+:16]);
    found.udp_len = be16(l4[8*4+:16]);
    found.app_id = l4[8*8+:8];
    found.mtype = l4[8*9+:8];
    found.id = l4[8*10+:32];
    found.count = l4[8*18+:8];
    found.number = l4[8*19+:8];
    found.flag = l4[8*20+:8];
    found.segments = l4[8*21+:8];
    found.rest = pair[DataW+:8*(HeadBytes-BeatBytes)];
  end

  // A payload beat begins in each beat, or in each beat behind the first one, at the same byte of it. That of a folded
  // frame may begin in its tail.
  function automatic logic [DataW-1:0] behind_udp(logic [DataW+8*NextBytes-1:0] beats, shape_t shape, logic folded);
    unique case ({shape.v6, shape.vlan})
      2'b00: return beats[8*42+:DataW];
      2'b01: return beats[8*46+:DataW];
      2'b10: return beats[8*62+:DataW];
      default: return folded ? DataW'(beats[8*66+:TailW]) : beats[8*2+:DataW];
    endcase
  endfunction

  function automatic logic [DataW-1:0] behind_qnp(logic [DataW+8*NextBytes-1:0] beats, shape_t shape, logic folded);
    unique case ({shape.v6, shape.vlan})
      2'b00: return folded ? DataW'(beats[8*64+:TailW]) : beats[0+:DataW];
      2'b01: return folded ? DataW'(beats[8*68+:TailW]) : beats[8*4+:DataW];
      2'b10: return beats[8*20+:DataW];  // not in a folded frame, which has 80 bytes at most
      default: return beats[8*24+:DataW];
    endcase
  endfunction

  always_ff @(posedge clk) begin
    if (in_go) begin
      find_q <= in_q;
      find_next_q <= pair[DataW+:8*NextBytes];
      if (in_q.first) found_q <= found;
    end
    find_valid_q <= in_go || (find_valid_q && !check_ready);
    if (rst) find_valid_q <= 1'b0;
  end

  // ---- 3: rows of the filter, lengths
  //
  // The rows tell last whether the frame has a header of QNP. The registers keep both lengths, both checks and both payload
  // beats, and stand in front of the selection among them.
  logic hit, is_plain, is_packet_q;
  logic too_short_udp, too_short_qnp, misnumbered, misled, malformed_udp_q, malformed_qnp_q;
  app_t app;
  shape_t shape;  // of the frame
  info_t info, info_q, checked;  // `info_q`: of a packet of QNP, with the application and shape of any
  logic [14:0] len_udp_q;
  logic [8*(HeadBytes-BeatBytes)-1:0] rest_q;

  always_comb begin
    hit = 1'b0;
    app = '0;
    is_plain = 1'b0;
    for (int i = int'(FilterRows) - 1; i >= 0; i--)
      if (rows[i].valid && rows[i].dport == found_q.dport && rows[i].tenant == find_q.meta.tenant &&
          (plain[rows[i].app] ? found_q.is_udp :
          found_q.is_qnp && found_q.flag == '0 && rows[i].app_id == found_q.app_id)) begin
        hit = 1'b1;
        app = rows[i].app;
        is_plain = plain[rows[i].app];
      end
    shape = found_q.shape;
    shape.plain = is_plain;
    info = '0;
    info.app = app;
    info.key = '{
        tenant: find_q.meta.tenant,
        v6: found_q.shape.v6,
        address: found_q.source,
        sport: found_q.sport,
        id: found_q.id
    };
    info.shape = shape;
    info.mtype = found_q.mtype;
    info.count = found_q.count[5:0];
    info.number = found_q.number[$bits(number_t)-1:0];
    info.segments = found_q.segments;
    info.len = 15'(found_q.udp_len - 16'd30);
    info.hash = find_q.meta.hash;
    too_short_udp = found_q.udp_len < 16'd9;
    too_short_qnp = found_q.udp_len < 16'd31;
    misled = found_q.ip_len != (found_q.shape.v6 ? found_q.udp_len : found_q.udp_len + 16'd20) ||
        17'(found_q.udp_len) + 17'(head_bytes(found_q.shape)) - 17'd30 > 17'(find_q.meta.len);
    misnumbered = found_q.count == '0 || found_q.count > 8'(Packets) || found_q.number >= found_q.count;
  end

  always_ff @(posedge clk) begin
    if (find_valid_q && check_ready) begin
      check_q <= find_q;
      check_udp_q <= behind_udp({find_next_q, find_q.data}, found_q.shape, find_q.tail.valid && find_q.first);
      check_qnp_q <= behind_qnp({find_next_q, find_q.data}, found_q.shape, find_q.tail.valid && find_q.first);
      if (find_q.first) begin
        is_packet_q <= hit;
        info_q <= info;
        len_udp_q <= 15'(found_q.udp_len - 16'd8);
        malformed_udp_q <= misled || too_short_udp;
        malformed_qnp_q <= misled || too_short_qnp || misnumbered;
        rest_q <= found_q.rest;
      end
    end
    check_valid_q <= (find_valid_q && check_ready) || (check_valid_q && !check_take);
    if (rst) check_valid_q <= 1'b0;
  end

  // ---- out
  typedef struct packed {
    logic             last;
    frame_meta_t      meta;
    verdict_t         verdict;
    tail_t            tail;
    logic [DataW-1:0] data;
  } straight_t;

  logic straight_ready, push;
  straight_t straight;
  logic [5:0] level;

  assign push = check_valid_q && !is_packet_q && straight_ready;
  assign check_take = is_packet_q ? packet_take : straight_ready;

  fifo_dist #(
      .Width($bits(straight_t)),
      .Depth(32)
  ) i_straight (
      .clk,
      .rst,
      .push,
      .din({check_q.last, check_q.meta, check_q.verdict, check_q.tail, check_q.data}),
      .ready(straight_ready),
      .valid(straight_valid),
      .pop(straight_pop),
      .dout(straight),
      .level
  );
  assign straight_last = straight.last;
  assign straight_meta = straight.meta;
  assign straight_verdict = straight.verdict;
  assign straight_tail = straight.tail;
  assign straight_data = straight.data;

  always_comb begin
    checked = info_q;
    checked.malformed = info_q.shape.plain ? malformed_udp_q : malformed_qnp_q;
    if (info_q.shape.plain) begin
      checked.count = 6'd1;
      checked.number = '0;
      checked.segments = '0;
      checked.len = len_udp_q;
    end
  end

  assign packet_valid = check_valid_q && is_packet_q;
  assign packet = '{
          first: check_q.first,
          last: check_q.last,
          merged: check_q.first && (check_q.tail.valid || head_bytes(info_q.shape) < 7'd64),
          data: info_q.shape.plain ? check_udp_q : check_qnp_q,
          head: {rest_q, check_q.data},
          info: checked
      };

  assign busy = in_valid_q || find_valid_q || check_valid_q || straight_valid || level != '0;
endmodule

`default_nettype wire
