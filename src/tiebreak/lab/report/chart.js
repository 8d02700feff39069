// One figure: what is seen of it (axis, logarithms, window, hidden curves, cursor), and its drawing.

let clips = 0;

class Chart {
  constructor(panel, svg) {
    this.panel = panel;
    this.svg = svg;
    this.axis = panel.axes[0];
    this.wanted = { x: panel.logX, y: panel.log };
    this.view = null; // null shows everything; { x0, x1, y0, y1 } in places
    if (panel.window) this.open(panel.window);
    this.hidden = new Set();
    this.cursor = null; // { curve, i }
    this.clip = "clip" + clips++;
  }

  open(bounds) {
    const [x0, x1] = bounds.slice(0, 2).map((value) => place(value, this.log("x")));
    const [y0, y1] = bounds.slice(2).map((value) => place(value, this.log("y")));
    if (![x0, x1, y0, y1].includes(null)) this.view = { x0, x1, y0, y1 };
  }

  shown() {
    return this.panel.curves.filter((curve) => !this.hidden.has(curve) && curve.x[this.axis]);
  }

  // A logarithm of nothing positive is no axis.
  log(direction) {
    if (!this.wanted[direction]) return false;
    const values = this.shown().map((curve) => (direction === "x" ? curve.x[this.axis] : curve.y));
    return values.some((list) => list.some((value) => value > 0)) || values.length === 0;
  }

  places(curve) {
    const logX = this.log("x"), logY = this.log("y"), x = curve.x[this.axis];
    return curve.y.map((value, i) => {
      const at = [place(x[i], logX), place(value, logY)];
      return at[0] === null || at[1] === null ? null : at;
    });
  }

  // How many values cannot be shown, and why. The shapes' own gaps are not values.
  missing() {
    let endless = 0, nonpositive = 0;
    const logX = this.log("x"), logY = this.log("y");
    for (const curve of this.shown()) {
      if (curve.role === "shape") continue;
      curve.y.forEach((value, i) => {
        const x = curve.x[this.axis][i];
        if (value === null || x === null) endless++;
        else if ((logX && x <= 0) || (logY && value <= 0)) nonpositive++;
      });
    }
    return { endless, nonpositive };
  }

  whole() {
    const all = this.shown().flatMap((curve) => this.places(curve)).filter((at) => at !== null);
    const [x0, x1] = around(all.map((at) => at[0])), [y0, y1] = around(all.map((at) => at[1]));
    return { x0, x1, y0, y1 };
  }

  // The window, widened where both axes have one scale.
  window() {
    const view = { ...(this.view || this.whole()) };
    if (!this.panel.equal || this.log("x") || this.log("y")) return view;
    const scale = Math.max((view.x1 - view.x0) / this.box.width, (view.y1 - view.y0) / this.box.height);
    const moreX = (scale * this.box.width - (view.x1 - view.x0)) / 2;
    const moreY = (scale * this.box.height - (view.y1 - view.y0)) / 2;
    return { x0: view.x0 - moreX, x1: view.x1 + moreX, y0: view.y0 - moreY, y1: view.y1 + moreY };
  }

  pixel(at) {
    if (at === null) return null;
    const { box, seen } = this;
    return [
      box.left + ((at[0] - seen.x0) / (seen.x1 - seen.x0)) * box.width,
      box.top + ((seen.y1 - at[1]) / (seen.y1 - seen.y0)) * box.height,
    ];
  }

  inside(pixel) {
    const { left, top, width, height } = this.box;
    return pixel[0] >= left - 1 && pixel[0] <= left + width + 1 && pixel[1] >= top - 1 && pixel[1] <= top + height + 1;
  }

  at(pixelX, pixelY) {
    const { box, seen } = this;
    return [
      seen.x0 + ((pixelX - box.left) / box.width) * (seen.x1 - seen.x0),
      seen.y1 - ((pixelY - box.top) / box.height) * (seen.y1 - seen.y0),
    ];
  }

  render() {
    const width = Math.max(this.svg.clientWidth || 0, 240);
    const height = Math.round(this.panel.equal ? Math.min(width * 0.8, 400) : Math.min(Math.max(width * 0.62, 230), 400));
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.setAttribute("height", height);
    this.svg.replaceChildren();
    this.box = { left: 62, top: 8, width: width - 76, height: height - 52 };
    this.seen = this.window();
    this.drawAxes(width, height);
    const clip = draw(this.svg, "clipPath", { id: this.clip });
    draw(clip, "rect", { x: this.box.left, y: this.box.top, width: this.box.width, height: this.box.height });
    this.layer = draw(this.svg, "g", { "clip-path": `url(#${this.clip})` });
    this.pixels = new Map(this.shown().map((curve) => [curve, this.places(curve).map((at) => this.pixel(at))]));
    for (const [curve, pixels] of this.pixels) this.drawCurve(curve, pixels);
    this.ring = draw(this.svg, "circle", { class: "cursor", r: 7, visibility: "hidden" });
    this.drawCursor();
  }

