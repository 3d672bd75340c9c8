// Draws schedules from the data of this page; loads nothing. Times are ticks until they are shown.
const data = JSON.parse(document.getElementById("data").textContent);
const end = Math.max(1, ...data.schedules.map((each) => each.end));
const view = { from: 0, to: end };
const MAX_DRAWN = 600; // tasks of a graph that is drawn: more would not be legible
const MIN_SPAN = Math.min(end, 5);
let query = "";
let colours = {};
const charts = [];

function readColours() {
  fills.clear();
  const style = getComputedStyle(document.documentElement);
  for (const name of ["ink", "dim", "line", "soft", "paper", "accent", "chain", "lightness", "bar-ink"])
    colours[name] = style.getPropertyValue("--" + name).trim();
}

function timeText(ticks) {
  const seconds = ticks * data.tick;
  const size = Math.abs(seconds);
  if (!size) return "0";
  for (const [unit, length] of [["h", 3600], ["s", 1], ["ms", 1e-3], ["\u00b5s", 1e-6], ["ns", 1e-9]])
    if (size >= length || unit === "ns") return Number((seconds / length).toPrecision(5)) + " " + unit;
}

function sizeText(bytes) {
  for (const [unit, size] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]])
    if (bytes >= size) return Number((bytes / size).toPrecision(4)) + " " + unit;
  return bytes + " B";
}

const textures = new Map();
function textureOf(group, pen) { // jobs differ in pattern too: none, strokes, dots, lines
  const kind = group % 4;
  const key = kind + colours["bar-ink"];
  if (!textures.has(key)) {
    const tile = element("canvas", { width: 8, height: 8 });
    const brush = tile.getContext("2d");
    brush.strokeStyle = brush.fillStyle = colours["bar-ink"];
    brush.globalAlpha = 0.28;
    brush.beginPath();
    if (kind === 1) for (const shift of [-8, 0, 8]) { brush.moveTo(shift, 8); brush.lineTo(shift + 8, 0); }
    if (kind === 2) brush.fillRect(2, 2, 2, 2);
    if (kind === 3) { brush.moveTo(0, 4); brush.lineTo(8, 4); }
    brush.stroke();
    textures.set(key, pen.createPattern(tile, "repeat"));
  }
  return textures.get(key);
}

function drawLegend() { // which colour and pattern is which job
  const box = byId("legend");
  if (box.hidden) return;
  box.lastElementChild.replaceChildren(...data.groupNames.slice(0, 200).map((name, group) => {
    const swatch = element("canvas", { width: 24, height: 14, "aria-hidden": "true" });
    const pen = swatch.getContext("2d");
    for (const fill of [fillOf(group), textureOf(group, pen)]) { pen.fillStyle = fill; pen.fillRect(0, 0, 24, 14); }
    const find = element("button", { type: "button", title: "Find this job" }, swatch, name);
    find.addEventListener("click", () => { byId("search").value = name; search(false); });
    return element("li", {}, find);
  }));
}

const fills = new Map();
function fillOf(group) {
  const hue = Math.round((group * 137.508) % 360);
  if (!fills.has(hue)) fills.set(hue, `hsl(${hue} 55% ${colours.lightness})`);
  return fills.get(hue);
}

function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties))
    if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  made.append(...children);
  return made;
}

