// The page of the panel. What sdm and the ranks say is text, never HTML.

import { runsOf } from "./cells.js";
import { badKind, kindOf, kinds, order, summary, where } from "./page/groups.js";
import { label, layout } from "./page/icicle.js";
import * as runs from "./page/runs.js";
import { bars, widths } from "./plot.js";

const editor = acquireVsCodeApi();
const $ = (id) => document.getElementById(id);
const tell = (type, text) => editor.postMessage({ type, text });

const maxRows = 200; // of the table of groups

let groups = [], cells = runsOf([], runs.parse), focus = "", shape = null, at = 0;
let stack = [], plots = [];

const dark = () => !document.body.classList.contains("vscode-light") && !document.body.classList.contains("vscode-high-contrast-light");

// make makes an element with text.
function make(name, text) {
  const e = document.createElement(name);
  if (text !== undefined) e.textContent = text;
  return e;
}

// svg makes an element of a drawing.
function svg(name, attributes, text) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  if (text !== undefined) e.textContent = text;
  return e;
}

// pressed calls f for a click, and for Enter or the space bar.
function pressed(e, f) {
  e.onclick = f;
  e.onkeydown = (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    f();
  };
}

// --- ranks ---

// colour returns a colour "#rrggbb" as a pixel; dim is half transparent.
function colour(hex, dim) {
  const part = (i) => parseInt(hex.slice(i, i + 2), 16);
  return (((dim ? 70 : 255) << 24) | (part(5) << 16) | (part(3) << 8) | part(1)) >>> 0;
}

function drawGrid() {
  const canvas = $("grid"), scale = devicePixelRatio || 1;
  const width = Math.max(16, Math.floor(canvas.parentElement.clientWidth * scale));
  shape = runs.shape(cells.end, width, Math.floor(360 * scale));
  canvas.width = width;
  canvas.height = Math.max(1, shape.rows * shape.side);
  canvas.style.width = `${width / scale}px`;
  canvas.style.height = `${canvas.height / scale}px`;
  const mode = dark() ? "dark" : "light";
  const of = [0, ...groups.map(kindOf)];
  const pick = (dim) => Uint32Array.from(of, (k, i) => (i === 0 ? 0 : colour(kinds[k][mode], dim)));
  const weights = Uint8Array.from(of, (k, i) => (i === 0 ? 0 : k + 1));
  const units = runs.worst(cells, shape.per, shape.units, weights);
  const is = runs.chosen(runs.parse(focus, cells.end) ?? [[0, Math.max(0, cells.end - 1)]], shape.per, shape.units);
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  runs.paint(new Uint32Array(image.data.buffer), canvas.width, shape, units, is, pick(false), pick(true));
  context.putImageData(image, 0, 0);
  if (document.activeElement === canvas) {
    const unit = Math.floor(at / shape.per), side = Math.max(shape.side, 5);
    context.strokeStyle = dark() ? "#ffffff" : "#000000";
    context.strokeRect((unit % shape.columns) * shape.side, Math.floor(unit / shape.columns) * shape.side, side, side);
  }
  canvas.setAttribute("aria-label", summary(groups));
}

function groupAt(rank) { return groups[runs.groupAt(cells, rank) - 1]; }

function sayRank(rank) {
  const g = rank >= 0 && groupAt(rank);
  if (!g) return;
  const many = shape.per > 1 ? ` to ${Math.min(rank + shape.per, cells.end) - 1}` : "";
  $("at").textContent = `rank ${rank}${many}: ${[g.state, where(g)].filter(Boolean).join(", ")}`;
}

function rankAt(event) {
  const scale = devicePixelRatio || 1;
  const column = Math.floor((event.offsetX * scale) / shape.side), row = Math.floor((event.offsetY * scale) / shape.side);
  const rank = (row * shape.columns + column) * shape.per;
  return column < shape.columns && rank < cells.end ? rank : -1;
}

function take(rank) {
  const g = rank >= 0 && groupAt(rank);
  if (g) tell("focus", g.ranks);
}

function showGroups() {
  const rows = order(groups).slice(0, maxRows).map((i) => {
    const g = groups[i], row = make("tr"), cell = make("td"), set = make("button", `[${g.ranks.length > 60 ? `${g.ranks.slice(0, 60)}...` : g.ranks}]`);
    set.onclick = () => tell("focus", g.ranks);
    cell.append(set);
    row.append(cell, make("td", `${g.n}`), make("td", kinds[kindOf(g)].name), make("td", where(g)));
    if (kindOf(g) >= badKind) row.className = "bad";
    return row;
  });
  if (groups.length > maxRows) rows.push(make("tr", `${groups.length - maxRows} more groups`));
  $("groups").tBodies[0].replaceChildren(...rows);
}

function showStates(m) {
  groups = m.states;
  cells = runsOf(groups, runs.parse);
  focus = m.focus;
  $("summary").textContent = `focus [${focus.length > 80 ? `${focus.slice(0, 80)}...` : focus}]; ${summary(groups)}`;
  drawGrid();
  showGroups();
}

// --- stacks ---

