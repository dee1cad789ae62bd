# The flow engine. Needs lib/rtl/headers.f.
-f ../../../lib/rtl/headers.f
../regs/flow_regs_pkg.sv
flow_pkg.sv
choices_pkg.sv
edit_pkg.sv
flow_program.sv
flow_extract.sv
flow_places.sv
flow_predicates.sv
flow_functions.sv
flow_rows.sv
flow_update.sv
flow_stash.sv
flow_core.sv
flow_act.sv
flow_events.sv
flow_counters.sv
flow_host.sv
flow_element.sv
flow_stage.sv
flow_chain.sv
flow_frames.sv
flow_clock.sv
flow_regs.sv
flow_block.sv