  drawAxes(width, height) {
    const { box, seen } = this, bottom = box.top + box.height;
    for (const tick of ticks(seen.x0, seen.x1, this.log("x"), box.width / 80)) {
      const x = this.pixel([tick.place, seen.y0])[0];
      draw(this.svg, "line", { class: "gridline", x1: x, x2: x, y1: box.top, y2: bottom });
      draw(this.svg, "text", { class: "tick-x", x, y: bottom + 16, "text-anchor": "middle" }, tick.label);
    }
    for (const tick of ticks(seen.y0, seen.y1, this.log("y"), box.height / 42)) {
      const y = this.pixel([seen.x0, tick.place])[1];
      draw(this.svg, "line", { class: "gridline", x1: box.left, x2: box.left + box.width, y1: y, y2: y });
      draw(this.svg, "text", { class: "tick-y", x: box.left - 6, y: y + 4, "text-anchor": "end" }, tick.label);
    }
    draw(this.svg, "rect", { class: "frame", x: box.left, y: box.top, width: box.width, height: box.height });
    draw(this.svg, "text", { x: box.left + box.width / 2, y: height - 6, "text-anchor": "middle" }, this.axis);
    const middle = box.top + box.height / 2;
    draw(this.svg, "text", { x: 13, y: middle, "text-anchor": "middle", transform: `rotate(-90 13 ${middle})` }, this.panel.yLabel);
  }

  drawCurve(curve, pixels) {
    const group = draw(this.layer, "g", { class: curve.color, opacity: curve.faint ? 0.55 : 1 });
    if (curve.role === "shape" && closes(pixels)) draw(group, "path", { class: "area", d: pathOf(pixels) });
    draw(group, "path", { class: "curve", d: pathOf(pixels), "stroke-width": curve.width, "stroke-dasharray": curve.dash.join(" ") });
    const along = this.panel.equal ? "path" : "width";
    for (const pixel of marked(curve, pixels, (one) => this.inside(one), along, this.panel.curves.indexOf(curve))) mark(group, curve.marker, pixel[0], pixel[1]);
  }

  drawCursor() {
    const pixel = this.cursor && this.pixels.has(this.cursor.curve) ? this.pixels.get(this.cursor.curve)[this.cursor.i] : null;
    this.ring.setAttribute("visibility", pixel && this.inside(pixel) ? "visible" : "hidden");
    if (pixel) {
      this.ring.setAttribute("cx", pixel[0]);
      this.ring.setAttribute("cy", pixel[1]);
    }
  }

  // The point of a run, bound or reference that is nearest on the screen.
  nearest(x, y) {
    let best = null, distance = Infinity;
    for (const [curve, pixels] of this.pixels) {
      if (curve.role === "shape") continue;
      pixels.forEach((pixel, i) => {
        if (pixel === null || !this.inside(pixel)) return;
        const away = Math.hypot(pixel[0] - x, pixel[1] - y);
        if (away < distance) {
          distance = away;
          best = { curve, i };
        }
      });
    }
    return best;
  }

  words() {
    if (!this.cursor) return "";
    const { curve, i } = this.cursor;
    return `${curve.label}: ${this.axis} ${readable(curve.x[this.axis][i])}, ${this.panel.yLabel} ${readable(curve.y[i])}`;
  }

  // Closer for a factor below 1, about a place that stays where it is.
  zoom(factor, about) {
    const { x0, x1, y0, y1 } = this.seen;
    const [x, y] = about || [(x0 + x1) / 2, (y0 + y1) / 2];
    this.view = {
      x0: x + (x0 - x) * factor,
      x1: x + (x1 - x) * factor,
      y0: y + (y0 - y) * factor,
      y1: y + (y1 - y) * factor,
    };
    this.render();
  }

  pan(right, up) {
    const { x0, x1, y0, y1 } = this.seen, dx = (x1 - x0) * right, dy = (y1 - y0) * up;
    this.view = { x0: x0 + dx, x1: x1 + dx, y0: y0 + dy, y1: y1 + dy };
    this.render();
  }

  // The window goes where the cursor is, if it has been led out of it.
  follow() {
    const at = this.cursor && this.places(this.cursor.curve)[this.cursor.i];
    if (!at || this.inside(this.pixel(at))) return;
    const { x0, x1, y0, y1 } = this.seen;
    this.pan((at[0] - (x0 + x1) / 2) / (x1 - x0), (at[1] - (y0 + y1) / 2) / (y1 - y0));
  }

  reset() {
    this.view = null;
    this.render();
  }
}
