// The grid: a cell for each rank, or several ranks a point.

import { $, dark, make, swatch } from "./dom.mjs";
import { badKind, kindOf, kinds, summary, where } from "./groups.mjs";
import * as runs from "./runs.mjs";

let shape = null;
let at = 0; // rank of the cursor
let shown = { runs: runs.decode(""), groups: [], colours: [], weights: [], legend: [] };

// byState returns what the grid shows of states: the worst has the greatest weight.
export function byState(states) {
  const mode = dark.matches ? "dark" : "light";
  const present = [...new Set(states.groups.map(kindOf))].sort((a, b) => b - a);
  return {
    runs: states.runs, groups: states.groups, summary: summary(states.groups),
    colours: states.groups.map((g) => kinds[kindOf(g)][mode]),
    weights: states.groups.map((g) => kindOf(g) + 1),
    isBad: states.groups.map((g) => kindOf(g) >= badKind),
    say: (i) => `${states.groups[i].state} ${where(states.groups[i])}`,
    legend: present.map((k) => ({ name: kinds[k].name, colour: kinds[k][mode] })),
  };
}

// bySets returns what the grid shows of sets of ranks, each with a name and a colour; of several ranks in a point the
// set of the fewest ranks is shown.
export function bySets(sets, end) {
  const pieces = [];
  sets.forEach((s, i) => {
    for (const [a, b] of runs.parse(s.ranks, end) ?? []) pieces.push([a, Math.min(b, end - 1), i + 1]);
  });
  pieces.sort((x, y) => x[0] - y[0]);
  const lengths = [], groups = [];
  let next = 0;
  for (const [a, b, i] of pieces) {
    if (b < next) continue; // of two sets the first
    if (a > next) { lengths.push(a - next); groups.push(0); }
    lengths.push(b - Math.max(a, next) + 1);
    groups.push(i);
    next = b + 1;
  }
  const n = sets.map((_, i) => lengths.reduce((sum, l, k) => sum + (groups[k] === i + 1 ? l : 0), 0));
  const rank = n.map((_, i) => i).sort((i, k) => n[k] - n[i]);
  const weights = [];
  rank.forEach((i, place) => (weights[i] = Math.min(255, 1 + Math.floor((place * 254) / sets.length))));
  return {
    runs: { lengths, groups, end: Math.max(next, end) }, groups: sets, summary: `${sets.length} groups`,
    colours: sets.map((s) => s.colour), weights, isBad: sets.map(() => false), say: (i) => sets[i].name,
    legend: sets.slice(0, 12).map((s) => ({ name: s.name, colour: s.colour })),
  };
}

// pixel returns a colour "#rrggbb" as a pixel; dim is mixed with the paper.
function pixel(hex, dim) {
  const paper = dark.matches ? 20 : 255;
  const part = (i) => {
    const v = parseInt(hex.slice(i, i + 2), 16);
    return dim ? Math.round(paper + (v - paper) * 0.25) : v;
  };
  return ((255 << 24) | (part(5) << 16) | (part(3) << 8) | part(1)) >>> 0;
}

// show draws the grid of a scheme (see byState), with the ranks that are not in the focus dim.
export function show(scheme, focus) {
  const began = performance.now();
  const canvas = $("grid"), n = scheme.runs.end;
  if (!canvas) return;
  shown = scheme;
  const ratio = devicePixelRatio || 1;
  const width = Math.max(16, Math.floor($("grid-box").clientWidth * ratio));
  shape = runs.shape(n, width, Math.floor(Math.min(innerHeight * 0.55, 640) * ratio));
  const height = Math.max(1, shape.rows * shape.side);
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
    canvas.style.width = `${width / ratio}px`;
    canvas.style.height = `${height / ratio}px`;
  }
  const units = runs.worst(scheme.runs, shape.per, shape.units, Uint8Array.from([0, ...scheme.weights]));
  const is = runs.chosen(focus ?? [[0, Math.max(0, n - 1)]], shape.per, shape.units);
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const all = (dim) => Uint32Array.from([0, ...scheme.colours.map((c) => pixel(c, dim))]);
  runs.paint(new Uint32Array(image.data.buffer), width, shape, units, is, all(false), all(true));
  context.putImageData(image, 0, 0);
  ring(context, units, scheme.isBad);
  if (document.activeElement === canvas) {
    const unit = Math.floor(at / shape.per), side = Math.max(shape.side, 5);
    context.strokeStyle = dark.matches ? "#ffffff" : "#000000";
    context.lineWidth = 2;
    context.strokeRect((unit % shape.columns) * shape.side - 1, Math.floor(unit / shape.columns) * shape.side - 1, side + 2, side + 2);
  }
  canvas.setAttribute("aria-label", `${n} ranks: ${scheme.summary}`);
  $("legend").replaceChildren(...scheme.legend.map((l) => {
    const e = make("span", "", { class: "key" });
    e.append(swatch(l.colour), l.name);
    return e;
  }));
  document.documentElement.dataset.drawn = (performance.now() - began).toFixed(1);
}

const maxRings = 256;

// ring marks the few failures among cells that are too small to be seen.
function ring(context, units, isBad) {
  if (shape.side >= 5) return;
  const marked = [];
  for (let i = 0; i < units.length && marked.length <= maxRings; i++) if (units[i] > 0 && isBad[units[i] - 1]) marked.push(i);
  if (marked.length > maxRings) return;
  context.lineWidth = 2;
  context.strokeStyle = dark.matches ? "#ffffff" : "#000000";
  for (const i of marked) {
    context.beginPath();
    context.arc((i % shape.columns) * shape.side, Math.floor(i / shape.columns) * shape.side, 7, 0, 2 * Math.PI);
    context.stroke();
  }
}

// rankAt returns the first rank of a point of the grid, or -1.
function rankAt(event) {
  const ratio = devicePixelRatio || 1;
  const column = Math.floor((event.offsetX * ratio) / shape.side), row = Math.floor((event.offsetY * ratio) / shape.side);
  const rank = (row * shape.columns + column) * shape.per;
  return column < shape.columns && rank >= 0 && rank < shown.runs.end ? rank : -1;
}

function sayRank(rank) {
  if (rank < 0) return;
  const i = runs.groupAt(shown.runs, rank) - 1;
  const several = shape.per > 1 ? ` (a point is ${shape.per} ranks, and has the colour of the worst)` : "";
  $("at").textContent = i >= 0 ? `rank ${rank}: ${shown.say(i)}${several}` : `rank ${rank}`;
}

// listen lets clicks and keys take the group of a rank.
export function listen(take, redraw) {
  const grid = $("grid");
  if (!grid) return;
  const takeGroupOf = (rank) => {
    const group = rank < 0 ? 0 : runs.groupAt(shown.runs, rank);
    if (group > 0) take(runs.text(runs.rangesOf(shown.runs, (g) => g === group)));
  };
  grid.onmousemove = (event) => sayRank(rankAt(event));
  grid.onclick = (event) => takeGroupOf(rankAt(event));
  grid.onfocus = grid.onblur = redraw;
  grid.onkeydown = (event) => {
    const row = shape.per * shape.columns;
    const step = { ArrowLeft: -shape.per, ArrowRight: shape.per, ArrowUp: -row, ArrowDown: row }[event.key];
    if (event.key === "Enter") takeGroupOf(at);
    else if (step === undefined) return;
    else {
      at = Math.max(0, Math.min(shown.runs.end - 1, at + step));
      sayRank(at);
      redraw();
    }
    event.preventDefault();
  };
}
