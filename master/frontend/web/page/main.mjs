// The page: what is shown, and what a click or a key does. What ranks say is text, never HTML.

import { ask, enter, follow } from "./api.mjs";
import { badKind, kindOf, kinds, order, summary, where } from "./groups.mjs";
import { label, layout, matches } from "./icicle.mjs";
import { outputText, said } from "./lines.mjs";
import * as runs from "./runs.mjs";

const $ = (id) => document.getElementById(id);

const maxLines = 2000; // of a list
const maxRows = 200; // of the table of groups

let session = { n: 0, commands: [] };
let states = { groups: [], runs: runs.decode("") };
let shape = null; // of the grid
let at = 0; // rank of the grid's cursor
let tree = [];
let looked = 0; // version of the states when the stacks were looked at last; 0: not yet

// make makes an element with text.
function make(name, text, attributes = {}) {
  const e = document.createElement(name);
  if (text !== undefined) e.textContent = text;
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  return e;
}

// --- the focus ---

function focusRanges() {
  return runs.parse($("focus").value, states.runs.end);
}

function setFocus(text) {
  $("focus").value = text;
  showFocus();
}

function showFocus() {
  const ranges = focusRanges();
  $("focus-n").textContent = ranges ? `${runs.count(ranges)} of ${session.n}` : "";
  requestAnimationFrame(drawGrid);
}

// ranksForCall is the focus for the session; "" is all.
const ranksForCall = () => ($("focus").value.trim() === "all" ? "" : $("focus").value.trim());

// --- the grid ---

const dark = matchMedia("(prefers-color-scheme: dark)");

// colour returns a colour "#rrggbb" as a pixel; dim is mixed with the paper.
function colour(hex, dim) {
  const paper = dark.matches ? 20 : 255;
  const part = (i) => {
    const v = parseInt(hex.slice(i, i + 2), 16);
    return dim ? Math.round(paper + (v - paper) * 0.25) : v;
  };
  return ((255 << 24) | (part(5) << 16) | (part(3) << 8) | part(1)) >>> 0;
}

function drawGrid() {
  const began = performance.now();
  const canvas = $("grid"), n = states.runs.end;
  const scale = devicePixelRatio || 1;
  const width = Math.max(16, Math.floor($("grid-box").clientWidth * scale));
  shape = runs.shape(n, width, Math.floor(Math.min(innerHeight * 0.55, 640) * scale));
  const height = Math.max(1, shape.rows * shape.side);
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
    canvas.style.width = `${width / scale}px`;
    canvas.style.height = `${height / scale}px`;
  }
  const mode = dark.matches ? "dark" : "light";
  const of = [0, ...states.groups.map((g) => kindOf(g))];
  const colours = Uint32Array.from(of, (k, i) => (i === 0 ? 0 : colour(kinds[k][mode], false)));
  const dims = Uint32Array.from(of, (k, i) => (i === 0 ? 0 : colour(kinds[k][mode], true)));
  const weights = Uint8Array.from(of, (k, i) => (i === 0 ? 0 : k + 1));
  const units = runs.worst(states.runs, shape.per, shape.units, weights);
  const is = runs.chosen(focusRanges() ?? [[0, Math.max(0, n - 1)]], shape.per, shape.units);
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  runs.paint(new Uint32Array(image.data.buffer), width, shape, units, is, colours, dims);
  context.putImageData(image, 0, 0);
  ring(context, units);
  if (document.activeElement === canvas) {
    const unit = Math.floor(at / shape.per), side = Math.max(shape.side, 5);
    context.strokeStyle = dark.matches ? "#ffffff" : "#000000";
    context.lineWidth = 2;
    context.strokeRect((unit % shape.columns) * shape.side - 1, Math.floor(unit / shape.columns) * shape.side - 1, side + 2, side + 2);
  }
  canvas.setAttribute("aria-label", `${n} ranks: ${summary(states.groups)}`);
  document.documentElement.dataset.drawn = (performance.now() - began).toFixed(1);
}

const maxRings = 256;

