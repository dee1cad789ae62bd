-f ../../rtl/rtl.f
-f lib.f
../regs/bar_regs_pkg.sv
axi_none.sv
mac_rx.sv
mac_tx.sv
bar_front.sv
shell_card.sv
