# The xdp engine. Needs lib/rtl/rtl.f.
-f ../../../lib/rtl/rtl.f
../isa/xdp_isa_pkg.sv
../regs/xdp_regs_pkg.sv
xdp_pkg.sv
decode.sv
operands.sv
registers.sv
lane_alu.sv
lane_load.sv
lane_store.sv
adjust.sv
stack.sv
packet_memory.sv
row_memory.sv
contexts.sv
row_limit.sv
store_guard.sv
xdp_core.sv
frames.sv
unit_maps.sv
division.sv
map_port.sv
requests.sv
xdp_window.sv
xdp.sv
xdp_unit.sv
-f maps/maps.f
