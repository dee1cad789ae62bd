// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// Asks the card's server for its state each second, and shows it.
"use strict";

const WIRE_OVERHEAD = 24; // bytes of a frame's FCS, preamble and gap
const KEPT = 180; // points of the plot
const SVG = "http://www.w3.org/2000/svg";

const at = (id) => document.getElementById(id);
const grouped = (number) => number.toLocaleString("en-US");
// A rate in three digits; before the second look there is none.
function short(number) {
  if (number === null) return "–";
  return number > 0 && number < 0.001 ? "< 0.001" : Number(number.toPrecision(3)).toString();
}
let before = null;
const points = [];

// An element with a text or children.
function make(name, content = "", attributes = {}) {
  const element = document.createElement(name);
  element.append(...[content].flat());
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

// A table whose columns from `text` on hold numbers.
function fill(table, heads, rows, text = 1) {
  const cell = (name) => (content, column) => make(name, content, column < text ? {} : { class: "n" });
  const line = (cells, name) => make("tr", cells.map(cell(name)));
  table.replaceChildren(line(heads, "th"), ...rows.map((row) => line(row, "td")));
}

// Rates at each port since the look before.
function rates(card, old) {
  const of = (port, way) => {
    const was = old && old.ports.find((other) => other.port === port.port);
    if (!was) return { mpps: null, gbps: null };
    const seconds = card.seconds - old.seconds;
    const frames = port[way + "_frames"] - was[way + "_frames"];
    const bytes = port[way + "_bytes"] - was[way + "_bytes"];
    return { mpps: frames / seconds / 1e6, gbps: ((bytes + WIRE_OVERHEAD * frames) * 8) / seconds / 1e9 };
  };
  return card.ports.map((port) => ({ port, rx: of(port, "rx"), tx: of(port, "tx") }));
}

function plot() {
  const [left, right, top, bottom] = [46, 1150, 10, 165];
  const highest = Math.max(...points.map((point) => Math.max(point.rx, point.tx)), 0.001);
  const x = (index) => right - (points.length - 1 - index) * ((right - left) / (KEPT - 1));
  const y = (value) => bottom - (value / highest) * (bottom - top);
  const line = (way, kind) => {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("class", "line " + kind);
    const step = (point, index) => `${index ? "L" : "M"}${x(index).toFixed(1)} ${y(point[way]).toFixed(1)}`;
    path.setAttribute("d", points.map(step).join(""));
    return path;
  };
  const label = (value) => {
    const text = document.createElementNS(SVG, "text");
    text.setAttribute("class", "ytick");
    text.setAttribute("x", left - 6);
    text.setAttribute("y", y(value) + 4);
    text.textContent = short(value);
    return text;
  };
  const axis = document.createElementNS(SVG, "path");
  axis.setAttribute("class", "grid");
  axis.setAttribute("d", `M${left} ${top}H${right}M${left} ${bottom}H${right}`);
  at("plot").replaceChildren(axis, label(0), label(highest), line("rx", "flow"), line("tx", "drop"));
}

function tiles(sum, card) {
  const drops = Object.values(card.drops).reduce((all, one) => all + one, 0);
  const made = card.units.reduce((all, unit) => all + unit.generated, 0);
  const part = (kind, content) => make("div", content, { class: kind });
  const tile = (what, big, unit, more) =>
    part("tile", [part("what", what), part("big", [big + " ", make("small", unit)]), part("more", more)]);
  const frames = (way) => grouped(card.ports.reduce((all, port) => all + port[way + "_frames"], 0)) + " frames";
  at("tiles").replaceChildren(
    tile("In", short(sum.rx), "Gb/s", `${short(sum.rxm)} Mpps, ${frames("rx")}`),
    tile("Out", short(sum.tx), "Gb/s", `${short(sum.txm)} Mpps, ${frames("tx")}`),
    tile("Dropped", grouped(drops), "frames", "since the card is up"),
    tile("Made", grouped(made), "frames", "by programs"),
  );
}

function show(card) {
  // The server gives one state to all pages that ask within half a second.
  if (before && before.process === card.process && before.seconds === card.seconds) return;
  // Another card at the same place has counted from zero.
  const old = before && before.process === card.process && before.seconds < card.seconds ? before : null;
  if (!old) points.length = 0;
  const each = rates(card, old);
  const add = (way, unit) => (old ? each.reduce((all, one) => all + one[way][unit], 0) : null);
  const sum = { rx: add("rx", "gbps"), tx: add("tx", "gbps"), rxm: add("rx", "mpps"), txm: add("tx", "mpps") };
  if (old) points.push(sum);
  if (points.length > KEPT) points.shift();
  before = card;

  document.title = `${card.design} – Penstock`;
  at("design").textContent = card.design;
  const facts = [card.driver, `up for ${grouped(Math.round(card.seconds))} s`, `process ${card.process}`];
  at("facts").replaceChildren(...facts.map((fact) => make("span", fact)));
  at("faulty").hidden = card.faults.length === 0;
  at("faults").replaceChildren(...card.faults.map((fault) => make("li", fault)));
  tiles(sum, card);
  plot();
  at("drawing").innerHTML = card.drawing; // made by the server, with every name escaped
  const link = { down: " (down)", gone: " (gone)" };
  const port = ({ port, rx, tx }) => {
    const interface_ = port.interface ? port.interface + (link[port.link] || "") : "–";
    return [port.port, interface_, ...[rx.mpps, rx.gbps, tx.mpps, tx.gbps].map(short)];
  };
  fill(at("ports"), ["port", "interface", "in, Mpps", "Gb/s", "out, Mpps", "Gb/s"], each.map(port), 2);
  const drops = Object.entries(card.drops);
  const most = Math.max(...drops.map(([, count]) => count), 1);
  at("drops").replaceChildren(...(drops.length ? drops.flatMap(([reason, count]) => {
    const bar = make("i");
    bar.style.width = (100 * count) / most + "%";
    return [make("span", reason), bar, make("span", grouped(count))];
  }) : [make("span", "none")]));
  const unit = (one) => {
    const counts = [one.rx_frames, one.tx_frames, one.generated, one.blocked, one.refused];
    return [`${one.unit} ${one.group || ""}`, one.state, `${one.held}/${one.slots}`, ...counts.map(grouped), one.at];
  };
  const unitHeads = ["unit", "state", "held", "in", "out", "made", "blocked", "refused", "at"];
  fill(at("units"), unitHeads, card.units.map(unit), 2);
  at("inline").hidden = card.blocks.length === 0;
  const block = (one) => {
    const counts = [one.frames, one.made, one.absorbed, one.blocked];
    return [one.name || "–", one.engine, ...counts.map(grouped)];
  };
  fill(at("blocks"), ["block", "engine", "frames", "made", "absorbed", "blocked"], card.blocks.map(block), 2);
  const own = (one) => one.own.map((line) => (one.name ? one.name + "." : "") + line);
  at("own").textContent = card.blocks.flatMap(own).join("\n");
  const view = (one) => make("section", [make("h2", one.title), make("pre", one.text)]);
  at("views").replaceChildren(...card.views.map(view));
  programs(card);
}

function programs(card) {
  // A button that is replaced while somebody presses it is not clicked.
  const now = JSON.stringify([card.loaded, card.acts]);
  if (now === at("programs").dataset.shown) return;
  at("programs").dataset.shown = now;
  // A group of units changes its program unit by unit, a block between two frames.
  const request = ({ units, group }) =>
    units ? { do: "reload", group: group || null, program: null } : { do: "swap", group: group || "", program: null };
  const button = (about) => {
    const reload = make("button", "Compile and load again", { type: "button" });
    reload.addEventListener("click", () => act("do", request(about)));
    return reload;
  };
  const row = (about) => {
    const cells = [about.group || "–", about.engine, about.file, (about.tables || []).join(", ")];
    return card.acts ? [...cells, button(about)] : cells;
  };
  fill(at("programs"), ["group", "engine", "file", "tables", ...(card.acts ? [""] : [])], card.loaded.map(row), 5);
  at("control").hidden = !card.acts;
  at("rights").textContent = card.acts
    ? "Whoever has the card's token can load programs and ask services."
    : "This page only shows: the card has no token (up --web-token).";
}

async function act(path, body) {
  at("answer").textContent = "…";
  try {
    const headers = { Authorization: "Bearer " + at("token").value };
    const answer = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
    at("answer").textContent = (await answer.text()) || "done";
  } catch (error) {
    at("answer").textContent = String(error);
  }
}

// Words as a shell reads them, with quotes of both kinds.
function words(line) {
  return (line.match(/"[^"]*"|'[^']*'|\S+/g) || []).map((word) => word.replace(/^(["'])(.*)\1$/, "$2"));
}

at("control").addEventListener("submit", (event) => {
  event.preventDefault();
  act("ctl", words(at("line").value));
});

const tip = at("tip");
document.addEventListener("pointermove", (event) => {
  const owner = event.target.closest("[data-tip]");
  tip.style.opacity = owner ? 1 : 0;
  if (!owner) return;
  tip.textContent = owner.dataset.tip;
  tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8) + "px";
  tip.style.top = event.clientY + 18 + "px";
});

async function look() {
  try {
    const answer = await fetch("card");
    if (!answer.ok) throw new Error(await answer.text());
    show(await answer.json());
    at("away").hidden = true;
  } catch (error) {
    at("why").textContent = error.message;
    at("away").hidden = false;
  }
  setTimeout(look, 1000);
}
look();
