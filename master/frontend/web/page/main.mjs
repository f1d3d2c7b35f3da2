// The page: what is shown, and what a click or a key does.

import { $, dark, hash, make, on, short, swatch, taker } from "./dom.mjs";
import { ask, enter, follow, kept } from "./api.mjs";
import { kindOf, kinds, order, where } from "./groups.mjs";
import { outputText, said } from "./lines.mjs";
import { valuesOf, written } from "./numbers.mjs";
import * as runs from "./runs.mjs";
import { colours, plot, spark } from "./plot.mjs";
import * as grid from "./grid.mjs";
import * as looks from "./looks.mjs";

const maxLines = 2000; // of a list
const maxRows = 200; // of the table of groups
const fewRows = 8; // of it, until all are wanted
const maxLooks = 30; // that are kept
const maxPlotted = 65_536; // ranks whose values are asked for one by one

let session = { n: 0, commands: [] };
let states = { groups: [], runs: runs.decode("") };
let seen = []; // looks at the stacks, the last one last
let shown = null; // of these
let looked = 0; // version of the states when the stacks were looked at last; 0: not yet
let hosts = null; // as sets with names
let values = null; // the last ones
let allGroups = false;

// --- the focus ---

let ranges = null; // of the focus; null: all, or a set that only the session knows

function setFocus(text) {
  $("focus").value = text;
  showFocus();
}

// isAll tells that nothing was taken.
const isAll = () => ["", "all"].includes($("focus").value.trim());

// ranksForCall is the focus for the session; "" is all.
const ranksForCall = () => (isAll() ? "" : $("focus").value.trim());

let asked = 0;

// showFocus shows what is in the focus everywhere. A set with names is what the session says it is.
function showFocus() {
  const text = $("focus").value, now = ++asked;
  ranges = runs.parse(text, states.runs.end);
  const show = (note) => {
    $("focus-n").textContent = ranges ? `${runs.count(ranges)} of ${session.n}` : note;
    if (isAll()) ranges = null;
    requestAnimationFrame(drawAll);
  };
  show("…");
  if (ranges || isAll() || kept) return;
  ask("call", { command: "focus", args: { set: text } }).then((a) => {
    if (now !== asked) return;
    ranges = runs.parse(a.events?.[0]?.result?.set ?? "x", states.runs.end);
    show("");
  }, (error) => now === asked && show(error.message));
}

// outside tells that no rank of a set is in the focus; what is no set of ranks, as the starter's name, is not outside.
const outside = (set) => {
  const of = ranges && runs.parse(set, states.runs.end);
  return Boolean(of) && !runs.intersects(ranges, of);
};

let dimmed = ""; // the focus by which lines of output are hidden

// drawAll draws what depends on the focus. It is called at each change of the states: what is large is left as it is
// while the focus is the same.
function drawAll() {
  drawGrid();
  for (const e of document.querySelectorAll("[data-set]")) e.classList.toggle("miss", outside(e.getAttribute("data-set")));
  const focus = ranges ? runs.text(ranges) : "all", same = focus === dimmed;
  for (const e of document.querySelectorAll(same ? "#groups [data-in]" : "[data-in]")) e.classList.toggle("out", e.dataset.in !== "" && outside(e.dataset.in));
  dimmed = focus;
  showTree();
}

// --- the grid and the groups ---

function scheme() {
  const by = $("by")?.value;
  if (by === "host" && hosts) return grid.bySets(hosts, states.runs.end);
  if (by === "value" && values) {
    const c = colours(values);
    return grid.bySets(values.map((v, i) => ({ name: short(v.value, 40), ranks: v.ranks, colour: c[i] })), states.runs.end);
  }
  const s = grid.byState(states);
  if (by !== "place") return s;
  const names = states.groups.map((g) => g.func || g.state), palette = (name) => hsl(hash(name) % 360);
  return { ...s, colours: names.map(palette), say: (i) => `${names[i]} ${where(states.groups[i])}`,
    legend: [...new Set(names)].slice(0, 12).map((name) => ({ name, colour: palette(name) })) };
}

