-f ../../lib/rtl/rtl.f
shell_pkg.sv
flow_hash.sv
ingress.sv
slot_pool.sv
dispatcher.sv
switch_in.sv
switch_out.sv
frame_gather.sv
egress.sv
loopback.sv
stream_counters.sv
card_regs.sv
cfg_front.sv
card.sv
card_top.sv