// ring marks the few failures among cells that are too small to be seen.
function ring(context, units) {
  if (shape.side >= 5) return;
  const isBad = [false, ...states.groups.map((g) => kindOf(g) >= badKind)];
  const marked = [];
  for (let i = 0; i < units.length && marked.length <= maxRings; i++) if (isBad[units[i]]) marked.push(i);
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
  const scale = devicePixelRatio || 1;
  const column = Math.floor((event.offsetX * scale) / shape.side), row = Math.floor((event.offsetY * scale) / shape.side);
  const rank = (row * shape.columns + column) * shape.per;
  return column < shape.columns && rank >= 0 && rank < states.runs.end ? rank : -1;
}

function sayRank(rank) {
  if (rank < 0) return;
  const g = states.groups[runs.groupAt(states.runs, rank) - 1];
  const several = shape.per > 1 ? ` (a point is ${shape.per} ranks, and has the colour of the worst)` : "";
  $("at").textContent = g ? `rank ${rank}: ${g.state} ${where(g)}${several}` : `rank ${rank}`;
}

function takeGroupOf(rank) {
  const group = rank < 0 ? 0 : runs.groupAt(states.runs, rank);
  if (group > 0) setFocus(runs.text(runs.rangesOf(states.runs, (g) => g === group)));
}

// --- the groups ---

function showGroups() {
  const rows = [];
  const mode = dark.matches ? "dark" : "light";
  const places = order(states.groups);
  for (const i of places.slice(0, maxRows)) {
    const g = states.groups[i];
    const tr = make("tr");
    const button = make("button", g.ranks || `${runs.text(runs.rangesOf(states.runs, (x) => x === i + 1)).slice(0, 120)}…`, { type: "button", title: "take as the focus" });
    button.onclick = () => setFocus(runs.text(runs.rangesOf(states.runs, (x) => x === i + 1)));
    const first = make("td");
    first.append(button);
    const state = make("td");
    state.append(swatch(kinds[kindOf(g)][mode]), g.state);
    tr.append(first, make("td", String(g.n), { class: "num" }), state, make("td", where(g)));
    rows.push(tr);
  }
  if (places.length > maxRows) {
    const tr = make("tr");
    tr.append(make("td", `${places.length - maxRows} more groups`, { colspan: 4 }));
    rows.push(tr);
  }
  $("groups").tBodies[0].replaceChildren(...rows);
}

const svgName = "http://www.w3.org/2000/svg";