// hsl returns a colour of a hue as "#rrggbb".
function hsl(hue) {
  const part = (n) => {
    const k = (n + hue / 30) % 12;
    return Math.round(255 * (0.55 - 0.3 * Math.max(-1, Math.min(k - 3, 9 - k, 1)))).toString(16).padStart(2, "0");
  };
  return `#${part(0)}${part(8)}${part(4)}`;
}

function drawGrid() {
  grid.show(scheme(), ranges);
}

function showGroups() {
  if (!$("groups")) return;
  const rows = [];
  const mode = dark.matches ? "dark" : "light";
  const places = order(states.groups), most = allGroups ? maxRows : fewRows;
  for (const i of places.slice(0, most)) {
    const g = states.groups[i];
    const tr = make("tr", undefined, { "data-in": g.ranks ?? "" });
    const set = () => runs.text(runs.rangesOf(states.runs, (x) => x === i + 1));
    const button = make("button", short(g.ranks || set(), 120), { type: "button", title: "take as the focus" });
    button.onclick = () => setFocus(set());
    const first = make("td"), state = make("td"), place = make("td", where(g));
    first.append(button);
    state.append(swatch(kinds[kindOf(g)][mode]), g.state);
    const m = /^(.+):(\d+)$/.exec(g.where ?? "");
    if (m && !session.past) {
      const source = make("button", "source", { type: "button" });
      source.onclick = () => showSource({ file: m[1], line: +m[2], ranks: g.ranks || set() });
      place.append(" ", source);
    }
    tr.append(first, make("td", String(g.n), { class: "num" }), state, place);
    rows.push(tr);
  }
  if (places.length > most) {
    const tr = make("tr"), td = make("td", undefined, { colspan: 4 });
    const more = make("button", `${places.length - most} more groups`, { type: "button" });
    more.onclick = () => {
      allGroups = true;
      showGroups();
    };
    td.append(allGroups ? `${places.length - most} more groups` : more);
    tr.append(td);
    rows.push(tr);
  }
  $("groups").tBodies[0].replaceChildren(...rows);
}

// loadHosts asks which ranks are on which host. Where several hosts were said as one, each is asked for.
async function loadHosts() {
  if (hosts) return;
  const a = await ask("call", { command: "info hosts" });
  const found = [];
  for (const e of a.events ?? []) {
    const names = e.result?.hosts ?? [];
    if (names.length < 2 || names.length > 512 || kept) found.push({ name: names.length > 1 ? `${names[0]} to ${names.at(-1)}` : names[0] ?? "?", ranks: e.ranks });
    else for (const name of names) {
      const set = await ask("call", { command: "focus", args: { set: `@host:${name}` } }).catch(() => null);
      const ranks = set?.events?.[0]?.result?.set;
      if (ranks) found.push({ name, ranks });
    }
  }
  hosts = found.map((h, i) => ({ ...h, colour: hsl((i * 137) % 360) }));
}

let loading = false, stale = false;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

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
      if (!document.hidden) await pause(4 * spent);
      else await new Promise((resolve) => addEventListener("visibilitychange", resolve, { once: true }));
    }
  } finally {
    loading = false;
  }
}

const isRunning = () => states.groups.some((g) => g.state === "running" || g.state === "watched");

async function loadOnce() {
  const got = await ask("states");
  states = { ...got, runs: runs.decode(got.runs) };
  showGroups();
  showFocus();
  if (kept) return;
  const hints = [];
  if (looked > 0 && looked !== states.version) hints.push("ranks have gone on since these were looked at");
  if (isRunning() && !session.past) hints.push("a look stops running ranks for an instant");
  $("look-hint").textContent = hints.join("; ");
  lookAtRest();
}

// --- looks at the stacks ---

// lookAtRest looks at the stacks for the first time, where that disturbs nobody.
function lookAtRest() {
  const still = !isRunning() && states.groups.some((g) => g.state === "stopped");
  if (looked === 0 && session.n > 0 && (session.past || still)) look(0);
}

