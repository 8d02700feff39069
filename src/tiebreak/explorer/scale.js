"use strict";
// Numbers and axes. On a log axis a place is the decimal logarithm of the value, so that zooming is the same on both.

const SUPERSCRIPT = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

function place(value, log) {
  if (value === null || value === undefined) return null;
  if (!log) return value;
  return value > 0 ? Math.log10(value) : null;
}

function readable(value, digits) {
  if (value === null) return "none";
  return String(Number(value.toPrecision(digits || 6))).replace("-", "−").replace("e−", "e-").replace("e+", "e");
}

function power(exponent) {
  return "10" + String(exponent).split("").map((sign) => SUPERSCRIPT[sign]).join("");
}

// A step of 1, 2 or 5 times a power of ten that cuts the span into about so many parts.
function niceStep(span, parts) {
  const rough = span / Math.max(parts, 1);
  const unit = Math.pow(10, Math.floor(Math.log10(rough)));
  const step = [1, 2, 5, 10].find((multiple) => multiple * unit >= rough * 0.999);
  return step * unit;
}

function linearTicks(low, high, parts) {
  const step = niceStep(high - low, parts);
  const digits = Math.max(1, Math.ceil(Math.log10(Math.max(Math.abs(low), Math.abs(high)) / step)) + 1);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step && found.length < 50; i++) {
    found.push({ place: i * step, label: readable(i * step, Math.min(digits, 15)) });
  }
  return found;
}

// Whole powers of ten where there are some; within a decade the values themselves.
function ticks(low, high, log, parts) {
  if (!(high > low)) return [];
  if (!log) return linearTicks(low, high, parts);
  if (high - low < 1.2) {
    return linearTicks(Math.pow(10, low), Math.pow(10, high), parts)
      .filter((tick) => tick.place > 0)
      .map((tick) => ({ place: Math.log10(tick.place), label: tick.label }));
  }
  const stride = Math.max(1, Math.ceil((high - low) / parts));
  const found = [];
  for (let k = Math.ceil(low / stride) * stride; k <= high; k += stride) found.push({ place: k, label: power(k) });
  return found;
}

// The interval of some places, a little wider; an interval of one place gets a width.
function around(places) {
  let low = Infinity, high = -Infinity;
  for (const at of places) {
    if (at !== null) {
      if (at < low) low = at;
      if (at > high) high = at;
    }
  }
  if (low > high) return [0, 1];
  const span = high - low;
  const margin = span > 1e-12 * Math.max(Math.abs(low), Math.abs(high)) ? 0.04 * span : Math.abs(low) * 0.1 || 0.5;
  return [low - margin, high + margin];
}
