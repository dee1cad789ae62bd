// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The wires between the card and one unit, as two bundles of whole 32-bit words that the clock loop copies.
package split_pkg;
  import penstock_pkg::*;

  localparam int unsigned BundleW = 992;

  typedef struct packed {
    logic             rx_valid;
    logic             tx_ready;
    logic             loop_answer;
    logic             loop_granted;
    unit_t            loop_unit_id;
    slot_t            loop_slot;
    logic             bc_out_ready;
    logic             bc_in_valid;
    unit_t            bc_from;
    broadcast_t       bc_in;
    logic             cfg_req;
    logic             cfg_we;
    logic [25:0]      cfg_addr;
    logic [31:0]      cfg_wdata;
    logic             map_room;
    logic             map_reply_valid;
    map_pkg::reply_t  map_reply;
    beat_t            rx;
  } to_unit_t;

  typedef struct packed {
    logic             tx_valid;
    logic             tx_last;
    frame_meta_t      tx_meta;
    logic             rx_room;
    logic             loop_valid;
    port_t            loop_dst;
    len_t             loop_len;
    logic [6:0]       loop_hash;
    logic             bc_out_valid;
    broadcast_t       bc_out;
    slot_msg_t        slots;
    logic             cfg_ack;
    logic             cfg_err;
    logic [31:0]      cfg_rdata;
    logic             map_valid;
    map_pkg::flit_t   map_flit;
    logic [DataW-1:0] tx_data;
  } from_unit_t;
endpackage

`default_nettype wire