function svg(name, attributes) {
  const e = document.createElementNS(svgName, name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  return e;
}

function swatch(colour) {
  const e = svg("svg", { width: 12, height: 12, class: "swatch", "aria-hidden": "true" });
  e.append(svg("rect", { width: 12, height: 12, fill: colour }));
  return e;
}

let loading = false, stale = false;

// loadStates loads the states, and again if they have changed meanwhile; no more often than takes a fifth of a processor,
// and not while nobody can see them.
async function loadStates() {
  stale = true;
  if (loading) return;
  loading = true;
  try {
    while (stale) {
      stale = false;
      const began = performance.now();
      await loadOnce();
      const spent = performance.now() - began + Number(document.documentElement.dataset.drawn ?? 0);
      if (!document.hidden) await new Promise((resolve) => setTimeout(resolve, 4 * spent));
      else await new Promise((resolve) => addEventListener("visibilitychange", resolve, { once: true }));
    }
  } finally {
    loading = false;
  }
}

async function loadOnce() {
  const got = await ask("states");
  states = { ...got, runs: runs.decode(got.runs) };
  showFocus();
  showGroups();
  const running = states.groups.some((g) => g.state === "running" || g.state === "watched");
  const hints = [];
  if (looked > 0 && looked !== states.version) hints.push("ranks have gone on since these were looked at");
  if (running && !session.past) hints.push("a look stops running ranks for an instant");
  $("look-hint").textContent = hints.join("; ");
  lookAtRest();
}

// --- stacks and verdict ---

// lookAtRest looks at the stacks for the first time, where that disturbs nobody.
function lookAtRest() {
  const running = states.groups.some((g) => g.state === "running" || g.state === "watched");
  const still = !running && states.groups.some((g) => g.state === "stopped");
  if (looked === 0 && session.n > 0 && (session.past || still)) look(0);
}

// waitFor is how long many ranks may take, in seconds; 0 is the wait of the session.
const waitFor = () => (session.n > 65_536 ? Math.min(100, Math.round(session.n / 15_000)) : 0);

async function look(samples) {
  looked = states.version ?? 0;
  const running = states.groups.some((g) => g.state === "running" || g.state === "watched");
  const args = samples > 0 ? { samples, every: "1s" } : running && !session.past ? { samples: 1 } : {};
  $("look").disabled = $("samples").disabled = true;
  $("verdict").replaceChildren(make("li", "looking at the stacks"));
  try {
    const a = await ask("call", { command: "stacks", ranks: ranksForCall(), args, wait: waitFor() });
    tree = a.stack ?? [];
    showTree();
    $("stacks-text").textContent = a.text;
    showVerdict(a);
    showWaits(a.waits ?? []);
  } catch (error) {
    $("verdict").replaceChildren(make("li", error.message, { class: "bad" }));
  } finally {
    $("look").disabled = $("samples").disabled = false;
  }
}

function showVerdict(a) {
  const items = (a.done.verdict ?? []).map((f) => {
    const li = make("li", "", { class: f.kind === "deadlock" || f.kind === "mismatch" ? "bad" : "" });
    li.append(`${f.kind === "none" ? "no verdict" : f.certain ? "certain" : "so far"}: ${f.text} `);
    if (f.ranks) li.append(focusButton(f.ranks, "take these ranks"));
    return li;
  });
  if (items.length === 0) items.push(make("li", `nothing is known of why ranks wait; ${a.done.answered} of ${a.done.asked} ranks answered`));
  for (const name of ["missing", "lost"]) if (a.done[name]) items.push(make("li", `${name}: ${a.done[name]}`, { class: "bad" }));
  $("verdict").replaceChildren(...items);
}

function focusButton(ranks, text) {
  const button = make("button", text, { type: "button" });
  button.onclick = () => setFocus(ranks);
  return button;
}

function showWaits(waits) {
  $("waits-head").hidden = waits.length === 0;
  $("waits").replaceChildren(...waits.slice(0, maxRows).map((w) => {
    const li = make("li", `${w.ranks.length > 80 ? `${w.ranks.slice(0, 80)}…` : w.ranks} (${w.n}): ${w.text} `);
    li.append(focusButton(w.ranks, "these"));
    if (w.for) li.append(" ", focusButton(w.for, "those for whom they wait"));
    return li;
  }));
}

const rowHeight = 20;

function showTree() {
  const width = $("icicle").clientWidth;
  const { boxes, leftOut } = layout(tree);
  const depth = boxes.reduce((d, b) => Math.max(d, b.depth + 1), 0);
  const root = svg("svg", { width, height: depth * rowHeight, role: "group", "aria-label": `${boxes.length} frames of merged stacks` });
  const words = $("find").value;
  let hits = 0;
  for (const b of boxes.sort((x, y) => x.depth - y.depth || x.x - y.x)) {
    const hit = words.trim() === "" || matches(b.node, words);
    hits += hit ? 1 : 0;
    const text = label(b.node), w = Math.max(1, b.width * width - 1);
    const g = svg("g", { tabindex: 0, role: "button", class: hit ? "" : "miss", "aria-label": `${text}, ${b.node.n} ranks: ${b.node.ranks.slice(0, 80)}` });
    g.append(svg("rect", { x: b.x * width, y: b.depth * rowHeight, width: w, height: rowHeight - 1, fill: `hsl(${(35 + hash(b.node.func) % 40)} 75% ${62 + (b.depth % 2) * 6}%)` }));
    const title = svg("title", {});
    title.textContent = `${text}\n[${b.node.ranks.slice(0, 200)}] (${b.node.n})`;
    g.append(title);
    const fits = Math.floor((w - 6) / 7.3);
    if (fits > 3) {
      const t = svg("text", { x: b.x * width + 4, y: b.depth * rowHeight + 14 });
      t.textContent = text.length > fits ? `${text.slice(0, fits - 1)}…` : text;
      g.append(t);
    }
    g.onclick = () => setFocus(b.node.ranks);
    g.onkeydown = (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      setFocus(b.node.ranks);
    };
    root.append(g);
  }
  $("found").textContent = [words.trim() && `${hits} frames`, leftOut > 0 && `${leftOut} narrow frames are left out`].filter(Boolean).join(", ");
  $("icicle").replaceChildren(root);
}

function hash(text = "") {
  let h = 0;
  for (let i = 0; i < text.length; i++) h = (h * 31 + text.charCodeAt(i)) >>> 0;
  return h;
}

// --- output and events ---

// add adds lines to a list, which stays at its end if it is there.
function add(list, items) {
  if (items.length === 0) return;
  const end = list.scrollTop + list.clientHeight >= list.scrollHeight - 4;
  list.append(...items.slice(-maxLines));
  while (list.childElementCount > maxLines) list.firstElementChild.remove();
  if (end) list.scrollTop = list.scrollHeight;
}

function line(who, text, bad) {
  const li = make("li", undefined, bad ? { class: "bad" } : {});
  if (who) li.append(make("span", `[${who.length > 60 ? `${who.slice(0, 60)}…` : who}] `, { class: "who" }));
  li.append(text);
  return li;
}

function take(events) {
  const output = [], others = [];
  for (const e of events) {
    if (e.event === "output") output.push(line(e.from ?? e.ranks, outputText(e), false));
    else if (e.event !== undefined) others.push(line(e.ranks, said(e), e.event === "gap"));
    else if (e.missed) output.push(line("", `${e.missed} older lines are not kept`, true));
    else if (e.states) loadStates().catch(fail);
    else if (e.over) fail(new Error("the session has ended"));
  }
  add($("output"), output);
  add($("events"), others);
}

function fail(error) {
  $("link").textContent = error.message;
  $("link").className = "bad";
}

function tellLink(state) {
  if (state !== true) return fail(new Error(`${state.message}${state.closed ? "" : "; trying again"}`));
  $("link").className = "";
  $("link").textContent = session.past ? "a hang file" : session.steer ? "live; may steer" : "live; looks only";
}

// --- what a person does ---

async function steer(command, args = {}) {
  try {
    const a = await ask("call", { command, ranks: ranksForCall(), args });
    $("steered").textContent = a.text.slice(0, 500) || "done";
  } catch (error) {
    $("steered").textContent = error.message;
  }
}

function listen() {
  $("look").onclick = () => look(0);
  $("samples").onclick = () => look(3);
  $("all").onclick = () => setFocus("all");
  $("copy").onclick = () => navigator.clipboard.writeText($("focus").value);
  $("focus").oninput = showFocus;
  $("find").oninput = showTree;
  $("continue").onclick = () => steer("continue");
  $("interrupt").onclick = () => steer("interrupt");
  $("break").onclick = () => steer("break", { location: $("place").value });
  $("ask").onsubmit = async (event) => {
    event.preventDefault();
    $("answer").textContent = "…";
    try {
      const a = await ask("call", { command: $("how").value, ranks: ranksForCall(), args: { expr: $("expr").value } });
      $("answer").textContent = a.text;
    } catch (error) {
      $("answer").textContent = error.message;
    }
  };
  const grid = $("grid");
  grid.onmousemove = (event) => sayRank(rankAt(event));
  grid.onclick = (event) => takeGroupOf(rankAt(event));
  grid.onfocus = grid.onblur = drawGrid;
  grid.onkeydown = (event) => {
    const step = { ArrowLeft: -shape.per, ArrowRight: shape.per, ArrowUp: -shape.per * shape.columns, ArrowDown: shape.per * shape.columns }[event.key];
    if (event.key === "Enter") takeGroupOf(at);
    else if (step === undefined) return;
    else {
      at = Math.max(0, Math.min(states.runs.end - 1, at + step));
      sayRank(at);
      drawGrid();
    }
    event.preventDefault();
  };
  const again = () => {
    drawGrid();
    showGroups();
    showTree();
  };
  addEventListener("resize", again);
  dark.addEventListener("change", again);
}

async function start() {
  listen();
  await enter();
  [session] = await Promise.all([ask("session"), loadOnce()]);
  document.title = $("title").textContent = `${session.program || "sdm"}: ${session.n} ranks`;
  $("steer").hidden = !session.steer;
  $("samples").hidden = session.past;
  showFocus();
  lookAtRest();
  document.documentElement.dataset.first = performance.now().toFixed(0);
  if (session.past) {
    const a = await ask("call", { command: "info file" }).catch(() => null);
    if (a) add($("events"), a.text.split("\n").filter(Boolean).map((text) => line("", text, false)));
    const output = await ask("call", { command: "info output" }).catch(() => null);
    if (output) add($("output"), output.text.split("\n").filter(Boolean).map((text) => line("", text, false)));
  }
  await follow(take, tellLink);
}

start().catch(fail);
