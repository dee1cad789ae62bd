-f ../lib/card.f
card_design_pkg.sv
nic_complete.sv
mqnic_app_block.sv