const rowHeight = 20;

function drawStacks() {
  const width = $("icicle").clientWidth;
  const { boxes, leftOut } = layout(stack);
  const depth = boxes.reduce((d, b) => Math.max(d, b.depth + 1), 0);
  const root = svg("svg", { width, height: depth * rowHeight, role: "group", "aria-label": `${boxes.length} frames of merged stacks` });
  for (const b of boxes.sort((x, y) => x.depth - y.depth || x.x - y.x)) {
    const text = label(b.node), w = Math.max(1, b.width * width - 1);
    const g = svg("g", { tabindex: 0, role: "button", "aria-label": `${text}, ${b.node.n} ranks` });
    const hue = 35 + ([...text].reduce((h, c) => (h * 31 + c.charCodeAt(0)) >>> 0, 0) % 40);
    g.append(svg("rect", { x: b.x * width, y: b.depth * rowHeight, width: w, height: rowHeight - 1, fill: `hsl(${hue} 75% 66%)` }));
    g.append(svg("title", {}, `${text}\n[${b.node.ranks.slice(0, 200)}] (${b.node.n})`));
    const fits = Math.floor((w - 6) / 7.3);
    if (fits > 3) g.append(svg("text", { x: b.x * width + 4, y: b.depth * rowHeight + 14 }, text.length > fits ? `${text.slice(0, fits - 1)}…` : text));
    pressed(g, () => tell("focus", b.node.ranks));
    root.append(g);
  }
  $("icicle").replaceChildren(root, ...(leftOut > 0 ? [make("p", `${leftOut} narrow frames are left out`)] : []));
}

function showStacks(m) {
  stack = (m.stack ?? []).flat(); // a tree for each answer
  $("verdict").replaceChildren(...(m.verdict ?? []).map((f) => make("li", `${f.certain ? "certain" : "so far"}: ${f.text}`)));
  drawStacks();
}

// --- values ---

function drawPlots() {
  const width = Math.max(200, $("plot").clientWidth);
  const out = [];
  for (const { title, column } of plots) {
    const { facts, bars: list } = bars(column);
    const left = Math.min(240, width * 0.4), lengths = widths(list, width - left - 70);
    const root = svg("svg", { width, height: list.length * rowHeight, role: "group", "aria-label": title });
    list.forEach((b, i) => {
      const g = svg("g", b.ranks ? { tabindex: 0, role: "button", "aria-label": `${b.label}: ${b.count} ranks` } : {});
      const fits = Math.floor((left - 6) / 7.3);
      g.append(svg("text", { class: "name", x: left - 6, y: i * rowHeight + 14, "text-anchor": "end" }, b.label.length > fits ? `${b.label.slice(0, fits - 1)}…` : b.label));
      g.append(svg("rect", { class: "bar", x: left, y: i * rowHeight + 2, width: lengths[i], height: rowHeight - 5 }));
      g.append(svg("text", { class: "name", x: left + lengths[i] + 5, y: i * rowHeight + 14 }, `${b.count}`));
      g.append(svg("title", {}, `${b.label}\n${b.ranks ? `[${b.ranks.slice(0, 200)}] ` : ""}(${b.count})`));
      if (b.ranks) pressed(g, () => tell("focus", b.ranks));
      root.append(g);
    });
    out.push(make("h3", title), make("p", facts.join(", ")), root);
  }
  $("plot").replaceChildren(...out);
}

function showStat(m) {
  plots = (m.columns ?? []).flatMap((group) => Object.entries(group).map(([name, column]) => ({
    title: name === "value" ? m.expression : `${m.expression}: ${name}`, column,
  })));
  drawPlots();
  if (plots.length === 0) $("plot").replaceChildren(make("pre", m.text));
}

// --- messages ---

const show = {
  states: showStates, stacks: showStacks, stat: showStat,
  over() { showStates({ states: [], focus: "" }); showStacks({}); showStat({ text: "" }); },
};

addEventListener("message", ({ data }) => {
  $("said").textContent = { over: "no session of sdm", error: data.text }[data.type] ?? "";
  show[data.type]?.(data);
});
$("look").onclick = () => tell("look");
$("waits").onclick = () => tell("waits");
$("ask").onsubmit = (event) => {
  event.preventDefault();
  if ($("expr").value.trim()) tell("stat", $("expr").value);
};
const grid = $("grid");
grid.onmousemove = (event) => sayRank(rankAt(event));
grid.onclick = (event) => take(rankAt(event));
grid.onfocus = grid.onblur = drawGrid;
grid.onkeydown = (event) => {
  const step = { ArrowLeft: -shape.per, ArrowRight: shape.per, ArrowUp: -shape.per * shape.columns, ArrowDown: shape.per * shape.columns }[event.key];
  if (event.key === "Enter") take(at);
  else if (step === undefined) return;
  else {
    at = Math.max(0, Math.min(cells.end - 1, at + step));
    sayRank(at);
    drawGrid();
  }
  event.preventDefault();
};
addEventListener("resize", () => {
  drawGrid();
  drawStacks();
  drawPlots();
});
drawGrid();
tell("ready");