// waitFor is how long many ranks may take, in seconds; 0 is the wait of the session.
const waitFor = () => (session.n > 65_536 ? Math.min(100, Math.round(session.n / 15_000)) : 0);

async function look(samples) {
  looked = states.version ?? 0;
  const args = samples > 0 ? { samples, every: "1s" } : isRunning() && !session.past ? { samples: 1 } : {};
  $("look").disabled = $("samples").disabled = true;
  if (!shown) $("verdict").replaceChildren(make("p", "looking at the stacks", { class: "hint" }));
  try {
    const a = await ask("call", { command: "stacks", ranks: ranksForCall(), args, wait: waitFor() });
    seen.push({ ...a, when: new Date(), set: ranksForCall() || "all" });
    seen = seen.slice(-maxLooks);
    showLook(seen.length - 1);
  } catch (error) {
    $("verdict").replaceChildren(make("p", error.message, { class: "bad" }));
  } finally {
    $("look").disabled = $("samples").disabled = false;
  }
}

// showLook shows one of the looks.
function showLook(i) {
  shown = seen[i];
  $("slider-box").hidden = seen.length < 2;
  $("slider").max = seen.length;
  $("slider").value = i + 1;
  $("slider-says").textContent = `${i + 1} of ${seen.length}, ${shown.when.toLocaleTimeString()}, ranks ${short(shown.set, 40)}`;
  looks.showVerdict(shown, setFocus);
  looks.showGraph(shown.graph, setFocus);
  looks.showWaits(shown.waits ?? [], setFocus);
  $("stacks-text").textContent = short(shown.text, 200_000);
  drawAll();
}

let drawn = []; // what the boxes show

function showTree() {
  if (!shown || !$("icicle")) return;
  const now = [shown, ranges ? runs.text(ranges) : "all", $("find").value, $("icicle").clientWidth];
  if (now.every((x, i) => x === drawn[i])) return;
  drawn = now;
  looks.showTree(shown.stack ?? [], shown.frames, ranges, states.runs.end, setFocus, (node) => session.past || showSource(node));
}

async function lookAgain() {
  while ($("every").checked) {
    if (!document.hidden) await look(0);
    await pause(5000);
  }
}

// showSource shows the lines around a frame, and which ranks stand on them.
async function showSource({ file, line, ranks }) {
  if (!file || !line) return;
  $("source-box").hidden = false;
  $("source-says").textContent = `${file}:${line} …`;
  const [one] = runs.parse(ranks ?? "", states.runs.end) ?? [];
  try {
    const name = file.split("/").at(-1);
    const a = await ask("call", { command: "list", ranks: one ? String(one[0]) : ranksForCall(), args: { location: `${name}:${line}` } });
    const listed = a.events?.find((e) => e.result?.lines)?.result;
    if (!listed) throw new Error(a.text.trim() || "there is no source");
    const stand = looks.standing(shown?.stack, file);
    for (const g of states.groups) {
      const m = /^(.+):(\d+)$/.exec(g.where ?? "");
      if (!m || m[1].split("/").at(-1) !== name || !g.ranks) continue;
      const known = stand.get(+m[2]) ?? { here: [], calls: [] };
      if (!known.here.includes(g.ranks)) known.here.push(g.ranks);
      stand.set(+m[2], known);
    }
    $("source").tBodies[0].replaceChildren(...listed.lines.map((l) => {
      const tr = make("tr", undefined, stand.has(l.n) ? { class: "here" } : {}), who = make("td");
      const all = stand.get(l.n);
      const join = (sets) => runs.text(runs.parse(sets.filter(Boolean).join(",") || "x", states.runs.end) ?? []);
      if (all) for (const [mark, set] of [["▶", join(all.here)], ["↳", join(all.calls)]]) if (set) who.append(mark, taker(short(set, 24), set, setFocus), " ");
      tr.append(who, make("td", String(l.n), { class: "num" }), make("td", l.text));
      return tr;
    }));
    $("source-says").textContent = `${listed.file ?? file}: ▶ stands there, ↳ has called from there`;
  } catch (error) {
    $("source").tBodies[0].replaceChildren();
    $("source-says").textContent = `${file}:${line}: ${error.message}`;
  }
}

