// The page: every figure comes to life, and the colours can be chosen.

function addNote(chart, parent) {
  const note = html(parent, "p", { class: "note" });
  return () => {
    const { endless, nonpositive } = chart.missing();
    const parts = [];
    if (nonpositive) parts.push(`${nonpositive} ${nonpositive === 1 ? "value" : "values"} ≤ 0 not shown on a log axis`);
    if (endless) parts.push(`${endless} not finite`);
    if (chart.wanted.y && !chart.log("y")) parts.push("no positive value: linear axis");
    note.textContent = parts.join("; ");
  };
}

// The values behind a figure, written when they are asked for.
function addValues(chart, parent) {
  const details = html(parent, "details", {});
  html(details, "summary", {}, "Values");
  details.addEventListener("toggle", () => {
    if (!details.open || details.children.length > 1) return;
    const region = html(details, "div", { class: "values", tabindex: "0", role: "region", "aria-label": "values of " + chart.panel.title });
    const table = html(region, "table", {}), head = html(html(table, "thead", {}), "tr", {}), body = html(table, "tbody", {});
    for (const title of ["curve", ...chart.panel.axes, chart.panel.yLabel]) html(head, "th", { scope: "col" }, title);
    for (const curve of chart.panel.curves) {
      if (curve.role === "shape") continue;
      curve.y.forEach((value, i) => {
        const row = html(body, "tr", {});
        html(row, "td", {}, curve.label);
        for (const axis of chart.panel.axes) html(row, "td", { class: "number" }, curve.x[axis] ? readable(curve.x[axis][i], 9) : "");
        html(row, "td", { class: "number" }, readable(value, 9));
      });
    }
  });
}

function bringToLife(figure, panel) {
  const live = figure.querySelector(".live");
  const svgLabel = `${panel.title}. Arrow keys move along the curves, plus and minus zoom, shift and arrows move the window, 0 shows everything.`;
  const svg = document.createElementNS(SVG, "svg");
  for (const [key, value] of Object.entries({ class: "chart", tabindex: 0, role: "application", "aria-roledescription": "chart", "aria-label": svgLabel })) {
    svg.setAttribute(key, value);
  }
  const chart = new Chart(panel, svg);
  const readout = document.createElement("output");
  readout.className = "readout";
  readout.textContent = HINT;
  const tell = (words) => {
    readout.textContent = words || HINT;
  };
  let note = () => {};
  const changed = () => {
    chart.view = null;
    chart.cursor = null;
    tell("");
    chart.render();
    note();
  };
  addSwitches(chart, live, changed);
  live.append(svg, readout);
  note = addNote(chart, live);
  addLegend(chart, live, changed);
  addPointer(chart, tell);
  addKeys(chart, tell);
  addValues(chart, live);
  figure.classList.add("drawn");
  let width = 0;
  new ResizeObserver(() => {
    if (svg.clientWidth === width) return;
    width = svg.clientWidth;
    chart.render();
  }).observe(svg);
  chart.render();
  note();
}

const theme = document.getElementById("theme");
theme.addEventListener("change", () => {
  document.documentElement.style.colorScheme = theme.value;
});
const filter = document.getElementById("filter");
filter.addEventListener("change", () => {
  for (const table of document.querySelectorAll(".claims")) table.dataset.only = filter.value;
});
for (const experiment of JSON.parse(document.getElementById("curves").textContent)) {
  for (const panel of experiment.panels) {
    const figure = document.querySelector(`figure[data-experiment="${CSS.escape(experiment.name)}"][data-panel="${CSS.escape(panel.name)}"]`);
    bringToLife(figure, panel);
  }
}
