// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0

// The part of the packages of library and shell that slot_pool.sv needs, with so few slots that a proof is quick.
package penstock_pkg;
  localparam int unsigned UnitsPerCluster = 2;
  localparam int unsigned MaxSlots = 3;

  typedef logic [5:0] slot_t;
  typedef logic [1:0] len_t;

  typedef struct packed {
    logic  free_valid;
    slot_t free_slot;
    logic  setup_valid;
    slot_t setup_count;
    len_t  setup_size;
  } slot_msg_t;
endpackage

package shell_pkg;
  typedef enum logic [1:0] {
    PolicyRoundRobin   = 2'd0,
    PolicyLeastLoaded  = 2'd1,
    PolicyFlowHash     = 2'd2,
    PolicyFlowHashDrop = 2'd3
  } policy_e;
endpackage
