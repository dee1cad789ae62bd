# The parser of headers and the deparser, with what they stand on.
-f rtl.f
../headers/fields_pkg.sv
headers_pkg.sv
header_parser.sv
deparser.sv