class Chart {
  constructor(schedule, number) {
    Object.assign(this, { schedule, number, selected: -1, drawn: 0, pending: false });
    const count = schedule.start.length;
    this.finish = schedule.start.map((start, slice) => start + schedule.ticks[slice]);
    const used = new Map(); // lines: a track of a GPU, or all tracks of a link together
    schedule.tracks.forEach(([name, server, kind, isLink], track) => {
      const key = isLink ? "link " + name.replace(/ \(\d+\)$/, "") : "gpu " + track;
      if (!used.has(key)) used.set(key, { name: key.slice(key.indexOf(" ") + 1), server, kind, isLink, slices: [], track });
      if (!isLink) used.get(key).name = name;
      schedule.tracks[track].line = used.get(key);
    });
    this.lines = [...used.values()]; // GPUs in their order, then links by server and name
    const byName = (a, b) => a.server.localeCompare(b.server, "en", { numeric: true }) || a.name.localeCompare(b.name, "en", { numeric: true });
    this.lines.sort((a, b) => a.isLink - b.isLink || (a.isLink ? byName(a, b) : a.track - b.track));
    this.peak = Math.max(1, ...schedule.memory.flatMap(([, steps]) => steps.map(([, bytes]) => bytes)));
    for (let slice = 0; slice < count; slice++) schedule.tracks[schedule.track[slice]].line.slices.push(slice);
    for (const line of this.lines) {
      line.slices.sort((a, b) => schedule.start[a] - schedule.start[b] || this.finish[a] - this.finish[b]);
      let latest = 0;
      line.latest = line.slices.map((slice) => (latest = Math.max(latest, this.finish[slice])));
    }
    this.lineOf = schedule.track.map((track) => schedule.tracks[track].line);
    this.chain = new Set(schedule.chain.map(([task]) => task));
    this.incoming = new Map();
    this.outgoing = new Map();
    data.edges.forEach(([tail, head], edge) => {
      this.incoming.set(head, [...(this.incoming.get(head) || []), edge]);
      this.outgoing.set(tail, [...(this.outgoing.get(tail) || []), edge]);
    });
    this.transfers = new Map();
    for (let slice = 0; slice < count; slice++) if (schedule.size[slice] >= 0) this.transfers.set(schedule.item[slice], slice);
    this.build();
  }

  build() {
    const { title } = this.schedule;
    this.canvas = element("canvas", { tabIndex: 0, role: "application", "aria-label": `Gantt chart of ${title}`, "aria-describedby": "keys" });
    this.detail = element("div", { className: "detail", "aria-live": "polite", textContent: "Nothing chosen: point at a bar, or press an arrow key." });
    this.body = element("tbody");
    this.more = element("button", { type: "button", textContent: "More rows" });
    const headings = ["name", data.groups, "where", "start", "finish", "duration"].map((text, column) =>
      element("th", { scope: "col", textContent: text, className: column > 2 ? "number" : "" }));
    const table = element("details", {}, element("summary", { textContent: "Table of everything, by start" }),
      element("div", { className: "scroll" }, element("table", {}, element("thead", {}, element("tr", {}, ...headings)), this.body)), this.more);
    table.addEventListener("toggle", () => { if (table.open) this.fillTable(true); });
    this.more.addEventListener("click", () => this.fillTable(false));
    this.table = table;
    const reasons = { data: "waits for the data of", gpu: "waits for its GPU, busy with", release: "starts when its job is released", nothing: "could start earlier as it stands" };
    const steps = this.schedule.chain.map(([task, reason, other]) =>
      element("li", {}, `${data.names[task]} (${timeText(this.schedule.start[task])}) ${reasons[reason]}${other === null ? "" : " " + data.names[other]}`));
    const chain = steps.length ? [element("details", {}, element("summary", { textContent: `Binding chain: ${steps.length} tasks from the last finish backwards` }),
      element("ol", {}, ...steps))] : [];
    byId("charts").append(element("figure", {}, element("h2", { textContent: title }), this.canvas, this.detail, ...chain, ...this.graph(), table));
    this.canvas.redraw = () => this.draw();
    this.canvas.chart = this;
    this.listen();
  }

