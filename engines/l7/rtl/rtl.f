# The l7 engine.
../regs/l7_regs_pkg.sv
l7_pkg.sv
l7_pool.sv
l7_cache.sv
l7_classes.sv
l7_filter.sv
l7_lane.sv
l7_park.sv
l7_walker.sv
l7_matcher.sv
l7_protocol.sv
l7_match.sv
l7_head.sv
l7_delivery.sv
l7_out.sv
l7_regs.sv
l7_block.sv
