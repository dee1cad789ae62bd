# The card's maps.
-f ../../../../lib/rtl/rtl.f
../../regs/xdp_regs_pkg.sv
maps_pkg.sv
map_hash.sv
map_prefixes.sv
map_longest.sv
map_group.sv
map_ledger.sv
map_changes.sv
map_cache.sv
map_bank.sv
map_memory.sv
map_host.sv
card_maps.sv
