// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0

// Types of the shell's own: dispatch policies and the events that its blocks report to the counters.
package shell_pkg;
  import penstock_pkg::*;

  // Values of the register POLICY (shell/regs/card.rdl).
  typedef enum logic [1:0] {
    PolicyRoundRobin   = 2'd0,
    PolicyLeastLoaded  = 2'd1,
    PolicyFlowHash     = 2'd2,  // waits while the unit is full
    PolicyFlowHashDrop = 2'd3   // drops while the unit is full
  } policy_e;

  // Register stages, each way, of the links that may cross from one die to another: the parameter `Stages` of the card,
  // 16'h1121 for example. Up to MaxStages each, for which the maps have room, too (map_pkg.sv).
  typedef struct packed {
    // between the clusters and the card's parts in front of them, each way: frames, answers of host memory, free slots,
    // places over loopback, requests to maps
    logic [3:0] clusters;
    logic [3:0] exits;          // from the clusters, and past the units, to exits, loopback and host memory
    logic [3:0] broadcast;      // to the one place through which all words go, and back to the units
    logic [3:0] configuration;  // to units, maps and inline blocks
  } link_stages_t;
  localparam int unsigned MaxStages = map_pkg::LinkStages;

  // The room contract (penstock_pkg.sv) allows senders so many registers of their own. The dispatcher has two and the
  // loopback one; switch_out has two, a port's way past the units one; a cluster's broadcast has one.
  localparam int unsigned ClusterSender = 3;
  localparam int unsigned ExitSender = 6;
  localparam int unsigned BroadcastSender = 2;

  // Words for which a receiver keeps places: those in the sender, in the stages there, in those of `room` back, and the
  // one that the sender lets go now.
  function automatic int unsigned room_of(int unsigned sender, int unsigned stages);
    return sender + 2 * stages + 1;
  endfunction

  // Where the inline chain tells the dispatcher to send a frame, whatever POLICY is. Beside the frame's first beat.
  typedef struct packed {
    logic to_unit;      // to the unit of this number
    logic to_key;       // to the unit that RETA names for this key
    logic [6:0] word;   // neither: the dispatcher goes by POLICY
  } told_t;

  // Frames of these ports whose first VLAN tag has this id are of the tenant from now on.
  typedef struct packed {
    logic valid;
    logic [11:0] vlan;
    logic [MaxPorts-1:0] ports;  // a bit each
    tenant_t tenant;
  } tenant_write_t;

  // Events that a stream's entry reports, each for one cycle.
  typedef struct packed {
    logic frame;      // a frame entered whole,
    len_t bytes;      // of so many bytes
    logic overflow;   // a frame was dropped, and why
    logic oversize;
    logic runt;
    logic damaged;
    logic disabled;
    logic [15:0] level;  // rows of the ring that wait now
  } rx_event_t;

  // Events that the dispatcher reports for a source.
  typedef struct packed {
    logic oversize;  // a frame was dropped because it was longer than a slot
    logic policy;    // a frame was dropped by policy
    logic stall;     // a frame waits for a slot
  } dispatch_event_t;

  // The request of the loopback to the dispatcher: a place for a frame that unit `from` would send.
  typedef struct packed {
    unit_t from;
    port_t dst;
    len_t  len;
    logic [6:0] hash;
  } loop_request_t;

  // The answer. `granted`: `unit_id` and `slot` are the frame's; `again`: they are not free yet, ask again; neither: it was dropped, and counted.
  typedef struct packed {
    logic  valid;
    logic  granted;
    logic  again;
    unit_t from;
    unit_t unit_id;
    slot_t slot;
  } loop_answer_t;

  // Events that a stream's exit reports.
  typedef struct packed {
    logic frame;  // a frame left,
    len_t bytes;  // of so many bytes
    logic stall;  // the receiver was not ready
    logic [3:0] unsent;  // frames that were dropped because it has not been for too long
  } tx_event_t;

  // A time that the host sets for the card to wait
  typedef logic [23:0] cycles_t;

  // Until the host sets others: 16 µs, in which frames of 64 bytes at line rate fill half of a port's ring, so an exit
  // that gets stuck costs frames for other exits nothing;
  localparam cycles_t ExitTimeout = 24'd4096;
  // and 4 ms, longer than a program works that still does anything.
  localparam cycles_t UnitTimeout = 24'd1048576;

  // Host memory that a unit may read and write: bytes `base` to `limit`, both included; none if `base` is above `limit`.
  typedef struct packed {
    logic [63:0] base;
    logic [63:0] limit;
  } host_range_t;

  // Until the host gives a unit another range
  localparam host_range_t NoRange = '{base: '1, limit: '0};

  // Event that host memory reports: a request was answered.
  typedef struct packed {
    logic denied;  // it had a byte outside the range of its unit; none of the others is set
    logic read;
    logic write;
    logic error;  // wholly or in part refused by the host
    len_t bytes;
  } host_event_t;

  // A read that a unit asks for.
  typedef struct packed {
    logic denied;  // it must not reach the host
    logic [63:0] addr;
    unit_t unit_id;
    slot_t tag;
    len_t len;
    place_t place;
  } host_request_t;

  // A write that was answered, and a read.
  typedef struct packed {
    logic denied;
    logic error;
    unit_t unit_id;
    slot_t tag;
    len_t len;
  } host_write_done_t;

  typedef struct packed {
    logic denied;  // no data
    logic error;
    unit_t unit_id;
    slot_t tag;
    len_t len;
    place_t place;
  } host_read_done_t;

  // Where frames of Ethernet port `number` enter the card
  function automatic port_t eth_port(port_t number);
    return number < port_t'(2) ? number : PortEthHigh + number;
  endfunction

  // The exit that a destination names on a card of so many ports: a bit for each port, then one for the host; none, and it is no exit.
  function automatic logic [MaxPorts:0] exit_of(port_t dst, int unsigned ports);
    logic [MaxPorts:0] exits;
    exits = '0;
    for (int unsigned p = 0; p < ports; p++) exits[p] = (p < 2 && dst == 8'(p)) || dst == PortEthHigh + 8'(p);
    exits[ports] = dst == PortHost;
    return exits;
  endfunction

  // Number of bytes that a contiguous `tkeep` of one beat stands for.
  function automatic logic [6:0] keep_bytes(logic [BeatBytes-1:0] keep);
    logic [3:0] groups;
    logic [7:0] rest;
    logic [3:0] ones;
    groups = '0;
    for (int unsigned g = 0; g < 8; g++) groups += 4'(keep[g*8+7]);
    rest = groups[3] ? 8'b0 : keep[{groups[2:0], 3'b0}+:8];
    ones = '0;
    for (int unsigned i = 0; i < 8; i++) ones += 4'(rest[i]);
    return {groups, 3'b0} + 7'(ones);
  endfunction

  // The `tkeep` of `bytes` bytes on a port (1..128, the low 7 bits of the length; 0 is 128).
  function automatic logic [PortBytes-1:0] bytes_keep(logic [6:0] bytes);
    return bytes == 0 ? '1 : ~({PortBytes{1'b1}} << bytes);
  endfunction
endpackage
