# The parser of headers. Needs rtl.f.
-f rtl.f
../headers/fields_pkg.sv
header_parser.sv
