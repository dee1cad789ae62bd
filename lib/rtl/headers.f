# The parser of headers, with what it stands on.
-f rtl.f
../headers/fields_pkg.sv
header_parser.sv
