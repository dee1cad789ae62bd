-f ../lib/card.f
card_design_pkg.sv
nic_sink.sv
mqnic_app_block.sv