  graph() { // levels from left to right; which GPU runs a task is its colour and stands before its name
    const count = data.names.length;
    if (!data.edges.length || count > MAX_DRAWN) return [];
    const level = new Array(count).fill(0);
    const missing = new Array(count).fill(0);
    for (const [, head] of data.edges) missing[head]++;
    const ready = level.map((_, task) => task).filter((task) => !missing[task]);
    for (let place = 0; place < ready.length; place++)
      for (const edge of this.outgoing.get(ready[place]) || []) {
        const head = data.edges[edge][1];
        level[head] = Math.max(level[head], level[ready[place]] + 1);
        if (!--missing[head]) ready.push(head);
      }
    const used = [];
    const longest = Math.max(...data.names.map((_, task) => this.placed(task).length));
    const wide = Math.min(Math.max(90, longest * 6.8 + 42), 220, Math.floor(16000 / (Math.max(...level) + 1)));
    this.nodes = level.map((each) => ({ x: each * wide + 4, y: (used[each] = (used[each] || 0) + 1) * 26 - 20, wide: wide - 34 }));
    this.graphCanvas = element("canvas", { role: "img", "aria-label": `Graph of ${count} tasks; the table below has them as text` });
    this.graphSize = [(Math.max(...level) + 1) * wide, Math.max(...used.filter(Boolean)) * 26 + 8];
    const box = element("details", {}, element("summary", { textContent: "Graph: which GPU runs what (colours are GPUs here, thick lines transfers)" }), element("div", { className: "scroll" }, this.graphCanvas));
    box.addEventListener("toggle", () => this.drawGraph());
    this.graphCanvas.addEventListener("click", (event) => {
      const task = this.nodes.findIndex((node) => event.offsetX >= node.x && event.offsetX <= node.x + node.wide && event.offsetY >= node.y && event.offsetY <= node.y + 20);
      if (task >= 0) this.select(task);
    });
    this.graphBox = box;
    return [box];
  }

  drawGraph() {
    if (!this.graphBox || !this.graphBox.open) return;
    const [width, height] = this.graphSize;
    const canvas = this.graphCanvas;
    const scale = Math.min(window.devicePixelRatio || 1, 16000 / Math.max(width, height));
    canvas.width = width * scale;
    canvas.height = height * scale;
    canvas.style.width = width + "px";
    canvas.style.height = height + "px";
    const pen = canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.textBaseline = "middle";
    pen.font = "12px system-ui, sans-serif";
    for (const [tail, head] of data.edges) { // transfers are thick
      const isMoved = this.schedule.track[tail] !== this.schedule.track[head];
      const [from, to] = [this.nodes[tail], this.nodes[head]];
      pen.strokeStyle = isMoved ? colours.accent : colours.line;
      pen.lineWidth = isMoved ? 2.5 : 1;
      pen.beginPath();
      pen.moveTo(from.x + from.wide, from.y + 10);
      pen.bezierCurveTo(from.x + from.wide + 20, from.y + 10, to.x - 20, to.y + 10, to.x, to.y + 10);
      pen.stroke();
    }
    this.nodes.forEach((node, task) => {
      pen.fillStyle = fillOf(this.schedule.track[task]);
      pen.fillRect(node.x, node.y, node.wide, 20);
      pen.fillStyle = colours["bar-ink"];
      pen.save();
      pen.beginPath();
      pen.rect(node.x, node.y, node.wide, 20);
      pen.clip();
      pen.fillText(this.placed(task), node.x + 3, node.y + 10);
      pen.restore();
      if (task !== this.selected && !(this.showsChain && this.chain.has(task))) return;
      pen.lineWidth = 3;
      pen.strokeStyle = task === this.selected ? colours.ink : colours.chain;
      pen.setLineDash(task === this.selected ? [] : [5, 3]);
      pen.strokeRect(node.x + 1, node.y + 1, node.wide - 2, 18);
      pen.setLineDash([]);
    });
  }

  fillTable(afresh) {
    const { schedule } = this;
    if (afresh) {
      this.rows = schedule.start.map((_, slice) => slice).filter((slice) => !query || this.isFound(slice));
      this.rows.sort((a, b) => schedule.start[a] - schedule.start[b]);
      this.body.replaceChildren();
    }
    const first = this.body.childElementCount;
    for (const slice of this.rows.slice(first, first + 200)) {
      const cells = [this.nameOf(slice), data.groupNames[schedule.group[slice]], this.lineOf[slice].name,
        timeText(schedule.start[slice]), timeText(this.finish[slice]), timeText(schedule.ticks[slice])];
      this.body.append(element("tr", {}, ...cells.map((text, column) => element("td", { textContent: text, className: column > 2 ? "number" : "" }))));
    }
    this.more.hidden = this.body.childElementCount >= this.rows.length;
  }

