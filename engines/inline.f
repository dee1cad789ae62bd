# Written by tools/registry.py from engines/engines.toml; change that.
-f flow/rtl/rtl.f
-f rmt/rtl/rtl.f
-f ids/rtl/rtl.f
-f l7/rtl/rtl.f
inline_block.sv
