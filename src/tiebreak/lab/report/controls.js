// Hands on a figure: switches, legend, pointer, wheel, keys.

const HINT = "Point, tap, or focus the figure and use the arrow keys.";

function addSwitches(chart, parent, changed) {
  const box = html(parent, "div", { class: "controls" });
  if (chart.panel.axes.length > 1) {
    const label = html(box, "label", {}, "against ");
    const select = html(label, "select", { class: "axis", "aria-label": "horizontal axis" });
    for (const axis of chart.panel.axes) html(select, "option", {}, axis);
    select.addEventListener("change", () => {
      chart.axis = chart.panel.axes[select.selectedIndex];
      changed();
    });
  }
  for (const direction of chart.panel.equal ? [] : ["y", "x"]) {
    const label = html(box, "label", {});
    const tick = html(label, "input", { type: "checkbox", class: "log-" + direction });
    tick.checked = chart.wanted[direction];
    label.append(`log ${direction}`);
    tick.addEventListener("change", () => {
      chart.wanted[direction] = tick.checked;
      changed();
    });
  }
  const zoom = html(box, "span", { class: "zoom" });
  const button = (text, label, act) => {
    html(zoom, "button", { type: "button", "aria-label": label, title: label }, text).addEventListener("click", act);
  };
  button("+", "zoom in", () => chart.zoom(0.6));
  button("−", "zoom out", () => chart.zoom(1 / 0.6));
  button("Reset", "show everything", () => chart.reset());
}

function addLegend(chart, parent, changed) {
  const list = html(parent, "ul", { class: "legend", "aria-label": "curves" });
  for (const curve of chart.panel.curves) {
    const button = html(html(list, "li", {}), "button", { type: "button", "aria-pressed": "true", title: "show or hide" });
    const sample = draw(button, "svg", { width: 34, height: 14, "aria-hidden": "true" });
    const group = draw(sample, "g", { class: curve.color, opacity: curve.faint ? 0.55 : 1 });
    const lone = curve.y.length === 1;
    if (!lone) draw(group, "path", { class: "curve", d: "M1,7H33", "stroke-width": curve.width, "stroke-dasharray": curve.dash.join(" ") });
    if (curve.marker && (curve.role !== "truth" || lone)) mark(group, curve.marker, 17, 7);
    html(button, "span", {}, curve.label);
    button.addEventListener("click", () => {
      const hide = !chart.hidden.has(curve);
      if (hide) chart.hidden.add(curve);
      else chart.hidden.delete(curve);
      button.setAttribute("aria-pressed", String(!hide));
      changed();
    });
  }
}

function addPointer(chart, tell) {
  const svg = chart.svg;
  let start = null, selection = null;
  const spot = (event) => {
    const frame = svg.getBoundingClientRect();
    return [event.clientX - frame.left, event.clientY - frame.top];
  };
  const point = (event) => {
    chart.cursor = chart.nearest(...spot(event));
    chart.drawCursor();
    tell(chart.words());
  };
  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    if (event.pointerType === "touch") return point(event); // a finger scrolls the page
    start = spot(event);
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", (event) => {
    if (!start) return point(event);
    const [x, y] = spot(event);
    if (!selection) selection = draw(chart.layer, "rect", { class: "selection" });
    selection.setAttribute("x", Math.min(x, start[0]));
    selection.setAttribute("y", Math.min(y, start[1]));
    selection.setAttribute("width", Math.abs(x - start[0]));
    selection.setAttribute("height", Math.abs(y - start[1]));
  });
  svg.addEventListener("pointerup", (event) => {
    if (!start) return;
    const [a, b] = [chart.at(...start), chart.at(...spot(event))], moved = spot(event).map((one, i) => Math.abs(one - start[i]));
    start = null;
    if (selection) selection.remove();
    selection = null;
    if (Math.max(...moved) < 8) return point(event);
    const view = { ...chart.seen }; // a flat or thin rectangle zooms one axis only
    if (moved[0] >= 8) [view.x0, view.x1] = [Math.min(a[0], b[0]), Math.max(a[0], b[0])];
    if (moved[1] >= 8) [view.y0, view.y1] = [Math.min(a[1], b[1]), Math.max(a[1], b[1])];
    chart.view = view;
    chart.render();
  });
  svg.addEventListener("pointercancel", () => {
    start = null;
    if (selection) selection.remove();
    selection = null;
  });
  svg.addEventListener("dblclick", () => chart.reset());
  svg.addEventListener("wheel", (event) => {
    if (document.activeElement !== svg && !event.ctrlKey) return; // the page scrolls unless the figure has the focus
    event.preventDefault();
    chart.zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2, chart.at(...spot(event)));
  }, { passive: false });
}

// The next point of the cursor's curve that is drawn, or the first one where there is no cursor.
function step(chart, by) {
  const curves = [...chart.pixels.keys()].filter((curve) => curve.role !== "shape" && chart.pixels.get(curve).some((one) => one));
  if (!curves.length) return;
  const cursor = chart.cursor && curves.includes(chart.cursor.curve) ? chart.cursor : { curve: curves[0], i: -1 };
  const pixels = chart.pixels.get(cursor.curve);
  let i = by === "first" ? 0 : by === "last" ? pixels.length - 1 : cursor.i + by;
  const direction = by === "last" || by < 0 ? -1 : 1;
  while (i >= 0 && i < pixels.length && pixels[i] === null) i += direction;
  if (i >= 0 && i < pixels.length) chart.cursor = { curve: cursor.curve, i };
}

function changeCurve(chart, by) {
  const curves = [...chart.pixels.keys()].filter((curve) => curve.role !== "shape" && chart.pixels.get(curve).some((one) => one));
  if (!curves.length) return;
  if (!chart.cursor) return step(chart, 1);
  const now = curves.indexOf(chart.cursor.curve);
  const curve = curves[(now + by + curves.length) % curves.length];
  const from = now < 0 ? null : chart.pixels.get(chart.cursor.curve)[chart.cursor.i];
  let best = 0, distance = Infinity;
  chart.pixels.get(curve).forEach((pixel, i) => {
    const away = pixel && Math.abs(pixel[0] - (from ? from[0] : 0));
    if (pixel && away < distance) [best, distance] = [i, away];
  });
  chart.cursor = { curve, i: best };
}

function addKeys(chart, tell) {
  const pans = { ArrowLeft: [-0.15, 0], ArrowRight: [0.15, 0], ArrowUp: [0, 0.15], ArrowDown: [0, -0.15] };
  const keys = {
    ArrowLeft: () => step(chart, -1),
    ArrowRight: () => step(chart, 1),
    ArrowUp: () => changeCurve(chart, -1),
    ArrowDown: () => changeCurve(chart, 1),
    Home: () => step(chart, "first"),
    End: () => step(chart, "last"),
    "+": () => chart.zoom(0.6, chart.cursor && chart.places(chart.cursor.curve)[chart.cursor.i]),
    "=": () => keys["+"](),
    "-": () => chart.zoom(1 / 0.6),
    0: () => chart.reset(),
    Escape: () => chart.reset(),
  };
  chart.svg.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    if (event.shiftKey && pans[event.key]) chart.pan(...pans[event.key]);
    else {
      keys[event.key]();
      if (pans[event.key] || event.key === "Home" || event.key === "End") chart.follow();
    }
    chart.drawCursor();
    tell(chart.words());
  });
}