  placed(task) { return `${this.lineOf[task].name}: ${data.names[task]}`; }

  nameOf(slice) {
    const item = this.schedule.item[slice];
    if (this.schedule.size[slice] < 0) return data.names[item];
    return `${data.names[data.edges[item][0]]} to ${data.names[data.edges[item][1]]}`;
  }

  isFound(slice) {
    const job = data.oneGroup || this.schedule.size[slice] >= 0 ? "" : data.groupNames[this.schedule.group[slice]].toLowerCase();
    return job === query || this.nameOf(slice).toLowerCase().includes(query);
  }

  layout() {
    const width = this.canvas.clientWidth;
    this.gutter = width < 500 ? 64 : 150;
    const gpus = this.lines.filter((line) => !line.isLink).length;
    const tall = gpus <= 24 ? 26 : gpus <= 64 ? 16 : 9;
    let y = 24;
    let server = null;
    let areLinks = false;
    for (const line of this.lines) {
      line.shown = !line.isLink || byId("links").checked;
      if (!line.shown) continue;
      if (line.server !== server || line.isLink !== areLinks) { y += 15; line.first = true; } else line.first = false;
      server = line.server;
      areLinks = line.isLink;
      line.y = y;
      line.height = line.isLink ? 13 : tall;
      y += line.height + 2;
      line.memory = !line.isLink && byId("memory").checked ? this.schedule.memory.find(([track]) => track === line.track) : undefined;
      if (line.memory) { line.memoryY = y; y += 16; }
    }
    const height = Math.max(y + 4, 60);
    const scale = window.devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(width * scale) || this.canvas.height !== Math.round(height * scale)) {
      this.canvas.width = Math.round(width * scale);
      this.canvas.height = Math.round(height * scale);
      this.canvas.style.height = height + "px";
    }
    Object.assign(this, { width, height, scale });
  }

  x(ticks) { return this.gutter + ((ticks - view.from) / (view.to - view.from)) * (this.width - this.gutter - 6); }
  ticksAt(x) { return view.from + ((x - this.gutter) / (this.width - this.gutter - 6)) * (view.to - view.from); }

  later() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => { this.pending = false; this.draw(); });
  }

  laterWithGraph() {
    this.later();
    requestAnimationFrame(() => this.drawGraph());
  }

  draw() { // only what is in the window; scrolling draws again
    this.layout();
    const box = this.canvas.getBoundingClientRect();
    const top = Math.max(0, -box.top - 100);
    const bottom = Math.min(this.height, window.innerHeight - box.top + 100);
    const pen = this.canvas.getContext("2d");
    pen.setTransform(this.scale, 0, 0, this.scale, 0, 0);
    pen.fillStyle = colours.paper;
    pen.fillRect(0, top, this.width, bottom - top);
    if (!this.hatching || this.hatchedOn !== colours.paper) this.hatch(pen);
    this.showsChain = byId("chain").checked;
    pen.textBaseline = "middle";
    pen.font = "12px system-ui, sans-serif";
    this.drawAxis(pen);
    this.drawn = 0;
    for (const line of this.lines) if (line.shown && line.y < bottom && line.y + line.height + 20 > top) this.drawLine(pen, line);
    if (this.selected >= 0) this.drawSelection(pen);
  }

  drawAxis(pen) {
    const wanted = (view.to - view.from) / Math.max(2, Math.floor((this.width - this.gutter) / 90));
    const power = 10 ** Math.floor(Math.log10(wanted * data.tick));
    const step = [1, 2, 5, 10].map((each) => (each * power) / data.tick).find((each) => each >= wanted * 0.999);
    pen.fillStyle = colours.dim;
    pen.strokeStyle = colours.line;
    pen.lineWidth = 1;
    pen.textAlign = "center";
    pen.beginPath();
    for (let ticks = Math.ceil(view.from / step) * step; ticks <= view.to; ticks += step) {
      const x = Math.round(this.x(ticks)) + 0.5;
      pen.moveTo(x, 20);
      pen.lineTo(x, this.height);
      pen.fillText(timeText(ticks), Math.min(x, this.width - 24), 10);
    }
    pen.stroke();
  }

  drawLine(pen, line) {
    const { schedule } = this;
    pen.textAlign = "left";
    if (line.first) {
      pen.fillStyle = colours.dim;
      pen.fillText(line.isLink ? `${line.server}, transfers` : line.server, 4, line.y - 7);
    }
    pen.fillStyle = line.isLink ? colours.dim : colours.ink;
    pen.save();
    pen.beginPath();
    pen.rect(0, line.y, this.gutter - 4, line.height);
    pen.clip();
    pen.font = line.isLink ? "11px system-ui, sans-serif" : "12px system-ui, sans-serif";
    pen.fillText(line.isLink ? line.name : `${line.name} ${this.width < 500 ? "" : line.kind}`, 4, line.y + line.height / 2);
    pen.restore();
    pen.save();
    pen.beginPath();
    pen.rect(this.gutter, line.y - 2, this.width - this.gutter, line.height + 20);
    pen.clip();
    let low = 0;
    let high = line.slices.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (line.latest[middle] <= view.from) low = middle + 1;
      else high = middle;
    }
    let right = -1;
    for (let place = low; place < line.slices.length; place++) {
      const slice = line.slices[place];
      if (schedule.start[slice] >= view.to) break;
      const x = this.x(schedule.start[slice]);
      const width = this.x(this.finish[slice]) - x;
      const isMarked = slice === this.selected || (query && this.isFound(slice)) || (this.showsChain && schedule.size[slice] < 0 && this.chain.has(schedule.item[slice]));
      if (x + width <= right + 0.4 && !isMarked) continue; // less than a pixel, and drawn over already
      right = Math.max(right, x + Math.max(width, 0.7));
      this.drawSlice(pen, line, slice, x, Math.max(width, 0.7));
      this.drawn++;
    }
    if (line.memory) this.drawMemory(pen, line);
    pen.restore();
  }

  hatch(pen) {
    const tile = element("canvas", { width: 6, height: 6 });
    const brush = tile.getContext("2d");
    brush.fillStyle = colours.dim;
    brush.fillRect(0, 0, 6, 6);
    brush.strokeStyle = colours.paper;
    brush.lineWidth = 1.5;
    for (const shift of [-6, 0, 6]) {
      brush.moveTo(shift, 6);
      brush.lineTo(shift + 6, 0);
    }
    brush.stroke();
    this.hatching = pen.createPattern(tile, "repeat");
    this.hatchedOn = colours.paper;
  }

  drawSlice(pen, line, slice, x, width) {
    const { schedule } = this;
    const isTransfer = schedule.size[slice] >= 0;
    const isFound = query && this.isFound(slice);
    pen.globalAlpha = query && !isFound ? 0.2 : isTransfer ? 0.6 : 1;
    if (isTransfer) pen.fillStyle = width > 6 ? this.hatching : colours.dim;
    else pen.fillStyle = fillOf(data.oneGroup ? schedule.item[slice] : schedule.group[slice]);
    const left = Math.max(x, this.gutter - 4); // a gap of a pixel keeps neighbours apart
    const shown = [left, line.y, Math.min(x + width, this.width) - left - (width > 3 ? 1 : 0), line.height];
    pen.fillRect(...shown);
    if (!isTransfer && !data.oneGroup && width > 4) {
      pen.fillStyle = textureOf(schedule.group[slice], pen);
      pen.fillRect(...shown);
    }
    pen.globalAlpha = 1;
    const isChain = this.showsChain && !isTransfer && this.chain.has(schedule.item[slice]);
    if (isChain || isFound) {
      pen.lineWidth = 3;
      pen.setLineDash(isChain ? [5, 3] : []);
      pen.strokeStyle = isChain ? colours.chain : colours.ink;
      pen.strokeRect(x + 1.5, line.y + 1.5, Math.max(width - 3, 1), line.height - 3);
      pen.setLineDash([]);
      pen.lineWidth = 1;
    }
    if (!isTransfer && width > 30 && line.height >= 14) {
      const from = Math.max(x, this.gutter) + 4;
      const room = Math.min(x + width, this.width) - from - 3;
      let text = this.nameOf(slice);
      const letters = Math.floor(room / 6.5);
      if (letters < 3) return;
      if (text.length > letters) text = text.slice(0, letters - 1) + "\u2026";
      pen.fillStyle = colours["bar-ink"];
      pen.fillText(text, from, line.y + line.height / 2, room);
    }
  }

  drawMemory(pen, line) {
    const [, steps, capacity] = line.memory;
    const most = this.peak; // one scale for all GPUs, also where they are far from full
    pen.fillStyle = colours.accent;
    pen.globalAlpha = 0.45;
    steps.forEach(([tick, bytes], place) => {
      const until = place + 1 < steps.length ? steps[place + 1][0] : this.schedule.end;
      const height = (13 * bytes) / most;
      pen.fillRect(this.x(tick), line.memoryY + 13 - height, this.x(until) - this.x(tick), height);
    });
    pen.globalAlpha = 1;
    pen.strokeStyle = colours.dim;
    pen.beginPath();
    pen.moveTo(this.gutter, line.memoryY + 0.5);
    pen.lineTo(this.width, line.memoryY + 0.5);
    pen.stroke();
    pen.fillStyle = colours.ink;
    pen.font = "10px system-ui, sans-serif";
    pen.fillText(`${sizeText(Math.max(...steps.map(([, bytes]) => bytes)))}${capacity === null ? "" : " of " + sizeText(capacity)}`, this.gutter + 4, line.memoryY + 7);
    pen.font = "12px system-ui, sans-serif";
  }

  drawSelection(pen) {
    const { schedule, selected } = this;
    const line = this.lineOf[selected];
    if (!line.shown) return;
    pen.save();
    pen.beginPath();
    pen.rect(this.gutter, 0, this.width - this.gutter, this.height);
    pen.clip();
    pen.strokeStyle = colours.ink;
    pen.lineWidth = 3;
    pen.strokeRect(this.x(schedule.start[selected]), line.y - 1, Math.max(2, this.x(this.finish[selected]) - this.x(schedule.start[selected])), line.height + 2);
    pen.lineWidth = 1.5;
    if (schedule.size[selected] < 0 && data.edges.length) {
      const item = schedule.item[selected];
      pen.strokeStyle = colours.accent;
      for (const edge of [...(this.incoming.get(item) || []), ...(this.outgoing.get(item) || [])].slice(0, 200)) this.drawArrow(pen, ...data.edges[edge]);
    }
    pen.restore();
  }

  drawArrow(pen, tail, head) { // slices of tasks come first, in the order of the tasks
    const from = this.lineOf[tail];
    const to = this.lineOf[head];
    const [x0, y0] = [this.x(this.finish[tail]), from.y + from.height / 2];
    const [x1, y1] = [this.x(this.schedule.start[head]), to.y + to.height / 2];
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.bezierCurveTo(x0 + 20, y0, x1 - 20, y1, x1, y1);
    pen.moveTo(x1 - 6, y1 - 4);
    pen.lineTo(x1, y1);
    pen.lineTo(x1 - 6, y1 + 4);
    pen.stroke();
  }

  describe(slice) {
    const { schedule } = this;
    const line = this.lineOf[slice];
    const times = `${timeText(schedule.start[slice])} to ${timeText(this.finish[slice])}, ${timeText(schedule.ticks[slice])} (ticks ${schedule.start[slice]} to ${this.finish[slice]})`;
    if (schedule.size[slice] >= 0) return `Transfer ${this.nameOf(slice)}\n${line.name}: ${sizeText(schedule.size[slice])}\n${times}`;
    const item = schedule.item[slice];
    const own = `${this.nameOf(slice)}${data.oneGroup ? "" : `, ${data.groups} ${data.groupNames[schedule.group[slice]]}`}\n${line.name} (${line.kind}) on ${line.server}\n${times}`;
    if (!data.edges.length) return own;
    const list = (edges, end) => (edges || []).slice(0, 8).map((edge) => data.names[data.edges[edge][end]]).join(", ") + ((edges || []).length > 8 ? ", ..." : "");
    const wait = this.schedule.waits[item];
    const reasons = { data: "Waited for the data of ", gpu: "Waited for its GPU, busy with ", release: "Starts when its job is released", nothing: "Could start earlier as it stands" };
    return `${own}\n${reasons[wait[0]]}${wait[1] === null ? "" : data.names[wait[1]]}. After: ${list(this.incoming.get(item), 0) || "nothing"}. Before: ${list(this.outgoing.get(item), 1) || "nothing"}.`;
  }

  select(slice, isShown = true) {
    this.selected = slice;
    this.detail.textContent = slice < 0 ? "Nothing chosen." : this.describe(slice);
    if (slice >= 0 && isShown) {
      const span = view.to - view.from;
      if (this.schedule.start[slice] < view.from || this.finish[slice] > view.to) move(this.schedule.start[slice] - span / 3, span);
    }
    this.laterWithGraph();
  }

  sliceAt(x, y) {
    const line = this.lines.find((each) => each.shown && y >= each.y - 1 && y < each.y + each.height + 2);
    if (!line || x < this.gutter) return -1;
    const ticks = this.ticksAt(x);
    const slack = ((view.to - view.from) / this.width) * 2;
    let best = -1;
    for (const slice of line.slices) {
      if (this.schedule.start[slice] - slack > ticks) break;
      if (this.finish[slice] + slack >= ticks) best = slice;
    }
    return best;
  }

  step(key) {
    const shown = this.lines.filter((line) => line.shown && line.slices.length);
    if (!shown.length) return;
    if (this.selected < 0) { this.select(shown[0].slices[0]); return; }
    const line = this.lineOf[this.selected];
    const place = line.slices.indexOf(this.selected);
    if (key === "ArrowRight" || key === "ArrowLeft") {
      this.select(line.slices[Math.max(0, Math.min(line.slices.length - 1, place + (key === "ArrowRight" ? 1 : -1)))]);
      return;
    }
    const next = shown[shown.indexOf(line) + (key === "ArrowDown" ? 1 : -1)];
    if (!next) return;
    const start = this.schedule.start[this.selected];
    this.select(next.slices.reduce((best, slice) => Math.abs(this.schedule.start[slice] - start) < Math.abs(this.schedule.start[best] - start) ? slice : best));
  }

  listen() {
    const { canvas } = this;
    const fingers = new Map();
    let isMoved = false;
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const span = view.to - view.from;
      if (event.key.startsWith("Arrow")) this.step(event.key);
      else if (event.key === "+" || event.key === "=") zoom(0.5, this.middle());
      else if (event.key === "-") zoom(2, this.middle());
      else if (event.key.toLowerCase() === "a") move(view.from - span / 4, span);
      else if (event.key.toLowerCase() === "d") move(view.from + span / 4, span);
      else if (event.key === "Home") move(0, span);
      else if (event.key === "End") move(end - span, span);
      else if (event.key === "Escape") this.select(-1);
      else if (event.key === "Enter" && this.selected >= 0) {
        const wanted = Math.max(this.schedule.ticks[this.selected] * 3, MIN_SPAN);
        move(this.schedule.start[this.selected] - wanted / 3, wanted);
      } else return;
      event.preventDefault();
    });
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      zoom(event.deltaY > 0 ? 1.25 : 0.8, this.ticksAt(event.offsetX));
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      fingers.set(event.pointerId, event);
      isMoved = false;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const before = fingers.get(event.pointerId);
      if (!before) { this.hover(event); return; }
      const span = view.to - view.from;
      const perPixel = span / (this.width - this.gutter - 6);
      if (fingers.size === 1) {
        if (Math.abs(event.clientX - before.clientX) < 3 && !isMoved) return;
        isMoved = true;
        move(view.from - (event.clientX - before.clientX) * perPixel, span);
      } else {
        const other = [...fingers.values()].find((each) => each.pointerId !== event.pointerId);
        const ratio = Math.max(20, Math.abs(before.clientX - other.clientX)) / Math.max(20, Math.abs(event.clientX - other.clientX));
        isMoved = true;
        zoom(ratio, this.ticksAt((event.offsetX + other.offsetX) / 2));
      }
      fingers.set(event.pointerId, event);
    });
    const release = (event) => {
      if (fingers.delete(event.pointerId) && !isMoved && event.type === "pointerup") this.select(this.sliceAt(event.offsetX, event.offsetY), false);
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
    canvas.addEventListener("pointerleave", () => showTip(""));
  }

  middle() { return this.selected >= 0 ? this.schedule.start[this.selected] : (view.from + view.to) / 2; }

  hover(event) {
    const slice = this.sliceAt(event.offsetX, event.offsetY);
    showTip(slice < 0 ? "" : `${this.nameOf(slice)}: ${timeText(this.schedule.start[slice])} to ${timeText(this.finish[slice])}`, event);
  }
}

