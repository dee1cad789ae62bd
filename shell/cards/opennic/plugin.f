-f ../lib/card.f
opennic_plugin.sv
