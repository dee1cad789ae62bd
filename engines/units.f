# Written by tools/registry.py from engines/engines.toml; change that.
-f rpu/rtl/rtl.f
-f xdp/rtl/rtl.f
unit.sv