function redraw() { for (const chart of charts) chart.later(); }

function move(from, span) {
  const wanted = Math.max(MIN_SPAN, Math.min(span, end * 1.02));
  view.from = Math.max(-end * 0.01, Math.min(from, end * 1.01 - wanted));
  view.to = view.from + wanted;
  redraw();
}

function zoom(factor, around) {
  const span = view.to - view.from;
  const wanted = Math.max(MIN_SPAN, Math.min(span * factor, end * 1.02));
  move(around - ((around - view.from) / span) * wanted, wanted);
}

function search(isNext) {
  query = byId("search").value.trim().toLowerCase();
  const found = charts.map((chart) => chart.schedule.start.map((_, slice) => slice).filter((slice) => query && chart.isFound(slice)));
  byId("matches").textContent = query ? `${found.reduce((sum, each) => sum + each.length, 0)} found` : "";
  charts.forEach((chart, number) => {
    if (chart.table.open) chart.fillTable(true);
    const own = found[number];
    if (isNext && own.length) chart.select(own[(own.indexOf(chart.selected) + 1) % own.length]);
  });
  redraw();
}

const links = new Set(data.schedules.flatMap((each) => each.tracks.filter((track) => track[3]).map((track) => track[0])));
byId("links").checked = links.size > 0 && links.size <= 24;
for (const [id, isUseful] of [
  ["links", links.size > 0],
  ["memory", data.schedules.some((each) => each.memory.length > 0)],
  ["chain", data.schedules.some((each) => each.chain.length > 0)],
]) byId(id).parentElement.hidden = !isUseful;
byId("legend").hidden = data.oneGroup || data.groupNames.length < 2;
byId("memory").checked = data.schedules.some((each) => each.memory.some(([, steps]) => steps.some(([, bytes]) => bytes > 0)));
readColours();
drawLegend();
for (const [number, schedule] of data.schedules.entries()) charts.push(new Chart(schedule, number));
move(0, end * 1.02);
for (const chart of charts) chart.draw();
byId("in").addEventListener("click", () => zoom(0.5, (view.from + view.to) / 2));
byId("out").addEventListener("click", () => zoom(2, (view.from + view.to) / 2));
byId("left").addEventListener("click", () => move(view.from - (view.to - view.from) / 3, view.to - view.from));
byId("right").addEventListener("click", () => move(view.from + (view.to - view.from) / 3, view.to - view.from));
byId("all").addEventListener("click", () => move(0, end * 1.02));
for (const id of ["links", "memory", "chain"]) byId(id).addEventListener("change", () => { for (const chart of charts) chart.laterWithGraph(); });
byId("search").addEventListener("input", () => search(false));
byId("search").addEventListener("keydown", (event) => { if (event.key === "Enter") search(true); });
document.addEventListener("colours", () => { readColours(); drawLegend(); for (const chart of charts) chart.laterWithGraph(); });
addEventListener("scroll", redraw, { passive: true });
new ResizeObserver(redraw).observe(byId("charts"));