// --- values, memory and processor time ---

async function askValues() {
  $("answer").textContent = "…";
  $("plot").replaceChildren();
  try {
    const command = $("how").value, args = { expr: $("expr").value };
    if (command === "print" && session.n <= maxPlotted) args.limit = -1;
    const a = await ask("call", { command, ranks: ranksForCall(), args });
    $("answer").textContent = short(a.text, 100_000);
    values = valuesOf(a.events);
    if (values) $("plot").replaceChildren(plot(values, states.runs.end, $("plot").clientWidth, setFocus) ?? "");
    if ($("by").value === "value") drawGrid();
  } catch (error) {
    $("answer").textContent = error.message;
  }
}

const maxTimes = 60, maxUsed = 16;
const used = []; // the last answers: memory and processor time by rank

async function followUsage() {
  while ($("usage").checked) {
    if (!document.hidden) {
      try {
        const a = await ask("call", { command: "usage", ranks: ranksForCall(), args: { limit: session.n <= 4096 ? -1 : 0 } });
        const now = { at: performance.now(), rss: new Map(), cpu: new Map(), spans: {} };
        for (const e of a.events ?? []) for (const name of ["rss", "cpu"]) {
          const c = e.columns?.[name];
          if (c?.values) for (const v of c.values) for (const [x, y] of runs.parse(v.ranks, states.runs.end) ?? []) for (let r = x; r <= y; r++) now[name].set(r, Number(v.value));
          else if (c?.max) now.spans[name] = c;
        }
        used.push(now);
        if (used.length > maxTimes) used.shift();
        showUsage(a);
      } catch (error) {
        $("usage-says").textContent = error.message;
      }
    }
    await pause(2000);
  }
}

function showUsage(a) {
  const last = used.at(-1), ranks = [...last.rss.keys()].sort((x, y) => last.rss.get(y) - last.rss.get(x));
  const percent = (r) => used.slice(1).map((u, i) => (100_000 * ((u.cpu.get(r) ?? 0) - (used[i].cpu.get(r) ?? 0))) / (u.at - used[i].at));
  const rows = ranks.slice(0, maxUsed).map((r) => {
    const tr = make("tr"), who = make("td"), memory = make("td"), cpu = make("td"), share = percent(r);
    const mib = used.map((u) => (u.rss.get(r) ?? 0) / 1024);
    who.append(taker(String(r), String(r), setFocus));
    memory.append(spark(mib, `memory of rank ${r} over time`), ` ${written(+mib.at(-1).toFixed(1))} MiB`);
    cpu.append(spark(share.length > 0 ? share : [0], `processor time of rank ${r} over time`), share.length > 0 ? ` ${Math.round(share.at(-1))} %` : " …");
    tr.append(who, memory, cpu);
    return tr;
  });
  $("usage-table").hidden = rows.length === 0;
  $("usage-table").tBodies[0].replaceChildren(...rows);
  $("usage-says").textContent = rows.length === 0 ? a.text.trim() : ranks.length > maxUsed ? `the ${maxUsed} ranks with the most memory` : "";
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
  const li = make("li", undefined, { ...(bad ? { class: "bad" } : {}), "data-in": bad ? "" : who ?? "" });
  if (who) li.append(make("span", `[${short(who, 60)}] `, { class: "who" }));
  li.append(text);
  if (!bad && who) li.classList.toggle("out", outside(who));
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
  if (!$("link")) return;
  $("link").textContent = error.message;
  $("link").className = "bad";
}

