// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0

// Types and functions of the ids engine (engines/ids/machine.md).
package ids_pkg;
  import penstock_pkg::*;

  localparam int unsigned Before = 7;                 // bytes of the stream that a window needs before its last byte
  localparam int unsigned Span = Before + BeatBytes;  // a beat and the bytes before it
  localparam int unsigned Ways = 4;                   // of the exact table and of a set of flow lines
  localparam int unsigned Ids = 7;                    // ids that a record has room for
  localparam int unsigned Tunnels = 8;                // ports of datagrams that may carry a packet

  typedef logic [Before-1:0][7:0] prior_t;  // [0] oldest
  typedef logic [Span-1:0][7:0] span_t;      // [Before + i] byte i of the beat
  typedef logic [31:0] row_t;                // position in a log
  typedef logic [15:0] id_t;

  // The reason for reporting a frame.
  typedef struct packed {
    logic class_wanted;
    logic followed;
    logic headers;
    logic fragment;
    logic midstream;
    logic order;
    logic unchecked;
    logic found;         // `string`
  } reasons_t;

  // ---- flows
  typedef struct packed {
    tenant_t           tenant;
    logic              ip6;
    logic [1:0][127:0] addresses;  // the smaller (address, port) first
    logic [1:0][15:0]  ports;
  } flow_key_t;

  typedef struct packed {
    logic        open;
    logic        lost;
    logic        followed;
    logic [31:0] next;        // sequence number
    logic [2:0]  known;       // bytes of `before` that are known
    prior_t     prior;      // the stream's last bytes
    logic        logged;      // `chain` means something
    logic [1:0]  chain_port;
    row_t        chain;       // the direction's last record
  } direction_t;

  // What a flow line is called between card and host: its number (ids_flow.sv), and which of the flows that had it.
  typedef struct packed {
    logic [20:0] number;
    logic [4:0]  gen;
  } line_t;

  // Where a line is on the chip.
  typedef struct packed {
    logic [13:0] set;
    logic [1:0]  way;
  } spot_t;

  typedef struct packed {
    line_t      line;
    spot_t     place;
    logic       aged;   // it was not used for AGE
    direction_t state;
  } answer_t;

  typedef struct packed {
    spot_t     place;
    logic       direction;
    direction_t state;
  } update_t;

  // Sets `followed` of a direction, or clears it if this is the direction's last record.
  typedef struct packed {
    line_t      line;
    logic       direction;
    logic       follow;
    logic [1:0] port;
    row_t       place;
  } mark_t;

  // ---- lines in card memory
  localparam int unsigned Homes = 16;     // lines of a bucket
  localparam int unsigned BucketW = 17;   // of the number of a bucket, at most
  localparam int unsigned TagW = 12;
  localparam int unsigned InFlight = 32;  // lookups of a port, and lines of a channel, that are under way

  // Directory entry of one line in card memory.
  typedef struct packed {
    logic            valid;
    logic [TagW-1:0] tag;    // of its flow's hash
    logic [4:0]      gen;
  } home_t;

  // A whole line, in card memory and when it moves.
  typedef struct packed {
    logic             valid;
    line_t            line;
    flow_key_t        key;
    logic [15:0]      used;    // 2^28 ns
    direction_t [1:0] states;
  } whole_t;

  // A lookup or a mark whose line is not on the chip.
  typedef struct packed {
    logic            is_mark;
    logic            is_none;    // a mark of a line that there is no longer
    logic [1:0]      port;
    logic [4:0]      number;     // of the port's lookups
    logic            direction;
    spot_t          place;      // that the line gets
    line_t           line;
    logic [TagW-1:0] tag;
    flow_key_t       key;
  } fetch_t;

  // ---- frames
  // A port of datagrams that may carry a packet.
  typedef struct packed {
    logic        from;
    logic        to;
    logic [15:0] number;
  } tunnel_t;

  // The header fields of a frame.
  typedef struct packed {
    logic [31:0] number;
    len_t        len;
    logic        search;     // it has payload of TCP or UDP
    logic        lookup;     // it has a flow line
    logic        syn;
    reasons_t    reasons;
    len_t        start;      // of the payload
    len_t        length;     // of the payload
    logic [31:0] seq;
    logic        direction;
    flow_key_t   key;
    logic [31:0] hash;       // of its flow
  } request_t;

  // The results for a frame when its last beat has been searched.
  typedef struct packed {
    logic [31:0] number;
    logic [7:0]  hash;
    len_t        len;
    len_t        start;
    len_t        length;
    logic        search;
    logic        lookup;
    logic        logs;
    logic        bank;
    reasons_t    reasons;
    logic [31:0] seq;
    logic        direction;
    line_t       line;
    logic [2:0]  known;
    prior_t     prior;
    logic        chained;
    logic [1:0]  chain_port;
    row_t        chain;
    row_t        first;
    row_t        place;      // of its record
  } info_t;

  typedef struct packed {
    logic              unchecked;
    logic              more;
    logic [2:0]        count;
    id_t [Ids-1:0]     ids;
  } result_t;

  // A beat on its way through the block, with the data of its frame.
  typedef struct packed {
    frame_meta_t      meta;
    verdict_t         verdict;
    tail_t            tail;
    logic             last;
    logic [DataW-1:0] data;
  } body_t;

  // An entry of the exact table.
  typedef struct packed {
    id_t         id;
    logic [3:0]  length;  // of the key; 0: empty
    logic [31:0] b;
    logic [31:0] a;
  } entry_t;

  typedef enum logic [1:0] {
    Lookup8 = 2'd0,
    Lookup4 = 2'd1,
    Lookup3 = 2'd2
  } lookup_e;

  function automatic logic [7:0] fold(logic [7:0] c);
    return (c >= 8'h41 && c <= 8'h5A) ? c | 8'h20 : c;
  endfunction

  // CRC-32C of a word. F is linear, so each bit of it is a sum of about half of the bits of x.
  function automatic logic [31:0] crc(logic [31:0] x);
    logic [31:0] c;
    c = x;
    for (int unsigned n = 0; n < 32; n++) c = (c >> 1) ^ (c[0] ? 32'h82F6_3B78 : 32'h0);
    return c;
  endfunction
endpackage
