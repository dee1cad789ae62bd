# The flow engine.
-f ../../../lib/rtl/headers.f
flow_pkg.sv
flow_program.sv
flow_extract.sv
flow_hash.sv
flow_predicates.sv
flow_functions.sv
flow_rows.sv
flow_stash.sv
flow_core.sv
