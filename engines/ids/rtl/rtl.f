# The ids engine. Needs lib/rtl/headers.f.
-f ../../../lib/rtl/headers.f
../regs/ids_regs_pkg.sv
ids_pkg.sv
ids_parse.sv
ids_answers.sv
ids_directory.sv
ids_channel.sv
ids_flow.sv
ids_window.sv
ids_bitmap.sv
ids_filter.sv
ids_exact.sv
ids_hold.sv
ids_out.sv
ids_records.sv
ids_regs.sv
ids_block.sv
