// Values of ranks as numbers: what is read from gdb's texts, how they are distributed, which are odd.

import { parse } from "./runs.mjs";

// numberOf reads a number as gdb writes it; undefined: the text is something else, such as a pointer.
export function numberOf(text) {
  text = text.trim();
  if (/^[-+]?nan\b/i.test(text)) return NaN;
  const inf = /^([-+]?)inf(?:inity)?\b/i.exec(text);
  if (inf) return inf[1] === "-" ? -Infinity : Infinity;
  const m = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:[ed][-+]?\d+)?(?=$|\s)/i.exec(text);
  return m ? Number(m[0].replace(/d/i, "e")) : undefined;
}

// valuesOf returns the values in events that answer print, stat or diff, each with its ranks; null: there are none, or
// only a part of them.
export function valuesOf(events) {
  const all = [];
  for (const e of events ?? []) {
    const column = e.columns?.value;
    if (!column) continue;
    if (!column.values) return null;
    for (const v of column.values) if (v.value !== undefined) all.push({ value: v.value, ranks: v.ranks });
  }
  return all.length > 0 ? all : null;
}

// byRank returns the numbers of ranks from 0 to end-1; undefined: a rank has none. It is null if no value is a number.
export function byRank(values, end) {
  const of = new Array(end);
  let some = false;
  for (const v of values) {
    const number = numberOf(v.value);
    if (number === undefined) continue;
    some = true;
    for (const [a, b] of parse(v.ranks, end) ?? []) for (let r = a; r <= Math.min(b, end - 1); r++) of[r] = number;
  }
  return some ? of : null;
}

const quantile = (sorted, q) => {
  const at = q * (sorted.length - 1), i = Math.floor(at);
  return sorted[i] + (at - i) * ((sorted[i + 1] ?? sorted[i]) - sorted[i]);
};

// describe returns how numbers are distributed, and the ranks with odd ones: beyond three times the distance of the
// quartiles, NaN, infinite.
export function describe(of) {
  const sorted = [], odd = [], nan = [];
  of.forEach((x, rank) => {
    if (x === undefined) return;
    if (Number.isFinite(x)) sorted.push(x);
    else nan.push(rank);
  });
  sorted.sort((a, b) => a - b);
  if (sorted.length === 0) return { n: 0, nan, odd, min: 0, max: 0 };
  const q1 = quantile(sorted, 0.25), q3 = quantile(sorted, 0.75), far = 3 * (q3 - q1);
  of.forEach((x, rank) => {
    if (Number.isFinite(x) && (x < q1 - far || x > q3 + far)) odd.push(rank);
  });
  const mean = sorted.reduce((s, x) => s + x / sorted.length, 0);
  return { n: sorted.length, nan, odd, min: sorted[0], max: sorted.at(-1), median: quantile(sorted, 0.5), q1, q3, mean };
}

// bars returns a histogram: ranges of equal width, each with the ranks whose numbers are in it.
export function bars(of, { min, max }, count = 24) {
  const all = Array.from({ length: max > min ? count : 1 }, (_, i) => ({ from: min + ((max - min) * i) / count, to: min + ((max - min) * (i + 1)) / count, ranks: [] }));
  of.forEach((x, rank) => {
    if (Number.isFinite(x)) all[max > min ? Math.min(count - 1, Math.floor(((x - min) / (max - min)) * count)) : 0].ranks.push(rank);
  });
  return all;
}

// strip returns, for each of so many columns of a picture, the least and the greatest number of its ranks.
export function strip(of, columns) {
  const per = Math.max(1, Math.ceil(of.length / columns)), all = [];
  for (let first = 0; first < of.length; first += per) {
    let low = Infinity, high = -Infinity, bad = false;
    for (let r = first; r < Math.min(of.length, first + per); r++) {
      const x = of[r];
      if (x === undefined) continue;
      if (!Number.isFinite(x)) bad = true;
      else {
        low = Math.min(low, x);
        high = Math.max(high, x);
      }
    }
    all.push({ first, last: Math.min(of.length, first + per) - 1, low, high, bad });
  }
  return { per, all };
}

// setOf returns ranks, ascending, as the text of a set.
export function setOf(ranks) {
  const parts = [];
  for (let i = 0; i < ranks.length; ) {
    let k = i;
    while (k + 1 < ranks.length && ranks[k + 1] === ranks[k] + 1) k++;
    parts.push(k > i ? `${ranks[i]}-${ranks[k]}` : `${ranks[i]}`);
    i = k + 1;
  }
  return parts.join(",");
}

const maxElements = 4096;

// arrayOf reads an array of numbers as gdb writes it, {1, 2, {0 <repeats 11 times>}...}, as one list; null: it is
// something else. Only the first maxElements are read.
export function arrayOf(text) {
  if (!/^[{(]/.test(text.trim())) return null;
  const list = [], starts = []; // where the open braces begin
  let last = 0; // where the last element begins
  for (const [token] of text.matchAll(/<repeats \d+ times>|\.\.\.|[{}(),]|[^{}(),<.\s][^{}(),<]*(?:\(0x[0-9a-f]+\))?|\S/g)) {
    const repeats = /^<repeats (\d+) times>$/.exec(token);
    if (token === "{" || token === "(") starts.push(list.length);
    else if (token === "}" || token === ")") {
      if (starts.length === 0) return null;
      last = starts.pop();
    } else if (repeats) {
      const part = list.slice(last);
      for (let i = 1; i < +repeats[1] && list.length < maxElements; i++) for (const x of part) list.push(x);
    } else if (token !== "," && token !== "...") {
      const number = numberOf(token);
      if (number === undefined) return null;
      last = list.length;
      list.push(number);
    }
    if (list.length >= maxElements) break;
  }
  return list.length > 0 ? list : null;
}

// written returns a number for people.
export const written = (x) => (Number.isInteger(x) ? String(x) : Number.isFinite(x) ? String(+x.toPrecision(5)) : String(x));

const stops = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

// scale returns the colour of a part from 0 to 1, dark to light, as "#rrggbb": viridis, which the colour-blind can read.
export function scale(part) {
  const at = Math.max(0, Math.min(1, part)) * (stops.length - 1), i = Math.min(stops.length - 2, Math.floor(at));
  return `#${stops[i].map((c, k) => Math.round(c + (at - i) * (stops[i + 1][k] - c)).toString(16).padStart(2, "0")).join("")}`;
}
