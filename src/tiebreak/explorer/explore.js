"use strict";
// Moves the slack. Between two computed points: the mix of both answers. f, g and the curve are convex, so the mix is
// within the slack, f(x) and the curve lie below the chord, and the curve lies above the line of every price.

const data = JSON.parse(document.getElementById("data").textContent);
const points = data.points;
const byId = (id) => document.getElementById(id);
const slider = byId("slack");
const SVG = "http://www.w3.org/2000/svg";
const ZERO = 60; // so many of the slider's thousand places belong to slack 0 and the way to the smallest slack
const SHOWN = 40;
const NOISE = 1e-9; // of the largest entry: below it an entry is written as 0
const least = points[1].slack, most = points[points.length - 1].slack;

// Slack of a place of the slider, and back.
function slackAt(at) {
  if (at <= ZERO) return (least * at) / ZERO;
  return least * Math.pow(most / least, (at - ZERO) / (1000 - ZERO));
}
function placeOf(slack) {
  if (slack <= least) return (ZERO * slack) / least;
  return ZERO + ((1000 - ZERO) * Math.log(slack / least)) / Math.log(most / least);
}

// Shown with so many digits that both ends stay apart; the lower end rounded down, the upper end up.
function outward(low, high) {
  if (low === null && high === null) return "unknown";
  const size = Math.max(Math.abs(low || 0), Math.abs(high || 0)) || 1;
  const width = low === null || high === null ? 0 : high - low;
  const digits = Math.min(13, Math.max(6, Math.ceil(Math.log10(size / Math.max(width, 1e-16 * size))) + 2));
  const unit = Math.pow(10, Math.floor(Math.log10(size)) + 1 - digits);
  const down = low === null ? "−∞" : readable(low === 0 ? 0 : (Math.floor(low / unit) - 1) * unit, digits);
  const up = high === null ? "∞" : readable(high === 0 ? 0 : (Math.ceil(high / unit) + 1) * unit, digits);
  return "[" + down + ", " + up + "]";
}

function mixed(one, other, share) {
  return one === null || other === null ? null : (1 - share) * one + share * other;
}

// What is known at a slack: exactly at a computed point, by convexity between two.
function known(slack) {
  const next = points.findIndex((point) => point.slack >= slack * (1 - 1e-12));
  const after = points[next], before = points[next - 1];
  if (!before || after.slack <= slack * (1 + 1e-12)) return { ...after, between: false };
  const share = (slack - before.slack) / (after.slack - before.slack);
  const lines = points.filter((point) => point.line !== null && point.price !== null)
    .map((point) => point.line - point.price * (slack - point.slack) - 1e-14 * (Math.abs(point.line) + point.price * Math.abs(slack - point.slack)));
  const lower = Math.max(...lines, after.lower === null ? -Infinity : after.lower);
  return {
    slack, between: true, proved: before.proved && after.proved, price: null,
    lower: lower === -Infinity ? null : lower,
    upper: mixed(before.upper, after.upper, share),
    f: mixed(before.f, after.f, share), g: mixed(before.g, after.g, share),
    x: after.x.map((value, k) => mixed(before.x[k], value, share)),
  };
}

