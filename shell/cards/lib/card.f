-f ../../rtl/rtl.f
-f lib.f
../regs/bar_regs_pkg.sv
axi_none.sv
axi_one_id.sv
axi_cross.sv
axi_finish.sv
memory_port.sv
card_memory.sv
mac_rx.sv
mac_tx.sv
host_mark.sv
rows_to_beats.sv
beats_to_rows.sv
bar_front.sv
shell_card.sv