function tellLink(state) {
  if (state !== true) return fail(new Error(`${state.message}${state.closed ? "" : "; trying again"}`));
  $("link").className = "dim";
  $("link").textContent = session.past ? "a hang file" : session.change ? "live; may change" : session.steer ? "live; may steer" : "live; looks only";
}

// --- what a person does ---

async function steer(command, args = {}) {
  try {
    const a = await ask("call", { command, ranks: ranksForCall(), args });
    $("steered").textContent = short(a.text, 2000) || "done";
  } catch (error) {
    $("steered").textContent = error.message;
  }
}

async function give(event) {
  event.preventDefault();
  const text = $("line").value;
  $("said").textContent = "…";
  try {
    const a = await ask("call", { line: text, ranks: ranksForCall() });
    $("said").textContent = short(a.text, 100_000) || "done";
    $("line").select();
  } catch (error) {
    $("said").textContent = error.message;
  }
}

async function copy() {
  const text = $("focus").value;
  try {
    await navigator.clipboard.writeText(text);
  } catch { // a file, or an old browser: marked, for the user to copy
    $("focus").select();
    document.execCommand("copy");
  }
  $("focus-n").textContent = "copied";
}

function listen() {
  on("look", "click", () => look(0));
  on("samples", "click", () => look(3));
  on("every", "change", () => $("every").checked && lookAgain());
  on("slider", "input", () => showLook($("slider").value - 1));
  on("all", "click", () => setFocus("all"));
  on("copy", "click", copy);
  on("focus", "input", showFocus);
  on("find", "input", showTree);
  on("continue", "click", () => steer("continue"));
  on("interrupt", "click", () => steer("interrupt"));
  on("break", "click", () => steer("break", { location: $("place").value }));
  on("points", "click", () => steer("info breakpoints"));
  on("line-form", "submit", give);
  on("usage", "change", () => $("usage").checked && followUsage());
  on("by", "change", async () => {
    if ($("by").value === "host") await loadHosts().catch((error) => ($("at").textContent = error.message));
    if ($("by").value === "value" && !values) $("at").textContent = "no values were asked for yet: see below";
    drawGrid();
  });
  on("ask", "submit", (event) => {
    event.preventDefault();
    askValues();
  });
  grid.listen(setFocus, drawGrid);
  const again = () => {
    showGroups();
    drawAll();
  };
  addEventListener("resize", again);
  dark.addEventListener("change", again);
}

// startFile shows what is within a page that is one file, beside what the report says.
async function startFile() {
  for (const e of document.querySelectorAll(".live")) e.hidden = false;
  [session, shown] = [kept.session, kept.stacks];
  await loadOnce();
  for (const e of document.querySelectorAll("svg[role=img]:has([data-set])")) e.setAttribute("role", "group");
  looks.pressables(document, setFocus);
  for (const v of kept.values ?? []) {
    const found = valuesOf(v.events), picture = found && plot(found, states.runs.end, Math.min(900, $("plot").clientWidth), setFocus);
    if (!picture) continue;
    values = found;
    $("plot").append(make("h3", v.line), picture);
  }
  drawAll();
}

async function start() {
  listen();
  if (kept) return startFile();
  await enter();
  [session] = await Promise.all([ask("session"), loadOnce()]);
  document.title = $("title").textContent = `${session.program || "sdm"}: ${session.n} ranks`;
  $("steer").hidden = !session.steer;
  $("line-box").hidden = !session.change;
  $("samples").hidden = $("every-box").hidden = $("usage-box").hidden = session.past;
  showFocus();
  lookAtRest();
  document.documentElement.dataset.first = performance.now().toFixed(0);
  if (session.past) {
    const a = await ask("call", { command: "info file" }).catch(() => null);
    if (a) add($("events"), a.text.split("\n").filter(Boolean).map((text) => line("", text, false)));
    const output = await ask("call", { command: "info output" }).catch(() => null);
    for (const e of output?.events ?? []) add($("output"), [line(e.ranks, e.result?.text?.replace(/\n$/, "") ?? "", false)]);
  }
  await follow(take, tellLink);
}

start().catch(fail);