function element(parent, name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

// The frame of the chart: horizontally the places of the slider, vertically f.
const frame = { left: 78, right: 12, top: 10, bottom: 44, height: 320, width: 600 };
let y;
function horizontal(slack) {
  return frame.left + (placeOf(slack) / 1000) * (frame.width - frame.left - frame.right);
}

function drawCurve() {
  const chart = byId("curve").querySelector("svg");
  chart.textContent = "";
  frame.width = Math.max(280, chart.clientWidth);
  chart.setAttribute("viewBox", "0 0 " + frame.width + " " + frame.height);
  const [low, high] = around(points.flatMap((point) => [point.f, point.lower, point.upper].filter((value) => value !== null)));
  const inner = frame.height - frame.top - frame.bottom;
  y = (value) => frame.top + inner * (1 - (value - low) / (high - low));
  for (const tick of ticks(low, high, false, 6)) {
    element(chart, "line", { class: "gridline", x1: frame.left, x2: frame.width - frame.right, y1: y(tick.place), y2: y(tick.place) });
    element(chart, "text", { class: "tick", x: frame.left - 6, y: y(tick.place) + 4, "text-anchor": "end" }, tick.label);
  }
  element(chart, "text", { class: "tick", x: horizontal(0), y: frame.height - 22, "text-anchor": "middle" }, "0");
  for (const tick of ticks(Math.log10(least), Math.log10(most), true, frame.width / 90)) {
    if (horizontal(Math.pow(10, tick.place)) - horizontal(0) > 30) element(chart, "text", { class: "tick", x: horizontal(Math.pow(10, tick.place)), y: frame.height - 22, "text-anchor": "middle" }, tick.label);
  }
  element(chart, "text", { class: "tick", x: (frame.left + frame.width) / 2, y: frame.height - 4, "text-anchor": "middle" }, "slack");
  const grid = data.convex ? Array.from({ length: 201 }, (_, k) => known(slackAt(5 * k))) : points;
  const band = grid.filter((at) => at.lower !== null && at.upper !== null);
  const path = band.map((at) => [horizontal(at.slack), y(at.upper)]).concat(band.map((at) => [horizontal(at.slack), y(at.lower)]).reverse());
  if (band.length) element(chart, "path", { class: "band", d: "M" + path.map((pair) => pair.map((value) => value.toFixed(2)).join(",")).join("L") + "Z" });
  for (const point of points) {
    element(chart, "circle", { class: point.proved ? "point" : "point doubtful", cx: horizontal(point.slack), cy: y(point.f), r: 3.5 });
  }
  element(chart, "line", { id: "here", y1: frame.top, y2: frame.height - frame.bottom });
  element(chart, "circle", { id: "dot", r: 6 });
}

// The entries of x that change most over the curve.
const changes = data.names.map((_, k) => {
  const values = points.map((point) => point.x[k]).filter((value) => value !== null);
  return { k, low: Math.min(0, ...values), high: Math.max(0, ...values), range: Math.max(...values) - Math.min(...values) };
}).sort((one, other) => other.range - one.range).slice(0, SHOWN).sort((one, other) => one.k - other.k);
let bars = [];

function drawBars() {
  const chart = byId("bars").querySelector("svg");
  chart.textContent = "";
  const width = Math.max(280, chart.clientWidth), height = 22 * changes.length + 30, left = Math.min(150, width / 3), right = 70;
  chart.setAttribute("viewBox", "0 0 " + width + " " + height);
  const low = Math.min(...changes.map((one) => one.low)), high = Math.max(...changes.map((one) => one.high));
  const span = high - low || 1, at = (value) => left + ((value - low) / span) * (width - left - right);
  bars = changes.map((one, i) => {
    const top = 22 * i + 4;
    const name = data.names[one.k];
    const label = element(chart, "text", { class: "tick", x: left - 6, y: top + 12, "text-anchor": "end" }, name.length > 20 ? name.slice(0, 19) + "…" : name);
    element(label, "title", {}, name);
    return { k: one.k, at, scale: Math.max(high, -low), bar: element(chart, "rect", { class: "bar", y: top, height: 16, rx: 2 }), value: element(chart, "text", { class: "tick", x: width - right + 6, y: top + 12 }, "") };
  });
  element(chart, "line", { class: "axis", x1: at(0), x2: at(0), y1: 0, y2: 22 * changes.length + 4 });
  const left_out = data.size - changes.length;
  byId("bars").querySelector("figcaption").textContent = left_out > 0 ? "The " + changes.length + " of " + data.size + " entries that change most over the curve." : "";
}

function show() {
  let slack = slackAt(Number(slider.value));
  if (!data.convex) slack = points.reduce((best, point) => (Math.abs(placeOf(point.slack) - slider.value) < Math.abs(placeOf(best.slack) - slider.value) ? point : best)).slack;
  const near = points.find((point) => Math.abs(placeOf(point.slack) - slider.value) < 0.5);
  const now = known(near ? near.slack : slack);
  const most_ = now.between ? "at most " : "";
  byId("chosen").textContent = readable(now.slack, 4);
  byId("kind").textContent = (now.between ? "Between two computed points: x is the mix of both answers." : "A computed point.") + (now.proved ? "" : " Not proved to the tolerances; the bracket holds.");
  byId("bracket").textContent = outward(now.lower, now.upper);
  byId("f").textContent = most_ + readable(now.f, 8);
  byId("above").textContent = now.g === null || data.g[0] === null ? "unknown" : "at most " + readable(Math.max(now.g - data.g[0], 0), 4);
  byId("g").textContent = outward(data.g[0], data.g[1]);
  byId("price").textContent = now.price === null ? "–" : readable(now.price, 4);
  const here = byId("here"), dot = byId("dot"), x = horizontal(now.slack);
  here.setAttribute("x1", x);
  here.setAttribute("x2", x);
  dot.setAttribute("cx", x);
  dot.setAttribute("cy", now.f === null ? 0 : y(now.f));
  for (const one of bars) {
    const value = now.x[one.k] === null ? 0 : now.x[one.k], from = Math.min(one.at(0), one.at(value));
    one.bar.setAttribute("x", from);
    one.bar.setAttribute("width", Math.max(Math.abs(one.at(value) - one.at(0)), 0.5));
    one.value.textContent = Math.abs(value) < NOISE * one.scale ? "0" : readable(value, 4);
  }
  rows.forEach((row, k) => row.classList.toggle("now", !now.between && points[k].slack === now.slack));
  slider.setAttribute("aria-valuetext", "slack " + readable(now.slack, 4));
}

function go(slack) {
  slider.value = Math.round(placeOf(slack));
  show();
}

const rows = [...document.querySelectorAll("#points tbody tr")];
rows.forEach((row, k) => {
  const button = document.createElement("button");
  button.textContent = row.cells[0].textContent;
  button.addEventListener("click", () => go(points[k].slack));
  row.cells[0].replaceChildren(button);
});
byId("curve").querySelector("svg").addEventListener("click", (event) => {
  const box = event.currentTarget.getBoundingClientRect();
  const share = (((event.clientX - box.left) / box.width) * frame.width - frame.left) / (frame.width - frame.left - frame.right);
  slider.value = Math.round(1000 * Math.min(1, Math.max(0, share)));
  show();
});
slider.addEventListener("input", show);
for (const id of ["control", "curve", "bars"]) byId(id).hidden = false;
function draw() {
  drawCurve();
  drawBars();
  show();
}
window.addEventListener("resize", draw);
draw();
