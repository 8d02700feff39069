// Drawing: elements, and the markers that tell the curves apart without colour.

const SVG = "http://www.w3.org/2000/svg";

function draw(parent, name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  if (parent) parent.append(element);
  return element;
}

function html(parent, name, attributes, text) {
  const element = document.createElement(name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  if (parent) parent.append(element);
  return element;
}

const MARKERS = {
  circle: "M-3.5,0a3.5,3.5 0 1,0 7,0a3.5,3.5 0 1,0 -7,0z",
  square: "M-3.2,-3.2h6.4v6.4h-6.4z",
  triangle: "M0,-4.2L4,3L-4,3z",
  diamond: "M0,-4.6L4.6,0L0,4.6L-4.6,0z",
  cross: "M-3.5,-3.5L3.5,3.5M-3.5,3.5L3.5,-3.5",
  plus: "M-4.5,0H4.5M0,-4.5V4.5",
  down: "M0,4.2L4,-3L-4,-3z",
  ring: "M-3.8,0a3.8,3.8 0 1,0 7.6,0a3.8,3.8 0 1,0 -7.6,0z",
  star: "M0,-9L2.2,-2.8L8.6,-2.8L3.4,1.1L5.3,7.3L0,3.5L-5.3,7.3L-3.4,1.1L-8.6,-2.8L-2.2,-2.8z",
};

function mark(parent, kind, x, y) {
  draw(parent, "path", {
    class: kind === "ring" ? "mark hollow" : "mark",
    d: MARKERS[kind],
    transform: `translate(${x.toFixed(1)},${y.toFixed(1)})`,
  });
}

// All points of a short curve; of a long one, one for every so many pixels it has gone. A reference line has none.
// Curves begin at different places, so that the markers of two that coincide do not.
function marked(curve, pixels, inside, along, index) {
  const there = pixels.filter((pixel) => pixel !== null && inside(pixel));
  if (!curve.marker || (curve.role === "truth" && pixels.length > 1)) return [];
  if (there.length <= 25) return there;
  const found = [];
  let gone = (index * 29) % 70, last = there[0];
  for (const pixel of there) {
    gone += along === "path" ? Math.hypot(pixel[0] - last[0], pixel[1] - last[1]) : Math.abs(pixel[0] - last[0]);
    last = pixel;
    if (gone >= 70) {
      found.push(pixel);
      gone = 0;
    }
  }
  return found;
}

function pathOf(pixels) {
  let path = "", pen = "M";
  for (const pixel of pixels) {
    if (pixel === null) {
      pen = "M";
      continue;
    }
    path += pen + pixel[0].toFixed(1) + "," + pixel[1].toFixed(1);
    pen = "L";
  }
  return path;
}

function closes(pixels) {
  const first = pixels[0], last = pixels[pixels.length - 1];
  return pixels.length > 2 && first && last && Math.hypot(first[0] - last[0], first[1] - last[1]) < 0.01;
}
