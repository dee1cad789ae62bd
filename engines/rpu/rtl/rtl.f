# The rpu engine. Needs lib/rtl/rtl.f.
-f ../../../lib/rtl/rtl.f
rpu_pkg.sv
imem.sv
dmem.sv
pmem.sv
slot_table.sv
rx_dma.sv
tx_dma.sv
core_regs.sv
host_window.sv
core/core_pkg.sv
core/core.sv
core/core_alu.sv
core/core_btb.sv
core/core_csr.sv
core/core_decode.sv
core/core_div.sv
core/core_mul.sv
core/core_regfile.sv
accel_if.sv
../accelerators/ip_prefix/ip_prefix.sv
accel_none.sv
accel.sv
rpu.sv
