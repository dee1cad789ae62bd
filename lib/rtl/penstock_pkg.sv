// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0

// Types that every block of the card shares: beats, destinations and the metadata of a frame.
package penstock_pkg;

  // The data path moves one beat of 64 bytes a cycle; byte 0 of a frame is bits [7:0] of its first beat.
  localparam int unsigned DataW = 512;
  localparam int unsigned BeatBytes = DataW / 8;

  // A beat of the AXI4-Stream of an Ethernet port (axis_if.sv).
  localparam int unsigned PortBytes = 2 * BeatBytes;

  // Between the Ethernet ports and the units' links a frame that is up to 16 bytes longer than a beat is one beat,
  // its rest a tail beside it. On 100 Gb/s frames of 65 to 75 bytes come faster than two beats pass; longer ones
  // leave time for all their beats.
  localparam int unsigned TailBytes = 16;
  localparam int unsigned TailW = 8 * TailBytes;

  typedef struct packed {
    logic valid;             // the frame is folded: this beat is its only one, and `data` its bytes from 64 on
    logic [TailW-1:0] data;
  } tail_t;

  // Longest frame that the card stores, in bytes without FCS. Longer ones are dropped at the port and counted.
  localparam int unsigned MaxFrame = 16384;
  // Shortest frame that is a frame: an Ethernet header. Shorter ones are dropped at the port and counted.
  localparam int unsigned MinFrame = 14;

  // Channels of card memory that an inline block reaches (engines/inline_block.sv).
  localparam int unsigned MemoryChannels = 8;
  // All channels of card memory: the last one is that of the maps that units share.
  localparam int unsigned CardChannels = MemoryChannels + 1;
  // Rows of a bank of maps that are on the chip.
  localparam int unsigned OnChipMapRows = 16384;

  localparam int unsigned MaxPorts = 4;
  localparam int unsigned MaxUnits = 32;
  localparam int unsigned UnitsPerCluster = 4;
  // Slots a unit may declare. They are numbered from 1, so a slot number takes six bits.
  localparam int unsigned MaxSlots = 32;

  typedef logic [15:0] len_t;   // bytes
  typedef logic [5:0] slot_t;   // 1..32; 0 is no slot
  typedef logic [4:0] unit_t;

  // The card's properties for a unit, on wires that never change. One unit, as netlist and as model, therefore fits
  // every card.
  typedef struct packed {
    logic [2:0] port_count;  // Ethernet ports
    logic [5:0] unit_count;
  } card_t;

  typedef logic [31:0] time_t;  // cycles since reset, modulo 2^32

  // The source or destination of a frame: the `port` byte of a descriptor.
  typedef logic [7:0] port_t;
  localparam port_t PortHost     = 8'h02;  // host queue
  localparam port_t PortLoopback = 8'h03;  // another unit, which the dispatcher chooses
  localparam port_t PortHostMem  = 8'h04;  // host memory: a write to it, and every answer from it
  localparam port_t PortHostRead = 8'h05;  // host memory: a read of it; never in a descriptor
  localparam port_t PortEthHigh  = 8'h08;  // 0x08 + n: Ethernet n. Ethernet 0 and 1 are also 0x00 and 0x01
  localparam port_t PortUnit     = 8'h40;  // 0x40 + u: unit u, over loopback
  localparam port_t PortBlock    = 8'h80;  // 0x80 + n: inline block n, which made the frame

  typedef logic [5:0] tenant_t;  // whose a frame is; 0: the system's

  // Metadata of a frame. It travels beside the first beat, never in a beat of its own.
  typedef struct packed {
    tenant_t tenant;
    logic [31:0] mark; // what an inline block or a program leaves for those behind it; 0 when the frame enters
    len_t  len;        // length in bytes, without FCS
    port_t src;        // where the frame entered the card; PortUnit + the unit, PortBlock + the block that made it
    port_t dst;        // where it goes (set by a unit when it sends)
    unit_t unit_id;    // the unit that holds it (set by the dispatcher)
    slot_t slot;       // its slot in that unit (set by the dispatcher); 0 when a program made it
    // cycle in which its first beat entered the card, or in which its unit began to send it
    time_t timestamp;
    logic [31:0] hash; // Toeplitz flow hash; 0 when the frame has no IP header
  } frame_meta_t;

  // The decision of an inline block on a frame. It travels beside the first beat, from block to block up to the exit
  // stage, which carries it out (shell/rtl/inline_exit.sv); after the dispatcher, frames have no verdict. A block that
  // decides nothing passes the verdict on unchanged.
  typedef enum logic [2:0] {
    VerdictOnward   = 3'd0,  // to the dispatcher, which goes by POLICY
    VerdictPort     = 3'd1,  // past the units, out of Ethernet port `target`
    VerdictHost     = 3'd2,  // past the units, to the host's queue `target`; a card has queue 0
    VerdictUnit     = 3'd3,  // to unit `target`, whatever POLICY says
    VerdictDispatch = 3'd4,  // to the unit that RETA names for the key `word`, whatever POLICY says
    VerdictDrop     = 3'd5   // the block drops the frame and counts `reason`; such a frame never leaves a block
  } verdict_kind_e;

  // Why the inline chain drops a frame.
  localparam int unsigned Reasons = 3;
  typedef enum logic [1:0] {
    ReasonBlocked  = 2'd0,  // the program says so
    ReasonOversize = 2'd1,  // the frame has become longer than MaxFrame
    ReasonRefused  = 2'd2   // the verdict names a port, unit or queue that the card does not have
  } reason_e;

  typedef struct packed {
    verdict_kind_e kind;
    port_t         target;
    reason_e       reason;
    logic [31:0]   word;
  } verdict_t;

  // The events that an inline block reports for a port's frames, each for one cycle.
  typedef struct packed {
    logic    made;      // it begins to send a frame that it made
    logic    absorbed;  // a frame ends in the block, as it was meant to
    logic    dropped;   // a frame ends in the block, for this reason
    reason_e reason;
  } block_event_t;

  localparam int unsigned MaxBlocks = 8;

  // A record between an inline block and its host driver, 64 bytes; byte 0 is bits [7:0]. The head has the same meaning
  // for all engines, `own` the engine's (lib/unit/src/record.rs).
  typedef struct packed {
    logic [319:0] own;       // bytes 24..63
    logic [31:0]  hash;      // 20..23: flow hash of the frame that it is about
    logic [31:0]  mark;      // 16..19
    logic [63:0]  at;        // 8..15: time in ns
    logic [15:0]  unused;    // 6..7
    logic [15:0]  queue_id;  // 4..5
    port_t        port;      // 3: Ethernet port, from 0
    logic [7:0]   tenant;    // 2
    logic [7:0]   reason;    // 1: what the record is, as the engine defines it
    logic [7:0]   block;     // 0: of a record to the host the block, which the shell writes
  } record_t;

  // Host memory is a destination and a source like any other (shell/rtl/host_mem.sv). In the metadata of requests and
  // answers `slot` is the tag that the unit gave, `unit_id` the unit.
  //   write request  dst PortHostMem, {timestamp, hash} its 64-bit address; the frame is what is written
  //   read request   dst PortHostRead, {timestamp, hash} its 64-bit address; one beat of HostReadBytes, which begins with a host_read_t
  //   answer         src PortHostMem, `hash` a host_answer_t; the frame is what was read, or, if it has no data, one beat without meaning
  localparam int unsigned HostReadBytes = 8;

  typedef logic [18:0] place_t;  // half word of a unit's packet memory

  typedef struct packed {
    place_t place;  // where the answer goes: the shell gives it back as it is
    len_t   len;    // bytes to read
  } host_read_t;

  typedef struct packed {
    logic        error;    // the card denied it, or the host refused some of it; of what was read, that part is zero
    logic        no_data;  // it answers a write, or a read that the card denied
    logic [10:0] unused;
    place_t      place;
  } host_answer_t;

  // A beat on the shell's own links, where nothing waits for a handshake and `meta` stays valid with all beats of its
  // frame.
  typedef struct packed {
    frame_meta_t      meta;
    logic             last;
    logic [DataW-1:0] data;
  } beat_t;

  // The room contract of the links without a handshake: `room` (also `ready` of a fifo_dist) is a register of the
  // receiver. A sender that sees it up may let a beat go; it does not look again before that beat arrives. In the cycle
  // in which `room` falls, the beats that were let go before are still on their way, and so is the one that the sender
  // lets go in the last cycle in which it sees `room` up. The receiver keeps places for all of them:
  //   registers of the sender, from `room` to the link + stages of the link there + stages back + 1
  // A link from a cluster to a unit has no stages of its own, as a cluster stands in one place (shell_pkg.sv has the
  // links that cross). switch_in has two registers; the tail of a folded frame follows its beat without another look.
  // A unit therefore has room for four beats while `rx_room` is up, and up to three still come from the cycle on in
  // which it falls.
  localparam int unsigned UnitSender = 2;
  localparam int unsigned UnitRoom = UnitSender + 1 + 1;

  // A unit's message to the dispatcher about its slots, at most one a cycle.
  typedef struct packed {
    logic  free_valid;   // one slot is free again
    slot_t free_slot;
    logic  setup_valid;  // the firmware has declared its slots: 1..setup_count, each of setup_size bytes of frame
    slot_t setup_count;
    len_t  setup_size;
  } slot_msg_t;

  // A word on its way from one unit to all others (broadcast_if.sv). Each unit has a region of this many bytes for
  // them.
  localparam int unsigned BroadcastBytes = 8192;

  typedef struct packed {
    logic [12:2] addr;  // in the region
    logic [3:0]  be;    // the bytes that were stored
    logic [31:0] data;
  } broadcast_t;

  // Number of beats of a frame of `len` bytes.
  function automatic logic [10:0] beats_of(len_t len);
    return 11'((17'(len) + 17'(BeatBytes - 1)) >> $clog2(BeatBytes));
  endfunction

  // Whether a frame of `len` bytes is folded where there are tails.
  function automatic logic is_folded(len_t len);
    return len > len_t'(BeatBytes) && len <= len_t'(BeatBytes + TailBytes);
  endfunction

endpackage
