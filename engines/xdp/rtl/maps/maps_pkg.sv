// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0

// Words and links inside the card's maps (engines/xdp/maps.md).
package maps_pkg;
  import map_pkg::*;

  localparam int unsigned PortsPerGroup = 4;
  localparam int unsigned MaxChain = 16;      // entries of a bucket
  localparam int unsigned MaxLength = 128;    // bits of a prefix
  localparam int unsigned SeedWords = 17;     // of 64 bits
  localparam int unsigned LineRows = 16;      // of what moves between the chip and the card's memory
  localparam logic [31:0] Origin = 32'h8000_0000;

  typedef logic [15:0] row_t;   // of 16 bytes, in a bank
  typedef logic [7:0] length_t;
  typedef logic [3:0] group_t;
  typedef logic [1:0] port_t;

  // Linux' errors
  localparam logic [7:0] Okay         = 8'd0;
  localparam logic [7:0] NoEntry      = -8'sd2;
  localparam logic [7:0] TooBig       = -8'sd7;
  localparam logic [7:0] Exists       = -8'sd17;
  localparam logic [7:0] Invalid      = -8'sd22;
  localparam logic [7:0] NoSpace      = -8'sd28;

  typedef enum logic [2:0] {
    MapNone  = 3'd0,
    MapArray = 3'd1,
    MapHash  = 3'd2,
    MapLru   = 3'd3,
    MapLpm   = 3'd4
  } map_kind_e;

  // A map, as the host describes it: five words, the first lowest.
  typedef struct packed {
    row_t        stride;       // rows of an entry
    logic [9:0]  unused2;
    // halves of rows from a processor's value to the next one's: 1, or even; 0: all have the same value
    logic [5:0]  step;
    row_t        end_row;      // behind its last
    row_t        entries_row;  // of the first entry
    logic [10:0] unused1;
    logic [4:0]  buckets;      // 2^buckets of them in each bank
    row_t        base_row;     // of the first bucket; of an array, as entries_row
    logic [31:0] max_entries;
    logic [15:0] value_bytes;
    logic        unused0;
    logic [6:0]  key_bytes;
    logic [4:0]  none;
    map_kind_e   kind;
  } descriptor_t;

  // The first row of an entry. Its key follows, in as many rows as it needs, then its value.
  typedef struct packed {
    logic [63:0] nothing;
    logic [31:0] hash;
    logic [13:0] none;
    logic        mark;  // it was used since the hand has passed
    logic        used;
    row_t        next;  // of its chain, or of the free ones; 0 is none
  } entry_t;

  // On its way to a bank
  typedef struct packed {
    group_t      group;
    port_t       port;
    logic [31:0] hash;
    flit_t       flit;
  } errand_t;

  typedef struct packed {
    group_t      group;
    port_t       port;
    ctx_t        ctx;
    logic        probe;
    length_t     length;
    logic [7:0]  probes;
    logic [63:0] value;
  } result_t;

  // Entries are counted over all banks.
  typedef struct packed {
    logic    back;    // one less
    map_t    map;
    logic    prefix;  // of that length
    length_t length;
  } claim_t;

  // The bucket of a key, by its hash without the bank's bits
  function automatic logic [31:0] bucket_of(logic [31:0] hash, logic [4:0] buckets);
    return hash & ~(32'hFFFFFFFF << buckets);
  endfunction
endpackage
