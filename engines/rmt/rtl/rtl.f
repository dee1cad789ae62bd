# The rmt engine. Needs lib/rtl/rtl.f.
-f ../../../lib/rtl/rtl.f
../regs/rmt_regs_pkg.sv
rmt_pkg.sv
rmt_parse_pkg.sv
rmt_delay.sv
rmt_ram.sv
rmt_checksum.sv
rmt_window.sv
rmt_entry.sv
rmt_settle.sv
rmt_step.sv
rmt_transition.sv
rmt_parser.sv
rmt_key.sv
rmt_exact.sv
rmt_ternary.sv
rmt_lpm.sv
rmt_register.sv
rmt_counter.sv
rmt_units.sv
rmt_action.sv
rmt_stage.sv
rmt_pack.sv
rmt_deparser.sv
rmt_out.sv
rmt_regs.sv
rmt_block.sv
