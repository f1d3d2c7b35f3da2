// Pictures of values: strip, histogram, heat map of arrays, sparklines.

import { dark, make, pressable, short, svg, taker } from "./dom.mjs";
import { arrayOf, bars, byRank, describe, numberOf, scale, setOf, strip, written } from "./numbers.mjs";
import { parse } from "./runs.mjs";

const badColour = () => (dark.matches ? "#ff8f87" : "#b3131f");

function canvasOf(width, height, label) {
  const canvas = make("canvas", undefined, { role: "img", "aria-label": label });
  canvas.width = width;
  canvas.height = height;
  return canvas;
}

// plot returns pictures of values of ranks 0 to end-1, or null if they are no numbers and no arrays of numbers.
export function plot(values, end, width, take) {
  const rows = values.map((v) => ({ ...v, list: arrayOf(v.value) }));
  if (rows.some((r) => r.list)) return heat(rows.filter((r) => r.list), end, width, take);
  const of = byRank(values, end);
  return of && plotNumbers(of, width, take);
}

function plotNumbers(of, width, take) {
  const d = describe(of), box = make("div");
  const odd = new Set(d.odd);
  const words = [`${d.n} numbers from ${written(d.min)} to ${written(d.max)}`];
  if (d.n > 0) words.push(`median ${written(d.median)}, mean ${written(d.mean)}`);
  box.append(make("p", words.join("; ")));
  for (const [name, ranks] of [["odd", d.odd], ["NaN or infinite", d.nan]]) {
    if (ranks.length === 0) continue;
    const set = setOf(ranks), p = make("p", "", { class: "bad" });
    p.append(`${ranks.length} ${name}: `, taker(short(set, 60), set, take), ranks.length <= 4 ? ` ${ranks.map((r) => written(of[r])).join(", ")}` : "");
    box.append(p);
  }
  if (d.n === 0) return box;
  const height = 120, { per, all } = strip(of, width), canvas = canvasOf(width, height, `a point for each rank, by number: ${words.join("; ")}`);
  const context = canvas.getContext("2d"), y = (x) => (d.max > d.min ? height - 6 - ((x - d.min) / (d.max - d.min)) * (height - 14) : height / 2);
  const step = width / all.length, ink = dark.matches ? "#79b8ff" : "#0550ae";
  all.forEach((c, i) => {
    const x = i * step, w = Math.max(1, Math.min(4, step - 1));
    const isOdd = per === 1 && odd.has(c.first);
    context.fillStyle = isOdd ? badColour() : ink;
    if (c.low <= c.high) context.fillRect(x + (step - w) / 2, y(c.high) - 2, w, Math.max(4, y(c.low) - y(c.high) + 4));
    context.fillStyle = badColour();
    if (c.bad) context.fillRect(x, 0, Math.max(2, w), 5);
  });
  const says = make("p", "by rank: a click takes the ranks of a point", { class: "hint", role: "status" });
  const columnAt = (event) => all[Math.min(all.length - 1, Math.max(0, Math.floor(event.offsetX / (canvas.clientWidth / all.length))))];
  canvas.onmousemove = (event) => {
    const c = columnAt(event);
    says.textContent = c.first === c.last ? `rank ${c.first}: ${of[c.first] === undefined ? "no number" : written(of[c.first])}` : `ranks ${c.first}-${c.last}: ${written(c.low)} to ${written(c.high)}`;
  };
  canvas.onclick = (event) => {
    const c = columnAt(event);
    take(c.first === c.last ? String(c.first) : `${c.first}-${c.last}`);
  };
  box.append(canvas, says, histogram(of, d, width, take));
  return box;
}

function histogram(of, d, width, take) {
  const all = bars(of, d), most = Math.max(...all.map((b) => b.ranks.length)), height = 90;
  const root = svg("svg", { width, height: height + 18, role: "group", class: "bars", "aria-label": `histogram: ${all.length} ranges of equal width` });
  all.forEach((b, i) => {
    const w = width / all.length, h = b.ranks.length === 0 ? 0 : Math.max(2, (b.ranks.length / most) * height);
    const text = `${written(b.from)} to ${written(b.to)}: ${b.ranks.length} ranks`;
    const g = svg("g", b.ranks.length > 0 ? { tabindex: 0, role: "button", "aria-label": text } : {});
    g.append(svg("title", {}, text), svg("rect", { x: i * w, y: height - h, width: Math.max(1, w - 1), height: h }));
    if (b.ranks.length > 0) pressable(g, () => take(setOf(b.ranks)));
    root.append(g);
  });
  root.append(svg("text", { x: 0, y: height + 14 }, written(d.min)), svg("text", { x: width, y: height + 14, "text-anchor": "end" }, written(d.max)));
  return root;
}

