# The rpu engine. Needs lib/rtl/rtl.f.
-f ../../../lib/rtl/rtl.f
../regs/rpu_regs_pkg.sv
rpu_pkg.sv
imem.sv
dmem.sv
pmem.sv
slot_table.sv
rx_dma.sv
tx_dma.sv
core_regs.sv
host_window.sv
broadcast_port.sv
-f core/core.f
accel_if.sv
accel_rows.sv
../accelerators/ip_prefix/ip_prefix.sv
../accelerators/flow_hash/toeplitz.sv
../accelerators/checksum/checksum.sv
../accelerators/crc32/crc32.sv
../accelerators/string_match/string_match.sv
accel.sv
rpu.sv
rpu_unit.sv
