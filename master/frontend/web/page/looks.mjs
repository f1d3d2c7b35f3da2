// What a look at the stacks shows: verdict, who waits for whom, boxes of frames; and the looks before.

import { $, hash, make, pressable, short, svg, taker } from "./dom.mjs";
import { label, layout, matches } from "./icicle.mjs";
import { intersects, parse } from "./runs.mjs";

const maxRows = 200;

// showVerdict shows why ranks do not go on.
export function showVerdict(a, take) {
  const items = (a.done?.verdict ?? []).map((f) => {
    const p = make("p", "", { class: `finding ${f.kind}` });
    p.append(make("span", f.kind === "none" ? "no verdict" : f.certain ? "certain" : "so far", { class: "label" }), `${f.text} `);
    if (f.ranks) p.append(taker("take these ranks", f.ranks, take));
    return p;
  });
  if (items.length === 0) items.push(make("p", `nothing is known of why ranks wait; ${a.done?.answered} of ${a.done?.asked} ranks answered`, { class: "hint" }));
  for (const name of ["missing", "lost"]) if (a.done?.[name]) items.push(make("p", `${name}: ${a.done[name]}`, { class: "bad" }));
  $("verdict").replaceChildren(...items);
}

// showGraph draws who waits for whom.
export function showGraph(d, take) {
  $("graph-box").hidden = !d;
  if (!d) return;
  const root = svg("svg", { width: d.width, height: d.height, viewBox: `0 0 ${d.width} ${d.height}`, role: "group", "aria-label": "boxes are what ranks do, arrows lead to those for which they wait" });
  const heads = svg("defs");
  for (const id of ["head", "redhead"]) {
    const m = svg("marker", { id, viewBox: "0 0 8 8", refX: 7.5, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto" });
    m.append(svg("path", { d: "M0 0 L8 4 L0 8 z" }));
    heads.append(m);
  }
  root.append(heads);
  for (const a of d.arrows) root.append(svg("path", { class: `arrow ${a.class ?? ""}`, d: a.path, ...(a.set ? { "data-set": a.set } : {}) }));
  for (const b of d.boxes) {
    const g = svg("g", { class: b.class ?? "", ...(b.set ? { "data-set": b.set } : {}) });
    g.append(svg("title", {}, b.title), svg("rect", { x: b.x, y: b.y, width: b.w, height: b.h, rx: 5 }));
    b.lines.forEach((l, i) => g.append(svg("text", { x: l.x, y: l.y, ...(i === 0 ? { class: "set" } : {}) }, l.text)));
    root.append(g);
  }
  for (const a of d.arrows) if (a.label) root.append(svg("text", { class: "peers", "text-anchor": a.anchor, x: a.x, y: a.y }, a.label));
  const notes = [d.grouped && "Rows whose texts differ in numbers only are one box.", d.more && `${d.more} more rows are not drawn.`].filter(Boolean);
  $("graph").replaceChildren(root, ...(notes.length > 0 ? [make("p", notes.join(" "), { class: "hint" })] : []));
  pressables(root, take);
}

// pressables lets boxes and arrows with sets take their ranks.
export function pressables(root, take) {
  for (const e of root.querySelectorAll("[data-set]")) {
    const set = e.getAttribute("data-set");
    if (e.tagName === "g") {
      e.setAttribute("tabindex", 0);
      e.setAttribute("role", "button");
      e.setAttribute("aria-label", short(e.querySelector("title").textContent, 200));
    }
    pressable(e, () => take(set));
  }
}

// showWaits lists what ranks do and for whom they wait.
export function showWaits(waits, take) {
  $("waits-box").hidden = waits.length === 0;
  $("waits").tBodies[0].replaceChildren(...waits.slice(0, maxRows).map((w) => {
    const tr = make("tr"), who = make("td"), whom = make("td");
    who.append(taker(short(w.ranks, 80), w.ranks, take), ` (${w.n})`);
    if (w.for) whom.append(taker(short(w.for, 80), w.for, take));
    tr.append(who, make("td", w.text), whom);
    return tr;
  }));
}

const rowHeight = 20;

// showTree draws the frames: those with the words that are looked for, and in which a rank of the focus is, are not dim.
// frame is called with the frame that is taken.
export function showTree(tree, left, focus, end, take, frame) {
  const began = performance.now();
  const width = $("icicle").clientWidth, { boxes, leftOut } = layout(tree);
  const depth = boxes.reduce((d, b) => Math.max(d, b.depth + 1), 0), words = $("find").value;
  const root = svg("svg", { width, height: depth * rowHeight, role: "group", class: "icicle", "aria-label": `${boxes.length} frames of merged stacks` });
  let hits = 0;
  for (const b of boxes.sort((x, y) => x.depth - y.depth || x.x - y.x)) {
    const hit = words.trim() === "" || matches(b.node, words), inside = !focus || !b.node.ranks || intersects(focus, parse(b.node.ranks, end) ?? []);
    hits += hit ? 1 : 0;
    const text = label(b.node), w = Math.max(1, b.width * width - 1);
    const g = svg("g", { tabindex: 0, role: "button", class: hit && inside ? "" : "miss", "aria-label": `${text}, ${b.node.n} ranks: ${short(b.node.ranks ?? "", 80)}` });
    const rect = svg("rect", { x: b.x * width, y: b.depth * rowHeight, width: w, height: rowHeight - 1 });
    rect.style.fill = `hsl(${35 + (hash(b.node.func) % 40)} 75% ${62 + (b.depth % 2) * 6}%)`;
    g.append(rect, svg("title", {}, `${text}\n[${short(b.node.ranks ?? "", 200)}] (${b.node.n})`));
    const fits = Math.floor((w - 6) / 7.3);
    if (fits > 3) g.append(svg("text", { x: b.x * width + 4, y: b.depth * rowHeight + 14 }, short(text, fits)));
    pressable(g, () => {
      if (b.node.ranks) take(b.node.ranks);
      frame(b.node);
    });
    root.append(g);
  }
  const out = leftOut + (left ?? 0);
  $("found").textContent = [words.trim() && `${hits} frames`, out > 0 && `${out} narrow frames are left out`].filter(Boolean).join(", ");
  $("icicle").replaceChildren(root);
  document.documentElement.dataset.icicle = (performance.now() - began).toFixed(1);
}

// standing returns, for the lines of a file, the frames at them: who stands there, and who has called from there.
export function standing(tree, file) {
  const lines = new Map();
  const visit = (nodes) => {
    for (const n of nodes ?? []) {
      if (n.file === file && n.line) {
        const calls = (n.children ?? []).some((c) => c.file), known = lines.get(n.line) ?? { here: [], calls: [], n: 0 };
        known[calls ? "calls" : "here"].push(n.ranks ?? "");
        known.n = Math.max(known.n, n.n);
        lines.set(n.line, known);
      }
      visit(n.children);
    }
  };
  visit(tree);
  return lines;
}
