# The xdp engine. Needs lib/rtl/rtl.f.
-f ../../../lib/rtl/rtl.f
../isa/xdp_isa_pkg.sv
../regs/xdp_regs_pkg.sv
xdp_pkg.sv
xdp_decode.sv
xdp_operands.sv
xdp_registers.sv
xdp_lane_alu.sv
xdp_lane_load.sv
xdp_lane_store.sv
xdp_adjust.sv
xdp_stack.sv
xdp_packet_memory.sv
xdp_row_memory.sv
xdp_contexts.sv
xdp_row_limit.sv
xdp_store_guard.sv
xdp_core.sv
xdp_frames.sv
xdp_unit_maps.sv
xdp_division.sv
map_port.sv
xdp_requests.sv
xdp_window.sv
xdp.sv
xdp_unit.sv
-f maps/maps.f