const maxMapRows = 200;

// heat shows arrays: a row for the ranks with the same array, a column for each element; what is no number is marked.
function heat(rows, end, width, take) {
  const first = (r) => parse(r.ranks, end)?.[0]?.[0] ?? 0;
  rows.sort((a, b) => first(a) - first(b));
  const shown = rows.slice(0, maxMapRows), columns = Math.max(...shown.map((r) => r.list.length));
  let low = Infinity, high = -Infinity;
  const bad = [];
  for (const r of shown) r.list.forEach((x, i) => {
    if (Number.isFinite(x)) {
      low = Math.min(low, x);
      high = Math.max(high, x);
    } else bad.push({ r, i, x });
  });
  const side = Math.max(1, Math.min(24, Math.floor(width / columns))), tall = Math.max(6, Math.min(20, Math.floor(400 / shown.length)));
  const box = make("div"), label = `${shown.length} different arrays of ${columns} elements, from ${written(low)} to ${written(high)}`;
  const canvas = canvasOf(Math.min(width, side * columns), tall * shown.length, label), context = canvas.getContext("2d");
  shown.forEach((r, k) => r.list.forEach((x, i) => {
    context.fillStyle = Number.isFinite(x) ? scale(high > low ? (x - low) / (high - low) : 0.5) : "#ff0040";
    context.fillRect(i * side, k * tall, Math.max(1, side - (side > 4 ? 1 : 0)), tall - (tall > 4 ? 1 : 0));
    if (!Number.isFinite(x) && side >= 8) {
      context.strokeStyle = "#ffffff";
      context.strokeRect(i * side + 2.5, k * tall + 2.5, side - 6, tall - 6);
    }
  }));
  box.append(make("p", `${label}; dark is low${rows.length > shown.length ? `; ${rows.length - shown.length} more arrays are not drawn` : ""}`));
  for (const b of bad.slice(0, 8)) {
    const p = make("p", "", { class: "bad" });
    p.append(`${written(b.x)} at [${b.i}] of `, taker(short(b.r.ranks, 40), b.r.ranks, take));
    box.append(p);
  }
  if (bad.length > 8) box.append(make("p", `${bad.length - 8} more elements are no numbers`, { class: "bad" }));
  const says = make("p", "a row is an array, a column an element; a click takes the ranks of a row", { class: "hint", role: "status" });
  const rowAt = (event) => shown[Math.min(shown.length - 1, Math.floor(event.offsetY / tall))];
  canvas.onmousemove = (event) => {
    const r = rowAt(event), i = Math.floor(event.offsetX / side);
    if (r?.list[i] !== undefined) says.textContent = `[${i}] of ${short(r.ranks, 60)}: ${written(r.list[i])}`;
  };
  canvas.onclick = (event) => take(rowAt(event).ranks);
  const scroll = make("div", undefined, { class: "scroll" });
  scroll.append(canvas);
  box.append(scroll, says);
  return box;
}

// colours returns the colour of each value, for the cells of ranks.
export function colours(values) {
  const numbers = values.map((v) => numberOf(v.value)), finite = numbers.filter(Number.isFinite);
  const low = finite.reduce((a, b) => Math.min(a, b), Infinity), high = finite.reduce((a, b) => Math.max(a, b), -Infinity);
  return numbers.map((x, i) => (Number.isFinite(x) ? scale(high > low ? (x - low) / (high - low) : 0.5) : x === undefined ? scale(i / values.length) : "#ff0040"));
}

// spark returns a small line of numbers over time.
export function spark(list, label, width = 120, height = 22) {
  const high = Math.max(...list, 1e-9), root = svg("svg", { width, height, class: "spark", role: "img", "aria-label": label });
  const step = width / Math.max(1, list.length - 1);
  root.append(svg("polyline", { points: list.map((x, i) => `${(i * step).toFixed(1)},${(height - 2 - (x / high) * (height - 4)).toFixed(1)}`).join(" ") }));
  return root;
}
