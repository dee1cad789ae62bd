// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// Written by tools/registry.py from engines/engines.toml; change that.
`default_nettype none

package engines_pkg;
  // Whether units of the engine share maps, which the module card_maps serves
  function automatic bit engine_has_maps(int number);
    return number == 1;
  endfunction
endpackage

`default_nettype wire
