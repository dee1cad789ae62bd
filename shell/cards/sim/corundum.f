-f ../corundum/app.f
../../../lib/sim/axi_memory.sv
corundum_shell.sv
