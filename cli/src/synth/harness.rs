// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A frame around a block, so that one with thousands of ports fits a package of 365 pins and nothing but the block is
//! slow:
//!
//! ```text
//!  pins ─> shift registers ──> inputs │ block │ outputs ─> registers ─> folding shift registers ─> pins
//!          (one bit an input)                              (one bit an output; one XOR each)
//! ```
//!
//! There are [`CHAINS`] shift registers on each side, not one long one: yosys follows chains of registers by recursion,
//! and thousands of bits exhaust its stack.

use serde_json::Value;

/// Shift registers on each side, with a pin each.
const CHAINS: usize = 128;

/// A port of the block, as yosys names it (`rx.data` for the member of an interface).
#[derive(Debug, PartialEq)]
pub(crate) struct Port {
    pub name: String,
    pub width: usize,
    pub output: bool,
}

/// The ports of module `top` in yosys JSON.
pub(crate) fn ports(json: &str, top: &str) -> Result<Vec<Port>, String> {
    let design: Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
    let ports = design["modules"][top]["ports"].as_object().ok_or_else(|| format!("no module {top} in it"))?;
    ports
        .iter()
        .map(|(name, port)| {
            let width = port["bits"].as_array().ok_or_else(|| format!("port {name} has no bits"))?.len();
            Ok(Port { name: name.clone(), width, output: port["direction"] == "output" })
        })
        .collect()
}

/// Verilog of module `harness` around module `top`, whose clock is the port `clk`.
pub(crate) fn verilog(top: &str, ports: &[Port]) -> String {
    let total = |output| ports.iter().filter(|p| p.output == output && p.name != "clk").map(|p| p.width).sum::<usize>();
    let (inputs, outputs) = (total(false), total(true));
    let (mut next_input, mut next_output) = (0, 0);
    let connections: Vec<String> = ports
        .iter()
        .map(|port| {
            let (bus, next) = match (port.name.as_str(), port.output) {
                ("clk", _) => return "    .clk (clk)".to_string(),
                (_, true) => ("out", &mut next_output),
                (_, false) => ("in_q", &mut next_input),
            };
            let low = *next;
            *next += port.width;
            format!("    .\\{} ({bus}[{}:{low}])", port.name, *next - 1)
        })
        .collect();
    format!(
        "module harness (input clk, input [{chains}-1:0] si, output [{chains}-1:0] so);
  reg [{chains}+{inputs}-1:0] in_q;
  wire [{outputs}-1:0] out;
  reg [{outputs}-1:0] out_q;
  reg [{chains}+{outputs}-1:0] fold_q;
  always @(posedge clk) begin
    in_q <= {{in_q, si}};
    out_q <= out;
    fold_q <= {{fold_q, {chains}'b0}} ^ out_q;
  end
  assign so = fold_q[{outputs}+:{chains}];
  {top} dut (
{}
  );
endmodule
",
        connections.join(",\n"),
        chains = CHAINS,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_is_connected_once() {
        let json = r#"{"modules": {"t": {"ports": {
            "clk": {"direction": "input", "bits": [1]},
            "rx.data": {"direction": "input", "bits": [2, 3, 4]},
            "rx.ready": {"direction": "output", "bits": [5]},
            "unit_id": {"direction": "input", "bits": [6, 7]},
            "tx": {"direction": "output", "bits": [8, 9]}}}}}"#;
        let text = verilog("t", &ports(json, "t").unwrap());
        for expected in [
            ".clk (clk)",
            ".\\rx.data (in_q[2:0])",
            ".\\unit_id (in_q[4:3])",
            ".\\rx.ready (out[0:0])",
            ".\\tx (out[2:1])",
            "reg [128+5-1:0] in_q",
            "reg [3-1:0] out_q",
        ] {
            assert!(text.contains(expected), "{expected} is not in\n{text}");
        }
    }
}
